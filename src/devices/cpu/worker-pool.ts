/**
 * A pool of workers, each with its own memory. They start when they are first needed, and are replaced when they die. A
 * worker that one request holds, perhaps because a loop of its integrand never ends, is replaced as well, until it is free
 * again: work of other runs goes on. When no more can be started, work goes on with those that there are, or without.
 */
import { defaultWorkers } from './worker-program.ts';
import { WorkerThread } from './workers.ts';

/** Workers that stand in for held ones, at most: for a run that holds all workers, and for 8 that hold one each. */
const mostExtra = (workers: number): number => workers + 8;
/** After this many failed starts in a row there is a pause of RETRY_MS: each may cost milliseconds. */
const MAX_FAILED_STARTS = 3;
const RETRY_MS = 1000;

export class WorkerPool {
  /** The number of workers that work at a time. */
  readonly count: number;
  readonly #name: string;
  /** All that have not ended: those that are starting, and those that have started. */
  readonly #starting = new Set<WorkerThread>();
  #started: WorkerThread[] = [];
  /** Called when workers have started, could not be started, were freed or have ended. */
  readonly #listeners = new Set<() => void>();
  #failed: { count: number; cause: unknown; at: number } = { count: 0, cause: undefined, at: 0 };
  #first: Promise<void> | null = null;
  #ids = 0;
  #closed = false;

  /** `name` is the device's name in error messages; by default there is one worker per core. */
  constructor(name: string, workers?: number) {
    this.#name = name;
    this.count = workers ?? defaultWorkers();
  }

  /** A number that no other engine of this pool has. */
  nextId(): number {
    return this.#ids++;
  }

  checkOpen(): void {
    if (this.#closed) throw new Error(`the device ${this.#name} is closed; open a new one`);
  }

  /** Workers that have not ended, also those that are starting or held. */
  get open(): number {
    return this.#starting.size + this.#started.filter(w => !w.dead).length;
  }

  /** The workers that have started and are not held; starts as many as are missing. */
  workers(): readonly WorkerThread[] {
    this.#started = this.#started.filter(w => !w.dead);
    let free = this.#started.filter(w => !w.held);
    if (free.length > this.count) {
      // those that stood in for held ones which are free again
      const spare = free.filter(w => w.load === 0).slice(this.count - free.length);
      for (const w of spare) w.close();
      free = free.filter(w => !w.dead);
    }
    let missing = Math.min(
      this.count - free.length - this.#starting.size,
      this.count + mostExtra(this.count) - this.open,
    );
    for (; missing > 0 && this.#mayStart; missing--) this.#start();
    return free;
  }

  /** Resolves when a worker is free; rejects with the cause when none can be started and none is held. */
  firstWorker(): Promise<void> {
    this.#first ??= this.#whenFree().finally(() => {
      this.#first = null;
    });
    return this.#first;
  }

  async #whenFree(): Promise<void> {
    while (this.workers().length === 0) {
      this.checkOpen();
      if (this.open === 0 && !this.#mayStart) throw this.#failed.cause;
      if (this.open > 0) await this.#change();
    }
  }

  /** Calls `f` whenever there may be another worker; returns how to end that. */
  onChange(f: () => void): () => void {
    this.#listeners.add(f);
    return () => this.#listeners.delete(f);
  }

  close(): void {
    this.#closed = true;
    for (const w of [...this.#starting, ...this.#started]) w.close();
    this.#started = [];
  }

  get #mayStart(): boolean {
    const { count, at } = this.#failed;
    return !this.#closed && (count < MAX_FAILED_STARTS || performance.now() - at > RETRY_MS);
  }

  #change(): Promise<void> {
    return new Promise(resolve => {
      const leave = this.onChange(() => {
        leave();
        resolve();
      });
    });
  }

  #changed(): void {
    for (const f of [...this.#listeners]) f();
  }

  #start(): void {
    let worker: WorkerThread;
    try {
      worker = new WorkerThread(this.count, () => this.#changed());
    } catch (e) {
      return this.#failedToStart(e);
    }
    this.#starting.add(worker);
    worker.ask({ what: 'ping' }).then(
      () => {
        this.#starting.delete(worker);
        this.#failed.count = 0;
        this.#started.push(worker);
        this.#changed();
      },
      e => {
        this.#starting.delete(worker);
        this.#failedToStart(e);
        this.#changed();
      },
    );
  }

  #failedToStart(cause: unknown): void {
    this.#failed = { count: this.#failed.count + 1, cause, at: performance.now() };
  }
}
