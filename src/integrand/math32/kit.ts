/**
 * What the float32 functions are written with: the bits of float32 numbers, and ways to keep a compiler from changing what
 * was written.
 *
 * WGSL allows to reassociate sums, to fuse a product and a sum or not, to assume that there are no NaN and no infinities, to
 * flush subnormal numbers to 0, and refuses constant expressions that are NaN or infinite. Three rules follow:
 *
 * - `q_zero` is a 0 from the params buffer, which no compiler knows. `q_keep(x)`, x with its bits xor q_zero, is x, but nothing
 *   can be reassociated across it. Sums whose order matters (a remainder after a product, an error term) go through it.
 * - A product that must be exact has factors of at most 12 bits (`q_top`), so fused or not it is the same.
 * - NaN and infinities are made by q_bits, and recognised by their bits.
 *
 * Conversions between float32 and integers, and `floor`, take eight times as long as a sum on GPUs of NVIDIA (16 per clock and
 * processor beside 128). Where |x| < 2^22 the nearest integer comes from a sum with 1.5·2^23, whose last bit is 1 (`q_nearby`).
 */
export const KIT: Record<string, string> = {
  q_bits: `fn q_bits(bits: u32) -> f32 { return bitcast<f32>(bits ^ q_zero); }`,
  q_keep: `fn q_keep(x: f32) -> f32 { return bitcast<f32>(bitcast<u32>(x) ^ q_zero); }`,
  // x cut to its 12 leading bits
  q_top: `fn q_top(x: f32) -> f32 { return bitcast<f32>((bitcast<u32>(x) & 0xfffff000u) ^ q_zero); }`,
  // 1.5·2^23 + the integer nearest to x, for |x| < 2^22
  q_nearby: `fn q_nearby(x: f32) -> f32 { return q_keep(x + 12582912.0f); }`,
  // the integer of q_nearby, as a float32 number and as bits; and a small integer as a float32 number
  q_rounded: `fn q_rounded(nearby: f32) -> f32 { return nearby - 12582912.0f; }`,
  q_integer: `fn q_integer(nearby: f32) -> i32 { return bitcast<i32>(nearby) - 0x4b400000; }`,
  q_float: `fn q_float(k: i32) -> f32 { return bitcast<f32>(k + 0x4b400000) - 12582912.0f; }`,
  q_size: `fn q_size(x: f32) -> u32 { return bitcast<u32>(x) & 0x7fffffffu; }`,
  q_isnan: `fn q_isnan(x: f32) -> bool { return q_size(x) > 0x7f800000u; }`,
  q_copysign: `fn q_copysign(x: f32, s: f32) -> f32 {
  return bitcast<f32>(q_size(x) | (bitcast<u32>(s) & 0x80000000u));
}`,
  q_lt: `fn q_lt(a: f32, b: f32) -> bool { return (a < b) & (max(q_size(a), q_size(b)) <= 0x7f800000u); }`,
  q_le: `fn q_le(a: f32, b: f32) -> bool { return (a <= b) & (max(q_size(a), q_size(b)) <= 0x7f800000u); }`,
  q_eq: `fn q_eq(a: f32, b: f32) -> bool { return (a == b) & (max(q_size(a), q_size(b)) <= 0x7f800000u); }`,
  // integers in the order of the numbers, −0 just below 0
  q_order: `fn q_order(x: f32) -> i32 {
  let bits = bitcast<i32>(x);
  return bits ^ ((bits >> 31u) & 0x7fffffff);
}`,
  q_ltbits: `fn q_ltbits(a: f32, b: f32) -> bool {
  return (q_order(a) < q_order(b)) & (max(q_size(a), q_size(b)) <= 0x7f800000u);
}`,
  q_lebits: `fn q_lebits(a: f32, b: f32) -> bool {
  return (q_order(a) <= q_order(b)) & (max(q_size(a), q_size(b)) <= 0x7f800000u);
}`,
  q_eqbits: `fn q_eqbits(a: f32, b: f32) -> bool {
  return (bitcast<u32>(a) == bitcast<u32>(b)) & (q_size(a) <= 0x7f800000u);
}`,
  q_min: `fn q_min(a: f32, b: f32) -> f32 {
  let c = select(b, a, q_order(a) < q_order(b));
  return select(c, q_bits(0x7fc00000u), max(q_size(a), q_size(b)) > 0x7f800000u);
}`,
  q_max: `fn q_max(a: f32, b: f32) -> f32 {
  let c = select(b, a, q_order(a) > q_order(b));
  return select(c, q_bits(0x7fc00000u), max(q_size(a), q_size(b)) > 0x7f800000u);
}`,
};
