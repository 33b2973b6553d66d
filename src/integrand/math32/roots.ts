/**
 * Square and cube roots, and √(x² + y²).
 *
 * WGSL's sqrt is accurate on all cards known, but may give anything for negative numbers. ∛: |x| = 2^(3q)·w, 1 ≤ w < 8, a
 * polynomial in the significand gives ∛w to 2^-16.7, and one step of Newton's iteration the rest.
 */
import { horner } from './horner.ts';

const START = horner('m', [0.50697815, 0.7181571, -0.30061433, 0.08609231, -0.010604006]);

export const ROOTS: Record<string, string> = {
  q_sqrt: `fn q_sqrt(x: f32) -> f32 {
  let bits = bitcast<u32>(x);
  let y = select(sqrt(x), x, (q_size(x) == 0u) | (bits == 0x7f800000u));
  return select(y, q_bits(0x7fc00000u), ((bits > 0x7f800000u) & (bits != 0x80000000u)));
}`,
  q_cbrt: `fn q_cbrt(x: f32) -> f32 {
  let size = q_size(x);
  let shift = select(0u, countLeadingZeros(size) - 8u, size < 0x00800000u);
  let bits = size << shift;
  let e = i32(bits >> 23u) - i32(shift) + 3 * 64 - 127;
  let q = e / 3;
  let left = e - 3 * q;
  let m = bitcast<f32>((bits & 0x7fffffu) | 0x3f800000u);
  let root = select(select(1.587401f, 1.259921f, left == 1), 1.0f, left == 0);
  let w = m * q_exponential(left);
  let t = root * ${START};
  let y = t - (t * t * t - w) / (3.0f * t * t);
  let ends = (size == 0u) | (size >= 0x7f800000u);
  return select(q_copysign(y * q_exponential(q - 64), x), x, ends);
}`,
  q_hypot: `fn q_hypot(x: f32, y: f32) -> f32 {
  let large = max(q_size(x), q_size(y));
  let e = clamp(large >> 23u, 1u, 253u);
  let scale = bitcast<f32>((254u - e) << 23u);
  let a = bitcast<f32>(q_size(x)) * scale;
  let b = bitcast<f32>(q_size(y)) * scale;
  let h = sqrt(a * a + b * b) * bitcast<f32>(e << 23u);
  let infinite = (q_size(x) == 0x7f800000u) | (q_size(y) == 0x7f800000u);
  let nan = select(h, q_bits(0x7fc00000u), large > 0x7f800000u);
  return select(nan, q_bits(0x7f800000u), infinite);
}`,
};
