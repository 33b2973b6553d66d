/**
 * e^x and 2^x; expm1.ts is made of the same parts.
 *
 * x = k·ln2 + r with |r| ≤ ln2/2 (Cody–Waite: ln2 in two parts, k·hi exact), then e^x = 2^k·e^r.
 * e^r has the classical rational form (Hart; fdlibm uses it too):
 *
 *     e^r = 1 + r + r·c/(2 − c),   c = r − (R − 2),   R = r·coth(r/2) = 2 + z·P(z),   z = r²,
 *
 * with one division and five coefficients instead of the twelve of a plain polynomial. P is a minimax fit
 * on |r| ≤ 0.3468 (Sollya's fpminimax), |error of R| < 2^-59.
 *
 * Error of exp: rounding 1 + (…) costs 0.5 ulp, rounding the bracket (|…| < 0.42) at most 0.25 ulp of a
 * result in [0.7, 1), the terms of the tail about 0.1 ulp: below 0.87 ulp in all.
 */
import type { Kit } from './kit.ts';

/** e^r − 1 − r for |r| ≤ 0.35. */
export function expTail(r: number): number {
  const z = r * r;
  const w = z * z;
  const p =
    0.16666666666666602 -
    z * 0.0027777777777012905 +
    w * (6.613756320609235e-5 - z * 1.6533901225178714e-6 + w * 4.13809782054282e-8);
  const c = r - z * p;
  return (r * c) / (2 - c);
}

/** e^x. */
export function exp(x: number, { nearest, pow2, expTail }: Kit): number {
  const k = nearest(x * Math.LOG2E);
  const hi = x - k * 0.6931471803691238;
  const lo = k * 1.9082149292705877e-10;
  const y = 1 + (hi + (expTail(hi - lo) - lo));
  if (!(Math.abs(x) < 708)) {
    if (x > 709.782712893384) return Infinity;
    if (x < -745.1332191019412) return 0;
    const half = Math.floor(0.5 * k); // 2^k in two steps: only the second one rounds
    return y * pow2(half) * pow2(k - half);
  }
  return y * pow2(k);
}

/** e^(x + rest) for |rest| < 1e-4, as if the sum were exact. */
export function expPair(x: number, rest: number, { nearest, pow2, expTail }: Kit): number {
  const k = nearest(x * Math.LOG2E);
  const hi = x - k * 0.6931471803691238;
  const lo = k * 1.9082149292705877e-10 - rest;
  const y = 1 + (hi + (expTail(hi - lo) - lo));
  if (!(Math.abs(x) < 708)) {
    if (x > 710) return Infinity;
    if (x < -746) return 0;
    const half = Math.floor(0.5 * k);
    return y * pow2(half) * pow2(k - half);
  }
  return y * pow2(k);
}

/** 2^x = 2^k·e^r with r = (x − k)·ln2, where x − k is exact. */
export function exp2(x: number, { nearest, pow2, expTail }: Kit): number {
  const k = nearest(x);
  const r = (x - k) * Math.LN2;
  const y = 1 + (r + expTail(r));
  if (!(Math.abs(x) < 1022)) {
    if (x >= 1024) return Infinity;
    if (x <= -1075) return 0;
    const half = Math.floor(0.5 * k);
    return y * pow2(half) * pow2(k - half);
  }
  return y * pow2(k);
}
