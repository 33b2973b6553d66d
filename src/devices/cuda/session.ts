/**
 * One integrand on a card: the methods' tasks as kernels. Kernels are text (kernels/*.cu) with the compiled
 * integrand in front, made by NVRTC at run time for the card that is there. Points are those of the CPU device, and
 * sums are added in an order that depends on the task alone: same seed, same bits, run after run.
 */
import { lower } from '../../integrand/lower/lower.ts';
import { read } from '../../integrand/read.ts';
import { cudaParams, toCuda } from '../../integrand/targets/cuda.ts';
import { nullCombinations, pointsOf, type Rule } from '../../methods/cubature/rules.ts';
import { allocate } from '../../methods/vegas/strata.ts';
import { wordsOf } from '../../random/philox.ts';
import type {
  Allocation,
  DeviceIntegrand,
  RegionSums,
  RegionTask,
  SampleSums,
  SampleTask,
  Session,
} from '../device.ts';
import type { Buffer, Card, Module } from './card.ts';
import { cubeOf, listedPieces, type Pieces, pointOf, uniformPieces } from './pieces.ts';
import { Struct } from './struct.ts';

/** Threads of a block that samples; many share one copy of the map. */
const THREADS = 512;
/** Pieces of a thread, at most; and how many threads a multiprocessor should have to choose from. */
const LONGEST_RUN = 16;
const THREADS_PER_PROCESSOR = 8192;
/** Regions of a block, a warp each. */
const REGIONS_PER_BLOCK = 4;

type Compiled = Extract<DeviceIntegrand, { kind: 'program' }>;
const SAMPLE_BUFFERS = [
  'edges',
  'counts',
  'firstPiece',
  'firstSample',
  'sums',
  'means',
  'variances',
  'histogram',
  'wrong',
] as const;
const REGION_BUFFERS = ['centres', 'levels', 'values', 'errors', 'axes', 'wrong'] as const;
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
/** The β of VEGAS+, whose power is made of square roots; and the threads of a block in allocate.cu. */
const BETA = 0.75;
const WIDTH = 1024;

/** Samples of each cube, in the session's buffers until the next one. */
class CudaAllocation implements Allocation, Pieces {
  readonly evaluations: number;
  readonly total: number;
  readonly chunk: number;
  readonly each: number;
  readonly items: number;

  constructor(evaluations: number, { total, chunk, each, items }: Pieces) {
    this.evaluations = evaluations;
    this.total = total;
    this.chunk = chunk;
    this.each = each;
    this.items = items;
  }
}

export class CudaSession implements Session {
  readonly description: string;
  readonly #card: Card;
  readonly #text: string;
  readonly #dims: number;
  #integrand: Compiled;
  readonly #params: Buffer;
  readonly #buffers = new Map<string, Buffer>();
  readonly #modules = new Map<string, Module>();
  /** Variances of cubes, for `allocate`. */
  #kept: Buffer | null = null;
  #keptCubes = 0;
  #rule: { rule: Rule; generators: Buffer; weights: Buffer; pairs: Buffer; ratio: number } | null = null;

  constructor(card: Card, name: string, integrand: Compiled) {
    this.#card = card;
    this.description = `${name} (${card.info.name})`;
    this.#integrand = integrand;
    this.#dims = integrand.program.dims;
    this.#text = toCuda(integrand.program).source;
    this.#params = this.#card.buffer().write(cudaParams(integrand.program, integrand.params));
  }

  async rebind(integrand: DeviceIntegrand): Promise<void> {
    this.#integrand = integrand as Compiled;
    this.#params.write(cudaParams(this.#integrand.program, this.#integrand.params));
  }

