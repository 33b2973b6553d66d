/** VEGAS+ whose samples are all equal says nothing against PAGANI, which has met other values. */
import { expect, test } from 'vitest';
import { integrate } from '../../src/index.ts';

/** 1, and 190 on a slab that fills a 10,000th of the unit cube. */
const slab = ([a, b, c, d, e]: number[]) => {
  const s = 0.99 * a + 0.58 * b + 0.81 * c + 0.23 * d + 0.5 * e;
  return 1 + (s > 1.5 && s < 1.50012 ? 189 : 0);
};

const DISAGREE = /vegas\+ came to 1\.0{14}\(\d+\), pagani to 1\.000\(\d+\): they disagree/;
const DOUBT = /a few samples carry most of the variance|the map was still changing when it was frozen/;
/**
 * The five seeds of 1 to 250 for which 1.00000000000000(23) was claimed, and one for which samples still miss the slab. Which seeds these
 * are depends on every draw before; no seed of 1 to 250 leads to a claim.
 */
test.each([
  [75, DISAGREE],
  [141, DOUBT],
  [150, DOUBT],
  [197, DOUBT],
  [198, DOUBT],
  [205, DOUBT],
])(
  'a thin slab that hides from samples, but not from witnesses, is not claimed to be absent (seed %i)',
  async (seed, warning) => {
    const r = await integrate(slab, { dims: 5, relTol: 1e-6, maxEvaluations: 3e5, seed });
    expect(r.converged).toBe(false);
    expect(r.warnings.join()).toMatch(warning);
    expect(Math.abs(r.value - 1.0199)).toBeLessThan(3 * r.error);
  },
);

test('an estimate that faces of regions contradict has an error as large as what they may hide', async () => {
  const r = await integrate(slab, { dims: 5, relTol: 1e-6, maxEvaluations: 3e5, seed: 17 });
  expect(r.status).toBe('budget');
  expect(r.warnings.join()).toMatch('random points contradict the rule');
  expect(r.error).toBeGreaterThan(1e-3); // it was 1.6e-15
});

test('a polynomial that the rule integrates exactly is claimed, though samples of it vary', async () => {
  const f = (x: number[]) => x.reduce((sum, v) => sum + v * v, 0);
  const r = await integrate(f, { dims: 10, relTol: 1e-9, maxEvaluations: 1e7 });
  expect(r.status).toBe('converged');
  expect(r.method).toBe('pagani');
  expect(Math.abs(r.value - 10 / 3)).toBeLessThan(1e-9);
});
