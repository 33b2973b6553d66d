/**
 * Hyperbolic functions and their inverses.
 *
 * Where a formula with e^x or log would cancel, x + x·z·P(z), z = x² (relative errors below 2^-31): sinh up to 1, tanh up to
 * 0.55, asinh and atanh up to ½. Elsewhere they are made of e^x and log(1 + x), with the factor ½ in the exponent so that
 * nothing overflows early.
 */
import { horner } from './horner.ts';

const SINH = horner('z', [0.16666667, 0.008333316, 0.0001984142, 2.7915382e-6]);
const TANH = horner('z', [-0.3333333, 0.13333242, -0.053952742, 0.021741154, -0.0082970075, 0.0022717547]);
const ASINH = horner('z', [-0.16666666, 0.07499908, -0.04461631, 0.03003573, -0.020058597, 0.00927004]);
const ATANH = horner(
  'z',
  [0.33333334, 0.1999993, 0.14287363, 0.110948525, 0.091347456, 0.080801226, 0.033646923, 0.14524548],
);

export const HYPERBOLIC: Record<string, string> = {
  q_sinh: `fn q_sinh(x: f32) -> f32 {
  let a = abs(x);
  let z = a * a;
  let far = q_expsum(a, 0.0f, -1) - q_expsum(-a, 0.0f, -1);
  return q_copysign(select(far, a + a * z * ${SINH}, a < 1.0f), x);
}`,
  q_cosh: 'fn q_cosh(x: f32) -> f32 { return q_expsum(abs(x), 0.0f, -1) + q_expsum(-abs(x), 0.0f, -1); }',
  q_tanh: `fn q_tanh(x: f32) -> f32 {
  let a = abs(x);
  let z = a * a;
  let far = 1.0f - 2.0f / (q_exp(2.0f * min(a, 20.0f)) + 1.0f);
  return select(q_copysign(select(far, a + a * z * ${TANH}, a < 0.55f), x), x, q_isnan(x));
}`,
  q_asinh: `fn q_asinh(x: f32) -> f32 {
  let a = abs(x);
  let z = a * a;
  let large = a > 1e9f;
  let c = min(a, 1e9f);
  let far = q_log1p(c + c * c / (1.0f + sqrt(c * c + 1.0f)));
  let y = select(far, q_log(a) + 0.6931472f, large);
  return select(q_copysign(select(y, a + a * z * ${ASINH}, a < 0.5f), x), x, q_isnan(x));
}`,
  q_acosh: `fn q_acosh(x: f32) -> f32 {
  let t = x - 1.0f;
  let c = clamp(t, 0.0f, 1e9f);
  let y = select(q_log1p(c + sqrt(c * (c + 2.0f))), q_log(x) + 0.6931472f, t > 1e9f);
  return select(y, q_bits(0x7fc00000u), (bitcast<u32>(x) < 0x3f800000u) | (bitcast<u32>(x) > 0x7f800000u));
}`,
  q_atanh: `fn q_atanh(x: f32) -> f32 {
  let a = abs(x);
  let z = a * a;
  let far = 0.5f * q_log1p(2.0f * a / (1.0f - min(a, 1.0f)));
  let y = select(far, a + a * z * ${ATANH}, a < 0.5f);
  let end = select(y, q_bits(0x7f800000u), q_size(x) == 0x3f800000u);
  return select(q_copysign(end, x), q_bits(0x7fc00000u), q_size(x) > 0x3f800000u);
}`,
};
