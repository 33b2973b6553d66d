/** Domains: shifted, backwards, empty, infinite; one dimension and many. Against closed forms, within five errors. */
import { describe, expect, test } from 'vitest';
import { type Integrand, integrate } from '../../src/index.ts';
import { IntegrandError } from '../../src/integrand/diagnostics.ts';
import { type Axis, type Range, toDomain } from '../../src/integrand/domain.ts';
import { makeDomain } from '../../src/integrand/make-domain.ts';
import type { IntegrateOptions } from '../../src/problem.ts';
import type { Result } from '../../src/result.ts';

/** Converged, to the tolerance asked for, and right within five errors. */
function expectTrue(r: Result, truth: number, relTol = 1e-3) {
  expect(r.warnings).toEqual([]);
  expect(r.status).toBe('converged');
  expect(r.error).toBeLessThanOrEqual(relTol * Math.abs(r.value));
  expect(Math.abs(r.value - truth), `${r.value} ± ${r.error} is ${truth}`).toBeLessThan(
    5 * r.error + 1e-12 * Math.abs(truth),
  );
}

const gaussian: Integrand = (x: number[]) => {
  let s = 0;
  for (let i = 0; i < x.length; i++) s += x[i] * x[i];
  return Math.exp(-s);
};
const root = Math.sqrt(Math.PI);

describe('finite ranges', () => {
  test.each<[string, Range[], number]>([
    ['the unit interval', [[0, 1]], 1 / 2],
    ['a shifted interval', [[3, 5]], 8],
    ['below 0', [[-5, -3]], -8],
    ['across 0', [[-1, 3]], 4],
    ['far away', [[1e6, 1e6 + 1]], 1e6 + 0.5],
    ['large', [[0, 1e100]], 5e199],
    ['small', [[0, 1e-100]], 5e-201],
    [
      'a shifted box',
      [
        [1, 2],
        [-3, -1],
        [10, 14],
      ],
      12,
    ],
  ])('%s', async (_, domain, truth) => {
    expectTrue(await integrate(([x]) => x, { domain, maxEvaluations: 1e6 }), truth);
  });
  test('dims is the unit cube: the same bits as that domain', async () => {
    const f: Integrand = ([x, y]) => Math.exp(x - y);
    const a = await integrate(f, { dims: 2 });
    const b = await integrate(f, {
      domain: [
        [0, 1],
        [0, 1],
      ],
    });
    expect([a.value, a.error, a.evaluations]).toEqual([b.value, b.error, b.evaluations]);
  });
  test('every point that is sampled lies in the domain', async () => {
    const domain: Range[] = [
      [2, 3],
      [-7, -6.5],
      [0, 1e-9],
    ];
    const inside: Integrand = ([x, y, z]) =>
      x >= 2 && x <= 3 && y >= -7 && y <= -6.5 && z >= 0 && z <= 1e-9 ? 1 : Number.NaN;
    expectTrue(await integrate(inside, { domain }), 0.5e-9);
  });
});

describe('a range given backwards turns the sign', () => {
  const f: Integrand = ([x, y]) => Math.exp(x) * (1 + y);
  const run = (...domain: Range[]) => integrate(f, { domain });
  test('of the value, with the same error and the same evaluations', async () => {
    const forwards = await run([0, 1], [2, 3]);
    const backwards = await run([1, 0], [2, 3]);
    expect(backwards.value).toBe(-forwards.value);
    expect(backwards.error).toBe(forwards.error);
    expect(backwards.evaluations).toBe(forwards.evaluations);
    expectTrue(backwards, -3.5 * (Math.E - 1));
  });
  test('twice: not at all', async () => {
    expect((await run([1, 0], [3, 2])).value).toBe((await run([0, 1], [2, 3])).value);
  });
  test('of every iteration, of the progress and of the summary', async () => {
    const seen: number[] = [];
    const r = await integrate(f, {
      domain: [
        [1, 0],
        [2, 3],
      ],
      onProgress: p => seen.push(p.value),
    });
    expect(Math.max(...r.iterations.map(i => i.value))).toBeLessThan(0);
    expect(Math.max(...seen)).toBeLessThan(0);
    const rows = r.summary().match(/^\d.*$/gm)!;
    expect(rows).toHaveLength(r.iterations.length);
    for (const row of rows) expect(row).toMatch(/^\d+ +-6\.\d/);
  });
  test.each<[string, Range, number]>([
    ['from ∞ to 0', [Infinity, 0], -root / 2],
    ['from 0 to −∞', [0, -Infinity], -root / 2],
    ['from ∞ to −∞', [Infinity, -Infinity], -root],
  ])('%s', async (_, range, truth) => {
    expectTrue(await integrate(gaussian, { domain: [range] }), truth);
  });
});

