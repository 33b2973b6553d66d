/**
 * Iterations of VEGAS on a card. An iteration is laid out as groups of pieces; one card runs them all, several run parts of
 * them (several.ts). In the end the card has what the iteration learned, and only a few numbers are read back.
 */
import { type Key, roundKeys, wordsOf } from '../../random/philox.ts';
import type { AxisMap, Refinement, SampleSums, SampleTask } from '../device.ts';
import type { Buffer, Module } from './card.ts';
import { CudaAllocation, CudaLearning, CudaMap } from './learning.ts';
import { cubeOf, type Pieces, pointOf } from './pieces.ts';
import type { CudaProgram, Recipe } from './program.ts';
import { Struct } from './struct.ts';

/** Threads of a block that samples, one a multiprocessor: half of what fits there, with 64 registers each. And the least. */
const THREADS = 1024;
const FEWEST_THREADS = 128;
/** Sums that groups are added up in. */
export const ADDERS = 512;
/** Groups of an iteration: several for each warp that the card runs at a time, at most. */
const GROUPS = 2 ** 16;
/** Steps of a team on a piece: with fewer, lanes of it have nothing to do in the last one. */
const STEPS = 6;
/** Bytes of shared memory that the kernel has beside map and histogram, and some more. */
const OWN_SHARED = 4096;
/** Samples of a piece where cubes have many. */
const LONG_PIECE = 180;
/** Strata along an axis whose numbers fit beside 32 random bits. */
const MOST_STRATA = 2 ** 20;
/** Words of SampleResult in sample.cu. */
const RESULT = 9;
/** Numbers that a group adds up. */
export const SUMS = 4;
const BUFFERS = [
  'counts',
  'firstPiece',
  'firstSample',
  'totals',
  'sums',
  'means',
  'variances',
  'state',
] as const;
const ALL_BITS = 2n ** 64n - 1n;

/** An iteration laid out on a card. */
export interface Layout {
  task: SampleTask;
  plan: Pieces;
  cubes: number;
  map: CudaMap;
  /** Lanes that share a piece, pieces of such a team on average, groups of teams. */
  team: number;
  run: number;
  groups: number;
  wanted: { means: boolean; variances: boolean };
}

/** What groups came to. */
export interface Totals {
  sum: number;
  variance: number;
  squares: number;
  concentration: number;
  evaluations: number;
  /** Values that were not finite, and the first sample that had one. */
  wrong: number;
  first: number;
}

export const piecesOfGroup = ({ team, run }: Layout): number => (32 / team) * run;

export class CudaSampling {
  readonly #program: CudaProgram;
  readonly learning: CudaLearning;
  readonly #buffers: Record<(typeof BUFFERS)[number], Buffer>;
  /** Of the last iteration: the next one has them too, most of the time. */
  #module: { made: Module; kind: string } | null = null;
  #keys: { of: Key; words: number[] } | null = null;
  /** Words of the state, from the result on, that are known to be 0, and where they are. */
  #zeros = 0;
  #zerosAt = 0;

  constructor(program: CudaProgram) {
    this.#program = program;
    this.learning = new CudaLearning(program);
    this.#buffers = program.buffers(...BUFFERS);
  }

