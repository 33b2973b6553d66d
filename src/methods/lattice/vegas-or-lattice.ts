/**
 * VEGAS+ that may measure with lattices: the random method of `auto`.
 *
 * Where the integrand is smooth behind the map, a lattice needs far fewer points than random samples (lattice.ts); where it is not, as
 * many or more. So lattices are tried on the map while it is learned, folded and not. If their error is at most half of what as many
 * samples of VEGAS+ would have, they measure in the place of samples: even if their error fell no faster than 1/√N, that takes a quarter of
 * the evaluations. Trials cost at most 1/TRIAL_COST of the evaluations that VEGAS+ would need, and none where that is too little
 * for a trial. Nothing of a trial enters the result, since the lattices of the measurement have other shifts.
 */
import type { Combined, Estimate } from '../combine.ts';
import { evaluationsFor } from '../convergence.ts';
import type { MethodProblem, Run, Status, Step } from '../method.ts';
import { inTolerances } from '../several-estimates.ts';
import { knobsOf } from '../vegas/knobs.ts';
import type { Measuring, VegasRun } from '../vegas/run.ts';
import { runVegas } from '../vegas/vegas.ts';
import { WithSamples } from '../vegas/with-samples.ts';
import { SMALLEST_TRIAL, WithLattices } from './lattice.ts';

/** Trials cost at most this part of what VEGAS+ would need. */
const TRIAL_COST = 1 / 32;
/** Points of a trial, at most. */
const MOST_TRIAL = 2 ** 18;
/** A trial has to have this part of the error of as many samples. */
const WORTHWHILE = 1 / 2;
/** The power with which errors of lattices are expected to fall: between 1/2, that of samples, and 1. */
const POWER = 0.75;

export async function* vegasOrLattice(problem: MethodProblem): Run {
  const knobs = { ...knobsOf('vegas+', {}), orLattice: true as const };
  const outcome = yield* runVegas(problem, knobs, run => new WithEither(run));
  const byLattice = outcome.counted?.some(e => e.randomError !== undefined);
  return byLattice ? { ...outcome, method: 'lattice' } : outcome;
}

class WithEither implements Measuring {
  readonly #run: VegasRun;
  readonly #samples: WithSamples;
  readonly #lattices: WithLattices;
  /** Evaluations that VEGAS+ would need, and those that lattices should need where they are worthwhile. */
  #randomNeed = Infinity;
  #latticeNeed: number | null = null;
  #spentOnTrials = 0;
  #lastTrial = 0;

  constructor(run: VegasRun) {
    this.#run = run;
    this.#samples = new WithSamples(run);
    this.#lattices = new WithLattices(run, { fallsShort: now => this.#fallsShort(now) });
  }

  async *planned(last: Estimate, size: number): Step<number> {
    const { ledger } = this.#run;
    const need = yield* this.#samples.planned(last);
    this.#randomNeed = need;
    if (this.#latticeNeed !== null) return this.#latticeNeed;
    const most = Math.min(size, MOST_TRIAL, need * TRIAL_COST - this.#spentOnTrials, ledger.left / 16);
    // a trial of the same size would find the same again
    if (!(most >= Math.max(SMALLEST_TRIAL, 2 * this.#lastTrial)) || ledger.iterationsLeft <= 4) return need;
    const { missing, points } = yield* this.#lattices.trial(most);
    this.#lastTrial = 2 * points;
    this.#spentOnTrials += 2 * points;
    if (missing ** 2 * points > WORTHWHILE ** 2 * need) return need;
    this.#latticeNeed = points + evaluationsFor(Math.max(1, missing), points, POWER);
    return this.#latticeNeed;
  }

  measure(need: number, learned: number, adaptive: boolean): Step<Status | undefined> {
    const measuring = this.#latticeNeed === null ? this.#samples : this.#lattices;
    return measuring.measure(need, learned, adaptive);
  }

  /** Samples do better if lattices need more than they would from the start; then lattices are not tried again. */
  #fallsShort(now: Combined): boolean {
    if (!(this.#stillMissing(now) > this.#randomNeed)) return false;
    this.#latticeNeed = null;
    this.#spentOnTrials = Infinity;
    return true;
  }

  stillNeeded(running: Estimate, counts: boolean): number | undefined {
    // as soon as lattices were tried it is known what is needed with and without them
    if (!counts) return this.#lastTrial > 0 ? (this.#latticeNeed ?? this.#randomNeed) : undefined;
    return running.randomError === undefined ? undefined : this.#stillMissing(running);
  }

  #stillMissing(now: Estimate): number {
    const missing = inTolerances(this.#run.problem, now);
    return missing > 1 ? evaluationsFor(missing, now.evaluations, POWER) : 0;
  }

  forWitnesses(running: Estimate): Estimate {
    return running.randomError === undefined ? running : this.#lattices.forWitnesses(running);
  }
}
