/** e^x − 1, by the parts of exp.ts. */
import type { Kit } from './kit.ts';

/**
 * e^x − 1 = (2^k − 1 + 2^k·hi) + 2^k·(tail − lo), whose products are exact and whose last sum has the small
 * term on the right; for k = 0 it is hi + tail, accurate however small x is.
 */
export function expm1(x: number, { nearest, pow2, copySign, expTail }: Kit): number {
  const k = nearest(x * Math.LOG2E);
  const hi = x - k * 0.6931471803691238;
  const lo = k * 1.9082149292705877e-10;
  const tail = expTail(hi - lo) - lo;
  if (!(Math.abs(x) < 708)) {
    if (x > 709.782712893384) return Infinity;
    if (x < 0) return -1;
    return (1 + (hi + tail)) * pow2(k - 1) * 2;
  }
  const scale = pow2(k);
  return copySign(scale - 1 + scale * hi + scale * tail, x);
}
