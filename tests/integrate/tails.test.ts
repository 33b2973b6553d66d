/** What lies beyond the last numbers of a range, extrapolated (src/ends/tails.ts): against closed forms. */
import { describe, expect, test } from 'vitest';
import { beyond, type Windows } from '../../src/ends/tails.ts';
import { ball, integrate } from '../../src/index.ts';

/** The windows of a map that ends at 2^53, and of one that ends at 2^250. */
const maps: Windows[] = [53, 250].map(reach => ({ start: 0.62 * reach, octaves: 0.15 * reach, reach }));

/** The average of g over a window of octaves. */
function average(g: (u: number) => number, start: number, octaves: number): number {
  const n = 1000;
  let sum = 0;
  for (let i = 0; i < n; i++) sum += g((start + (octaves * (i + 0.5)) / n) * Math.LN2);
  return sum / n;
}
const extrapolated = (g: (u: number) => number, w: Windows) =>
  beyond(average(g, w.start, w.octaves), average(g, w.start + w.octaves, w.octaves), w);

describe.each(maps)('a map that ends at 2^$reach', windows => {
  const end = windows.reach * Math.LN2;
  test.each([1.2, 1.5, 2, 3, 5, 10])('1/(x·ln^q x), q = %d: right to 20 %%', q => {
    const truth = end ** (1 - q) / (q - 1);
    const found = extrapolated(u => u ** -q, windows);
    expect(found / truth).toBeGreaterThan(0.8);
    expect(found / truth).toBeLessThan(1.2);
  });
  test.each([1.1, 1.2, 1.5, 2, 3, 5])(
    'x^-p, p = %d: never too little, and at most five times too much',
    p => {
      const truth = Math.exp(-(p - 1) * end) / (p - 1);
      const found = extrapolated(u => Math.exp(-(p - 1) * u), windows);
      expect(found / truth).toBeGreaterThan(1);
      if (truth > 1e-16) expect(found / truth).toBeLessThan(5);
    },
  );
  test.each<[string, (u: number) => number]>([
    ['1', u => Math.exp(u)],
    ['1/x', () => 1],
    ['1/(x·ln x)', u => 1 / u],
    ['1/(x·√ln x)', u => u ** -0.5],
  ])('%s has no integral', (_, g) => expect(extrapolated(g, windows)).toBe(Infinity));
  test.each<[string, (u: number) => number]>([
    ['exp(−x)', u => Math.exp(u - Math.exp(u))],
    ['0', () => 0],
  ])('%s: nothing is beyond', (_, g) => expect(extrapolated(g, windows)).toBe(0));
});

test('numbers that are not finite: nothing is known', () => {
  expect(beyond(Infinity, 1, maps[0])).toBe(Infinity);
  expect(beyond(1, Infinity, maps[0])).toBe(Infinity);
  expect(beyond(0, 1, maps[0])).toBe(Infinity);
});

test('an integrand that does not grow towards an end is not infinite there, even where the integral is 0', async () => {
  const domain = [ball(2, 1, { centre: [1, 0] })];
  const r = await integrate(([x, y]) => x * y, { domain, maxEvaluations: 1e6 });
  expect(r.warnings).toEqual([expect.stringMatching(/^0 is within the error/)]);
  expect(Math.abs(r.value)).toBeLessThan(1e-12);
});
