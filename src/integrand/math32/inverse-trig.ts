/**
 * Arc tangent, sine and cosine.
 *
 * atan2: with a = |y/x| cut at ½ and 2, atan(a) is 0 + atan(a), π/4 + atan((a − 1)/(a + 1)) or π/2 + atan(−1/a). There y − x
 * is exact, one division is left, and atan(t) = t + t·z·A(z), z = t² ≤ ¼ (relative error 2^-31.7).
 *
 * asin t = t + t·z·B(z) up to ½ (2^-31.7); above, π/2 − 2·asin(√((1 − x)/2)) with the root in two parts.
 */
import { horner } from './horner.ts';

const A = horner('z', [-0.33333328, 0.19999558, -0.14273192, 0.10949245, -0.08012493, 0.039092034]);
const B = horner('z', [0.1666666, 0.07500518, 0.044514526, 0.03182677, 0.014369877, 0.037609246]);

export const INVERSE_TRIG: Record<string, string> = {
  // atan(y/x) for y ≥ 0 and x ≥ 0, both below 2^126 and not both 0
  q_atanratio: `fn q_atanratio(y: f32, x: f32) -> f32 {
  let far = y > 2.0f * x;
  let middle = (y > 0.5f * x) & !far;
  let above = select(select(y, y - x, middle), -x, far);
  let below = select(select(x, y + x, middle), y, far);
  let t = above / below;
  let z = t * t;
  let arc = t + t * z * ${A};
  return select(select(arc, 0.7853982f + arc, middle), 1.5707964f + q_keep(arc - 4.371139e-8f), far);
}`,
  q_atan: `fn q_atan(x: f32) -> f32 {
  let a = min(abs(x), 1e30f);
  let y = select(q_atanratio(a, 1.0f), abs(x), q_size(x) < 0x39000000u);
  return select(q_copysign(y, x), x, q_isnan(x));
}`,
  // the larger of the two is scaled to about 1, so that nothing overflows; infinities count as 2^128
  q_atan2: `fn q_atan2(y: f32, x: f32) -> f32 {
  let yBits = q_size(y);
  let xBits = q_size(x);
  let e = clamp(i32(max(xBits, yBits) >> 23u), 1, 253);
  let scale = bitcast<f32>(u32(254 - e) << 23u);
  let both = xBits == yBits;
  let b = select(min(bitcast<f32>(yBits) * scale, 8.0f), 1.0f, both);
  let a = select(min(bitcast<f32>(xBits) * scale, 8.0f), 1.0f, both);
  let yAtInfinity = select(select(b, 0.0f, xBits == 0x7f800000u), 1.0f, yBits == 0x7f800000u);
  let xAtInfinity = select(select(a, 0.0f, yBits == 0x7f800000u), 1.0f, xBits == 0x7f800000u);
  let none = max(xBits, yBits) == 0u;
  let quarter = q_atanratio(select(yAtInfinity, 0.0f, none), xAtInfinity);
  let angle = select(quarter, 3.1415927f - q_keep(quarter + 8.742278e-8f), bitcast<u32>(x) >= 0x80000000u);
  return select(q_copysign(angle, y), q_bits(0x7fc00000u), max(xBits, yBits) > 0x7f800000u);
}`,
  q_asinsmall: `fn q_asinsmall(s: f32, z: f32) -> f32 { return s * z * ${B}; }`,
  q_asin: `fn q_asin(x: f32) -> f32 {
  let a = abs(x);
  let far = a > 0.5f;
  let z = select(a * a, 0.5f - 0.5f * a, far);
  let s = select(a, sqrt(max(z, 0.0f)), far);
  let rest = q_asinsmall(s, z);
  let top = q_top(s);
  let low = select(q_keep(z - top * top) / (s + top), 0.0f, s == 0.0f);
  let y = select(a + rest, q_keep(1.5707964f - 2.0f * top) - (2.0f * (low + rest) + 4.371139e-8f), far);
  return select(q_copysign(y, x), q_bits(0x7fc00000u), q_size(x) > 0x3f800000u);
}`,
  q_acos: `fn q_acos(x: f32) -> f32 {
  let a = abs(x);
  let far = a > 0.5f;
  let z = select(a * a, 0.5f - 0.5f * a, far);
  let s = select(x, sqrt(max(z, 0.0f)), far);
  let rest = q_asinsmall(s, z);
  let positive = bitcast<u32>(x) < 0x80000000u;
  let twice = 2.0f * (s + rest);
  let outer = select(3.1415927f - q_keep(twice + 8.742278e-8f), twice, positive);
  let y = select(1.5707964f - q_keep(s + (rest + 4.371139e-8f)), outer, far);
  return select(y, q_bits(0x7fc00000u), q_size(x) > 0x3f800000u);
}`,
};
