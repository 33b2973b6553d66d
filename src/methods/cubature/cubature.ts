/** What the three methods of cubature share: their options, the evaluation of regions, and how a run ends. */
import { IntegrationError } from '../../options/integration-error.ts';
import { OptionError } from '../../options/option-error.ts';
import type { NonFinite } from '../../tasks/part.ts';
import { Blame } from '../../tasks/pool/blame.ts';
import type { Estimate } from '../../tasks/pool/errors.ts';
import { type Regions, regionsIn, uniformSplit } from '../../tasks/pool/regions.ts';
import type { RegionStore } from '../../tasks/pool/store.ts';
import { allRegions } from '../../tasks/region.ts';
import { type Rule, ruleFor } from '../../tasks/rules.ts';
import { Ledger } from '../ledger.ts';
import {
  type Grant,
  type Iteration,
  type MethodProblem,
  type Outcome,
  type Run,
  type Status,
  type Step,
  statusOf,
  toleranceAt,
} from '../method.ts';
import { CUBATURE_OPTIONS, type CubatureOptions } from './options.ts';
import { RememberedRegions } from './remembered-regions.ts';
import { type Claim, type Court, Witnesses } from './witnesses.ts';

/** Without a value other than 0 after this many evaluations, an integrand counts as 0. */
const MAX_ZERO_EVALUATIONS = 2 ** 20;

/** Relative rounding error of a sum, in epsilons: 8·2^-53 = 2^-50 for float64. */
const NOISE_EPSILONS = 8;

/** Evaluations that may go into halving every axis once at the start. */
const START_EVALUATIONS = 2 ** 20;

/** The null rules of a region see rounding too: the errors of all regions do not sum to less than this times the noise. */
export const LEAST_ERROR_IN_NOISE = 4;

export class Cubature {
  readonly problem: MethodProblem;
  readonly options: CubatureOptions;
  readonly rule: Rule;
  readonly warnings: string[] = [];
  /** Regions that fit into memory. */
  readonly maxRegions: number;
  /** The regions that there must be before one is finished or a claim is made: 2^n, every axis halved once, if affordable. */
  readonly least: number;
  readonly ledger: Ledger;
  readonly witnesses: Witnesses;
  /** What the rule said of regions, for a later run; null where regions are in a device's memory, or nobody asks. */
  readonly #remembered: RememberedRegions | null;
  /** The rounding error of a sum of values, relative to the sum of their absolute values; it is part of every error. */
  readonly noise: number;
  /** Whether any region was not 0. */
  seen = false;
  regions = 0;
  /** The estimate after each iteration. */
  readonly #reached: Estimate[] = [];

  /** `pooled`: the method puts its regions into the device's pool, if there is one. */
  constructor(problem: MethodProblem, options: CubatureOptions, pooled = false) {
    this.options = options;
    this.ledger = new Ledger(problem);
    this.witnesses = new Witnesses(problem, this.ledger, options.witnesses);
    this.noise = NOISE_EPSILONS * problem.epsilon;
    this.rule = ruleFor(problem.ranges.length, options.rule);
    const { session, regions, keeps } = problem;
    const remembers = (keeps || regions) && !(pooled && session.pool);
    const maxState = options.maxState ?? CUBATURE_OPTIONS.maxState.default;
    this.#remembered = remembers
      ? new RememberedRegions(session, problem.ranges.length, this.rule.name, maxState, regions)
      : null;
    if (regions && !remembers)
      this.warnings.push(
        "the state was not used: this device keeps regions in its own memory, and the run was made anew; use device: 'cpu'",
      );
    this.problem = this.#remembered ? { ...problem, session: this.#remembered.session } : problem;
    const least = 3 * this.rule.points;
    if (problem.maxEvaluations < least)
      throw new OptionError(
        'maxEvaluations',
        problem.maxEvaluations,
        `a region and its halves take ${least} in ${this.rule.dims} dimensions: raise it, or use method 'vegas+'`,
      );
    this.least = Math.min(2 ** problem.ranges.length, START_EVALUATIONS / 2 / this.rule.points);
    this.maxRegions = regionsIn(options.maxMemory, problem.ranges.length);
  }

