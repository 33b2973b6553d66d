/**
 * The derivative of each operation and each function of `Math` by each of its arguments, from its value and its arguments. A function of
 * results has no argument with functions that `Math` lacks.
 *
 * Steps (floor, round, sign, the integer functions) have the derivative 0 and say nothing about their jumps; what only rounds
 * (fround) counts as what it rounds. At a kink the rule takes one side: |x| has the derivative 0 at 0, min and max take
 * that of the argument which they give.
 */
import type { Op } from './ir.ts';

/** Derivatives by each argument; fewer than arguments, and undefined, stand for 0. */
type Rule = (value: number, a: number, b: number) => (number | undefined)[];

const none: Rule = () => [];
const same: Rule = () => [1];

/** Operations of the IR; those that give a boolean, and `select`, need no rule. */
export const OP_DERIVATIVES: Partial<Record<Op, Rule>> = {
  neg: () => [-1],
  abs: (_, a) => [Math.sign(a)],
  sqrt: v => [0.5 / v],
  floor: none,
  ceil: none,
  trunc: none,
  nearest: none,
  pow2: none, // its argument is an integer
  exponent: none,
  significand: (v, a) => [v / a],
  high: same,
  add: () => [1, 1],
  sub: () => [1, -1],
  mul: (_, a, b) => [b, a],
  div: (v, _, b) => [1 / b, -v / b],
  min: (v, a) => (Object.is(v, a) ? [1, 0] : [0, 1]),
  max: (v, a) => (Object.is(v, a) ? [1, 0] : [0, 1]),
  copySign: (v, a) => [Math.sign(v) * Math.sign(a)],
  number: none,
};

const { LN2, LN10 } = Math;

/** Functions of `Math` that a program can call (lower/globals.ts), and the remainder. */
export const DERIVATIVES: Record<string, Rule> = {
  exp: v => [v],
  expm1: v => [v + 1],
  log: (_, a) => [1 / a],
  log2: (_, a) => [1 / (LN2 * a)],
  log10: (_, a) => [1 / (LN10 * a)],
  log1p: (_, a) => [1 / (1 + a)],
  sin: (_, a) => [Math.cos(a)],
  cos: (_, a) => [-Math.sin(a)],
  tan: v => [1 + v * v],
  asin: (_, a) => [1 / Math.sqrt((1 - a) * (1 + a))],
  acos: (_, a) => [-1 / Math.sqrt((1 - a) * (1 + a))],
  atan: (_, a) => [1 / (1 + a * a)],
  atan2: (_, y, x) => [x / (x * x + y * y), -y / (x * x + y * y)],
  sinh: (_, a) => [Math.cosh(a)],
  cosh: (_, a) => [Math.sinh(a)],
  tanh: v => [(1 - v) * (1 + v)],
  asinh: (_, a) => [1 / Math.sqrt(1 + a * a)],
  acosh: (_, a) => [1 / Math.sqrt((a - 1) * (a + 1))],
  atanh: (_, a) => [1 / ((1 - a) * (1 + a))],
  cbrt: v => [1 / (3 * v * v)],
  // a power of a negative number has a derivative by its base only
  pow: (v, a, b) => [b === 0 ? 0 : b * a ** (b - 1), a > 0 ? v * Math.log(a) : a === 0 && b > 0 ? 0 : NaN],
  hypot: (v, a, b) => (v === 0 ? [0, 0] : [a / v, b / v]),
  mod: (_, a, b) => [1, -Math.trunc(a / b)],
  round: none,
  sign: none,
  fround: same,
  clz32: none,
  imul: none,
};
