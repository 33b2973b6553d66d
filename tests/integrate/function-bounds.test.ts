/** Bounds that are functions of the coordinates before them, against closed forms: every method, cpu and js. */
import { describe, expect, test } from 'vitest';
import { type BoundsFunction, type Integrand, integrate, sample, scan } from '../../src/index.ts';
import { toDomain } from '../../src/integrand/domain.ts';
import { makeDomain } from '../../src/integrand/make-domain.ts';
import { METHOD_NAMES } from '../../src/methods/names.ts';
import type { IntegrateOptions } from '../../src/problem.ts';
import { keyOf, wordsOf } from '../../src/random/philox.ts';

/**
 * ∫₀¹ dx ∫ dy ∫ dz x^k·y^m with y from a·x^q to b·x^s and z from 0 to c·x·y, of random numbers. Where a·x^q > b·x^s the range is
 * given backwards.
 */
function problemOf(i: number) {
  const [u, v, w, t] = wordsOf(i, 0, 0, 9, keyOf(15)).map(word => word / 2 ** 32);
  const params = { a: u, b: 0.5 + v, c: 1 + w, k: i % 3, m: (i >> 1) % 3, q: 1 + t, s: 2 - t };
  const { a, b, c, k, m, q, s } = params;
  const n = m + 2;
  const truth = (c / n) * (b ** n / (k + 2 + s * n) - a ** n / (k + 2 + q * n));
  return { params, truth };
}
const f: Integrand = ([x, y]: number[], p) => x ** p.k * y ** p.m;
const domain: IntegrateOptions['domain'] = [
  [0, 1],
  ([x]: number[], p) => [p.a * x ** p.q, p.b * x ** p.s],
  ([x, y]: number[], p) => [0, p.c * x * y],
];

const METHODS_THAT_TAKE_LONG = ['plain', 'zmc'];

describe('random curves as bounds: the truth within the error', () => {
  test.each(METHOD_NAMES)('%s', async method => {
    for (let i = METHODS_THAT_TAKE_LONG.includes(method) ? 4 : 2; i < 6; i++) {
      const { params, truth } = problemOf(i);
      const device = i === 5 ? 'js' : 'cpu';
      const r = await integrate(f, { domain, params, method, device, relTol: 5e-3, maxEvaluations: 2e6 });
      expect(r.status, `${i}`).toBe('converged');
      expect(Math.abs(r.value - truth), `${i}: ${r} is ${truth}`).toBeLessThan(5 * r.error + 1e-12);
    }
  });
  test('the pulls of vegas+ over 40 seeds have a mean square between 0.6 and 1.6', async () => {
    const { params, truth } = problemOf(7);
    let squares = 0;
    for (let seed = 1; seed <= 40; seed++) {
      const r = await integrate(f, { domain, params, method: 'vegas+', relTol: 5e-3, seed });
      squares += ((r.value - truth) / r.error) ** 2 / 40;
    }
    expect(squares).toBeGreaterThan(0.6);
    expect(squares).toBeLessThan(1.6);
  });
  test('auto reaches 1e-8 on the ball as nested ranges', async () => {
    const ball: IntegrateOptions['domain'] = [
      [-1, 1],
      ([x]) => [-Math.sqrt(1 - x * x), Math.sqrt(1 - x * x)],
      ([x, y]) => [-Math.sqrt(1 - (x * x + y * y)), Math.sqrt(1 - (x * x + y * y))],
    ];
    const r = await integrate(([x, y, z]) => x * x + y * z + z ** 4, { domain: ball, relTol: 1e-8 });
    expect(r.converged).toBe(true);
    expect(Math.abs(r.value - (4 * Math.PI) / 15 - (4 * Math.PI) / 35)).toBeLessThan(1e-8 * r.value);
  });
});

