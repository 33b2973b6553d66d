/** Where cubature is easily wrong: singular ends, steps, peaks, borders, huge and tiny numbers, sums that cancel. */
import { describe, expect, test } from 'vitest';
import { type Integrand, integrate, table } from '../../src/index.ts';
import type { Range } from '../../src/integrand/domain.ts';
import type { IntegrateOptions } from '../../src/problem.ts';
import { spyDevice } from './spy.ts';

const methods = ['cuhre', 'two-phase', 'pagani'] as const;
const each = <T extends unknown[]>(rows: T[]) => rows.flatMap(r => methods.map(m => [m, ...r] as const));

/** Converged, and true to the tolerance. */
async function expectTrue(f: Integrand, truth: number, options: IntegrateOptions, relTol = 1e-3) {
  const r = await integrate(f, { maxEvaluations: 1e7, ...options, relTol });
  expect(r.status).toBe('converged');
  expect(Math.abs(r.value - truth), `${r.value} ± ${r.error} is ${truth}`).toBeLessThanOrEqual(
    relTol * Math.abs(truth) + 5e-324,
  );
  return r;
}

/** [name, f, integral over [0, 1]] */
const lines: [string, Integrand, number][] = [
  ['1/√x', ([x]) => 1 / Math.sqrt(x), 2],
  ['log x', ([x]) => Math.log(x), -1],
  ['a step at 1/3', ([x]) => (x < 1 / 3 ? 1 : 0), 1 / 3],
  ['|x − 1/3|', ([x]) => Math.abs(x - 1 / 3), 5 / 18],
  ['a peak of width 1e-4', ([x]) => Math.exp(-(((x - 0.3) / 1e-4) ** 2)), 1e-4 * Math.sqrt(Math.PI)],
];

describe('one dimension', () => {
  test.each(each(lines))('%s: %s to 1e-3, 1e-8 and 1e-13', async (method, _, f, truth) => {
    for (const relTol of [1e-3, 1e-8, 1e-13]) await expectTrue(f, truth, { dims: 1, method }, relTol);
  });
  test.each([
    ['cuhre', [975, 315, 555, 165, 585]],
    ['two-phase', [1305, 345, 645, 165, 1185]],
    ['pagani', [1035, 345, 555, 165, 585]],
  ] as const)('%s: to 1e-3 they take %j evaluations', async (method, counts) => {
    const runs = [];
    for (const [, f] of lines)
      runs.push((await integrate(f, { dims: 1, method, cubature: { witnesses: 0 } })).evaluations);
    expect(runs).toEqual(counts);
  });
  test.each(methods)(
    '%s: x^-0.9 to 1e-3; to 1e-8 the region at 0 is too small to halve, and the error is true',
    async method => {
      const f: Integrand = ([x]) => x ** -0.9;
      await expectTrue(f, 10, { dims: 1, method });
      const r = await integrate(f, { dims: 1, method, relTol: 1e-8, maxEvaluations: 1e6 });
      expect(['roundoff', 'budget']).toContain(r.status);
      expect(Math.abs(r.value - 10)).toBeLessThanOrEqual(r.error);
      expect(r.error).toBeLessThan(1e-5);
    },
  );
  test.each(methods)('%s: that is roundoff, and takes less than 1e5 evaluations', async method => {
    const r = await integrate(([x]) => x ** -0.9, { dims: 1, method, relTol: 1e-8, maxEvaluations: 1e6 });
    expect(r.status).toBe('roundoff');
    expect(r.evaluations).toBeLessThan(1e5);
  });
});