  close(): void {
    for (const b of [this.#params, ...this.#buffers.values()]) b.close();
    for (const m of this.#modules.values()) m.close();
    this.#buffers.clear();
    this.#modules.clear();
    for (const b of this.#rule ? [this.#rule.generators, this.#rule.weights, this.#rule.pairs] : [])
      b.close();
    this.#rule = null;
  }

  async sample(task: SampleTask): Promise<SampleSums> {
    task.signal?.throwIfAborted();
    const { bins, strata, counts, adapt } = task;
    const cubes = strata.reduce((a, b) => a * b, 1);
    const buffer = this.#buffersFor(SAMPLE_BUFFERS);
    buffer.edges.write(task.edges);
    const plan = this.#plan(counts, cubes);
    const edgeBytes = task.edges.byteLength;
    const histogramBytes = adapt ? 8 * this.#dims * bins : 0;
    const room = this.#card.shared - 2048;
    const sharedEdges = edgeBytes <= room;
    const sharedHistogram = (sharedEdges ? edgeBytes : 0) + histogramBytes <= room;
    const module = this.#module('sample', { SHARED_EDGES: sharedEdges, SHARED_HISTOGRAM: sharedHistogram });
    const threads = this.#card.processors * THREADS_PER_PROCESSOR;
    const run = Math.max(1, Math.min(LONGEST_RUN, Math.floor(plan.items / threads)));
    const blocks = Math.ceil(plan.items / run / THREADS);
    buffer.sums.reserve(24 * blocks);
    const wanted = { means: !!task.cubes, variances: task.cubes || !!adapt?.variances };
    if (wanted.means) buffer.means.reserve(8 * plan.items);
    if (wanted.variances) buffer.variances.reserve(8 * plan.items);
    if (adapt) buffer.histogram.clear(histogramBytes);
    buffer.wrong.write(BigUint64Array.of(0n, 2n ** 64n - 1n));
    let volume = 1 / task.unit;
    for (let d = 0; d < this.#dims; d++) volume *= bins;
    const struct = new Struct()
      .f64(...strata.map(n => bins / n))
      .u32(...strata, ...task.key, task.iteration, task.stream, bins, cubes)
      .u32(typeof counts === 'number' ? counts : 0, plan.chunk, plan.each, run)
      .u64(plan.items)
      .f64(volume, adapt ? adapt.scale * (plan.total / cubes) : 0)
      .u64(buffer.edges.address, this.#params.address)
      .u64(buffer.counts.address, buffer.firstPiece.address, buffer.firstSample.address)
      .u64(buffer.sums.address, wanted.means ? buffer.means.address : 0)
      .u64(wanted.variances ? buffer.variances.address : 0, buffer.histogram.address, buffer.wrong.address);
    const shared = (sharedEdges ? edgeBytes : 0) + (sharedHistogram ? histogramBytes : 0);
    module.launch(adapt ? 'sampleAdapting' : 'sampleFrozen', blocks, THREADS, shared, struct.bytes);
    await this.#card.finished(task.signal, 'sampling');
    const sums: SampleSums = {
      evaluations: plan.total,
      sum: 0,
      variance: 0,
      histogram: null,
      variances: null,
      means: null,
      nonFinite: null,
    };
    const parts = buffer.sums.read(new Float64Array(3 * blocks));
    let increments = 0;
    for (let b = 0; b < blocks; b++) {
      sums.sum += parts[3 * b];
      sums.variance += parts[3 * b + 1];
      increments += parts[3 * b + 2];
    }
    if (adapt) sums.histogram = this.#histogram(buffer.histogram, bins, increments);
    if (adapt?.variances === 'keep') {
      this.#kept = this.#folded(buffer.variances, plan, cubes);
      this.#keptCubes = cubes;
    }
    const ofCubes = (from: Buffer) => this.#folded(from, plan, cubes).read(new Float64Array(cubes));
    if (wanted.means) sums.means = ofCubes(buffer.means);
    if (wanted.variances && adapt?.variances !== 'keep') sums.variances = ofCubes(buffer.variances);
    const [wrong, first] = buffer.wrong.read(new BigUint64Array(2));
    if (wrong > 0n) {
      const sample = Number(first);
      const cube =
        typeof counts === 'number'
          ? Math.floor(sample / counts)
          : cubeOf(buffer.firstSample.read(new Float64Array(cubes)), sample);
      const point = pointOf(task, wordsOf, cube, sample);
      sums.nonFinite = { count: Number(wrong), first: { point, value: await this.#valueAt(module, point) } };
    }
    return sums;
  }

  /** The histogram; where its counters overflowed, all in one bin of each axis, which tells how much too fine the scale is. */
  #histogram(counters: Buffer, bins: number, increments: number): Float64Array {
    const histogram = new Float64Array(this.#dims * bins);
    if (!(increments < 2 ** 60)) {
      for (let d = 0; d < this.#dims; d++) histogram[d * bins] = increments;
      return histogram;
    }
    const words = counters.read(new Uint32Array(2 * histogram.length));
    for (let i = 0; i < histogram.length; i++) histogram[i] = words[2 * i + 1] * 2 ** 32 + words[2 * i];
    return histogram;
  }

  /** The cubes' pieces, in memory where the kernel looks for them. */
  #plan(counts: SampleTask['counts'], cubes: number): Pieces {
    if (typeof counts === 'number') return uniformPieces(counts, cubes);
    if (counts instanceof CudaAllocation) return counts;
    const each = counts as Uint32Array;
    const plan = listedPieces(each);
    this.#buffer('counts').write(each);
    this.#buffer('firstPiece').write(plan.firstPiece);
    this.#buffer('firstSample').write(plan.firstSample);
    return plan;
  }

  /** Numbers of pieces as numbers of cubes. */
  #folded(pieces: Buffer, plan: Pieces, cubes: number): Buffer {
    if (plan.items === cubes) return pieces;
    const folded = this.#buffer('folded').reserve(8 * cubes);
    const address = (b: Buffer) => BigUint64Array.of(BigInt(b.address));
    this.#allocation().launch(
      'fold',
      Math.ceil(cubes / 256),
      256,
      0,
      address(pieces),
      address(folded),
      address(this.#buffer('firstPiece')),
      Uint32Array.of(plan.each),
      Uint32Array.of(cubes),
    );
    return folded;
  }

  async allocate(beta: number, evaluations: number): Promise<Allocation> {
    const cubes = this.#keptCubes;
    if (!this.#kept) throw new Error('allocate before an iteration that kept variances');
    // other powers have no bits in common with the CPU's: they are taken there
    if (beta !== BETA) {
      const counts = allocate(this.#kept.read(new Float64Array(cubes)), beta, evaluations);
      const plan = this.#plan(counts, cubes);
      return new CudaAllocation(plan.total, plan);
    }
    const buffer = this.#buffersFor(ALLOCATE_BUFFERS);
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
      .u64(this.#kept.address, this.#params.address)
      .u64(...ALLOCATE_BUFFERS.map(name => buffer[name].address)).bytes;
    const module = this.#allocation();
    const start = (name: string, n: number, threads: number, ...more: Uint32Array[]) =>
      module.launch(name, n, threads, 0, struct, ...more);
    start('largest', Math.min(blocks, 1024), 256);
    start('shares', Math.ceil(cubes / 32 / 256), 256);
    start('total', 1, WIDTH);
    start('counts', blocks, WIDTH);
    start('starts', 1, WIDTH, Uint32Array.of(1));
    start('pieces', blocks, WIDTH);
    start('starts', 1, WIDTH, Uint32Array.of(0));
    start('shift', blocks, WIDTH);
    const [items, total, chunk] = Array.from(buffer.totals.read(new BigUint64Array(3)), Number);
    return new CudaAllocation(total, { total, chunk, each: 0, items });
  }

  /** The kernels of allocate.cu, with the power that VEGAS+ uses. */
  #allocation(): Module {
    const key = 'allocate';
    const module =
      this.#modules.get(key) ??
      this.#card.module(
        `${
          toCuda(lower(read((([v]: number[]) => v ** 0.375) as never), 1, {})).source
        }\n${kernelText('allocate')}`,
      );
    this.#modules.set(key, module);
    return module;
  }

  #buffersFor<N extends string>(names: readonly N[]): Record<N, Buffer> {
    return Object.fromEntries(names.map(name => [name, this.#buffer(name)])) as Record<N, Buffer>;
  }

  async regions(task: RegionTask): Promise<RegionSums> {
    task.signal?.throwIfAborted();
    const { rule, ranges, count } = task;
    const { generators, weights, pairs, ratio } = this.#prepare(rule);
    const buffer = this.#buffersFor(REGION_BUFFERS);
    const combinations = nullCombinations(rule);
    const module = this.#module('regions', {
      NULLS: rule.orbits[0].nulls.length,
      PAIRS: combinations.length,
      CANDIDATES: Math.max(1, ...combinations.map(c => c.scale.length)),
    });
    buffer.centres.write(task.centres);
    buffer.levels.write(task.levels);
    buffer.values.reserve(8 * count);
    buffer.errors.reserve(8 * count);
    buffer.axes.reserve(count);
    buffer.wrong.write(BigUint64Array.of(0n, 2n ** 64n - 1n));
    let [mantissa, exponent] = [1, 0];
    for (const [low, high] of ranges) {
      const own = Math.floor(Math.log2(high - low));
      mantissa *= (high - low) * 2 ** -Math.floor(own / 2) * 2 ** -Math.ceil(own / 2);
      exponent += own;
    }
    const struct = new Struct()
      .f64(...ranges.map(r => r[0]), ...ranges.map(r => r[1]))
      .f64(mantissa, ratio, ...(rule.error ?? [0, 0, 0]))
      .i32(exponent)
      .i32(rule.error ? 1 : 0)
      .u32(rule.points, count)
      .u64(generators.address, weights.address, pairs.address)
      .u64(buffer.centres.address, buffer.levels.address, this.#params.address)
      .u64(buffer.values.address, buffer.errors.address, buffer.axes.address, buffer.wrong.address);
    module.launch('regions', Math.ceil(count / REGIONS_PER_BLOCK), 32 * REGIONS_PER_BLOCK, 0, struct.bytes);
    await this.#card.finished(task.signal, 'evaluating regions');
    const sums: RegionSums = {
      values: buffer.values.read(new Float64Array(count)),
      errors: buffer.errors.read(new Float64Array(count)),
      axes: buffer.axes.read(new Uint8Array(count)),
      nonFinite: null,
    };
    const [wrong, first] = buffer.wrong.read(new BigUint64Array(2));
    if (wrong > 0n) {
      const [region, p] = [Number(first / BigInt(rule.points)), Number(first % BigInt(rule.points))];
      const g = orderedPoints(rule)[p];
      const point = ranges.map(([low, high], d) => {
        const half = ((high - low) / 2) * 2 ** -task.levels[d * count + region];
        return Math.max(low, Math.min(high, task.centres[d * count + region] + half * g[d]));
      });
      const value = await this.#valueAt(
        this.#module('sample', { SHARED_EDGES: true, SHARED_HISTOGRAM: true }),
        point,
      );
      sums.nonFinite = { count: Number(wrong), first: { point, value } };
    }
    return sums;
  }

  /** The integrand at one point, as the card sees it. */
  async #valueAt(module: Module, point: number[]): Promise<number> {
    const points = this.#buffer('points').write(Float64Array.from(point));
    const values = this.#buffer('one value').reserve(8);
    module.launch(
      'evaluate',
      1,
      32,
      0,
      BigUint64Array.of(BigInt(points.address)),
      BigUint64Array.of(BigInt(values.address)),
      BigUint64Array.of(1n),
      BigUint64Array.of(BigInt(this.#params.address)),
    );
    await this.#card.finished(undefined, 'evaluating a point');
    return values.read(new Float64Array(1))[0];
  }

  #buffer(name: string): Buffer {
    const buffer = this.#buffers.get(name) ?? this.#card.buffer();
    this.#buffers.set(name, buffer);
    return buffer;
  }

  #module(kernel: 'sample' | 'regions', constants: Record<string, number | boolean>): Module {
    const defines = Object.entries({ DIMS: this.#dims, ...constants })
      .map(([name, value]) => `#define ${name} ${Number(value)}`)
      .join('\n');
    const key = `${kernel} ${defines}`;
    const module =
      this.#modules.get(key) ?? this.#card.module(`${defines}\n${this.#text}\n${kernelText(kernel)}`);
    this.#modules.set(key, module);
    return module;
  }

  #prepare(rule: Rule) {
    if (this.#rule?.rule === rule) return this.#rule;
    const points = orderedPoints(rule);
    const orbits = orderedOrbits(rule);
    const weights = orbits
      .flatMap(o => Array.from({ length: o.points }, () => [o.weight, ...o.nulls]))
      .flat();
    const generators = new Float64Array(rule.dims * rule.points);
    points.forEach((g, p) => {
      g.forEach((v, d) => {
        generators[d * rule.points + p] = v;
      });
    });
    const combinations = nullCombinations(rule);
    const most = Math.max(1, ...combinations.map(c => c.scale.length));
    const pairs = new Float64Array(2 * most * Math.max(1, combinations.length));
    combinations.forEach(({ scale, norm }, r) => {
      scale.forEach((s, j) => {
        pairs.set([s, norm[j]], 2 * (r * most + j));
      });
    });
    const [inner, outer] = rule.differences.map(i => rule.orbits[i].generator[0]);
    this.#rule = {
      rule,
      generators: this.#card.buffer().write(generators),
      weights: this.#card.buffer().write(Float64Array.from(weights)),
      pairs: this.#card.buffer().write(pairs),
      ratio: (outer / inner) ** 2,
    };
    return this.#rule;
  }
}

/** Orbits with the centre and those of the fourth differences first, where the kernel expects them. */
function orderedOrbits(rule: Rule) {
  const first = [0, ...rule.differences];
  return [...first, ...rule.orbits.keys()]
    .filter((o, i, all) => all.indexOf(o) === i)
    .map(o => rule.orbits[o]);
}

const orderedPoints = (rule: Rule) => orderedOrbits(rule).flatMap(o => pointsOf(o, rule.dims));

const texts = new Map<string, string>();

function kernelText(kernel: string): string {
  const { readFileSync } = process.getBuiltinModule('node:fs');
  const text = texts.get(kernel) ?? readFileSync(new URL(`./kernels/${kernel}.cu`, import.meta.url), 'utf8');
  texts.set(kernel, text);
  return text;
}
