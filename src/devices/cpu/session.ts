/** One integrand on a pool of workers: parts of iterations and of lists of regions, cut into chunks for engines. */
import type { BoundProgram } from '../../integrand/bound.ts';
import { innerRange } from '../../integrand/inner-range.ts';
import { OnDemand } from '../../integrand/on-demand.ts';
import { BATCH } from '../../integrand/targets/wasm.ts';
import { type Hearing, hearingOf } from '../../tasks/hearing.ts';
import { type Part, partsOf } from '../../tasks/part.ts';
import {
  joinResults,
  mergeRegions,
  type Ranges,
  type RegionSums,
  type RegionTask,
  regionsOf,
  volumeOf,
} from '../../tasks/region.ts';
import { loadRule, type Rule } from '../../tasks/rules.ts';
import type { PartSums, SampleTask } from '../../tasks/sample.ts';
import {
  mergeWitnesses,
  modelPairs,
  type WitnessSums,
  type WitnessTask,
  witnessCost,
} from '../../tasks/witness.ts';
import type { OpenOptions, Session } from '../device.ts';
import { EngineGroup, type Share } from './engines.ts';
import { type EvaluatorSetup, makeEvaluator, type RegionChunk, type RegionChunkSums } from './evaluator.ts';
import { evaluatorLayout, evaluatorModule } from './evaluator-kernel.ts';
import type { Sampling } from './sampling.ts';
import type { Numbers, Values } from './values.ts';
import { walkOf } from './walk.ts';
import { kernelOf } from './wasm-modules.ts';
import type { WitnessSetup } from './witness.ts';
import type { WorkerPool } from './worker-pool.ts';
import { witnessEngine } from './worker-program.ts';

/** Regions per tile: like a batch of samples, a tile fits into the first-level cache. */
const TILE = 64;
/** Work of at most this many evaluations, a few milliseconds, stays on the calling thread. */
const MAX_HERE = 1 << 16;
/**
 * The same limit for witnesses. A chunk has at least one region, and a small integral has few, so workers can hardly share its 2^16 witnesses:
 * one worker did 70 % of them, and messages took 2.6 ms of CPU time per integral beside 4 ms of work (_trial_).
 */
const MAX_WITNESSES_HERE = 1 << 17;
/** Regions from which on workers can share witnesses. */
const SHARED_REGIONS = 256;
/** The same limit where other sessions wait for the thread: this many evaluations take about as long as a message. */
const MAX_HERE_SHARED = 5 << 10;
/** Evaluations per chunk of regions: they take less than a millisecond. */
const REGION_CHUNK = 1 << 15;
/** The same in a large task, of CHUNKS_EACH chunks per worker at least: a message takes 20 µs of each thread. */
const LARGE_CHUNK = 1 << 17;
/** Chunks that a task of witnesses is cut into, at least, if it has as many regions. */
const CHUNKS_EACH = 16;
/** Results whose engines for witnesses are kept. */
const MAX_WITNESSED = 16;
/** What draws samples, loaded with the first task: a page whose regions reach the tolerance does without. */
const samplers = new OnDemand(() => import('./sampling.ts'));

interface Evaluating {
  rule: Rule;
  ranges: Ranges;
  /** One for each pass over the results. */
  passes: {
    engines: EngineGroup<EvaluatorSetup, unknown, RegionChunk, RegionChunkSums, unknown>;
    params(): Promise<Numbers>;
  }[];
}

interface Witnessing {
  engines: EngineGroup<WitnessSetup, unknown, Hearing, WitnessSums, unknown>;
  params(): Promise<Numbers>;
}

export class WorkerSession implements Session {
  readonly #pool: WorkerPool;
  readonly #shared: boolean;
  readonly #dims: number;
  readonly #values: Values;
  /** By the results that are sampled together; '' for an integrand that returns a number. */
  readonly #sampling = new Map<string, Sampling>();
  #evaluating: Evaluating | null = null;
  /** One for each result that witnesses were heard about. */
  readonly #witnessing = new Map<number, Witnessing>();
  #warning: string | null = null;

