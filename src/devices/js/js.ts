/**
 * The `js` device: calls functions as they are, on workers if they can be moved there, otherwise on this thread. Points are
 * drawn by kernels in WebAssembly, where there is any.
 */
import type { BoundProgram } from '../../integrand/bound.ts';
import { WorkerSession } from '../cpu/session.ts';
import { PlainValues } from '../cpu/values.ts';
import { checkWebAssembly } from '../cpu/wasm-modules.ts';
import { WorkerPool } from '../cpu/worker-pool.ts';
import type { Device, OpenOptions, Session } from '../device.ts';
import { PointwiseSession } from './pointwise-session.ts';

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
    try {
      await checkWebAssembly();
    } catch {
      return new PointwiseSession(program);
    }
    return new WorkerSession(this.#pool, program.dims, new PlainValues(program), options);
  }

  async close(): Promise<void> {
    this.#pool.close();
  }
}