describe('points', () => {
  const inside: Integrand = ([x, y]) => (y > x && y < x + 1 ? 1 : Number.NaN);
  const strip: IntegrateOptions['domain'] = [[1, 2], ([x]) => [x, x + 1]];
  test.each(METHOD_NAMES)('of %s lie inside of the bounds, never on them', async method => {
    const r = await integrate(inside, { domain: strip, method, maxEvaluations: 1e6 });
    expect(Math.abs(r.value - 1)).toBeLessThan(1e-9);
  });
  test.each([
    [0, 1],
    [1, 1 + 2 ** -40],
    [1e6, 2e6],
    [-3, -2],
    [0.1, 0.3],
  ])('next to the ends of [%d, %d] are inside', (a, b) => {
    for (const pair of [
      [a, b],
      [b, a],
    ] as const) {
      const { axes } = makeDomain([() => pair]);
      for (const u of [2 ** -1022, 2 ** -60, 0.5, 1 - 2 ** -53]) {
        const { x, jacobian } = toDomain(axes, [u]);
        expect(x[0]).toBeGreaterThan(a);
        expect(x[0]).toBeLessThan(b);
        expect(jacobian).toBe(pair[1] - pair[0]);
      }
    }
  });
  test('that samples and histograms give are in the coordinates of the domain', async () => {
    const g: Integrand = ([, y]) => Math.exp(-y);
    const options = { domain: strip, method: 'vegas+' } as const;
    const { points } = await sample(g, { ...options, count: 500 });
    for (let i = 0; i < 500; i++) expect(points[2 * i + 1] - points[2 * i]).toBeGreaterThan(0);
    const r = await integrate(g, {
      ...options,
      histograms: { y: { of: ([x, y]) => y - x, bins: 2, range: [0, 1] } },
    });
    const [low, high] = r.histograms!.y.values;
    expect(Math.abs(high / low - Math.exp(-0.5))).toBeLessThan(0.01);
    expect(r.histograms!.y.under.value).toBe(0);
  });
});

describe('what bounds may be', () => {
  const one: Integrand = () => 1;
  test('infinite: from x on', async () => {
    for (const device of ['cpu', 'js']) {
      const up = await integrate(([x, y]) => Math.exp(-x - y), {
        domain: [[1, 3], ([x]) => [x, Infinity]],
        device,
        relTol: 1e-6,
      });
      expect(Math.abs(up.value - (Math.exp(-2) - Math.exp(-6)) / 2)).toBeLessThan(2e-6);
      const down = await integrate(([x, y]) => Math.exp(x + y), {
        domain: [[-3, -1], ([x]) => [x, -Infinity]],
        device,
        relTol: 1e-6,
      });
      expect(Math.abs(down.value + (Math.exp(-2) - Math.exp(-6)) / 2)).toBeLessThan(2e-6);
    }
  });
  test('infinite at both ends, backwards too', async () => {
    const r = await integrate(([, y]) => Math.exp(-y * y), { domain: [[0, 2], () => [Infinity, -Infinity]] });
    expect(Math.abs(r.value + 2 * Math.sqrt(Math.PI))).toBeLessThan(5 * r.error);
  });
  test('a range that is empty in a part of the domain counts as 0 there, where the integrand is infinite', async () => {
    for (const device of ['cpu', 'js']) {
      const r = await integrate(([, y]) => y ** -0.5, {
        domain: [[0, 1], ([x]) => [0, Math.max(0, x - 0.5)]],
        device,
      });
      expect(Math.abs(r.value - (4 / 3) * 0.5 ** 1.5)).toBeLessThan(5 * r.error);
    }
  });
  test('what lies closer to a bound than the last number is part of the error, as for fixed ranges', async () => {
    const r = await integrate(([x, y]) => (y - x) ** -0.9, {
      domain: [[0, 1], ([x]) => [x, 1]],
      maxEvaluations: 1e6,
    });
    expect(r.converged).toBe(false);
    expect(Math.abs(r.value - 10 / 1.1)).toBeLessThan(r.error);
    expect(r.warnings.join()).toMatch(/infinite at an end of domain\[1\]/);
  });
  test('they see params, and the functions that Math lacks', async () => {
    const r = await integrate(one, {
      domain: [[0, 1], (_, p, { erf }) => [0, erf(p.a)]],
      params: { a: 0.5 },
    });
    expect(r.value).toBeCloseTo(0.5204998778, 8);
  });
  test('they call functions in params, and have long loops', async () => {
    const half = (x: number) => {
      let sum = 0;
      for (let i = 0; i < 1000; i++) sum += x / 2000;
      return sum;
    };
    type P = { half: typeof half };
    const r = await integrate((_x, p: P) => p.half(1), {
      domain: [[0, 1], ([x]: number[], p: P) => [0, p.half(x)]],
      params: { half },
      relTol: 1e-6,
      method: 'cuhre',
    });
    expect(r.value).toBeCloseTo(1 / 8, 8);
    const own = ([x]: number[]) => {
      let sum = 0;
      for (let i = 0; i < 1000; i++) sum += x / 2000;
      return [0, sum] as const;
    };
    const s = await integrate(() => 1, { domain: [[0, 1], own], relTol: 1e-6, method: 'cuhre' });
    expect(s.value).toBeCloseTo(1 / 4, 8);
  });
  test('in a scan each integral has those of its own params', async () => {
    const sets = [0, 1, 2].map(i => problemOf(i));
    const results = await scan(f, { domain, params: sets.map(s => s.params), relTol: 1e-5 });
    results.forEach((r, i) => {
      expect(Math.abs(r.value / sets[i].truth - 1)).toBeLessThan(1e-4);
    });
    const alone = await integrate(f, { domain, params: sets[1].params, relTol: 1e-5 });
    expect(results[1].value).toBe(alone.value);
  });
  test('several results are mapped together', async () => {
    const r = await integrate(([x, y]) => [1, x * y], { domain: [[0, 1], ([x]) => [0, x]], relTol: 1e-6 });
    expect(r.value[0]).toBeCloseTo(0.5, 6);
    expect(r.value[1]).toBeCloseTo(0.125, 6);
  });
  test('a state is one of these bounds only', async () => {
    const with_ = (bounds: BoundsFunction): IntegrateOptions => ({
      domain: [[0, 1], bounds],
      method: 'vegas+',
    });
    const { state } = await integrate(
      ([x, y]) => x + y,
      with_(([x]) => [0, x]),
    );
    const again = integrate(([x, y]) => x + y, { ...with_(([x]) => [0, x]), resume: state!, relTol: 5e-4 });
    expect((await again).converged).toBe(true);
    await expect(
      integrate(([x, y]) => x + y, { ...with_(([x]) => [0, x * x]), resume: state! }),
    ).rejects.toThrow(/state of another/);
  });
});

