/** Iterations combined: weights by evaluations, χ² about the best fit. */
import { describe, expect, test } from 'vitest';
import { combine } from '../../src/methods/combine.ts';
import { philox } from '../../src/random/philox.ts';
import { kolmogorovSmirnov } from '../truth/statistics.ts';

/** A normal number for each index, by Box and Muller. */
function normal(i: number): number {
  const [a, b] = philox([i, 0, 0, 0], [7, 7]);
  return Math.sqrt(-2 * Math.log((a + 0.5) / 2 ** 32)) * Math.cos((2 * Math.PI * b) / 2 ** 32);
}

describe('combine', () => {
  test('weighs by evaluations, not by errors', () => {
    const { value, error } = combine([
      { value: 1, error: 0.1, evaluations: 300 },
      { value: 2, error: 0.001, evaluations: 100 },
    ]);
    expect(value).toBe(1.25);
    expect(error).toBeCloseTo(Math.hypot(0.075, 0.00025), 12);
  });

  test('Q is uniform for normal estimates, also when their errors differ much', () => {
    const q = Array.from({ length: 400 }, (_, run) => {
      const errors = [1, 0.1, 0.1, 0.1, 0.1];
      return combine(
        errors.map((error, i) => ({ value: 3 + error * normal(10 * run + i), error, evaluations: 1000 })),
      ).q;
    });
    expect(kolmogorovSmirnov(q)).toBeLessThan(1.95);
  });

  test.each([1e-200, 1, 1e200])('keeps errors of size %s', size => {
    const two = [1, 2].map(v => ({ value: v * size, error: 0.1 * size, evaluations: 10 }));
    expect(combine(two).error / size).toBeCloseTo(0.1 / Math.SQRT2, 12);
  });
});
