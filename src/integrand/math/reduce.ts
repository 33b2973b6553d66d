/**
 * Reduction of an angle to the nearest multiple of π/2: x = k·π/2 + r + tail, |r| ≤ π/4, with r + tail good
 * to 2^-66 relative or better.
 *
 * Below 8192, Cody and Waite: π/2 in parts of 40, 40 and 53 bits, of which k·part is exact for the first two,
 * since k has at most 13 bits. The omitted rest of k·π/2 is below 2^-120, and no float64 below 8192 except 0 is
 * closer than 2^-60.5 to a multiple of π/2 (checked for all 5215 multiples). Above 8192, Payne and Hanek ("Radian
 * reduction for trigonometric functions", 1983): those digits of 2/π in base 2^24 that matter for the exponent of x,
 * times the four digits of x, with carries in exact float64 integers.
 */
import type { Kit } from './kit.ts';

/** [k, r, tail] for |x| < 8192; for larger |x| the result is meaningless. */
export function reduceSmall(x: number, { nearest }: Kit): [number, number, number] {
  const k = nearest(x * 0.6366197723675814);
  const a = x - k * 1.5707963267941523; // exact, and so is the product
  const w = k * 7.443547480480255e-13;
  const b = a - w;
  const t = a - b - w - k * 6.36831716351095e-25;
  const r = b + t;
  return [k, r, b - r + t];
}

/** [k, r, tail] for every x; for |x| ≥ 8192 k is right modulo 4 only. NaN for NaN and ±Infinity. */
export function reduceQuarter(x: number, { reduceSmall, reduceHuge }: Kit): [number, number, number] {
  let [k, r, tail] = reduceSmall(x);
  if (!(Math.abs(x) < 8192)) [k, r, tail] = reduceHuge(x);
  return [k, r, tail];
}

/** [k, r, tail] for |x| ≥ 1, by Payne and Hanek's method; k is in [0, 4], and right modulo 4 only. */
export function reduceHuge(x: number, { exponent, pow2, high }: Kit): [number, number, number] {
  const twoOverPi = [
    0, 0, 0, 0, 10680707, 7228996, 1387004, 2578385, 16069853, 12639074, 9804092, 4427841, 16666979, 11263675,
    12935607, 2387514, 4345298, 14681673, 3074569, 13734428, 16653803, 1880361, 10960616, 8533493, 3062596,
    8710556, 7349940, 6258241, 3772886, 3769171, 3798172, 8675211, 12450088, 3874808, 9961438, 366607,
    15675153, 9132554, 7151469, 3571407, 2607881, 12013382, 4155038, 6285869, 7677882, 13102053, 15825725,
    473591, 9065106, 15363067, 6271263, 9264392, 5636912,
  ];
  const radix = 16777216;
  const shrink = 5.9604644775390625e-8; // 1/radix

  // x = (d0 + d1/radix + d2/radix² + d3/radix³)·radix^j
  const j = Math.floor(exponent(x) / 24);
  const x0 = Math.abs(x) * pow2(-24 * j);
  const d0 = Math.floor(x0);
  const x1 = (x0 - d0) * radix;
  const d1 = Math.floor(x1);
  const x2 = (x1 - d1) * radix;
  const d2 = Math.floor(x2);
  const d3 = (x2 - d2) * radix;

  // The digit of weight radix^-p of the product, before carries; digits with p < 0 add multiples of 4 to k.
  const digit = (p: number) =>
    d0 * twoOverPi[j + p + 3] + d1 * twoOverPi[j + p + 2] + d2 * twoOverPi[j + p + 1] + d3 * twoOverPi[j + p];
  const q6 = digit(6);
  const c6 = Math.floor(q6 * shrink);
  const q5 = digit(5) + c6;
  const c5 = Math.floor(q5 * shrink);
  const q4 = digit(4) + c5;
  const c4 = Math.floor(q4 * shrink);
  const q3 = digit(3) + c4;
  const c3 = Math.floor(q3 * shrink);
  const q2 = digit(2) + c3;
  const c2 = Math.floor(q2 * shrink);
  const q1 = digit(1) + c2;
  const c1 = Math.floor(q1 * shrink);
  const q0 = digit(0) + c1;

  // The fraction, in [-1/2, 1/2), as the exact sum of three numbers of 48 bits.
  const first = q1 - c1 * radix;
  const up = first >= 8388608;
  const quadrant = q0 - 4 * Math.floor(0.25 * q0) + (up ? 1 : 0);
  const a = (up ? first - radix : first) * shrink + (q2 - c2 * radix) * (shrink * shrink);
  const b = (q3 - c3 * radix + (q4 - c4 * radix) * shrink) * (shrink * shrink * shrink);
  const c = (q5 - c5 * radix + (q6 - c6 * radix) * shrink) * (shrink * shrink * shrink * shrink * shrink);
  const s = a + b;
  const e = a - s + b + c;
  const hi = s + e;
  const lo = s - hi + e;

  // The fraction times π/2, both in two parts.
  const top = high(hi);
  const low = hi - top;
  const product = hi * 1.5707963267948966;
  const error =
    top * 1.5707963109016418 -
    product +
    top * 1.5893254712295857e-8 +
    low * 1.5707963109016418 +
    low * 1.5893254712295857e-8;
  const rest = error + (hi * 6.123233995736766e-17 + lo * 1.5707963267948966);
  const r = product + rest;
  const tail = product - r + rest;
  const flip = x < 0 ? -1 : 1;
  return [x < 0 ? 4 - quadrant : quadrant, flip * r, flip * tail];
}
