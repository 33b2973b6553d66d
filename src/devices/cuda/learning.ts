/**
 * What VEGAS learns from an iteration, on a card: the samples per cube by variance (kernels/allocate.cu, the same bits as on
 * the host) and the refined map (kernels/refine.cu, the same up to rounding). Both stay in the card's memory; tasks refer
 * to them by a number.
 */
import { mostFor } from '../../tasks/host-learning.ts';
import type { Refinement } from '../../tasks/learning.ts';
import { MOST_PIECES, MOST_WIDER, NARROWEST, refineMap, WIDER } from '../../tasks/map.ts';
import { isKept } from '../../tasks/part.ts';
import { type Groups, groupsOf, PIECE, piecesOf, placeFinder } from '../../tasks/pieces.ts';
import type { AxisMap, Counts } from '../../tasks/sample.ts';
import { allocate, leastFor } from '../../tasks/strata.ts';
import type { Buffer } from './card.ts';
import { HEAVY_KERNEL } from './heavy.ts';
import type { Kernels } from './module.ts';
import { around, type CudaProgram } from './program.ts';
import { ALLOCATE, FOLD, REFINE } from './structs.ts';

/**
 * The β and α that the card computes powers for: those of VEGAS+, which are made of square roots and have the same bits as
 * on the CPU. For others the host learns.
 */
const BETA = 0.75;
const ALPHAS = [0.5, 1];
/** The damping of a bin's share d for α = 1; see tasks/map.ts. */
const damp = ([d]: number[]) => (d <= 0 ? 0 : d >= 1 ? 1 : (1 - d) / -Math.log(d));
/** Threads per block in allocate.cu and refine.cu. */
const WIDTH = 1024;
/** Up to this many cubes, one block allocates. */
const MAX_ONE_BLOCK_CUBES = 2 ** 14;

const BUFFERS = [
  'largest',
  'shares',
  'groups',
  'total',
  'counts',
  'firstPiece',
  'firstSample',
  'blocks',
  'totals',
  'groupStarts',
] as const;

/** A cube with more pieces than this is added by all lanes of a warp. */
export const MANY_PIECES = 32;

const ALLOCATION = around('allocate', ([v]) => v ** 0.375, { WIDTH, PIECE, MANY: MANY_PIECES });
const REFINEMENT = around('refine', damp, { WIDTH, WIDER, MOST_WIDER, NARROWEST, MOST_PIECES });
/** Kernels that runs need which learn. */
export const LEARNING = [ALLOCATION, REFINEMENT, HEAVY_KERNEL];

/** What the last iteration left on the card. */
export interface Learned {
  map: Buffer;
  bins: number;
  /** The address of the histogram. */
  histogram: number;
  variances: Buffer | null;
  cubes: number;
}

export class CudaLearning {
  readonly #program: CudaProgram;
  readonly #buffers: Record<(typeof BUFFERS)[number], Buffer>;
  readonly #structs;
  #learned: Learned | null = null;
  /** The number of maps and counts that were kept so far; the next one gets the next number. */
  #kept = 0;
  /** The map that was refined last, and its number. */
  #map: { kept: number; buffer: Buffer; bins: number } | null = null;
  /** The counts in the card's memory: those of an allocation, by its number, or those of a list. */
  #counts: { kept?: number; list?: Uint32Array; cubes: number } | null = null;
  /** The last allocation and what it was made from: all frozen iterations use the same. */
  #allocated: { from: Learned; beta: number; asked: number; counts: Counts } | null = null;
  #allocation: Kernels | null = null;

