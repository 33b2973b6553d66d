/**
 * The CUDA device: the methods' tasks as kernels on one NVIDIA GPU. Kernels are text (kernels/*.cu) with the compiled
 * integrand in front, made by NVRTC at run time for the card that is there. Points are those of the CPU device, and
 * sums are added in an order that depends on the task alone: same seed, same bits, run after run.
 */
import { cudaParams, toCuda } from '../../integrand/targets/cuda.ts';
import { nullCombinations, pointsOf, type Rule } from '../../methods/cubature/rules.ts';
import { wordsOf } from '../../random/philox.ts';
import type {
  Device,
  DeviceIntegrand,
  RegionSums,
  RegionTask,
  SampleSums,
  SampleTask,
  Session,
} from '../device.ts';
import { type Buffer, Card, type Module } from './card.ts';
import { CudaError } from './driver.ts';
import { Struct } from './struct.ts';

/** Threads of a block that samples; many share one copy of the map. */
const THREADS = 512;
/** Pieces of a thread, at most; and how many threads a multiprocessor should have to choose from. */
const LONGEST_RUN = 16;
const THREADS_PER_PROCESSOR = 8192;
const BATCH = 256;
/** Regions of a block, a warp each. */
const REGIONS_PER_BLOCK = 4;

export class CudaDevice implements Device {
  readonly name: string;
  readonly card: Card;

  constructor(ordinal = 0) {
    this.card = new Card(ordinal);
    this.name = `cuda:${ordinal}`;
  }

  async open(integrand: DeviceIntegrand): Promise<Session> {
    if (integrand.kind === 'function')
      throw new CudaError("a function as it is cannot run on a GPU; use device: 'js'.");
    return new CudaSession(this, integrand);
  }

  async close(): Promise<void> {
    this.card.close();
  }
}

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

class CudaSession implements Session {
  readonly description: string;
  readonly #card: Card;
  readonly #text: string;
  readonly #dims: number;
  #integrand: Compiled;
  readonly #params: Buffer;
  readonly #buffers = new Map<string, Buffer>();
  readonly #modules = new Map<string, Module>();
  #rule: { rule: Rule; generators: Buffer; weights: Buffer; pairs: Buffer; ratio: number } | null = null;

