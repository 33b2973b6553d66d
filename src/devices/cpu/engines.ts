/**
 * Engines that do one kind of work for one integrand: one in every worker and one on the calling thread, made from
 * the same setup. Work is a task that all engines begin with, and chunks that any of them may run; which engine runs
 * which chunk changes no bit of the result. The calling thread does the work until the first worker has started, and
 * all work that is too small to be worth a message. Chunks of a worker that dies, or that another run holds, are run again
 * by others; a chunk that was being run when MAX_DEATHS workers died is taken for the cause, and ends the task.
 *
 * A signal ends the task at once: nobody waits for workers, which are ended if what they do takes much longer.
 */
import type { PlainValue } from '../../integrand/plain.ts';
import { beforeAbort } from '../before-abort.ts';
import { DeviceError } from '../device.ts';
import { dueTurn } from '../event-loop.ts';
import { type MemoryPool, makeMemoryPool } from './memory-pool.ts';
import type { Numbers, Values } from './values.ts';
import type { WorkerPool } from './worker-pool.ts';
import { defaultWorkers, type EngineKind, mostMemories } from './worker-program.ts';
import { WorkerDied, WorkerGone, WorkerOutOfMemory, type WorkerThread } from './workers.ts';

/** Chunks that a worker is sent at a time, so that it never waits for the next message. */
const CHUNKS_AHEAD = 2;
/** Workers that may die at one chunk. */
const MAX_DEATHS = 3;

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

/** Makes an engine on the calling thread. What `f` gives, numbers or lists of several results, is between it and the engine. */
export type EngineMaker<S, T, C, R, E> = (
  setup: S,
  memories: MemoryPool,
  f?: (x: number[]) => never,
  pause?: () => Promise<void> | undefined,
) => Engine<T, C, R, E>;

/** The memories of the calling thread. */
let memories: MemoryPool | null = null;

/** Which part of the device some work should use. */
export type Share = 'here' | 'one worker' | 'all workers';

/** A task on its way: the chunks that nobody has begun, and what came of the others. */
interface Job<T, C, R, E> {
  task: T;
  next(): C | undefined;
  /** Chunks to run again. */
  left: C[];
  results: R[];
  ends: E[];
  signal: AbortSignal | undefined;
  /** Why the calling thread did work that was for workers; undefined if it did none. */
  withoutWorkers: unknown;
  /** How many workers have died at a chunk, or at a request that is no chunk. */
  deaths: Map<C | string, number>;
  lastDeath: WorkerDied | undefined;
}

