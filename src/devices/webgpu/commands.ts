/// <reference types="@webgpu/types" />
/** Commands that are submitted together: each submission is a call of the driver. */

/** What is bound to a kernel: a buffer, a part of one, or nothing. */
export type Bound = GPUBuffer | GPUBufferBinding | null;

/** Whether two bindings are of the same bytes. */
export const isSame = (a: Bound, b: Bound): boolean => {
  if (a === b || !a || !b || !('buffer' in a) || !('buffer' in b)) return a === b;
  return a.buffer === b.buffer && a.offset === b.offset && a.size === b.size;
};

export class Commands {
  readonly #device: GPUDevice;
  readonly #encoder: GPUCommandEncoder;
  readonly #bindGroup: (pipeline: GPUComputePipeline, buffers: readonly Bound[]) => GPUBindGroup;
  #pass: GPUComputePassEncoder | null = null;

  constructor(
    device: GPUDevice,
    bindGroup: (pipeline: GPUComputePipeline, buffers: readonly Bound[]) => GPUBindGroup,
  ) {
    this.#device = device;
    this.#encoder = device.createCommandEncoder();
    this.#bindGroup = bindGroup;
  }

  /** A buffer's place in the list is the number of its binding. */
  dispatch(
    pipeline: GPUComputePipeline,
    buffers: readonly Bound[],
    workgroups: readonly [number, number?],
  ): this {
    if (workgroups[0] === 0) return this; // Dawn warns of it
    this.#pass ??= this.#encoder.beginComputePass();
    this.#pass.setPipeline(pipeline);
    this.#pass.setBindGroup(0, this.#bindGroup(pipeline, buffers));
    this.#pass.dispatchWorkgroups(...workgroups);
    return this;
  }

  /** Writes zeros from byte `from` up to byte `end`. */
  clear(buffer: GPUBuffer, end: number, from = 0): this {
    this.#endPass();
    this.#encoder.clearBuffer(buffer, from, end - from);
    return this;
  }

  copy(from: GPUBuffer, at: number, to: GPUBuffer, place: number, bytes: number): this {
    this.#endPass();
    this.#encoder.copyBufferToBuffer(from, at, to, place, bytes);
    return this;
  }

  submit(): void {
    this.#endPass();
    this.#device.queue.submit([this.#encoder.finish()]);
  }

  #endPass(): void {
    this.#pass?.end();
    this.#pass = null;
  }
}