describe('an empty range', () => {
  test.each<[string, Range[]]>([
    ['alone', [[2, 2]]],
    [
      'beside others',
      [
        [0, 1],
        [-3, -3],
        [5, 4],
      ],
    ],
    [
      'beside an infinite one',
      [
        [0, Infinity],
        [1, 1],
      ],
    ],
    ['at 0 and −0', [[0, -0]]],
  ])('%s: 0, converged, without an evaluation', async (_, domain) => {
    const r = await integrate(() => 1, { domain, onProgress: () => expect.fail('no iteration is needed') });
    expect(Object.is(r.value, 0)).toBe(true);
    expect([r.error, r.status, r.evaluations, r.iterations, r.warnings]).toEqual([0, 'converged', 0, [], []]);
    expect(r.converged).toBe(true);
    expect(`${r}`).toMatch(/^0\(0\) /);
  });
});

describe('infinite ranges', () => {
  test.each<[string, Integrand, Range, number]>([
    ['a Gaussian on (−∞, ∞)', ([x]) => Math.exp(-x * x), [-Infinity, Infinity], root],
    ['a shifted one', ([x]) => Math.exp(-((x - 3) ** 2)), [-Infinity, Infinity], root],
    ['a Cauchy density', ([x]) => 1 / (1 + x * x), [-Infinity, Infinity], Math.PI],
    ['above 0', ([x]) => Math.exp(-x), [0, Infinity], 1],
    ['above 2', ([x]) => Math.exp(-x), [2, Infinity], Math.exp(-2)],
    ['above −2', ([x]) => Math.exp(-x), [-2, Infinity], Math.exp(2)],
    ['below 0', ([x]) => Math.exp(x), [-Infinity, 0], 1],
    ['below 3', ([x]) => Math.exp(x), [-Infinity, 3], Math.exp(3)],
    ['below −3', ([x]) => Math.exp(x), [-Infinity, -3], Math.exp(-3)],
    ['a power', ([x]) => x ** -3, [1, Infinity], 1 / 2],
    ['Γ(5)', ([x]) => x ** 4 * Math.exp(-x), [0, Infinity], 24],
    ['a slow tail, 1/x²', ([x]) => 1 / (x * x), [1, Infinity], 1],
  ])('%s', async (_, f, range, truth) => {
    expectTrue(await integrate(f, { domain: [range] }), truth);
  });
  test('a very slow tail, x^−1.1, meets no point at infinity', async () => {
    const r = await integrate(([x]) => x ** -1.1, { domain: [[1, Infinity]], maxEvaluations: 1e6 });
    expect(Number.isFinite(r.value) && r.error > 0).toBe(true);
  });
  test('mixed with finite ones', async () => {
    const f: Integrand = ([x, y, z], p) => Math.exp(-p.a * (x * x + y * y)) * z;
    const domain: Range[] = [
      [0, 1],
      [-Infinity, Infinity],
      [2, 5],
    ];
    const inner = 0.746824132812427; // ∫ exp(−x²) over [0, 1]
    expectTrue(await integrate(f, { domain, params: { a: 1 } }), inner * root * 10.5);
  });
  test('all three kinds at once, indexed by a counter', async () => {
    const domain: Range[] = [
      [-Infinity, Infinity],
      [0, Infinity],
      [-Infinity, 0],
      [-Infinity, Infinity],
    ];
    expectTrue(await integrate(gaussian, { domain }), root ** 4 / 4);
  });
  test('indexed by a number that the point decides', async () => {
    // x[0] in [0, 2): picks x[1] or x[2]
    const f: Integrand = x => Math.exp(-x[1] - x[2]) * x[1 + Math.floor(x[0])];
    expectTrue(
      await integrate(f, {
        domain: [
          [0, 2],
          [0, Infinity],
          [0, Infinity],
        ],
      }),
      2,
    );
  });
  test('with map, reduce, spread and length', async () => {
    const f: Integrand = (x: number[]) =>
      Math.exp(-x.map(v => v * v).reduce((a, b) => a + b)) * [...x].length;
    expectTrue(
      await integrate(f, {
        domain: [
          [-Infinity, Infinity],
          [0, Infinity],
        ],
      }),
      root * root,
    );
  });
  test('in eight dimensions', async () => {
    const domain = Array.from({ length: 8 }, (): Range => [-Infinity, Infinity]);
    expectTrue(await integrate(gaussian, { domain, relTol: 1e-2 }), Math.PI ** 4, 1e-2);
  });
  test.each<[string, Integrand]>([
    [
      'an element',
      (x: number[]) => {
        x[0] = 2;
        return x[0];
      },
    ],
    [
      'an element by a counter',
      (x: number[]) => {
        for (let i = 0; i < 2; i++) x[i] *= 2;
        return x[0];
      },
    ],
    [
      'an element by ++',
      (x: number[]) => {
        x[1]++;
        return x[1];
      },
    ],
  ])('writing to the point is refused as under a finite range: %s', async (_, f) => {
    const refusal = (options: IntegrateOptions) => integrate(f, options).catch(e => e as IntegrandError);
    const finite = await refusal({ dims: 2 });
    expect(finite).toBeInstanceOf(IntegrandError);
    expect((finite as IntegrandError).message).toMatch(/An integrand cannot change the point\./);
    const infinite = await refusal({
      domain: [
        [0, 1],
        [0, Infinity],
      ],
    });
    expect((infinite as IntegrandError).message).toBe((finite as IntegrandError).message);
  });
  test('a copy of the point may be changed', async () => {
    const f: Integrand = (x: number[]) => {
      const y = [...x];
      y[0] *= 2;
      return Math.exp(-y[0]);
    };
    expectTrue(await integrate(f, { domain: [[0, Infinity]] }), 1 / 2);
  });
  test.each<[string, Range]>([
    ['both', [-Infinity, Infinity]],
    ['above', [3, Infinity]],
    ['below', [-Infinity, 3]],
  ])('the map from z to x is monotonic and its Jacobian is dx/dz, to 1e-6: %s', (_, range) => {
    const { axes } = makeDomain([range]);
    const at = (z: number) => toDomain(axes as Axis[], [z]);
    const [low, high] = axes[0].range;
    const h = 1e-6;
    for (let i = 1; i < 50; i++) {
      const z = low + ((high - low) * i) / 50;
      const slope = (at(z + h).x[0] - at(z - h).x[0]) / (2 * h);
      expect(Math.abs(slope / at(z).jacobian)).toBeCloseTo(1, 6);
    }
    expect(Number.isFinite(at(high).x[0]) && Number.isFinite(at(high).jacobian)).toBe(true);
    expect(Number.isFinite(at(low).x[0]) && Number.isFinite(at(low).jacobian)).toBe(true);
  });
});

