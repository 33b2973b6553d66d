/** The decimal logarithm, by the parts of log.ts. */
import type { Kit } from './kit.ts';

/** The decimal logarithm, computed like log2. It is exact at powers of ten. */
export function log10(x: number, { splitAtRoot2, logTail, high }: Kit): number {
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
  const main = hi * 0.4342944771051407; // exact
  const rest = lo * 0.4342944771051407 + (hi + lo) * 4.798111141615973e-9 - k * 8.532344317057107e-14;
  const whole = k * 0.3010299956640665; // log10(2) to 42 bits: exact
  const sum = whole + main;
  return sum + (whole - sum + main + rest);
}
