/**
 * A measurement: the iterations that enter the result, the witnesses (witness.ts) beside them, and what may be claimed.
 *
 * The error of a claim is that of the average, or more:
 *
 * - error/c² where only a part c of the pieces that should carry the variance do (trust.ts);
 * - what a step may hide between samples (trust.ts, jumps.ts);
 * - what lies closer to singular ends than samples come (ends/end-excess.ts).
 *
 * A claim needs an error within the tolerance for every goal, iterations that agree (χ²), and enough samples to have seen what there is.
 */
import { type Combined, combineAll, type Estimate } from '../combine.ts';
import { isZeroEstimate, ofResult, toleranceOf } from '../several-estimates.ts';
import {
  BETWEEN_POINTS,
  believable,
  claimedError,
  disagreement,
  FEW_SAMPLES,
  HIDDEN_STEP,
  hiddenBetweenPoints,
  hiddenError,
  isConstant,
  isZeroClaim,
  STEEP_ENDS,
  samplesFor,
  smallestQ,
  unseenAtEnds,
} from '../trust.ts';
import type { VegasRun } from './run.ts';
import { type Box, MOST_WITNESSES, WITNESS_PART } from './witness.ts';

export class Measurement {
  readonly #run: Pick<VegasRun, 'problem' | 'goals' | 'ledger' | 'sampling'>;
  #counted: readonly Estimate[] = [];
  /** The average of `#counted`; null while there is none. */
  #now: Combined | null = null;
  /** The boxes where witnesses speak against the measurement. */
  neglected: readonly Box[] = [];
  /** Samples that a claim needs at least; 0 when the user prescribes iterations. */
  leastSamples = 0;
  /** Whether witnesses are drawn: by runs that learn until a tolerance is met. */
  hasWitnesses = false;
  /** Evenly spread samples that one of several goals needs before it is claimed to be 0; 0 when the user prescribes iterations. */
  zeroSamples = 0;
  /** Samples that a claim about a constant needs at least; 0 when the user prescribes iterations. */
  constantSamples = 0;
  #witnesses = 0;
  /** Witnesses of earlier measurements, whose map was another one. */
  #earlier = 0;
  /** For each goal, the error that a claim needs for what lies at singular ends; empty until all else allows a claim. */
  #unseen: readonly number[] = [];

  constructor(run: VegasRun) {
    this.#run = run;
  }

  /** Begins anew; what was measured before is not trusted. */
  begin(): void {
    this.#run.ledger.discard();
    this.#counted = [];
    this.#now = null;
    this.neglected = [];
    this.#unseen = [];
    this.#earlier = this.#witnesses;
  }