describe('dimensions', () => {
  test.each([1, 2, 3, 4, 5, 8, 9, 16, 31, 32])('%s: the sum of the coordinates', async dims => {
    const f: Integrand = (x: number[]) => x.reduce((a, b) => a + b);
    expectTrue(await integrate(f, { dims }), dims / 2);
  });
  test.each([1, 4, 32])('%s: a product, in every method', async dims => {
    const f: Integrand = (x: number[]) => {
      let p = 1;
      for (let i = 0; i < x.length; i++) p *= 1 + 0.5 * (x[i] - 0.5);
      return p;
    };
    for (const method of ['plain', 'mcubes', 'mcubes1d', 'vegas+'] as const)
      expectTrue(await integrate(f, { dims, method, relTol: 3e-3 }), 1, 3e-3);
  });
  test.each([100, 200, 1000])('%s: a constant', async dims => {
    const r = await integrate(() => 2, { dims, relTol: 1e-2, maxEvaluations: 3e5 });
    expectTrue(r, 2, 1e-2);
  });
  test('32: a Gaussian whose values run from 1e-27 to 1e8', async () => {
    const f: Integrand = (x: number[]) => {
      let s = 0;
      for (let i = 0; i < x.length; i++) s += (x[i] - 0.5) ** 2;
      return Math.exp(-10 * s) * (10 / Math.PI) ** (x.length / 2);
    };
    const r = await integrate(f, { dims: 32, relTol: 2e-2, maxEvaluations: 1e7 });
    expectTrue(r, 0.974_652_681_322_532 ** 32, 2e-2); // erf(√10/2) an axis
  });
});

describe('values of any size', () => {
  test.each([1e-300, 1e-200, 1e-160, 1e-100, 1e100, 1e150, 1e200, 1e300])('about %s', async size => {
    const r = await integrate(([x], p) => Math.exp(x) * p.size, {
      dims: 1,
      params: { size },
      maxEvaluations: 1e6,
    });
    expectTrue(r, (Math.E - 1) * size);
  });
});