describe('several dimensions', () => {
  test.each(methods)('%s: a disc to 1e-3, √(xy) to 1e-5, a ridge |x − y| to 1e-4', async method => {
    const options = { dims: 2, method };
    await expectTrue(([x, y]) => (x * x + y * y < 0.7 ? 1 : 0), (0.7 * Math.PI) / 4, options);
    await expectTrue(([x, y]) => Math.sqrt(x * y), 4 / 9, options, 1e-5);
    await expectTrue(([x, y]) => Math.abs(x - y), 1 / 3, options, 1e-4);
  });
  // an axis that is halved over and over leaves the others behind
  test.each(
    each<[string, Integrand]>([
      ['a Gaussian', (x: number[]) => Math.exp(-20 * x.reduce((s, v) => s + (v - 0.5) ** 2, 0))],
      ['a kink across the diagonal', (x: number[]) => Math.abs(x.reduce((s, v) => s + v, -1.7))],
      ['a ball', (x: number[]) => (x.reduce((s, v) => s + v * v, 0) < 0.6 ? 1 : 0)],
    ]),
  )(
    '%s: %s, symmetric in 4 axes: no axis of a region is halved 4 times more than another',
    async (method, _, f) => {
      const device = spyDevice();
      await integrate(f, { dims: 4, method, relTol: 1e-7, maxEvaluations: 3e5, device });
      const deepest = [0, 0, 0, 0];
      for (const { count, levels } of device.tasks)
        for (let i = 0; i < count; i++) {
          const own = [0, 1, 2, 3].map(d => levels[d * count + i]);
          own.forEach((l, d) => (deepest[d] = Math.max(deepest[d], l)));
          expect(Math.max(...own) - Math.min(...own)).toBeLessThan(4);
        }
      expect(Math.max(...deepest) - Math.min(...deepest)).toBeLessThanOrEqual(1);
      await device.close();
    },
  );
  test.each(methods)('%s: 15 dimensions, Σx and a Gaussian to 1 %', async method => {
    await expectTrue((x: number[]) => x.reduce((s, v) => s + v), 7.5, { dims: 15, method }, 1e-10);
    const gaussian: Integrand = (x: number[]) => Math.exp(-x.reduce((s, v) => s + v * v, 0));
    await expectTrue(gaussian, 0.746_824_132_812_427 ** 15, { dims: 15, method }, 1e-2);
  });
  test('20 dimensions with cuhre: 3,180,411 evaluations', async () => {
    const r = await expectTrue(
      (x: number[]) => x.reduce((s, v) => s + v),
      10,
      { dims: 20, method: 'cuhre', cubature: { witnesses: 0 } },
      1e-10,
    );
    expect(r.evaluations).toBe(3_180_411);
  });
  test.each(methods)('%s: 21 dimensions are refused, with the method to use instead', async method => {
    const run = integrate(() => 1, { dims: 21, method });
    await expect(run).rejects.toThrow(/1 to 20 dimensions, not 21.*use method 'vegas\+'/);
  });
  test('a rule that does not serve the dimensions is refused, with those that do', async () => {
    const run = (dims: number, rule: 'degree13' | 'gauss-kronrod') =>
      integrate(() => 1, { dims, method: 'pagani', cubature: { rule } });
    await expect(run(3, 'degree13')).rejects.toThrow(
      /'degree13', which does not serve 3 dimensions; use 'degree11'/,
    );
    await expect(run(2, 'gauss-kronrod')).rejects.toThrow(
      /'gauss-kronrod', which does not serve 2 dimensions/,
    );
  });
  test.each(methods)('%s: params with arrays and tables', async method => {
    const f: Integrand = ([x, y]: number[], p: { curve: (x: number) => number; a: Float64Array }) =>
      p.curve(x) * p.a[1] * y;
    const params = { curve: table([[0, 0.25, 0.5, 1]], [0, 1, 0, 2]), a: Float64Array.of(1, 3) };
    await expectTrue(f as Integrand, 0.75 * 1.5, { dims: 2, method, params }, 1e-9);
  });
});

