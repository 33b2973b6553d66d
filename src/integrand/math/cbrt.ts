/**
 * The cube root.
 *
 * |x| = 2^(3q)·w, 1 ≤ w < 8. A polynomial of degree 5 gives t ≈ ∛w to 2^-19.6. It is cut to 26 bits, so that t² is
 * exact; then one step of Halley's iteration, t·(1 + (r − t)/(2t + r)) with r = w/t², makes the error 2^-58. In all
 * the error is 0.5 ulp and a third of the rounding error of r.
 */
import type { Kit } from './kit.ts';

export function cbrt(x: number, { exponent, significand, pow2, high, copySign }: Kit): number {
  let a = Math.abs(x);
  let shrink = 1;
  if (!(a >= 2.2250738585072014e-308 && a < Infinity)) {
    if (!(a > 0 && a < Infinity)) return x;
    a = a * 18014398509481984; // 2^54
    shrink = 0.000003814697265625; // 2^-18
  }
  const e = exponent(a);
  const m = significand(a);
  const q = Math.floor((e + 0.5) * 0.3333333333333333);
  const left = e - 3 * q; // 0, 1 or 2
  const w = left === 0 ? m : left === 1 ? 2 * m : 4 * m;
  const root = left === 0 ? 1 : left === 1 ? 1.2599210498948732 : 1.5874010519681996;
  const m2 = m * m;
  const m4 = m2 * m2;
  const t = high(
    root *
      (0.4733293678732981 +
        m * 0.8381634514323135 +
        m2 * (-0.4692317501186724 + m * 0.20277810938474308) +
        m4 * (-0.050386429808688966 + m * 0.005348479004522194)),
  );
  const r = w / (t * t);
  const y = t + (t * (r - t)) / (2 * t + r);
  return copySign(y * pow2(q) * shrink, x);
}