  /** The parts of each axis at the start; throws when the regions do not fit into memory or budget. */
  checkedSplit(maxRegions: number, split = this.options.split ?? CUBATURE_OPTIONS.split.default): number {
    const { ranges, maxEvaluations } = this.problem;
    const count = split ** ranges.length;
    const most = Math.min(Math.floor(maxEvaluations / this.rule.points / 3), maxRegions / 2);
    if (count > most)
      throw new OptionError(
        'cubature.split',
        split,
        w =>
          `${w.name('maxEvaluations')} and maxMemory allow ${Math.floor(most)}: pass less, or leave it out`,
        w =>
          `${w.quoted('cubature.split')} is ${split}, which makes ${count} regions in ${ranges.length} dimensions`,
      );
    return split;
  }

  /** The regions to start with, evaluated: every axis cut into `split` parts. */
  async start(split?: number): Promise<Regions> {
    const parts = this.checkedSplit(this.maxRegions, split);
    const regions = uniformSplit(this.problem.ranges, Math.log2(parts));
    await this.evaluate(regions);
    this.begin(regions.values.reduce((a, b) => a + b, 0));
    return regions;
  }

  /** Notes the first value. Its error is unknown: its regions have no parents to compare with. */
  begin(value: number): void {
    this.#reached.push({ value, error: Infinity });
  }

  /** Fills in values, errors and axes. */
  async evaluate(regions: Regions): Promise<void> {
    const { session, ranges, signal } = this.problem;
    const { count, centres, levels } = regions;
    const task = { rule: this.rule.name, ranges, count, centres, levels };
    const sums = await session.regions(task, allRegions(task), signal);
    regions.values = sums.values;
    regions.errors = sums.errors;
    regions.axes = sums.axes;
    const largest = sums.values.find(v => !(Math.abs(v) < Infinity)) ?? 0;
    const seen = sums.values.some(v => v !== 0) || sums.errors.some(e => e !== 0);
    this.count(count, largest, seen, sums.nonFinite);
  }

  /** Counts regions that were evaluated; throws when `value`, one of their values or the sum, is not finite. */
  count(regions: number, value: number, seen: boolean, nonFinite: NonFinite | null): void {
    this.ledger.spend(regions * this.rule.points);
    if (!(Math.abs(value) < Infinity))
      throw new IntegrationError('the integral is larger than a number can be; scale the integrand down.');
    this.seen ||= seen;
    if (nonFinite) this.problem.onNonFinite(nonFinite);
  }

  /** The number of regions that the budget still allows to evaluate. */
  get affordable(): number {
    return Math.floor(this.ledger.budgetLeft / this.rule.points);
  }

  /**
   * Whether all regions are 0 after too few evaluations to say that the integrand is 0: a peak may lie between the
   * points, or was hit once and missed again when its region was halved.
   */
  isDark({ value, error }: Estimate): boolean {
    return value === 0 && error === 0 && this.ledger.evaluations < MAX_ZERO_EVALUATIONS;
  }

  /**
   * Whether an estimate meets the tolerance. A 0 does not meet a relative one, since anything that was missed is infinitely
   * more; nor does it after a value other than 0 was met once and not again.
   */
  enough(now: Estimate): boolean {
    const nothing = now.value === 0 && now.error === 0;
    if (nothing && (this.problem.absTol === 0 || this.seen || this.witnesses.seen)) return false;
    return now.error <= toleranceAt(this.problem, now.value);
  }

  /** What witnesses are asked about: an estimate, with Σ |values| of the regions. */
  claim(now: Estimate, absolute: number): Claim {
    const rounding = 4 * this.noise * absolute + 4 * this.regions * Number.MIN_VALUE;
    return { ...now, absolute, regions: this.regions, rounding };
  }

