/** `breaks` and `points`: what they find, and what is missed without them. Positions and widths are random, truths closed forms. */
import { describe, expect, test } from 'vitest';
import { ball, type Integrand, integrate, scan } from '../../src/index.ts';
import { toDomain } from '../../src/integrand/domain.ts';
import { makeDomain } from '../../src/integrand/make-domain.ts';
import { kit } from '../../src/integrand/math/index.ts';
import { METHOD_NAMES, type MethodName } from '../../src/methods/names.ts';
import type { CommonOptions, IntegrateOptions } from '../../src/problem.ts';
import { keyOf, wordsOf } from '../../src/random/philox.ts';

/** Random numbers from 0 to 1. */
const numbers = (i: number, group = 0) => wordsOf(i, group, 0, 11, keyOf(15)).map(w => w / 2 ** 32);

/** A Gaussian peak in 4 dimensions of deviation `w` at a random place, and its integral over the unit cube. */
function peakOf(i: number, w: number) {
  const c = Float64Array.from(numbers(i), u => 0.01 + 0.98 * u);
  const along = (at: number) => (kit.erf((1 - at) / w / Math.SQRT2) + kit.erf(at / w / Math.SQRT2)) / 2;
  const truth = c.reduce((t, at) => t * w * Math.sqrt(2 * Math.PI) * along(at), 1);
  return { params: { c, w }, points: [[...c]], truth };
}
const peak: Integrand = (x: number[], p) => {
  let s = 0;
  for (let d = 0; d < x.length; d++) s += ((x[d] - p.c[d]) / p.w) ** 2;
  return Math.exp(-s / 2);
};

