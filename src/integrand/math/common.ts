/**
 * The functions of the math library that Quadrille itself uses: exponentials and logarithms. The others are loaded on demand: sine, cosine and
 * tangent (trigonometric.ts), the rest of `Math` (elementary.ts), and what `Math` lacks (special.ts). `library` has functions
 * with the kit as their last argument, as the compiler reads them; `kit` has the same functions for plain JavaScript, where
 * they take their mathematical arguments only.
 */
import { OnDemand } from '../on-demand.ts';
import { exp, exp2, expPair, expTail } from './exp.ts';
import { intrinsics, type Kit } from './kit.ts';
import { log, log2, logTail, splitAtRoot2 } from './log.ts';

type Result = number | number[];

/** Functions by name and by the number of their mathematical arguments. The kit comes last; functions that need none leave it out. */
export interface Family {
  unary: Record<string, (x: number, kit: Kit) => Result>;
  binary: Record<string, (x: number, y: number, kit: Kit) => Result>;
  ternary?: Record<string, (x: number, y: number, z: number, kit: Kit) => Result>;
}

/** Functions by name, with the kit as their last argument. */
export const library: Record<string, object> = {};

/** The kit for plain JavaScript. */
export const kit = { ...intrinsics } as Kit;
const bound = kit as unknown as Record<string, (x: number, y: number, z?: number) => Result>;

/** The library and the kit, with the functions of these families added to them. */
export function adding(...families: Family[]): { library: typeof library; kit: typeof kit } {
  for (const { unary, binary, ternary = {} } of families) {
    Object.assign(library, unary, binary, ternary);
    for (const [name, f] of Object.entries(unary)) bound[name] = x => f(+x, kit); // as a number: true is 1, as it is for Math
    for (const [name, f] of Object.entries(binary)) bound[name] = (x, y) => f(x, y, kit);
    for (const [name, f] of Object.entries(ternary)) bound[name] = (x, y, z = 0) => f(x, y, z, kit);
  }
  return { library, kit };
}

adding({ unary: { exp, exp2, expTail, log, log2, logTail, splitAtRoot2 }, binary: { expPair } });

/** The functions of trigonometric.ts. */
export const trigonometricMath = new OnDemand(async () =>
  adding((await import('./trigonometric.ts')).trigonometric),
);

/** The functions of elementary.ts. They call none of the others that are loaded on demand. */
export const elementaryMath = new OnDemand(async () => adding((await import('./elementary.ts')).elementary));

/** The functions of special.ts, and those of trigonometric.ts, which they call. */
export const specialMath = new OnDemand(async () => {
  const [{ special }] = await Promise.all([import('./special.ts'), trigonometricMath.load()]);
  return adding(special);
});

const TRIGONOMETRIC = /^(sin|cos|tan|sinHuge|cosHuge|sineOf|cosineOf|sinCosPairs|reduce[A-Z].*)$/;
const SPECIAL = /^(erf|erfc|erfinv|lgamma|lgammaUpper|j0|j1|eighthTurnBack)$/;

/** A function of the library with the kit as its last argument; throws `NotLoaded` before it is there. */
export function libraryFunction(name: string): object {
  if (Object.hasOwn(library, name)) return library[name];
  const family = TRIGONOMETRIC.test(name)
    ? trigonometricMath
    : SPECIAL.test(name)
      ? specialMath
      : elementaryMath;
  return family.now.library[name];
}
