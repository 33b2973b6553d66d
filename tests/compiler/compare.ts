/** A function evaluated three ways at the same points: as plain JavaScript, and compiled for each target. */
import { compile, type Integrand } from '../../src/integrand/compile.ts';
import { kit } from '../../src/integrand/math/index.ts';
import type { Params } from '../../src/integrand/params.ts';
import { countOf, flatten, type Shape } from '../../src/integrand/shape.ts';

export interface ThreeWays {
  plain: number[];
  javascript: Float64Array;
  wasm: Float64Array;
}

/** The function that a text of the form `(x, p, m) => …` stands for. */
export function functionOf(text: string): Integrand {
  return new Function(`return (${text});`)();
}

/** Coordinate by coordinate, as `evaluate` takes points. */
export function columns(points: readonly (readonly number[])[]): Float64Array {
  const dims = points[0].length;
  return Float64Array.from({ length: dims * points.length }, (_, k) => {
    return points[k % points.length][Math.floor(k / points.length)];
  });
}

export function plainly(f: Integrand, points: readonly (readonly number[])[], params: Params = {}): number[] {
  return points.map(x => f([...x], params, kit));
}

export function threeWays(
  f: Integrand,
  points: readonly (readonly number[])[],
  params: Params = {},
): ThreeWays {
  const dims = points[0].length;
  const given = columns(points);
  const on = (target: 'javascript' | 'wasm') => compile(f, { dims, params, target }).evaluate(given);
  return { plain: plainly(f, points, params), javascript: on('javascript'), wasm: on('wasm') };
}

/** What a function returned at some points, as `evaluate` gives results: all first ones, then all second ones. What is not of the shape stays as it is. */
export function byResult(values: readonly unknown[], shape: Shape): unknown[] {
  if (shape === 'number') return [...values];
  const count = countOf(shape);
  const rows = values.map(v => {
    try {
      return flatten(v, shape);
    } catch {
      return Array<unknown>(count).fill(v);
    }
  });
  return Array.from({ length: count }, (_, r) => rows.map(row => row[r])).flat();
}

/** The first index at which two lists are not the same number, −0 and NaN told apart from 0 and other numbers. */
export function firstDifference(a: ArrayLike<number>, b: ArrayLike<number>): number {
  for (let i = 0; i < Math.max(a.length, b.length); i++) if (!Object.is(a[i], b[i])) return i;
  return -1;
}
