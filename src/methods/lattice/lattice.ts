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
 * deviation of the weights and N the number of points (trust.ts): where a step crosses an axis at a right angle, all N points of R shifts
 * may lie as if it were a little beside its place, and then the shifts agree to any number of digits.
 *
 * There are no strata: what is uneven in more than one axis at a time stays the business of VEGAS+.
 */
import type { Combined, Estimate } from '../combine.ts';
import { type MethodProblem, type Run, type Status, type Step, toleranceAt } from '../method.ts';
import { inTolerances } from '../several-estimates.ts';
import type { Knobs } from '../vegas/knobs.ts';
import { AGAIN, type Measuring, type VegasRun } from '../vegas/run.ts';
import { runVegas } from '../vegas/vegas.ts';
import { neededFor, WithSamples } from '../vegas/with-samples.ts';
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
/** The fewest points of a trial, folded and not. */
export const SMALLEST_TRIAL = 2 * TRIAL_SHIFTS * 2 ** SMALLEST_LOG2;
/** The part of the tolerance that a witness has to stand for. */
const MATTERS = 1 / 4;

export function lattice(problem: MethodProblem, { knots, shifts }: LatticeOptions): Run {
  const knobs: Knobs = {
    bins: knots ?? KNOTS,
    alpha: ALPHA,
    beta: 0,
    shared: false,
    perCube: 2,
    maxStrata: 2 ** 20,
    growBins: knots === undefined,
  };
  return runVegas(problem, knobs, run => new WithLattices(run, { shifts }));
}

/** Lattices that were tried before a measurement. */
interface Trial {
  folded: boolean;
  /** Their error in tolerances. */
  missing: number;
  points: number;
}

export class WithLattices implements Measuring {
  readonly #run: VegasRun;
  readonly #samples: WithSamples;
  readonly #shifts: number;
  /** Whether something else should measure, since lattices do not do so well as was thought. */
  readonly #fallsShort: (now: Combined) => boolean;

  constructor(
    run: VegasRun,
    {
      shifts = SHIFTS,
      fallsShort = () => false,
    }: { shifts?: number | undefined; fallsShort?: (now: Combined) => boolean },
  ) {
    this.#run = run;
    this.#samples = new WithSamples(run);
    this.#shifts = shifts;
    this.#fallsShort = fallsShort;
  }

  /** Errors fall about as 1/N, so that less is worth learning than for samples. */
  async *planned(last: Estimate): Step<number> {
    const law = (evaluations: number, times: number) => Math.min(evaluations * times, 4 * MOST_LEARNING);
    return neededFor(this.#run, last, law);
  }

  async *measure(need: number, learned: number, adaptive: boolean): Step<Status | undefined> {
    const run = this.#run;
    const { ledger, sampling, measurement } = run;
    const affordable = (points: number): boolean => points + measurement.witnessesDue(points) <= ledger.left;
    let shifts = this.#shifts;
    let log2 = LEAST_LOG2;
    while (log2 > SMALLEST_LOG2 && shifts * 2 ** log2 > ledger.left / 4) log2--;
    // too small a budget for lattices: random points
    if (!run.seen || !affordable(shifts * 2 ** log2))
      return yield* this.#samples.measure(need, learned, adaptive);
    measurement.begin();
    const { folded } = yield* this.trial(Math.min(TRIAL_PART * learned, ledger.left / 16));
    if (!affordable(shifts * 2 ** log2)) return yield* this.#samples.measure(need, learned, adaptive);
    const levels: Estimate[] = [];
    for (;;) {
      if (ledger.lastIteration) return (await measurement.enough()) ? 'converged' : 'budget';
      levels.push(await sampling.lattice(shifts, log2, folded));
      const estimate = steadied(levels, run.goals[0]);
      measurement.count([estimate]);
      yield* run.note(estimate, true);
      if (measurement.neglected.length > 0) return undefined;
      if (await measurement.enough()) return 'converged';
      const { now } = measurement;
      const again = adaptive && run.mayLearnAgain(learned);
      const trusted = !measurement.isSteep(now) && measurement.isBelievable(now);
      if (again && now.evaluations >= AGAIN * learned && !trusted) return undefined;
      if (again && this.#fallsShort(now)) return undefined;
      if (!affordable(shifts * 2 ** log2)) return 'budget';
      if (log2 < MOST_LOG2) log2++;
      else shifts *= 2;
    }
  }

  /** Lattices of at most so many points in all, folded and not, whose values nobody sees: which have the smaller error, and how large it is. */
  async *trial(most: number): Step<Trial> {
    const { ledger, sampling, problem, told } = this.#run;
    const log2 = Math.max(SMALLEST_LOG2, Math.floor(Math.log2(most / TRIAL_SHIFTS / 2)));
    const points = TRIAL_SHIFTS * 2 ** log2;
    let best: Trial = { folded: true, missing: Infinity, points };
    for (const folded of [true, false]) {
      // with `auto`, the other method may have used budget in the meantime
      if (ledger.lastIteration || points > ledger.left) return best;
      const found = await sampling.lattice(TRIAL_SHIFTS, log2, folded);
      const missing = inTolerances(problem, found);
      if (missing < best.missing) best = { folded, missing, points };
      const { value, error, evaluations } = found;
      yield* ledger.note({ value, error, evaluations, adapting: true }, told ?? { value, error });
    }
    return best;
  }

  /**
   * Errors of lattices fall below all that matters: what witnesses find has to come to a part of the tolerance, or every single one
   * of them would be looked at.
   */
  forWitnesses(running: Estimate): Estimate {
    const { problem, goals } = this.#run;
    const least = (e: Estimate, r: number): Estimate => ({
      ...e,
      error: Math.max(e.error, MATTERS * toleranceAt(problem, e.value, r)),
    });
    if (!running.results) return least(running, 0);
    const each = running.results.each.map(least);
    return { ...each[goals[0]], results: { ...running.results, each } };
  }
}
