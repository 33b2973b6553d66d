/** Numbers of the host as float32. */

const f32 = new Float32Array(1);
const bits = new Int32Array(f32.buffer);

/** The smallest normal number: GPUs may take smaller ones for 0. */
const SMALLEST = 2 ** -126;
const LARGEST = (2 - 2 ** -23) * 2 ** 127;

/** The nearest float32; the largest one for what is beyond. */
export const toFloat32 = (x: number): number => Math.max(-LARGEST, Math.min(LARGEST, Math.fround(x)));

/** The next larger float32; the smallest normal one after 0. */
function nextUp(x: number): number {
  if (Math.abs(x) < SMALLEST) return x < 0 ? 0 : SMALLEST;
  f32[0] = x;
  bits[0] += x > 0 ? 1 : -1;
  return f32[0];
}

/**
 * The first and the last float32 inside a range: an integrand compares coordinates with its ends as float32, and may be infinite
 * there. The middle, twice, where fewer than two are inside.
 */
export function innerRange32(low: number, high: number): [number, number] {
  const [first, last] = [nextUp(toFloat32(low)), -nextUp(-toFloat32(high))];
  const middle = toFloat32(low / 2 + high / 2);
  return first < last ? [first, last] : [middle, middle];
}

/** The exponent of a number: 2^exponent is at most its size. */
export function exponentOf(x: number): number {
  const guess = Math.floor(Math.log2(Math.abs(x)));
  return Number.isFinite(guess) ? guess : 0;
}

/** A number as one float32 and the rest as another. */
export function splitFloat32(x: number): [number, number] {
  const high = toFloat32(x);
  return [high, toFloat32(x - high)];
}
