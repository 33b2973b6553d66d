/**
 * The inside of a range. An integrand may be infinite at the ends of its range, so no rule and no sample may have a point
 * there. In exact arithmetic none has; in float64 a point close to an end rounds to it. So coordinates are kept between
 * the number after the low end and the number before the high end.
 */

/** The smallest normal number. It stands for the one after 0, which is subnormal: 1/x overflows there. */
const SMALLEST = 2 ** -1022;

const f64 = new Float64Array(1);
const bits = new BigInt64Array(f64.buffer);

/** The next larger number; `SMALLEST` after 0. */
export function nextUp(x: number): number {
  if (x === 0) return SMALLEST;
  f64[0] = x;
  bits[0] += x > 0 ? 1n : -1n;
  return f64[0];
}

/** The next smaller number; −`SMALLEST` before 0. */
export const nextDown = (x: number): number => -nextUp(-x);

/** The first and the last number inside a range; the range itself where fewer than two numbers are inside. */
export function innerRange([low, high]: readonly [number, number]): [number, number] {
  const [first, last] = [nextUp(low), nextDown(high)];
  return first < last ? [first, last] : [low, high];
}

/**
 * The part by which a box is larger than the box of the inner ranges of its axes: 1e-16 per axis for the unit cube, but
 * 4e-6 for [1, 1 + 1e-10], where numbers are 2e-16 apart. As a part and not as a ratio, 1 + 1e-16, which would be rounded.
 */
export function volumeExcess(ranges: readonly (readonly [number, number])[]): number {
  return ranges.reduce((excess, [low, high]) => {
    const [first, last] = innerRange([low, high]);
    const own = (first - low + (high - last)) / (last - first);
    return excess + own + excess * own;
  }, 0);
}
