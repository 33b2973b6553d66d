/**
 * Samples grids of blocks, for ZMC: makes tasks with a number of their own, and notes what was spent, seen and found. What it has
 * come to is data (`After` in record.ts), so that a run can go on from there.
 */
import { innerRange } from '../../integrand/inner-range.ts';
import { STREAM } from '../../random/philox.ts';
import type { NonFinite } from '../../tasks/part.ts';
import { merge, type ResultPass, type SampleSums, type SampleTask, wholeOf } from '../../tasks/sample.ts';
import type { Ledger } from '../ledger.ts';
import type { MethodProblem } from '../method.ts';
import { inPass } from '../result-passes.ts';
import type { Grid, Slab } from './blocks.ts';
import type { After } from './record.ts';

/** Samples of the pilot, which finds the size of values where no search does. */
const PILOT_SAMPLES = 256;

export class BlockSampler {
  readonly #problem: MethodProblem;
  readonly #ledger: Ledger;
  #calls = 0;
  /** The unit of values. With several results each has its own (result-passes.ts), and this is 1. */
  unit = 1;
  /** The largest mean of a block that the search met. */
  size = 0;
  seen = false;
  /** Whether any value was not finite, and counted as 0. */
  nonFinite = false;
  /** Values that were not finite in the present step. */
  #found: NonFinite[] = [];

  constructor(problem: MethodProblem, ledger: Ledger) {
    this.#problem = problem;
    this.#ledger = ledger;
  }

  /** The whole domain as one block. */
  get whole(): Slab {
    const { ranges } = this.#problem;
    return { box: ranges.map(innerRange), strata: ranges.map(() => 1), first: 0, blocks: 1 };
  }

  get pilotSamples(): number {
    return Math.max(2, Math.min(PILOT_SAMPLES, Math.floor(this.#ledger.iterationLimit)));
  }

  /** Evaluations that can still be made. */
  get left(): number {
    return this.#ledger.left;
  }

  /** Samples an integrand that returns a number. */
  async one(grid: Grid, counts: number, stream: number, cubes = true): Promise<SampleSums> {
    const task = this.#task(grid, counts, stream, cubes);
    const sums = await this.#run(task, stream);
    this.#ledger.spend(sums.evaluations);
    if (stream === STREAM.search || stream === STREAM.pilot)
      this.size = sums.means!.reduce((a, b) => Math.max(a, Math.abs(b)), this.size);
    return sums;
  }

  /** Samples results of an integrand in passes over the same points. */
  async passes(
    grid: Grid,
    counts: number,
    stream: number,
    passes: readonly ResultPass[],
    cubes: boolean,
  ): Promise<SampleSums[]> {
    const task = this.#task(grid, counts, stream, cubes);
    const found: SampleSums[] = [];
    for (const pass of passes) found.push(await this.#run(inPass(task, pass), stream));
    this.#ledger.spend(found[0].evaluations);
    return found;
  }

  /** What comes next is sampled at the points of what was sampled since `call`, and spends nothing. */
  async again<T>(call: number, sample: () => Promise<T>): Promise<T> {
    const { evaluations } = this.#ledger;
    this.#calls = call;
    const found = await sample();
    this.#ledger.evaluations = evaluations;
    return found;
  }

  get calls(): number {
    return this.#calls;
  }

  /** Where the run is, and what it has spent and found since it had made `before` evaluations. */
  after(before: number): After {
    const { unit, size, seen, nonFinite } = this;
    const spent = this.#ledger.evaluations - before;
    const after: After = { calls: this.#calls, unit, size, seen, nonFinite, spent, found: this.#found };
    this.#found = [];
    return after;
  }

  /** Goes where a step has led that was recorded. */
  take({ calls, size, seen, nonFinite, spent, found }: After): void {
    this.#calls = calls;
    this.size = size;
    this.seen = seen;
    this.nonFinite = nonFinite;
    this.#ledger.spend(spent);
    for (const own of found) this.#problem.onNonFinite(own);
  }

  #task({ box, strata }: Grid, counts: number, stream: number, cubes: boolean): SampleTask {
    return {
      key: this.#problem.key,
      iteration: stream === STREAM.probe ? 0 : this.#calls++, // runs without a deadline have the same numbers
      stream,
      bins: 1,
      edges: Float64Array.from(box.flat()),
      strata,
      counts,
      unit: this.unit,
      adapt: null,
      cubes,
    };
  }

  async #run(task: SampleTask, stream: number): Promise<SampleSums> {
    const { session, signal, onNonFinite } = this.#problem;
    const sums = merge(task, [await session.sample(task, wholeOf(task), signal)]);
    const probing = stream === STREAM.probe;
    if (!probing) this.seen ||= isSeen(sums);
    if (sums.nonFinite) {
      onNonFinite(sums.nonFinite);
      if (!probing) this.#found.push(sums.nonFinite);
    }
    this.nonFinite ||= !!sums.nonFinite;
    return sums;
  }
}

const isSeen = ({ sum, variance, several }: SampleSums): boolean =>
  several
    ? several.sums.some(s => s !== 0) || several.covariances.some(c => c !== 0)
    : sum !== 0 || variance !== 0;
