/** round, sign, fround, clz32 and imul, exactly as JavaScript's Math defines them. */
import type { Kit } from './kit.ts';

/** Math.round: ties towards +Infinity, −0 kept. */
export function round(x: number, { copySign }: Kit): number {
  const down = Math.floor(x);
  return copySign(x - down >= 0.5 ? down + 1 : down, x);
}

/** Math.sign. */
export function sign(x: number): number {
  return x > 0 ? 1 : x < 0 ? -1 : x;
}

/**
 * Math.fround: adding and taking away 1.5·2^(e + 29) rounds to a multiple of 2^(e − 23), ties to even; e is
 * kept at −126 or more, since float32 subnormals begin below 2^-126.
 */
export function fround(x: number, { exponent, pow2, copySign }: Kit): number {
  const big = 1.5 * pow2(Math.min(Math.max(exponent(x), -126), 128) + 29);
  const y = copySign(x + big - big, x);
  return Math.abs(y) >= 3.402823669209385e38 ? copySign(Infinity, x) : y;
}

/** Math.clz32. */
export function clz32(x: number, { exponent }: Kit): number {
  const whole = Math.trunc(x);
  const u = whole - 4294967296 * Math.floor(whole * 2.3283064365386963e-10);
  return u > 0 ? 31 - exponent(u) : 32; // NaN, from NaN and ±Infinity, counts as 0
}

/** Math.imul: the 16-bit halves of a keep every product below 2^53. */
export function imul(a: number, b: number): number {
  const wrap = (v: number) => {
    const whole = Math.trunc(v);
    const u = whole - 4294967296 * Math.floor(whole * 2.3283064365386963e-10);
    return u < 4294967296 ? u : 0; // NaN, from NaN and ±Infinity, counts as 0
  };
  const ua = wrap(a);
  const ub = wrap(b);
  const top = Math.floor(ua * 0.0000152587890625);
  const u = wrap(wrap(top * ub) * 65536 + (ua - top * 65536) * ub);
  return u >= 2147483648 ? u - 4294967296 : u;
}
