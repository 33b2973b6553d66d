/** What VEGAS learns from an iteration, on a card: samples of each cube by its variance, and the refined map. */
import { MOST_PIECES, MOST_WIDER, NARROWEST, refineMap, WIDER } from '../../tasks/map.ts';
import { allocate, leastFor } from '../../tasks/strata.ts';
import type { Allocation, AxisMap, KeptMap, Refinement, SampleTask } from '../device.ts';
import type { Buffer, Module } from './card.ts';
import { listedPieces, type Pieces, uniformPieces } from './pieces.ts';
import { around, type CudaProgram } from './program.ts';
import { Struct } from './struct.ts';

/** The β and α of VEGAS+, whose powers are made of square roots. Others have no bits in common with the CPU's. */
const BETA = 0.75;
const ALPHAS = [0.5, 1];
/** How much of a bin's share counts, for α 1. */
const damp = ([d]: number[]) => (d <= 0 ? 0 : d >= 1 ? 1 : (1 - d) / -Math.log(d));
/** Threads of a block in allocate.cu and refine.cu; cubes up to which one block allocates. */
const WIDTH = 1024;
const ONE_BLOCK = 2 ** 14;
/** In the order of the struct in allocate.cu. */
const ALLOCATE_BUFFERS = [
  'largest',
  'shares',
  'groups',
  'total',
  'counts',
  'firstPiece',
  'firstSample',
  'blocks',
  'totals',
] as const;

const ALLOCATION = around('allocate', ([v]) => v ** 0.375);
const REFINEMENT = around('refine', damp, { WIDER, MOST_WIDER, NARROWEST, MOST_PIECES });
export const LEARNING = [ALLOCATION, REFINEMENT];

/** Samples of each cube, in the program's buffers until the next one; how many pieces they have, the card knows. */
export class CudaAllocation implements Allocation {
  readonly evaluations: number;
  /** Pieces, at most. */
  readonly most: number;

  constructor(evaluations: number, cubes: number) {
    this.evaluations = Math.max(evaluations, 2 * cubes);
    this.most = cubes + Math.ceil(this.evaluations / 128);
  }
}

export class CudaMap implements KeptMap {
  readonly bins: number;
  readonly buffer: Buffer;

  constructor(bins: number, buffer: Buffer) {
    this.bins = bins;
    this.buffer = buffer;
  }
}

/** What the last iteration left behind. */
export interface Learned {
  map: CudaMap;
  /** Where the histogram is. */
  histogram: number;
  variances: Buffer | null;
  cubes: number;
}

export class CudaLearning {
  readonly #program: CudaProgram;
  learned: Learned | null = null;
  /** What the cubes' samples in memory follow from: frozen iterations all have the same. */
  #allocated: { from: Learned; beta: number; asked: number; allocation: CudaAllocation } | null = null;

  readonly #buffers: Record<(typeof ALLOCATE_BUFFERS)[number], Buffer>;
  #allocation: Module | null = null;

  constructor(program: CudaProgram) {
    this.#program = program;
    this.#buffers = program.buffers(...ALLOCATE_BUFFERS);
  }

