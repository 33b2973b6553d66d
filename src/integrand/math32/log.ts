/**
 * Logarithms. x = 2^e·(1 + f) with √½ ≤ 1 + f < √2, split by integers, and log(1 + f) = f − f²/2 + f³·P(f), P of degree 8
 * (relative error 2^-30.2). e·ln2 is added in two parts, the first of 9 bits.
 */
import { horner } from './horner.ts';

const P = horner(
  'f',
  [
    0.33333313, -0.25000015, 0.20002083, -0.16667727, 0.14219877, -0.12409948, 0.11890463, -0.1165286,
    0.0671494,
  ],
);

export const LOG: Record<string, string> = {
  // (f, e) of positive x, subnormal x included
  q_split: `fn q_split(x: f32) -> vec2f {
  let bits = bitcast<u32>(x);
  var shift = 0u;
  if (bits < 0x00800000u) {
    shift = countLeadingZeros(bits) - 8u;
  }
  let above = i32(bits << shift) - 0x3f3504f3;
  let m = bitcast<f32>((above & 0x7fffff) + 0x3f3504f3);
  return vec2f(m - 1.0f, q_float((above >> 23u) - i32(shift)));
}`,
  // log(1 + f)
  q_logsmall: `fn q_logsmall(f: f32) -> f32 {
  let z = f * f;
  return f + q_keep(f * z * ${P} - 0.5f * z);
}`,
  // log(1 + f) + e·ln2 + rest
  q_logsum: `fn q_logsum(f: f32, e: f32, rest: f32) -> f32 {
  let z = f * f;
  let tail = (f * z * ${P} + (rest - e * 0.00021219444f)) - 0.5f * z;
  return (f + q_keep(tail)) + e * 0.693359375f;
}`,
  // the logarithm y of x, or what it is for 0, negative numbers, infinity and NaN
  q_logends: `fn q_logends(x: f32, y: f32) -> f32 {
  let bits = bitcast<u32>(x);
  var value = select(y, x, bits == 0x7f800000u);
  value = select(value, q_bits(0x7fc00000u), bits > 0x7f800000u);
  return select(value, q_bits(0xff800000u), q_size(x) == 0u);
}`,
  q_log: `fn q_log(x: f32) -> f32 {
  let s = q_split(x);
  return q_logends(x, q_logsum(s.x, s.y, 0.0f));
}`,
  q_log2: `fn q_log2(x: f32) -> f32 {
  let s = q_split(x);
  return q_logends(x, s.y + q_logsmall(s.x) * 1.442695f);
}`,
  q_log10: `fn q_log10(x: f32) -> f32 {
  let s = q_split(x);
  return q_logends(x, s.y * 0.301025390625f + q_keep(q_logsmall(s.x) * 0.4342945f + s.y * 4.605039e-6f));
}`,
  // log(u) + c/u where 1 + x = u + c
  q_log1p: `fn q_log1p(x: f32) -> f32 {
  let u = q_keep(1.0f + x);
  let c = select(x - q_keep(u - 1.0f), 1.0f - q_keep(u - x), x > 1.0f);
  let s = q_split(u);
  let near = s.y == 0.0f;
  let y = q_logsum(select(s.x, x, near), s.y, select(c / u, 0.0f, near));
  return select(q_logends(u, y), x, q_size(x) < 0x33000000u);
}`,
};
