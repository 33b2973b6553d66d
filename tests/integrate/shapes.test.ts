/** Simplices, balls and spheres against closed forms of polynomials; centre and scale of infinite ranges; a domain per set. */
import { describe, expect, test } from 'vitest';
import {
  ball,
  type DomainShape,
  type Integrand,
  integrate,
  sample,
  scan,
  simplex,
  sphere,
} from '../../src/index.ts';
import { kit } from '../../src/integrand/math/index.ts';
import { METHOD_NAMES } from '../../src/methods/names.ts';
import type { CommonOptions, IntegrateOptions } from '../../src/problem.ts';
import { keyOf, wordsOf } from '../../src/random/philox.ts';

const gamma = (x: number) => kit.exp(kit.lgamma(x));
const numbers = (i: number) => wordsOf(i, 0, 0, 12, keyOf(15)).map(w => w / 2 ** 32);

/** ∫ Π |x_d − centre_d|^(powers_d) over a sphere or ball of radius r (Folland 2001), and Π x_d^(powers_d) over a simplex (Dirichlet). */
function truthOf({ shape, dims, size }: DomainShape, powers: readonly number[]): number {
  const sum = powers.reduce((a, b) => a + b, 0);
  const gammas = (half: number) => powers.reduce((t, k) => t * gamma((k + 1) * half), 1);
  if (shape === 'simplex') return (gammas(1) / gamma(sum + dims + 1)) * size ** (sum + dims);
  const surface = (2 * gammas(0.5)) / gamma((sum + dims) / 2);
  return shape === 'sphere'
    ? surface * size ** (sum + dims - 1)
    : (surface / (sum + dims)) * size ** (sum + dims);
}

const monomial: Integrand = (x: number[], p) => {
  let product = 1;
  for (let d = 0; d < x.length; d++) product *= (x[d] - p.centre[d]) ** p.powers[d];
  return product;
};

/** A monomial of even powers over a shape of random size, at a random centre. */
function problemOf(name: 'simplex' | 'ball' | 'sphere', dims: number, i: number) {
  const [u, ...rest] = numbers(i);
  const centre = Array.from({ length: dims }, (_, d) => (name === 'simplex' ? 0 : 4 * rest[d % 3] - 2));
  const size = 0.5 + 2 * u;
  const domain = name === 'simplex' ? simplex(dims, size) : { ball, sphere }[name](dims, size, { centre });
  const powers = Array.from({ length: dims }, (_, d) => 2 * ((i + d) % 2));
  const params = { centre: Float64Array.from(centre), powers: Float64Array.from(powers) };
  return { domain, params, truth: truthOf(domain, powers) };
}

describe.each(['simplex', 'ball', 'sphere'] as const)('%s', name => {
  test.each([2, 3, 4])('in %d dimensions: auto reaches 1e-8', async dims => {
    for (let i = 0; i < 2; i++) {
      const { truth, ...own } = problemOf(name, dims, i);
      const r = await integrate(monomial, { ...own, relTol: 1e-8, maxEvaluations: 1e8 });
      expect(r.converged).toBe(true);
      expect(Math.abs(r.value / truth - 1), `${r} is ${truth}`).toBeLessThan(1e-8);
    }
  });
  test.each(METHOD_NAMES)('%s, cpu and js: the truth within five errors', async method => {
    for (const device of ['cpu', 'js']) {
      const { truth, ...own } = problemOf(name, 3, 5);
      const r = await integrate(monomial, { ...own, method, device, relTol: 1e-2, maxEvaluations: 1e6 });
      expect(Math.abs(r.value - truth), `${r} is ${truth}`).toBeLessThan(5 * r.error + 1e-9 * truth);
      expect(r.error).toBeLessThan(0.02 * truth);
    }
  });
  test('in seven dimensions: vegas+ within five errors', async () => {
    const { truth, ...own } = problemOf(name, 7, 3);
    const r = await integrate(monomial, { ...own, method: 'vegas+', relTol: 1e-3 });
    expect(r.converged).toBe(true);
    expect(Math.abs(r.value - truth), `${r} is ${truth}`).toBeLessThan(5 * r.error);
  });
  test('every point lies in it, also as far as functions that end there can tell', async () => {
    const { domain } = problemOf(name, 3, 1);
    const inside: Integrand = (x: number[], p) => {
      let [squares, sum] = [0, 0];
      for (let d = 0; d < x.length; d++) {
        squares += (x[d] - p.centre[d]) ** 2;
        sum += x[d];
      }
      if (p.kind === 0) return Math.sqrt(p.size - sum);
      return p.kind === 1 ? Math.sqrt(p.size ** 2 - squares) : Math.sqrt(squares) / p.size - 1;
    };
    const params = {
      centre: Float64Array.from(domain.centre),
      size: domain.size,
      kind: ['simplex', 'ball', 'sphere'].indexOf(name),
    };
    for (const method of ['pagani', 'vegas+'] as const) {
      const r = await integrate(inside, {
        domain,
        params,
        method,
        relTol: 1e-5,
        absTol: 1e-9,
        maxEvaluations: 1e6,
      });
      expect(r.nonFinite).toBe(0);
      if (name === 'sphere') expect(Math.abs(r.value)).toBeLessThan(1e-14);
    }
  });
});