  constructor(device: CudaDevice, integrand: Compiled) {
    this.#card = device.card;
    this.description = `${device.name} (${device.card.info.name})`;
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
    const plan = planPieces(counts, cubes);
    const buffer = Object.fromEntries(SAMPLE_BUFFERS.map(name => [name, this.#buffer(name)])) as Record<
      (typeof SAMPLE_BUFFERS)[number],
      Buffer
    >;
    buffer.edges.write(task.edges);
    if (plan.lists) {
      buffer.counts.write(counts as Uint32Array);
      buffer.firstPiece.write(plan.lists.firstPiece);
      buffer.firstSample.write(plan.lists.firstSample);
    }
    const edgeBytes = task.edges.byteLength;
    const histogramBytes = adapt ? 8 * this.#dims * bins : 0;
    const room = this.#card.shared - 2048;
    const sharedEdges = edgeBytes <= room;
    const sharedHistogram = (sharedEdges ? edgeBytes : 0) + histogramBytes <= room;
    const module = this.#module('sample', { SHARED_EDGES: sharedEdges, SHARED_HISTOGRAM: sharedHistogram });
    const threads = this.#card.processors * THREADS_PER_PROCESSOR;
    const run = Math.max(1, Math.min(LONGEST_RUN, Math.floor(plan.items / threads)));
    const blocks = Math.ceil(plan.items / run / THREADS);
    buffer.sums.reserve(16 * blocks);
    const wanted = { means: !!task.cubes, variances: task.cubes || (adapt?.variances ?? false) };
    if (wanted.means) buffer.means.reserve(8 * plan.items);
    if (wanted.variances) buffer.variances.reserve(8 * plan.items);
    if (adapt) buffer.histogram.clear(histogramBytes);
    buffer.wrong.write(BigUint64Array.of(0n, 2n ** 64n - 1n));
    let volume = 1 / task.unit;
    for (let d = 0; d < this.#dims; d++) volume *= bins;
    const struct = new Struct()
      .f64(...strata.map(n => bins / n))
      .u32(...strata, ...task.key, task.iteration, task.stream, bins, cubes)
      .u32(typeof counts === 'number' ? counts : 0, plan.chunk, plan.pieces, run)
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
    const parts = buffer.sums.read(new Float64Array(2 * blocks));
    for (let b = 0; b < blocks; b++) {
      sums.sum += parts[2 * b];
      sums.variance += parts[2 * b + 1];
    }
    if (adapt) {
      const words = buffer.histogram.read(new Uint32Array(histogramBytes / 4));
      sums.histogram = Float64Array.from(
        { length: words.length / 2 },
        (_, i) => words[2 * i + 1] * 2 ** 32 + words[2 * i],
      );
    }
    const ofCubes = (from: Buffer) => plan.fold(from.read(new Float64Array(plan.items)));
    if (wanted.means) sums.means = ofCubes(buffer.means);
    if (wanted.variances) sums.variances = ofCubes(buffer.variances);
    const [wrong, first] = buffer.wrong.read(new BigUint64Array(2));
    if (wrong > 0n) {
      const point = pointOf(task, plan.cubeOf(Number(first)), Number(first));
      sums.nonFinite = { count: Number(wrong), first: { point, value: await this.#valueAt(module, point) } };
    }
    return sums;
  }

  async regions(task: RegionTask): Promise<RegionSums> {
    task.signal?.throwIfAborted();
    const { rule, ranges, count } = task;
    const { generators, weights, pairs, ratio } = this.#prepare(rule);
    const buffer = Object.fromEntries(
      REGION_BUFFERS.map(name => [name, this.#buffer(`region ${name}`)]),
    ) as Record<(typeof REGION_BUFFERS)[number], Buffer>;
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

/** The cubes cut into pieces as on the CPU: see kernels/sample.cu. */
function planPieces(counts: number | Uint32Array, cubes: number) {
  let total = 0;
  if (typeof counts === 'number') total = cubes * counts;
  else for (let i = 0; i < cubes; i++) total += counts[i];
  const chunk = Math.floor(Math.min(2 ** 16, Math.max(2 ** 12, total / 64)));
  const piecesOf = (n: number) => {
    if (n <= BATCH) return 1;
    const whole = n > chunk + 1 ? Math.floor((n - 2) / chunk) : 0;
    return whole * Math.ceil(chunk / BATCH) + Math.ceil((n - whole * chunk) / BATCH);
  };
  if (typeof counts === 'number') {
    const pieces = piecesOf(counts);
    const fold = (all: Float64Array) =>
      pieces === 1
        ? all
        : Float64Array.from({ length: cubes }, (_, c) =>
            all.subarray(c * pieces, (c + 1) * pieces).reduce((a, b) => a + b, 0),
          );
    return {
      total,
      chunk,
      pieces,
      items: cubes * pieces,
      lists: null,
      fold,
      cubeOf: (sample: number) => Math.floor(sample / counts),
    };
  }
  const firstPiece = new Uint32Array(cubes + 1);
  const firstSample = new Float64Array(cubes);
  let [pieces, samples] = [0, 0];
  for (let c = 0; c < cubes; c++) {
    firstPiece[c] = pieces;
    firstSample[c] = samples;
    pieces += piecesOf(counts[c]);
    samples += counts[c];
  }
  firstPiece[cubes] = pieces;
  const fold = (all: Float64Array) => {
    if (pieces === cubes) return all;
    const folded = new Float64Array(cubes);
    for (let c = 0; c < cubes; c++)
      for (let p = firstPiece[c]; p < firstPiece[c + 1]; p++) folded[c] += all[p];
    return folded;
  };
  const cubeOf = (sample: number) => {
    let c = cubes - 1;
    while (firstSample[c] > sample) c--;
    return c;
  };
  return { total, chunk, pieces: 0, items: pieces, lists: { firstPiece, firstSample }, fold, cubeOf };
}

/** Where a sample is. */
function pointOf(
  { strata, bins, edges, key, iteration, stream }: SampleTask,
  cube: number,
  sample: number,
): number[] {
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
