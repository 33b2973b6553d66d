/**
 * √(x² + y²). The sum of squares is off by at most 1 ulp, which the root halves. Where a square would overflow or
 * underflow, x and y are scaled by a power of two.
 */
export function hypot(x: number, y: number): number {
  const a = Math.abs(x);
  const b = Math.abs(y);
  const sum = a * a + b * b;
  if (!(sum > 1e-280 && sum < 1e300)) {
    if (a === Infinity || b === Infinity) return Infinity;
    const scale = sum > 1 ? 1.90109156629516e-211 : 5.260135901548374e210; // 2^∓700
    const u = a * scale;
    const v = b * scale;
    return Math.sqrt(u * u + v * v) / scale;
  }
  return Math.sqrt(sum);
}
