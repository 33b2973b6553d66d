/**
 * The error bars of zmc are true: over 64 seeds (value − truth)/error has mean 0 and deviation 1, for smooth and for
 * peaked integrands, with a tree and without. Runs that warn claim nothing: they are left out, and counted.
 *
 * The mean of 64 normal pulls has a deviation of 0.12, their deviation one of 0.09: the margins are three of those.
 */
import { integrate, type Result } from 'quadrille';
import { afterAll, expect, test } from 'vitest';
import { catalogue } from '../integrands/catalogue.ts';
import { pullsOf } from './statistics.ts';

const SEEDS = 64;
const table: Record<string, unknown>[] = [];
afterAll(() => console.table(table));

test.each([
  ['f1_5', 2e5, {}],
  ['f3_3', 2e5, {}],
  ['f2_3', 1e6, {}],
  ['f4_3', 4e5, {}],
  ['f5_5', 4e5, {}],
  ['f8_8', 2e5, {}],
  ['linear_10', 2e5, {}],
  ['roos_arnold_10', 2e5, {}],
  ['gaussian_4', 1e6, {}],
  ['f4_3', 1e6, { blocks: 11, samples: 30, depth: 2 }],
  ['f5_5', 4e5, { blocks: 5, samples: 16, depth: 3 }],
  ['sine_exponential_2', 1e5, { depth: 1 }],
] as const)('pulls of %s with %d evaluations, %o, are normal', async (name, maxEvaluations, zmc) => {
  const { f, domain, params = {}, truth } = catalogue.find(e => e.name === name)!;
  const all: Result[] = [];
  for (let seed = 1; seed <= SEEDS; seed++) {
    const problem = { domain, params, method: 'zmc', relTol: 0, maxEvaluations, seed, zmc };
    all.push(await integrate(f as never, problem as never));
  }
  const sound = all.filter(r => r.warnings.length === 0);
  expect(sound.length, 'runs without a warning').toBeGreaterThanOrEqual(0.9 * SEEDS);
  const { mean, deviation, worst } = pullsOf(sound, truth!);
  table.push({
    integrand: name,
    knobs: JSON.stringify(zmc),
    runs: sound.length,
    mean: mean.toFixed(2),
    deviation: deviation.toFixed(2),
    worst: worst.toFixed(1),
    'relative error': (sound[0].error / Math.abs(truth!)).toExponential(1),
    passes: sound[0].iterations.length,
  });
  expect(Math.abs(mean), 'mean pull').toBeLessThan(0.45);
  expect(deviation, 'deviation of pulls').toBeGreaterThan(0.75);
  expect(deviation, 'deviation of pulls').toBeLessThan(1.3);
  expect(worst, 'largest pull').toBeLessThan(4.5);
});

// a tolerance stops a run early where it came out well: that must not make the error too small
test.each([
  ['f3_3', 3e-3],
  ['f5_5', 3e-2],
  ['f2_3', 2e-2],
] as const)('pulls of %s, stopped at a tolerance of %d, are normal', async (name, relTol) => {
  const { f, domain, truth } = catalogue.find(e => e.name === name)!;
  const all: Result[] = [];
  for (let seed = 1; seed <= SEEDS; seed++)
    all.push(await integrate(f as never, { domain, method: 'zmc', relTol, maxEvaluations: 1e6, seed }));
  const claims = all.filter(r => r.converged);
  const { mean, deviation, worst } = pullsOf(claims, truth!);
  table.push({
    integrand: `${name} to ${relTol}`,
    runs: claims.length,
    mean: mean.toFixed(2),
    deviation: deviation.toFixed(2),
    worst: worst.toFixed(1),
  });
  expect(claims.length, 'claims').toBeGreaterThanOrEqual(0.85 * SEEDS);
  expect(Math.abs(mean), 'mean pull').toBeLessThan(0.45);
  expect(deviation, 'deviation of pulls').toBeGreaterThan(0.75);
  expect(deviation, 'deviation of pulls').toBeLessThan(1.3);
});
