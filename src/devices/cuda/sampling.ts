/**
 * Iterations of VEGAS on a card. An iteration is laid out as blocks of threads; one card runs them all, several run parts of
 * them (several.ts). In the end the card has what the iteration learned, and only a few numbers are read back.
 */
import { wordsOf } from '../../random/philox.ts';
import type { AxisMap, Refinement, SampleSums, SampleTask } from '../device.ts';
import type { Buffer } from './card.ts';
import { CudaAllocation, CudaLearning, type CudaMap } from './learning.ts';
import { cubeOf, type Pieces, pointOf } from './pieces.ts';
import type { CudaProgram } from './program.ts';
import { Struct } from './struct.ts';

/** Threads of a block that samples; many share one copy of the map. */
export const THREADS = 512;
/** Pieces of a thread, at most; and how many threads a multiprocessor should have to choose from. */
const LONGEST_RUN = 16;
const THREADS_PER_PROCESSOR = 8192;
/** Words of SampleResult in sample.cu. */
const RESULT = 9;
/** Numbers that a block adds up. */
export const SUMS = 4;
const ALL_BITS = 2n ** 64n - 1n;

/** An iteration laid out on a card. */
export interface Layout {
  task: SampleTask;
  plan: Pieces;
  cubes: number;
  map: CudaMap;
  /** Blocks of threads, and pieces of each thread. */
  blocks: number;
  run: number;
  wanted: { means: boolean; variances: boolean };
}

/** What blocks came to. */
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

export class CudaSampling {
  readonly #program: CudaProgram;
  readonly learning: CudaLearning;

  constructor(program: CudaProgram) {
    this.#program = program;
    this.learning = new CudaLearning(program);
  }

