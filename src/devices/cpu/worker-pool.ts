/** A pool of workers, each with its own memory. They start when they are first needed, and are replaced when they die. */
import { defaultWorkers, startWorker, type WorkerLike } from './workers.ts';

export class WorkerPool {
  readonly #name: string;
  readonly #count: number;
  #ready: WorkerLike[] = [];
  #starting = new Set<Promise<void>>();
  #ids = 0;
  #closed = false;

  /** `name` is the device's name in error messages; by default there is one worker per core. */
  constructor(name: string, workers?: number) {
    this.#name = name;
    this.#count = workers ?? defaultWorkers();
  }

  /** A number that no other engine of this pool has. */
  nextId(): number {
    return this.#ids++;
  }

  checkOpen(): void {
    if (this.#closed) throw new Error(`the device ${this.#name} is closed; open a new one`);
  }

  /** The workers that have started; starts as many as are missing. */
  workers(): readonly WorkerLike[] {
    this.#ready = this.#ready.filter(w => !w.dead);
    for (let n = this.#ready.length + this.#starting.size; n < this.#count; n++) this.#start();
    return this.#ready;
  }

  /** Resolves when one worker has started; rejects when none can be started. */
  async firstWorker(): Promise<void> {
    if (this.workers().length > 0) return;
    await Promise.any(this.#starting).catch((e: AggregateError) => {
      throw e.errors[0];
    });
  }

  #start(): void {
    const worker = startWorker(this.#count);
    const up = worker.ask({ what: 'ping' }).then(() => {
      if (this.#closed) worker.close();
      else this.#ready.push(worker);
    });
    this.#starting.add(up);
    up.catch(() => {}).finally(() => this.#starting.delete(up));
  }

  close(): void {
    this.#closed = true;
    for (const w of this.#ready) w.close();
    this.#ready = [];
  }
}
