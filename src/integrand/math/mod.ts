/**
 * x % y, exactly.
 *
 * For q = ⌊a/b⌋ below 2^50, a − q·b is computed exactly, with the product q·b in two parts: the difference is a
 * multiple of the last bit of b, and is off by at most b, when a/b was rounded up to an integer. Larger quotients
 * are found by long division, 48 bits of the quotient per step.
 */
import type { Kit } from './kit.ts';

/** JavaScript's x % y. */
export function mod(x: number, y: number, { high, copySign, exponent, pow2 }: Kit): number {
  const remainder = (a: number, b: number) => {
    const q = Math.floor(a / b);
    const product = q * b;
    const qTop = high(q);
    const qLow = q - qTop;
    const bTop = high(b);
    const bLow = b - bTop;
    const error = product - qTop * bTop - qTop * bLow - qLow * bTop - qLow * bLow;
    const r = a - product + error;
    return r < 0 ? r + b : r >= b ? r - b : r;
  };
  const a = Math.abs(x);
  const b = Math.abs(y);
  // a small integer divisor, as in i % 3 of a loop's counter: q·b is exact in one float64
  if (b === Math.floor(b) && b < 1048576 && a < 4294967296) {
    const r = a - Math.floor(a / b) * b;
    return copySign(r < 0 ? r + b : r, x);
  }
  if (!(a < 1e300 && b < 1e300 && a < b * 1125899906842624)) {
    if (!(a < Infinity && b > 0)) return NaN;
    // factors 2^200, to find the exponent of subnormals, and 2^±100, to keep what is near 1e308 from overflowing
    const size = (v: number) => (v < 1e-200 ? exponent(v * 1.6069380442589903e60) - 200 : exponent(v));
    let r = a;
    while (r >= b) {
      const shift = Math.max(size(r) - size(b) - 48, 0);
      const third = Math.floor(shift / 3); // 2^shift may overflow
      const divisor = b * pow2(third) * pow2(third) * pow2(shift - 2 * third);
      r =
        r < 1e300
          ? remainder(r, divisor)
          : remainder(r * 7.888609052210118e-31, divisor * 7.888609052210118e-31) * 1.2676506002282294e30;
    }
    return copySign(r, x);
  }
  return copySign(remainder(a, b), x);
}