export class EngineGroup<S, T, C, R, E> {
  readonly #pool: WorkerPool;
  readonly #kind: EngineKind;
  readonly #make: EngineMaker<S, T, C, R, E>;
  readonly #setup: Promise<S>;
  readonly #values: Values;
  readonly #id: number;
  #local: Engine<T, C, R, E> | null = null;
  /** Its engines in workers; null where requests were given up, and the engine has to be set up anew. */
  readonly #remote = new Map<WorkerThread, { ready: Promise<unknown>; version: number } | null>();
  /** Workers that have no memory for it, with the error. */
  readonly #full = new WeakMap<WorkerThread, Error>();
  #params: Numbers = [];
  #version = 0;
  #signal: AbortSignal | undefined;
  /** Rejected when the signal aborts; made when a plain function returns its first promise. */
  #aborted: Promise<never> | null = null;

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
    this.#setup.catch(() => {}); // reported by the task that needs it, which a signal may have ended
    this.#values = values;
  }

  /** Sets other params, from the next task on. */
  bind(params: Numbers): void {
    this.#params = params;
    this.#version++;
    this.#local?.bind(params);
  }

  /** Runs all chunks; results come in any order. `withoutWorkers`: why workers could not do their part. */
  async work(
    task: T,
    next: () => C | undefined,
    share: Share,
    signal: AbortSignal | undefined,
  ): Promise<{ results: R[]; ends: E[]; withoutWorkers: unknown }> {
    // one wait per signal, not per task: Node warns of a signal's eleventh listener
    if (this.#signal !== signal) this.#aborted = null;
    this.#signal = signal;
    const left: C[] = [];
    const job: Job<T, C, R, E> = {
      task,
      next: () => {
        signal?.throwIfAborted();
        return left.pop() ?? next();
      },
      left,
      results: [],
      ends: [],
      signal,
      withoutWorkers: undefined,
      deaths: new Map(),
      lastDeath: undefined,
    };
    const { plain, long } = this.#values;
    const movable = !plain || !!plain.moved;
    // without a signal nothing could end a plain function in a worker either
    const endless = long && (!plain || !!signal);
    const here = !movable || (share === 'here' && !endless);
    if (here) await this.#here(job, () => true);
    else await this.#spread(job, share === 'here' ? 'one worker' : share, endless);
    return job;
  }

  close(): void {
    for (const worker of this.#remote.keys()) worker.ask({ what: 'close', engine: this.#id }).catch(() => {});
    this.#remote.clear();
    this.#local?.close();
    this.#local = null;
  }

  /** Runs chunks on the calling thread while `goOn`; between them the event loop gets a turn now and then. */
  async #here(job: Job<T, C, R, E>, goOn: () => boolean): Promise<void> {
    try {
      await this.#runHere(job, goOn);
    } catch (e) {
      throw (e as Error)?.name === 'OutOfMemory' ? noMemory(e as Error) : e;
    }
  }

  async #runHere({ task, next, results, ends, signal }: Job<T, C, R, E>, goOn: () => boolean): Promise<void> {
    if (!this.#local) {
      const setup = await beforeAbort(this.#setup, signal);
      memories ??= makeMemoryPool(mostMemories(defaultWorkers()));
      const { plain } = this.#values;
      this.#local = plain
        ? this.#make(
            setup,
            memories,
            x => this.#unlessAborted(plain.f(x)) as never,
            () => this.#pause(),
          )
        : this.#make(setup, memories);
      if (this.#version > 0) this.#local.bind(this.#params);
    }
    const engine = this.#local;
    engine.begin?.(task);
    while (goOn()) {
      const turn = this.#pause();
      if (turn) await turn;
      this.#pool.checkOpen();
      const chunk = next();
      if (!chunk) break;
      const result = engine.run(chunk);
      results.push(result instanceof Promise ? await result : result);
    }
    if (engine.end) ends.push(engine.end());
  }

  /** A turn of the event loop, if one is due. */
  #pause(): Promise<void> | undefined {
    return dueTurn()?.then(() => this.#signal?.throwIfAborted());
  }

  /** The value of a plain function; if it is a promise that may never settle, the signal ends the waiting. */
  #unlessAborted(value: PlainValue | Promise<PlainValue>): PlainValue | Promise<PlainValue> {
    const settled = typeof value !== 'object' || value === null || Array.isArray(value);
    if (settled || !this.#signal) return value;
    this.#aborted ??= beforeAbort(new Promise<never>(() => {}), this.#signal);
    return Promise.race([value as Promise<PlainValue>, this.#aborted]);
  }

  /** Runs chunks on workers, and on the calling thread as long as there is none, unless their loops may be `endless`. */
  async #spread(job: Job<T, C, R, E>, share: Share, endless: boolean): Promise<void> {
    const setup = await beforeAbort(this.#setup, job.signal);
    while (hasMore(job)) {
      this.#pool.checkOpen();
      const [worker] = this.#pool.workers();
      if (!worker) {
        let up = false;
        const first = this.#pool.firstWorker().then(
          () => {
            up = true;
          },
          cause => {
            job.withoutWorkers = cause; // the calling thread does all of it
          },
        );
        // what may end workers stays off the calling thread
        if (endless || job.lastDeath) await beforeAbort(first, job.signal);
        if (!up && job.lastDeath && this.#values.plain) throw job.lastDeath;
        if (!up) await this.#here(job, () => !up);
      } else if (this.#free().length === 0) {
        job.withoutWorkers = this.#full.get(worker);
        await this.#here(job, () => true);
      } else await this.#byWorkers(setup, job, share);
    }
  }

  #free(): WorkerThread[] {
    return this.#pool.workers().filter(w => !this.#full.has(w));
  }

  /**
   * Lets workers run all chunks, also those that start meanwhile, but no more of them at a time than the pool has places:
   * a task that holds its workers must not take those that stand in for them. What workers leave is in `job.left`.
   */
  #byWorkers(setup: S, job: Job<T, C, R, E>, share: Share): Promise<void> {
    return new Promise((resolve, reject) => {
      const most = share === 'one worker' ? 1 : this.#pool.count;
      const busy = new Set<WorkerThread>();
      let failure: { error: unknown } | null = null;
      const fail = (error: unknown) => {
        failure ??= { error };
        for (const w of busy) w.giveUp(this.#id); // what they are doing is of no use
      };
      const abort = () => fail(job.signal!.reason);
      const serve = async (worker: WorkerThread) => {
        busy.add(worker);
        const chunks: C[] = [];
        try {
          await this.#byWorker(worker, setup, job, chunks, () => failure !== null);
        } catch (error) {
          this.#remote.set(worker, null);
          job.left.push(...chunks);
          if (error instanceof WorkerOutOfMemory) this.#full.set(worker, error);
          else if (!(error instanceof WorkerGone)) fail(error);
        }
        if (worker.dead) this.#remote.delete(worker);
        busy.delete(worker);
        if (busy.size === 0) end();
      };
      const join = () => {
        if (failure || job.signal?.aborted || !hasMore(job)) return;
        const free = this.#free().filter(w => !busy.has(w));
        free.sort((a, b) => a.load - b.load);
        for (const w of free.slice(0, most - busy.size)) void serve(w);
      };
      const leave = this.#pool.onChange(() => {
        if (share !== 'one worker') join();
      });
      const end = () => {
        leave();
        job.signal?.removeEventListener('abort', abort);
        if (failure) reject(failure.error);
        else resolve();
      };
      job.signal?.addEventListener('abort', abort, { once: true });
      join();
      if (busy.size === 0) end();
    });
  }

  /** Lets one worker run chunks until there are no more; their sums count when it has answered all requests. */
  async #byWorker(
    worker: WorkerThread,
    setup: S,
    job: Job<T, C, R, E>,
    chunks: C[],
    failed: () => boolean,
  ): Promise<void> {
    const plain = this.#values.plain?.moved;
    const ask = async <A>(what: string, value?: unknown): Promise<A> => {
      try {
        return await worker.ask<A>({ what, engine: this.#id, kind: this.#kind, value, plain });
      } catch (e) {
        if (!(e instanceof WorkerDied)) throw e;
        const at = what === 'run' ? (value as C) : what;
        const deaths = (job.deaths.get(at) ?? 0) + 1;
        job.deaths.set(at, deaths);
        job.lastDeath = e;
        if (deaths < MAX_DEATHS) throw new WorkerGone(e.message);
        throw diedOf(e);
      }
    };
    const own = this.#remote.get(worker) ?? { ready: ask('setup', setup), version: 0 };
    this.#remote.set(worker, own);
    await own.ready;
    if (own.version < this.#version) {
      own.version = this.#version;
      await ask('bind', this.#params);
    }
    const begun = this.#kind === 'sampler' ? ask('begin', job.task) : null;
    const results: R[] = [];
    const lane = async () => {
      while (!failed() && !worker.dead) {
        const chunk = job.next();
        if (!chunk) return;
        chunks.push(chunk);
        results.push(await ask<R>('run', chunk));
      }
    };
    const lanes = Array.from({ length: plain ? 1 : CHUNKS_AHEAD }, lane);
    await Promise.all([begun, ...lanes]);
    if (begun) job.ends.push(await ask<E>('end'));
    for (const r of results) job.results.push(r);
  }
}

/** The error of a task at whose chunk several workers have died. */
function diedOf(death: WorkerDied): Error {
  const { code } = (death.cause ?? {}) as { code?: string };
  const remedy =
    code === 'ERR_WORKER_OUT_OF_MEMORY'
      ? 'let the integrand use less memory, or raise the limit with --max-old-space-size'
      : 'the integrand ends its worker';
  return new Error(`${death.message}, ${MAX_DEATHS} times at the same part of the work; ${remedy}`, {
    cause: death.cause,
  });
}

function hasMore<C>(job: { next(): C | undefined; left: C[] }): boolean {
  const chunk = job.next();
  if (chunk) job.left.push(chunk);
  return chunk !== undefined;
}

function noMemory(cause: Error): DeviceError {
  return new DeviceError(
    `there is ${cause.message}; close what uses memory, raise the limit of the process (ulimit -v), or pass smaller tables`,
    { cause },
  );
}
