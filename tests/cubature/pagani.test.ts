/** `pagani`: how many evaluations it takes, what it does when memory is full, what its knobs change. */
import { describe, expect, test } from 'vitest';
import { integrate, type Progress } from '../../src/index.ts';
import type { CommonOptions } from '../../src/problem.ts';
import { bytesOf } from '../../src/tasks/pool/regions.ts';
import { suite } from '../integrands/suite.ts';
import { spyDevice } from './spy.ts';

const entry = (name: string) => suite.find(e => e.name === name)!;
const run = (name: string, options: CommonOptions) =>
  integrate(entry(name).f as never, { dims: entry(name).dims, method: 'pagani', ...options });

describe('evaluations, exactly, and regions', () => {
  // biome-ignore format: a table
  test.each([
    ['f1_5', 1e-3, 17199, 32],
    ['f1_5', 4e-5, 39039, 72],
    ['f2_3', 1e-3, 240157, 931],
    ['f3_3', 1e-3, 2413, 10],
    ['f3_3', 4e-5, 4953, 20],
    ['f3_5', 2e-4, 47229, 87],
    ['f4_3', 1e-3, 38989, 144],
    ['f5_5', 1e-3, 396123, 726],
    ['f7_8', 1e-3, 564655, 256],
    ['f8_8', 8e-6, 986765, 447],
  ] as const)('%s at %d: %i and %i', async (name, relTol, evaluations, regions) => {
    const r = await run(name, { relTol, cubature: { witnesses: 0 } });
    expect([r.status, r.evaluations, r.regions]).toEqual(['converged', evaluations, regions]);
    expect(Math.abs(r.value / entry(name).truth! - 1)).toBeLessThanOrEqual(relTol);
  });
  test('at most twice those of cuhre, to 1.6e-6, where that takes more than the start', async () => {
    for (const name of ['f1_5', 'f2_3', 'f3_3', 'f3_5', 'f4_3']) {
      const options = { relTol: 1.6e-6, maxEvaluations: 5e6 };
      const [own, reference] = [
        await run(name, options),
        await integrate(entry(name).f as never, { dims: entry(name).dims, method: 'cuhre', ...options }),
      ];
      expect([own.status, reference.status]).toEqual(['converged', 'converged']);
      expect(own.evaluations).toBeLessThanOrEqual(2 * reference.evaluations);
    }
  });
});

describe('memory', () => {
  const cubature = { maxMemory: 2 ** 20 };
  /** How many regions 1 MiB holds: cuhre stops there. */
  async function fitting(name: string): Promise<number> {
    const { f, dims, truth } = entry(name);
    const r = await integrate(f as never, { dims, method: 'cuhre', relTol: 1e-10, cubature });
    expect(r.status).toBe('memory');
    expect(Math.abs(r.value - truth!)).toBeLessThanOrEqual(r.error);
    return r.regions!;
  }
  test('cuhre holds no more regions than 1 MiB has room for, and no less than a quarter', async () => {
    for (const name of ['f5_5', 'f1_6']) {
      const bytes = (await fitting(name)) * bytesOf(entry(name).dims);
      expect(bytes <= 2 ** 20 && bytes >= 2 ** 18).toBe(true);
    }
  });
  test.each([
    ['f1_5', 1e-9],
    ['f1_6', 1e-6],
    ['f5_5', 1e-9],
  ])(
    '%s at %d in 1 MiB: status memory, the best error that iterations came to, and true',
    async (name, relTol) => {
      const seen: Progress[] = [];
      const r = await run(name, { relTol, cubature, maxEvaluations: 1e8, onProgress: p => seen.push(p) });
      expect(r.status).toBe('memory');
      const standing = seen.filter(p => Math.abs(p.value - seen.at(-1)!.value) <= p.error);
      expect(r.error).toBe(Math.min(...standing.map(p => p.error)));
      expect(Math.abs(r.value - entry(name).truth!)).toBeLessThanOrEqual(r.error);
    },
  );
  test.each([
    ['f5_5', 8e-6],
    ['f4_5', 6e-5],
  ])(
    '%s at %d in 1.6 MiB, of which the tree takes a third: finished regions make room for more than fit, and it is true',
    async (name, relTol) => {
      const device = spyDevice();
      const r = await run(name, { relTol, cubature: { maxMemory: 1.6 * 2 ** 20 }, device });
      expect(r.status).toBe('converged');
      const fit = await fitting(name);
      expect(r.regions).toBeGreaterThan(fit);
      expect(Math.abs(r.value / entry(name).truth! - 1)).toBeLessThanOrEqual(relTol);
      const longest = Math.max(...device.tasks.map(t => t.count));
      expect(longest).toBeLessThanOrEqual(2 * fit);
      expect(longest).toBeGreaterThan(fit / 4);
      await device.close();
    },
  );
});

describe('a step in the tail of a narrow peak, where regions know values below 1e-200 only', () => {
  // the step of height 3 on a square of 0.117 in x and y; the peak at c has the width w along each axis
  const f = ([x, y, z]: number[], p: { c: Float64Array; w: number }) =>
    Math.exp(-((x - p.c[0]) ** 2 + (y - p.c[1]) ** 2 + (z - p.c[2]) ** 2) / p.w ** 2) +
    (x > 0.31 && x < 0.427 && y > 0.31 && y < 0.427 ? 3 : 0);
  const c = Float64Array.of(0.9, 0.93, 0.87);
  const truth = (Math.sqrt(Math.PI) * 0.02) ** 3 + 3 * 0.117 ** 2; // what of the peak is outside is 1e-9 of it
  test('witnesses see it, the errors stay finite, and the claim is true', async () => {
    const options = { dims: 3, params: { c, w: 0.02 }, method: 'pagani', relTol: 1e-2 } as const;
    const r = await integrate(f, options);
    expect(r.iterations.every(i => Number.isFinite(i.error))).toBe(true);
    expect(r.status).toBe('converged');
    expect(Math.abs(r.value / truth - 1)).toBeLessThan(1e-2);
  });
  test('without room for all regions a claim says how many were finished unconfirmed', async () => {
    const cubature = { maxMemory: 1.6 * 2 ** 20 };
    const r = await run('f5_5', { relTol: 8e-6, cubature });
    expect(r.status).toBe('converged');
    expect(r.warnings).toContainEqual(expect.stringMatching(/^\d+ regions were finished to make room/));
  });
});

describe('knobs', () => {
  test.each([
    [1, 700791],
    [2, 700518],
    [4, 1001364],
  ])('split %i: f5_5 at 2e-4 in %i evaluations, and true', async (split, evaluations) => {
    const device = spyDevice();
    const r = await run('f5_5', { relTol: 2e-4, cubature: { split, witnesses: 0 }, device });
    expect([r.status, r.evaluations]).toEqual(['converged', evaluations]);
    expect(device.tasks[0].count).toBe(split ** 5);
    expect(Math.abs(r.value / entry('f5_5').truth! - 1)).toBeLessThanOrEqual(2e-4);
    await device.close();
  });
  test('relErrFilter on an integrand that changes sign: never a claim that is not true', async () => {
    for (const relErrFilter of [true, false])
      for (const name of ['f1_5', 'f1_6']) {
        const r = await run(name, { relTol: 1e-5, maxEvaluations: 3e6, cubature: { relErrFilter } });
        expect(Math.abs(r.value - entry(name).truth!)).toBeLessThanOrEqual(r.error);
        if (r.converged) expect(r.error).toBeLessThanOrEqual(1e-5 * Math.abs(r.value));
      }
  });
});
