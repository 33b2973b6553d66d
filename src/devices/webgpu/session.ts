/**
 * One integrand on a GPU. Tasks of a session come one after the other, since they share its buffers; those of several sessions share
 * the GPU's queue. A signal ends the waiting at once, and the next task waits until the GPU has done what was submitted.
 */
import type { BoundProgram, CompiledProgram } from '../../integrand/bound.ts';
import { withResults } from '../../integrand/optimise.ts';
import { unheldNumbers } from '../../integrand/targets/wgsl.ts';
import type { Learning } from '../../tasks/learning.ts';
import { isKept, type Part } from '../../tasks/part.ts';
import type { PoolTask, RegionPool } from '../../tasks/pool/pool.ts';
import type { RegionSums, RegionTask } from '../../tasks/region.ts';
import type { AxisMap, PartSums, SampleTask } from '../../tasks/sample.ts';
import type { WitnessSums, WitnessTask } from '../../tasks/witness.ts';
import { beforeAbort } from '../before-abort.ts';
import type { Session } from '../device.ts';
import { OneByOne } from '../one-by-one.ts';
import { PoolInTurns } from '../pool-in-turns.ts';
import type { Gpu } from './gpu.ts';
import { poolNoise, regionNoise, sampleNoise } from './noise.ts';
import { Points } from './points.ts';
import { WebGpuPool } from './pool.ts';
import { WebGpuProgram } from './program.ts';
import { WebGpuRegions } from './regions.ts';
import { mapped } from './sample-task.ts';
import { WebGpuSampling } from './sampling.ts';
import { hearWitnesses } from './witness.ts';

/** So many numbers are named. */
const MOST_WARNINGS = 3;

interface Evaluated {
  task: RegionTask;
  found: RegionSums;
}

/** A program with what runs it. */
class Runner {
  readonly program: WebGpuProgram;
  readonly points: Points;
  readonly sampling: WebGpuSampling;
  readonly regions: WebGpuRegions;

  constructor(gpu: Gpu, integrand: CompiledProgram) {
    this.program = new WebGpuProgram(gpu, integrand);
    this.points = new Points(this.program);
    this.sampling = new WebGpuSampling(this.program, this.points);
    this.regions = new WebGpuRegions(this.program, this.points);
  }

  bind(integrand: CompiledProgram): void {
    this.program.bind(integrand);
    this.sampling.forgetAhead();
  }
}

export class WebGpuSession implements Session {
  readonly description: string;
  readonly learning = this.#makeLearning();
  readonly #gpu: Gpu;
  readonly #epsilon: number;
  readonly #whole: Runner;
  /** Programs for some of the results, by these. */
  readonly #passes = new Map<string, Runner>();
  /** Regions and witnesses of an integrand with several results. */
  readonly #oneByOne: OneByOne | null;
  #integrand: CompiledProgram;
  /** The last task of samples; the last list of regions that covers the box, and the last of all. */
  #sampled: SampleTask | null = null;
  /** The noise of the last map that it was measured with: a run asks on the way and at its end, mostly about the same map. */
  #sampleNoise: { edges: AxisMap; noise: Promise<number[]> } | null = null;
  #evaluated: [Evaluated, Evaluated] | null = null;
  /** The last pool. It stays until the next one: the noise of a run is asked for at its end. */
  #pool: WebGpuPool | null = null;
  /** The end of the last task. */
  #last: Promise<unknown> = Promise.resolve();

  constructor(gpu: Gpu, integrand: CompiledProgram, name: string, epsilon: number) {
    this.#gpu = gpu;
    this.#epsilon = epsilon;
    this.#integrand = integrand;
    this.description = `${name} (${gpu.name})`;
    this.#whole = new Runner(gpu, integrand);
    const several = integrand.program.results.length > 1;
    this.#oneByOne = several
      ? new OneByOne(integrand, single => new WebGpuSession(gpu, single, name, epsilon))
      : null;
  }

  /** Numbers of the integrand that float32 does not have. */
  get warnings(): readonly string[] {
    const { program, params } = this.#integrand;
    return unheldNumbers(program, params)
      .slice(0, MOST_WARNINGS)
      .map(({ param, value, as }) => {
        const what = param === undefined ? `the number ${value}` : `params.${param} = ${value}`;
        return `float32 does not have ${what}, and ${as} stood for it; use device 'cpu', or other units`;
      });
  }

