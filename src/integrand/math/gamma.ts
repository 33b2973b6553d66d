/**
 * The logarithm of |Γ(x)|.
 *
 * | x | log Γ(x) |
 * | [½, 2] | (x − 1)·(x − 2)·P(x − ½)/Q(x − ½): full relative accuracy at both zeros |
 * | (2, 10] | (x − 2)·P(x − 2)/Q(x − 2) |
 * | > 10 | Stirling: (x − ½)·(log x − 1) + (log 2π − 1)/2 + P(1/x²)/x |
 * | (−½, ½) | log Γ(1 + x) − log |x| |
 * | ≤ −½ | the reflection log(π/|x·sin πx|) − log Γ(−x) |
 *
 * The fits of the first three rows were made for this library (Remez exchange at 200 bits), with relative errors
 * 2^-54.6, 2^-53.4 and 2^-54.7. Near the zeros on the negative axis, where the reflection subtracts nearly equal
 * numbers, the error is a few ulp of max(1, log Γ(−x)), not of the result.
 */
import type { Kit } from './kit.ts';

/** log Γ(x) for x ≥ ½. `product` is (x − 1)·(x − 2), used for x ≤ 2, which the caller may know more accurately. */
export function lgammaUpper(x: number, product: number, { log }: Kit): number {
  if (x > 2) {
    if (x > 10) {
      const u = 1 / x;
      const w = u * u;
      const w2 = w * w;
      const w4 = w2 * w2;
      const series =
        u *
        (0.08333333333333333 -
          w * 0.0027777777777573493 +
          w2 * (0.0007936507698663914 - w * 0.0005952279452482581) +
          w4 * (0.0008397825424436132 - w * 0.0017391229930730754));
      return (x - 0.5) * (log(x) - 1) + (0.4189385332046727 + series);
    }
    const v = x - 2;
    const v2 = v * v;
    const v4 = v2 * v2;
    const v8 = v4 * v4;
    const p =
      0.4227843350984672 +
      v * 0.984473119471856 +
      v2 * (0.8432834250691225 + v * 0.34840511631447757) +
      v4 *
        (0.07455161086829755 +
          v * 0.008150967706861308 +
          v2 * (0.0004180705661030107 + v * 8.274234734982283e-6)) +
      v8 * 3.873224519638102e-8;
    const q =
      1 +
      v * 1.5658245376890967 +
      v2 * (0.9596120265343867 + v * 0.2929222769913315) +
      v4 *
        (0.04703468366819991 +
          v * 0.0038724179435920716 +
          v2 * (0.00014817415849403186 + v * 2.1178843959549038e-6)) +
      v8 * 6.41926323590976e-9;
    return (v * p) / q;
  }
  const v = x - 0.5;
  const v2 = v * v;
  const v4 = v2 * v2;
  const v8 = v4 * v4;
  const p =
    0.7631532572329334 +
    v * 4.29793488530815 +
    v2 * (9.222283401823823 + v * 9.458105125830686) +
    v4 *
      (4.764384745916788 + v * 1.0835860975653162 + v2 * (0.08617916899292917 + v * 0.0007540348807022005)) -
    v8 * 8.768031712492546e-6;
  const q =
    1 +
    v * 6.395665424285513 +
    v2 * (16.02919297344868 + v * 19.995207106371648) +
    v4 * (13.050326944313165 + v * 4.297495411298617 + v2 * (0.6283084274987073 + v * 0.029168341191188944));
  return (product * p) / q;
}

/** log |Γ(x)|; +Infinity at the poles 0, −1, −2… */
export function lgamma(x: number, { nearest, log, sin, lgammaUpper }: Kit): number {
  const a = Math.abs(x);
  if (!(a < 1e305)) return x >= 1e305 ? x * (log(x) - 1) : a === Infinity || x < 0 ? Infinity : x;
  const small = a < 0.5;
  const upper = lgammaUpper(small ? 1 + x : a, small ? x * (x - 1) : 0 - (a - 1) * (2 - a));
  if (x < 0.5) {
    if (small) return upper - log(a);
    const offset = a - nearest(a);
    return offset === 0 ? Infinity : log(Math.PI / (a * Math.abs(sin(Math.PI * offset)))) - upper;
  }
  return upper;
}
