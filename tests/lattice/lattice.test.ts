/** The method `lattice`: goals, truth, several results, states, what it does not claim. */
import { integrate } from 'quadrille';
import { describe, expect, test } from 'vitest';
import { catalogue } from '../integrands/catalogue.ts';
import { pullsOf } from '../truth/statistics.ts';

const entryOf = (name: string) => catalogue.find(e => e.name === name)!;
const run = (name: string, options: object) => {
  const { f, domain, params = {} } = entryOf(name);
  return integrate(f as never, { domain, params, method: 'lattice', ...options } as never);
};

describe('lattice', () => {
  // vegas+ would take 1.4e10, 1.7e10, 8.1e8 and 1.9e8 evaluations, by its square root law (bench/results/lattice.txt)
  test.each([
    ['f2_6', 1e-6, 1e7],
    ['f5_8', 1e-6, 1e7],
    ['f4_8', 1e-5, 8.1e6],
    ['roos_arnold_10', 1e-5, 1.9e6],
  ])('%s to %d in less than %d evaluations', async (name, relTol, most) => {
    const r = await run(name, { relTol, maxEvaluations: 1e9 });
    expect(r.status).toBe('converged');
    expect(r.evaluations).toBeLessThan(most);
    expect(Math.abs(r.value - Number(entryOf(name).truth))).toBeLessThan(4 * r.error);
  });

  // bench/results/lattice-truth.txt has more integrands, over 60 seeds
  test.each(['f2_3', 'f4_3', 'f5_5', 'f6_6'])('pulls of %s over 30 seeds', async name => {
    const runs = [];
    for (let seed = 1; seed <= 30; seed++)
      runs.push(await run(name, { relTol: 5e-4, seed, maxEvaluations: 1e6 }));
    const { mean, deviation, worst } = pullsOf(
      runs.filter(r => r.converged),
      Number(entryOf(name).truth),
    );
    expect(runs.filter(r => r.converged).length).toBeGreaterThan(27);
    expect(Math.abs(mean)).toBeLessThan(0.45);
    expect(deviation).toBeGreaterThan(0.6);
    expect(deviation).toBeLessThan(1.25);
    expect(worst).toBeLessThan(4.5);
  });

  test('several results: values, errors, and correlations by which those of a ratio cancel', async () => {
    const options = { dims: 3, method: 'lattice', relTol: 1e-4 } as const;
    const both = await integrate(
      ([x, y, z]) => {
        const peak = Math.exp(-80 * ((x - 0.4) ** 2 + (x + y - 1) ** 2 + (z - 0.5 * x) ** 2));
        return { a: peak, b: 2 * peak, c: Math.cos(x + y) };
      },
      { ...options },
    );
    expect(both.converged).toBe(true);
    expect(both.value.a * 2).toBeCloseTo(both.value.b, 12);
    const truth = 2 * Math.cos(1) - 1 - Math.cos(2);
    expect(Math.abs(both.value.c - truth)).toBeLessThan(4 * both.error.c);
    expect(both.of(r => r.b / r.a).error).toBeLessThan(1e-9);
  });

  test('a budget too small for lattices: the warning is about samples in strata, not about points of shifts', async () => {
    const cut = ([x]: number[]) => (x < 0.7 ? Math.exp(-x) : 0);
    const r = await integrate(cut, { dims: 1, method: 'lattice', relTol: 3e-4, maxEvaluations: 8000 });
    expect(r.dof).toBeGreaterThan(0); // iterations with samples; a measurement with lattices is one estimate
    expect(r.warnings).toEqual([expect.stringMatching(/^the integrand is constant in parts or has a step/)]);
  });

  test('a resumed run has the bits of an uninterrupted one, and evaluates no point twice', async () => {
    const rough = await run('f5_5', { relTol: 1e-3 });
    const resumed = await run('f5_5', { relTol: 1e-5, resume: JSON.parse(JSON.stringify(rough.state)) });
    const whole = await run('f5_5', { relTol: 1e-5 });
    expect(resumed.value).toBe(whole.value);
    expect(resumed.error).toBe(whole.error);
    expect(resumed.evaluations).toBe(whole.evaluations);
  });

  test('begins with the map of vegas+', async () => {
    const { f, domain } = entryOf('f4_5');
    const learned = await integrate(f as never, { domain, method: 'vegas+', relTol: 1e-2 } as never);
    const r = await run('f4_5', { relTol: 1e-3, map: learned.state });
    expect(r.converged).toBe(true);
    expect(Math.abs(r.value - Number(entryOf('f4_5').truth))).toBeLessThan(4 * r.error);
  });

  test('the same bits on one thread and on two workers', async () => {
    const { CpuDevice } = await import('../../src/devices/cpu/cpu.ts');
    const values = [];
    for (const workers of [1, 2])
      values.push((await run('f2_3', { relTol: 1e-6, device: new CpuDevice(workers) })).value);
    expect(values[0]).toBe(values[1]);
  });

  test('a second peak that the map has not found is found by witnesses, or nothing is claimed', async () => {
    const peaks = ([x, y, z]: number[]) =>
      Math.exp(-(((x - 0.2) / 0.02) ** 2) - ((y - 0.3) / 0.02) ** 2 - ((z - 0.7) / 0.02) ** 2) +
      Math.exp(-(((x - 0.8) / 0.02) ** 2) - ((y - 0.6) / 0.02) ** 2 - ((z - 0.2) / 0.02) ** 2);
    const truth = 2 * (0.02 * Math.sqrt(Math.PI)) ** 3;
    for (let seed = 1; seed <= 5; seed++) {
      const r = await integrate(peaks, {
        dims: 3,
        method: 'lattice',
        relTol: 1e-3,
        seed,
        maxEvaluations: 4e6,
      });
      if (r.converged) expect(Math.abs(r.value - truth)).toBeLessThan(5 * r.error);
    }
  });

  test('an error below the spread divided by the points is not claimed', async () => {
    const r = await integrate(([x]) => 1 + x * x, {
      dims: 1,
      method: 'lattice',
      relTol: 1e-9,
      maxEvaluations: 1e6,
    });
    expect(r.status).toBe('budget');
    expect(r.error).toBeGreaterThan(1e-9);
    expect(r.warnings.join()).toMatch(/a step may hide/);
  });

  test('small budgets: an estimate with an error, from random points where lattices do not fit', async () => {
    for (const maxEvaluations of [1000, 5000, 40_000]) {
      const r = await integrate(([x, y]) => x * y + 1, {
        dims: 2,
        method: 'lattice',
        relTol: 1e-9,
        maxEvaluations,
      });
      expect(r.evaluations).toBeLessThanOrEqual(maxEvaluations);
      expect(Math.abs(r.value - 1.25)).toBeLessThan(5 * r.error);
    }
  });

  test('0 is claimed with absTol, and histograms are refused', async () => {
    const zero = await integrate(([x]) => 0 * x, { dims: 1, method: 'lattice', absTol: 1e-6 });
    expect([zero.status, zero.value]).toEqual(['converged', 0]);
    const histograms = { x: { of: ([x]: number[]) => x, edges: [0, 1] } };
    await expect(integrate(([x]) => x, { dims: 1, method: 'lattice', histograms } as never)).rejects.toThrow(
      /histograms/,
    );
  });
});
