/**
 * Measures with samples, map and strata frozen. The measurement is planned from the error of the last iteration that learned, is made in
 * several iterations so that χ² has degrees of freedom, and is extended if it falls short.
 */
import type { Estimate } from '../combine.ts';
import type { Status, Step } from '../method.ts';
import { ofResult, toleranceOf } from '../several-estimates.ts';
import { ZERO_SAMPLES } from '../trust.ts';
import { MAX_ITERATION_SAMPLES, type Measuring, type VegasRun } from './run.ts';

/** Iterations per measurement, at least. */
export const MEASUREMENTS = 5;
/** A measurement has this many times the evaluations that the error of the last iteration asks for, since that error is a guess. */
const PLAN_SAFETY = 1.15;

/** `law`: evaluations of a measurement whose error has to be so many times smaller than that of an iteration that learned. */
export function neededFor(
  { problem, goals }: VegasRun,
  last: Estimate,
  law: (evaluations: number, times: number) => number,
): number {
  const each = goals.map(g => {
    const { error, evaluations } = ofResult(last, g);
    return error > 0 ? law(evaluations, error / toleranceOf(problem, last, g)) : 0;
  });
  return Math.max(...each);
}

export class WithSamples implements Measuring {
  readonly #run: VegasRun;

  constructor(run: VegasRun) {
    this.#run = run;
  }

  /** Samples per iteration, at most. */
  get #most(): number {
    return Math.min(MAX_ITERATION_SAMPLES, this.#run.ledger.iterationLimit);
  }

  async *planned(last: Estimate): Step<number> {
    return neededFor(this.#run, last, (evaluations, times) => evaluations * times ** 2);
  }

  async *measure(need: number, learned: number, adaptive: boolean): Step<Status | undefined> {
    const run = this.#run;
    const { ledger, sampling, measurement } = run;
    measurement.begin();
    const smallest = Math.max(run.fewest, 2 * sampling.now.cubesFor(learned)); // two samples per cube
    const least = Math.max(smallest, learned / 2);
    for (let wanted = PLAN_SAFETY * need; ; ) {
      const missing = Math.max(1, MEASUREMENTS - measurement.counted.length);
      const { left } = ledger;
      const affordable = left - measurement.witnessesDue(left);
      const total = Math.min(Math.max(wanted, missing * least), affordable, 1e15);
      let turns = Math.min(Math.max(missing, Math.ceil(total / this.#most)), Math.floor(total / smallest));
      let size = Math.floor(total / turns);
      if (!(turns >= 1) || ledger.lastIteration) return (await measurement.enough()) ? 'converged' : 'budget';
      for (let i = 0; i < turns && !ledger.lastIteration; i++) {
        if (i > 0 && ledger.left < size) break; // with `auto`, the other method may have used budget in the meantime
        // later ones may be larger
        yield* run.iterate(size, false, true, { following: Math.max(0, Math.min(turns, missing) - i - 1) });
        if (measurement.neglected.length > 0) return undefined;
        // small iterations make a GPU seem slow: those that are left become larger once it has shown that it is not
        const rest = (turns - i - 1) * size;
        if (rest === 0 || i + 1 < missing || this.#most < 2 * size) continue;
        const fewer = Math.ceil(rest / this.#most);
        turns = i + 1 + fewer;
        size = Math.floor(rest / fewer);
      }
      if (!run.seen && ledger.evaluations < ZERO_SAMPLES && run.problem.absTol > 0) {
        wanted = ZERO_SAMPLES - ledger.evaluations;
        if (ledger.left > least) continue;
      }
      if (!run.seen) return measurement.isZero ? 'converged' : 'budget';
      const { now } = measurement;
      const again = adaptive && run.mayLearnAgain(learned);
      if (await measurement.enough()) return 'converged';
      const steep = measurement.isSteep(now);
      if (again && (steep || !measurement.isBelievable(now))) return undefined;
      wanted = Math.max(measurement.missingSamples(now), steep ? now.evaluations : 0);
      if (!(ledger.left > least)) return 'budget';
    }
  }
}
