/** log(1 + x), by the parts of log.ts. */
import type { Kit } from './kit.ts';

/**
 * log(1 + hi + lo) for a pair with |lo| ≤ ulp(hi), hi > −1. The rounding error of 1 + hi is added to f again, so
 * that for k = 0 f is hi itself, however small.
 */
export function log1pPair(hi: number, lo: number, { splitAtRoot2, logTail, pow2 }: Kit): number {
  const u = 1 + hi;
  const back = u - 1;
  const error = 1 - (u - back) + (hi - back) + lo;
  const [k, f0] = splitAtRoot2(u);
  const correction = error * pow2(-k);
  const f = f0 + correction;
  const fLow = f0 - f + correction;
  const [h, t] = logTail(f);
  return k * 0.6931471803691238 - (h - (t + (fLow - f * fLow + k * 1.9082149292705877e-10)) - f);
}

/** log(1 + x). */
export function log1p(x: number, { log1pPair, log, copySign }: Kit): number {
  if (!(x > -1 && x < 1e18)) {
    if (x === -1) return -Infinity;
    return x > 0 ? log(x) : NaN;
  }
  return copySign(log1pPair(x, 0), x);
}
