/** Errors fall as error ∝ evaluations^−s: estimates s from the last iterations, and from s the evaluations still needed. */
import { kit } from '../integrand/math/common.ts';

/** The slope is taken between now and the last point that had at most 1/SLOPE_SPAN of the evaluations. */
const SLOPE_SPAN = 4;

export interface Point {
  error: number;
  evaluations: number;
}

/** The power s in error ∝ evaluations^−s, from the points seen so far to `now`; at least 0. */
export function slopeOf(seen: readonly Point[], now: Point): number {
  const before = seen.findLast(s => s.evaluations <= now.evaluations / SLOPE_SPAN) ?? seen[0];
  const slope = kit.log(before.error / now.error) / kit.log(now.evaluations / before.evaluations);
  return Math.max(0, slope || 0);
}

/**
 * The evaluations that divide an error by `missing`, beyond the `samples` made so far. Uses the library's own exp and log:
 * the result decides which method goes on, and JavaScript engines differ in the last bits of Math.exp and Math.log.
 */
export function evaluationsFor(missing: number, samples: number, slope: number): number {
  return samples * (kit.exp(kit.log(missing) / slope) - 1);
}

/** The factor by which an error falls when `more` evaluations are added to `samples`: (1 + more/samples)^slope. */
export function improvement(more: number, samples: number, slope: number): number {
  return kit.exp(slope * kit.log(1 + Math.max(0, more) / samples));
}

/** Samples that a claim needs at least, with this budget: what lies on less than 5 of so many parts of the domain can hide. */
export const leastSamples = (maxEvaluations: number): number => Math.min(2 ** 14, maxEvaluations / 4);
