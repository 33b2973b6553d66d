/** Values of an integrand at given points, on the thread that asks. */
import { type BoundProgram, resultCount } from '../integrand/bound.ts';
import { withResults } from '../integrand/optimise.ts';
import type { PlainValue } from '../integrand/plain.ts';
import { wasmTarget } from '../integrand/targets/wasm.ts';

/**
 * Values of the integrand at n points: all first coordinates, then all second ones, and so on. Of several results it gives all
 * first results, then all second ones.
 */
export type EvaluatePoints = (
  points: Float64Array,
  n: number,
) => ArrayLike<number> | Promise<ArrayLike<number>>;

/**
 * Evaluates an integrand, or the result of that number, on the thread that calls: a compiled one as WebAssembly, a function as it
 * is.
 */
export function evaluatorOf(bound: BoundProgram, result?: number): EvaluatePoints {
  const all = resultCount(bound);
  if (bound.kind === 'compiled') {
    const narrow = result !== undefined && all > 1;
    const evaluate = wasmTarget(narrow ? withResults(bound.program, [result]) : bound.program, bound.params);
    const count = narrow ? 1 : all;
    return (points, n) => {
      const values = new Float64Array(n * count);
      evaluate(points, values);
      return values;
    };
  }
  const { dims, call } = bound;
  return async (points, n) => {
    const pointAt = (i: number) => Array.from({ length: dims }, (_, d) => points[d * n + i]);
    const rows = inRows(await Promise.all(Array.from({ length: n }, (_, i) => call.f(pointAt(i)))));
    return result === undefined ? rows : Array.from({ length: n }, (_, i) => rows[result * n + i]);
  };
}

/** What a plain function gave at each point, result by result. */
export function inRows(found: readonly PlainValue[]): ArrayLike<number> {
  const [first] = found;
  if (typeof first !== 'object' || first === null) return found as readonly number[];
  return first.flatMap((_, r) => found.map(own => (own as readonly number[])[r]));
}
