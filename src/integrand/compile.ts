/** `compile`: a function is parsed, lowered to a program and made runnable by a target. */
import { withCaptures } from './captures.ts';
import { checkParams } from './check-params.ts';
import type { Program } from './ir.ts';
import { lower } from './lower/lower.ts';
import type { MathLibrary } from './math/index.ts';
import { bind, type Params } from './params.ts';
import { read } from './read.ts';
import type { ResultShape, Shape } from './shape.ts';
import { type Evaluate, javascriptTarget } from './targets/javascript.ts';
import { wasmTarget } from './targets/wasm.ts';

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

const targets = { wasm: wasmTarget, javascript: javascriptTarget };
const OPTIONS = ['dims', 'params', 'target'];

/** Compiles an integrand; an `IntegrandError` says what cannot be compiled, where, and what to write instead. */
export function compile<P extends Params = NoParams>(
  f: IntegrandOf<NoInfer<P>, ResultShape>,
  options: CompileOptions<P>,
): Compiled {
  const { dims, params: given = {}, target = 'wasm' } = checkOptions(options);
  const params = withCaptures(f, given);
  const program = lower(read(f), dims, params);
  const bound = bind(program.params, params);
  let run: Evaluate;
  try {
    run = targets[target](program, bound);
  } catch (e) {
    if (options.target !== undefined || !lacksWebAssembly(e)) throw e;
    run = javascriptTarget(program, bound); // slower, with the same bits
  }
  const count = program.results.length;
  return {
    program,
    shape: program.shape ?? 'number',
    evaluate(points, out) {
      if (!(points instanceof Float64Array)) {
        throw new TypeError(
          `evaluate: the points are ${points === null ? 'null' : `a ${typeof points}`}; pass a Float64Array of dims × points coordinates.`,
        );
      }
      out ??= new Float64Array(Math.floor(points.length / dims) * count);
      if (points.length * count !== out.length * dims) {
        throw new RangeError(
          `evaluate: ${points.length} coordinates do not make ${out.length / count} points of ${dims}; pass dims × points of them.`,
        );
      }
      run(points, out);
      return out;
    },
  };
}

/** Whether the cause of an error is that modules or memories cannot be had: `--jitless`, a page's policy, a limit. */
function lacksWebAssembly(error: unknown): boolean {
  if (typeof WebAssembly !== 'object' || error instanceof WebAssembly.CompileError) return true;
  return error instanceof RangeError && error.message.startsWith('WebAssembly.');
}

function checkOptions(options: CompileOptions): CompileOptions<Params> {
  const unknown = Object.keys(options ?? {}).find(k => !OPTIONS.includes(k));
  if (unknown)
    throw new TypeError(`compile: unknown option \`${unknown}\`; the options are ${OPTIONS.join(', ')}.`);
  const { dims, params = {}, target = 'wasm' } = options ?? {};
  if (!Number.isInteger(dims) || dims < 1)
    throw new RangeError(
      `compile: \`dims\` is ${dims}; pass the number of coordinates, a whole number from 1.`,
    );
  if (!Object.hasOwn(targets, target))
    throw new TypeError(
      `compile: unknown target '${target}'; the targets are ${Object.keys(targets).join(', ')}.`,
    );
  checkParams(params);
  return { dims, params, target };
}
