/**
 * VEGAS on a card: samples, the allocation of samples to cubes, and the refinement of the map. Between them only a few
 * numbers are read back: what an iteration came to.
 */

import { refineMap } from '../../methods/vegas/map.ts';
import { allocate } from '../../methods/vegas/strata.ts';
import { wordsOf } from '../../random/philox.ts';
import type { Allocation, AxisMap, KeptMap, Refinement, SampleSums, SampleTask } from '../device.ts';
import type { Buffer, Module } from './card.ts';
import { cubeOf, listedPieces, type Pieces, pointOf, uniformPieces } from './pieces.ts';
import type { CudaProgram } from './program.ts';
import { Struct } from './struct.ts';

/** Threads of a block that samples; many share one copy of the map. */
const THREADS = 512;
/** Pieces of a thread, at most; and how many threads a multiprocessor should have to choose from. */
const LONGEST_RUN = 16;
const THREADS_PER_PROCESSOR = 8192;
/** Words of SampleResult in sample.cu. */
const RESULT = 7;
/** The β and α of VEGAS+, whose powers are made of square roots. Others have no bits in common with the CPU's. */
const BETA = 0.75;
const ALPHAS: Record<number, (x: number[]) => number> = {
  0.5: ([d]) => (d <= 0 ? 0 : d >= 1 ? 1 : Math.sqrt((1 - d) / -Math.log(d))),
  1: ([d]) => (d <= 0 ? 0 : d >= 1 ? 1 : (1 - d) / -Math.log(d)),
};
/** Threads of a block in allocate.cu and refine.cu; cubes up to which one block allocates; pieces of a bin at most. */
const WIDTH = 1024;
const ONE_BLOCK = 2 ** 14;
const MOST_PIECES = 48;
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

/** Samples of each cube, in the session's buffers until the next one; how many pieces they have, the card knows. */
class CudaAllocation implements Allocation {
  readonly evaluations: number;
  /** Pieces, at most. */
  readonly most: number;

  constructor(evaluations: number, cubes: number) {
    this.evaluations = Math.max(evaluations, 2 * cubes);
    this.most = cubes + Math.ceil(this.evaluations / 128);
  }
}

class CudaMap implements KeptMap {
  readonly bins: number;
  readonly buffer: Buffer;

  constructor(bins: number, buffer: Buffer) {
    this.bins = bins;
    this.buffer = buffer;
  }
}

/** What `allocate` and `refine` work with: what the last iteration learned. */
interface Learned {
  map: CudaMap;
  histogram: number;
  variances: Buffer | null;
  cubes: number;
}

export class CudaSampling {
  readonly #program: CudaProgram;
  #learned: Learned | null = null;

  constructor(program: CudaProgram) {
    this.#program = program;
  }

