/**
 * A worker and the requests that wait for its answers, which come in the order of the requests. So the first one that
 * waits is what the worker is doing.
 *
 * - A worker that dies rejects that first request with `WorkerDied` and the cause, all others with `WorkerGone`: these
 *   can be sent to another worker.
 * - A worker that is at one request for longer than PATIENCE_MS is `held` by the engine of that request, perhaps for ever.
 *   The requests of other engines are given up: they are rejected with `WorkerGone` too.
 * - A worker that is for longer than ENDING_MS at a request that was given up is ended: nobody waits for its answer.
 */
import { afterTurn } from '../event-loop.ts';
import { type Answer, mostMemories, openPort, type Port } from './worker-program.ts';

/** Milliseconds that a request may keep others waiting. Chunks of usual integrands take 1 to 20. */
const PATIENCE_MS = 150;
/** Milliseconds until a worker is ended, at a request that nobody waits for; starting another takes 50 or more. */
const ENDING_MS = 250;

/** The request can be sent to another worker: this one has ended, or another request holds it. */
export class WorkerGone extends Error {
  override name = 'WorkerGone';
}

/** The worker has ended while it was at work on this request. */
export class WorkerDied extends Error {
  override name = 'WorkerDied';
}

/** The thread has no memory for this request; another thread may have. */
export class WorkerOutOfMemory extends Error {
  override name = 'WorkerOutOfMemory';
}

interface Waiting {
  engine: number | undefined;
  resolve(result: never): void;
  reject(error: Error): void;
  /** Nobody waits for the answer any more. */
  givenUp: boolean;
}

export class WorkerThread {
  readonly #port: Port;
  readonly #freed: () => void;
  readonly #waiting = new Map<number, Waiting>();
  #nextId = 0;
  #dead = false;
  /** The engine that holds the worker. */
  #holder: number | undefined;
  /** When the worker began with the request that it is at, or when that was given up. */
  #since = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Starts one of `workers` workers; `freed` is called when it is no longer held, and when it has ended. */
  constructor(workers: number, freed: () => void) {
    this.#freed = freed;
    this.#port = openPort(
      mostMemories(workers),
      answer => this.#receive(answer),
      cause => this.#fail(cause),
    );
  }

  /** The number of requests that wait for their answer. */
  get load(): number {
    return this.#waiting.size;
  }

  /** Whether it has ended and takes no more requests. */
  get dead(): boolean {
    return this.#dead;
  }

  /** Whether one request keeps it from all others. */
  get held(): boolean {
    return this.#holder !== undefined && this.#waiting.size > 0;
  }

  /** Sends a request and waits for its answer. */
  ask<T>(request: { what: string; engine?: number; [more: string]: unknown }): Promise<T> {
    const { engine, what } = request;
    const [first] = this.#waiting.values();
    if (this.#dead) return Promise.reject(gone());
    if (this.held && this.#holder !== engine && what !== 'close') return Promise.reject(gone());
    return new Promise<T>((resolve, reject) => {
      const id = this.#nextId++;
      try {
        this.#port.post({ id, ...request });
      } catch (e) {
        return reject(e as Error); // the request contains something that cannot be cloned
      }
      this.#port.busy();
      if (!first) {
        this.#since = performance.now();
        if (this.#holder !== engine) this.#holder = undefined;
      }
      this.#waiting.set(id, { engine, resolve, reject, givenUp: false });
      this.#watch(PATIENCE_MS);
    });
  }

  /** Rejects the requests of an engine: nobody waits for them any more. */
  giveUp(engine: number): void {
    const [first] = this.#waiting.values();
    if (first?.engine === engine && !first.givenUp) this.#since = performance.now();
    for (const request of this.#waiting.values()) if (request.engine === engine) giveUp(request);
  }

  close(): void {
    this.#end(gone());
    this.#port.close();
  }

  #receive({ id, result, error, outOfMemory }: Answer): void {
    const request = this.#waiting.get(id);
    this.#waiting.delete(id);
    this.#since = performance.now();
    if (error === undefined) request?.resolve(result as never);
    else request?.reject(outOfMemory ? new WorkerOutOfMemory(error) : new Error(`a worker failed: ${error}`));
    if (this.#waiting.size > 0) return;
    this.#port.idle();
    // the engine that held it may send its next chunk at once, and hold it on
    if (this.#holder !== undefined) afterTurn(() => this.#free());
  }

  #free(): void {
    if (this.#holder === undefined || this.#waiting.size > 0) return;
    this.#holder = undefined;
    this.#freed();
  }

  #fail(cause: unknown): void {
    if (this.#dead) return;
    const why = cause instanceof Error ? cause.message : cause;
    this.#end(new WorkerDied(`a worker died: ${why}`, { cause }));
  }

  #end(reason: Error): void {
    if (this.#dead) return;
    this.#dead = true;
    clearTimeout(this.#timer);
    let first = true;
    for (const { reject } of this.#waiting.values()) {
      reject(first ? reason : gone());
      first = false;
    }
    this.#waiting.clear();
    this.#freed();
  }

  /** Looks after so many milliseconds whether a request keeps others waiting; one look at a time. */
  #watch(ms: number): void {
    if (this.#timer !== undefined) return;
    // first the answers that have come while this thread was busy
    const look = () => afterTurn(() => this.#look());
    this.#timer = setTimeout(look, ms);
    (this.#timer as { unref?(): void }).unref?.();
  }

  #look(): void {
    this.#timer = undefined;
    const [first] = this.#waiting.values();
    if (this.#dead || !first) return;
    const left = this.#since + (first.givenUp ? ENDING_MS : PATIENCE_MS) - performance.now();
    if (left > 0) return this.#watch(left);
    if (first.givenUp) return this.close();
    if (first.engine !== undefined) {
      this.#holder = first.engine;
      for (const request of this.#waiting.values()) if (request.engine !== first.engine) giveUp(request);
    }
    this.#watch(PATIENCE_MS);
  }
}

const gone = () => new WorkerGone('the worker is gone');

function giveUp(request: Waiting): void {
  request.givenUp = true;
  request.reject(gone());
}