describe('borders', () => {
  const ranges: Range[] = [
    [0, 1],
    [0.1, 0.7],
    [1e16, 1e16 + 2],
    [-1e-300, 1e-300],
    [0.1, 0.1 + 1e-15],
    [1, 1 + 2 ** -52],
    [-8e307, 8e307],
    [1e-320, 3e-320],
    [-1e-5, 1e5],
  ];
  test.each(each(ranges.map(r => [r] as [Range])))(
    '%s: no point outside of %j, halved to the end of what numbers can tell',
    async (method, range) => {
      const [low, high] = range;
      let [least, most, calls] = [Infinity, -Infinity, 0];
      const f = ([x]: number[]) => {
        calls++;
        least = Math.min(least, x);
        most = Math.max(most, x);
        return x - low < 0.3 * (high - low) ? 1 : 0.5; // uneven, and a step
      };
      const r = await integrate(f, {
        domain: [range],
        method,
        relTol: 1e-15,
        maxEvaluations: 2e4,
        device: 'js',
      });
      // the look at the ends of the range (src/ends/end-probe.ts) is not counted: at most 2·(2 + 16) points at each
      expect(calls).toBeGreaterThanOrEqual(r.evaluations);
      // nor is the call that tells what the function returns
      expect(calls).toBeLessThanOrEqual(r.evaluations + 73);
      expect(least).toBeGreaterThanOrEqual(low);
      expect(most).toBeLessThanOrEqual(high);
    },
  );
  test.each(methods)('%s: compiled, in 3 dimensions: no point outside', async method => {
    const domain: Range[] = [
      [0.1, 0.7],
      [1e16, 1e16 + 2],
      [-1e-300, 1e-300],
    ];
    const f: Integrand = ([x, y, z]: number[], p: { low: Float64Array; high: Float64Array }) =>
      x < p.low[0] || x > p.high[0] || y < p.low[1] || y > p.high[1] || z < p.low[2] || z > p.high[2]
        ? Math.sqrt(-1)
        : Math.abs(x - 0.35);
    const params = {
      low: Float64Array.from(domain, r => r[0]),
      high: Float64Array.from(domain, r => r[1]),
    };
    const r = await integrate(f as Integrand, { domain, method, params, relTol: 1e-9, maxEvaluations: 1e5 });
    const truth = ((0.25 ** 2 + 0.35 ** 2) / 2) * 2 * 2e-300;
    expect(Math.abs(r.value / truth - 1)).toBeLessThan(1e-8);
  });
  test.each(methods)('%s: a constant over narrow and wide ranges is its width, to 1e-14', async method => {
    for (const [low, high] of ranges) {
      const r = await integrate(() => 1e-3, { domain: [[low, high]], method });
      expect(r.status).toBe('converged');
      expect(Math.abs(r.value / (1e-3 * (high - low)) - 1)).toBeLessThan(high < 1e-300 ? 1e-2 : 1e-14);
    }
  });
  test.each(methods)('%s: 0 over a range that cannot be halved ends, without a claim', async method => {
    for (const f of [() => 0, ([x]: number[]) => x - 1e16]) {
      const r = await integrate(f as Integrand, { domain: [[1e16, 1e16 + 2]], method });
      expect([r.converged, r.value]).toEqual([false, 0]);
      expect(r.warnings.length).toBeGreaterThan(0);
    }
  });
});

