/** The function is compiled once for every shape that params have, however many sets there are. */
import { expect, test, vi } from 'vitest';
import { type Integrand, type Params, scan } from '../../src/index.ts';
import { lower } from '../../src/integrand/lower/lower.ts';

vi.mock('../../src/integrand/lower/lower.ts', { spy: true });

async function timesCompiled(
  f: Integrand,
  params: Params[],
  method: 'auto' | 'vegas+' = 'auto',
): Promise<number> {
  vi.mocked(lower).mockClear();
  const results = await scan(f, { dims: 1, params, method, relTol: 1e-2 });
  expect(results.every(r => r.converged)).toBe(true);
  // not counting programs of the library's own
  return vi
    .mocked(lower)
    .mock.calls.filter(([, , p]) => Object.keys(p ?? {}).join() === Object.keys(params[0]).join()).length;
}

test('100 sets of one shape: once, and not again for another scan', async () => {
  const params = Array.from({ length: 100 }, (_, i) => ({ a: i + 1, c: Float64Array.of(i, 1) }));
  const make =
    (): Integrand =>
    ([x], p) =>
      p.a * x + p.c[1];
  expect(await timesCompiled(make(), params, 'auto')).toBe(1);
  expect(await timesCompiled(make(), params, 'vegas+')).toBe(0);
});

test('100 sets of arrays of 3, 4 and 5 numbers: three times', async () => {
  const params = Array.from({ length: 100 }, (_, i) => ({ c: new Float64Array(3 + (i % 3)).fill(i + 1) }));
  expect(await timesCompiled(([x], p) => p.c[2] * x, params)).toBe(3);
});
