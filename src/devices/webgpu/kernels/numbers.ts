/**
 * Random words and integers of more than 32 bits, for kernels. WGSL has neither 64-bit integers nor the upper half of a product,
 * and its compilers may reassociate float arithmetic, so that double-float sums lose their low parts. Whatever must be exact is in
 * integers.
 */
import { MULTIPLIERS, ROUNDS, WEYL } from '../../../random/philox.ts';

/** The upper word of a product of two words. */
export const HIGH_PRODUCT = /* wgsl */ `
fn highProduct(a: u32, b: u32) -> u32 {
  let aLow = a & 0xffffu;
  let aHigh = a >> 16u;
  let bLow = b & 0xffffu;
  let bHigh = b >> 16u;
  let middle = aHigh * bLow + ((aLow * bLow) >> 16u);
  let carry = (middle & 0xffffu) + aLow * bHigh;
  return aHigh * bHigh + (middle >> 16u) + (carry >> 16u);
}
`;

/** Philox4x32-10 (random/philox.ts). The key of a round is that of the one before and a constant: no memory is read in the loop. */
export const PHILOX_ALONE = /* wgsl */ `
fn philox(counter: vec4<u32>, first: vec2<u32>) -> vec4<u32> {
  var c = counter;
  var key = first;
  for (var k = 0u; k < ${ROUNDS}u; k++) {
    let high0 = highProduct(${MULTIPLIERS[0]}u, c.x);
    let high1 = highProduct(${MULTIPLIERS[1]}u, c.z);
    c = vec4<u32>(
      high1 ^ c.y ^ key.x,
      ${MULTIPLIERS[1]}u * c.z,
      high0 ^ c.w ^ key.y,
      ${MULTIPLIERS[0]}u * c.x,
    );
    key += vec2<u32>(${WEYL[0]}u, ${WEYL[1]}u);
  }
  return c;
}
`;

/** The same with what it needs. */
export const PHILOX: string = `${HIGH_PRODUCT}${PHILOX_ALONE}`;

/** The number of bits behind the binary point of a sum. */
export const FRACTION_BITS = 96;

/** Signed integers of 128 bits. */
export const ADD128 = /* wgsl */ `
fn add128(a: vec4<u32>, b: vec4<u32>) -> vec4<u32> {
  var sum = a + b;
  var carry = vec4<u32>(sum < a);
  // a carry makes another one only where the word became 0
  sum.y += carry.x;
  carry.y += u32(sum.y < carry.x);
  sum.z += carry.y;
  carry.z += u32(sum.z < carry.y);
  sum.w += carry.z;
  return sum;
}

fn negative128(a: vec4<u32>) -> vec4<u32> {
  return add128(~a, vec4<u32>(1u, 0u, 0u, 0u));
}
`;

/**
 * Sums as signed integers of 128 bits, of which 96 are behind the binary point: adding them has no order and no rounding error. A
 * float32 is put into its place bit by bit; what is beyond 2^30 sets \`tooLarge\`.
 */
export const SUMS = /* wgsl */ `${ADD128}
var<private> tooLarge: bool = false;

/** value · times as an integer of 128 bits; times is at most 256. Without early returns: drivers compile these for seconds. */
fn fixed128(value: f32, times: u32) -> vec4<u32> {
  let bits = bitcast<u32>(value);
  let power = (bits >> 23u) & 0xffu;
  let digits = select(((bits & 0x7fffffu) | 0x800000u) * times, 0u, power == 0u);
  let down = ${150 - FRACTION_BITS}u - min(power, ${150 - FRACTION_BITS}u);
  let up = max(power, ${150 - FRACTION_BITS}u) - ${150 - FRACTION_BITS}u;
  if (up > 94u) { tooLarge = true; }
  let shift = up & 31u;
  // the digits in two words, and these in their places
  let low = select((digits >> min(down, 31u)) << shift, 0u, down > 31u);
  let high = select(digits >> (32u - shift), 0u, shift == 0u);
  let word = up >> 5u;
  let numbers = vec4<u32>(0u, 1u, 2u, 3u);
  var placed = select(vec4<u32>(), vec4<u32>(low), numbers == vec4<u32>(word));
  placed |= select(vec4<u32>(), vec4<u32>(high), numbers == vec4<u32>(word + 1u));
  return select(placed, negative128(placed), (bits >> 31u) == 1u);
}
`;

/** Whether a float32 is a number; comparisons do not tell, since WGSL may assume that there are no others. */
export const FINITE = /* wgsl */ `
fn isFinite(value: f32) -> bool {
  return (bitcast<u32>(value) & 0x7f800000u) != 0x7f800000u;
}
`;
