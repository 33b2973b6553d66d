/**
 * The math library without the error functions and the Bessel functions (special.ts), which are loaded on demand. `library` has
 * functions with the kit as their last argument, as the compiler reads them; `kit` has the same functions for plain
 * JavaScript, where they take their mathematical arguments only.
 */
import { OnDemand } from '../on-demand.ts';
import { cbrt } from './cbrt.ts';
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
import type { special } from './special.ts';
import { cos, cosHuge, cosineOf, sin, sinCosPairs, sineOf, sinHuge, tan } from './trig.ts';

type Result = number | number[];
/** Functions by name, with the kit as their last argument. */
type Family<F> = Record<string, F>;
type Unary = (x: number, kit: Kit) => Result;
type Binary = (x: number, y: number, kit: Kit) => Result;

// biome-ignore format: one family per line
const unary = {
  exp, exp2, expm1, log, log2, log10, log1p,
  sin, cos, tan, asin, acos, atan,
  sinh, cosh, tanh, asinh, acosh, atanh,
  cbrt, round, sign, fround, clz32,
  lgamma,
  expTail, splitAtRoot2, logTail, reduceSmall, reduceQuarter, reduceHuge, asinTail, sinHuge, cosHuge,
};

// biome-ignore format: one family per line
const binary = {
  pow, atan2, hypot, mod, imul,
  expPair, log1pPair, logPair, sinCosPairs, atanRatio, lgammaUpper,
};

const ternary = { sineOf, cosineOf };

/** Functions by name, with the kit as their last argument; functions that need no kit leave it out. */
export const library: Record<string, object> = {};

/** The kit for plain JavaScript. */
export const kit = { ...intrinsics } as Kit;
const bound = kit as unknown as Record<string, (x: number, y: number, z?: number) => Result>;

/** Adds functions to the library and to the kit. */
function addFunctions(unary: Family<Unary>, binary: Family<Binary>): void {
  Object.assign(library, unary, binary);
  for (const [name, f] of Object.entries(unary)) bound[name] = x => f(+x, kit); // as a number: true is 1, as it is for Math
  for (const [name, f] of Object.entries(binary)) bound[name] = (x, y) => f(x, y, kit);
}

addFunctions(unary, binary);
Object.assign(library, ternary);
for (const [name, f] of Object.entries(ternary))
  bound[name] = (x: number, y: number, z = 0) => f(x, y, z, kit);

/** The library and the kit with the functions of special.ts. */
export function addSpecial({ unary, binary }: typeof special): { library: typeof library; kit: typeof kit } {
  if (!('erf' in library)) addFunctions(unary, binary);
  return { library, kit };
}

/** The functions of special.ts. No function that is here calls one of them, nor does the rest of Quadrille. */
export const specialMath = new OnDemand(async () => addSpecial((await import('./special.ts')).special));
