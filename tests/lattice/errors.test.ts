/** Errors of lattices: Student's factor, heavy tails, what half the points said. */
import { describe, expect, test } from 'vitest';
import { estimateOf, extended, studentFactor } from '../../src/methods/lattice/shift-means.ts';
import { steadyError } from '../../src/methods/lattice/steady-error.ts';

const random = { value: 0, error: 1, evaluations: 100, carriers: 500 };
const of = (means: number[][], each = random) => ({
  iteration: 0,
  log2: 4,
  folded: false,
  means,
  random: each,
});

describe('the error of shifts', () => {
  test('one error is 68.27 % of Student’s distribution (tables: 1.0764 with 7, 1.0345 with 15, 1.0165 with 31 degrees)', () => {
    expect(studentFactor(8)).toBeCloseTo(1.0767, 3);
    expect(studentFactor(16)).toBeCloseTo(1.0345, 4);
    expect(studentFactor(32)).toBeCloseTo(1.0164, 4);
  });

  test('is the deviation of the mean, with R − 1, times that factor', () => {
    const { value, error, randomError } = estimateOf(of([[1, 2, 3, 4, 5, 6, 7, 8]]), 0);
    expect(value).toBe(4.5);
    expect(error).toBeCloseTo(Math.sqrt(6 / 8) * studentFactor(8), 12);
    expect(randomError).toBe(1);
  });

  test('does not underflow: means of 1e-200', () => {
    expect(estimateOf(of([[1e-200, 3e-200]]), 0).error).toBeGreaterThan(1e-200);
  });

  test('is larger where one shift has all of the variance', () => {
    const tail = Array.from({ length: 32 }, (_, i) => (i === 7 ? 1 : 0));
    const plain = Math.sqrt(1 / 32) / Math.sqrt(32);
    expect(estimateOf(of([tail]), 0).error).toBeGreaterThan(5 * plain);
  });

  test('twice the points: means of both halves, of each shift', () => {
    expect(extended(of([[1, 3]]), of([[3, 4]])).means).toEqual([[2, 3.5]]);
  });

  test('several results are correlated as their means are', () => {
    const results = { each: [random, random, random], correlations: [] };
    const { results: own } = estimateOf(
      of(
        [
          [1, 2, 4],
          [2, 4, 8],
          [-1, -2, -4],
        ],
        { ...random, results } as never,
      ),
      0,
    );
    expect(own!.correlations[0]).toEqual([
      1,
      expect.closeTo(1),
      1,
      expect.closeTo(-1),
      expect.closeTo(-1),
      1,
    ]);
  });
});

describe('errors of lattices that double', () => {
  test('a scatter that is low by chance is raised by the one before', () => {
    expect(steadyError([8, 4, 2, 0.1])).toBeCloseTo(Math.sqrt((0.01 + 1) / 2), 12);
  });

  test('a steady fall is left alone, whatever its slope', () => {
    for (const factor of [1.5, 2, 4])
      expect(steadyError([1, 1 / factor, factor ** -2, factor ** -3])).toBeCloseTo(factor ** -3, 12);
  });

  test('an error that grew counts as it is, and so does the first', () => {
    expect(steadyError([1, 2])).toBe(2);
    expect(steadyError([3])).toBe(3);
    expect(steadyError([0, 0])).toBe(0);
  });
});
