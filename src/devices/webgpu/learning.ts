/**
 * What VEGAS learns from an iteration, with a GPU. Variances of cubes and the samples that are allotted by them stay there
 * (kernels/allocate.ts); tasks refer to them by a number. The map is refined by the host in float64, as everywhere: its histogram
 * is 8 bytes for each bin of each axis, and comes back with the sums of the iteration.
 */
import { mostFor } from '../../tasks/host-learning.ts';
import type { Refinement } from '../../tasks/learning.ts';
import { refineMap } from '../../tasks/map.ts';
import { isKept } from '../../tasks/part.ts';
import { groupsOf, PIECE, piecesOf } from '../../tasks/pieces.ts';
import {
  type AxisMap,
  type Counts,
  cubesOf,
  type SampleSums,
  type SampleTask,
  samplesOf,
} from '../../tasks/sample.ts';
import { allocate, leastFor } from '../../tasks/strata.ts';
import type { Commands } from './commands.ts';
import { toFloat32 } from './float32.ts';
import type { Gpu } from './gpu.ts';
import type { GrowingBuffer } from './growing-buffer.ts';
import {
  ALLOCATE,
  ALLOCATE_THREADS,
  BLOCK_CUBES,
  BLOCKS_KERNEL,
  COUNTS_KERNEL,
  CUBES_KERNEL,
  FOLD_BITS,
  foldVariances,
  GROUPS_KERNEL,
  LARGEST_KERNEL,
  SHARES_KERNEL,
  SHIFT_KERNEL,
  STATE_WORDS,
} from './kernels/allocate.ts';
import type { WebGpuProgram } from './program.ts';

/** The β that the GPU computes powers for, that of VEGAS+, which is made of square roots. For others the host allots. */
const BETA = 0.75;

const KERNELS = {
  fold: foldVariances(2),
  foldAgain: foldVariances(1),
  cubes: CUBES_KERNEL,
  largest: LARGEST_KERNEL,
  shares: SHARES_KERNEL,
  counts: COUNTS_KERNEL,
  blocks: BLOCKS_KERNEL,
  shift: SHIFT_KERNEL,
  groups: GROUPS_KERNEL,
} as const;

const BUFFERS = ['variances', 'state', 'shares', 'before', 'blocks', 'starts', 'some', 'many'] as const;

/** What the last iteration left. */
interface Learned {
  edges: Float64Array;
  dims: number;
  cubes: number;
  histogram: Float64Array;
  /** Whether there are variances. */
  varies: boolean;
}

/** Counts that are on the GPU, as the kernel of samples reads them: what is before each cube, and where groups begin. */
export interface KeptCounts {
  before: GPUBuffer;
  starts: GPUBuffer;
}

export class WebGpuLearning {
  readonly #gpu: Gpu;
  readonly #uniforms: Record<'cubes' | 'pieces' | 'blocks' | 'allocate', GrowingBuffer>;
  readonly #buffers: Record<(typeof BUFFERS)[number], GrowingBuffer>;
  #pipelines: Promise<Record<keyof typeof KERNELS, GPUComputePipeline>> | null = null;
  #learned: Learned | null = null;
  /** The number of counts that were kept so far, and cubes of the last ones. */
  #kept = 0;
  #cubes = 0;
  /** Counts that were read last: in one dimension all frozen iterations ask for them. */
  #lastRead: { kept: number; counts: Promise<Uint32Array> } | null = null;
  /** The last allocation and what it was made from: all frozen iterations use the same. */
  #allocated: { from: Learned; beta: number; asked: number; counts: Counts } | null = null;

  /** Records the allotting of counts that nobody has used yet: a submission of its own takes as long as a small iteration. */
  #allotting: ((commands: Commands) => Commands) | null = null;

  constructor(program: WebGpuProgram) {
    this.#gpu = program.gpu;
    const uniform = () => program.buffer('uniform');
    this.#uniforms = { cubes: uniform(), pieces: uniform(), blocks: uniform(), allocate: uniform() };
    this.#buffers = Object.fromEntries(BUFFERS.map(name => [name, program.buffer('storage')])) as never;
  }

