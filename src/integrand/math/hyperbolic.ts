/**
 * Hyperbolic sine, cosine and tangent, from e^x.
 *
 * Below 1 sinh is an odd polynomial (seven coefficients, minimax to 2^-61, Sollya's fpminimax), since (e^x −
 * e^-x)/2 would cancel. Beyond 708, where e^x overflows before e^x/2 does, ln2 is taken off the exponent.
 */
import type { Kit } from './kit.ts';

/** The hyperbolic sine. */
export function sinh(x: number, { exp, expPair, copySign }: Kit): number {
  const a = Math.abs(x);
  if (!(a < 708)) return copySign(expPair(a - 0.6931471803691238, -1.9082149292705877e-10), x);
  const e = exp(a);
  const z = x * x;
  const z2 = z * z;
  const z4 = z2 * z2;
  const near =
    x +
    x *
      z *
      (0.16666666666666669 +
        z * 0.00833333333333297 +
        z2 * (0.00019841269841531595 + z * 2.755731913011479e-6) +
        z4 * (2.5052126919205672e-8 + z * 1.6056994122101936e-10 + z2 * 7.766132039265583e-13));
  return a < 1 ? near : copySign(0.5 * e - 0.5 / e, x);
}

/** The hyperbolic cosine. */
export function cosh(x: number, { exp, expPair }: Kit): number {
  const a = Math.abs(x);
  if (!(a < 708)) return expPair(a - 0.6931471803691238, -1.9082149292705877e-10);
  const e = exp(a);
  return 0.5 * e + 0.5 / e;
}

/**
 * The hyperbolic tangent, (1 − e)/(1 + e) with e = e^(−2|x|) = 2^k·(1 + p). Numerator and denominator are
 * sums with an exact large term; their rounding errors enter as a correction of the quotient. For that, 1/(1 + e) is
 * needed to one digit only: it is replaced by 1.457 − (1 + e)/2.
 */
export function tanh(x: number, { nearest, pow2, copySign, expTail }: Kit): number {
  const a = -2 * Math.min(Math.abs(x), 22); // beyond, tanh rounds to 1
  const k = nearest(a * Math.LOG2E);
  const hi = a - k * 0.6931471803691238;
  const lo = k * 1.9082149292705877e-10;
  const tail = expTail(hi - lo) - lo;
  const scale = pow2(k);
  const p = hi + tail;
  const e = scale * p;
  const top = 1 - scale - e;
  const topLow = 1 - scale - top - e - scale * (hi - p + tail);
  const bottom = 1 + scale + e;
  const bottomLow = 1 + scale - bottom + e;
  const q = top / bottom;
  return copySign(q + (topLow - q * bottomLow) * (1.457 - 0.5 * bottom), x);
}