describe('ranges', () => {
  const f: Integrand = ([x, y]) => Math.exp(x * y);
  const truth = 1.317_902_151_454_404;
  test.each(methods)(
    '%s: backwards turns the sign, twice turns it back, with the same bits',
    async method => {
      const run = (domain: Range[]) => integrate(f, { domain, method, relTol: 1e-9 });
      const forth = await run([
        [0, 1],
        [0, 1],
      ]);
      const back = await run([
        [1, 0],
        [0, 1],
      ]);
      const both = await run([
        [1, 0],
        [1, 0],
      ]);
      expect([back.value, back.error, back.evaluations]).toEqual([
        -forth.value,
        forth.error,
        forth.evaluations,
      ]);
      expect([both.value, both.error, both.evaluations]).toEqual([
        forth.value,
        forth.error,
        forth.evaluations,
      ]);
      expect(back.iterations.map(i => i.value)).toEqual(forth.iterations.map(i => -i.value));
      expect(Math.abs(forth.value - truth)).toBeLessThan(1e-9);
    },
  );
  test.each(methods)('%s: an empty range is 0, without an evaluation', async method => {
    const r = await integrate(f, {
      domain: [
        [1, 1],
        [0, 1],
      ],
      method,
    });
    expect([r.status, r.value, r.error, r.evaluations]).toEqual(['converged', 0, 0, 0]);
  });
  test.each(
    each<[string, Integrand, Range[], number]>([
      ['a Gaussian', ([x]) => Math.exp(-x * x), [[-Infinity, Infinity]], Math.sqrt(Math.PI)],
      ['1/(1 + x²) backwards', ([x]) => 1 / (1 + x * x), [[Infinity, -Infinity]], -Math.PI],
      ['x^-1.5 from 1', ([x]) => x ** -1.5, [[1, Infinity]], 2],
      ['eˣ up to 2', ([x]) => Math.exp(x), [[-Infinity, 2]], Math.E ** 2],
      [
        'three at once',
        ([x, y, z]) => Math.exp(-x * x - y * y - z),
        [
          [-Infinity, Infinity],
          [0, Infinity],
          [-1, Infinity],
        ],
        (Math.PI / 2) * Math.E,
      ],
    ]),
  )('%s: infinite, %s, to 1e-6', async (method, _, f, domain, truth) => {
    await expectTrue(f, truth, { domain, method }, 1e-6);
  });
});

describe('sizes', () => {
  // powers of two: the regions that witnesses ask for have errors near rounding, which others would change in the third digit
  test.each(each([996, -996, 498, -664].map(power => [power] as [number])))(
    '%s: times 2^%d, the same regions and digits',
    async (method, power) => {
      const size = 2 ** power;
      const f: Integrand = ([x, y]: number[], p: { size: number }) =>
        p.size / (0.01 + (x - 0.3) ** 2 + y * y);
      const run = (size: number) =>
        integrate(f as Integrand, { dims: 2, method, relTol: 1e-7, params: { size } });
      const [one, other] = [await run(1), await run(size)];
      expect([other.status, other.evaluations, other.regions]).toEqual([
        'converged',
        one.evaluations,
        one.regions,
      ]);
      expect(Math.abs(other.value / size / one.value - 1)).toBeLessThan(1e-13);
      expect(Math.abs(other.error / size / one.error - 1)).toBeLessThan(1e-14);
    },
  );
  test.each(methods)('%s: results below the smallest normal number', async method => {
    await expectTrue(([x]) => 1e-310 * Math.exp(x), 1e-310 * (Math.E - 1), { dims: 1, method }, 1e-6);
  });
  test.each(methods)('%s: 1e308 in 5 dimensions is 1e308, or refused: never NaN', async method => {
    const run = integrate(() => 1e308, { dims: 5, method, maxEvaluations: 1e6 });
    const r = await run.catch((e: Error) => e);
    if (r instanceof Error) expect(r.message).toMatch(/integrand is .*Infinity|overflow|too large/);
    else {
      expect(r.status).toBe('converged');
      expect(Math.abs(r.value / 1e308 - 1)).toBeLessThan(1e-13);
    }
  });
  test.each(methods)('%s: a tiny box with huge values: 1e300 over [0, 1e-200]² is 1e-100', async method => {
    await expectTrue(() => 1e300, 1e-100, {
      domain: [
        [0, 1e-200],
        [0, 1e-200],
      ],
      method,
    });
  });
});

