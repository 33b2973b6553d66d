/** The implementations under test: name and arguments (one or two a point, in turn) → values. */
import { lowerLibrary } from '../../src/integrand/lower/lower.ts';
import { kit } from '../../src/integrand/math/index.ts';
import { wasmTarget } from '../../src/integrand/targets/wasm.ts';

export type Evaluator = (name: string, points: Float64Array, arity: 1 | 2) => Float64Array;

const inJavaScript: Evaluator = (name, points, arity) => {
  const f = kit[name as keyof typeof kit] as (x: number, y?: number) => number;
  const values = new Float64Array(points.length / arity);
  for (let i = 0; i < values.length; i++)
    values[i] = arity === 2 ? f(points[2 * i], points[2 * i + 1]) : f(points[i]);
  return values;
};

/** Compiled once: the tests of special values call each function thousands of times, with one point a call. */
const compiled = new Map<string, ReturnType<typeof wasmTarget>>();

/** As vector code: the arguments are the coordinates of a point. */
const inWasm: Evaluator = (name, points, arity) => {
  const n = points.length / arity;
  const rows = Float64Array.from(points, (_, k) => points[(k % n) * arity + Math.floor(k / n)]);
  const values = new Float64Array(n);
  const run = compiled.get(name) ?? wasmTarget(lowerLibrary(name), new Map());
  compiled.set(name, run);
  run(rows, values);
  return values;
};

export const evaluators: Record<string, Evaluator> = { javascript: inJavaScript, wasm: inWasm };
