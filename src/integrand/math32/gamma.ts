/**
 * The logarithm of |Γ(x)|, by the same cases as ../math/gamma.ts: (x − 1)·(x − 2)·P/Q up to 2 (relative error 2^-27.9),
 * (x − 2)·P/Q up to 10 (2^-25.9), Stirling's series above with the logarithm in two parts, and the reflection for negative x.
 * Near the zeros on the negative axis the error is a few ulp of max(1, log Γ(−x)), not of the result.
 */
import { horner } from './horner.ts';

const LOW_P = horner('v', [0.76315325, 2.1173058, 1.618954, 0.3139807, 0.004262938]);
const LOW_Q = horner('v', [1, 3.5382717, 3.8835232, 1.4232503, 0.12673682]);
const HIGH_P = horner('v', [0.42278433, 0.68198866, 0.30061603, 0.042966127, 0.0015734992, 3.2454527e-6]);
const HIGH_Q = horner('v', [1, 0.8503664, 0.22175132, 0.019284278, 0.0004075331]);
const SERIES = horner('w', [0.083333336, -0.0027787366, 0.0008634274]);

export const GAMMA: Record<string, string> = {
  // (x − ½)·(log x − 1) + (log 2π − 1)/2 + S(1/x²)/x for x ≥ 10
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
  if (x > 10.0f) {
    y = q_stirling(x);
  } else if (x > 2.0f) {
    let v = x - 2.0f;
    y = v * ${HIGH_P} / ${HIGH_Q};
  } else {
    let v = x - 0.5f;
    y = product * ${LOW_P} / ${LOW_Q};
  }
  return y;
}`,
  q_lgamma: `fn q_lgamma(x: f32) -> f32 {
  let a = abs(x);
  let infinity = q_bits(0x7f800000u);
  let small = a < 0.5f;
  let upper = q_lgammaupper(select(a, 1.0f + x, small), select((a - 1.0f) * (a - 2.0f), x * (x - 1.0f), small));
  var y = upper;
  if (x < 0.5f) {
    let offset = a - round(a);
    let sine = abs(q_sin(3.1415927f * offset));
    let reflected = select(q_log(3.1415927f / (a * sine)) - upper, infinity, offset == 0.0f);
    y = select(reflected, upper - q_log(a), small);
  }
  return select(select(y, infinity, q_size(x) == 0x7f800000u), x, q_isnan(x));
}`,
};
