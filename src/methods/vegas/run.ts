/**
 * A run of VEGAS, as its parts share it: the map and the samples (sampling.ts), what was spent, what was learned and measured, and the
 * one step that all parts make, an iteration. learning-phase.ts decides about iterations that learn; a `Measuring` about
 * those that enter the result.
 */
import type { Estimate } from '../combine.ts';
import { Ledger } from '../ledger.ts';
import { goalsOf, type MethodProblem, type Running, type Status, type Step } from '../method.ts';
import { recordOf, runningOf } from '../several-estimates.ts';
import type { Knobs } from './knobs.ts';
import { Measurement } from './measurement.ts';
import { RecordedSampling } from './recorded-sampling.ts';

/** How a run measures once its map is learned: with samples (with-samples.ts), with lattices, or with what needs less. */
export interface Measuring {
  /** The evaluations that a measurement will need, after iterations of this size, of which `last` was the last. */
  planned(last: Estimate, size: number): Step<number>;
  /**
   * Measures until the tolerance is met or the budget is spent; undefined when the measurement is not trusted. `need`: evaluations as
   * they were planned; `learned`: samples per iteration that the map was learned from.
   */
  measure(need: number, learned: number, adaptive: boolean): Step<Status | undefined>;
  /** The estimate that witnesses are compared with, where that is not the one that the run has come to. */
  forWitnesses?(running: Estimate): Estimate;
  /** Evaluations that the run should still need, where it knows better than the square root law. */
  stillNeeded?(running: Estimate, counts: boolean): number | undefined;
}

/** Samples per iteration, at least; fewer where a deadline leaves time for few such iterations. */
export const FEWEST_SAMPLES = 64;
/** Samples per iteration, at most, so that progress is reported and time limits are kept. */
export const MAX_ITERATION_SAMPLES = 2 ** 26;
/** Learning goes on after a measurement that is not trusted if this many times the samples of an iteration are left. */
export const AGAIN = 20;

export class VegasRun {
  readonly problem: MethodProblem;
  readonly goals: readonly number[];
  readonly knobs: Knobs;
  readonly ledger: Ledger;
  readonly sampling: RecordedSampling;
  readonly measurement: Measurement;
  readonly measuring: Measuring;
  /** The estimates of iterations that do not enter the result. */
  readonly learned: Estimate[] = [];
  /** Evaluations up to the first iteration with a value other than 0; 0 when that was the first iteration of all. */
  dark = 0;
  /** Samples per iteration, at least. */
  fewest = FEWEST_SAMPLES;
  /** The estimate that was told last. */
  told: Running | undefined;

  constructor(problem: MethodProblem, knobs: Knobs, measuring: (run: VegasRun) => Measuring) {
    this.problem = problem;
    this.goals = goalsOf(problem);
    this.knobs = knobs;
    this.ledger = new Ledger(problem);
    this.sampling = new RecordedSampling(problem, this.ledger, knobs);
    this.measurement = new Measurement(this);
    this.measuring = measuring(this);
  }

  /** Whether any sample was not 0. */
  get seen(): boolean {
    return this.sampling.now.seen;
  }

  /** Whether learning can go on after a measurement, if there is budget for it and for another measurement. */
  mayLearnAgain(learned: number): boolean {
    return this.ledger.left > AGAIN * learned && !this.ledger.lastIteration;
  }

  /**
   * Makes an iteration. `counts`: it enters the result. `following`: iterations of as many evaluations that are likely to come next, of those
   * that do not adapt; a device may sample them along.
   */
  async *iterate(
    evaluations: number,
    adapting: boolean,
    counts: boolean,
    { alpha, following }: { alpha?: number | undefined; following?: number } = {},
  ): Step<Estimate> {
    const size = Math.floor(Math.min(evaluations, Math.max(this.fewest, this.ledger.budgetLeft)));
    const wasDark = !this.seen;
    // one that was sampled along takes no time, and a run with a deadline plans by the time that iterations take
    const along = this.ledger.hasDeadline ? 0 : following;
    const estimate = adapting
      ? await this.sampling.adapt(size, alpha)
      : await this.sampling.measure(size, along);
    if (!this.seen || (this.dark > 0 && wasDark)) this.dark = this.ledger.evaluations;
    if (counts) this.measurement.count([...this.measurement.counted, estimate]);
    else this.learned.push(estimate);
    yield* this.note(estimate, counts);
    return estimate;
  }

  /** Notes an iteration; beside one that counts, which is in the measurement already, witnesses are drawn. */
  async *note(estimate: Estimate, counts: boolean): Step<void> {
    const { measurement, measuring } = this;
    const running = counts ? measurement.now : estimate;
    if (counts) await measurement.witness(running, measuring.forWitnesses?.(running) ?? running);
    const told = runningOf(running);
    if (counts && this.problem.session.noise) told.leastErrors = measurement.hiddenOfEach();
    const needed = measuring.stillNeeded?.(running, counts);
    if (needed !== undefined) told.needed = needed;
    this.told = told;
    yield* this.ledger.note(recordOf(estimate, !counts), told);
  }
}
