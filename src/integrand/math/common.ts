/**
 * The functions of the math library that most integrands use, and those that Quadrille itself does. The others are loaded on demand:
 * the rest of `Math` (elementary.ts), and what `Math` lacks (special.ts). `library` has functions with the kit as their last
 * argument, as the compiler reads them; `kit` has the same functions for plain JavaScript, where they take their mathematical
 * arguments only.
 */
import { OnDemand } from '../on-demand.ts';
import type { elementary } from './elementary.ts';
import { exp, exp2, expm1, expPair, expTail } from './exp.ts';
import { hypot } from './hypot.ts';
import { intrinsics, type Kit } from './kit.ts';
import { log, log1p, log1pPair, log2, log10, logTail, splitAtRoot2 } from './log.ts';
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
  sin, cos, tan,
  round, sign, fround, clz32,
  expTail, splitAtRoot2, logTail, reduceSmall, reduceQuarter, reduceHuge, sinHuge, cosHuge,
};

const binary = { hypot, imul, expPair, log1pPair, sinCosPairs };

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

/** The library and the kit with the functions of elementary.ts or special.ts. */
export function adding({ unary, binary }: typeof elementary | typeof special): {
  library: typeof library;
  kit: typeof kit;
} {
  addFunctions(unary, binary);
  return { library, kit };
}

/** The functions of elementary.ts. No function that is here calls one of them; the rest of Quadrille does where it imports them. */
export const elementaryMath = new OnDemand(async () => adding((await import('./elementary.ts')).elementary));

/** The functions of special.ts. They call no function of elementary.ts. */
export const specialMath = new OnDemand(async () => adding((await import('./special.ts')).special));

const SPECIAL = /^(erf|erfc|erfinv|lgamma|lgammaUpper|j0|j1|eighthTurnBack)$/;

/** A function of the library with the kit as its last argument; throws `NotLoaded` before it is there. */
export function libraryFunction(name: string): object {
  if (Object.hasOwn(library, name)) return library[name];
  return (SPECIAL.test(name) ? specialMath : elementaryMath).now.library[name];
}
