/**
 * What the three methods of cubature share: their options, the evaluation of regions, and how a run ends.
 *
 * Estimates are lists with one for each result of the integrand. A run has converged when every goal meets its own tolerance,
 * and random points confirm each of them. Until then regions are halved for the goal that misses its tolerance most there.
 */
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
  goalsOf,
  type Iteration,
  type MethodProblem,
  type Outcome,
  type Run,
  type Status,
  type Step,
  statusAtEnd,
  toleranceAt,
} from '../method.ts';
import type { KnownRegions } from './known-regions.ts';
import { Looks } from './looks.ts';
import { CUBATURE_OPTIONS, type CubatureOptions } from './options.ts';
import type { PoolRecord } from './region-record.ts';
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

/**
 * The same for a sum that is 0 within its error: halving on would find digits of a number that is rounding, and that no relative
 * tolerance is met by. The errors of ∫ xy over [−1, 1]² stay at 4 to 7 times the noise, however many regions there are.
 */
export const CANCELLED_IN_NOISE = 16;

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
  /** How many results the integrand has, and which of them have to meet the tolerance. */
  readonly results: number;
  readonly goals: readonly number[];
  /** The witnesses of each goal, by its number. */
  readonly witnesses: ReadonlyMap<number, Witnesses>;
  readonly looks: Looks;
  /** Whether regions are in a pool in the device's memory. */
  readonly isInPool: boolean;
  /** The record of an earlier run with the same rule, and the bytes that that of this run may have. */
  readonly known: KnownRegions | PoolRecord | null;
  readonly maxState: number;
  /** What the rule said of regions, for a later run; null where regions are in a device's memory, or nobody asks. */
  readonly #remembered: RememberedRegions | null;
  /** The rounding error of a sum of values, relative to the sum of their absolute values; it is part of every error. */
  readonly noise: number;
  /** For each result, whether any region was not 0. */
  readonly #seen: boolean[];
  regions = 0;
  /** The estimates after each iteration. */
  readonly #reached: (readonly Estimate[])[] = [];

  /** `pooled`: the method puts its regions into the device's pool, if there is one. */
  constructor(problem: MethodProblem, options: CubatureOptions, pooled = false) {
    this.options = options;
    this.ledger = new Ledger(problem);
    this.results = problem.several?.count ?? 1;
    this.goals = goalsOf(problem);
    this.witnesses = new Map(
      this.goals.map(goal => [goal, new Witnesses(problem, this.ledger, options.witnesses, goal)]),
    );
    this.#seen = Array(this.results).fill(false);
    this.noise = NOISE_EPSILONS * problem.epsilon;
    this.rule = ruleFor(problem.ranges.length, options.rule);
    const { session, regions, keeps, points, ranges } = problem;
    this.isInPool = pooled && !!session.pool && this.results === 1 && !points;
    if (regions) checkPlace(regions, this.isInPool ? problem.kind : undefined);
    this.maxState = options.maxState ?? CUBATURE_OPTIONS.maxState.default;
    const same = regions?.rule === this.rule.name && ('pool' in regions || regions.results === this.results);
    this.known = same ? regions : null;
    this.#remembered =
      (keeps || regions) && !this.isInPool
        ? new RememberedRegions(
            session,
            { dims: ranges.length, results: this.results, rule: this.rule.name },
            this.maxState,
            this.known as KnownRegions | null,
          )
        : null;
    this.problem = this.#remembered ? { ...problem, session: this.#remembered.session } : problem;
    const least = 3 * this.rule.points;
    if (problem.maxEvaluations < least)
      throw new OptionError(
        'maxEvaluations',
        problem.maxEvaluations,
        `a region and its halves take ${least} in ${this.rule.dims} dimensions: raise it, or use method 'vegas+'`,
      );
    this.least = Math.min(2 ** problem.ranges.length, START_EVALUATIONS / 2 / this.rule.points);
    this.looks = new Looks(this);
    this.maxRegions = regionsIn(options.maxMemory, problem.ranges.length, false, this.results);
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
    const { values, count } = regions;
    this.begin(
      Array.from({ length: this.results }, (_, r) =>
        values.subarray(r * count, (r + 1) * count).reduce((a, b) => a + b, 0),
      ),
    );
    return regions;
  }

  /** Notes the first value of each result. Its error is unknown: its regions have no parents to compare with. */
  begin(values: readonly number[]): void {
    this.#reached.push(values.map(value => ({ value, error: Infinity })));
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
    let finite = true;
    const seen: boolean[] = [];
    for (let r = 0; r < this.results; r++) {
      seen.push(false);
      for (let i = r * count; i < (r + 1) * count; i++) {
        if (sums.values[i] !== 0 || sums.errors[i] !== 0) seen[r] = true;
        if (!(Math.abs(sums.values[i]) < Infinity)) finite = false;
      }
    }
    this.count(count, finite, seen, sums.nonFinite);
  }

  /** Counts regions that were evaluated; throws unless their values, or the sums, are `finite`. `seen`: results other than 0. */
  count(regions: number, finite: boolean, seen: readonly boolean[], nonFinite: NonFinite | null): void {
    this.ledger.spend(regions * this.rule.points);
    if (!finite)
      throw new IntegrationError('the integral is larger than a number can be; scale the integrand down.');
    for (let r = 0; r < this.results; r++) this.#seen[r] ||= seen[r];
    if (nonFinite) this.problem.onNonFinite(nonFinite);
  }

  /** The number of regions that the budget still allows to evaluate. */
  get affordable(): number {
    return Math.floor(this.ledger.budgetLeft / this.rule.points);
  }

  /**
   * Whether all regions of a goal are 0 after too few evaluations to say that the integrand is 0: a peak may lie between the
   * points, or was hit once and missed again when its region was halved.
   */
  isDark(now: readonly Estimate[]): boolean {
    const dark = this.goals.some(r => now[r].value === 0 && now[r].error === 0);
    return dark && this.ledger.evaluations < MAX_ZERO_EVALUATIONS;
  }

  /** Whether every goal meets its tolerance. */
  enough(now: readonly Estimate[]): boolean {
    return this.goals.every(goal => this.meets(now[goal], goal));
  }

  /**
   * Whether an estimate of a result meets the tolerance. A 0 does not meet a relative one, since anything that was missed is
   * infinitely more; nor does it after a value other than 0 was met once and not again.
   */
  meets(now: Estimate, result: number): boolean {
    const nothing = now.value === 0 && now.error === 0;
    if (nothing && (this.problem.absTol === 0 || this.#met(result))) return false;
    return now.error <= toleranceAt(this.problem, now.value, result);
  }

  /** Whether a value of a result other than 0 was met, by the rule or by witnesses. */
  #met(result: number): boolean {
    return this.#seen[result] || !!this.witnesses.get(result)?.seen;
  }

  /**
   * How large an error of each result is, by which regions are ranked: the tolerance, or the rounding error where that is more;
   * Infinity for results that are no goals.
   */
  scalesFor(sums: readonly { value: number; error: number; absolute: number }[]): Float64Array {
    const scales = new Float64Array(this.results).fill(Infinity);
    for (const r of this.goals) {
      const { value, error, absolute } = sums[r];
      const least = LEAST_ERROR_IN_NOISE * this.noise * absolute;
      scales[r] = Math.max(toleranceAt(this.problem, value, r), least) || error || 1;
    }
    return scales;
  }

  /** What witnesses are asked about: an estimate, with Σ |values| of the regions. */
  claim(now: Estimate, absolute: number): Claim {
    const rounding = 4 * this.noise * absolute + 4 * this.regions * Number.MIN_VALUE;
    return { ...now, absolute, regions: this.regions, rounding };
  }

  /** The regions that there must be before witnesses speak (witnesses.ts); 0 where there are enough, or the budget is too small. */
  async leastToWitness(court: Court, claims: readonly Claim[]): Promise<number> {
    const { rule, options, ledger } = this;
    if (options.witnesses === 0 || rule.dims < 2) return 0;
    let [least, most, later] = [0, 0, 0];
    for (const [goal, witnesses] of this.witnesses) {
      const wanted = witnesses.regionsBefore(claims[goal], rule.points);
      [least, most] = [Math.max(least, wanted.least), Math.max(most, wanted.most)];
      later += 2 * witnesses.reserve({ ...claims[goal], regions: 2 * most });
    }
    const regions = Math.min(most, Math.max(least, 2 * this.regions));
    // each of these regions has a parent, and halving all of them may end at twice as many
    const fits = 4 * regions * rule.points + later <= ledger.budgetLeft;
    if (!fits || regions <= this.regions || 2 * regions > this.maxRegions) return 0;
    for (const [goal, witnesses] of this.witnesses)
      if (await witnesses.areBlunt(court, claims[goal])) return regions;
    return 0;
  }

  /**
   * Lets witnesses confirm estimates that meet the tolerance, one goal after the other; undefined when they contradict one and
   * the run has to go on.
   */
  async confirm(court: Court, claims: readonly Claim[]): Promise<Status | undefined> {
    for (const [goal, witnesses] of this.witnesses) {
      const verdict = await witnesses.confirm(court, claims[goal]);
      if (verdict === 'confirmed') continue;
      if (verdict === 'contradicted') return undefined;
      this.warnings.push(
        'the errors of the rule meet the tolerance, but the budget has no evaluations left for random points to confirm them: raise maxEvaluations',
      );
      return 'budget';
    }
    return 'converged';
  }

  /** Evaluations of the last witnesses of all goals. */
  get witnessCost(): number {
    return [...this.witnesses.values()].reduce((sum, w) => sum + w.cost, 0);
  }

  /** Notes the estimates after an iteration. */
  *record(now: readonly Estimate[]): Generator<Iteration, void, Grant> {
    this.#reached.push(now);
    const first = now[this.goals[0]];
    const all = this.problem.several && listsOf(now);
    const record = { ...first, evaluations: this.ledger.evaluations, adapting: false, ...all };
    yield* this.ledger.note(record, all ? { ...first, several: all } : first);
  }

  /**
   * The outcome. A run that did not converge reports its last value, which has the most evaluations behind it, with the
   * smallest error of all iterations whose interval value ± error contains that last value.
   */
  outcome(status: Status): Outcome {
    const now = Array.from({ length: this.results }, (_, r) => this.#lastOf(r, status));
    const unseen = this.goals.filter(goal => !this.#seen[goal]);
    if (this.ledger.evaluations === 0)
      this.warnings.push('the run ended before anything was evaluated: there is no estimate');
    else if (unseen.length > 0 && status !== 'converged')
      this.warnings.push(
        `all of ${this.ledger.evaluations} values${this.#named(unseen)} were 0: either the integrand is 0, or it is not where they were taken; narrow the domain`,
      );
    return {
      ...now[this.goals[0]],
      ...(this.problem.several && { several: listsOf(now) }),
      witnesses: Math.min(...[...this.witnesses.values()].map(w => w.count)),
      status,
      evaluations: this.ledger.evaluations,
      regions: this.regions,
      chi2: 0,
      dof: 0,
      q: 1,
      warnings: this.warnings,
      ...(this.#remembered && { record: this.#remembered.record }),
      ...this.recorded(),
    };
  }

  /** The record of a pool in the device's memory. */
  protected recorded(): Pick<Outcome, 'record'> {
    return {};
  }

  /** The last estimate of a result, with the error of the outcome. */
  #lastOf(result: number, status: Status): Estimate {
    const reached = this.#reached.map(now => now[result]);
    const last = reached.at(-1) ?? { value: 0, error: Infinity };
    if (status === 'converged') return last;
    const standing = reached.filter(r => Math.abs(r.value - last.value) <= r.error);
    const error = standing.reduce((least, r) => Math.min(least, r.error), last.error);
    const least = Math.max(this.#contradicted(result, last.value), this.#lost(result, reached, last));
    return { value: last.value, error: Math.max(error, least) };
  }

  /** Results by name, for warnings; nothing for a single result. */
  #named(results: readonly number[]): string {
    const { several } = this.problem;
    return several ? ` of ${results.map(r => several.names[r]).join(', ')}` : '';
  }

  /** The error that the last contradiction by witnesses demands. */
  #contradicted(result: number, value: number): number {
    const contradiction = this.witnesses.get(result)?.contradiction;
    if (!contradiction) return 0;
    this.warnings.push(
      `random points contradict the rule${this.#named([result])}: something lies between its points; raise maxEvaluations, or use method 'vegas+'`,
    );
    const { value: found, spread, missing } = contradiction;
    return Math.abs(found - value) + 2 * spread + missing;
  }

  /** The error of a 0 when something else was met before: the last estimate that was not 0. */
  #lost(result: number, reached: readonly Estimate[], { value, error }: Estimate): number {
    if (value !== 0 || error !== 0 || !this.#met(result)) return 0;
    this.warnings.push(
      `a value${this.#named([result])} other than 0 was met, and not again: a peak is narrower than the regions; narrow the domain around it`,
    );
    const seen = reached.findLast(r => r.value !== 0 || (r.error > 0 && r.error < Infinity));
    return seen ? Math.abs(seen.value) + (seen.error < Infinity ? seen.error : 0) : Infinity;
  }
}

/** Refuses the record of a run whose regions were elsewhere: in the memory of another kind of device, or in lists of the host. */
function checkPlace(record: KnownRegions | PoolRecord, pool: string | undefined): void {
  const was = 'pool' in record ? record.pool : undefined;
  if (was === pool) return;
  const place = (kind?: string) => (kind === undefined ? 'in lists of the host' : `in the memory of ${kind}`);
  throw new OptionError(
    'resume',
    null,
    `use device '${was ?? 'cpu'}', or leave it out`,
    w => `${w.quoted('resume')} is a state of regions ${place(was)}, not ${place(pool)}`,
  );
}

/** Runs a method to its outcome; an abort and the end of the time become its status. */
export async function* runCubature(run: Cubature, method: () => Step<Status>): Run {
  return run.outcome(yield* statusAtEnd(method(), run.problem.signal));
}

/** The court of a method whose regions are in a store. */
export function storeCourt({ problem, rule }: Cubature, store: RegionStore): Court {
  const { session, ranges, signal } = problem;
  const blame = new Blame(task => session.witness(task, allRegions(task), signal));
  return {
    witness: draw => blame.witness(store, { rule: rule.name, ranges }, draw),
    blame: async (who, least, result) => blame.put(store, who, least, result),
  };
}

/** Estimates of several results as a record and an outcome have them. */
function listsOf(now: readonly Estimate[]): { values: number[]; errors: number[] } {
  return { values: now.map(r => r.value), errors: now.map(r => r.error) };
}
