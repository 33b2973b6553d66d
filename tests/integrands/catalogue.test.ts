/**
 * Compiled integrands against plain JavaScript: the papers' and the hard ones, on every target, at points of
 * their domains. An odd number of points, so that vector code has a tail.
 */
import { describe, expect, it } from 'vitest';
import { compile } from '../../src/integrand/compile.ts';
import { kit } from '../../src/integrand/math/index.ts';
import { catalogue } from './catalogue.ts';
import type { Entry } from './entry.ts';
import { hard } from './hard.ts';
import { pick, points } from './points.ts';

const COUNT = 2001;
const SMALLEST = 2 ** -1022;

/** How far the first value is from the second, as the entry measures it; NaN and the infinities equal themselves. */
function distance(value: number, plain: number, { scale = SMALLEST }: Entry): number {
  if (Object.is(value, plain) || value === plain) return 0;
  const d = Math.abs(value - plain) / Math.max(Math.abs(plain), scale);
  return Number.isNaN(d) ? Infinity : d;
}

describe.each(['javascript', 'wasm'] as const)(
  'compiled for %s, the values are those of plain JavaScript',
  target => {
    for (const e of [...catalogue, ...hard]) {
      const { name, dims, params, f, tolerance = 1e-14 } = e;
      it(`${name} within ${tolerance}`, () => {
        const at = points(e, COUNT);
        const values = compile(f, { dims, target, ...(params && { params }) }).evaluate(at);
        expect(values.length).toBe(COUNT);
        const x = new Array<number>(dims).fill(0);
        let worst = { error: 0, x: [] as number[], value: 0, plain: 0 };
        for (let i = 0; i < COUNT; i++) {
          const plain = f(pick(at, COUNT, i, x), params, kit);
          const error = distance(values[i], plain, e);
          if (error > worst.error) worst = { error, x: [...x], value: values[i], plain };
        }
        expect(worst.error, JSON.stringify(worst)).toBeLessThanOrEqual(tolerance);
      });
    }
  },
);
