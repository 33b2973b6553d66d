/** Whole runs on the emulated card: the CPU's numbers to rounding, the same bits every time. */
import { afterEach, describe, expect, test } from 'vitest';
import { ball, type Integrand, integrate, scan, table } from '../../src/index.ts';
import type { CommonOptions, IntegrateOptions, MethodName } from '../../src/problem.ts';
import type { Entry } from '../integrands/entry.ts';
import { tabulated } from '../integrands/tabulated.ts';
import { absent } from './emulated.ts';
import { named } from './tasks.ts';

const run = (e: Entry, device: string, options: CommonOptions) =>
  integrate(e.f as never, { domain: e.domain, params: e.params ?? {}, ...options, device });

describe.skipIf(absent)(
  'VEGAS+ is the CPU run: value and error within 1e-9 errors, as many evaluations',
  () => {
    test.each(['f4_5', 'f6_6', 'roos_arnold_10', 'gaussian_4', 'f1_8'])('%s', async name => {
      const e = named(name);
      for (const vegas of [
        { evaluations: 20_000, iterations: 6, adapt: 3 },
        { evaluations: 60_000, iterations: 4, adapt: 2, beta: 1, maxStrata: 16 },
      ]) {
        const options: CommonOptions = { method: 'vegas+', relTol: 0, vegas };
        const [x, y] = [await run(e, 'cuda', options), await run(e, 'cpu', options)];
        expect(Math.abs(x.value - y.value) / y.error).toBeLessThan(1e-9);
        expect(Math.abs(x.error / y.error - 1)).toBeLessThan(1e-9);
        expect(x.evaluations).toBe(y.evaluations);
      }
    });
  },
);

describe.skipIf(absent)('every method to a tolerance', () => {
  // biome-ignore format: by family
  const FOLLOWING: MethodName[] = [
    'plain', 'mcubes', 'mcubes1d', 'vegas+', 'zmc',
    'cuhre', 'two-phase',
  ];
  test.each(FOLLOWING)('%s: the CPU result to rounding', async method => {
    // where axes are alike, rounding chooses among them
    for (const e of [named('f3_3'), named('f1_5')]) {
      const options: CommonOptions = { method, relTol: 1e-4, maxEvaluations: 3e5 };
      const [x, y] = [await run(e, 'cuda', options), await run(e, 'cpu', options)];
      expect(x.status).toBe(y.status);
      expect(x.evaluations).toBe(y.evaluations);
      expect(Math.abs(x.value - y.value) / y.error).toBeLessThan(1e-8);
      expect(Math.abs(x.error / y.error - 1)).toBeLessThan(1e-8);
      expect(x.device).toMatch(/^cuda:0 \(Emulated GPU 0\)$/);
    }
  });
  // a card keeps its own list of regions, and chooses among them in its own way
  test.each<MethodName>(['pagani', 'auto'])('%s: the truth within the error', async method => {
    for (const e of ['f1_5', 'f2_3', 'f3_3', 'f4_3', 'f5_5'].map(named)) {
      const r = await run(e, 'cuda', { method, relTol: 1e-3, maxEvaluations: 1e6 });
      expect(r.status, e.name).toBe('converged');
      const claim = r.dof > 0 ? 5 * r.error : r.error; // Monte Carlo gives one deviation
      expect(Math.abs(r.value - e.truth!), e.name).toBeLessThanOrEqual(claim);
    }
  });
  test('bounds that are functions, a ball, breaks and points: the CPU result to rounding', async () => {
    const steep: Integrand = ([x, y]) => (x > 0.3 ? 1 : 0) * Math.exp(-((y / 0.01) ** 2));
    const all: Integrand = ([x, y, z, u, v, w]) => Math.exp(-z - w * w) * (x + y * y + u * u + Math.cos(v));
    const vegas = { evaluations: 20_000, iterations: 4, adapt: 2 };
    const range = { from: -Infinity, to: Infinity, centre: 3, scale: 2 };
    const problems: [Integrand, IntegrateOptions][] = [
      [
        steep,
        {
          domain: [
            [0, 1],
            [-1, 1],
          ],
          breaks: [[0.3]],
          points: [[0.6, 0]],
        },
      ],
      [
        all,
        { domain: [[0, 1], ([x]) => [-x, x], ([x]) => [x, Infinity], ball(2, 2), range], breaks: [[0.3]] },
      ],
    ];
    for (const [f, where] of problems) {
      const options: IntegrateOptions = { ...where, method: 'vegas+', relTol: 0, vegas };
      const [x, y] = [await integrate(f, { ...options, device: 'cuda' }), await integrate(f, options)];
      expect(Math.abs(x.value - y.value) / y.error).toBeLessThan(1e-8);
      expect(Math.abs(x.error / y.error - 1)).toBeLessThan(1e-8);
    }
  });
  test('an infinite domain, a range backwards', async () => {
    const f = ([x, y, z]: number[]) => Math.exp(-x * x - y) / (1 + z);
    const domain: [number, number][] = [
      [-Infinity, Infinity],
      [0, Infinity],
      [1, 0],
    ];
    const r = await integrate(f, { domain, device: 'cuda', method: 'pagani', relTol: 1e-6 });
    expect(Math.abs(r.value / (-Math.sqrt(Math.PI) * Math.LN2) - 1)).toBeLessThan(1e-6);
  });
});

