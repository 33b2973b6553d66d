/** `compile`, and the types of integrands. */
import { compileNow } from './compile-now.ts';
import type { Program } from './ir.ts';
import * as rare from './lower/rare.ts';
import { rarelyUsed } from './lower/rarely-used.ts';
import { adding, specialMath } from './math/common.ts';
import type { MathLibrary } from './math/kit.ts';
import { special } from './math/special.ts';
import type { Params } from './params.ts';
import type { ResultShape, Shape } from './shape.ts';

/** The functions that `Math` lacks, as an integrand receives them in its third argument. */
export type SpecialFunctions = Pick<MathLibrary, 'erf' | 'erfc' | 'erfinv' | 'lgamma' | 'j0' | 'j1' | 'exp2'>;

/** An integrand as a user writes it: a function of the point, of `params`, and of the functions that `Math` lacks. */
// biome-ignore lint/suspicious/noExplicitAny: what params hold is between the caller and the function
export type Integrand<S extends ResultShape = number> = (x: any, p: any, m: SpecialFunctions) => S;

/**
 * A point as an integrand receives it: an array of coordinates. The first ten are named, so that they are numbers, not
 * `number | undefined`, where TypeScript is told to check indices.
 */
export type Point = number[] & { [axis in 0 | 1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9]: number };

/** The type of `p` where no `params` are given. */
export interface NoParams extends Record<never, never> {}

/** The params of a call as the integrand sees them: `true` in `{ on: true }` is a boolean; what is `any` stays so. */
export type ParamsOf<P> = 0 extends 1 & P ? P : { [K in keyof P]: P[K] extends boolean ? boolean : P[K] };

/** An integrand as it is written in a call: the types of `x` and `p` follow from the options. */
export type IntegrandOf<P, S> = (x: Point, p: ParamsOf<P>, m: SpecialFunctions) => S;

/** Options of `compile`. */
// biome-ignore lint/suspicious/noExplicitAny: as in `Integrand`
export interface CompileOptions<P extends Params = any> {
  /** The number of coordinates of a point. */
  dims: number;
  /** The integrand's second argument. */
  params?: P;
  /** `wasm`, vector code in WebAssembly (the default where there is any), or `javascript`, the reference. */
  target?: 'wasm' | 'javascript';
}

/** A compiled integrand. */
export interface Compiled {
  /** The integrand as a program, which does not depend on the target. */
  readonly program: Program;
  /** How the results make up what the function returns: 'number', or an array or object with 'number' in the place of each. */
  readonly shape: Shape;
  /**
   * Evaluates the integrand at many points. `points` holds all first coordinates, then all second ones, and so on; what it
   * returns has one value per point, and for an array or object all first results, then all second ones, and so on.
   */
  evaluate(points: Float64Array, out?: Float64Array): Float64Array;
}

/** Compiles an integrand; an `IntegrandError` says what cannot be compiled, where, and what to write instead. */
export function compile<P extends Params = NoParams>(
  f: IntegrandOf<NoInfer<P>, ResultShape>,
  options: CompileOptions<P>,
): Compiled {
  // a function that returns its result at once can load nothing
  specialMath.provide(adding(special));
  rarelyUsed.provide(rare);
  return compileNow(f, options);
}
