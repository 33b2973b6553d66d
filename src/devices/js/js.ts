/** The `js` device: calls functions as they are, on workers if they can be moved there, otherwise on this thread. */
import type { BoundProgram } from '../../integrand/bound.ts';
import { WorkerSession } from '../cpu/session.ts';
import { PlainValues } from '../cpu/values.ts';
import { WorkerPool } from '../cpu/worker-pool.ts';
import type { Device, OpenOptions, Session } from '../device.ts';

export class JsDevice implements Device {
  readonly name: string;
  readonly kind = 'js';
  readonly epsilon = 2 ** -53;
  readonly takesFunctions = true;
  readonly #pool: WorkerPool;

  /** `workers` is their number, by default one per core, or a pool to share. */
  constructor(workers?: number | WorkerPool) {
    this.name = typeof workers === 'number' ? `js:${workers}` : 'js';
    this.#pool = workers instanceof WorkerPool ? workers : new WorkerPool(this.name, workers);
  }

  async open(program: BoundProgram, options: OpenOptions = {}): Promise<Session> {
    this.#pool.checkOpen();
    if (program.kind !== 'plain')
      throw new TypeError(`${this.name} runs functions as they are, not compiled ones`);
    return new WorkerSession(this.#pool, program.dims, new PlainValues(program), options);
  }

  async close(): Promise<void> {
    this.#pool.close();
  }
}