  async sample(task: SampleTask): Promise<SampleSums> {
    const layout = this.lay(task, this.#program.card.processors);
    return this.finish(layout, await this.run(layout, 0, layout.groups));
  }

  /** Gets ready for an iteration. Sums depend on how many `processors` it is laid out for, and on nothing else of a card. */
  lay(task: SampleTask, processors: number): Layout {
    const { bins, strata, counts, adapt } = task;
    const cubes = strata.reduce((a, b) => a * b, 1);
    const map = this.learning.mapOf(task.edges, bins);
    const plan = this.learning.plan(counts, cubes);
    const average = Math.min(LONG_PIECE, plan.total / cubes);
    const lanes = processors * THREADS;
    let team = 1;
    while (team < 32 && (2 * STEPS * team <= average || (team < average && plan.items * team < lanes)))
      team *= 2;
    const run = Math.max(1, Math.ceil((plan.items * team) / 32 / GROUPS));
    const groups = Math.ceil((plan.items * team) / 32 / run);
    const wanted = { means: !!task.cubes, variances: task.cubes || !!adapt?.variances };
    const buffer = this.#buffers;
    buffer.sums.reserve(8 * SUMS * groups);
    if (wanted.means) buffer.means.reserve(8 * plan.items);
    if (wanted.variances) buffer.variances.reserve(8 * plan.items);
    this.#clear(adapt ? this.#program.dims * bins : 0);
    return { task, plan, cubes, map, team, run, groups, wanted };
  }

  /** Makes sure that the result and so many counters are 0; kernels mostly have left them so. */
  #clear(counters: number): void {
    const { state } = this.#buffers;
    const words = RESULT + counters;
    const known = this.#zerosAt === state.address ? this.#zeros : 0;
    if (known >= words) return;
    state.clear(8 * words);
    this.#zeros = words;
    this.#zerosAt = state.address;
  }