describe('shapes', () => {
  test('of one dimension are ranges', async () => {
    const f: Integrand = ([x]) => Math.sqrt(1 - (x - 3) ** 2);
    const r = await integrate(f, { domain: ball(1, 1, { centre: [3] }), relTol: 1e-6 });
    expect(Math.abs(r.value - Math.PI / 2)).toBeLessThan(1e-5);
    expect((await integrate(([x]) => x, { domain: simplex(1, 2) })).value).toBeCloseTo(2, 9);
  });
  test('a warning about a range behind one names that range', async () => {
    const f: Integrand = ([x, , z]) => x * x * (1 - z) ** -0.9;
    const r = await integrate(f, { domain: [ball(2), [0, 1]], method: 'pagani', maxEvaluations: 1e6 });
    expect(r.warnings.join()).toMatch(/infinite at an end of domain\[1\]/);
  });
  test('what lies closer to their surface than points come is a part of the error', async () => {
    const near: Integrand = ([x, y]) => (1 - Math.sqrt(x * x + y * y)) ** -0.9;
    const r = await integrate(near, { domain: ball(2), method: 'pagani', maxEvaluations: 1e6 });
    const truth = 2 * Math.PI * (1 / 0.1 - 1 / 1.1);
    expect(r.converged).toBe(false);
    expect(Math.abs(r.value - truth), `${r} is ${truth}`).toBeLessThan(r.error);
  });
  test('may be some coordinates of a domain, and bounds may depend on them', async () => {
    // the solid between the disc and the paraboloid x² + y², times [0, 2]
    const r = await integrate(([t, x, , z]) => t * x * x + z, {
      domain: [[0, 2], ball(2), ([, x, y]) => [0, x * x + y * y]],
      relTol: 1e-7,
    });
    // ∫ t·∫ x²·(x² + y²) + 2·∫ (x² + y²)²/2 = 2·(π/6) + π/3
    expect(Math.abs(r.value - (2 * Math.PI) / 3)).toBeLessThan(1e-6);
  });
  test('points of a sphere have all coordinates', async () => {
    const { points } = await sample(([, , z]) => 1 + z, { domain: sphere(3, 2), count: 200 });
    expect(points).toHaveLength(600);
    for (let i = 0; i < 200; i++) {
      const [x, y, z] = points.subarray(3 * i, 3 * i + 3);
      expect(Math.hypot(x, y, z)).toBeCloseTo(2, 12);
    }
  });
  test('what makes no sense is refused', async () => {
    expect(() => ball(0)).toThrow('ball: `dims` is 0; pass a whole number from 1 to 100.');
    expect(() => sphere(1)).toThrow(/pass a whole number from 2/);
    expect(() => ball(2, -1)).toThrow('ball: `radius` is -1; pass a number above 0.');
    expect(() => sphere(2, 1, { centre: [0] })).toThrow(/`centre` is \[0\]; pass 2 numbers/);
    await expect(integrate(() => 1, { domain: ball(2), points: [[0, 0]] })).rejects.toThrow(
      /pass 1 coordinates|no range/,
    );
  });
});

