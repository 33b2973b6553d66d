/** Values of an integrand at given points, on the thread that asks. */
import { type BoundProgram, resultCount } from '../integrand/bound.ts';
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

/** Evaluates an integrand on the thread that calls: a compiled one as WebAssembly, a function as it is. */
export function evaluatorOf(bound: BoundProgram): EvaluatePoints {
  if (bound.kind === 'compiled') {
    const evaluate = wasmTarget(bound.program, bound.params);
    const count = resultCount(bound);
    return (points, n) => {
      const values = new Float64Array(n * count);
      evaluate(points, values);
      return values;
    };
  }
  const { dims, call } = bound;
  return async (points, n) => {
    const pointAt = (i: number) => Array.from({ length: dims }, (_, d) => points[d * n + i]);
    return inRows(await Promise.all(Array.from({ length: n }, (_, i) => call.f(pointAt(i)))));
  };
}

/** What a plain function gave at each point, result by result. */
export function inRows(found: readonly PlainValue[]): ArrayLike<number> {
  const [first] = found;
  if (typeof first !== 'object' || first === null) return found as readonly number[];
  return first.flatMap((_, r) => found.map(own => (own as readonly number[])[r]));
}