  /** A map on the card. */
  mapOf(map: AxisMap, bins: number): CudaMap {
    return map instanceof CudaMap
      ? map
      : new CudaMap(bins, this.#program.buffer('map 0').write(map as Float64Array));
  }

  edgesOf(map: AxisMap): Float64Array {
    if (!(map instanceof CudaMap)) return map as Float64Array;
    return map.buffer.read(new Float64Array(this.#program.dims * (map.bins + 1)));
  }

  /** The cubes' pieces, in memory where the kernel looks for them. */
  plan(counts: SampleTask['counts'], cubes: number): Pieces {
    if (typeof counts === 'number') return uniformPieces(counts, cubes);
    if (counts instanceof CudaAllocation)
      return { total: counts.evaluations, chunk: 0, each: 0, items: counts.most };
    this.#allocated = null;
    const each = counts as Uint32Array;
    const plan = listedPieces(each);
    this.#program.buffer('counts').write(each);
    this.#program.buffer('firstPiece').write(plan.firstPiece);
    this.#program.buffer('firstSample').write(plan.firstSample);
    return plan;
  }

  /** Numbers of pieces as numbers of cubes. */
  folded(pieces: Buffer, plan: Pieces, cubes: number): Buffer {
    if (plan.items === cubes) return pieces;
    const folded = this.#program.buffer('folded').reserve(8 * cubes);
    const address = (b: Buffer) => BigUint64Array.of(BigInt(b.address));
    this.#kernels().launch(
      'fold',
      Math.ceil(cubes / 256),
      256,
      0,
      address(pieces),
      address(folded),
      address(this.#program.buffer('firstPiece')),
      Uint32Array.of(plan.each),
      Uint32Array.of(cubes),
    );
    return folded;
  }

  allocate(beta: number, evaluations: number): Allocation {
    const known = this.#allocated;
    if (known && known.from === this.learned && known.beta === beta && known.asked === evaluations)
      return known.allocation;
    if (!this.learned?.variances) throw new Error('allocate before an iteration that kept variances');
    const { variances, cubes } = this.learned;
    const allocation = this.#allocate(variances, cubes, beta, evaluations);
    this.#allocated = { from: this.learned, beta, asked: evaluations, allocation };
    return allocation;
  }

  #allocate(variances: Buffer, cubes: number, beta: number, evaluations: number): CudaAllocation {
    const buffer = this.#buffers;
    if (beta !== BETA) {
      const counts = allocate(variances.read(new Float64Array(cubes)), beta, evaluations);
      const { items, total, chunk } = this.plan(counts, cubes);
      buffer.totals.write(BigUint64Array.of(BigInt(items), BigInt(total), BigInt(chunk)));
      return new CudaAllocation(total, cubes);
    }
    const blocks = Math.ceil(cubes / WIDTH);
    const least = leastFor(evaluations, cubes);
    buffer.largest.reserve(8);
    buffer.shares.reserve(8 * cubes);
    buffer.groups.reserve(8 * Math.ceil(cubes / 32));
    buffer.total.reserve(8);
    buffer.counts.reserve(4 * cubes);
    buffer.firstPiece.reserve(4 * (cubes + 1));
    buffer.firstSample.reserve(8 * cubes);
    buffer.blocks.reserve(8 * blocks);
    buffer.totals.reserve(24);
    const struct = new Struct()
      .u32(cubes, least)
      .f64(Math.max(0, evaluations - least * cubes))
      .u64(variances.address, this.#program.params.address)
      .u64(...ALLOCATE_BUFFERS.map(name => buffer[name].address)).bytes;
    const module = this.#kernels();
    const start = (name: string, n: number, threads: number, ...more: Uint32Array[]) =>
      module.launch(name, n, threads, 0, struct, ...more);
    if (cubes <= ONE_BLOCK) start('allocate', 1, WIDTH);
    else {
      buffer.largest.clear(8);
      start('largest', Math.min(blocks, 1024), 256);
      start('shares', Math.ceil(cubes / WIDTH), 256);
      start('total', 1, WIDTH);
      start('counts', blocks, WIDTH);
      start('starts', 1, WIDTH, Uint32Array.of(1));
      start('pieces', blocks, WIDTH);
      start('starts', 1, WIDTH, Uint32Array.of(0));
      start('shift', blocks, WIDTH);
    }
    return new CudaAllocation(evaluations, cubes);
  }

  /** The kernels of allocate.cu, with the power that VEGAS+ uses. */
  #kernels(): Module {
    this.#allocation ??= this.#program.module(ALLOCATION);
    return this.#allocation;
  }

  /** `histogram` reads the counters, for an α that the card has no power of. */
  refine({ alpha, floor, shared }: Refinement, histogram: (bins: number) => Float64Array): AxisMap {
    if (!this.learned) throw new Error('refine before an iteration that kept its histogram');
    const { map } = this.learned;
    const { dims, params } = this.#program;
    const { bins } = map;
    if (!ALPHAS.includes(alpha))
      return refineMap(this.edgesOf(map), histogram(bins), dims, alpha, floor, shared);
    // the map before this one stays where it is until the one after it
    const { 'map 1': one, 'map 2': two } = this.#program.buffers('map 1', 'map 2');
    const refined = map.buffer === one ? two : one;
    refined.reserve(8 * dims * (bins + 1));
    const scratch = this.#program.buffer('scratch');
    scratch.reserve(8 * dims * (4 * (bins + 1) + 2 * MOST_PIECES * bins + 1));
    const struct = new Struct()
      .u32(bins, dims, shared ? 1 : 0, alpha === 0.5 ? 1 : 0)
      .f64(floor)
      .u64(this.learned.histogram, map.buffer.address, params.address, refined.address, scratch.address);
    const module = this.#program.module(REFINEMENT);
    module.launch('refine', dims, WIDTH, 0, struct.bytes);
    return new CudaMap(bins, refined);
  }
}
