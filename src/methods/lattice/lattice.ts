/**
 * `lattice`: VEGAS learns the map, lattices measure.
 *
 * The error of n random points falls as 1/√n; that of the n points of a good lattice, where the integrand is smooth behind the
 * map, nearly as 1/n, or faster (random/lattice.ts). The map is learned as VEGAS does, then frozen, and made smooth by a
 * monotone cubic through its edges (tasks/smooth-map.ts). One fixed lattice is sampled with R random shifts. Each shift gives an
 * unbiased mean, and their scatter gives the error (shift-means.ts). n doubles until the tolerance is met, and all points stay.
 *
 * Nothing is chosen by values that enter the result. Whether coordinates are folded (the baker's transform) is decided by
 * lattices with other shifts, before the measurement.
 *
 * Shifts that all miss something agree. So claims need what those of VEGAS+ need: the floor of the map, pieces that carry the
 * variance, witnesses, samples enough to claim 0. Beyond that no error below a few times spread/N is claimed, with spread the standard
 * deviation of the weights and N the number of points: where a step crosses an axis at a right angle, all N points of R shifts may
 * lie as if it were a little beside its place, and then the shifts agree to any number of digits.
 *
 * There are no strata: what is uneven in more than one axis at a time stays the business of VEGAS+.
 */
import type { Combined, Estimate } from '../combine.ts';
import { type MethodProblem, type Run, type Status, type Step, toleranceAt } from '../method.ts';
import { ofResult } from '../several-estimates.ts';
import type { Knobs } from '../vegas/sampling.ts';
import { begun, checkRecord, ended, VegasRun } from '../vegas/vegas.ts';
import type { LatticeOptions } from './options.ts';
import { steadied } from './steady-error.ts';

/** Random shifts: of 800 claims on four peaks to 1e-4, 6 were off by more than 3 errors with 16 shifts, 3 with 32, which take 1.2 times the points. */
const SHIFTS = 32;
/**
 * Bins of the map. What a few bins cannot follow, the end of a tail or a zero of the integrand, is a step to a lattice, and covers less
 * of the cube the more bins there are: with 512 of them errors on f4 in 8 dimensions and on Roos and Arnold's product are a third of
 * those with 128 (_trial_). With 1024, f2 in 6 dimensions has 3 times the error again: bins learn noise.
 */
const KNOTS = 512;
/** The map follows what it sees twice as fast as that of VEGAS+: f2 in 6 dimensions and f5 in 8 have a third of the error (_trial_). */
const ALPHA = 1;
/** Points per shift of the first lattices: at least 2^LEAST_LOG2, as the vector is made for, fewer only for small budgets. */
const LEAST_LOG2 = 10;
const SMALLEST_LOG2 = 8;
/** The most that the vector is made for; from there on the number of shifts doubles. */
const MOST_LOG2 = 24;
/** Learning ends when the next iterations would take more than this: a map of so few bins gains no more. */
const MOST_LEARNING = 2 ** 20;
/** Shifts of the lattices that decide about folding, and their points as a part of what was learned from last. */
const TRIAL_SHIFTS = 16;
const TRIAL_PART = 1 / 2;
/** The part of the tolerance that a witness has to stand for. */
const MATTERS = 1 / 4;
/**
 * How many times spread/N a claim has for an error at least. A step of height J hides up to about 3J/N, and J is many times the
 * spread where it is the side of a narrow shelf (a shelf on 0.4 % of [0, 1]: 6.8 errors off with once spread/N). In more dimensions
 * such a shelf has corners, which points of some shifts meet and those of others miss.
 */
const STEPS_ON_PLANES = 15;
const STEPS = 3;
/** Learning goes on after a measurement that is not trusted if this many times the samples of an iteration are left. */
const AGAIN = 20;

const BESIDE_POINTS =
  'the error is below what a step may hide between the points of all shifts, and is not claimed; raise maxEvaluations, or use another method';

/** Lattices that were tried before a measurement. */
interface Trial {
  folded: boolean;
  /** Their error in tolerances. */
  missing: number;
  points: number;
}

/** The fewest points of a trial, folded and not. */
export const SMALLEST_TRIAL = 2 * TRIAL_SHIFTS * 2 ** SMALLEST_LOG2;

export async function* lattice(given: MethodProblem, options: LatticeOptions): Run {
  const problem = begun(given);
  const knobs: Knobs = {
    bins: options.knots ?? KNOTS,
    alpha: ALPHA,
    beta: 0,
    shared: false,
    perCube: 2,
    maxStrata: 2 ** 20,
    growBins: options.knots === undefined,
  };
  checkRecord(problem, knobs);
  const run = new LatticeRun(problem, knobs, options.shifts);
  return yield* ended(run, problem, run.toTolerance(true));
}

export class LatticeRun extends VegasRun {
  readonly #shifts: number;
  readonly #steps: number;
  protected override stepWarning(now: Combined): string {
    return now.randomError === undefined ? super.stepWarning(now) : BESIDE_POINTS;
  }

  constructor(problem: MethodProblem, knobs: Knobs, shifts = SHIFTS) {
    super(problem, knobs, true);
    this.#shifts = shifts;
    this.#steps = problem.ranges.length <= 2 ? STEPS_ON_PLANES : STEPS;
  }

