/** Integrals of a scan vouch for each other: each draws few random points of its own, as long as none is contradicted. */
import { scan } from 'quadrille';
import { expect, test } from 'vitest';

test('a smooth peak in the corner of a region, which surprises a few of them, does not make all draw all witnesses', async () => {
  const params = Array.from({ length: 300 }, (_, i) => ({ a: 8 + i / 150, b: (i % 100) / 10 }));
  const f = ([x, y]: number[], p: { a: number; b: number }) =>
    Math.exp(-p.a * (x * x + y * y)) * Math.cos(p.b * x * y);
  const results = await scan(f as never, { dims: 2, params, relTol: 1e-6, method: 'cuhre' });
  expect(results.every(r => r.converged)).toBe(true);
  // 14,000 witnesses each; all of them would be 170,000
  const drawn = results.map(r => r.witnesses!);
  expect(drawn.filter(n => n > 1e5).length).toBeLessThan(60);
  expect(drawn.filter(n => n < 2e4).length).toBeGreaterThan(200);
});
