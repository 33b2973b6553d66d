/**
 * Engines that do one kind of work for one integrand: one in every worker and one on the calling thread, made from
 * the same setup. Work is a task that all engines begin with, and chunks that any of them may run; which engine runs
 * which chunk changes no bit of the result. The calling thread does the work until the first worker has started, and
 * all work that is too small to be worth a message. When a worker ends because of another session's work, its chunks of
 * this task are lost, and other workers run them again.
 */
import { type MemoryPool, makeMemoryPool } from './memory-pool.ts';
import type { Numbers, Values } from './values.ts';
import type { WorkerPool } from './worker-pool.ts';
import { defaultWorkers, type EngineKind, mostMemories, WorkerGone, type WorkerLike } from './workers.ts';

/** Milliseconds after an abort until a worker that still runs a plain function or a long loop is ended. */
const ABORT_GRACE_MS = 250;
/** Chunks that a worker is sent at a time, so that it never waits for the next message. */
const CHUNKS_AHEAD = 2;
/** Milliseconds of work on the calling thread between two turns of the event loop. */
const TURN_PERIOD_MS = 8;

export interface Engine<T, C, R, E> {
  /** Writes other params into the memory. */
  bind(params: Numbers): void;
  /** Begins a task; only for engines that keep something from chunk to chunk. */
  begin?(task: T): void;
  /** Runs a chunk; asynchronous only when the integrand is. */
  run(chunk: C): R | Promise<R>;
  /** The sums over all chunks since `begin`. */
  end?(): E;
  close(): void;
}

/** Makes an engine on the calling thread. */
export type EngineMaker<S, T, C, R, E> = (
  setup: S,
  memories: MemoryPool,
  f?: (x: number[]) => number | Promise<number>,
  pause?: () => Promise<void> | undefined,
) => Engine<T, C, R, E>;

/** The memories of the calling thread. */
let memories: MemoryPool | null = null;

/** Which part of the device some work should use. */
export type Share = 'here' | 'one worker' | 'all workers';

export class EngineGroup<S, T, C, R, E> {
  readonly #pool: WorkerPool;
  readonly #kind: EngineKind;
  readonly #make: EngineMaker<S, T, C, R, E>;
  readonly #setup: Promise<S>;
  readonly #values: Values;
  readonly #id: number;
  #local: Engine<T, C, R, E> | null = null;
  readonly #remote = new Map<WorkerLike, { ready: Promise<unknown>; version: number }>();
  #params: Numbers = [];
  #version = 0;
  /** When the event loop last had a turn; kept from task to task, since a small task is shorter than TURN_PERIOD_MS. */
  #turned = performance.now();
  #signal: AbortSignal | undefined;

  constructor(
    pool: WorkerPool,
    kind: EngineKind,
    make: EngineMaker<S, T, C, R, E>,
    setup: Promise<S>,
    values: Values,
  ) {
    this.#pool = pool;
    this.#id = pool.nextId();
    this.#kind = kind;
    this.#make = make;
    this.#setup = setup;
    this.#values = values;
  }

  /** Sets other params, from the next task on. */
  bind(params: Numbers): void {
    this.#params = params;
    this.#version++;
    this.#local?.bind(params);
  }