describe('centre and scale of infinite ranges', () => {
  const bell: Integrand = ([x], p) => Math.exp(-(((x - p.c) / p.w) ** 2) / 2) / p.w / Math.sqrt(2 * Math.PI);
  test.each([
    [1e6, 10],
    [-3e9, 1e-3],
    [5e-7, 1e-9],
    [0, 1e12],
  ])('a bell at %d of width %d: every method', async (c, w) => {
    for (const method of METHOD_NAMES) {
      const options: CommonOptions = { params: { c, w }, method, relTol: 5e-3, maxEvaluations: 1e6 };
      const range = { from: -Infinity, to: Infinity, centre: c, scale: w };
      const r = await integrate(bell, { ...options, domain: [range] });
      expect(Math.abs(r.value - 1), `${method}: ${r}`).toBeLessThan(5 * r.error + 1e-9);
      expect(r.converged).toBe(true);
    }
  });
  test('without them auto does not find it', async () => {
    const r = await integrate(bell, {
      domain: [[-Infinity, Infinity]],
      params: { c: -3e9, w: 1e-3 },
      maxEvaluations: 1e6,
    });
    expect(r.converged).toBe(false);
  });
  test('the scale of a range that is infinite at one end, with a device of plain functions too', async () => {
    for (const device of ['cpu', 'js'])
      for (const [from, to] of [
        [0, Infinity],
        [7, Infinity],
        [-Infinity, 7],
        [Infinity, 7],
      ]) {
        const end = Number.isFinite(from) ? from : to;
        const r = await integrate(([x], p) => Math.exp(-Math.abs(x - p.end) / 1e9), {
          domain: [{ from, to, scale: 1e9 }],
          params: { end },
          device,
          relTol: 1e-8,
        });
        expect(Math.abs(r.value / (from === Infinity ? -1e9 : 1e9) - 1)).toBeLessThan(1e-8);
      }
  });
  test('what makes no sense is refused', async () => {
    const refused = (part: object) =>
      integrate(() => 1, { domain: [part as never] }).catch((e: Error) => e.message);
    expect(await refused({ from: 0, to: 1, scale: 2 })).toMatch(/`domain\[0\].scale` is 2; leave it out/);
    expect(await refused({ from: 0, to: Infinity, centre: 2 })).toMatch(/both ends/);
    expect(await refused({ from: 0, to: Infinity, scale: 0 })).toMatch(/pass a number above 0/);
    expect(await refused({ from: 0, to: Infinity, center: 2 })).toMatch(
      /a range has from, to, scale, centre/,
    );
  });
});

describe('a domain for each set of a scan', () => {
  test('results are those of integrate, to the bit', async () => {
    const f: Integrand = ([x, y], p) => x * y + p.a;
    const domain = (p: { a: number }, i: number): NonNullable<IntegrateOptions['domain']> => [
      [0, p.a],
      [i, 0],
    ];
    const sets = [1, 2, 3].map(a => ({ a }));
    const results = await scan(f, { params: sets, domain });
    for (const [i, params] of sets.entries()) {
      const own = await integrate(f, { params, domain: domain(params, i)! });
      expect([results[i].value, results[i].error]).toEqual([own.value, own.error]);
      expect(results[i].value).toBeCloseTo(-(params.a ** 2) * (i ** 2 / 4 + i), 9);
    }
  });
  test('of other dimensions, shapes and infinite ranges: each is compiled for itself', async () => {
    const results = await scan((x: number[]) => Math.exp(-x.reduce((s, v) => s + v * v, 0)), {
      params: [{}, {}, {}, {}],
      domain: (_, i) =>
        [
          [[-Infinity, Infinity]],
          [[0, 1]],
          [
            [0, Infinity],
            [0, Infinity],
          ],
          ball(2, 9),
        ][i] as never,
      relTol: 1e-6,
    });
    const truths = [Math.sqrt(Math.PI), 0.746824132812427, Math.PI / 4, Math.PI];
    results.forEach((r, i) => {
      expect(Math.abs(r.value - truths[i]), `${i}`).toBeLessThan(1e-5);
    });
  });
  test('a bad one is named with its set', async () => {
    await expect(
      scan(() => 1, { params: [{ a: 1 }, { a: 2 }], domain: (_, i) => [[0, i > 0 ? Number.NaN : 1]] }),
    ).rejects.toThrow('scan: set 1: `domain[0]` is [0, NaN]; bounds are numbers or ±Infinity.');
  });
});
