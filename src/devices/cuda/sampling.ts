/**
 * Iterations of VEGAS on a card. An iteration is laid out as leaves of pieces (kernels/sample.cu), several to a group of the
 * task. Of a whole iteration the card keeps what was learned, and a few numbers are read back; of a part, the sums of leaves
 * and, where they are wanted, those of pieces.
 */
import { type Key, roundKeys, wordsOf } from '../../random/philox.ts';
import type { Refinement } from '../../tasks/learning.ts';
import { isKept, type NonFinite, type Part } from '../../tasks/part.ts';
import { PIECE, piecesOf, placeFinder } from '../../tasks/pieces.ts';
import {
  type AxisMap,
  type CubeSums,
  cubesOf,
  type PartSums,
  plainTask,
  plan,
  type SampleSums,
  type SampleTask,
  SUMS,
  samplesOf,
} from '../../tasks/sample.ts';
import { TreeSum } from '../../tasks/tree-sum.ts';
import type { Buffer, Module } from './card.ts';
import { CudaLearning, MANY_PIECES } from './learning.ts';
import type { CudaProgram, Recipe } from './program.ts';
import { SAMPLE_RESULT, SAMPLE_TASK } from './structs.ts';

/** Threads of a block that samples, one block per multiprocessor: half of what fits there, with 64 registers each. And the least. */
const THREADS = 1024;
const FEWEST_THREADS = 128;
/** Lanes that should have something to do: about those that a large card runs at a time. No card's own number, or bits would depend on it. */
const LANES = 2 ** 17;
/** Leaves of an iteration, at most, as long as they are no larger than groups. */
const LEAVES = 2 ** 16;
/** Steps of a team on a piece: with fewer, lanes of it have nothing to do in the last one. */
const STEPS = 6;
/** Bytes of shared memory that the kernel has beside map and histogram, and some more. */
const OWN_SHARED = 4096;
/** Samples of a piece where cubes have many. */
const LONG_PIECE = 180;
/** Strata along an axis whose numbers fit beside 32 random bits. */
const MOST_STRATA = 2 ** 20;
/** Numbers that a leaf adds up: those of the task, and the increments of the histogram. */
const LEAF_SUMS = SUMS + 1;
/** Numbers of a leaf, in the order of sample.cu. */
const [INTEGRAL, VARIANCE, INCREMENTS, CONCENTRATION] = [0, 1, 2, 3];

const BUFFERS = [
  'counts',
  'firstPiece',
  'firstSample',
  'totals',
  'groupStarts',
  'sums',
  'means',
  'variances',
  'state',
] as const;

/** An iteration laid out on a card. */
interface Laid {
  task: SampleTask;
  cubes: number;
  /** Pieces, at most. */
  pieces: number;
  map: Buffer;
  /** Lanes that share a piece. */
  team: number;
  /** Samples of a group, and its leaves, as powers of two. */
  groupBits: number;
  leafBits: number;
  groups: number;
  wanted: { means: boolean; variances: boolean };
}

/** What leaves came to. */
interface Totals {
  sum: number;
  variance: number;
  concentration: number;
  squares: number;
  evaluations: number;
  /** Values that were not finite, and the first sample that had one. */
  wrong: number;
  first: number;
}

export class CudaSampling {
  readonly #program: CudaProgram;
  readonly learning: CudaLearning;
  readonly #buffers: Record<(typeof BUFFERS)[number], Buffer>;
  readonly #struct;
  readonly #result = SAMPLE_RESULT.layout(0);
  /** Of the last iteration: the next one has them too, most of the time. */
  #module: { made: Module; kind: string } | null = null;
  #keys: { of: Key; words: number[] } | null = null;
  /** Bytes of the state, from the result on, that are known to be 0, and where they are. */
  #zeros = 0;
  #zerosAt = 0;

  constructor(program: CudaProgram) {
    this.#program = program;
    this.#struct = SAMPLE_TASK.layout(program.dims);
    this.learning = new CudaLearning(program);
    this.#buffers = program.buffers(...BUFFERS);
  }

  async sample(task: SampleTask, part: Part, signal?: AbortSignal): Promise<PartSums> {
    const laid = this.#lay(task);
    const whole = part.count === laid.groups;
    const leavesOf = (groups: number) => groups * 2 ** laid.leafBits;
    const totals = await this.#run(laid, leavesOf(part.first), leavesOf(part.count), signal);
    const { evaluations, squares } = totals;
    const sums: PartSums = {
      part,
      evaluations,
      squares,
      nodes: Float64Array.of(totals.sum, totals.variance, totals.concentration),
      histogram: task.adapt && !task.adapt.keep ? this.#histogram(task.bins) : null,
      cubes: null,
      nonFinite: totals.wrong > 0 ? await this.#nonFinite(laid, totals) : null,
    };
    if (whole) {
      if (task.adapt?.keep) this.#keep(laid);
      else if (laid.wanted.variances) sums.cubes = this.#wholeCubes(laid);
      return sums;
    }
    const place = placeFinder(plainTask(task).counts, laid.cubes);
    const [from, to] = [part.first, part.first + part.count].map(g => place(g * 2 ** laid.groupBits).sample);
    return {
      ...sums,
      ...this.#nodes(part, leavesOf, laid.groups),
      evaluations: to - from,
      cubes: laid.wanted.variances ? this.#partCubes(laid, part) : null,
    };
  }

