/**
 * Error bars are true: over 100 or 200 seeds, (value − truth)/error has mean 0 and deviation 1, Q is uniform, and of all
 * runs that claim to have converged at most one in a hundred is off by more than 3 errors (two in a hundred of any one
 * integrand: two hundred runs cannot tell 1 % from 1.5 %). Runs that warn claim nothing and are left out of the pulls;
 * nine in ten must not warn. For every integrand of the
 * papers with a known truth.
 *
 * Seeds are fixed, so a failure is a finding, never bad luck. The margins hold what a hundred normal pulls may do:
 * the mean of a hundred has a deviation of 0.1, their deviation one of 0.07.
 */
import { integrate, type Result } from 'quadrille';
import { afterAll, describe, expect, test } from 'vitest';
import { catalogue } from '../integrands/catalogue.ts';
import type { Entry } from '../integrands/entry.ts';
import { kolmogorovSmirnov, pullsOf } from './statistics.ts';

const SEEDS = 200;
/** Where the defaults below would take too long, or find nothing: fewer evaluations, or more. */
const SPECIAL: Record<string, { relTol?: number; maxEvaluations?: number; seeds?: number }> = {
  f4_8: { maxEvaluations: 2e6 },
  ridge_4: { relTol: 3e-2, maxEvaluations: 1e5, seeds: 100 },
  asian_printed_16: { relTol: 5e-3, seeds: 100 },
  asian_arithmetic_16: { relTol: 5e-3, seeds: 100 },
  asian_geometric_16: { relTol: 5e-3, seeds: 100 },
  fA_6: { seeds: 100 },
  path_integral_infinite_7: { maxEvaluations: 4e6 },
  fB_9: { relTol: 1e-2, maxEvaluations: 1e8, seeds: 100 },
};

async function runs(e: Entry, options: object = {}): Promise<Result[]> {
  const { relTol = 2e-3, maxEvaluations = 6e5, seeds = SEEDS } = SPECIAL[e.name] ?? {};
  const results: Result[] = [];
  for (let seed = 1; seed <= seeds; seed++) {
    const base = { domain: e.domain, params: e.params ?? {}, method: 'vegas+' };
    const problem = { ...base, relTol, maxEvaluations, seed, ...options };
    results.push(await integrate(e.f as never, problem as never));
  }
  return results;
}

const known = catalogue.filter(e => e.truth !== undefined);
const table: Record<string, unknown>[] = [];
let allClaims = 0;
let allWrong = 0;
afterAll(() => console.table(table));

function check(name: string, all: Result[], truth: number): void {
  // a run that did not find the peak says so, and claims nothing
  const sound = all.filter(r => r.warnings.length === 0);
  const { mean, deviation, worst } = pullsOf(sound, truth);
  const spread = kolmogorovSmirnov(sound.filter(r => r.dof > 0).map(r => r.q));
  const claims = all.filter(r => r.converged);
  const wrong = claims.filter(r => Math.abs(r.value - truth) > 3 * r.error).length;
  const evaluations = all.reduce((s, r) => s + r.evaluations, 0) / all.length;
  table.push({
    integrand: name,
    runs: sound.length,
    mean: mean.toFixed(2),
    deviation: deviation.toFixed(2),
    worst: worst.toFixed(1),
    'KS of Q': spread.toFixed(2),
    converged: claims.length,
    'off by > 3': wrong,
    evaluations: evaluations.toExponential(1),
  });
  expect(sound.length, 'runs without a warning').toBeGreaterThanOrEqual(0.9 * all.length);
  expect(Math.abs(mean), 'mean pull').toBeLessThan(0.25);
  expect(deviation, 'deviation of pulls').toBeGreaterThan(0.85);
  expect(deviation, 'deviation of pulls').toBeLessThan(1.2);
  expect(spread, 'Kolmogorov–Smirnov of Q').toBeLessThan(1.95);
  expect(wrong, 'claims off by more than 3 errors').toBeLessThanOrEqual(Math.max(1, claims.length / 50));
  allClaims += claims.length;
  allWrong += wrong;
}

describe('vegas+ to a tolerance', () => {
  test.each(known.map(e => [e.name, e] as const))('pulls of %s are normal', async (name, e) => {
    check(name, await runs(e), Number(e.truth));
  });
});

describe('every method, by a fixed protocol', () => {
  const pick = (name: string) => known.find(e => e.name === name)!;
  const protocol = { relTol: 0, vegas: { evaluations: 4000, iterations: 12, adapt: 6 } };
  test.each([
    ['plain', 'linear_10'],
    ['plain', 'f1_5'],
    ['mcubes', 'f5_5'],
    ['mcubes', 'f2_3'],
    ['mcubes1d', 'f5_5'],
    ['mcubes1d', 'f4_3'],
    ['vegas+', 'roos_arnold_10'],
    ['vegas+', 'f3_5'],
  ])('pulls of %s on %s are normal', async (method, name) => {
    check(`${method}: ${name}`, await runs(pick(name), { ...protocol, method }), Number(pick(name).truth));
  });
});

test('of all claims of convergence at most 1 % are off by more than 3 errors', () => {
  expect(allClaims).toBeGreaterThan(1000);
  expect(allWrong / allClaims).toBeLessThanOrEqual(0.01);
});