describe('points', () => {
  test.each<[MethodName, number, number]>([
    ['auto', 1e-3, 2],
    ['vegas+', 1e-3, 4],
    ['mcubes', 2e-3, 4],
    ['pagani', 1e-2, 1],
    ['zmc', 5e-2, 1],
  ])(
    '%s finds peaks of width 1e-4 in four dimensions and measures them to %d',
    async (method, relTol, most) => {
      for (let i = 0; i < most; i++) {
        const { truth, ...own } = peakOf(i, 1e-4);
        const r = await integrate(peak, { dims: 4, ...own, method, relTol, maxEvaluations: 1e7 });
        expect(r.status, `${i}`).toBe('converged');
        expect(Math.abs(r.value / truth - 1), `${i}: ${r}`).toBeLessThan((5 * r.error) / truth + 1e-9);
      }
    },
  );
  test.each([0.1, 1e-2, 1e-5])(
    'pagani measures peaks of width %d to 1e-3 within 2e6 evaluations',
    async w => {
      // stretched axes made 16 bumps of a peak, which took 3e6 to 1e7
      const inTheMiddle = { ...peakOf(7, w), points: [[0.5, 0.5, 0.5, 0.5]] };
      inTheMiddle.truth *=
        (kit.erf(0.5 / w / Math.SQRT2) * w * Math.sqrt(2 * Math.PI)) ** 4 / inTheMiddle.truth;
      inTheMiddle.params.c.fill(0.5);
      for (const { truth, ...own } of [peakOf(7, w), peakOf(8, w), inTheMiddle]) {
        const r = await integrate(peak, { dims: 4, ...own, method: 'pagani', maxEvaluations: 2e6 });
        expect(r.status).toBe('converged');
        expect(Math.abs(r.value - truth), `${r} is ${truth}`).toBeLessThan(r.error);
      }
    },
  );
  test('pagani goes on around points with the bits of an uninterrupted run, also with breaks', async () => {
    const { truth, ...own } = peakOf(9, 1e-3);
    const given = { dims: 4, ...own, breaks: [[0.25], [], [0.5, 0.9]], method: 'pagani' } as const;
    const first = await integrate(peak, { ...given, relTol: 3e-2 });
    const whole = await integrate(peak, { ...given, relTol: 3e-3 });
    const resumed = await integrate(peak, { ...given, relTol: 3e-3, resume: first.state! });
    expect([resumed.value, resumed.error, resumed.status]).toEqual([whole.value, whole.error, 'converged']);
    expect(Math.abs(whole.value - truth)).toBeLessThan(whole.error);
  });
  test('without them every method that is not told misses these peaks', async () => {
    const { truth, params } = peakOf(0, 1e-4);
    for (const method of ['auto', 'vegas+', 'zmc'] as const) {
      const r = await integrate(peak, { dims: 4, params, method, maxEvaluations: 1e6 });
      expect(r.converged).toBe(false);
      expect(r.value).toBeLessThan(1e-3 * truth);
    }
  });
  test.each([1e-2, 1e-6, 1e-9])('of width %d are found as well: vegas+, as it is too', async w => {
    for (const device of ['cpu', 'js']) {
      const { truth, ...own } = peakOf(5, w);
      const r = await integrate(peak, { dims: 4, ...own, method: 'vegas+', relTol: 5e-3, device });
      expect(r.status).toBe('converged');
      expect(Math.abs(r.value - truth), `${r} is ${truth}`).toBeLessThan(5 * r.error);
    }
  });
  test('two peaks of different widths are both found', async () => {
    const two: Integrand = (x: number[], p) => {
      let [s, t] = [0, 0];
      for (let d = 0; d < x.length; d++) {
        s += ((x[d] - p.a[d]) / p.v) ** 2;
        t += ((x[d] - p.b[d]) / p.w) ** 2;
      }
      return Math.exp(-s / 2) / (2 * Math.PI * p.v * p.v) + Math.exp(-t / 2) / (2 * Math.PI * p.w * p.w);
    };
    for (let i = 0; i < 2; i++) {
      const [a0, a1, b0, b1] = numbers(20 + i).map(u => 0.1 + 0.8 * u);
      const params = { a: Float64Array.of(a0, a1), b: Float64Array.of(b0, b1), v: 1e-3, w: 1e-5 };
      const points = [
        [a0, a1],
        [b0, b1],
      ];
      for (const method of ['auto', 'vegas+', 'pagani'] as const) {
        const r = await integrate(two, { dims: 2, params, points, method });
        expect(r.converged).toBe(true);
        expect(Math.abs(r.value - 2), `${method}: ${r}`).toBeLessThan(5 * r.error);
      }
    }
  });
  test('the pulls of vegas+ over 30 seeds have a mean square between 0.6 and 1.6', async () => {
    const { truth, ...own } = peakOf(3, 1e-4);
    let squares = 0;
    for (let seed = 1; seed <= 30; seed++) {
      const r = await integrate(peak, { dims: 4, ...own, method: 'vegas+', relTol: 2e-2, seed });
      squares += ((r.value - truth) / r.error) ** 2 / 30;
    }
    expect(squares).toBeGreaterThan(0.6);
    expect(squares).toBeLessThan(1.6);
  });
  test('a singularity at a point, at an end and on an infinite range', async () => {
    const root: Integrand = ([x], p) => Math.abs(x - p.c) ** -0.5;
    for (const c of [0, 0.3, 1]) {
      const r = await integrate(root, { dims: 1, points: [[c]], params: { c }, relTol: 1e-7 });
      expect(r.converged, `${c}`).toBe(true);
      expect(Math.abs(r.value - 2 * (Math.sqrt(c) + Math.sqrt(1 - c)))).toBeLessThan(3e-7);
    }
    for (const domain of [
      [[-Infinity, Infinity]],
      [[2, Infinity]],
      [[4, -Infinity]],
    ] as IntegrateOptions['domain'][]) {
      const r = await integrate(([x]) => Math.exp(-Math.abs(x - 3) * 1e4), {
        domain: domain!,
        points: [[3]],
        relTol: 1e-6,
      });
      expect(Math.abs(Math.abs(r.value) - 2e-4)).toBeLessThan(1e-9);
    }
  });
});