describe('sums that cancel, and tolerances that cannot be had', () => {
  test.each(methods)(
    '%s: sin over [−1, 1] is 0 within an error below 1e-14: roundoff, at once',
    async method => {
      const r = await integrate(([x]) => Math.sin(x), { domain: [[-1, 1]], method });
      expect(r.status).toBe('roundoff');
      expect(Math.abs(r.value)).toBeLessThanOrEqual(r.error);
      expect(r.error).toBeLessThan(1e-14);
      expect(r.evaluations).toBeLessThan(1e3);
    },
  );
  test.each(
    each<[string, Integrand]>([
      ['sin 40x', ([x]) => Math.sin(40 * x)],
      ['±√|x|', ([x]) => (x > 0 ? Math.sqrt(x) : -Math.sqrt(-x))],
      ['a step up and a step down', ([x]) => (x > 0.3 ? 1 : x < -0.3 ? -1 : 0)],
    ]),
  )('%s: %s over [−1, 1]: roundoff is said below 1e-12 alone', async (method, _, f) => {
    const r = await integrate(f, { domain: [[-1, 1]], method, maxEvaluations: 1e5 });
    expect(r.converged).toBe(false);
    expect(Math.abs(r.value)).toBeLessThanOrEqual(r.error);
    if (r.status === 'roundoff') expect(r.error).toBeLessThan(1e-12);
    else expect(r.warnings).toHaveLength(1);
  });
  test.each(methods)('%s: with an absolute tolerance it converges, in 3 dimensions as well', async method => {
    const options = { method, relTol: 0, absTol: 1e-9 };
    const line = await integrate(([x]) => Math.sin(x), { domain: [[-1, 1]], ...options });
    const odd: Integrand = ([x, y, z]) => Math.sin(3 * x) * Math.exp(y) + z ** 3;
    const box = await integrate(odd, {
      domain: [
        [-1, 1],
        [-1, 1],
        [-1, 1],
      ],
      ...options,
    });
    for (const r of [line, box]) {
      expect(r.status).toBe('converged');
      expect(Math.abs(r.value)).toBeLessThanOrEqual(1e-9);
    }
  });
  test.each(methods)('%s: √(x + y) to an absolute 1e-6', async method => {
    const r = await integrate(([x, y]) => Math.sqrt(x + y), { dims: 2, method, relTol: 0, absTol: 1e-6 });
    expect(r.status).toBe('converged');
    expect(r.error).toBeLessThanOrEqual(1e-6);
    expect(Math.abs(r.value - (4 / 15) * (2 ** 2.5 - 2))).toBeLessThanOrEqual(1e-6);
  });
  test.each(
    each<[string, Integrand, Range[], number]>([
      ['eˣ', ([x]) => Math.exp(x), [[0, 1]], Math.E - 1],
      ['1/√x', ([x]) => 1 / Math.sqrt(x), [[0, 1]], 2],
      ['|x − 1/3|', ([x]) => Math.abs(x - 1 / 3), [[0, 1]], 5 / 18],
      ['a Gaussian', ([x]) => Math.exp(-x * x), [[-Infinity, Infinity]], Math.sqrt(Math.PI)],
      ['a peak', lines[4][1], [[0, 1]], lines[4][2]],
      [
        'cos xy',
        ([x, y]) => Math.cos(x * y),
        [
          [0, 1],
          [0, 1],
        ],
        0.946_083_070_367_183,
      ],
    ]),
  )('%s: %s to 1e-18 ends, within its error', async (method, _, f, domain, truth) => {
    const r = await integrate(f, { domain, method, relTol: 1e-18, maxEvaluations: 1e6 });
    expect(['roundoff', 'budget', 'memory']).toContain(r.status);
    expect(Math.abs(r.value - truth)).toBeLessThanOrEqual(r.error);
    expect(r.error).toBeLessThan(1e-13 * truth);
  });
  test.each(methods)(
    '%s: where rounding is the end, half of the budget is left: a Gaussian to 1e-18',
    async method => {
      const r = await integrate(([x]) => Math.exp(-x * x), {
        domain: [[-Infinity, Infinity]],
        method,
        relTol: 1e-18,
        maxEvaluations: 1e7,
      });
      expect(r.status).toBe('roundoff');
      expect(r.evaluations).toBeLessThan(5e6);
    },
  );
});
