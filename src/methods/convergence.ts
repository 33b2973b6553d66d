/** Errors fall as a power of the evaluations: what the last iterations show of that power, and what it takes to get there. */
import { kit } from '../integrand/math/index.ts';

/** How far back a slope is taken, as a ratio of evaluations. */
const BACK = 4;

export interface Point {
  error: number;
  evaluations: number;
}

/** The power s in error ∝ evaluations^−s, from the points seen so far to `now`; at least 0. */
export function slopeOf(seen: readonly Point[], now: Point): number {
  const before = seen.findLast(s => s.evaluations <= now.evaluations / BACK) ?? seen[0];
  const slope = kit.log(before.error / now.error) / kit.log(now.evaluations / before.evaluations);
  return Math.max(0, slope || 0);
}

/**
 * The evaluations, beside `samples` that have been made, until an error is `missing` times smaller. By our own functions:
 * what they give decides which method goes on, and engines differ in theirs.
 */
export function evaluationsFor(missing: number, samples: number, slope: number): number {
  return samples * (kit.exp(kit.log(missing) / slope) - 1);
}

/** What an error is divided by when `more` evaluations are added to `samples`. */
export function improvement(more: number, samples: number, slope: number): number {
  return kit.exp(slope * kit.log(1 + Math.max(0, more) / samples));
}
