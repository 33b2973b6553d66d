/** The CPU device: compiled integrands as WebAssembly on a pool of workers. */
import { type BoundProgram, compiledOnly } from '../../integrand/bound.ts';
import type { Device, OpenOptions, Session } from '../device.ts';
import { WorkerSession } from './session.ts';
import { CompiledValues } from './values.ts';
import { checkWebAssembly } from './wasm-modules.ts';
import { WorkerPool } from './worker-pool.ts';

export class CpuDevice implements Device {
  readonly name: string;
  readonly kind = 'cpu';
  readonly epsilon = 2 ** -53;
  readonly #pool: WorkerPool;

  /** `workers` is their number, by default one per core, or a pool to share. */
  constructor(workers?: number | WorkerPool) {
    this.name = typeof workers === 'number' ? `cpu:${workers}` : 'cpu';
    this.#pool = workers instanceof WorkerPool ? workers : new WorkerPool(this.name, workers);
  }

  async open(program: BoundProgram, options: OpenOptions = {}): Promise<Session> {
    this.#pool.checkOpen();
    const compiled = compiledOnly(program, this.name);
    await checkWebAssembly();
    const values = new CompiledValues(compiled, this.name);
    return new WorkerSession(this.#pool, compiled.dims, values, options);
  }

  async close(): Promise<void> {
    this.#pool.close();
  }
}
