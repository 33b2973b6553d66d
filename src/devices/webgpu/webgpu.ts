/** The WebGPU device: the GPU of a page, or of Node with the package webgpu, in float32. It is loaded only when it is asked for. */
import { type BoundProgram, compiledOnly } from '../../integrand/bound.ts';
import type { Device, Session } from '../device.ts';
import { Gpu } from './gpu.ts';
import { WebGpuSession } from './session.ts';

export class WebGpuDevice implements Device {
  readonly name = 'webgpu';
  readonly kind = 'webgpu';
  readonly epsilon = 2 ** -24;
  /** Opened with the first session, and again after the GPU was lost. */
  #gpu: Promise<Gpu> | null = null;
  #closed = false;

  async open(program: BoundProgram): Promise<Session> {
    const compiled = compiledOnly(program, this.name);
    return new WebGpuSession(await this.gpu(), compiled, this.name, this.epsilon);
  }

  /** The GPU, opened if it is not. */
  async gpu(): Promise<Gpu> {
    if (this.#closed) throw new Error(`${this.name} is closed`);
    const open = await this.#gpu?.catch(() => null);
    if (open?.works) return open;
    this.#gpu = Gpu.open();
    return this.#gpu;
  }

  async close(): Promise<void> {
    this.#closed = true;
    (await this.#gpu?.catch(() => null))?.close();
  }
}
