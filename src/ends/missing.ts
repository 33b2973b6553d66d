/** How much may be missing at the ends of ranges (end-probe.ts), and what that means for a run; with-missing.ts for its outcome. */

import { type MethodProblem, NEGLIGIBLE_BEYOND, toleranceAt } from '../methods/method.ts';
import type { Missing } from './end-probe.ts';

/** Evaluations for an integral that may not exist: its value says nothing, however many there are. */
const HOPELESS_EVALUATIONS = 2 ** 20;

/** How much may be missing in all. */
export const totalOf = (missing: readonly Missing[]): number => missing.reduce((sum, m) => sum + m.amount, 0);

/** How much may be missing without harm to an estimate. */
export function negligibleFor(
  problem: Pick<MethodProblem, 'relTol' | 'absTol'>,
  value: number,
  error: number,
): number {
  return NEGLIGIBLE_BEYOND * Math.max(error, toleranceAt(problem, value));
}

/** The evaluations that are worth while for a run that misses this much at least. */
export const worthwhile = (maxEvaluations: number, missing: number): number =>
  missing < Infinity ? maxEvaluations : Math.min(maxEvaluations, HOPELESS_EVALUATIONS);
