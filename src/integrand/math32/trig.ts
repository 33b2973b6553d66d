/**
 * Sine, cosine and tangent.
 *
 * x = k·π/2 + r with |r| ≤ π/4. For |x| ≤ 3200, k has 11 bits; π/2 has three parts of 13 bits and a rest, so that products
 * are exact, and near a multiple of π/2 differences too. Larger x are m·2^E with an integer m: x·2/π mod 4 is the product of m
 * and the 96 bits of 2/π that begin where m·2^E times a bit is below 4, in 32-bit integers (Payne and Hanek 1983). Then
 * sin r = r + r·z·S(z) and cos r = 1 − z/2 + z²·C(z), z = r² (relative errors 2^-32 and 2^-33), tan r = r + r·z·T(z) (2^-29.3).
 *
 * Up to 1.25, sine and cosine have a polynomial of their own (relative errors 2^-30.7 and 2^-34.4), because most domains are near 0
 * and nothing is reduced or selected there: 10 instructions instead of about 50.
 */
import { horner } from './horner.ts';

const S = horner('z', [-0.16666667, 0.008333373, -0.00019850286, 2.8042048e-6]);
const C = horner('z', [0.041666646, -0.001388731, 2.4432338e-5]);
const NEAR_S = horner('z', [-0.16666666, 0.008333267, -0.00019828658, 2.66068e-6]);
const NEAR_C = horner('z', [0.041666664, -0.0013888793, 2.4787236e-5, -2.664958e-7]);
/** The bits of 1.25, and of the smallest number whose sine is not itself. */
const NEAR = '0x3fa00000u';
const TINY = '0x39000000u';
const T = horner(
  'z',
  [0.33333352, 0.13332589, 0.05406762, 0.02124512, 0.010926467, -1.9847052e-5, 0.0044279727],
);
/** The bits of 2/π after 32 zeros. */
const WORDS = '0u, 0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu';

