/**
 * The math library. `library` has every function with the kit as its last argument, as the compiler reads it; `kit` has
 * the same functions for plain JavaScript, where they take their mathematical arguments only.
 */
import { eighthTurnBack, j0, j1 } from './bessel.ts';
import { cbrt } from './cbrt.ts';
import { erf, erfc, erfinv } from './erf.ts';
import { exp, exp2, expm1, expPair, expTail } from './exp.ts';
import { lgamma, lgammaUpper } from './gamma.ts';
import { cosh, sinh, tanh } from './hyperbolic.ts';
import { hypot } from './hypot.ts';
import { acosh, asinh, atanh } from './inverse-hyperbolic.ts';
import { acos, asin, asinTail, atan, atan2, atanRatio } from './inverse-trig.ts';
import { intrinsics, type Kit } from './kit.ts';
import { log, log1p, log1pPair, log2, log10, logTail, splitAtRoot2 } from './log.ts';
import { mod } from './mod.ts';
import { logPair, pow } from './pow.ts';
import { reduceHuge, reduceQuarter, reduceSmall } from './reduce.ts';
import { clz32, fround, imul, round, sign } from './rounding.ts';
import { cos, cosHuge, cosineOf, sin, sinCosPairs, sineOf, sinHuge, tan } from './trig.ts';

export type { Helpers, Intrinsics, Kit, MathLibrary } from './kit.ts';
export { intrinsics } from './kit.ts';

type Result = number | number[];

// biome-ignore format: one family per line
const unary = {
  exp, exp2, expm1, log, log2, log10, log1p,
  sin, cos, tan, asin, acos, atan,
  sinh, cosh, tanh, asinh, acosh, atanh,
  cbrt, round, sign, fround, clz32,
  erf, erfc, erfinv, lgamma, j0, j1,
  expTail, splitAtRoot2, logTail, reduceSmall, reduceQuarter, reduceHuge, asinTail, sinHuge, cosHuge,
};

// biome-ignore format: one family per line
const binary = {
  pow, atan2, hypot, mod, imul,
  expPair, log1pPair, logPair, sinCosPairs, atanRatio, lgammaUpper, eighthTurnBack,
};

const ternary = { sineOf, cosineOf };

/** Functions by name, with the kit as their last argument; functions that need no kit leave it out. */
export const library = { ...unary, ...binary, ...ternary };

/** The kit for plain JavaScript. */
export const kit = { ...intrinsics } as Kit;
const bound = kit as unknown as Record<string, (x: number, y: number, z?: number) => Result>;
for (const [name, f] of Object.entries<(x: number, kit: Kit) => Result>(unary)) bound[name] = x => f(+x, kit); // as a number: true is 1, as it is for Math
for (const [name, f] of Object.entries<(x: number, y: number, kit: Kit) => Result>(binary))
  bound[name] = (x, y) => f(x, y, kit);
for (const [name, f] of Object.entries(ternary))
  bound[name] = (x: number, y: number, z = 0) => f(x, y, z, kit);
