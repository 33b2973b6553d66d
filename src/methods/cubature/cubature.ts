/** What the three methods of cubature share: their options, the evaluation of regions, and how a run ends. */
import type { IterationRecord, Status } from '../../result.ts';
import { type MethodProblem, type Outcome, toleranceAt } from '../method.ts';
import { NOISE } from './error.ts';
import { bytesOf, type Regions } from './regions.ts';
import { RULES, type Rule, type RuleName, ruleFor } from './rules.ts';

export interface CubatureOptions {
  /** The rule; by default Cuhre's choice for the number of dimensions. */
  rule?: RuleName;
  /** `pagani`, `two-phase`: parts of each axis at the start, a power of two (d in the paper). */
  split?: number;
  /** Bytes that lists of regions may take; by default a quarter of the machine's memory. */
  maxMemory?: number;
  /** `pagani`: drop regions whose relative error is small. By default until region values of both signs are seen. */
  relErrFilter?: boolean;
  /** `two-phase`: regions that phase I hands to phase II, one a processor. */
  processors?: number;
  /** `two-phase`: regions that a processor can hold. */
  perProcessor?: number;
}

export const CUBATURE_OPTIONS = [
  'rule',
  'split',
  'maxMemory',
  'relErrFilter',
  'processors',
  'perProcessor',
] as const;

export { RULES };

/** An estimate of the whole integral. */
export interface Estimate {
  value: number;
  error: number;
}

/** Without a value other than 0 after this many evaluations, an integrand counts as 0. */
export const DARK = 2 ** 20;

/** Evaluations that may go into halving everything at the start. */
const START = 2 ** 20;

export class Cubature {
  readonly problem: MethodProblem;
  readonly options: CubatureOptions;
  readonly rule: Rule;
  readonly warnings: string[] = [];
  /** Regions that fit into memory. */
  readonly maxRegions: number;
  /** Regions before anything is finished or claimed: every axis halved once, as far as that is cheap. */
  readonly least: number;
  evaluations = 0;
  /** Whether any region was not 0. */
  seen = false;
  regions = 0;
  #iterations = 0;
  /** Estimates that iterations came to. */
  readonly #reached: Estimate[] = [];

  constructor(problem: MethodProblem, options: CubatureOptions) {
    this.problem = problem;
    this.options = options;
    this.rule = ruleFor(problem.ranges.length, options.rule);
    const least = 3 * this.rule.points;
    if (problem.maxEvaluations < least)
      throw new RangeError(
        `integrate: \`maxEvaluations\` is ${problem.maxEvaluations}; a region and its halves take ${least} in ${this.rule.dims} dimensions: raise it, or use method 'vegas+'.`,
      );
    this.least = Math.min(2 ** problem.ranges.length, START / 2 / this.rule.points);
    const memory = options.maxMemory ?? defaultMemory();
    this.maxRegions = Math.floor(memory / bytesOf(problem.ranges.length));
  }

  /** Fills in values, errors and axes. */
  async evaluate(regions: Regions): Promise<void> {
    const { session, ranges, signal, onNonFinite } = this.problem;
    const { count, centres, levels } = regions;
    const sums = await session.regions({ rule: this.rule, ranges, count, centres, levels, signal });
    this.evaluations += count * this.rule.points;
    regions.values = sums.values;
    regions.errors = sums.errors;
    regions.axes = sums.axes;
    this.seen ||= sums.values.some(v => v !== 0) || sums.errors.some(e => e !== 0);
    if (sums.nonFinite) onNonFinite(sums.nonFinite);
  }

  /** Regions that can still be evaluated. */
  get affordable(): number {
    return Math.floor((this.problem.maxEvaluations - this.evaluations) / this.rule.points);
  }

  /** Whether an estimate is good enough; nothing is claimed of an integrand that was 0 everywhere before it was searched. */
  enough({ value, error }: Estimate): boolean {
    if (!this.seen && this.evaluations < DARK && this.affordable > 0) return false;
    return error <= toleranceAt(this.problem, value);
  }

  /** Notes what an iteration came to. */
  record(now: Estimate): void {
    this.#iterations++;
    this.#reached.push(now);
    const record: IterationRecord = { ...now, evaluations: this.evaluations, adapting: false };
    this.problem.onIteration(record, now, this.evaluations);
  }

  get lastIteration(): boolean {
    return this.#iterations >= this.problem.maxIterations;
  }

  /**
   * The outcome. A run that stops short gives the best it ever had: the smallest error that the last estimate does not
   * contradict.
   */
  outcome(status: Status): Outcome {
    const last = this.#reached.at(-1) ?? { value: 0, error: Infinity };
    const standing = this.#reached.filter(r => Math.abs(r.value - last.value) <= r.error);
    const best = standing.reduce((a, b) => (b.error < a.error ? b : a), last);
    if (!this.seen)
      this.warnings.push(
        `all of ${this.evaluations} values were 0: either the integrand is 0, or it is not where they were taken; narrow the domain`,
      );
    return {
      ...(status === 'converged' ? last : best),
      status,
      evaluations: this.evaluations,
      regions: this.regions,
      chi2: 0,
      dof: 0,
      q: 1,
      warnings: this.warnings,
    };
  }
}

/** Runs a method, and tells a user's abort from the end of the time. */
export async function runCubature(run: Cubature, method: () => Promise<Status>): Promise<Outcome> {
  const { signal } = run.problem;
  let status: Status;
  try {
    status = await method();
  } catch (e) {
    if (!signal?.aborted || e !== signal.reason) throw e;
    status = (signal.reason as DOMException | undefined)?.name === 'TimeoutError' ? 'time' : 'aborted';
  }
  return run.outcome(status);
}

/** With what rounding adds: `absolute` is the sum of the regions' absolute values. */
export const withNoise = (value: number, error: number, absolute: number): Estimate => ({
  value,
  error: error + NOISE * absolute,
});

function defaultMemory(): number {
  const node = typeof process === 'object' && !!process.versions?.node;
  return node ? process.getBuiltinModule('node:os').totalmem() / 4 : 2 ** 30;
}
