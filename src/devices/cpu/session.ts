/** One integrand on the CPU device: iterations of samples and lists of regions, cut into chunks for its crews. */

import { toWasm } from '../../integrand/targets/wasm.ts';
import { ROUNDS, WEYL } from '../../random/philox.ts';
import { refineMap } from '../../tasks/map.ts';
import type { Rule } from '../../tasks/rules.ts';
import { allocate } from '../../tasks/strata.ts';
import type {
  Allocation,
  AxisMap,
  DeviceIntegrand,
  OpenOptions,
  Refinement,
  RegionSums,
  RegionTask,
  SampleSums,
  SampleTask,
  Session,
} from '../device.ts';
import { type CountedTask, chunksOf, MAX_CUBES } from './chunks.ts';
import type { CpuDevice } from './cpu.ts';
import { Crew, type Numbers, type Share } from './crew.ts';
import { type EvaluatorSetup, makeEvaluator, type RegionChunk, type RegionChunkSums } from './evaluator.ts';
import { evaluatorLayout, evaluatorModule } from './evaluator-kernel.ts';
import { kernelModule } from './kernel.ts';
import { CORNER, type KernelLayout, kernelLayout, STATE } from './layout.ts';
import { type Chunk, type ChunkSums, type Iteration, makeSampler, type SamplerSetup } from './sampler.ts';
import { walkOf } from './walk.ts';

/** Samples in a batch: what the kernel holds in the first-level cache. */
const BATCH = 256;
/** Regions in a tile, likewise. */
const TILE = 64;
/** Work of fewer evaluations than this stays on the calling thread: a few milliseconds. */
const SMALL = 1 << 16;
/** The same where other sessions wait for the thread: what a message costs. */
const SMALL_SHARED = 1 << 12;
/** Evaluations that a chunk of regions should have: less than a millisecond. */
const REGION_CHUNK = 1 << 15;
/** Bins that a sampler has room for at least, so that a growing map needs no new one. */
const ROOM = 1024;

type Sampler = Crew<SamplerSetup, Iteration, Chunk, ChunkSums, Float64Array | null>;
type RegionCrew = Crew<EvaluatorSetup, unknown, RegionChunk, RegionChunkSums, unknown>;

interface Sampling {
  bins: number;
  crew: Sampler;
  params(): Promise<Numbers>;
}

interface Evaluating {
  rule: Rule;
  ranges: RegionTask['ranges'];
  crew: RegionCrew;
  params(): Promise<Numbers>;
}

/** Samples of each cube. */
class Counts implements Allocation {
  readonly each: Uint32Array;
  readonly evaluations: number;

  constructor(each: Uint32Array) {
    this.each = each;
    this.evaluations = sumOf(each);
  }
}

export class CpuSession implements Session {
  readonly #device: CpuDevice;
  readonly #shared: boolean;
  readonly #dims: number;
  #integrand: DeviceIntegrand;
  #sampling: Sampling | null = null;
  #evaluating: Evaluating | null = null;
  /** Of the cubes, kept for `allocate`; and of the bins with their map, kept for `refine`. */
  #variances: Float64Array | null = null;
  #learned: { edges: Float64Array; histogram: Float64Array } | null = null;

  constructor(device: CpuDevice, integrand: DeviceIntegrand, { shared = false }: OpenOptions) {
    this.#device = device;
    this.#shared = shared;
    this.#integrand = integrand;
    this.#dims = integrand.kind === 'program' ? integrand.program.dims : integrand.dims;
  }

  get description(): string {
    if (this.#integrand.kind === 'program') return this.#device.name;
    return this.#integrand.call.moved ? 'js' : 'js on this thread';
  }

  async sample(asked: SampleTask): Promise<SampleSums> {
    asked.signal?.throwIfAborted();
    this.#device.checkOpen();
    const { counts } = asked;
    const task = counts instanceof Counts ? { ...asked, counts: counts.each } : (asked as CountedTask);
    const cubes = task.strata.reduce((a, b) => a * b, 1);
    const total = typeof task.counts === 'number' ? cubes * task.counts : sumOf(task.counts);
    const iteration: Iteration = {
      key: task.key,
      iteration: task.iteration,
      stream: task.stream,
      bins: task.bins,
      edges: task.edges as Float64Array,
      strata: task.strata,
      unit: task.unit,
      adapt: task.adapt !== null,
      variances: task.cubes || !!task.adapt?.variances,
      means: task.cubes ?? false,
      factor: task.adapt ? task.adapt.scale * (total / cubes) : 0,
    };
    if (!this.#sampling || this.#sampling.bins < task.bins) {
      this.#sampling?.crew.close();
      this.#sampling = this.#samplingCrew(Math.max(task.bins, ROOM));
    }
    const chunks = chunksOf(task, total);
    const { results, ends } = await this.#sampling.crew.work(
      iteration,
      () => chunks.next().value as Chunk | undefined,
      this.#share(total),
      task.signal,
    );
    const sums = merge(task, cubes, results, ends);
    if (task.adapt?.variances === 'keep') {
      this.#variances = sums.variances;
      sums.variances = null;
    }
    if (task.adapt?.histogram === 'keep') {
      this.#learned = { edges: task.edges as Float64Array, histogram: sums.histogram! };
      sums.histogram = null;
    }
    if (sums.evaluations !== total)
      throw new Error(`the device gave ${sums.evaluations} of ${total} samples`);
    return sums;
  }

