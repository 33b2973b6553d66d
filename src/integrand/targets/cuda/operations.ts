/** Operations, functions and literals in CUDA C++, and the helper functions that the generated text brings along. */
import type { Op } from '../../ir.ts';

export const NAN = '__longlong_as_double(0x7ff8000000000000LL)';
const INFINITY = '__longlong_as_double(0x7ff0000000000000LL)';

/**
 * Whether the host wants the run to stop. It sets a word in its own memory, whose address is the first entry of the
 * params buffer. The kernels that call an integrand use this function too.
 */
export const STOPPED = `__device__ __forceinline__ bool stopped(const double* params) {
  const volatile unsigned* flag = (const volatile unsigned*)__double_as_longlong(params[0]);
  return flag && *flag;
}`;

/** c₀ + x·(c₁ + x·(…)), each product and sum rounded once. */
const fused = (x: string, [first, ...rest]: readonly number[]): string =>
  rest.length === 0 ? `${first}` : `fma(${x}, ${fused(x, rest)}, ${first})`;

/** (sin x/x − 1)/z and (cos x − 1 + z/2)/z², z = x². */
const SINE = [
  -0.1666666666666665, 0.008333333333330386, -0.00019841269839668423, 2.755731881026226e-6,
  -2.505205107850169e-8, 1.605467079380687e-10, -7.473664514861391e-13,
];
const COSINE = [
  0.04166666666666662, -0.0013888888888884043, 2.4801587299637615e-5, -2.7557318822997807e-7,
  2.087671062795793e-9, -1.1467693338203e-11, 4.672426814995513e-14,
];

/**
 * Polynomials for |x| ≤ 1.25 (relative errors 2^-57.9 and 2^-62.4, 1.3 ulp with their roundings): most domains are near 0, and there
 * CUDA's functions spend two thirds of their time on reducing the angle and on choosing a polynomial. The sine of 0 and of −0 is CUDA's.
 */
const NEAR = {
  sin: {
    far: '(__double2hiint(x) & 0x7fffffffu) - 0x3e400000u > 0x3ff40000u - 0x3e400000u',
    value: `fma(x * z, ${fused('z', SINE)}, x)`,
  },
  cos: {
    far: '(__double2hiint(x) & 0x7fffffffu) > 0x3ff40000u',
    value: `fma(z, fma(z, ${fused('z', COSINE)}, -0.5), 1.0)`,
  },
};
const near = (head: string, fn: 'sin' | 'cos', otherwise: (far: string) => string) =>
  `__device__ __forceinline__ double ${head} {
  ${otherwise(NEAR[fn].far)}
  const double z = x * x;
  return ${NEAR[fn].value};
}`;

/** Helper functions by name; the generated text starts with those that it calls. */
export const HELPERS: Record<string, string> = {
  // as in JavaScript NaN wins and −0 is below 0: two equal numbers can differ only as 0 and −0, in the sign bit
  js_min: `__device__ __forceinline__ double js_min(double a, double b) {
  if (a == b) return __longlong_as_double(__double_as_longlong(a) | __double_as_longlong(b));
  return a < b ? a : a > b ? b : a + b;
}`,
  js_max: `__device__ __forceinline__ double js_max(double a, double b) {
  if (a == b) return __longlong_as_double(__double_as_longlong(a) & __double_as_longlong(b));
  return a > b ? a : a < b ? b : a + b;
}`,
  // in C, 1^y is 1 for every y, and (−1)^±∞ is 1; in JavaScript both are NaN where y is NaN or ±∞
  js_pow: `__device__ __forceinline__ double js_pow(double x, double y) {
  return !(fabs(y) < ${INFINITY}) && fabs(x) == 1.0 ? ${NAN} : pow(x, y);
}`,
  // as Math.round: ties go up, and −0 stays −0
  js_round: `__device__ __forceinline__ double js_round(double x) {
  const double down = floor(x);
  return copysign(x - down >= 0.5 ? down + 1.0 : down, x);
}`,
  js_sign: `__device__ __forceinline__ double js_sign(double x) {
  return x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : x;
}`,
  near_sin: near('near_sin(double x)', 'sin', far => `if (${far}) return sin(x);`),
  near_cos: near('near_cos(double x)', 'cos', far => `if (${far}) return cos(x);`),
  usual_sin: near('usual_sin(double x, bool& rare)', 'sin', far => `rare |= ${far};`),
  usual_cos: near('usual_cos(double x, bool& rare)', 'cos', far => `rare |= ${far};`),
  // as CUDA's, without the branch for 0, for numbers below 2^-970 and for what is no positive number
  usual_sqrt: `__device__ __forceinline__ double usual_sqrt(double x, bool& rare) {
  rare |= (unsigned)__double2hiint(x) - 0x03500000u >= 0x7ca00000u;
  double y;
  asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
  const double e = fma(y * y, -x, 1.0);
  const double r = fma(fma(e, 0.375, 0.5), y * e, y);
  const double s = r * x;
  return fma(fma(s, -s, x), __hiloint2double(__double2hiint(r) - 0x100000, __double2loint(r)), s);
}`,
  // the bit operations of math/kit.ts
  kit_pow2: `__device__ __forceinline__ double kit_pow2(double k) {
  return __hiloint2double((int)(((unsigned)(int)k + 1023u) << 20), 0);
}`,
  kit_exponent: `__device__ __forceinline__ double kit_exponent(double x) {
  return ((__double2hiint(x) >> 20) & 0x7ff) - 1023;
}`,
  kit_significand: `__device__ __forceinline__ double kit_significand(double x) {
  return __hiloint2double((__double2hiint(x) & 0xfffff) | 0x3ff00000, __double2loint(x));
}`,
  kit_high: `__device__ __forceinline__ double kit_high(double x) {
  return __hiloint2double(__double2hiint(x), __double2loint(x) & (int)0xf8000000);
}`,
  // an index that is no integer, or NaN, differs from its int; a negative one is above n as an unsigned
  array_get: `__device__ __forceinline__ double array_get(const double* a, int n, double i) {
  const int k = (int)i;
  return k == i && (unsigned)k < (unsigned)n ? a[k] : ${NAN};
}`,
  array_set: `__device__ __forceinline__ bool array_set(double* a, int n, double i, double v) {
  const int k = (int)i;
  const bool inside = k == i && (unsigned)k < (unsigned)n;
  if (inside) a[k] = v;
  return inside;
}`,
};

