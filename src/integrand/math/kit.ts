/**
 * The kit that the math library is written with.
 *
 * Every function of `math/` is written once, as a plain TypeScript function in the integrand
 * language. It runs as it is in JavaScript, and the compiler turns it into vector code for the
 * targets that have no math functions of their own. Its last argument is this kit: a handful of
 * operations on the bits of a float64 that each target has as one to three instructions, and the
 * other functions of the library. They come as an argument and not as imports because the compiler
 * reads the text of a function, in which bundlers rename imports but keep property names.
 */
export interface Intrinsics {
  /** x rounded to the nearest integer, ties to even. */
  nearest(x: number): number;
  /** 2^k for an integer k in [-1022, 1023]; anything outside gives an unspecified number. */
  pow2(k: number): number;
  /** The exponent field less 1023: floor(log2|x|) for normal x, -1023 for 0 and subnormals, 1024 for Infinity and NaN. */
  exponent(x: number): number;
  /** The fraction field of x with the exponent of 1, positive: in [1, 2); |x| = significand·2^exponent for normal x. */
  significand(x: number): number;
  /** x with the 27 lowest bits of its fraction cleared, so that high(a)·high(b) is exact. */
  high(x: number): number;
  /** |x| with the sign bit of s. */
  copySign(x: number, s: number): number;
}

type Unary = (x: number) => number;
type Binary = (x: number, y: number) => number;

/** The functions of the library as they are called: with their mathematical arguments only. */
export interface MathLibrary {
  exp: Unary;
  exp2: Unary;
  expm1: Unary;
  log: Unary;
  log2: Unary;
  log10: Unary;
  log1p: Unary;
  pow: Binary;
  sin: Unary;
  cos: Unary;
  tan: Unary;
  asin: Unary;
  acos: Unary;
  atan: Unary;
  atan2: Binary;
  sinh: Unary;
  cosh: Unary;
  tanh: Unary;
  asinh: Unary;
  acosh: Unary;
  atanh: Unary;
  cbrt: Unary;
  hypot: Binary;
  mod: Binary;
  round: Unary;
  sign: Unary;
  fround: Unary;
  clz32: Unary;
  imul: Binary;
  erf: Unary;
  erfc: Unary;
  erfinv: Unary;
  lgamma: Unary;
  j0: Unary;
  j1: Unary;
}

/** Parts that the functions share; each is described where it is defined. */
export interface Helpers {
  expTail: Unary;
  expPair: Binary;
  splitAtRoot2(x: number): [number, number];
  logTail(f: number): [number, number];
  log1pPair: Binary;
  logPair(x: number, bias: number): [number, number];
  reduceSmall(x: number): [number, number, number];
  reduceQuarter(x: number): [number, number, number];
  reduceHuge(x: number): [number, number, number];
  atanRatio: Binary;
  asinTail: Unary;
  lgammaUpper: Binary;
  eighthTurnBack(x: number, shift: number): [number, number];
  sineOf(k: number, r: number, tail: number): number;
  cosineOf(k: number, r: number, tail: number): number;
  sinHuge: Unary;
  cosHuge: Unary;
  sinCosPairs(r: number, tail: number): [number, number, number, number];
}

/** What every function of the library gets as its last argument. */
export type Kit = Intrinsics & MathLibrary & Helpers;

const f64 = new Float64Array(1);
const u32 = new Uint32Array(f64.buffer); // little-endian: u32[1] holds sign, exponent and the top of the fraction

/** The intrinsics in JavaScript, bit for bit what the compiled targets do. */
export const intrinsics: Intrinsics = {
  nearest(x) {
    const r = Math.round(x);
    return Math.abs(r - x) === 0.5 && r % 2 !== 0 ? r - 1 : r;
  },
  pow2(k) {
    u32[0] = 0;
    u32[1] = (k + 1023) << 20;
    return f64[0];
  },
  exponent(x) {
    f64[0] = x;
    return ((u32[1] >>> 20) & 0x7ff) - 1023;
  },
  significand(x) {
    f64[0] = x;
    u32[1] = (u32[1] & 0x000fffff) | 0x3ff00000;
    return f64[0];
  },
  high(x) {
    f64[0] = x;
    u32[0] &= 0xf8000000;
    return f64[0];
  },
  copySign(x, s) {
    return Object.is(Math.abs(s), s) ? Math.abs(x) : -Math.abs(x);
  },
};
