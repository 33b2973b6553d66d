/** Finds the cubes that matter among many (tasks/heavy.ts) in the card's memory: kernels/heavy.cu looks at their means behind the kernel that samples them. */
import { roundKeys } from '../../random/philox.ts';
import type { HeavyCubes, HeavyLimits } from '../../tasks/heavy.ts';
import { isKept } from '../../tasks/part.ts';
import type { SampleTask } from '../../tasks/sample.ts';
import type { Buffer } from './card.ts';
import type { CudaProgram, Recipe } from './program.ts';
import type { CudaSampling, SampledCubes } from './sampling.ts';
import { HEAVY, HEAVY_RESULT } from './structs.ts';

/** Threads per block. */
const WIDTH = 256;
/** Blocks, at most; the sum of the means is added in an order that depends on this number alone. */
const MOST_BLOCKS = 1024;

const BUFFERS = [
  'heavy map',
  'axes',
  'block sums',
  'heavy result',
  'heavy list',
  'weights',
  'jacobians',
] as const;

/** Kernels for any integrand and any number of dimensions. */
export const HEAVY_KERNEL: Recipe = { kernel: 'heavy', constants: { WIDTH }, own: 'alone', text: () => '' };

export class CudaHeavy {
  readonly #program: CudaProgram;
  readonly #sampling: CudaSampling;
  readonly #buffers: Record<(typeof BUFFERS)[number], Buffer>;
  readonly #layout = HEAVY.layout(0);
  readonly #result = HEAVY_RESULT.layout(0);
  /** The map whose numbers are in the buffer. */
  #map: Float64Array | null = null;

  constructor(program: CudaProgram, sampling: CudaSampling) {
    this.#program = program;
    this.#sampling = sampling;
    this.#buffers = program.buffers(...BUFFERS);
  }

  async find(task: SampleTask, limits: HeavyLimits, signal?: AbortSignal): Promise<HeavyCubes> {
    const { evaluations, nonFinite } = await this.#sampling.sampleCubes(
      task,
      cubes => this.#start(task, limits, cubes),
      signal,
    );
    const { 'heavy result': result, 'heavy list': list, weights, jacobians } = this.#buffers;
    const { sum, count } = this.#result.unpack(result.read(new Uint8Array(this.#result.size)));
    const read = (from: Buffer) => from.read(new Float64Array(count));
    const [cubes, weight, jacobian] = [list.read(new Uint32Array(count)), read(weights), read(jacobians)];
    const order = Array.from(cubes.keys()).sort((a, b) => cubes[a] - cubes[b]);
    const inOrder = (numbers: Uint32Array | Float64Array) => order.map(i => numbers[i]);
    return {
      evaluations,
      nonFinite,
      sum,
      cubes: inOrder(cubes),
      weights: inOrder(weight),
      jacobians: inOrder(jacobian),
    };
  }

  #start(task: SampleTask, { ranges, map, bins, least, far }: HeavyLimits, sampled: SampledCubes): void {
    const buffer = this.#buffers;
    const { cubes, means, variances } = sampled;
    const blocks = Math.min(MOST_BLOCKS, Math.ceil(cubes / WIDTH));
    const struct = this.#layout.pack({
      dims: ranges.length,
      cubes,
      bins,
      iteration: task.iteration,
      stream: task.stream,
      keys: roundKeys(task.key),
      unit: task.unit,
      least,
      far,
      means,
      variances,
      edges: this.#mapOf(map),
      axes: buffer.axes.write(
        Float64Array.from(ranges.flatMap(([low, high], d) => [task.strata[d], low, high - low])),
      ),
      sums: buffer['block sums'].reserve(8 * MOST_BLOCKS),
      result: buffer['heavy result'].clear(this.#result.size),
      list: buffer['heavy list'].reserve(4 * cubes),
      weights: buffer.weights.reserve(8 * cubes),
      jacobians: buffer.jacobians.reserve(8 * cubes),
    });
    this.#program.module(HEAVY_KERNEL).launch('heavy', blocks, WIDTH, 0, struct);
  }

  /** The buffer with a map; that of the task is another one. */
  #mapOf(map: HeavyLimits['map']): Buffer {
    if (isKept(map)) return this.#sampling.learning.mapOf(map);
    const buffer = this.#buffers['heavy map'];
    if (this.#map !== map) buffer.write(map);
    this.#map = map;
    return buffer;
  }
}
