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

/**
 * The upper and the lower word of a constant times a word c, in 9 or 10 instructions instead of 13: with the constant M = h·2^k + l
 * and c = c₁·2^16 + c₀ the upper word is ⌊(h·c + ⌊l·c/2^k⌋)/2^(32 − k)⌋ = 2^(k − 16)·h·c₁ + ⌊(h·c₀ + ⌊l·c/2^k⌋)/2^(32 − k)⌋, where
 * l·c/2^16 is l·c₁ + ⌊l·c₀/2^16⌋. The least k is taken for which all sums are below 2^32. Most of the work of a sample is here.
 */
export function constantProduct(name: string, multiplier: number): string {
  const most = 2 ** 16 - 1;
  const fits = (k: number) => {
    const [h, l] = [Math.floor(multiplier / 2 ** k), multiplier % 2 ** k];
    return l <= most && h * most + Math.floor((l * most + l) / 2 ** (k - 16)) < 2 ** 32;
  };
  const k = [16, 17, 18, 19, 20].find(fits);
  if (!k) throw new Error(`no way to multiply with ${multiplier} in 32 bits`);
  const [h, l] = [Math.floor(multiplier / 2 ** k), multiplier % 2 ** k];
  return /* wgsl */ `
fn ${name}(c: u32) -> vec2<u32> {
  let low = c & 0xffffu;
  let high = c >> 16u;
  let less = ${l}u * high + ((${l}u * low) >> 16u);
  return vec2<u32>(${h * 2 ** (k - 16)}u * high + ((${h}u * low + (less >> ${k - 16}u)) >> ${32 - k}u), ${multiplier}u * c);
}
`;
}

/** The products of a round of Philox. */
export const PRODUCTS: string = MULTIPLIERS.map((m, i) => constantProduct(`product${i}`, m)).join('');

/** Philox4x32-10 (random/philox.ts). The key of a round is that of the one before and a constant: no memory is read in the loop. */
export const PHILOX = /* wgsl */ `${PRODUCTS}
fn philox(counter: vec4<u32>, first: vec2<u32>) -> vec4<u32> {
  var c = counter;
  var key = first;
  for (var k = 0u; k < ${ROUNDS}u; k++) {
    let a = product0(c.x);
    let b = product1(c.z);
    c = vec4<u32>(b.x ^ c.y ^ key.x, b.y, a.x ^ c.w ^ key.y, a.y);
    key += vec2<u32>(${WEYL[0]}u, ${WEYL[1]}u);
  }
  return c;
}
`;

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
