/**
 * How much of an integral lies closer to the end of a range than its last numbers.
 *
 * Let s be the distance from the end, as a part of the range that is sampled, and u = ln(1/s). The integral of |f| over
 * the distances below e^-U is ∫ g(u) du from U to ∞, with g = |f|·s·(width of the range). Numbers end at
 * U = reach·ln 2: 53 octaves at z = 1, where x = z/(1 − z) is 9e15. From the averages of g over two windows of octaves
 * before that, g is extrapolated as u^-q:
 *
 *     q = ln(g₁/g₂) / ln(u₂/u₁),    ∫ g du from U on = g₂·u₂·(u₂/U)^(q − 1) / (q − 1),    infinite for q ≤ 1.
 *
 * The powers of u are the integrands that fall most slowly of those that are met: 1/(x·ln² x) is one, with q = 2, and for
 * them the formula is exact. An integrand that falls as a power of x, f ~ x^-p, has g = x^(1 − p): the formula then gives
 * g/(p − 1 − 1/u) where g/(p − 1) is right, which is too much but not too little.
 */
import { kit } from '../integrand/math/common.ts';

/** Two windows side by side, in octaves of the distance from the end, and the octave in which numbers end. */
export interface Windows {
  /** Where the first window begins: at the distance 2^-start. */
  start: number;
  /** The octaves of each window. */
  octaves: number;
  reach: number;
}

/** Windows have a width, so q is not exact: 1.03 is found for 1/(x·ln x), where it is 1. Up to this q there may be no integral. */
const LEAST_FALL = 1.1;

/** The integral beyond `reach`, from the averages of g over the first and the second window; Infinity if it may not exist. */
export function beyond(first: number, second: number, { start, octaves, reach }: Windows): number {
  if (second === 0) return 0;
  if (!(first < Infinity && second < Infinity)) return Infinity;
  const [u1, u2, end] = [start + octaves / 2, start + 1.5 * octaves, reach].map(n => n * Math.LN2);
  const fall = kit.log(first / second);
  const q = fall / kit.log(u2 / u1);
  if (!(q > LEAST_FALL)) return Infinity;
  // the average of e^(−δu) over a window is sinh(h)/h times its value in the middle, with h = δ·(half the window)
  const h = fall / 2;
  const middle = second * ((2 * h) / (kit.exp(h) - kit.exp(-h)));
  return (middle * u2 * kit.exp((q - 1) * kit.log(u2 / end))) / (q - 1);
}