  /** Runs some groups. The histogram goes on counting from call to call; sums over groups are those of this call. */
  async run(layout: Layout, firstGroup: number, groups: number): Promise<Totals> {
    const { task, plan, cubes, wanted, team } = layout;
    const { bins, strata, counts, adapt } = task;
    const { card, dims, params } = this.#program;
    const { edgeBytes, histogramBytes, kernels } = this.#fit(task);
    const module = this.#moduleOf(kernels);
    const buffer = this.#buffers;
    this.#clear(0);
    this.#zeros = 0;
    let volume = 1 / task.unit;
    for (let d = 0; d < dims; d++) volume *= bins;
    const struct = new Struct()
      .f64(...strata.map(n => bins / n))
      .u32(...strata, ...strata.map(n => Math.min(2 ** 32 - 1, Math.floor(2 ** 32 / n))))
      .u32(...this.#roundKeys(task.key), task.iteration, task.stream, bins, cubes)
      .u32(typeof counts === 'number' ? counts : 0, plan.chunk, plan.each)
      .u32(team, layout.run, firstGroup, groups)
      .u64(plan.items, plan.total, counts instanceof CudaAllocation ? buffer.totals.address : 0)
      .f64(volume, adapt?.scale ?? 0)
      .u64(layout.map.buffer.address, params.address)
      .u64(buffer.counts.address, buffer.firstPiece.address, buffer.firstSample.address)
      .u64(buffer.sums.address, wanted.means ? buffer.means.address : 0)
      .u64(wanted.variances ? buffer.variances.address : 0)
      .u64(buffer.state.address, buffer.state.address + 8 * RESULT, card.reportTo);
    const shared = edgeBytes + histogramBytes;
    const perBlock = Math.min(THREADS, Math.max(FEWEST_THREADS, 32 * Math.ceil(groups / card.processors)));
    const blocks = Math.min(card.processors, Math.ceil(groups / (perBlock / 32)));
    module.launch(adapt ? 'sampleAdapting' : 'sampleFrozen', blocks, perBlock, shared, struct.bytes);
    await card.finished(task.signal, 'sampling');
    if (card.reportTo) this.#zeros = RESULT;
    const words = card.reportTo ? card.report(RESULT) : buffer.state.read(new BigUint64Array(RESULT));
    const [sum, variance, squares, concentration] = new Float64Array(words.buffer);
    return {
      sum,
      variance,
      squares,
      concentration,
      evaluations: Number(words[6]),
      wrong: Number(words[4]),
      first: words[4] > 0n ? Number(~words[5] & ALL_BITS) : Infinity,
    };
  }

  /** Sums of the groups that ran last, SUMS a group. */
  groupSums(groups: number): Float64Array {
    return this.#buffers.sums.read(new Float64Array(SUMS * groups));
  }

  /** Counters of the histogram as they are. */
  counters({ task }: Layout): BigUint64Array {
    const counters = new BigUint64Array(this.#program.dims * task.bins);
    return this.#buffers.state.read(counters, 8 * RESULT);
  }

  /** Puts counters where the card's own would be. */
  putCounters(counters: BigUint64Array): void {
    this.#zeros = Math.min(this.#zeros, RESULT);
    this.#buffers.state.write(counters, 8 * RESULT);
  }

  /** Means or variances of pieces, from a group on. */
  pieces(of: 'means' | 'variances', layout: Layout, firstGroup: number, groups: number): Float64Array {
    const each = piecesOfGroup(layout);
    const [from, to] = [firstGroup, firstGroup + groups].map(g => Math.min(layout.plan.items, g * each));
    return this.#buffers[of].read(new Float64Array(to - from), 8 * from);
  }

  putPieces(of: 'means' | 'variances', pieces: Float64Array): void {
    this.#buffers[of].write(pieces);
  }

  /** Keeps what the iteration learned. */
  learn({ task: { adapt }, plan, cubes, map }: Layout): void {
    if (!adapt) return;
    const { state, variances } = this.#buffers;
    this.learning.learned = {
      map,
      histogram: state.address + 8 * RESULT,
      variances: adapt.variances === 'keep' ? this.learning.folded(variances, plan, cubes) : null,
      cubes,
    };
  }

  /** What the task asked for, of all groups. */
  async finish(layout: Layout, totals: Totals): Promise<SampleSums> {
    const { task, plan, cubes, wanted } = layout;
    const { sum, variance, squares, concentration, evaluations, wrong } = totals;
    const { means, variances } = this.#buffers;
    const ofCubes = (from: Buffer) => this.learning.folded(from, plan, cubes).read(new Float64Array(cubes));
    this.learn(layout);
    const kept = task.adapt?.variances === 'keep';
    return {
      evaluations,
      sum,
      variance,
      concentration,
      squares,
      histogram: task.adapt && task.adapt.histogram !== 'keep' ? this.#histogram(task.bins, squares) : null,
      means: wanted.means ? ofCubes(means) : null,
      variances: wanted.variances && !kept ? ofCubes(variances) : null,
      nonFinite: wrong > 0 ? { count: wrong, first: await this.#wrongAt(layout, totals.first) } : null,
    };
  }

  refine(how: Refinement): AxisMap {
    const refined = this.learning.refine(how, bins => this.#histogram(bins, 0));
    // the kernel leaves the counters at 0
    if (refined instanceof CudaMap && !how.shared && this.#zeros === RESULT)
      this.#zeros += this.#program.dims * refined.bins;
    return refined;
  }

  /** Kernels that a task needs. */
  recipe(task: SampleTask): Recipe {
    return this.#program.withIntegrand('sample', this.#fit(task).kernels);
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
      this.#module = { made: this.#program.module(this.#program.withIntegrand('sample', kernels)), kind };
    return this.#module.made;
  }

  #roundKeys(key: Key): number[] {
    if (this.#keys?.of !== key) this.#keys = { of: key, words: roundKeys(key) };
    return this.#keys.words;
  }

  /** The histogram; where its counters overflowed, all in one bin of each axis, which tells how much too fine the scale is. */
  #histogram(bins: number, squares: number): Float64Array {
    const histogram = new Float64Array(this.#program.dims * bins);
    if (!(squares < 2 ** 60)) {
      for (let d = 0; d < this.#program.dims; d++) histogram[d * bins] = squares;
      return histogram;
    }
    const words = this.#buffers.state.read(new Uint32Array(2 * histogram.length), 8 * RESULT);
    for (let i = 0; i < histogram.length; i++) histogram[i] = words[2 * i + 1] * 2 ** 32 + words[2 * i];
    return histogram;
  }

  async #wrongAt({ task, cubes }: Layout, sample: number): Promise<{ point: number[]; value: number }> {
    const cube =
      typeof task.counts === 'number'
        ? Math.floor(sample / task.counts)
        : cubeOf(this.#buffers.firstSample.read(new Float64Array(cubes)), sample);
    const edges = this.learning.edgesOf(task.edges);
    const point = pointOf({ ...task, edges }, wordsOf, cube, sample);
    return { point, value: await this.#program.valueAt(point) };
  }
}
