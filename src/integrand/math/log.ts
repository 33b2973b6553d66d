/**
 * Natural and binary logarithms; log10.ts and log1p.ts are made of the same parts.
 *
 * x = 2^k·(1 + f) with √½ ≤ 1 + f < √2, and with s = f/(2 + f), z = s²:
 *
 *     log(1 + f) = 2·atanh(s) = f − (h − s·(h + R)),   h = f²/2,   R = z·P(z) = 2·atanh(s)/s − 2.
 *
 * Here f is exact, and what is subtracted from it is less than a fifth of it. P has seven coefficients, minimax on
 * z ≤ 0.02945 (Sollya's fpminimax), |error of R| < 2^-58.4. The error of log is 0.5 ulp from the last rounding and
 * about 0.3 ulp from h and the difference: below 0.9 ulp in all.
 */
import type { Kit } from './kit.ts';

/** The exponent k and the fraction f of a positive normal x = 2^k·(1 + f), √½ ≤ 1 + f < √2. */
export function splitAtRoot2(x: number, { exponent, significand }: Kit): [number, number] {
  const k = exponent(x);
  const m = significand(x);
  const upper = m > Math.SQRT2;
  return [upper ? k + 1 : k, (upper ? 0.5 * m : m) - 1];
}

/** [h, s·(h + R)], with which log(1 + f) = f − (h − s·(h + R)), for √½ ≤ 1 + f ≤ √2. */
export function logTail(f: number): [number, number] {
  const s = f / (2 + f);
  const z = s * s;
  const w = z * z;
  const odd =
    0.6666666666666735 + w * (0.2857142874326335 + w * (0.18183568773752265 + w * 0.14797084677417355));
  const even = 0.3999999999941048 + w * (0.22222198486255781 + w * 0.15313937325717353);
  const h = 0.5 * f * f;
  return [h, s * (h + (z * odd + w * even))];
}

/** The natural logarithm. */
export function log(x: number, { splitAtRoot2, logTail }: Kit): number {
  let normal = x;
  let bias = 0;
  if (!(x >= 2.2250738585072014e-308 && x < Infinity)) {
    if (!(x > 0)) return x === 0 ? -Infinity : NaN;
    if (x === Infinity) return Infinity;
    normal = x * 18014398509481984; // 2^54
    bias = 54;
  }
  const [exponent, f] = splitAtRoot2(normal);
  const k = exponent - bias;
  const [h, t] = logTail(f);
  return k * 0.6931471803691238 - (h - (t + k * 1.9082149292705877e-10) - f);
}

/** The binary logarithm: log(1 + f) in two parts times log2(e) in two parts. It is exact at powers of two. */
export function log2(x: number, { splitAtRoot2, logTail, high }: Kit): number {
  let normal = x;
  let bias = 0;
  if (!(x >= 2.2250738585072014e-308 && x < Infinity)) {
    if (!(x > 0)) return x === 0 ? -Infinity : NaN;
    if (x === Infinity) return Infinity;
    normal = x * 18014398509481984;
    bias = 54;
  }
  const [exponent, f] = splitAtRoot2(normal);
  const k = exponent - bias;
  const [h, t] = logTail(f);
  const hi = high(f - h);
  const lo = f - hi - h + t;
  const main = hi * 1.4426950216293335; // exact: 26 bits each
  const rest = lo * 1.4426950216293335 + (hi + lo) * 1.9259629911266175e-8;
  const sum = k + main;
  return sum + (k - sum + main + rest);
}
