/**
 * The operations of the IR in WGSL. Templates name their arguments A, B and C.
 *
 * WGSL lets a compiler assume that there are no NaN and no infinities, and some do (Metal's fast math). Sums, products and
 * quotients are left to the hardware, whose results are IEEE's on all cards known. Comparisons are not: a compiler that
 * knows of no NaN may turn !(a < b) into a >= b, and x != x into false. So a comparison whose arguments may be NaN tests
 * their bits as well, and one with an infinity compares integers (math32/kit.ts).
 */
import type { Op } from '../../ir.ts';

export const OPERATIONS: Record<Op, string> = {
  neg: '-A',
  abs: 'abs(A)',
  sqrt: 'q_sqrt(A)',
  floor: 'q_floor(A)',
  ceil: 'q_ceil(A)',
  trunc: 'q_trunc(A)',
  nearest: 'q_nearest(A)',
  pow2: 'q_pow2(A)',
  exponent: 'q_exponent(A)',
  significand: 'q_significand(A)',
  high: 'q_high(A)',
  add: 'A + B',
  sub: 'A - B',
  mul: 'A * B',
  div: 'A / B',
  min: 'q_min(A, B)',
  max: 'q_max(A, B)',
  copySign: 'q_copysign(A, B)',
  lt: 'q_lt(A, B)',
  le: 'q_le(A, B)',
  eq: 'q_eq(A, B)',
  ne: '!q_eq(A, B)',
  not: '!A',
  and: 'A & B',
  or: 'A | B',
  number: 'select(0.0f, 1.0f, A)',
  select: 'select(C, B, A)',
};

/** Comparisons of numbers neither of which is NaN or a literal infinity. */
export const PLAIN_COMPARISONS: Partial<Record<Op, string>> = {
  lt: 'A < B',
  le: 'A <= B',
  eq: 'A == B',
  ne: 'A != B',
};

/** Comparisons with a literal infinity: integers decide. */
export const INFINITE_COMPARISONS: Partial<Record<Op, string>> = {
  lt: 'q_ltbits(A, B)',
  le: 'q_lebits(A, B)',
  eq: 'q_eqbits(A, B)',
  ne: '!q_eqbits(A, B)',
};

/** Operations that give no NaN if none of their arguments is NaN. */
// biome-ignore format: one kind per line
export const KEEP_NUMBERS: ReadonlySet<string> = new Set([
  'neg', 'abs', 'floor', 'ceil', 'trunc', 'nearest', 'min', 'max', 'copySign', 'select',
]);

/** Functions of the math library that give no NaN if none of their arguments is NaN. */
// biome-ignore format: one family per line
export const FUNCTIONS_THAT_KEEP_NUMBERS: ReadonlySet<string> = new Set([
  'exp', 'exp2', 'expm1', 'atan', 'atan2', 'sinh', 'cosh', 'tanh', 'asinh', 'cbrt', 'hypot', 'round', 'sign', 'fround',
  'erf', 'erfc',
]);
