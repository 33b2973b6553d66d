/**
 * x^y = 2^(y·log2|x|), with JavaScript's special cases.
 *
 * A result of 2^127 has 7 bits of its exponent before the point, so the logarithm is needed to 2^-32, in two parts. With
 * |x| = 2^e·m and c one of ¾, 1 and 21/16, s = (m − c)/(m + c) is below 0.09, and log(m/c) = 2·(s + s³·T(s²)), T of degree 2
 * (2^-38 of the sum). Every product of first parts is exact, and every sum that is taken apart goes through q_keep.
 */
import { horner } from './horner.ts';

const T = horner('z', [0.33333334, 0.19999242, 0.14452662]);

export const POW: Record<string, string> = {
  // log2(x) of positive finite x in two parts
  q_log2pair: `fn q_log2pair(x: f32) -> vec2f {
  let split = q_split(x);
  let m = 1.0f + split.x;
  let below = m < 0.84f;
  let above = m > 1.19f;
  let c = select(select(1.0f, 0.75f, below), 1.3125f, above);
  let base = split.y + select(select(0.0f, -0.4150390625f, below), 0.392333984375f, above);
  let baseLow = select(select(0.0f, 1.5632212e-6f, below), -1.6561597e-5f, above);
  let f = m - c;
  let d = m + c;
  let dTop = q_top(d);
  let dLow = q_keep(m - q_keep(dTop - c));
  let inverse = 1.0f / d;
  let top = q_top(f * inverse);
  let low = q_keep(q_keep(f - top * dTop) - top * dLow) * inverse;
  let s = top + low;
  let z = s * s;
  let rest = low + s * z * ${T};
  let first = q_keep(top * 2.884765625f);
  let second = baseLow + (top * 0.0006244568f + rest * 2.88539f);
  let sum = q_keep(base + first);
  let left = (first - q_keep(sum - base)) + second;
  let value = q_keep(sum + left);
  return vec2f(value, q_keep(sum - value) + left);
}`,
  // a·b in two parts
  q_product: `fn q_product(a: f32, b: f32) -> vec2f {
  let aTop = q_top(a);
  let aLow = q_keep(a - aTop);
  let bTop = q_top(b);
  let bLow = q_keep(b - bTop);
  let p = q_keep(a * b);
  return vec2f(p, q_keep(q_keep(q_keep(aTop * bTop - p) + aTop * bLow) + aLow * bTop) + aLow * bLow);
}`,
  // 2^(a + b) for small b
  q_exp2sum: `fn q_exp2sum(a: f32, b: f32) -> f32 {
  let nearby = q_nearby(clamp(a, -240.0f, 240.0f));
  return q_scale(q_expsmall((q_keep(a - q_rounded(nearby)) + b) * 0.6931472f), q_integer(nearby));
}`,
  q_isodd: `fn q_isodd(y: f32) -> bool {
  let a = abs(y);
  return (a < 16777216.0f) & (floor(a) == a) & ((u32(min(a, 16777216.0f)) & 1u) == 1u);
}`,
  q_pow: `fn q_pow(x: f32, y: f32) -> f32 {
  let a = bitcast<f32>(q_size(x));
  let infinity = q_bits(0x7f800000u);
  let l = q_log2pair(a);
  let p = q_product(y, l.x);
  var value = q_exp2sum(p.x, p.y + y * l.y);
  // beyond the range, and where a or y is 0 or infinite, the size of y and the side of 1 on which a lies decide
  let ends = (q_size(x) == 0u) | (q_size(x) == 0x7f800000u);
  let far = ends | (q_size(y) >= 0x7f000000u) | (q_size(p.x) > 0x43480000u);
  let grows = (bitcast<u32>(y) < 0x80000000u) == (q_size(x) > 0x3f800000u);
  value = select(value, select(0.0f, infinity, grows), far);
  value = select(value, 1.0f, q_size(x) == 0x3f800000u);
  let negative = bitcast<u32>(x) >= 0x80000000u;
  value = select(value, -value, negative & q_isodd(y));
  let fractional = negative & !ends & (floor(y) != y) & (q_size(y) < 0x7f800000u);
  let none = fractional | ((q_size(x) == 0x3f800000u) & (q_size(y) == 0x7f800000u));
  value = select(value, q_bits(0x7fc00000u), none | q_isnan(x) | q_isnan(y));
  return select(value, 1.0f, q_size(y) == 0u);
}`,
};
