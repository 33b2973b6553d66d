/**
 * Error bars are true on narrow peaks too, in few dimensions, where a map can follow a peak so closely that the bins beside it
 * see nothing of its slopes. Over 60 seeds; runs that warn claim nothing and are left out.
 */
import { type Integrand, integrate, type Result } from 'quadrille';
import { afterAll, expect, test } from 'vitest';
import { pullsOf } from './statistics.ts';

const SEEDS = 60;
const table: Record<string, unknown>[] = [];
afterAll(() => console.table(table));

const peak: Integrand = (x: number[], p) => {
  let r = 0;
  for (let i = 0; i < x.length; i++) r += ((x[i] - 0.419) / p.width) ** 2;
  return Math.exp(-r) / p.width ** x.length;
};

test.each([
  ['vegas+', 1, 0.02],
  ['vegas+', 1, 0.004],
  ['vegas+', 1, 0.001],
  ['vegas+', 2, 0.004],
  ['vegas+', 2, 0.001],
  ['vegas+', 3, 0.004],
  ['mcubes', 1, 0.004],
  ['mcubes', 2, 0.004],
] as const)('pulls of %s in %i dimensions on a peak of width %d are normal', async (method, dims, width) => {
  const all: Result[] = [];
  for (let seed = 1; seed <= SEEDS; seed++)
    all.push(
      await integrate(peak, { dims, method, params: { width }, relTol: 1e-2, maxEvaluations: 1e6, seed }),
    );
  const sound = all.filter(r => r.warnings.length === 0);
  expect(sound.length, 'runs without a warning').toBeGreaterThanOrEqual(0.9 * SEEDS);
  const { mean, deviation, worst } = pullsOf(sound, Math.PI ** (dims / 2));
  table.push({
    method,
    dims,
    width,
    runs: sound.length,
    mean: mean.toFixed(2),
    deviation: deviation.toFixed(2),
    worst: worst.toFixed(1),
  });
  expect(Math.abs(mean), 'mean pull').toBeLessThan(0.5);
  expect(deviation, 'deviation of pulls').toBeGreaterThan(0.7);
  expect(deviation, 'deviation of pulls').toBeLessThan(1.35);
  expect(worst, 'largest pull').toBeLessThan(5);
});

test('vegas+: a ball of a 250,000th of the domain, in the dark for most of a million samples, is found and measured', async () => {
  const ball: Integrand = (x: number[]) => (x.reduce((s, v) => s + ((v - 0.37) / 0.03) ** 2, 0) < 1 ? 1 : 0);
  const truth = (Math.PI ** 2 / 2) * 0.03 ** 4;
  let found = 0;
  for (let seed = 1; seed <= 30; seed++) {
    const r = await integrate(ball, { dims: 4, method: 'vegas+', maxEvaluations: 1e6, seed });
    expect(r.evaluations).toBeLessThanOrEqual(1e6);
    if (r.value > 0) found++;
    if (r.warnings.length === 0) expect(Math.abs(r.value - truth) / r.error, `seed ${seed}`).toBeLessThan(5);
    else expect(r.converged).toBe(false);
  }
  expect(found).toBeGreaterThanOrEqual(27);
});