  constructor(program: CudaProgram) {
    this.#program = program;
    this.#buffers = program.buffers(...BUFFERS);
    this.#structs = {
      allocate: ALLOCATE.layout(1),
      fold: FOLD.layout(1),
      refine: REFINE.layout(1),
    };
  }

  /** Forgets what belongs to a session that has ended. Numbers of maps and counts go on. */
  reset(): void {
    this.#learned = this.#map = this.#counts = this.#allocated = this.#allocation = null;
  }

  keep(learned: Learned): void {
    this.#learned = learned;
  }

  /** Bins per axis of the map in the last iteration. */
  get bins(): number {
    return this.#last().bins;
  }

  /** The buffer with a map. */
  mapOf(map: AxisMap): Buffer {
    return isKept(map) ? this.#mapOf(map.kept).buffer : this.#program.buffer('map 0').write(map);
  }

  edgesOf(map: AxisMap): Float64Array {
    if (!isKept(map)) return map;
    const { buffer, bins } = this.#mapOf(map.kept);
    return buffer.read(new Float64Array(this.#program.dims * (bins + 1)));
  }

  #mapOf(kept: number) {
    if (this.#map?.kept !== kept) throw new Error(`the card keeps no map ${kept}`);
    return this.#map;
  }

  /** Writes the samples per cube into the buffers that kernels read. */
  putCounts(counts: number | Counts): void {
    if (typeof counts === 'number') return;
    const { each } = counts;
    if (isKept(each)) {
      if (this.#counts?.kept !== each.kept) throw new Error(`the card keeps no counts ${each.kept}`);
      return;
    }
    if (this.#counts?.list === each) return;
    const firstPiece = new Uint32Array(each.length + 1);
    const firstSample = new Float64Array(each.length);
    let [pieces, samples] = [0, 0];
    for (let c = 0; c < each.length; c++) {
      firstPiece[c] = pieces;
      firstSample[c] = samples;
      pieces += piecesOf(each[c]);
      samples += each[c];
    }
    firstPiece[each.length] = pieces;
    const buffer = this.#buffers;
    buffer.counts.write(each);
    buffer.firstPiece.write(firstPiece);
    buffer.firstSample.write(firstSample);
    buffer.totals.write(BigUint64Array.of(BigInt(pieces), BigInt(samples)));
    const { groups, size } = groupsOf(counts.evaluations);
    const place = placeFinder({ each }, each.length);
    const starts = new Uint32Array(2 * (groups + 1));
    for (let g = 0; g <= groups; g++) {
      const { piece, cube } = place(g * size);
      starts.set([piece, cube], 2 * g);
    }
    buffer.groupStarts.write(starts);
    this.#counts = { list: each, cubes: each.length };
    this.#allocated = null;
  }

  countsOf({ each }: Counts): Uint32Array {
    if (!isKept(each)) return each;
    if (this.#counts?.kept !== each.kept) throw new Error(`the card keeps no counts ${each.kept}`);
    return this.#buffers.counts.read(new Uint32Array(this.#counts.cubes));
  }

  /**
   * Adds the numbers of pieces to one number per cube, in the buffer of that name: what was learned from has one of its own,
   * which iterations that only return their cubes leave alone.
   */
  folded(
    pieces: Buffer,
    counts: number | Counts,
    cubes: number,
    groupBits: number,
    into: 'learned' | 'folded',
  ): Buffer {
    const each = typeof counts === 'number' ? piecesOf(counts) : 0;
    if (each === 1) return pieces;
    const folded = this.#program.buffer(into);
    const buffer = this.#buffers;
    const struct = this.#structs.fold.pack({
      pieces,
      cubes: folded.reserve(8 * cubes),
      counts: buffer.counts,
      firstPiece: buffer.firstPiece,
      firstSample: buffer.firstSample,
      count: typeof counts === 'number' ? counts : 0,
      each,
      n: cubes,
      groupBits,
    });
    const warps = Math.min(WIDTH / 32, Math.ceil(Number(counts) / 2 ** groupBits) + 1); // one per group
    if (each > MANY_PIECES) this.#kernels().launch('foldLong', cubes, 32 * warps, 0, struct);
    else this.#kernels().launch('fold', Math.ceil(cubes / 256), 256, 0, struct);
    return folded;
  }

  allocate(beta: number, evaluations: number): Counts {
    const learned = this.#last();
    const known = this.#allocated;
    if (known && known.from === learned && known.beta === beta && known.asked === evaluations)
      return known.counts;
    const { variances, cubes } = learned;
    if (!variances) throw new Error('allocate after an iteration without variances');
    const most = mostFor(evaluations, cubes);
    let counts: Counts;
    if (beta !== BETA) {
      const each = allocate(variances.read(new Float64Array(cubes)), beta, evaluations);
      counts = { evaluations: most, each };
      this.putCounts(counts);
    } else {
      this.#allocate(variances, cubes, evaluations, groupsOf(most));
      this.#counts = { kept: ++this.#kept, cubes };
      counts = { evaluations: most, each: { kept: this.#kept } };
    }
    this.#allocated = { from: learned, beta, asked: evaluations, counts };
    return counts;
  }

  #allocate(variances: Buffer, cubes: number, evaluations: number, { groups, size }: Groups): void {
    const buffer = this.#buffers;
    const blocks = Math.ceil(cubes / WIDTH);
    const least = leastFor(evaluations, cubes);
    const struct = this.#structs.allocate.pack({
      cubes,
      least,
      rest: Math.max(0, evaluations - least * cubes),
      variances,
      params: this.#program.params,
      largest: buffer.largest.reserve(8),
      shares: buffer.shares.reserve(8 * cubes),
      groups: buffer.groups.reserve(8 * Math.ceil(cubes / 32)),
      total: buffer.total.reserve(8),
      counts: buffer.counts.reserve(4 * cubes),
      firstPiece: buffer.firstPiece.reserve(4 * (cubes + 1)),
      firstSample: buffer.firstSample.reserve(8 * cubes),
      blocks: buffer.blocks.reserve(8 * blocks),
      totals: buffer.totals.reserve(16),
      groupStarts: buffer.groupStarts.reserve(8 * (groups + 1)),
      groupBits: Math.log2(size),
      groupCount: groups,
    });
    const module = this.#kernels();
    const start = (name: string, n: number, threads: number, ...more: Uint32Array[]) =>
      module.launch(name, n, threads, 0, struct, ...more);
    if (cubes <= MAX_ONE_BLOCK_CUBES) return start('allocate', 1, WIDTH);
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

  /** The kernels of allocate.cu, with the power that VEGAS+ uses. */
  #kernels(): Kernels {
    this.#allocation ??= this.#program.module(ALLOCATION);
    return this.#allocation;
  }

  /** Refines the map. `histogram` reads the counters, for an α that the card does not compute. */
  refine({ alpha, floor, shared }: Refinement, histogram: () => Float64Array): AxisMap {
    const { map, bins, histogram: counters } = this.#last();
    const { dims, params } = this.#program;
    if (!ALPHAS.includes(alpha)) {
      const edges = map.read(new Float64Array(dims * (bins + 1)));
      return refineMap(edges, histogram(), dims, alpha, floor, shared);
    }
    // there are two buffers, so the previous map stays valid while the new one is made
    const { 'map 1': one, 'map 2': two } = this.#program.buffers('map 1', 'map 2');
    const refined = map === one ? two : one;
    const struct = this.#structs.refine.pack({
      bins,
      axes: dims,
      shared: shared ? 1 : 0,
      root: alpha === 0.5 ? 1 : 0,
      floor,
      histogram: counters,
      edges: map,
      params,
      refined: refined.reserve(8 * dims * (bins + 1)),
      scratch: this.#program
        .buffer('scratch')
        .reserve(8 * dims * (4 * (bins + 1) + 2 * MOST_PIECES * bins + 1)),
    });
    this.#program.module(REFINEMENT).launch('refine', dims, WIDTH, 0, struct);
    this.#map = { kept: ++this.#kept, buffer: refined, bins };
    return { kept: this.#kept };
  }

  #last(): Learned {
    if (!this.#learned) throw new Error('nothing was learned yet');
    return this.#learned;
  }
}
