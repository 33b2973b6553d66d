/**
 * How much regions look at before a claim: across borders, where a wide region may have missed a peak (tasks/pool/borders.ts), and along
 * all axes, where the error along an axis that was not cut may be missing (tasks/pool/all-axes.ts).
 */
import { witnessCost } from '../../tasks/witness.ts';
import { toleranceAt } from '../method.ts';
import type { Cubature } from './cubature.ts';
import type { Claim } from './witnesses.ts';

/** Small regions whose values sum to less than this part of the tolerance do not look across borders. */
const NEGLIGIBLE_PART = 0.1;
/**
 * Errors of all regions up to this part of the tolerance need no look along all axes. The errors of (x₁ + … + xₙ)^−p were up to 7 times
 * too small, for n = 2 to 6 and p = 0.5 to n − 0.6.
 */
const UNDERSTATED = 1 / 32;
/** A look along all axes takes this part of what the witnesses take, or looks at one region. */
const PART_OF_WITNESSES = 0.125;
/** The part of the budget that it may take, of what is left beside the witnesses. */
const BUDGET_PART = 0.25;

export class Looks {
  readonly #run: Cubature;

  constructor(run: Cubature) {
    this.#run = run;
  }

  /** Σ |values| of small regions of a result that do not look across borders. */
  negligible(value: number, result: number): number {
    return NEGLIGIBLE_PART * toleranceAt(this.#run.problem, value, result);
  }

  /** Evaluations of regions that a look along all axes may take before a claim. */
  affordableAlong(claim: Claim, result: number): number {
    const { options, rule, problem, ledger } = this.#run;
    const witnesses = this.#run.witnesses.get(result);
    if (options.witnesses === 0 || !witnesses || rule.dims < 2) return 0;
    if (claim.error <= UNDERSTATED * toleranceAt(problem, claim.value, result)) return 0;
    const wanted = witnesses.wanted(claim);
    const { ranges } = problem;
    const left = ledger.budgetLeft - witnessCost({ count: claim.regions, witnesses: wanted, ranges });
    const evaluations = Math.max(2 * rule.dims * rule.points, PART_OF_WITNESSES * wanted);
    return Math.max(0, Math.min(BUDGET_PART * left, evaluations)) / rule.points;
  }
}