/** Templates for the operations of the IR; A, B and C stand for the arguments. */
export const OPERATIONS: Record<Op, string> = {
  neg: '-A',
  abs: 'fabs(A)',
  sqrt: 'sqrt(A)',
  floor: 'floor(A)',
  ceil: 'ceil(A)',
  trunc: 'trunc(A)',
  nearest: 'rint(A)',
  pow2: 'kit_pow2(A)',
  exponent: 'kit_exponent(A)',
  significand: 'kit_significand(A)',
  high: 'kit_high(A)',
  add: 'A + B',
  sub: 'A - B',
  mul: 'A * B',
  div: 'A / B',
  min: 'js_min(A, B)',
  max: 'js_max(A, B)',
  copySign: 'copysign(A, B)',
  lt: 'A < B',
  le: 'A <= B',
  eq: 'A == B',
  ne: 'A != B',
  not: '!A',
  and: 'A && B',
  or: 'A || B',
  number: 'A ? 1.0 : 0.0',
  select: 'A ? B : C',
};
/** With __dmul_rn, whose product the CUDA compiler never fuses with a sum. */
export const UNFUSED: Record<Op, string> = { ...OPERATIONS, mul: '__dmul_rn(A, B)' };

// biome-ignore format: one family per line
const SAME_IN_CUDA = [
  'exp', 'exp2', 'expm1', 'log', 'log2', 'log10', 'log1p',
  'tan', 'asin', 'acos', 'atan',
  'sinh', 'cosh', 'tanh', 'asinh', 'acosh', 'atanh',
  'cbrt', 'erf', 'erfc', 'erfinv', 'lgamma',
];

/**
 * Library functions for which CUDA's own serve. The others are compiled from the math library: clz32 and imul, which
 * CUDA has for integers only; mod, since CUDA's fmod takes 2 to 4 times as long on an H200; hypot, since CUDA's takes
 * 1.1 times as long and overflows at MAX_VALUE; j0 and j1, since CUDA's are off by up to 4e-13 for x between 8 and
 * 100. The library's j0 and j1 take 1.4 times as long as CUDA's.
 */
export const FUNCTIONS: Record<string, string> = {
  ...Object.fromEntries(SAME_IN_CUDA.map(fn => [fn, `${fn}(A)`])),
  sin: 'near_sin(A)',
  cos: 'near_cos(A)',
  atan2: 'atan2(A, B)',
  pow: 'js_pow(A, B)',
  round: 'js_round(A)',
  sign: 'js_sign(A)',
  fround: '(double)(float)A',
};

export function literal(value: number | boolean): string {
  if (typeof value === 'boolean') return String(value);
  if (Number.isNaN(value)) return NAN;
  const size = Math.abs(value);
  const digits = size === Infinity ? INFINITY : /[.e]/.test(`${size}`) ? `${size}` : `${size}.0`;
  return value < 0 || Object.is(value, -0) ? `(-${digits})` : digits;
}