  /** The kernels, compiled in the background from the first call on. */
  kernels(): Promise<Record<keyof typeof KERNELS, GPUComputePipeline>> {
    this.#pipelines ??= Promise.all(
      Object.entries(KERNELS).map(async ([name, text]) => [name, await this.#gpu.pipeline(text)]),
    ).then(all => Object.fromEntries(all));
    this.#pipelines.catch(() => {
      this.#pipelines = null;
    });
    return this.#pipelines;
  }

  /** Whether an iteration can leave its variances here: pieces at most, in a buffer of two numbers each. */
  holds(task: SampleTask): boolean {
    return samplesOf(task) < 2 ** 32 && 8 * mostPieces(task) <= this.#gpu.bindingBytes;
  }

  /** Records the kernels that make variances of cubes from those of pieces. */
  async fold(commands: Commands, task: SampleTask, ofPieces: GPUBuffer, before: GPUBuffer): Promise<void> {
    const kernels = await this.kernels();
    const [cubes, pieces] = [cubesOf(task), mostPieces(task)];
    const blocks = Math.ceil(pieces / 2 ** FOLD_BITS);
    const buffer = this.#buffers;
    const [some, many] = [buffer.some.of(4 * blocks), buffer.many.of(4 * Math.ceil(blocks / 2 ** FOLD_BITS))];
    const state = buffer.state.of(4 * STATE_WORDS);
    const words = new Uint32Array(ALLOCATE.WORDS);
    words[ALLOCATE.CUBES] = cubes;
    words[ALLOCATE.COUNT] = typeof task.counts === 'number' ? task.counts : 0;
    commands.clear(state, 4 * STATE_WORDS);
    if (samplesOf(task) > PIECE * 2 ** FOLD_BITS) {
      const width = ALLOCATE_THREADS * 2 ** FOLD_BITS;
      const ofBlocks = this.#uniforms.blocks.write(Uint32Array.of(blocks, 0, 0, 0));
      commands
        .dispatch(
          kernels.fold,
          [this.#uniforms.pieces.write(Uint32Array.of(pieces, 0, 0, 0)), ofPieces, some],
          [Math.ceil(pieces / width)],
        )
        .dispatch(kernels.foldAgain, [ofBlocks, some, many], [Math.ceil(blocks / width)]);
    }
    const variances = buffer.variances.of(4 * cubes);
    commands.dispatch(
      kernels.cubes,
      [this.#uniforms.cubes.write(words), ofPieces, some, many, before, variances, state],
      [Math.ceil(cubes / ALLOCATE_THREADS)],
    );
  }

  /** What an iteration left, whose variances `fold` has made. */
  keep({ strata, adapt, ...task }: SampleTask & { edges: Float64Array }, histogram: Float64Array): void {
    this.#learned = {
      edges: task.edges,
      dims: strata.length,
      cubes: cubesOf({ strata }),
      histogram,
      varies: !!adapt?.variances,
    };
  }

  /** Learns from an iteration whose sums are on the host. */
  async learn(task: SampleTask & { edges: Float64Array }, sums: SampleSums): Promise<void> {
    this.keep(task, sums.histogram!);
    if (this.#allotting) this.#kept++; // counts that nobody has used would be allotted by these variances: they are gone
    this.#allotting = null;
    const { variances } = sums;
    this.#learned!.varies = !!variances;
    if (!variances) return;
    const { largest } = await this.kernels();
    const words = new Uint32Array(ALLOCATE.WORDS);
    words[ALLOCATE.CUBES] = variances.length;
    const state = this.#buffers.state.of(4 * STATE_WORDS);
    const own = this.#buffers.variances.write(Float32Array.from(variances, toFloat32));
    this.#gpu
      .record()
      .clear(state, 4 * STATE_WORDS)
      .dispatch(
        largest,
        [this.#uniforms.cubes.write(words), own, state],
        [Math.ceil(variances.length / ALLOCATE_THREADS)],
      )
      .submit();
  }

  refine({ alpha, floor, shared }: Refinement): AxisMap {
    const { edges, histogram, dims } = this.#last();
    return refineMap(edges, histogram, dims, alpha, floor, shared);
  }

  async allocate(beta: number, evaluations: number): Promise<Counts> {
    const from = this.#last();
    const known = this.#allocated;
    if (known && known.from === from && known.beta === beta && known.asked === evaluations)
      return known.counts;
    if (!from.varies) throw new Error('allocate after an iteration without variances');
    const most = mostFor(evaluations, from.cubes);
    const onGpu = beta === BETA && most < 2 ** 32;
    const counts: Counts = onGpu
      ? { evaluations: most, each: { kept: await this.#allocate(from.cubes, evaluations, most) } }
      : { evaluations: most, each: allocate(await this.#variances(from.cubes), beta, evaluations) };
    this.#allocated = { from, beta, asked: evaluations, counts };
    return counts;
  }

  /** Allots samples on the GPU, and returns the number of the counts. */
  async #allocate(cubes: number, evaluations: number, most: number): Promise<number> {
    const kernels = await this.kernels();
    const least = leastFor(evaluations, cubes);
    const { groups, size } = groupsOf(most);
    const words = new Uint32Array(ALLOCATE.WORDS);
    words[ALLOCATE.CUBES] = cubes;
    words[ALLOCATE.LEAST] = least;
    words[ALLOCATE.REST] = Math.max(0, evaluations - least * cubes);
    words[ALLOCATE.GROUPS] = groups;
    words[ALLOCATE.GROUP_BITS] = Math.log2(size);
    const task = this.#uniforms.allocate.write(words);
    const buffer = this.#buffers;
    const [variances, state] = [buffer.variances.of(4 * cubes), buffer.state.of(4 * STATE_WORDS)];
    const blockCount = Math.ceil(cubes / BLOCK_CUBES);
    const [shares, before] = [buffer.shares.of(4 * cubes), buffer.before.of(8 * (cubes + 1))];
    const [blocks, starts] = [buffer.blocks.of(8 * blockCount), buffer.starts.of(16 * (groups + 1))];
    const [perCube, perGroup] = [cubes, groups + 1].map(n => Math.ceil(n / ALLOCATE_THREADS));
    this.#allotting = commands => {
      commands
        .clear(state, 4 * STATE_WORDS, 4)
        .dispatch(kernels.shares, [task, variances, shares, state], [perCube])
        .dispatch(kernels.counts, [task, shares, state, before, blocks], [blockCount])
        .dispatch(kernels.blocks, [task, blocks, before], [1]);
      // before the only block there is nothing
      if (blockCount > 1) commands.dispatch(kernels.shift, [task, blocks, before], [perCube]);
      return commands.dispatch(kernels.groups, [task, before, starts], [perGroup]);
    };
    this.#cubes = cubes;
    return ++this.#kept;
  }

  /** Lets commands see the counts which were asked for last: they are allotted first, in the same submission. */
  begin(commands: Commands = this.#gpu.record()): Commands {
    return this.#allotting?.(commands) ?? commands;
  }

  /** What `begin` has begun is submitted. */
  submitted(): void {
    this.#allotting = null;
  }

  /** The buffers of counts that are kept. */
  keptCounts(kept: number): KeptCounts {
    if (kept !== this.#kept) throw new Error(`the GPU keeps no counts ${kept}`);
    return { before: this.#buffers.before.of(8), starts: this.#buffers.starts.of(16) };
  }

  async countsOf({ each }: Counts): Promise<Uint32Array> {
    if (!isKept(each)) return each;
    if (this.#lastRead?.kept !== each.kept)
      this.#lastRead = { kept: each.kept, counts: this.#read(each.kept) };
    return this.#lastRead.counts;
  }

  async #read(kept: number): Promise<Uint32Array> {
    const { before } = this.keptCounts(kept);
    const reading = this.#gpu.read([{ buffer: before, bytes: 8 * (this.#cubes + 1) }], this.begin());
    this.submitted();
    const [found] = await reading;
    const list = new Uint32Array(found);
    return Uint32Array.from({ length: this.#cubes }, (_, i) => list[2 * i + 3] - list[2 * i + 1]);
  }

  async #variances(cubes: number): Promise<Float64Array> {
    const [found] = await this.#gpu.read([{ buffer: this.#buffers.variances.of(4), bytes: 4 * cubes }]);
    return Float64Array.from(new Float32Array(found));
  }

  #last(): Learned {
    if (!this.#learned) throw new Error('nothing was learned yet');
    return this.#learned;
  }
}

/** The number of pieces of an iteration, at most. */
export function mostPieces(task: SampleTask): number {
  const cubes = cubesOf(task);
  return typeof task.counts === 'number'
    ? cubes * piecesOf(task.counts)
    : cubes + Math.ceil(samplesOf(task) / PIECE);
}
