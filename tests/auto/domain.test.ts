/** `auto` over domains of every kind: what it claims is true. */
import { describe, expect, test } from 'vitest';
import { type Integrand, integrate } from '../../src/index.ts';

const inf = Infinity;
const gauss: Integrand = (x: number[]) => Math.exp(-x.reduce((s, v) => s + v * v, 0));

describe('infinite ranges', () => {
  test.each([
    [1, 1e-8],
    [2, 1e-6],
    [3, 1e-4],
    [5, 1e-3],
    [8, 1e-2],
    [15, 1e-2],
  ])('exp(−r²) over all of %i dimensions, to %d', async (dims, relTol) => {
    const r = await integrate(gauss, { domain: Array(dims).fill([-inf, inf]), relTol, maxEvaluations: 2e7 });
    const truth = Math.PI ** (dims / 2);
    expect(r.status, `${r}`).toBe('converged');
    expect(Math.abs(r.value - truth)).toBeLessThanOrEqual(
      r.method === 'pagani' ? relTol * truth : 4.5 * r.error,
    );
  });
  test('one end, backwards, and mixed with finite ones', async () => {
    const f: Integrand = ([x, y, z]) => Math.exp(-x - y * y) * z;
    const r = await integrate(f, {
      domain: [
        [inf, 1],
        [-inf, 0],
        [2, 3],
      ],
      relTol: 1e-4,
    });
    const truth = (-Math.exp(-1) * Math.sqrt(Math.PI) * 2.5) / 2;
    expect(r.status).toBe('converged');
    expect(Math.abs(r.value / truth - 1)).toBeLessThanOrEqual(1e-3);
  });
});

describe('dimensions', () => {
  test.each([1, 2, 3, 7, 10, 12, 14, 15, 25, 100])('%i: a mean of squares, to 1e-3', async dims => {
    const f: Integrand = (x: number[]) => x.reduce((s, v) => s + v * v, 0);
    const r = await integrate(f, { dims, maxEvaluations: 1e7 });
    expect(r.status, `${r}`).toBe('converged');
    expect(Math.abs(r.value - dims / 3)).toBeLessThanOrEqual(Math.max(4.5 * r.error, (1e-3 * dims) / 3));
  });
  test('1: √x, a jump, a wave of 50 periods, to 1e-6', async () => {
    const cases: [Integrand, number][] = [
      [([x]) => Math.sqrt(x), 2 / 3],
      [([x]) => (x < 1 / 3 ? 1 : 0), 1 / 3],
      [([x]) => 1 + Math.sin(314 * x), 1 + (1 - Math.cos(314)) / 314],
    ];
    for (const [f, truth] of cases) {
      const r = await integrate(f, { dims: 1, relTol: 1e-6 });
      expect([r.method, r.status]).toEqual(['pagani', 'converged']);
      expect(Math.abs(r.value / truth - 1)).toBeLessThanOrEqual(1e-6);
    }
  });
});

test('an empty range: 0, converged, nothing evaluated, and a method that is none', async () => {
  const r = await integrate(([x, y]) => x + y, {
    domain: [
      [0, 1],
      [2, 2],
    ],
  });
  expect([r.value, r.error, r.status, r.evaluations]).toEqual([0, 0, 'converged', 0]);
});