  /** Measures with samples, as VEGAS+ does. */
  protected measureRandomly(need: number, learned: number, adaptive: boolean): Step<Status | undefined> {
    return super.measure(need, learned, adaptive);
  }

  /** Errors fall about as 1/N, so that less is worth learning. */
  protected override needed(evaluations: number, times: number): number {
    return Math.min(evaluations * times, 4 * MOST_LEARNING);
  }

  /** Measures with lattices until the tolerance is met or the budget is spent; undefined when the measurement is not trusted. */
  protected override async *measure(
    need: number,
    learned: number,
    adaptive: boolean,
  ): Step<Status | undefined> {
    const { ledger } = this;
    const affordable = (points: number): boolean => points + this.witnessesDue(points) <= ledger.left;
    let shifts = this.#shifts;
    let log2 = LEAST_LOG2;
    while (log2 > SMALLEST_LOG2 && shifts * 2 ** log2 > ledger.left / 4) log2--;
    // too small a budget for lattices: random points
    if (!this.sampling.seen || !affordable(shifts * 2 ** log2))
      return yield* this.measureRandomly(need, learned, adaptive);
    this.begin();
    const most = Math.min(TRIAL_PART * learned, ledger.left / 16);
    const { folded } = yield* this.trial(most);
    if (!affordable(shifts * 2 ** log2)) return yield* this.measureRandomly(need, learned, adaptive);
    const levels: Estimate[] = [];
    for (;;) {
      if (ledger.lastIteration) return (await this.enough()) ? 'converged' : 'budget';
      levels.push(await this.sampling.lattice(shifts, log2, folded));
      this.counted = [steadied(levels, this.goals[0])];
      yield* this.noted(this.counted[0], true);
      if (this.neglected.length > 0) return undefined;
      if (await this.enough()) return 'converged';
      const now = this.combined(this.counted);
      const again = adaptive && ledger.left > AGAIN * learned && !ledger.lastIteration;
      const steep = this.goals.some(g => this.isSteep(now, g));
      if (again && now.evaluations >= AGAIN * learned && (steep || !this.believable(now))) return undefined;
      if (again && this.fallsShort(now)) return undefined;
      if (!affordable(shifts * 2 ** log2)) return 'budget';
      if (log2 < MOST_LOG2) log2++;
      else shifts *= 2;
    }
  }

  /** Whether something else should measure, since lattices do not do so well as was thought. */
  protected fallsShort(_now: Combined): boolean {
    return false;
  }

  /** Lattices of at most so many points in all, folded and not, whose values nobody sees: which have the smaller error, and how large it is. */
  protected async *trial(most: number): Step<Trial> {
    const log2 = Math.max(SMALLEST_LOG2, Math.floor(Math.log2(most / TRIAL_SHIFTS / 2)));
    const points = TRIAL_SHIFTS * 2 ** log2;
    let best: Trial = { folded: true, missing: Infinity, points };
    for (const folded of [true, false]) {
      // with `auto`, the other method may have used budget in the meantime
      if (this.ledger.lastIteration || points > this.ledger.left) return best;
      const found = await this.sampling.lattice(TRIAL_SHIFTS, log2, folded);
      const missing = this.inTolerances(found);
      if (missing < best.missing) best = { folded, missing, points };
      yield* this.ledger.note({ ...pick(found), adapting: true }, this.told ?? pick(found));
    }
    return best;
  }

  /** The error of the worst goal in units of its tolerance. */
  protected inTolerances(estimate: Estimate): number {
    return Math.max(
      ...this.goals.map(g => {
        const { value, error } = ofResult(estimate, g);
        return error / toleranceAt(this.problem, value, g);
      }),
    );
  }

  /**
   * Errors of lattices fall below all that matters: what witnesses find has to come to a part of the tolerance, or every single one
   * of them would be looked at.
   */
  protected override forWitnesses(running: Estimate): Estimate {
    const least = (e: Estimate, g: number): Estimate => ({
      ...e,
      error: Math.max(e.error, MATTERS * toleranceAt(this.problem, e.value, g)),
    });
    const each = running.results?.each.map((e, r) => least(e, r));
    if (!each) return least(running, 0);
    return { ...each[this.goals[0]], results: { ...running.results!, each } };
  }

  /** No error below a few times spread/N is claimed: see the head of this file. */
  protected override hidden(now: Combined, result: number): number {
    const own = ofResult(now, result);
    const random = own.randomError;
    return random === undefined
      ? super.hidden(now, result)
      : (this.#steps * random) / Math.sqrt(own.evaluations);
  }

  protected override combined(estimates: readonly Estimate[]): Combined {
    const now = super.combined(estimates);
    const [only, ...more] = estimates;
    if (more.length > 0) return now;
    const each = now.results?.each.map((own, r) => ({ ...own, ...randomOf(only.results!.each[r]) }));
    return { ...now, ...randomOf(only), ...(each && { results: { ...now.results!, each } }) };
  }
}

const randomOf = ({ randomError }: Estimate) => (randomError === undefined ? {} : { randomError });
const pick = ({ value, error, evaluations }: Estimate) => ({ value, error, evaluations });