  async allocate(beta: number, evaluations: number): Promise<Allocation> {
    if (!this.#variances) throw new Error('allocate before an iteration that kept variances');
    return new Counts(allocate(this.#variances, beta, evaluations));
  }

  async refine({ alpha, floor, shared }: Refinement): Promise<AxisMap> {
    if (!this.#learned) throw new Error('refine before an iteration that kept its histogram');
    const { edges, histogram } = this.#learned;
    return refineMap(edges, histogram, this.#dims, alpha, floor, shared);
  }

  async edgesOf(map: AxisMap): Promise<Float64Array> {
    return map as Float64Array;
  }

  async regions(task: RegionTask): Promise<RegionSums> {
    task.signal?.throwIfAborted();
    this.#device.checkOpen();
    const { rule, ranges, count, centres, levels } = task;
    if (this.#evaluating?.rule !== rule || this.#evaluating.ranges !== ranges) {
      this.#evaluating?.crew.close();
      this.#evaluating = this.#evaluatingCrew(rule, ranges);
    }
    // whole tiles
    const size = TILE * Math.max(1, Math.round(REGION_CHUNK / (TILE * rule.points)));
    const share = this.#share(count * rule.points);
    let index = 0;
    const next = (): RegionChunk | undefined => {
      const first = index * size;
      if (first >= count) return undefined;
      if (count <= size) return { index: index++, count, centres, levels };
      const n = Math.min(size, count - first);
      const part = {
        index: index++,
        count: n,
        centres: new Float64Array(n * this.#dims),
        levels: new Uint8Array(n * this.#dims),
      };
      for (let d = 0; d < this.#dims; d++) {
        part.centres.set(centres.subarray(d * count + first, d * count + first + n), d * n);
        part.levels.set(levels.subarray(d * count + first, d * count + first + n), d * n);
      }
      return part;
    };
    const { results } = await this.#evaluating.crew.work(null, next, share, task.signal);
    const sums: RegionSums = {
      values: new Float64Array(count),
      errors: new Float64Array(count),
      axes: new Uint8Array(count),
      nonFinite: null,
    };
    results.sort((a, b) => a.index - b.index);
    for (const r of results) {
      sums.values.set(r.values, r.index * size);
      sums.errors.set(r.errors, r.index * size);
      sums.axes.set(r.axes, r.index * size);
      if (r.nonFinite)
        sums.nonFinite = {
          count: (sums.nonFinite?.count ?? 0) + r.nonFinite.count,
          first: sums.nonFinite?.first ?? r.nonFinite.first,
        };
    }
    return sums;
  }

  async rebind(integrand: DeviceIntegrand): Promise<void> {
    this.#integrand = integrand;
    if (integrand.kind === 'function') return this.close(); // made anew, of the other function
    for (const own of [this.#sampling, this.#evaluating]) own?.crew.bind(await own.params());
  }

  close(): void {
    this.#sampling?.crew.close();
    this.#evaluating?.crew.close();
    this.#sampling = this.#evaluating = null;
  }

  #share(evaluations: number): Share {
    if (evaluations <= (this.#shared ? SMALL_SHARED : SMALL)) return 'here';
    return this.#shared && evaluations <= SMALL ? 'one worker' : 'all workers';
  }

  #samplingCrew(bins: number): Sampling {
    const { layout, module } = kernelFor(this.#dims, bins);
    const made = this.#compile(layout, BATCH);
    const setup = Promise.all([module, made]).then(
      ([kernel, { integrand, initial, end }]): SamplerSetup => ({
        kernel,
        integrand,
        initial,
        layout: { ...layout, end },
        constants: { state: STATE, corner: CORNER, weyl: WEYL, rounds: ROUNDS },
      }),
    );
    const crew = new Crew(this.#device, 'sampler', makeSampler, setup, this.#integrand);
    return { bins, crew, params: async () => (await made).params(this.#integrand) };
  }

  #evaluatingCrew(rule: Rule, ranges: RegionTask['ranges']): Evaluating {
    const walk = walkOf(rule);
    const layout = evaluatorLayout(rule.dims, TILE, walk.slots);
    const made = this.#compile(layout, TILE);
    const setup = Promise.all([evaluatorKernel(rule.dims, walk.slots), made]).then(
      ([kernel, { integrand, initial, end }]): EvaluatorSetup => ({
        kernel,
        integrand,
        initial,
        layout: { ...layout, end },
        walk,
        ranges,
      }),
    );
    const crew = new Crew(this.#device, 'evaluator', makeEvaluator, setup, this.#integrand);
    return { rule, ranges, crew, params: async () => (await made).params(this.#integrand) };
  }

  /** The integrand as a module behind a kernel's memory, and what it needs there. */
  async #compile(layout: { end: number; points: number; values: number }, batch: number) {
    if (this.#integrand.kind === 'function')
      return { integrand: null, initial: [], end: layout.end, params: () => [] };
    const { program, params } = this.#integrand;
    const { bytes, layout: own } = toWasm(program, batch, layout.end, layout);
    return {
      integrand: await moduleOf(bytes),
      initial: [...own.initial(), ...own.params(params)],
      end: own.end,
      params: (now: DeviceIntegrand): Numbers => (now.kind === 'program' ? own.params(now.params) : []),
    };
  }
}

/** Integrands compiled last, by their bytes: V8 keeps optimised code with a module, so a second run starts fast. */
const modules = new Map<string, Promise<WebAssembly.Module>>();
const MOST_MODULES = 32;

function moduleOf(bytes: Uint8Array<ArrayBuffer>): Promise<WebAssembly.Module> {
  const key = new TextDecoder('latin1').decode(bytes);
  const module = modules.get(key) ?? WebAssembly.compile(bytes);
  modules.delete(key);
  modules.set(key, module); // now the youngest
  if (modules.size > MOST_MODULES) modules.delete(modules.keys().next().value!);
  return module;
}

const kernels = new Map<string, { layout: KernelLayout; module: Promise<WebAssembly.Module> }>();

/** The kernel for so many axes and bins; kept, because V8 keeps its optimised code with the module. */
function kernelFor(dims: number, bins: number) {
  const key = `${dims} ${bins}`;
  let kernel = kernels.get(key);
  if (!kernel) {
    const values = dims * BATCH * 8;
    const layout = kernelLayout(dims, BATCH, bins, MAX_CUBES, 0, values, values + BATCH * 8);
    kernel = { layout, module: WebAssembly.compile(kernelModule(layout)) };
    kernels.set(key, kernel);
  }
  return kernel;
}

const evaluatorKernels = new Map<string, Promise<WebAssembly.Module>>();

/** Kept as well. */
function evaluatorKernel(dims: number, slots: number): Promise<WebAssembly.Module> {
  const key = `${dims} ${slots}`;
  let module = evaluatorKernels.get(key);
  if (!module) {
    module = WebAssembly.compile(evaluatorModule(evaluatorLayout(dims, TILE, slots)));
    evaluatorKernels.set(key, module);
  }
  return module;
}

/** Adds chunks in their order, whoever ran them. */
function merge(
  task: CountedTask,
  cubes: number,
  chunks: ChunkSums[],
  histograms: (Float64Array | null)[],
): SampleSums {
  chunks.sort((a, b) => a.index - b.index);
  const sums: SampleSums = {
    evaluations: 0,
    sum: 0,
    variance: 0,
    concentration: 0,
    histogram: null,
    squares: 0,
    variances: null,
    means: null,
    nonFinite: null,
  };
  const variances = task.cubes || task.adapt?.variances ? new Float64Array(cubes) : null;
  const means = task.cubes ? new Float64Array(cubes) : null;
  let cube = 0;
  let used = 0;
  for (const c of chunks) {
    sums.evaluations += c.evaluations;
    sums.sum += c.sum;
    sums.variance += c.variance;
    sums.concentration += c.concentration;
    if (c.nonFinite) {
      sums.nonFinite = {
        count: (sums.nonFinite?.count ?? 0) + c.nonFinite.count,
        first: sums.nonFinite?.first ?? c.nonFinite.first,
      };
    }
    if (!variances || !c.variances) continue;
    // a cube cut between chunks gets its parts from each
    for (let i = 0; i < c.variances.length; i++) variances[cube + i] += c.variances[i];
    if (means && c.means) for (let i = 0; i < c.means.length; i++) means[cube + i] += c.means[i];
    used += c.evaluations;
    const count = typeof task.counts === 'number' ? task.counts : task.counts[cube];
    if (c.variances.length > 1 || used >= count) {
      cube += c.variances.length;
      used = 0;
    }
  }
  sums.means = means;
  sums.variances = variances;
  if (task.adapt) {
    sums.histogram = new Float64Array(task.bins * task.strata.length);
    for (const h of histograms) if (h) for (let i = 0; i < h.length; i++) sums.histogram[i] += h[i];
    sums.squares = sums.histogram.subarray(0, task.bins).reduce((a, b) => a + b, 0);
  }
  return sums;
}

/** A plain loop: there may be a million cubes. */
function sumOf(counts: Uint32Array): number {
  let total = 0;
  for (let i = 0; i < counts.length; i++) total += counts[i];
  return total;
}