describe('what lies closer to a singularity at a cut than numbers do', () => {
  const root: Integrand = ([x, y], p) => Math.abs(x - p.c) ** -0.9 * (1 + y);
  const truth = (c: number) => 15 * (c ** 0.1 + (1 - c) ** 0.1);
  test.each<[string, number, CommonOptions]>([
    ['a point', 0.3, { points: [[0.3, 0.5]] }],
    ['a point at an end', 1, { points: [[1, 0.5]] }],
    ['a break', 0.3, { breaks: [[0.3]] }],
  ])('%s: it is a part of the error', async (_, c, cuts) => {
    for (const method of ['auto', 'vegas+', 'pagani'] as const) {
      const r = await integrate(root, { dims: 2, ...cuts, params: { c }, method, maxEvaluations: 1e6 });
      expect(r.converged).toBe(false);
      expect(r.warnings.join()).toMatch(/infinite where domain\[0\] is cut/);
      expect(Math.abs(r.value - truth(c)), `${method}: ${r} is ${truth(c)}`).toBeLessThan(3 * r.error);
    }
  });
  test('a point at 0, where numbers are dense: nothing is missing', async () => {
    const r = await integrate(root, { dims: 2, points: [[0, 0.5]], params: { c: 0 }, relTol: 1e-4 });
    expect(r.warnings).toEqual([]);
    expect(Math.abs(r.value - truth(0))).toBeLessThan(5 * r.error);
  });
});

describe('breaks', () => {
  /** A step along each of two axes and a kink along the third, at random places. */
  const steps: Integrand = ([x, y, z], p) => (x > p.a ? 1 : 0) * (y > p.b ? 3 : 1) * Math.abs(z - p.c);
  const problemOf = (i: number) => {
    const [a, b, c] = numbers(40 + i);
    const truth = (1 - a) * (b + 3 * (1 - b)) * ((c * c + (1 - c) ** 2) / 2);
    return { params: { a, b, c }, breaks: [[a], [b], [c]], truth };
  };
  test.each(METHOD_NAMES)('%s: the truth within the error', async method => {
    for (let i = 0; i < 2; i++) {
      const { truth, ...own } = problemOf(i);
      const device = i === 1 ? 'js' : 'cpu';
      const r = await integrate(steps, {
        dims: 3,
        ...own,
        method,
        device,
        relTol: 3e-3,
        maxEvaluations: 2e6,
      });
      expect(r.converged).toBe(true);
      expect(Math.abs(r.value - truth), `${i}: ${r} is ${truth}`).toBeLessThan(5 * r.error + 1e-12);
    }
  });
  test('pagani reaches 1e-10 with them, and not without', async () => {
    for (let i = 3; i < 6; i++) {
      const { truth, breaks, params } = problemOf(i);
      const options: IntegrateOptions = {
        dims: 3,
        params,
        method: 'pagani',
        relTol: 1e-10,
        maxEvaluations: 1e6,
      };
      const r = await integrate(steps, { ...options, breaks });
      expect(r.converged).toBe(true);
      expect(Math.abs(r.value / truth - 1)).toBeLessThan(1e-10);
      expect((await integrate(steps, options)).converged).toBe(false);
    }
  });
  test('several on one axis, on an infinite range and on one that is given backwards', async () => {
    const stairs: Integrand = ([x]) => (x > 1 ? 1 : 0) * (x > 2 ? 2 : 1) * (x > 5 ? 3 : 1) * Math.exp(-x);
    const truth = Math.exp(-1) + Math.exp(-2) + 4 * Math.exp(-5);
    const options: CommonOptions = { breaks: [[5, 1, 2]], relTol: 1e-9 };
    const up = await integrate(stairs, { domain: [[0, Infinity]], ...options });
    expect(Math.abs(up.value - truth)).toBeLessThan(1e-9);
    const down = await integrate(stairs, { domain: [[Infinity, 0]], ...options });
    expect(Math.abs(down.value + truth)).toBeLessThan(1e-9);
  });
  test('no point lies on one, nor outside of the axis', () => {
    for (const range of [
      [0, 1],
      [1, 1 + 2 ** -30],
      [-Infinity, Infinity],
      [1, Infinity],
    ] as const) {
      const cut = 1 + 2 ** -31;
      const where = { breaks: [], peaks: [Math.min(cut, range[1] === 1 ? 0.25 : cut)] };
      const [peak] = where.peaks;
      const { axes } = makeDomain([range], {}, [where]);
      for (const u of [2 ** -1022, 0.25, 0.5, 0.5 - 2 ** -54, 0.5 + 2 ** -53, 1 - 2 ** -53]) {
        const { x, jacobian } = toDomain(axes, [u]);
        expect(x[0], `${u}`).not.toBe(peak);
        expect(x[0]).toBeGreaterThan(range[0]);
        expect(x[0]).toBeLessThan(range[1]);
        expect(jacobian).toBeGreaterThanOrEqual(0);
      }
    }
  });
  test('in a scan the program is compiled once, and results are those of integrate', async () => {
    const { breaks, params } = problemOf(2);
    const sets = [1, 2, 3].map(k => ({ ...params, c: k / 4 }));
    const options: IntegrateOptions = { dims: 3, breaks, relTol: 1e-4 };
    const results = await scan(steps, { ...options, params: sets });
    expect(results[1].value).toBe((await integrate(steps, { ...options, params: sets[1] })).value);
  });
  test('a state with other breaks is refused', async () => {
    const { breaks, params } = problemOf(2);
    const options: IntegrateOptions = { dims: 3, params, method: 'vegas+' };
    const { state } = await integrate(steps, { ...options, breaks });
    await expect(integrate(steps, { ...options, resume: state! })).rejects.toThrow(/state of another domain/);
  });
});