  /** Witnesses that should be drawn by the time that another `more` evaluations are made. */
  witnessesDue(more = 0): number {
    if (!this.hasWitnesses) return 0;
    const due = Math.floor(WITNESS_PART * (this.#run.ledger.evaluations + more)) - this.#witnesses;
    return Math.max(0, Math.min(due, MOST_WITNESSES + this.#earlier - this.#witnesses));
  }

  /**
   * Draws the witnesses that are due, more of them where a goal of the average `now` is 0 so far, and notes what they speak against;
   * `estimate` is what they are compared with.
   */
  async witness(now: Estimate, estimate: Estimate): Promise<void> {
    const { ledger, sampling, goals } = this.#run;
    const isZero = goals.some(g => isZeroEstimate(ofResult(now, g)));
    const wanted = Math.max(this.witnessesDue(), isZero ? this.zeroSamples - this.#witnesses : 0);
    const due = this.hasWitnesses ? Math.min(wanted, ledger.budgetLeft) : 0;
    if (due >= 2) this.#witnesses += await sampling.witness(due, estimate);
    this.neglected = sampling.now.contradictions(estimate);
  }

  /** The iterations that enter the result; lattices are one of them, which grows. */
  get counted(): readonly Estimate[] {
    return this.#counted;
  }

  /** Sets the iterations that enter the result, at least one. */
  count(estimates: readonly Estimate[]): void {
    this.#counted = estimates;
    this.#now = combineAll(estimates, this.#run.goals[0]);
  }

  /** The average of the iterations, of which there is at least one. */
  get now(): Combined {
    return this.#now!;
  }

  /** Whether enough samples were 0, and no other was seen, to claim 0. */
  get isZero(): boolean {
    return isZeroClaim(this.#run.problem, this.#run.ledger, this.#run.sampling.now);
  }

  /** Whether the tolerance may be claimed. */
  async enough(): Promise<boolean> {
    if (this.isZero) return true;
    if (this.counted.length === 0 || !this.#run.sampling.now.seen) return false;
    const { now } = this;
    if (now.evaluations < this.#leastSamples(now) || isZeroEstimate(now)) return false;
    const isMet = (g: number): boolean => {
      const error = this.#claimed(now, g);
      // of several results one may be 0 everywhere
      const met = error <= this.#tolerance(now, g) || (error === 0 && this.#isZeroGoal(now, g));
      return met && ofResult(now, g).q >= smallestQ(this.#run.problem);
    };
    if (!this.#run.goals.every(isMet)) return false;
    const { bins } = this.#run.sampling.now;
    const nearest = this.#run.sampling.now.nearest(now.evaluations);
    this.#unseen = await unseenAtEnds(this.#run.problem, nearest, now.evaluations, 1 / bins);
    return !this.isSteep(now);
  }

  /** Whether one of several goals is 0 as far as samples tell, and there were enough of those that are spread evenly. */
  #isZeroGoal(now: Combined, goal: number): boolean {
    if (!now.results || ofResult(now, goal).value !== 0) return false;
    return (this.hasWitnesses ? this.#witnesses : now.evaluations) >= this.zeroSamples;
  }

  /** Whether more than the tolerance of a goal may lie closer to singular ends than samples come. */
  isSteep(now: Combined): boolean {
    return this.#run.goals.some(g => (this.#unseen[g] ?? 0) > this.#tolerance(now, g));
  }

  /** Whether the iterations agree and enough pieces carry their variance. */
  isBelievable(now: Combined): boolean {
    return believable(this.#run.problem, this.counted, now);
  }

  /** The samples that a claim still lacks: errors fall as 1/√N, what steps may hide as 1/N. */
  missingSamples(now: Combined): number {
    const times = this.#run.goals.map(g => {
      const own = ofResult(now, g);
      if (own.error === 0 && now.results) return 0; // of several results one may be 0 everywhere
      const tolerance = this.#tolerance(now, g);
      const hidden = this.#hidden(now, g);
      const times = samplesFor(this.#estimatesOf(g), own, tolerance);
      return Math.max(times, hidden > 0 ? hidden / tolerance : 0); // the tolerance may be 0
    });
    return Math.max(
      1.1 * now.evaluations * (Math.max(...times) - 1),
      this.#leastSamples(now) - now.evaluations,
    );
  }

  #leastSamples(now: Combined): number {
    return isConstant(this.#run.problem, now)
      ? Math.max(this.leastSamples, this.constantSamples)
      : this.leastSamples;
  }

  /** The error of a result, which allows for what samples do not show also without a claim. */
  errorOf(now: Combined, result: number, claimed: boolean): number {
    const error = claimed
      ? this.#claimed(now, result)
      : Math.max(ofResult(now, result).error, this.#hidden(now, result));
    return Math.max(error, this.#unseen[result] ?? 0);
  }

  /** The warning for a run without a claim whose estimate is not trusted, or whose error alone met the tolerance; null for others. */
  doubt(now: Combined): string | null {
    const isMet = (g: number) => ofResult(now, g).error <= this.#tolerance(now, g);
    if (this.isBelievable(now) && !this.#run.goals.every(isMet)) return null;
    const disagree = disagreement(this.#run.problem, now, 'the iterations disagree (chi2/dof');
    if (disagree) return disagree;
    if (this.isSteep(now)) return STEEP_ENDS;
    if (!this.#run.goals.some(g => this.#hidden(now, g) > this.#tolerance(now, g))) return FEW_SAMPLES;
    return now.randomError === undefined ? HIDDEN_STEP : BETWEEN_POINTS;
  }

  /** The error of a claim, but for what lies at singular ends. */
  #claimed(now: Combined, result: number): number {
    const own = ofResult(now, result);
    if (!(own.error > 0)) return own.error;
    return Math.max(own.error, claimedError(this.#estimatesOf(result), own), this.#hidden(now, result));
  }

  /** What steps may hide of each result. */
  hiddenOfEach(): number[] {
    const { now } = this;
    return (now.results?.each ?? [now]).map((_, r) => this.#hidden(now, r));
  }

  /** What steps may hide of a result. */
  #hidden(now: Combined, result: number): number {
    const own = ofResult(now, result);
    const { now: sampling } = this.#run.sampling;
    if (own.randomError !== undefined)
      return hiddenBetweenPoints(own.randomError, own.evaluations, this.#run.problem.ranges.length);
    if (!(own.error > 0)) return 0;
    return hiddenError(own, {
      spread: sampling.units.spreadAbout(own.value, result),
      largest: sampling.units.largestSpread(result),
      perAxis: sampling.perAxis,
    });
  }

  #tolerance(now: Combined, result: number): number {
    return toleranceOf(this.#run.problem, now, result);
  }

  /** The estimates of one result. */
  #estimatesOf(result: number): Estimate[] {
    return this.counted.map(e => ofResult(e, result));
  }
}