  /** Runs all chunks; results come in any order. */
  async work(
    task: T,
    next: () => C | undefined,
    share: Share,
    signal: AbortSignal | undefined,
  ): Promise<{ results: R[]; ends: E[] }> {
    this.#signal = signal;
    const done = { results: [] as R[], ends: [] as E[] };
    const { plain } = this.#values;
    const movable = !plain || !!plain.moved;
    const take = () => {
      signal?.throwIfAborted();
      return next();
    };
    const here = !movable || (share === 'here' && !this.#values.long);
    if (here) await this.#here(task, take, done, () => true);
    else await this.#spread(task, take, done, share === 'here' ? 'one worker' : share);
    return done;
  }

  close(): void {
    for (const worker of this.#remote.keys()) worker.ask({ what: 'close', engine: this.#id }).catch(() => {});
    this.#remote.clear();
    this.#local?.close();
    this.#local = null;
  }

  /** Runs chunks on the calling thread while `goOn`; between them the event loop gets a turn now and then. */
  async #here(
    task: T,
    next: () => C | undefined,
    done: { results: R[]; ends: E[] },
    goOn: () => boolean,
  ): Promise<void> {
    if (!this.#local) {
      const setup = await this.#setup;
      memories ??= makeMemoryPool(mostMemories(defaultWorkers()));
      const { plain } = this.#values;
      this.#local = plain
        ? this.#make(setup, memories, plain.f, () => this.#pause())
        : this.#make(setup, memories);
      if (this.#version > 0) this.#local.bind(this.#params);
    }
    const engine = this.#local;
    engine.begin?.(task);
    while (goOn()) {
      this.#pool.checkOpen();
      const chunk = next();
      if (!chunk) break;
      const result = engine.run(chunk);
      done.results.push(result instanceof Promise ? await result : result);
      const turn = this.#pause();
      if (turn) await turn;
    }
    if (engine.end) done.ends.push(engine.end());
  }

  /** A turn of the event loop, if the last one was TURN_PERIOD_MS ago. */
  #pause(): Promise<void> | undefined {
    if (performance.now() - this.#turned < TURN_PERIOD_MS) return;
    return turn().then(() => {
      this.#turned = performance.now();
      this.#signal?.throwIfAborted();
    });
  }

  async #spread(
    task: T,
    next: () => C | undefined,
    done: { results: R[]; ends: E[] },
    share: Share,
  ): Promise<void> {
    const setup = await this.#setup;
    const left: C[] = []; // chunks of workers that are gone
    const nextOne = () => left.pop() ?? next();
    for (let chunk = nextOne(); chunk; chunk = nextOne()) {
      left.push(chunk);
      this.#pool.checkOpen();
      if (this.#pool.workers().length === 0) {
        // no worker has started yet: the calling thread begins, until the first one has
        let up = false;
        const first = this.#pool.firstWorker().then(() => {
          up = true;
        });
        first.catch(() => {}); // if no worker can start, the calling thread does all of it
        if (this.#values.long) await first.catch(() => {});
        if (!up) await this.#here(task, nextOne, done, () => !up);
        if (!up) return;
        this.#pool.checkOpen();
      }
      await this.#byWorkers(setup, task, nextOne, left, done, share);
    }
  }

  /** Lets the workers that have started run all chunks; the chunks of a worker that dies go to `left`. */
  async #byWorkers(
    setup: S,
    task: T,
    next: () => C | undefined,
    left: C[],
    done: { results: R[]; ends: E[] },
    share: Share,
  ): Promise<void> {
    let ready = this.#pool.workers();
    if (share === 'one worker') ready = [ready.reduce((a, b) => (b.load < a.load ? b : a))];
    const plain = this.#values.plain?.moved;
    let failed = false;
    const work = async (worker: WorkerLike, chunks: C[]) => {
      const ask = <A>(what: string, value?: unknown) =>
        worker.ask<A>({ what, engine: this.#id, kind: this.#kind, value, plain });
      const own = this.#remote.get(worker) ?? { ready: ask('setup', setup), version: 0 };
      this.#remote.set(worker, own);
      await own.ready;
      if (own.version < this.#version) {
        own.version = this.#version;
        await ask('bind', this.#params);
      }
      const begun = this.#kind === 'sampler' ? ask('begin', task) : null;
      const results: R[] = [];
      const nextOne = () => (failed || worker.dead ? undefined : next());
      const lane = async () => {
        for (let chunk = nextOne(); chunk; chunk = nextOne()) {
          chunks.push(chunk);
          results.push(await ask<R>('run', chunk));
        }
      };
      const lanes = Array.from({ length: plain ? 1 : CHUNKS_AHEAD }, lane);
      await Promise.all([begun, ...lanes]);
      if (begun) done.ends.push(await ask<E>('end'));
      for (const r of results) done.results.push(r);
    };
    const busy = new Set(ready);
    // a worker that is still busy ABORT_GRACE_MS after an abort is ended
    let grace: ReturnType<typeof setTimeout> | undefined;
    const stop = () => {
      if (plain || this.#values.long)
        grace = setTimeout(() => [...busy].forEach(w => w.close()), ABORT_GRACE_MS);
    };
    const signal = this.#signal;
    signal?.addEventListener('abort', stop, { once: true });
    const ended = await Promise.allSettled(
      ready.map(async worker => {
        const chunks: C[] = [];
        try {
          await work(worker, chunks);
        } catch (e) {
          if (!(e instanceof WorkerGone)) {
            failed = true; // one failure ends the task
            throw e;
          }
          left.push(...chunks);
          this.#remote.delete(worker);
        } finally {
          busy.delete(worker);
        }
      }),
    );
    signal?.removeEventListener('abort', stop);
    clearTimeout(grace);
    signal?.throwIfAborted();
    const first = ended.find(r => r.status === 'rejected');
    if (first) throw first.reason;
  }
}

/** Waits for one turn of the event loop, in which timers and messages are handled. */
function turn(): Promise<void> {
  return new Promise(resolve => {
    if (typeof setImmediate === 'function') setImmediate(resolve);
    else setTimeout(resolve, 0);
  });
}
