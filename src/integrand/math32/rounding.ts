/** Functions whose results are exact, with JavaScript's signs of 0: rounding, sign, the integer functions and %. */
export const ROUNDING: Record<string, string> = {
  // every float32 from 2^23 is an integer, infinities and NaN included
  q_floor: `fn q_floor(x: f32) -> f32 { return q_whole(x, floor(x)); }`,
  q_ceil: `fn q_ceil(x: f32) -> f32 { return q_whole(x, ceil(x)); }`,
  q_trunc: `fn q_trunc(x: f32) -> f32 { return q_whole(x, trunc(x)); }`,
  q_nearest: `fn q_nearest(x: f32) -> f32 { return q_whole(x, round(x)); }`,
  q_round: `fn q_round(x: f32) -> f32 {
  let down = floor(x);
  return q_whole(x, select(down, down + 1.0f, q_keep(x - down) >= 0.5f));
}`,
  // y, or x where x is an integer for certain; the sign of 0 is that of x
  q_whole: `fn q_whole(x: f32, y: f32) -> f32 {
  let whole = select(y, x, (q_size(x) >= 0x4b000000u) | (q_size(x) == 0u));
  return select(whole, q_copysign(0.0f, x), q_size(whole) == 0u);
}`,
  q_sign: `fn q_sign(x: f32) -> f32 {
  return select(q_copysign(1.0f, x), x, (q_size(x) == 0u) | (q_size(x) > 0x7f800000u));
}`,
  q_fround: 'fn q_fround(x: f32) -> f32 { return x; }',
  // the bit operations of ../math/kit.ts, for float32
  q_pow2: 'fn q_pow2(k: f32) -> f32 { return bitcast<f32>(u32(i32(k) + 127) << 23u); }',
  q_exponent: 'fn q_exponent(x: f32) -> f32 { return f32(i32(q_size(x) >> 23u) - 127); }',
  q_significand:
    'fn q_significand(x: f32) -> f32 { return bitcast<f32>((bitcast<u32>(x) & 0x7fffffu) | 0x3f800000u); }',
  q_high: 'fn q_high(x: f32) -> f32 { return q_top(x); }',
  // x modulo 2^32, as JavaScript's bit operations take it
  q_uint32: `fn q_uint32(x: f32) -> u32 {
  let size = q_size(x);
  let m = (size & 0x7fffffu) | 0x800000u;
  let e = i32(size >> 23u) - 150;
  let down = select(0u, m >> u32(min(-e, 31)), e <= 0);
  let up = select(0u, m << u32(clamp(e, 0, 31)), (e > 0) & (e < 32));
  let u = select(down | up, 0u, size < 0x3f800000u);
  return select(u, ~u + 1u, bitcast<u32>(x) >= 0x80000000u);
}`,
  q_clz32: 'fn q_clz32(x: f32) -> f32 { return f32(countLeadingZeros(q_uint32(x))); }',
  q_imul: 'fn q_imul(x: f32, y: f32) -> f32 { return f32(bitcast<i32>(q_uint32(x) * q_uint32(y))); }',
  // x % y by long division of the significands, 8 bits of the quotient per turn
  q_mod: `fn q_mod(x: f32, y: f32) -> f32 {
  let a = q_size(x);
  let b = q_size(y);
  let aShift = select(0u, countLeadingZeros(a) - 8u, a < 0x00800000u);
  let bShift = select(0u, countLeadingZeros(b) - 8u, b < 0x00800000u);
  let aBits = a << aShift;
  let bBits = b << bShift;
  let eb = i32(bBits >> 23u) - i32(bShift);
  var left = i32(aBits >> 23u) - i32(aShift) - eb;
  let divisor = max((bBits & 0x7fffffu) | 0x800000u, 1u);
  var rest = ((aBits & 0x7fffffu) | 0x800000u) % divisor;
  loop {
    if (left <= 0) { break; }
    let step = min(left, 8);
    rest = (rest << u32(step)) % divisor;
    left -= step;
  }
  // rest·2^(eb − 150), normalised
  let up = countLeadingZeros(rest) - 8u;
  let e = eb - i32(up);
  let normal = (u32(e) << 23u) | ((rest << up) & 0x7fffffu);
  let subnormal = (rest << up) >> u32(clamp(1 - e, 0, 31));
  let bits = select(select(subnormal, normal, e > 0), 0u, rest == 0u);
  let value = select(bitcast<f32>(bits), bitcast<f32>(a), a < b);
  return select(q_copysign(value, x), q_bits(0x7fc00000u), (a >= 0x7f800000u) | (b == 0u) | (b > 0x7f800000u));
}`,
};
