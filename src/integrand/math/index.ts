/**
 * The math library: every function with the kit as its last argument, as the compiler reads them, and the kit for
 * plain JavaScript, in which the same functions take only their mathematical arguments.
 */
import { exp, exp2, expm1, expTail } from './exp.ts';
import { hypot } from './hypot.ts';
import { intrinsics, type Kit } from './kit.ts';
import { log, log1p, log1pPair, log2, log10, logTail, splitAtRoot2 } from './log.ts';
import { mod } from './mod.ts';
import { logPair, pow } from './pow.ts';
import { reduceHuge, reduceQuarter } from './reduce.ts';
import { clz32, fround, imul, round, sign } from './rounding.ts';
import { cos, sin, sinCosPairs, tan } from './trig.ts';

export type { Helpers, Intrinsics, Kit, MathLibrary } from './kit.ts';
export { intrinsics } from './kit.ts';

type Result = number | number[];

const unary: Record<string, (x: number, kit: Kit) => Result> = {
  exp,
  exp2,
  expm1,
  log,
  log2,
  log10,
  log1p,
  sin,
  cos,
  tan,
  round,
  sign,
  fround,
  clz32,
  expTail,
  splitAtRoot2,
  logTail,
  reduceQuarter,
  reduceHuge,
};

const binary: Record<string, (x: number, y: number, kit: Kit) => Result> = {
  pow,
  hypot,
  mod,
  imul,
  log1pPair,
  logPair,
  sinCosPairs,
};

/** Name → function with the kit as its last argument (those that need no kit leave it out). */
export const library = { ...unary, ...binary };

/** The kit in JavaScript. */
export const kit = { ...intrinsics } as Kit;
const bound = kit as unknown as Record<string, (x: number, y: number) => Result>;
for (const [name, f] of Object.entries(unary)) bound[name] = x => f(x, kit);
for (const [name, f] of Object.entries(binary)) bound[name] = (x, y) => f(x, y, kit);