  sample(task: SampleTask, part: Part, signal?: AbortSignal, following = 0): Promise<PartSums> {
    // witnesses are drawn without a map, also while there is one
    if (!this.#sampled || task.bins >= this.#sampled.bins) this.#sampled = task;
    const runner = this.#runner(task);
    return this.#inTurn(signal, async () => {
      const own = await this.#forRunner(task, runner);
      // counts that were read for this task are other ones for the next: what follows would not be found
      return runner.sampling.sample(own, part, signal, own === task ? following : 0);
    });
  }

  /** A task as a program for some of the results takes it: counts that are kept are in buffers of the whole one. */
  async #forRunner(task: SampleTask, runner: Runner): Promise<SampleTask> {
    const { counts } = task;
    if (runner === this.#whole || typeof counts === 'number' || !isKept(counts.each)) return task;
    return { ...task, counts: { ...counts, each: await this.#whole.sampling.learning.countsOf(counts) } };
  }

  /** Learning, in its turn among the tasks. */
  #makeLearning(): Learning {
    const own = () => this.#whole.sampling.learning;
    const inTurn = <T>(task: () => Promise<T>) => this.#inTurn(undefined, task);
    return {
      learn: (task, sums) => inTurn(() => own().learn(mapped(task), sums)),
      refine: async how => own().refine(how),
      allocate: (beta, evaluations) => inTurn(() => own().allocate(beta, evaluations)),
      edgesOf: async map => map as Float64Array,
      countsOf: counts => inTurn(() => own().countsOf(counts)),
    };
  }

  regions(task: RegionTask, part: Part, signal?: AbortSignal): Promise<RegionSums> {
    if (this.#oneByOne) return this.#oneByOne.regions(task, part, signal);
    this.#pool?.close();
    this.#pool = null;
    return this.#inTurn(signal, async () => {
      const found = await this.#whole.regions.evaluate(task, part, signal);
      const evaluated = { task, found };
      // the first list of a run covers the box; a session has runs one after the other
      if (!this.#evaluated || coversBox(task)) this.#evaluated = [evaluated, evaluated];
      else this.#evaluated = [this.#evaluated[0], evaluated];
      return found;
    });
  }

  async noise(signal?: AbortSignal): Promise<readonly number[]> {
    const { results } = this.#integrand.program;
    if (this.#oneByOne && !this.#sampled) return this.#oneByOne.noise(signal);
    const sampled = this.#sampled ? await this.#noiseOf(this.#sampled, signal) : results.map(() => 0);
    if (this.#pool) {
      const pool = this.#pool;
      const noise = await this.#inTurn(signal, () => poolNoise(pool, this.#integrand, this.#epsilon));
      return sampled.map(n => Math.max(n, noise));
    }
    if (!this.#evaluated) return sampled;
    const relative: number[] = [];
    for (const { task, found } of new Set(this.#evaluated))
      relative.push(regionNoise(task, found, this.#integrand, this.#epsilon));
    const absolute = this.#evaluated[0].found.values.reduce((sum, v) => sum + Math.abs(v), 0);
    return sampled.map(n => Math.max(n, Math.max(...relative) * absolute));
  }

  /** The noise of samples through the map of a task. */
  #noiseOf(task: SampleTask, signal?: AbortSignal): Promise<number[]> {
    if (this.#sampleNoise?.edges === task.edges) return this.#sampleNoise.noise;
    const noise = this.#inTurn(signal, () =>
      sampleNoise(task, this.#integrand, this.#whole.points, this.#epsilon, signal),
    );
    const own = { edges: task.edges, noise };
    this.#sampleNoise = own;
    noise.catch(() => {
      if (this.#sampleNoise === own) this.#sampleNoise = null;
    });
    return noise;
  }

  /** The regions of PAGANI in the GPU's memory. */
  async pool(task: PoolTask, signal?: AbortSignal): Promise<RegionPool> {
    this.#pool?.close();
    const { program, points } = this.#whole;
    const open = () => WebGpuPool.open(program, points, task, signal);
    const pool = await this.#inTurn(signal, open);
    this.#pool = pool;
    return new PoolInTurns(pool, { run: step => this.#inTurn(signal, step), close() {} });
  }

  compileRegions(task: RegionTask): Promise<void> {
    return this.#whole.regions.compile(task);
  }

  witness(task: WitnessTask, part: Part, signal?: AbortSignal): Promise<WitnessSums> {
    if (this.#oneByOne) return this.#oneByOne.witness(task, part, signal);
    return this.#inTurn(signal, () => hearWitnesses(task, part, this.#whole.points, this.#epsilon, signal));
  }

  async rebind(program: BoundProgram): Promise<void> {
    await this.#last.catch(() => {});
    this.#integrand = program as CompiledProgram;
    this.#sampled = null;
    this.#sampleNoise = null;
    this.#evaluated = null;
    this.#pool?.close();
    this.#pool = null;
    this.#whole.bind(this.#integrand);
    for (const [results, runner] of this.#passes) runner.bind(this.#narrowed(results.split(',').map(Number)));
    await this.#oneByOne?.rebind(this.#integrand);
  }

  close(): void {
    this.#oneByOne?.close();
    const free = () => {
      this.#pool?.close();
      this.#whole.program.close();
      for (const { program } of this.#passes.values()) program.close();
    };
    this.#last.then(free, free);
  }

  /** What samples the results of a task: all of them, or some by a program that computes only these. */
  #runner({ pass }: SampleTask): Runner {
    if (!pass || pass.results.length === this.#integrand.program.results.length) return this.#whole;
    const key = pass.results.join();
    const runner = this.#passes.get(key) ?? new Runner(this.#gpu, this.#narrowed(pass.results));
    this.#passes.set(key, runner);
    return runner;
  }

  #narrowed(results: readonly number[]): CompiledProgram {
    return { ...this.#integrand, program: withResults(this.#integrand.program, results) };
  }

  /** Runs a task after the one before. */
  #inTurn<T>(signal: AbortSignal | undefined, task: () => Promise<T>): Promise<T> {
    if (signal?.aborted) return Promise.reject(signal.reason);
    const work = this.#last.then(async () => {
      signal?.throwIfAborted();
      this.#gpu.check();
      return task();
    });
    this.#last = work.catch(() => {});
    return beforeAbort(work, signal);
  }
}

/** Whether the volumes of the regions of a list are that of the box. */
function coversBox({ count, levels }: RegionTask): boolean {
  const dims = levels.length / count;
  let volume = 0;
  for (let i = 0; i < count; i++) {
    let depth = 0;
    for (let d = 0; d < dims; d++) depth += levels[d * count + i];
    volume += 2 ** -depth;
  }
  return volume === 1;
}