  constructor(pool: WorkerPool, dims: number, values: Values, { shared = false }: OpenOptions) {
    this.#pool = pool;
    this.#dims = dims;
    this.#values = values;
    this.#shared = shared;
  }

  get description(): string {
    return this.#values.description;
  }

  get warnings(): readonly string[] {
    return this.#warning === null ? [] : [this.#warning];
  }

  async sample(asked: SampleTask, part: Part, signal?: AbortSignal): Promise<PartSums> {
    await samplers.load();
    signal?.throwIfAborted();
    this.#pool.checkOpen();
    const { Sampling, plainTask, sizeOf } = samplers.now;
    const task = plainTask(asked);
    const { pass, lattice } = task;
    const key = `${lattice ? 'lattice ' : ''}${pass?.results.join() ?? ''}`;
    let sampling = this.#sampling.get(key);
    if (!sampling?.serves(task)) {
      sampling?.engines.close();
      sampling = new Sampling(task, this.#dims, this.#pool, this.#values);
      this.#sampling.set(key, sampling);
    }
    const { sums, withoutWorkers } = await sampling.sample(
      task,
      part,
      this.#share(sizeOf(task, part)),
      signal,
    );
    this.#note(withoutWorkers);
    return sums;
  }

  async regions(task: RegionTask, part: Part, signal?: AbortSignal): Promise<RegionSums> {
    signal?.throwIfAborted();
    this.#pool.checkOpen();
    const { ranges } = task;
    const rule = await loadRule(ranges.length, task.rule);
    if (this.#evaluating?.rule !== rule || !sameRanges(this.#evaluating.ranges, ranges)) {
      for (const pass of this.#evaluating?.passes ?? []) pass.engines.close();
      this.#evaluating = this.#makeEvaluating(rule, ranges);
    }
    const { passes } = this.#evaluating;
    if (passes.length === 1) return this.#evaluate(passes[0].engines, rule, task, part, signal);
    const sums: RegionSums[] = [];
    for (const { engines } of passes) sums.push(await this.#evaluate(engines, rule, task, part, signal));
    return joinResults(sums);
  }

  async #evaluate(
    engines: Evaluating['passes'][number]['engines'],
    rule: Rule,
    task: RegionTask,
    part: Part,
    signal: AbortSignal | undefined,
  ): Promise<RegionSums> {
    // a chunk is a whole number of tiles
    const all = (part.count * rule.points) / (CHUNKS_EACH * this.#pool.count);
    const chunk = Math.min(LARGE_CHUNK, Math.max(REGION_CHUNK, all));
    const size = TILE * Math.max(1, Math.round(chunk / (TILE * rule.points)));
    const end = part.first + part.count;
    let first = part.first;
    const next = (): RegionChunk | undefined => {
      if (first >= end) return undefined;
      const own = { first, count: Math.min(size, end - first) };
      first += size;
      const { count, centres, levels } = regionsOf(task, own);
      return { index: own.first, count, centres, levels };
    };
    const share = this.#share(part.count * rule.points);
    const { results, withoutWorkers } = await engines.work(null, next, share, signal);
    this.#note(withoutWorkers);
    return mergeRegions(
      part,
      results.map(({ index, count, ...sums }) => ({ ...sums, part: { first: index, count } })),
    );
  }

  async witness(task: WitnessTask, part: Part, signal?: AbortSignal): Promise<WitnessSums> {
    signal?.throwIfAborted();
    this.#pool.checkOpen();
    await loadRule(task.ranges.length, task.rule); // hearings ask for it
    const { engines } = this.#witnessingOf(task.result ?? 0);
    const cost = witnessCost(task) / task.count;
    const share = this.#share(part.count * cost, part.count < SHARED_REGIONS ? MAX_WITNESSES_HERE : MAX_HERE);
    const most = share === 'here' ? part.count : part.count / CHUNKS_EACH;
    const chunks = partsOf(part, Math.min(REGION_CHUNK / cost, most));
    const next = () => {
      const own = chunks.shift();
      return own && hearingOf(task, own);
    };
    const { results, withoutWorkers } = await engines.work(null, next, share, signal);
    this.#note(withoutWorkers);
    return mergeWitnesses(part, results);
  }

  async rebind(program: BoundProgram): Promise<void> {
    this.#warning = null; // told with the result before
    if (this.#values.rebind(program)) return this.close();
    for (const own of this.#engines()) own.engines.bind(await own.params());
  }

  close(): void {
    for (const { engines } of this.#engines()) engines.close();
    this.#sampling.clear();
    this.#witnessing.clear();
    this.#evaluating = null;
  }

  /** All groups of engines. */
  #engines(): (Sampling | Evaluating['passes'][number] | Witnessing)[] {
    return [...this.#sampling.values(), ...(this.#evaluating?.passes ?? []), ...this.#witnessing.values()];
  }

  #note(withoutWorkers: unknown): void {
    if (withoutWorkers === undefined) return;
    const { message, code } = withoutWorkers as Error & { code?: string };
    const why = code === 'ERR_ACCESS_DENIED' ? `${message}: --allow-worker permits workers` : message;
    this.#warning ??= `the calling thread did the work of the workers, and may have been blocked meanwhile (${why})`;
  }

  #share(calls: number, mostHere = MAX_HERE): Share {
    const evaluations = calls * this.#values.weight;
    if (evaluations <= (this.#shared ? MAX_HERE_SHARED : mostHere)) return 'here';
    return this.#shared && evaluations <= mostHere ? 'one worker' : 'all workers';
  }

  #makeEvaluating(rule: Rule, ranges: Ranges): Evaluating {
    return { rule, ranges, passes: this.#values.passes.map(pass => this.#makePass(rule, ranges, pass)) };
  }

  #makePass(rule: Rule, ranges: Ranges, results: readonly number[]): Evaluating['passes'][number] {
    const walk = walkOf(rule);
    const layout = evaluatorLayout(rule.dims, TILE, walk.slots, results.length);
    const name = `evaluator ${rule.dims} ${walk.slots} ${results.length}`;
    const module = kernelOf(name, async () => evaluatorModule(layout));
    const placed = this.#values.place(layout, TILE, results);
    const setup = Promise.all([module, placed]).then(
      ([kernel, { integrand, initial, end }]): EvaluatorSetup => ({
        kernel,
        integrand,
        initial,
        layout: { ...layout, end },
        walk,
        ranges,
        volume: volumeOf(ranges),
        innerRanges: ranges.map(innerRange),
      }),
    );
    const engines = new EngineGroup(this.#pool, 'evaluator', makeEvaluator, setup, this.#values);
    return { engines, params: async () => (await placed).params() };
  }

  /** The engines of the witnesses for a result. Of many results the first ones that were asked for are closed. */
  #witnessingOf(result: number): Witnessing {
    const own = this.#witnessing.get(result) ?? this.#makeWitnessing(result);
    this.#witnessing.set(result, own);
    for (const [other, { engines }] of this.#witnessing) {
      if (this.#witnessing.size <= MAX_WITNESSED) break;
      engines.close();
      this.#witnessing.delete(other);
    }
    return own;
  }

  #makeWitnessing(result: number): Witnessing {
    const values = this.#dims * BATCH * 8;
    const layout = {
      dims: this.#dims,
      pairs: modelPairs(this.#dims),
      batch: BATCH,
      points: 0,
      values,
      end: values + BATCH * 8,
      result,
    };
    const placed = this.#values.place(layout, BATCH, [result]);
    const setup = placed.then(
      ({ integrand, initial, end }): WitnessSetup => ({ integrand, initial, layout: { ...layout, end } }),
    );
    const engines = new EngineGroup(this.#pool, 'witness', witnessEngine, setup, this.#values);
    return { engines, params: async () => (await placed).params() };
  }
}

const sameRanges = (a: Ranges, b: Ranges): boolean =>
  a === b || a.every(([low, high], d) => low === b[d][0] && high === b[d][1]);
