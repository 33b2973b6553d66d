/** What zmc claims is true: the paper's two integrands, those of the other papers, and what can be worked out by hand. */
import { describe, expect, test } from 'vitest';
import { type Integrand, integrate } from '../../src/index.ts';
import { catalogue } from '../integrands/catalogue.ts';

const pick = (name: string) => catalogue.find(e => e.name === name)!;
const run = (name: string, options: object) => {
  const { f, domain, params = {} } = pick(name);
  return integrate(f as never, { domain, params, method: 'zmc', ...options } as never);
};

describe("the paper's integrands", () => {
  test('fA, sin Σx over [0, 10]⁶: true within 4.5 errors, the error that of the mean of 2e7 samples', async () => {
    for (const seed of [1, 2]) {
      const r = await run('fA_6', { maxEvaluations: 2e7, relTol: 1e-3, seed });
      expect(r.status).toBe('budget');
      expect(Math.abs(r.value - pick('fA_6').truth!)).toBeLessThanOrEqual(4.5 * r.error);
      // plain Monte Carlo has 1e6·√(½/2e7) = 158; blocks make it smaller
      expect(r.error).toBeLessThan(170);
      expect(r.error).toBeGreaterThan(60);
    }
  });
  test('fA with 3 blocks an axis, 5 trials, depth 2: more samples, a smaller error', async () => {
    const zmc = { blocks: 3, samples: 100, trials: 5, depth: 2 };
    const few = await run('fA_6', { maxEvaluations: 2e6, relTol: 1e-3, zmc });
    const many = await run('fA_6', { maxEvaluations: 3.2e7, relTol: 1e-3, zmc });
    expect(few.error / many.error).toBeGreaterThan(3);
    expect(few.error / many.error).toBeLessThan(6);
    expect(Math.abs(many.value - pick('fA_6').truth!)).toBeLessThanOrEqual(4.5 * many.error);
  });
  test('fB, a Gaussian of width 0.01 in [−1, 1]⁹: found, and 1 within 4.5 errors of 1 %', async () => {
    for (const seed of [1, 2, 3]) {
      const r = await run('fB_9', { relTol: 1e-2, maxEvaluations: 2e8, seed });
      expect(r.status, `${r}`).toBe('converged');
      expect(r.error).toBeLessThanOrEqual(1e-2 * r.value);
      expect(Math.abs(r.value - 1)).toBeLessThanOrEqual(4.5 * r.error);
    }
  });
});

/** Tolerances that 1e7 evaluations reach. */
const reached: [string, number][] = [
  ['f1_5', 3e-2],
  ['f2_3', 5e-3],
  ['f2_6', 4e-2],
  ['f3_3', 1e-3],
  ['f3_5', 6e-3],
  ['f4_3', 5e-3],
  ['f4_5', 5e-3],
  ['f5_5', 4e-3],
  ['f5_8', 2e-2],
  ['f6_6', 6e-2],
  ['f7_8', 3e-3],
  ['f8_8', 1e-3],
  ['sine_exponential_2', 1e-5],
  ['linear_10', 1e-4],
  ['cosine_10', 1e-3],
  ['roos_arnold_10', 3e-3],
  ['gaussian_4', 5e-3],
];

describe('to a tolerance', () => {
  test.each(reached)(
    '%s: %d is reached within 1e7 evaluations, true within 4.5 errors',
    async (name, relTol) => {
      const r = await run(name, { relTol, maxEvaluations: 1e7 });
      expect(r.status, `${r}`).toBe('converged');
      expect(r.error).toBeLessThanOrEqual(relTol * Math.abs(r.value));
      expect(Math.abs(r.value - pick(name).truth!)).toBeLessThanOrEqual(4.5 * r.error);
      expect(r.warnings).toEqual([]);
    },
  );
  test('absTol alone: the error is at most 1e-4, and true', async () => {
    const r = await integrate(([x, y]) => Math.sin(7 * x) * y, {
      dims: 2,
      method: 'zmc',
      relTol: 0,
      absTol: 1e-4,
    });
    expect(r.status).toBe('converged');
    expect(r.error).toBeLessThanOrEqual(1e-4);
    expect(Math.abs(r.value - (1 - Math.cos(7)) / 14)).toBeLessThanOrEqual(4.5 * r.error);
  });
});

describe('the error is that of the mean', () => {
  const f: Integrand = ([x]) => x;
  // in a block of width h, x has variance h²/12: 10 blocks, N samples in all, give h/√(12·N)
  test.each([
    [1, 1],
    [10, 1],
    [10, 5],
  ])('x over 1 in %i blocks, seed %i: width/√(12·samples), to 3 per cent', async (blocks, seed) => {
    const r = await integrate(f, {
      dims: 1,
      method: 'zmc',
      relTol: 0,
      maxEvaluations: 1e6,
      seed,
      zmc: { blocks, depth: 1 },
    });
    const measured = r.iterations.reduce((n, i) => n + i.evaluations, 0);
    expect(r.evaluations - measured).toBeLessThan(1000);
    expect(r.error / (1 / blocks / Math.sqrt(12 * measured))).toBeCloseTo(1, 1.2);
    expect(Math.abs(r.value - 0.5)).toBeLessThanOrEqual(4.5 * r.error);
  });
  test('four times the evaluations halve it; the number of trials does not enter', async () => {
    const errors: number[] = [];
    for (const [maxEvaluations, trials] of [
      [4e5, 5],
      [1.6e6, 5],
      [1.6e6, 2],
      [1.6e6, 20],
    ]) {
      const r = await integrate(([x, y]) => Math.sin(3 * x) * y, {
        dims: 2,
        method: 'zmc',
        relTol: 0,
        maxEvaluations,
        zmc: { blocks: 10, samples: 20, trials, depth: 2 },
      });
      const measured = r.iterations.reduce((n, i) => n + i.evaluations, 0);
      errors.push(r.error * Math.sqrt(measured));
    }
    for (const e of errors) expect(e / errors[0]).toBeCloseTo(1, 1.2);
  });
});