  async sample(task: SampleTask): Promise<SampleSums> {
    const layout = this.lay(task, this.#program.card.processors);
    return this.finish(layout, await this.run(layout, 0, layout.blocks));
  }

  /** Gets ready for an iteration. Sums depend on how many `processors` it is laid out for, and on nothing else of a card. */
  lay(task: SampleTask, processors: number): Layout {
    const { bins, strata, counts, adapt } = task;
    const cubes = strata.reduce((a, b) => a * b, 1);
    const map = this.learning.mapOf(task.edges, bins);
    const plan = this.learning.plan(counts, cubes);
    const threads = processors * THREADS_PER_PROCESSOR;
    const run = Math.max(1, Math.min(LONGEST_RUN, Math.floor(plan.items / threads)));
    const blocks = Math.ceil(plan.items / run / THREADS);
    const wanted = { means: !!task.cubes, variances: task.cubes || !!adapt?.variances };
    const buffer = this.#program.buffers('sums', 'means', 'variances', 'state');
    buffer.sums.reserve(8 * SUMS * blocks);
    if (wanted.means) buffer.means.reserve(8 * plan.items);
    if (wanted.variances) buffer.variances.reserve(8 * plan.items);
    buffer.state.clear(8 * RESULT + (adapt ? 8 * this.#program.dims * bins : 0));
    return { task, plan, cubes, map, blocks, run, wanted };
  }

  /** Runs some blocks. The histogram goes on counting from call to call; sums over blocks are those of this call. */
  async run(layout: Layout, firstBlock: number, blocks: number): Promise<Totals> {
    const { task, plan, cubes, wanted } = layout;
    const { bins, strata, counts, adapt } = task;
    const { card, dims, params } = this.#program;
    const edgeBytes = 8 * dims * (bins + 1);
    const histogramBytes = adapt ? 8 * dims * bins : 0;
    const room = card.shared - 2048;
    const sharedEdges = edgeBytes <= room;
    const sharedHistogram = (sharedEdges ? edgeBytes : 0) + histogramBytes <= room;
    const module = this.#program.module('sample', {
      SHARED_EDGES: sharedEdges,
      SHARED_HISTOGRAM: sharedHistogram,
    });
    const buffer = this.#program.buffers(
      'counts',
      'firstPiece',
      'firstSample',
      'totals',
      'sums',
      'means',
      'variances',
      'state',
    );
    buffer.state.clear(8 * RESULT);
    let volume = 1 / task.unit;
    for (let d = 0; d < dims; d++) volume *= bins;
    const struct = new Struct()
      .f64(...strata.map(n => bins / n))
      .u32(...strata, ...task.key, task.iteration, task.stream, bins, cubes)
      .u32(typeof counts === 'number' ? counts : 0, plan.chunk, plan.each, layout.run, firstBlock)
      .u64(plan.items, plan.total, counts instanceof CudaAllocation ? buffer.totals.address : 0)
      .f64(volume, adapt?.scale ?? 0)
      .u64(layout.map.buffer.address, params.address)
      .u64(buffer.counts.address, buffer.firstPiece.address, buffer.firstSample.address)
      .u64(buffer.sums.address, wanted.means ? buffer.means.address : 0)
      .u64(wanted.variances ? buffer.variances.address : 0)
      .u64(buffer.state.address, buffer.state.address + 8 * RESULT);
    const shared = (sharedEdges ? edgeBytes : 0) + (sharedHistogram ? histogramBytes : 0);
    module.launch(adapt ? 'sampleAdapting' : 'sampleFrozen', blocks, THREADS, shared, struct.bytes);
    await card.finished(task.signal, 'sampling');
    const words = buffer.state.read(new BigUint64Array(RESULT));
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

  /** Sums of the blocks that ran last, SUMS a block. */
  blockSums(blocks: number): Float64Array {
    return this.#program.buffer('sums').read(new Float64Array(SUMS * blocks));
  }

  /** Counters of the histogram as they are. */
  counters({ task }: Layout): BigUint64Array {
    const counters = new BigUint64Array(this.#program.dims * task.bins);
    return this.#program.buffer('state').read(counters, 8 * RESULT);
  }

  /** Puts counters where the card's own would be. */
  putCounters(counters: BigUint64Array): void {
    this.#program.buffer('state').write(counters, 8 * RESULT);
  }

  /** Means or variances of pieces, from a block on. */
  pieces(of: 'means' | 'variances', { plan, run }: Layout, firstBlock: number, blocks: number): Float64Array {
    const [from, to] = [firstBlock, firstBlock + blocks].map(b => Math.min(plan.items, b * THREADS * run));
    return this.#program.buffer(of).read(new Float64Array(to - from), 8 * from);
  }

  putPieces(of: 'means' | 'variances', pieces: Float64Array): void {
    this.#program.buffer(of).write(pieces);
  }

  /** Keeps what the iteration learned. */
  learn({ task: { adapt }, plan, cubes, map }: Layout): void {
    if (!adapt) return;
    const { state, variances } = this.#program.buffers('state', 'variances');
    this.learning.learned = {
      map,
      histogram: state.address + 8 * RESULT,
      variances: adapt.variances === 'keep' ? this.learning.folded(variances, plan, cubes) : null,
      cubes,
    };
  }

  /** What the task asked for, of all blocks. */
  async finish(layout: Layout, totals: Totals): Promise<SampleSums> {
    const { task, plan, cubes, wanted } = layout;
    const { sum, variance, squares, concentration, evaluations, wrong } = totals;
    const { means, variances } = this.#program.buffers('means', 'variances');
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
    return this.learning.refine(how, bins => this.#histogram(bins, 0));
  }

  /** The histogram; where its counters overflowed, all in one bin of each axis, which tells how much too fine the scale is. */
  #histogram(bins: number, squares: number): Float64Array {
    const histogram = new Float64Array(this.#program.dims * bins);
    if (!(squares < 2 ** 60)) {
      for (let d = 0; d < this.#program.dims; d++) histogram[d * bins] = squares;
      return histogram;
    }
    const words = this.#program.buffer('state').read(new Uint32Array(2 * histogram.length), 8 * RESULT);
    for (let i = 0; i < histogram.length; i++) histogram[i] = words[2 * i + 1] * 2 ** 32 + words[2 * i];
    return histogram;
  }

  async #wrongAt({ task, cubes }: Layout, sample: number): Promise<{ point: number[]; value: number }> {
    const cube =
      typeof task.counts === 'number'
        ? Math.floor(sample / task.counts)
        : cubeOf(this.#program.buffer('firstSample').read(new Float64Array(cubes)), sample);
    const edges = this.learning.edgesOf(task.edges);
    const point = pointOf({ ...task, edges }, wordsOf, cube, sample);
    return { point, value: await this.#program.valueAt(point) };
  }
}
