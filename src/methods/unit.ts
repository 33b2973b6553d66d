/**
 * The unit that values are counted in, a power of two near their own size: so that squares of 1e-200 or 1e200 are numbers
 * too, and dividing by it changes no bit.
 */
import { intrinsics } from '../integrand/math/kit.ts';

/** How often an iteration is made again in another unit. */
export const MOST_TRIES = 4;

/** The power of two next below a size, not below 2^lowest. */
export const unitFor = (size: number, lowest = -1000): number =>
  2 ** Math.max(lowest, Math.min(1000, intrinsics.exponent(size)));

/**
 * What the unit of an iteration has to be multiplied with before the iteration is made again: its values were so much larger
 * or smaller than thought that squares of them are no numbers. 1 when they are.
 */
export function unitError({
  sum,
  variance,
  squares = 0,
}: {
  sum: number;
  variance: number;
  squares?: number;
}): number {
  if (!(variance < Infinity && Math.abs(sum) < Infinity && squares < Infinity)) return 2 ** 300;
  const lost = sum !== 0 && variance === 0 && Math.abs(sum) < 2 ** -400;
  return lost ? Math.abs(sum) : 1;
}