  /** Lets witnesses confirm an estimate that meets the tolerance; undefined when they contradict and the run has to go on. */
  async confirm(court: Court, claim: Claim): Promise<Status | undefined> {
    const verdict = await this.witnesses.confirm(court, claim);
    if (verdict === 'confirmed') return 'converged';
    if (verdict === 'contradicted') return undefined;
    this.warnings.push(
      'the errors of the rule meet the tolerance, but the budget has no evaluations left for random points to confirm them: raise maxEvaluations',
    );
    return 'budget';
  }

  /** Notes the estimate after an iteration. */
  *record(now: Estimate): Generator<Iteration, void, Grant> {
    this.#reached.push(now);
    yield* this.ledger.note({ ...now, evaluations: this.ledger.evaluations, adapting: false }, now);
  }

  /**
   * The outcome. A run that did not converge reports its last value, which has the most evaluations behind it, with the
   * smallest error of all iterations whose interval value ± error contains that last value.
   */
  outcome(status: Status): Outcome {
    const last = this.#reached.at(-1) ?? { value: 0, error: Infinity };
    const standing = this.#reached.filter(r => Math.abs(r.value - last.value) <= r.error);
    let error = standing.reduce((least, r) => Math.min(least, r.error), last.error);
    if (status !== 'converged') error = Math.max(error, this.#contradicted(last.value), this.#lost(last));
    if (this.ledger.evaluations === 0)
      this.warnings.push('the run ended before anything was evaluated: there is no estimate');
    else if (!this.seen && status !== 'converged')
      this.warnings.push(
        `all of ${this.ledger.evaluations} values were 0: either the integrand is 0, or it is not where they were taken; narrow the domain`,
      );
    return {
      value: last.value,
      error: status === 'converged' ? last.error : error,
      witnesses: this.witnesses.count,
      status,
      evaluations: this.ledger.evaluations,
      regions: this.regions,
      chi2: 0,
      dof: 0,
      q: 1,
      warnings: this.warnings,
      ...(this.#remembered && { record: this.#remembered.record }),
    };
  }

  /** The error that the last contradiction by witnesses demands. */
  #contradicted(value: number): number {
    const { contradiction } = this.witnesses;
    if (!contradiction) return 0;
    this.warnings.push(
      "random points contradict the rule: something lies between its points; raise maxEvaluations, or use method 'vegas+'",
    );
    return Math.abs(contradiction.value - value) + 2 * contradiction.spread;
  }

  /** The error of a 0 when something else was met before: the last estimate that was not 0. */
  #lost({ value, error }: Estimate): number {
    if (value !== 0 || error !== 0 || !(this.seen || this.witnesses.seen)) return 0;
    this.warnings.push(
      'a value other than 0 was met, and not again: a peak is narrower than the regions; narrow the domain around it',
    );
    const seen = this.#reached.findLast(r => r.value !== 0 || (r.error > 0 && r.error < Infinity));
    return seen ? Math.abs(seen.value) + (seen.error < Infinity ? seen.error : 0) : Infinity;
  }
}

/** Runs a method to its outcome; an abort and the end of the time become its status. */
export async function* runCubature(run: Cubature, method: () => Step<Status>): Run {
  let status: Status;
  try {
    status = yield* method();
  } catch (e) {
    status = statusOf(e, run.problem.signal);
  }
  return run.outcome(status);
}

/** The court of a method whose regions are in a store. */
export function storeCourt({ problem, rule }: Cubature, store: RegionStore): Court {
  const { session, ranges, signal } = problem;
  const blame = new Blame(task => session.witness(task, allRegions(task), signal));
  return {
    witness: draw => blame.witness(store, { rule: rule.name, ranges }, draw),
    blame: async (who, least) => blame.put(store, who, least),
  };
}