describe.skipIf(absent)('same seed, same bits', () => {
  afterEach(() => {
    delete process.env.QUADRILLE_EMULATOR_BACKWARDS;
  });
  test.each<MethodName>(['vegas+', 'mcubes1d', 'zmc', 'pagani'])(
    '%s, in whatever order threads run',
    async method => {
      const e = named('f6_6');
      const options: CommonOptions = { method, relTol: 1e-3, maxEvaluations: 2e5 };
      const first = await run(e, 'cuda', options);
      for (const [device, backwards] of [
        ['cuda', ''],
        ['cuda', '1'],
        ['cuda:1', ''],
      ]) {
        process.env.QUADRILLE_EMULATOR_BACKWARDS = backwards;
        const { value, error, evaluations } = await run(e, device, options);
        expect({ value, error, evaluations }).toEqual({
          value: first.value,
          error: first.error,
          evaluations: first.evaluations,
        });
      }
    },
  );
});

describe.skipIf(absent)('params', () => {
  test('numbers, booleans, arrays and tables reach the card', async () => {
    for (const method of ['vegas+', 'cuhre'] as const) {
      const options: CommonOptions = { method, relTol: 1e-2, maxEvaluations: 2e5 };
      const [x, y] = [await run(tabulated, 'cuda', options), await run(tabulated, 'cpu', options)];
      expect(Math.abs(x.value - y.value) / y.error).toBeLessThan(1e-8);
    }
    const f = ([x, y]: number[], p: { on: boolean; list: number[]; t: (v: number) => number }) =>
      (p.on ? p.list[Math.floor(3 * x)] : 0) + p.t(y);
    const params = { on: true, list: Float64Array.of(1, 2, 6), t: table([[0, 0.5, 1]], [0, 4, 0]) };
    const r = await integrate(f as never, {
      dims: 2,
      params,
      device: 'cuda',
      method: 'vegas+',
      relTol: 1e-2,
    });
    expect(Math.abs(r.value - 5)).toBeLessThan(5 * r.error);
  });
  test('a scan gives what single runs give, to the bit', async () => {
    const f = ([x, y]: number[], p: { a: number }) => Math.exp(-p.a * (x + y * y));
    const params = [1, 2, 3, 5, 8].map(a => ({ a }));
    const options = { dims: 2, method: 'vegas+', relTol: 1e-3, device: 'cuda' } as const;
    const results = await scan(f as never, { ...options, params });
    for (const [i, p] of params.entries()) {
      const alone = await integrate(f as never, { ...options, params: p });
      expect(results[i].value).toBe(alone.value);
      expect(results[i].error).toBe(alone.error);
    }
  });
});