describe('what is refused', () => {
  const one: Integrand = () => 1;
  const refused = (bounds: unknown, device = 'cpu') =>
    integrate(one, { domain: [[0, 2], bounds as BoundsFunction], device }).then(
      r => `${r}`,
      (e: Error) => e.message,
    );
  test('bounds that are NaN, with the point', async () => {
    for (const device of ['cpu', 'js'])
      expect(await refused(([x]: number[]) => [0, Math.sqrt(1 - x)], device)).toMatch(
        /`domain\[1\]` gives the bounds \[0, NaN\] at \[1\.\d+\]; mend it there/,
      );
  });
  test('an infinite bound that is computed', async () => {
    expect(await refused(([x]: number[]) => [0, x > 1 ? Infinity : 1])).toMatch(
      /infinite at some points only/,
    );
    expect(await refused(([x]: number[]) => [0, Math.exp(1e3 + x)])).toMatch(
      /infinite bound that is computed/,
    );
  });
  test('what is no pair of numbers', async () => {
    expect(await refused(() => 1)).toMatch(
      /`domain\[1\]` returns no two numbers at \[[\d.]+\]; return two bounds/,
    );
    expect(await refused(() => [0, '1'])).toMatch(/returns no two numbers/);
    expect(await refused(async () => [0, 1])).toMatch(/returns no two numbers/);
  });
  test('a function that throws, with the point', async () => {
    expect(
      await refused(() => {
        throw new Error('no');
      }),
    ).toMatch(/throws "no" at \[[\d.]+\]/);
  });
  test('a name from outside, unless the function runs as it is', async () => {
    const outside = Math.random() + 1;
    const bounds = (): [number, number] => [0, outside];
    expect(await refused(bounds)).toMatch(
      /`outside` is not defined inside domain\[1\][\s\S]*Pass it in `params`[\s\S]*quadrille\/plugin/,
    );
    const r = await integrate(one, { domain: [[0, 2], bounds], device: 'js' });
    expect(r.value).toBeCloseTo(2 * outside, 6);
    expect(r.state).toBeUndefined();
  });
});