export const TRIG: Record<string, string> = {
  // the high half of a product
  q_mulhigh: `fn q_mulhigh(a: u32, b: u32) -> u32 {
  let a0 = a & 0xffffu;
  let a1 = a >> 16u;
  let b0 = b & 0xffffu;
  let b1 = b >> 16u;
  let middle = a1 * b0 + ((a0 * b0) >> 16u);
  let other = a0 * b1 + (middle & 0xffffu);
  return a1 * b1 + (middle >> 16u) + (other >> 16u);
}`,
  // (the bits of r, k) of finite |x| ≥ 2^11; the last two bits of k count
  q_reducehuge: `fn q_reducehuge(x: f32) -> vec2u {
  let bits = bitcast<u32>(x);
  let m = (bits & 0x7fffffu) | 0x800000u;
  // the first bit of 2/π that matters, counted from 1, is E − 1 with E = exponent − 150; 32 zeros come before it
  let place = u32(clamp(i32((bits >> 23u) & 0xffu) - 150 - 2 + 32, 0, 137));
  var words = array<u32, 8>(${WORDS});
  let i = place >> 5u;
  let shift = place & 31u;
  let down = (32u - shift) & 31u;
  let carry = select(0xffffffffu, 0u, shift == 0u);
  let w0 = (words[i] << shift) | ((words[i + 1u] >> down) & carry);
  let w1 = (words[i + 1u] << shift) | ((words[i + 2u] >> down) & carry);
  let w2 = (words[i + 2u] << shift) | ((words[i + 3u] >> down) & carry);
  // the low 96 bits of m·(w0, w1, w2), without the lowest 32
  let low = w1 * m + q_mulhigh(w2, m);
  let over = select(0u, 1u, low < w1 * m);
  var high = w0 * m + q_mulhigh(w1, m) + over;
  var rest = low;
  // two bits of quadrant, 62 of its fraction; above a half, the fraction is counted back from the next quadrant
  let back = (high & 0x20000000u) != 0u;
  let k = (high >> 30u) + select(0u, 1u, back);
  high = (high << 2u) | (rest >> 30u);
  rest = rest << 2u;
  let flippedRest = select(rest, ~rest + 1u, back);
  let flippedHigh = select(high, ~high + select(0u, 1u, rest == 0u), back);
  let zeros = min(countLeadingZeros(flippedHigh), 31u);
  let top = (flippedHigh << zeros) | ((flippedRest >> 1u) >> (31u - zeros));
  // times π/2: 16 bits by the first 8 bits of π/2 are exact
  let upper = f32(top >> 16u);
  let product = q_keep(upper * 1.5703125f) + (upper * 0.00048382679f + f32(top & 0xffffu) * 2.396845e-5f);
  let r = product * q_exponential(-16 - i32(zeros));
  let negative = back != (bits >= 0x80000000u);
  return vec2u(bitcast<u32>(select(r, -r, negative)), select(k, 4u - (k & 3u), bits >= 0x80000000u));
}`,
  // (the bits of r, k), of which the last two bits of k count; r is NaN where x is not finite
  q_reduce: `fn q_reduce(x: f32) -> vec2u {
  var reduced: vec2u;
  if (q_size(x) > 0x45480000u) {
    reduced = q_reducehuge(x);
    reduced.x = select(reduced.x, 0x7fc00000u, q_size(x) >= 0x7f800000u);
  } else {
    let nearby = q_nearby(x * 0.63661975f);
    let k = q_rounded(nearby);
    let a = q_keep(x - k * 1.570556640625f);
    let b = q_keep(a - k * 0.0002396702766418457f);
    let c = q_keep(b - k * 1.5890691429376602e-8f);
    reduced = vec2u(bitcast<u32>(c - k * 2.563344e-12f), bitcast<u32>(nearby));
  }
  return reduced;
}`,
  q_sinsmall: `fn q_sinsmall(r: f32) -> f32 {
  let z = r * r;
  return r + r * z * ${S};
}`,
  q_cossmall: `fn q_cossmall(r: f32) -> f32 {
  let z = r * r;
  return (1.0f - 0.5f * z) + z * z * ${C};
}`,
  // y, or −y where k mod 4 is 2 or 3
  q_quadrant: `fn q_quadrant(y: f32, k: u32) -> f32 { return bitcast<f32>(bitcast<u32>(y) ^ ((k & 2u) << 30u)); }`,
  // (sin x, cos x)
  q_sincos: `fn q_sincos(x: f32) -> vec2f {
  let reduced = q_reduce(x);
  let k = reduced.y;
  let r = bitcast<f32>(reduced.x);
  let s = q_sinsmall(r);
  let c = q_cossmall(r);
  let odd = (k & 1u) == 1u;
  let sine = q_quadrant(select(s, c, odd), k);
  return vec2f(select(sine, x, q_size(x) < ${TINY}), q_quadrant(select(c, s, odd), k + 1u));
}`,
  // for usual arguments; what is rare has to be asked
  q_usualsin: `fn q_usualsin(x: f32) -> f32 {
  let z = x * x;
  return x + x * z * ${NEAR_S};
}`,
  q_raresin: `fn q_raresin(x: f32) -> bool { return q_size(x) - ${TINY} > ${NEAR} - ${TINY}; }`,
  q_usualcos: `fn q_usualcos(x: f32) -> f32 {
  let z = x * x;
  return (1.0f - 0.5f * z) + z * z * ${NEAR_C};
}`,
  q_rarecos: `fn q_rarecos(x: f32) -> bool { return q_size(x) > ${NEAR}; }`,
  q_sin: `fn q_sin(x: f32) -> f32 {
  var y: f32;
  if (q_raresin(x)) { y = q_sincos(x).x; } else { y = q_usualsin(x); }
  return y;
}`,
  q_cos: `fn q_cos(x: f32) -> f32 {
  var y: f32;
  if (q_rarecos(x)) { y = q_sincos(x).y; } else { y = q_usualcos(x); }
  return y;
}`,
  q_tan: `fn q_tan(x: f32) -> f32 {
  let reduced = q_reduce(x);
  let r = bitcast<f32>(reduced.x);
  let z = r * r;
  let t = r + r * z * ${T};
  let y = select(t, -1.0f / t, (reduced.y & 1u) == 1u);
  return select(y, x, q_size(x) < ${TINY});
}`,
};