  /** Gets ready for an iteration. How it is laid out depends on the task alone. */
  #lay(task: SampleTask): Laid {
    const { bins, counts, adapt } = task;
    const cubes = cubesOf(task);
    const map = this.learning.mapOf(task.edges);
    this.learning.putCounts(counts);
    const { groups, size } = plan(task);
    const samples = samplesOf(task);
    const uniform = typeof counts === 'number';
    const pieces = uniform ? cubes * piecesOf(counts) : cubes + Math.ceil(samples / (PIECE / 2));
    const average = Math.min(LONG_PIECE, samples / cubes);
    const items = uniform ? pieces : cubes + Math.ceil(samples / PIECE);
    let team = 1;
    while (team < 32 && (2 * STEPS * team <= average || (team < average && items * team < LANES))) team *= 2;
    // a leaf has a piece for each team of a warp
    const perLeaf = Math.max((32 / team) * Math.min(PIECE, samples / items), samples / LEAVES);
    const groupBits = Math.log2(size);
    const leafBits = Math.max(0, Math.floor(Math.log2(size / perLeaf)));
    const wanted = { means: !!task.cubes, variances: !!task.cubes || !!adapt?.variances };
    const buffer = this.#buffers;
    if (wanted.means) buffer.means.reserve(8 * pieces);
    if (wanted.variances) buffer.variances.reserve(8 * pieces);
    this.#clear(this.#result.size + (adapt ? 8 * this.#program.dims * bins : 0));
    return { task, cubes, pieces, map, team, leafBits, groupBits, groups, wanted };
  }

  /** Makes sure that so many bytes of the state are 0; kernels mostly have left them so. */
  #clear(bytes: number): void {
    const { state } = this.#buffers;
    const known = this.#zerosAt === state.address ? this.#zeros : 0;
    if (known >= bytes) return;
    state.clear(bytes);
    this.#zeros = bytes;
    this.#zerosAt = state.address;
  }

  /** Runs some leaves. */
  async #run(
    laid: Laid,
    firstLeaf: number,
    leaves: number,
    signal: AbortSignal | undefined,
  ): Promise<Totals> {
    const { task, cubes, wanted, team, leafBits } = laid;
    const { bins, strata, counts, adapt } = task;
    const { card, dims, params } = this.#program;
    const { edgeBytes, histogramBytes, kernels } = this.#fit(task);
    const module = this.#moduleOf(kernels);
    const buffer = this.#buffers;
    const result = this.#result;
    this.#zeros = 0;
    let volume = 1 / task.unit;
    for (let d = 0; d < dims; d++) volume *= bins;
    // beside the leaves' sums those of subtrees, of 32 leaves or subtrees each
    buffer.sums.reserve(8 * LEAF_SUMS * (leaves + Math.ceil(leaves / 31) + 8));
    const uniform = typeof counts === 'number';
    const struct = this.#struct.pack({
      scales: strata.map(n => bins / n),
      strata,
      inverses: strata.map(n => Math.min(2 ** 32 - 1, Math.floor(2 ** 32 / n))),
      keys: this.#roundKeys(task.key),
      iteration: task.iteration,
      stream: task.stream,
      bins,
      cubes,
      count: uniform ? counts : 0,
      pieces: uniform ? piecesOf(counts) : 0,
      team,
      groupBits: laid.groupBits,
      leafBits,
      firstLeaf,
      leaves,
      samples: samplesOf(task),
      totals: uniform ? 0 : buffer.totals,
      volume,
      scale: adapt?.scale ?? 0,
      edges: laid.map,
      params,
      counts: buffer.counts,
      firstPiece: buffer.firstPiece,
      firstSample: buffer.firstSample,
      groupStarts: buffer.groupStarts,
      sums: buffer.sums,
      means: wanted.means ? buffer.means : 0,
      variances: wanted.variances ? buffer.variances : 0,
      result: buffer.state,
      histogram: buffer.state.address + result.size,
      report: card.reportTo,
    });
    const perBlock = Math.min(THREADS, Math.max(FEWEST_THREADS, 32 * Math.ceil(leaves / card.processors)));
    const blocks = Math.min(card.processors, Math.ceil(leaves / (perBlock / 32)));
    const kernel = adapt ? 'sampleAdapting' : 'sampleFrozen';
    module.launch(kernel, blocks, perBlock, edgeBytes + histogramBytes, struct);
    await card.finished(signal, 'sampling');
    if (card.reportTo) this.#zeros = result.size;
    const bytes = card.reportTo ? card.report(result.size) : buffer.state.read(new Uint8Array(result.size));
    const wrong = result.get(bytes, 'wrong');
    const [low, high] = new Uint32Array(bytes.buffer, bytes.byteOffset + result.offset('first'), 2);
    return {
      sum: result.get(bytes, 'integral'),
      variance: result.get(bytes, 'variance'),
      concentration: result.get(bytes, 'concentration'),
      squares: result.get(bytes, 'increments'),
      evaluations: result.get(bytes, 'evaluations'),
      wrong,
      first: wrong > 0 ? (~high >>> 0) * 2 ** 32 + (~low >>> 0) : Infinity,
    };
  }

  /** The sums of a part of the groups, from those of its leaves. */
  #nodes(
    part: Part,
    leavesOf: (groups: number) => number,
    groups: number,
  ): Pick<PartSums, 'nodes' | 'squares'> {
    const count = leavesOf(part.count);
    const leaves = this.#buffers.sums.read(new Float64Array(LEAF_SUMS * count));
    const tree = new TreeSum(SUMS, leavesOf(groups));
    let squares = 0;
    for (let i = 0; i < count; i++) {
      const own = (j: number) => leaves[LEAF_SUMS * i + j];
      tree.add(leavesOf(part.first) + i, [own(INTEGRAL), own(VARIANCE), own(CONCENTRATION)]);
      squares += own(INCREMENTS);
    }
    return { nodes: tree.nodes, squares };
  }

  /** Keeps what the iteration learned on the card. */
  #keep({ task, cubes, map, groupBits }: Laid): void {
    const { state, variances } = this.#buffers;
    this.learning.keep({
      map,
      bins: task.bins,
      histogram: state.address + this.#result.size,
      variances: task.adapt!.variances
        ? this.learning.folded(variances, task.counts, cubes, groupBits)
        : null,
      cubes,
    });
  }

  /** Means and variances of all cubes, which the card has added up. */
  #wholeCubes({ task, cubes, groupBits, wanted }: Laid): CubeSums {
    const read = (from: Buffer) =>
      this.learning.folded(from, task.counts, cubes, groupBits).read(new Float64Array(cubes));
    return {
      first: Uint32Array.of(0),
      starts: Uint32Array.of(0, cubes),
      variances: read(this.#buffers.variances),
      means: wanted.means ? read(this.#buffers.means) : null,
    };
  }

  /** What cubes contribute to the groups of a part, from the numbers of pieces; added as `fold` in allocate.cu does. */
  #partCubes({ task, cubes, groupBits, wanted }: Laid, part: Part): CubeSums {
    const { counts } = plainTask(task);
    const countOf = typeof counts === 'number' ? () => counts : (cube: number) => counts.each[cube];
    const place = placeFinder(counts, cubes);
    const places = Array.from({ length: part.count + 1 }, (_, g) => place((part.first + g) * 2 ** groupBits));
    const [from, to] = [places[0].piece, places[part.count].piece];
    const read = (buffer: Buffer) => buffer.read(new Float64Array(to - from), 8 * from);
    const lists = [this.#buffers.variances, ...(wanted.means ? [this.#buffers.means] : [])].map(read);
    const starts = new Uint32Array(part.count + 1);
    const sums: number[][] = lists.map(() => []);
    for (let g = 0; g < part.count; g++) {
      const end = places[g + 1];
      let { cube, offset, piece } = places[g];
      while (cube < end.cube || (cube === end.cube && offset < end.offset)) {
        const last =
          cube === end.cube ? end.piece : piece + piecesOf(countOf(cube)) - Math.ceil(offset / PIECE);
        lists.forEach((list, l) => {
          sums[l].push(sumOf(list.subarray(piece - from, last - from)));
        });
        [cube, offset, piece] = [cube + 1, 0, last];
      }
      starts[g + 1] = sums[0].length;
    }
    const [variances, means] = sums.map(s => Float64Array.from(s));
    return {
      first: Uint32Array.from(places.slice(0, -1), p => p.cube),
      starts,
      variances,
      means: means ?? null,
    };
  }

  /** Learns from an iteration that others have sampled, as if this card had. */
  learn(task: SampleTask, { histogram, variances }: SampleSums): void {
    const { state } = this.#buffers;
    const counters = BigUint64Array.from(histogram!, BigInt);
    this.#clear(this.#result.size + counters.byteLength);
    this.#zeros = this.#result.size;
    state.write(counters, this.#result.size);
    this.learning.keep({
      map: this.learning.mapOf(task.edges),
      bins: task.bins,
      histogram: state.address + this.#result.size,
      variances: variances && this.#program.buffer('folded').write(variances),
      cubes: cubesOf(task),
    });
  }

  refine(how: Refinement): AxisMap {
    const { bins } = this.learning;
    const refined = this.learning.refine(how, () => this.#histogram(bins));
    // the kernel leaves the counters at 0
    if (isKept(refined) && !how.shared && this.#zeros === this.#result.size)
      this.#zeros += 8 * this.#program.dims * bins;
    return refined;
  }

  /** Kernels that a task needs. */
  recipe(task: SampleTask): Recipe {
    return this.#recipe(this.#fit(task).kernels);
  }

  #recipe(kernels: Record<string, boolean>): Recipe {
    return this.#program.withIntegrand('sample', { ...kernels, PIECE, THREADS, SUMS: LEAF_SUMS });
  }

  /** What of the map and the histogram fits into shared memory: bytes, and what kernels have to know. */
  #fit({ bins, strata, adapt }: SampleTask) {
    const { card, dims } = this.#program;
    const room = card.shared - OWN_SHARED;
    const edges = 8 * dims * (bins + 1);
    const edgeBytes = edges <= room ? edges : 0;
    const histogram = adapt ? 8 * dims * bins : 0;
    const histogramBytes = edgeBytes + histogram <= room ? histogram : 0;
    const kernels = {
      SHARED_EDGES: edgeBytes > 0,
      SHARED_HISTOGRAM: histogramBytes === histogram,
      ...(strata.some(n => n > MOST_STRATA) && { MANY_STRATA: true }),
    };
    return { edgeBytes, histogramBytes, kernels };
  }

  #moduleOf(kernels: Record<string, boolean>): Module {
    const kind = Object.values(kernels).join();
    if (this.#module?.kind !== kind)
      this.#module = { made: this.#program.module(this.#recipe(kernels)), kind };
    return this.#module.made;
  }

  #roundKeys(key: Key): number[] {
    if (this.#keys?.of !== key) this.#keys = { of: key, words: roundKeys(key) };
    return this.#keys.words;
  }

  /** The counters of the histogram. Where they overflowed the sum of squares tells, and nobody looks at them. */
  #histogram(bins: number): Float64Array {
    const histogram = new Float64Array(this.#program.dims * bins);
    const words = this.#buffers.state.read(new Uint32Array(2 * histogram.length), this.#result.size);
    for (let i = 0; i < histogram.length; i++) histogram[i] = words[2 * i + 1] * 2 ** 32 + words[2 * i];
    return histogram;
  }

  async #nonFinite({ task, cubes }: Laid, { wrong, first }: Totals): Promise<NonFinite> {
    const edges = this.learning.edgesOf(task.edges);
    const counts = typeof task.counts === 'number' ? task.counts : this.learning.countsOf(task.counts);
    const point = pointOf({ ...task, edges }, cubeOf(counts, cubes, first), first);
    return { count: wrong, first: { point, value: await this.#program.valueAt(point) } };
  }
}

/** The sum over the pieces of a cube in a group, in the order of `fold` in allocate.cu. */
function sumOf(pieces: Float64Array): number {
  if (pieces.length <= MANY_PIECES) return pieces.reduce((a, b) => a + b, 0);
  const lanes = new Float64Array(32);
  pieces.forEach((v, i) => {
    lanes[i % 32] += v;
  });
  for (let step = 16; step >= 1; step /= 2) for (let l = 0; l < step; l++) lanes[l] += lanes[l + step];
  return lanes[0];
}

/** The cube that a sample belongs to. */
function cubeOf(counts: number | Uint32Array, cubes: number, sample: number): number {
  if (typeof counts === 'number') return Math.floor(sample / counts);
  let [cube, end] = [0, counts[0]];
  while (end <= sample && cube < cubes - 1) end += counts[++cube];
  return cube;
}

/** Where a sample is. */
function pointOf(task: SampleTask & { edges: Float64Array }, cube: number, sample: number): number[] {
  const { strata, bins, edges, key, iteration, stream } = task;
  return strata.map((n, d) => {
    const k = cube % n;
    cube = Math.floor(cube / n);
    const u = (wordsOf(sample, d >> 2, iteration, stream, key)[d & 3] + 0.5) * 2 ** -32;
    const t = (k + u) * (bins / n);
    const b = Math.floor(t);
    const [low, high] = edges.subarray(d * (bins + 1) + b);
    return low + (t - b) * (high - low);
  });
}