describe('what is refused', () => {
  const one: Integrand = () => 1;
  test.each<[IntegrateOptions, RegExp]>([
    [{ dims: 2, breaks: [[1.5]] }, /`breaks\[0\]` is \[1.5\]; 1.5 is outside of domain\[0\]/],
    [{ dims: 1, breaks: [[0.5], [0.5]] }, /`breaks` .* at most 1 lists/],
    [{ dims: 1, breaks: [0.5] as never }, /`breaks\[0\]` is 0.5; pass a list of numbers per axis/],
    [{ dims: 1, breaks: [[Number.NaN]] }, /`breaks\[0\]` is \[NaN\]; pass finite numbers/],
    [{ dims: 2, points: [[0.5]] }, /`points\[0\]` is \[0.5\]; pass 2 coordinates/],
    [{ dims: 1, points: [[2]] }, /`points\[0\]` is \[2\]; 2 is outside of domain\[0\]/],
    [{ domain: [[0, 1], () => [0, 1]], breaks: [[], [0.5]] }, /`breaks\[1\]` .* cannot be cut/],
    [{ dims: 1, breaks: [Array.from({ length: 64 }, (_, i) => i / 64)] }, /an axis takes 63 breaks/],
  ])('%o', async (options, message) => {
    await expect(integrate(one, options)).rejects.toThrow(message);
  });
});

test('breaks are counted by coordinates, also behind a shape, which has several', async () => {
  const step: Integrand = ([x, y, z]) => (z < 0.3 ? 1 : 2) * (x * x + y * y);
  const domain = [ball(2), [0, 1]] as const;
  const r = await integrate(step, { domain, breaks: [[], [], [0.3]], method: 'pagani', relTol: 1e-9 });
  expect(r.status).toBe('converged');
  expect(Math.abs(r.value - (1.7 * Math.PI) / 2)).toBeLessThan(1e-8);
  expect(r.evaluations).toBeLessThan(1e6);
  await expect(integrate(step, { domain, breaks: [[0.3], []] })).rejects.toThrow(
    /breaks\[0\]` is \[0\.3\]; leave it out: domain\[0\] is no range/,
  );
  await expect(integrate(step, { domain, breaks: [[], [], [], [0.3]] })).rejects.toThrow(/at most 3 lists/);
});
