/**
 * Engines that do one kind of work for one integrand: one in every worker and one on the calling thread, made from
 * the same setup. Work comes as a task that all engines begin with and chunks that any of them may run; who runs
 * which changes no bit of the result. Until the first worker is up, and for work too small to be worth a message, the
 * calling thread does it. What a worker had done of a task is lost when it ends by somebody else's doing, and is done
 * again by others.
 */
import { type MemoryPool, makeMemoryPool } from './memory-pool.ts';
import type { Numbers, Values } from './values.ts';
import type { WorkerPool } from './worker-pool.ts';
import { defaultWorkers, mostMemories, WorkerGone, type WorkerLike } from './workers.ts';

/** Milliseconds that a worker running a plain function has to come back after an abort. */
const PATIENCE = 250;
/** Chunks that a worker has at hand, so that it never waits for the next message. */
const AHEAD = 2;

export interface Engine<T, C, R, E> {
  /** Writes params. */
  bind(params: Numbers): void;
  /** Engines that keep something from chunk to chunk. */
  begin?(task: T): void;
  /** Async only when the integrand is. */
  run(chunk: C): R | Promise<R>;
  /** What the chunks since `begin` gave together. */
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

/** How much of the device some work is worth. */
export type Share = 'here' | 'one worker' | 'all workers';

export class EngineGroup<S, T, C, R, E> {
  readonly #pool: WorkerPool;
  readonly #kind: 'sampler' | 'evaluator';
  readonly #make: EngineMaker<S, T, C, R, E>;
  readonly #setup: Promise<S>;
  readonly #values: Values;
  readonly #id: number;
  #local: Engine<T, C, R, E> | null = null;
  readonly #remote = new Map<WorkerLike, { ready: Promise<unknown>; version: number }>();
  #params: Numbers = [];
  #version = 0;
  /** When others last had a turn: kept from one task to the next, since small ones are shorter than a turn. */
  #turned = performance.now();
  #signal: AbortSignal | undefined;

  constructor(
    pool: WorkerPool,
    kind: 'sampler' | 'evaluator',
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

  /** Other params from the next task on. */
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

  /** Runs chunks on the calling thread while `goOn`, letting others have a turn between them. */
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

  /** Gives others a turn now and then. */
  #pause(): Promise<void> | undefined {
    if (performance.now() - this.#turned < 8) return;
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
    const left: C[] = []; // what workers that are gone had
    const nextOne = () => left.pop() ?? next();
    for (let chunk = nextOne(); chunk; chunk = nextOne()) {
      left.push(chunk);
      this.#pool.checkOpen();
      if (this.#pool.workers().length === 0) {
        // nobody is up yet: begin here, and hand over to the first one that is
        let up = false;
        const first = this.#pool.firstWorker().then(() => {
          up = true;
        });
        first.catch(() => {}); // without workers all of it is done here
        if (this.#values.long) await first.catch(() => {});
        if (!up) await this.#here(task, nextOne, done, () => !up);
        if (!up) return;
        this.#pool.checkOpen();
      }
      await this.#byWorkers(setup, task, nextOne, left, done, share);
    }
  }

  /** Has the workers that are up run all chunks; the chunks of one that is gone before it was done are `left`. */
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
      const lanes = Array.from({ length: plain ? 1 : AHEAD }, lane);
      await Promise.all([begun, ...lanes]);
      if (begun) done.ends.push(await ask<E>('end'));
      for (const r of results) done.results.push(r);
    };
    const busy = new Set(ready);
    // what goes on long after an abort goes down with its worker
    let patience: ReturnType<typeof setTimeout> | undefined;
    const stop = () => {
      if (plain || this.#values.long)
        patience = setTimeout(() => [...busy].forEach(w => w.close()), PATIENCE);
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
            failed = true; // whoever fails ends the task
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
    clearTimeout(patience);
    signal?.throwIfAborted();
    const first = ended.find(r => r.status === 'rejected');
    if (first) throw first.reason;
  }
}

/** Lets timers and messages have their turn. */
function turn(): Promise<void> {
  return new Promise(resolve => {
    if (typeof setImmediate === 'function') setImmediate(resolve);
    else setTimeout(resolve, 0);
  });
}
