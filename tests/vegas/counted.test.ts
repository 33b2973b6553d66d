/** Which samples of a large iteration the histogram counts. */
import { describe, expect, test } from 'vitest';
import type { Estimate } from '../../src/methods/combine.ts';
import { carriersIn, limitFor } from '../../src/methods/vegas/counted-part.ts';
import { TaskError } from '../../src/tasks/checked-values.ts';
import { blockBitsOf, countedWords, isCounted } from '../../src/tasks/counted.ts';
import { readSampleTask } from '../../src/tasks/verify.ts';
import { decode, encode } from '../../src/tasks/wire.ts';
import { sampleTask } from '../cuda/tasks.ts';

const taskOf = (part: number, iteration: number) => ({
  iteration,
  adapt: { scale: 1, variances: true, limit: part * 2 ** 32 },
  strata: [1],
  counts: 2 ** 26,
});
const SIZE = 2 ** blockBitsOf(2 ** 26);
/** The numbers of the blocks that count among the first so many. */
const countedBlocks = (part: number, iteration: number, blocks: number): number[] =>
  Array.from({ length: blocks }, (_, b) => b).filter(b =>
    isCounted(b * SIZE, countedWords(taskOf(part, iteration))),
  );

describe('blocks', () => {
  test.each([1 / 2, 1 / 4, 1 / 16])('a part of %d of any 1000 of them counts, to two blocks', part => {
    for (const iteration of [0, 1, 77, 2 ** 31]) {
      const all = countedBlocks(part, iteration, 8000);
      for (let first = 0; first <= 7000; first += 500) {
        const n = all.filter(b => b >= first && b < first + 1000).length;
        expect(Math.abs(n - 1000 * part)).toBeLessThanOrEqual(2);
      }
    }
  });
  test('of neighbouring ones never more than 33 in a row are left out', () => {
    const all = countedBlocks(1 / 16, 3, 2 ** 16);
    const gaps = all.slice(1).map((b, i) => b - all[i]);
    expect(Math.max(...gaps)).toBeLessThanOrEqual(34);
  });
  test('other ones count in the next iteration', () => {
    const next = new Set(countedBlocks(1 / 16, 4, 4096));
    const both = countedBlocks(1 / 16, 3, 4096).filter(b => next.has(b));
    expect(both.length).toBeLessThan(4096 / 32);
  });
  test('with no limit all samples count, also beyond 2^32', () => {
    for (const sample of [0, 8191, 2 ** 32 - 1, 2 ** 40 + 12345])
      expect(
        isCounted(sample, countedWords({ ...taskOf(1 / 2, 9), adapt: { scale: 1, variances: true } })),
      ).toBe(true);
  });
  test('there are between 8192 and 16384 of them in large tasks', () => {
    for (const samples of [2 ** 27, 5e8, 2 ** 30 - 1, 3e10])
      expect(samples / 2 ** blockBitsOf(samples) / 8192).toBeGreaterThanOrEqual(1);
    expect(5e8 / 2 ** blockBitsOf(5e8)).toBeLessThan(16384);
  });
});

describe('how many count', () => {
  const estimate = (over: Partial<Estimate>): Estimate => ({
    value: 1,
    error: 1e-3,
    evaluations: 1e8,
    ...over,
  });
  test('all of a small iteration, and of the first one', () => {
    expect(limitFor(3e7, 3e7)).toEqual({});
    expect(limitFor(5e8, 0)).toEqual({});
  });
  test('1.7e7 at least, and 4e6 that carry the variance; a sixteenth at least', () => {
    expect(limitFor(2 ** 26, 2 ** 26)).toEqual({ limit: 2 ** 30 });
    expect(limitFor(5e7, 5e7)).toEqual({ limit: 2 ** 31 });
    expect(limitFor(5e8, 5e8)).toEqual({ limit: 2 ** 28 });
    expect(limitFor(5e8, 1.7e7)).toEqual({ limit: 2 ** 30 });
    expect(limitFor(5e8, 8e6)).toEqual({});
  });
  test('what carries the variance is told by pieces: half of them, or all', () => {
    expect(carriersIn(estimate({ carriers: 5e5 }), 1e6)).toBe(5e7);
    expect(carriersIn(estimate({ carriers: 2e6 }), 1e6)).toBe(1e8);
  });
  test('nothing is known of an integrand that was 0 so far, nor where one of several results was', () => {
    expect(carriersIn(estimate({ value: 0, error: 0, carriers: Infinity }), 1e6)).toBe(0);
    const each = [estimate({ carriers: 1e6 }), estimate({ value: 0, error: 0, carriers: Infinity })];
    expect(carriersIn(estimate({ results: { each, correlations: new Float64Array() } as never }), 1e6)).toBe(
      0,
    );
  });
});

test('a task from another machine keeps its limit, and one that is no word of 32 bits is refused', () => {
  const limited = (limit: number) =>
    sampleTask([[0, 1]], 3, 4000, 16, { adapt: { scale: 2, variances: true, limit } });
  const fit = { dims: 1, results: 1 };
  expect(readSampleTask(decode(encode(limited(2 ** 30))), fit)).toStrictEqual(limited(2 ** 30));
  for (const limit of [-1, 0.5, 2 ** 32, Number.NaN])
    expect(() => readSampleTask(decode(encode(limited(limit))), fit)).toThrow(TaskError);
});
