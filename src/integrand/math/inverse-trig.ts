/**
 * Arc tangent, sine and cosine.
 *
 * atan2: the range of a = |y/x| is cut at ½ and 2, and atan(a) is 0 + atan(a), π/4 + atan((a − 1)/(a + 1)) or
 * π/2 + atan(−1/a). Each takes one division and leaves atan(t) with |t| ≤ ½, which is t + t·z·P(z), z = t², with
 * twelve coefficients, minimax to 2^-57.8 (Sollya's fpminimax).
 *
 * asin: t + t·z·P(z) up to ½, with twelve coefficients, to 2^-55.8; above, π/2 − 2·asin(√((1 − x)/2)), corrected by
 * the rounding error of the root. acos uses the same two cases.
 */
import type { Kit } from './kit.ts';

/** atan(y/x) for y ≥ 0 and x ≥ 0, both below 1e300 and not both zero. */
export function atanRatio(y: number, x: number): number {
  const far = y > 2 * x;
  const middle = y > 0.5 * x;
  const t = (far ? -x : middle ? y - x : y) / (far ? y : middle ? y + x : x);
  const base = far ? 1.5707963267948966 : middle ? 0.7853981633974483 : 0;
  const baseLow = far ? 6.123233995736766e-17 : middle ? 3.061616997868383e-17 : 0;
  const z = t * t;
  const z2 = z * z;
  const z4 = z2 * z2;
  const z8 = z4 * z4;
  const p =
    -0.33333333333332993 +
    z * 0.1999999999990567 +
    z2 * (-0.14285714276591768 + z * 0.111111106678961) +
    z4 *
      (-0.09090896437345176 +
        z * 0.07692076737628663 +
        z2 * (-0.06663837768330293 + z * 0.05858472478614577)) +
    z8 *
      (-0.051227371414306645 +
        z * 0.04188455863559463 +
        z2 * (-0.027464833904895708 + z * 0.01013685311652361));
  const sum = base + t;
  return sum + (base - sum + t + (t * z * p + baseLow));
}

/** The arc tangent. */
export function atan(x: number, { atanRatio, copySign }: Kit): number {
  const a = Math.abs(x);
  return copySign(a < 1e300 ? atanRatio(a, 1) : a >= 1e300 ? 1.5707963267948966 : a, x);
}

/** The angle of the point (x, y), in [−π, π]. */
export function atan2(y: number, x: number, { atanRatio, copySign }: Kit): number {
  let b = Math.abs(y);
  let a = Math.abs(x);
  let left = x < 0;
  if (!(a < 1e300 && b < 1e300 && a + b > 1e-290)) {
    if (!(a <= Infinity && b <= Infinity)) return NaN;
    left = copySign(1, x) < 0;
    if (a + b === 0) {
      a = 1;
    } else if (a === b) {
      a = 1; // both infinite, among others
      b = 1;
    } else if (a === Infinity) {
      b = 0;
      a = 1;
    } else if (b === Infinity) {
      a = 0;
      b = 1;
    } else {
      const scale = a + b > 1 ? 8.636168555094445e-78 : 1.157920892373162e77; // 2^∓256
      a = a * scale;
      b = b * scale;
    }
  }
  const angle = atanRatio(b, a);
  return copySign(left ? Math.PI - (angle - 1.2246467991473532e-16) : angle, y);
}

/** asin(t)/t − 1 at z = t² ≤ ¼. */
export function asinTail(z: number): number {
  const z2 = z * z;
  const z4 = z2 * z2;
  const z8 = z4 * z4;
  return (
    z *
    (0.16666666666665375 +
      z * 0.07500000000344915 +
      z2 * (0.04464285682189729 + z * 0.03038195939823309) +
      z4 *
        (0.02237175188078471 +
          z * 0.017359796397697504 +
          z2 * (0.013884343750221344 + z * 0.012174982736334326)) +
      z8 *
        (0.00650335700157567 +
          z * 0.0195947625652888 +
          z2 * (-0.01632732053671157 + z * 0.03198209991541005)))
  );
}

/** The arc sine. */
export function asin(x: number, { asinTail, copySign, high }: Kit): number {
  const a = Math.abs(x);
  const far = a > 0.5;
  const z = far ? 0.5 - 0.5 * a : a * a;
  const s = far ? Math.sqrt(z) : a;
  const rest = s * asinTail(z);
  const top = high(s);
  const low = (z - top * top) / (s + top + 1e-300); // √z = top + low
  const y = far ? 1.5707963267948966 - 2 * top - (2 * (low + rest) - 6.123233995736766e-17) : a + rest;
  return copySign(y, x);
}

/** The arc cosine. */
export function acos(x: number, { asinTail }: Kit): number {
  const a = Math.abs(x);
  const far = a > 0.5;
  const z = far ? 0.5 - 0.5 * a : a * a;
  const s = far ? Math.sqrt(z) : x;
  const rest = s * asinTail(z);
  if (far) return x > 0 ? 2 * (s + rest) : Math.PI - 2 * s - (2 * rest - 1.2246467991473532e-16);
  return 1.5707963267948966 - (x - (6.123233995736766e-17 - rest));
}
