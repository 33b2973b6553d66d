/**
 * The unit that values are divided by before they are squared: a power of two near their own size. With it the squares of
 * 1e-200 or 1e200 neither underflow nor overflow, and dividing by a power of two changes no bit of the mantissa.
 */
import { intrinsics } from '../integrand/math/kit.ts';

/** How often an iteration is repeated in another unit, at most. */
export const MOST_TRIES = 4;

/** The largest power of two that is at most `size`; at least 2^lowest, at most 2^1000. */
export const unitFor = (size: number, lowest = -1000): number =>
  2 ** Math.max(lowest, Math.min(1000, intrinsics.exponent(size)));

/** The factor for a unit in which squares overflowed. In float32, which ends at 2^128, a larger one would make 0 of all values. */
export const overflowStep = (epsilon: number): number => (epsilon > 2 ** -53 ? 2 ** 40 : 2 ** 300);

/**
 * The factor by which the unit of an iteration has to change before the iteration is repeated, because squares of its
 * values overflowed or underflowed; 1 when they did not.
 */
export function unitError(
  { sum, variance, squares = 0 }: { sum: number; variance: number; squares?: number },
  epsilon: number,
): number {
  if (!(variance < Infinity && Math.abs(sum) < Infinity && squares < Infinity)) return overflowStep(epsilon);
  const lost = sum !== 0 && variance === 0 && Math.abs(sum) < 2 ** -400;
  return lost ? Math.abs(sum) : 1;
}
