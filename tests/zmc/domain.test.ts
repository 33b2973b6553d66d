/** Domains of every kind, from 1 dimension to 30. */
import { describe, expect, test } from 'vitest';
import { type Integrand, integrate } from '../../src/index.ts';

const options = { method: 'zmc', maxEvaluations: 1e7 } as const;

describe('ranges', () => {
  test.each([
    [
      'the plane',
      [
        [-Infinity, Infinity],
        [-Infinity, Infinity],
      ],
      Math.PI,
    ],
    [
      'half of it',
      [
        [0, Infinity],
        [-Infinity, Infinity],
      ],
      Math.PI / 2,
    ],
    [
      'the other half',
      [
        [-Infinity, 0],
        [-Infinity, Infinity],
      ],
      Math.PI / 2,
    ],
    [
      'given backwards',
      [
        [Infinity, 0],
        [-Infinity, Infinity],
      ],
      -Math.PI / 2,
    ],
    [
      'given backwards twice',
      [
        [Infinity, 0],
        [Infinity, -Infinity],
      ],
      Math.PI / 2,
    ],
    [
      'far from 0',
      [
        [-30, 40],
        [25, -35],
      ],
      -Math.PI,
    ],
  ] as const)('exp(−x² − y²) over %s: true within 4.5 errors of 1 per cent', async (_, domain, truth) => {
    const r = await integrate(([x, y]) => Math.exp(-x * x - y * y), { ...options, domain, relTol: 1e-2 });
    expect(r.status, `${r}`).toBe('converged');
    expect(Math.abs(r.value - truth)).toBeLessThanOrEqual(4.5 * r.error);
    expect(Math.sign(r.iterations[0].value)).toBe(Math.sign(truth));
  });
  test('an empty range: 0, converged, nothing evaluated', async () => {
    const r = await integrate(([x, y]) => x + y, {
      ...options,
      domain: [
        [0, 1],
        [3, 3],
      ],
    });
    expect([r.value, r.error, r.status, r.evaluations]).toEqual([0, 0, 'converged', 0]);
  });
  test('a range of one part in 1e12: the width counts', async () => {
    const r = await integrate(([x]) => x, { ...options, domain: [[1, 1 + 1e-12]] });
    expect(Math.abs(r.value / (1 + 1e-12 - 1) - 1)).toBeLessThan(1e-9);
  });
  test('a range of three numbers in all is cut into 63 blocks without harm', async () => {
    const r = await integrate(([x]) => x, { ...options, domain: [[1, 1 + 2 ** -51]], maxEvaluations: 1e5 });
    expect(Math.abs(r.value / 2 ** -51 - 1)).toBeLessThan(1e-6);
  });
});

describe('dimensions', () => {
  const sum: Integrand = (x: number[]) => x.reduce((s, v, i) => s + v / (i + 1), 0);
  test.each([1, 2, 3, 5, 8, 9, 10, 11, 12, 13, 14, 15, 20, 25, 30])(
    '%i: true within 4.5 errors of 1 per cent',
    async dims => {
      const truth = Array.from({ length: dims }, (_, i) => 0.5 / (i + 1)).reduce((a, b) => a + b);
      const r = await integrate(sum, { ...options, dims, relTol: 1e-2 });
      expect(r.status, `${r}`).toBe('converged');
      expect(Math.abs(r.value - truth)).toBeLessThanOrEqual(4.5 * r.error);
    },
  );
  test.each([3, 6, 9, 11, 13, 20])(
    '%i: budgets of 1000, 10,000 and 100,000 each give an estimate',
    async dims => {
      const truth = Array.from({ length: dims }, (_, i) => 0.5 / (i + 1)).reduce((a, b) => a + b);
      for (const maxEvaluations of [1000, 1e4, 1e5, 1e6]) {
        const r = await integrate(sum, { ...options, dims, relTol: 1e-9, maxEvaluations });
        expect(r.evaluations).toBeLessThanOrEqual(maxEvaluations);
        expect(r.error, `${r}`).toBeLessThan(0.1 * truth);
        expect(Math.abs(r.value - truth)).toBeLessThanOrEqual(4.5 * r.error);
      }
    },
  );
});
