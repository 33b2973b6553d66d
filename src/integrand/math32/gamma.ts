/**
 * The logarithm of |Γ(x)|: (x − 1)·(x − 2)·P(x − 1.25) up to 2 (relative error 2^-26.3), (x − 2)·P(x − 3) up to 4 (2^-27),
 * Stirling's series above (2^-28.6 in all) with the logarithm in two parts, and the reflection for negative x.
 * Near the zeros on the negative axis the error is a few ulp of max(1, log Γ(−x)), not of the result.
 */
import { horner } from './horner.ts';

const LOW = horner(
  's',
  [
    0.52411646, -0.18455845, 0.09456623, -0.056268804, 0.036144435, -0.024396112, 0.017001444, -0.011177257,
    0.0074639022, -0.009070996, 0.008037405, 0.002634651, -0.0037257406, -0.007412579, 0.00644212,
  ],
);
const HIGH = horner('s', [
  Math.LN2,
  0.22963718,
  -0.032170076,
  0.006484205,
  -0.0015292532,
  0.00039423222,
  -0.00010495361,
  2.8330107e-5,
  -1.0862296e-5,
  3.7578056e-6,
]);
const SERIES = horner('w', [0.083333336, -0.002778069, 0.00080103864, -0.000604483]);

export const GAMMA: Record<string, string> = {
  // (x − ½)·(log x − 1) + (log 2π − 1)/2 + S(1/x²)/x for x ≥ 4
  q_stirling: `fn q_stirling(x: f32) -> f32 {
  let l = q_log2pair(x);
  let p = q_product(l.x, 0.6931472f);
  let first = q_keep(p.x - 1.0f);
  let second = p.y + (l.y * 0.6931472f - l.x * 1.9046542e-9f);
  let q = q_product(x - 0.5f, first);
  let u = 1.0f / x;
  let w = u * u;
  let y = q.x + (q.y + ((x - 0.5f) * second + (0.41893852f + u * ${SERIES})));
  return select(y, q_bits(0x7f800000u), q_size(q.x) >= 0x7f800000u);
}`,
  // log Γ(x) for x ≥ ½; product is (x − 1)·(x − 2), for x ≤ 2
  q_lgammaupper: `fn q_lgammaupper(x: f32, product: f32) -> f32 {
  var y: f32;
  if (x > 4.0f) {
    y = q_stirling(x);
  } else if (x > 2.0f) {
    let s = x - 3.0f;
    y = (x - 2.0f) * ${HIGH};
  } else {
    let s = x - 1.25f;
    y = product * ${LOW};
  }
  return y;
}`,
  q_lgamma: `fn q_lgamma(x: f32) -> f32 {
  let a = abs(x);
  let infinity = q_bits(0x7f800000u);
  let small = a < 0.5f;
  let upper = q_lgammaupper(select(a, 1.0f + x, small), select(0.0f - (a - 1.0f) * (2.0f - a), x * (x - 1.0f), small));
  var y = upper;
  if (x < 0.5f) {
    let offset = a - round(a);
    let sine = abs(q_sin(3.1415927f * offset));
    let reflected = select(q_log(3.1415927f / (a * sine)) - upper, infinity, offset == 0.0f);
    y = select(reflected, upper - q_log(a), small);
  }
  y = select(y, 0.0f, q_size(y) == 0u);
  return select(select(y, infinity, q_size(x) == 0x7f800000u), x, q_isnan(x));
}`,
};
