/** Values of an integrand at points of the host, on a GPU. Coordinates are rounded to float32. */
import { toFloat32 } from './float32.ts';
import type { GrowingBuffer } from './growing-buffer.ts';
import { EVALUATE_THREADS, evaluateKernel } from './kernels/evaluate.ts';
import type { WebGpuProgram } from './program.ts';

/** Points of a dispatch, at most: the default limit of workgroups. */
const MOST = 65_535 * EVALUATE_THREADS;

export class Points {
  readonly #program: WebGpuProgram;
  readonly #size: GrowingBuffer;
  readonly #points: GrowingBuffer;
  readonly #values: GrowingBuffer;

  constructor(program: WebGpuProgram) {
    this.#program = program;
    this.#size = program.buffer('uniform');
    this.#points = program.buffer('storage');
    this.#values = program.buffer('storage');
  }

  /**
   * Values at n points: all first coordinates, then all second ones; all first results, then all second ones. `meanwhile`: what the host does
   * while the GPU is at work.
   */
  async evaluate(
    points: Float64Array,
    n: number,
    signal?: AbortSignal,
    meanwhile?: () => void,
  ): Promise<Float64Array> {
    const { gpu, dims, results, text, pace } = this.#program;
    const pipeline = await gpu.pipeline(evaluateKernel(text, dims, results));
    const all = new Float64Array(results * n);
    await pace.run(
      gpu,
      n,
      1,
      MOST,
      async (first, count) => {
        const own = new Float32Array(dims * count);
        for (let d = 0; d < dims; d++)
          for (let i = 0; i < count; i++) own[d * count + i] = toFloat32(points[d * n + first + i]);
        const values = this.#values.of(4 * results * count);
        const size = this.#size.write(Uint32Array.of(count, 0, 0, 0));
        const buffers = [this.#program.params(), size, this.#points.write(own), values];
        const commands = gpu.record().dispatch(pipeline, buffers, [Math.ceil(count / EVALUATE_THREADS)]);
        const reading = gpu.read([{ buffer: values, bytes: 4 * results * count }], commands);
        if (first === 0) meanwhile?.();
        const found = new Float32Array((await reading)[0]);
        for (let r = 0; r < results; r++) all.set(found.subarray(r * count, (r + 1) * count), r * n + first);
      },
      signal,
    );
    return all;
  }
}
