/** The CPU device: a pool of workers, each with its own memory; what they do is in session.ts. */
import type { Device, DeviceIntegrand, OpenOptions, Session } from '../device.ts';
import { CpuSession } from './session.ts';
import { defaultWorkers, startWorker, type WorkerLike } from './workers.ts';

export class CpuDevice implements Device {
  readonly name: string;
  readonly #wanted: number | undefined;
  #ready: WorkerLike[] = [];
  #starting = new Set<Promise<void>>();
  #ids = 0;
  #closed = false;

  /** `workers`: how many; by default one a core. */
  constructor(workers?: number) {
    this.#wanted = workers;
    this.name = workers === undefined ? 'cpu' : `cpu:${workers}`;
  }

  async open(integrand: DeviceIntegrand, options: OpenOptions = {}): Promise<Session> {
    this.checkOpen();
    return new CpuSession(this, integrand, options);
  }

  /** A number that no other engine of this device has. */
  nextId(): number {
    return this.#ids++;
  }

  checkOpen(): void {
    if (this.#closed) throw new Error(`the device ${this.name} is closed; open a new one`);
  }

  /** The workers that are up; starts as many as are missing, the first time or because some died. */
  workers(): readonly WorkerLike[] {
    this.#ready = this.#ready.filter(w => !w.dead);
    for (let n = this.#ready.length + this.#starting.size; n < this.#count; n++) this.#start();
    return this.#ready;
  }

  /** Resolves when one worker is up; rejects when none can be had. */
  async firstWorker(): Promise<void> {
    if (this.workers().length > 0) return;
    await Promise.any(this.#starting).catch((e: AggregateError) => {
      throw e.errors[0];
    });
  }

  get #count(): number {
    return this.#wanted ?? defaultWorkers();
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

  async close(): Promise<void> {
    this.#closed = true;
    for (const w of this.#ready) w.close();
    this.#ready = [];
  }
}
