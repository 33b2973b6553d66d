/**
 * e^x, 2^x and e^x − 1.
 *
 * x = k·ln2 + r with |r| ≤ ln2/2; ln2 has a first part of 9 bits, so that its product with k is exact. Then e^x = 2^k·e^r with
 * e^r = 1 + r + r²·P(r), P of degree 4 (relative error 2^-28.1 with rounded coefficients).
 */
import { horner } from './horner.ts';

const P = horner('r', [0.49999994, 0.16666515, 0.041668214, 0.008369379, 0.0013826627]);

export const EXP: Record<string, string> = {
  // 2^k for −126 ≤ k ≤ 127
  q_exponential: 'fn q_exponential(k: i32) -> f32 { return bitcast<f32>(u32(k + 127) << 23u); }',
  // y·2^k for |k| ≤ 252 and y near 1, in two steps, of which only the second rounds
  q_scale: `fn q_scale(y: f32, k: i32) -> f32 {
  let half = k >> 1u;
  return q_keep(y * q_exponential(half)) * q_exponential(k - half);
}`,
  // e^r for |r| ≤ 0.35
  q_expsmall: `fn q_expsmall(r: f32) -> f32 { return 1.0f + (r + r * r * ${P}); }`,
  // e^(x + rest)·2^shift for |rest| < 0.1
  q_expsum: `fn q_expsum(x: f32, rest: f32, shift: i32) -> f32 {
  let c = clamp(x, -120.0f, 100.0f);
  let nearby = q_nearby((c + rest) * 1.442695f);
  let k = q_rounded(nearby);
  let r = q_keep(c - k * 0.693359375f) + (rest + k * 0.00021219444f);
  return select(q_scale(q_expsmall(r), q_integer(nearby) + shift), x, q_isnan(x));
}`,
  q_exp: 'fn q_exp(x: f32) -> f32 { return q_expsum(x, 0.0f, 0); }',
  q_exp2: `fn q_exp2(x: f32) -> f32 {
  let c = clamp(x, -160.0f, 140.0f);
  let nearby = q_nearby(c);
  let y = q_scale(q_expsmall(q_keep(c - q_rounded(nearby)) * 0.6931472f), q_integer(nearby));
  return select(y, x, q_isnan(x));
}`,
  // 2^k·(e^r − 1) + (2^k − 1), halved until the end because 2^128 is too large
  q_expm1: `fn q_expm1(x: f32) -> f32 {
  let c = clamp(x, -20.0f, 88.8f);
  let nearby = q_nearby(c * 1.442695f);
  let k = q_rounded(nearby);
  let r = q_keep(c - k * 0.693359375f) + k * 0.00021219444f;
  let scale = q_exponential(q_integer(nearby) - 1);
  let y = 2.0f * (q_keep(scale * (r + r * r * ${P})) + (scale - 0.5f));
  let large = select(y, q_bits(0x7f800000u), x > 88.72284f);
  return select(q_copysign(large, x), x, q_isnan(x) | (q_size(x) < 0x33000000u));
}`,
};