  async sample(task: SampleTask): Promise<SampleSums> {
    task.signal?.throwIfAborted();
    const { bins, strata, counts, adapt } = task;
    const { card, dims, params } = this.#program;
    const cubes = strata.reduce((a, b) => a * b, 1);
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
    const map = this.#mapOf(task.edges, bins);
    const plan = this.#plan(counts, cubes);
    const edgeBytes = 8 * dims * (bins + 1);
    const histogramBytes = adapt ? 8 * dims * bins : 0;
    const room = card.shared - 2048;
    const sharedEdges = edgeBytes <= room;
    const sharedHistogram = (sharedEdges ? edgeBytes : 0) + histogramBytes <= room;
    const module = this.#program.module('sample', {
      SHARED_EDGES: sharedEdges,
      SHARED_HISTOGRAM: sharedHistogram,
    });
    const threads = card.processors * THREADS_PER_PROCESSOR;
    const run = Math.max(1, Math.min(LONGEST_RUN, Math.floor(plan.items / threads)));
    const blocks = Math.ceil(plan.items / run / THREADS);
    buffer.sums.reserve(24 * blocks);
    const wanted = { means: !!task.cubes, variances: task.cubes || !!adapt?.variances };
    if (wanted.means) buffer.means.reserve(8 * plan.items);
    if (wanted.variances) buffer.variances.reserve(8 * plan.items);
    buffer.state.clear(8 * RESULT + histogramBytes);
    let volume = 1 / task.unit;
    for (let d = 0; d < dims; d++) volume *= bins;
    const struct = new Struct()
      .f64(...strata.map(n => bins / n))
      .u32(...strata, ...task.key, task.iteration, task.stream, bins, cubes)
      .u32(typeof counts === 'number' ? counts : 0, plan.chunk, plan.each, run)
      .u64(plan.items, plan.total, counts instanceof CudaAllocation ? buffer.totals.address : 0)
      .f64(volume, adapt?.scale ?? 0)
      .u64(map.buffer.address, params.address)
      .u64(buffer.counts.address, buffer.firstPiece.address, buffer.firstSample.address)
      .u64(buffer.sums.address, wanted.means ? buffer.means.address : 0)
      .u64(wanted.variances ? buffer.variances.address : 0)
      .u64(buffer.state.address, buffer.state.address + 8 * RESULT);
    const shared = (sharedEdges ? edgeBytes : 0) + (sharedHistogram ? histogramBytes : 0);
    module.launch(adapt ? 'sampleAdapting' : 'sampleFrozen', blocks, THREADS, shared, struct.bytes);
    await card.finished(task.signal, 'sampling');
    const words = buffer.state.read(new BigUint64Array(RESULT));
    const [sum, variance, squares] = new Float64Array(words.buffer);
    const sums: SampleSums = {
      evaluations: Number(words[5]),
      sum,
      variance,
      histogram: null,
      squares,
      variances: null,
      means: null,
      nonFinite: null,
    };
    if (adapt?.histogram !== 'keep' && adapt) sums.histogram = this.#histogram(bins, squares);
    const ofCubes = (from: Buffer) => this.#folded(from, plan, cubes);
    if (adapt)
      this.#learned = {
        map,
        histogram: buffer.state.address + 8 * RESULT,
        variances: adapt.variances === 'keep' ? ofCubes(buffer.variances) : null,
        cubes,
      };
    if (wanted.means) sums.means = ofCubes(buffer.means).read(new Float64Array(cubes));
    if (wanted.variances && adapt?.variances !== 'keep')
      sums.variances = ofCubes(buffer.variances).read(new Float64Array(cubes));
    if (words[3] > 0n) {
      const point = await this.#firstWrong(task, Number(~words[4] & (2n ** 64n - 1n)), cubes);
      sums.nonFinite = {
        count: Number(words[3]),
        first: { point, value: await this.#program.valueAt(point) },
      };
    }
    return sums;
  }

  /** The histogram; where its counters overflowed, all in one bin of each axis, which tells how much too fine the scale is. */
  #histogram(bins: number, squares: number): Float64Array {
    const histogram = new Float64Array(this.#program.dims * bins);
    if (!(squares < 2 ** 60)) {
      for (let d = 0; d < this.#program.dims; d++) histogram[d * bins] = squares;
      return histogram;
    }
    const words = this.#program.buffer('state').read(new Uint32Array(2 * (RESULT + histogram.length)));
    for (let i = 0; i < histogram.length; i++)
      histogram[i] = words[2 * (RESULT + i) + 1] * 2 ** 32 + words[2 * (RESULT + i)];
    return histogram;
  }

  async #firstWrong(task: SampleTask, sample: number, cubes: number): Promise<number[]> {
    const cube =
      typeof task.counts === 'number'
        ? Math.floor(sample / task.counts)
        : cubeOf(this.#program.buffer('firstSample').read(new Float64Array(cubes)), sample);
    return pointOf({ ...task, edges: await this.edgesOf(task.edges) }, wordsOf, cube, sample);
  }

  /** A map on the card. */
  #mapOf(map: AxisMap, bins: number): CudaMap {
    return map instanceof CudaMap
      ? map
      : new CudaMap(bins, this.#program.buffer('map 0').write(map as Float64Array));
  }

  async edgesOf(map: AxisMap): Promise<Float64Array> {
    if (!(map instanceof CudaMap)) return map as Float64Array;
    return map.buffer.read(new Float64Array(this.#program.dims * (map.bins + 1)));
  }

  /** The cubes' pieces, in memory where the kernel looks for them. */
  #plan(counts: SampleTask['counts'], cubes: number): Pieces {
    if (typeof counts === 'number') return uniformPieces(counts, cubes);
    if (counts instanceof CudaAllocation)
      return { total: counts.evaluations, chunk: 0, each: 0, items: counts.most };
    const each = counts as Uint32Array;
    const plan = listedPieces(each);
    this.#program.buffer('counts').write(each);
    this.#program.buffer('firstPiece').write(plan.firstPiece);
    this.#program.buffer('firstSample').write(plan.firstSample);
    return plan;
  }

  /** Numbers of pieces as numbers of cubes. */
  #folded(pieces: Buffer, plan: Pieces, cubes: number): Buffer {
    if (plan.items === cubes) return pieces;
    const folded = this.#program.buffer('folded').reserve(8 * cubes);
    const address = (b: Buffer) => BigUint64Array.of(BigInt(b.address));
    this.#allocation().launch(
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

  async allocate(beta: number, evaluations: number): Promise<Allocation> {
    const { variances, cubes = 0 } = this.#learned ?? {};
    if (!variances) throw new Error('allocate before an iteration that kept variances');
    const buffer = this.#program.buffers(...ALLOCATE_BUFFERS);
    if (beta !== BETA) {
      const counts = allocate(variances.read(new Float64Array(cubes)), beta, evaluations);
      const { items, total, chunk } = this.#plan(counts, cubes);
      buffer.totals.write(BigUint64Array.of(BigInt(items), BigInt(total), BigInt(chunk)));
      return new CudaAllocation(total, cubes);
    }
    const blocks = Math.ceil(cubes / WIDTH);
    buffer.largest.clear(8);
    buffer.shares.reserve(8 * cubes);
    buffer.groups.reserve(8 * Math.ceil(cubes / 32));
    buffer.total.reserve(8);
    buffer.counts.reserve(4 * cubes);
    buffer.firstPiece.reserve(4 * (cubes + 1));
    buffer.firstSample.reserve(8 * cubes);
    buffer.blocks.reserve(8 * blocks);
    buffer.totals.reserve(24);
    const struct = new Struct()
      .u32(cubes)
      .f64(Math.max(0, evaluations - 2 * cubes))
      .u64(variances.address, this.#program.params.address)
      .u64(...ALLOCATE_BUFFERS.map(name => buffer[name].address)).bytes;
    const module = this.#allocation();
    const start = (name: string, n: number, threads: number, ...more: Uint32Array[]) =>
      module.launch(name, n, threads, 0, struct, ...more);
    if (cubes <= ONE_BLOCK) start('allocate', 1, WIDTH);
    else {
      start('largest', Math.min(blocks, 1024), 256);
      start('shares', Math.ceil(cubes / 32 / 256), 256);
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
  #allocation(): Module {
    return this.#program.moduleWith('allocate', ([v]) => v ** 0.375);
  }

  async refine({ alpha, floor, shared }: Refinement): Promise<AxisMap> {
    if (!this.#learned) throw new Error('refine before an iteration that kept its histogram');
    const { map, histogram } = this.#learned;
    const { dims, params } = this.#program;
    const { bins } = map;
    const damp = ALPHAS[alpha];
    if (!damp) {
      const edges = await this.edgesOf(map);
      return refineMap(edges, this.#histogram(bins, 0), dims, alpha, floor, shared);
    }
    // the map before this one stays where it is until the one after it
    const { 'map 1': one, 'map 2': two } = this.#program.buffers('map 1', 'map 2');
    const refined = map.buffer === one ? two : one;
    refined.reserve(8 * dims * (bins + 1));
    const scratch = this.#program.buffer('scratch');
    scratch.reserve(8 * dims * (4 * (bins + 1) + 2 * MOST_PIECES * bins + 1));
    const struct = new Struct()
      .u32(bins, dims, shared ? 1 : 0)
      .f64(floor)
      .u64(histogram, map.buffer.address, params.address, refined.address, scratch.address);
    this.#program.moduleWith('refine', damp).launch('refine', dims, WIDTH, 0, struct.bytes);
    return new CudaMap(bins, refined);
  }
}
