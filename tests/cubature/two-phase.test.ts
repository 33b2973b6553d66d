/** `two-phase`: how many evaluations it takes, its processors, and what they cannot do. */
import { describe, expect, test } from 'vitest';
import { integrate } from '../../src/index.ts';
import type { CommonOptions } from '../../src/problem.ts';
import { bytesOf } from '../../src/tasks/pool/regions.ts';
import { suite } from '../integrands/suite.ts';
import { spyDevice } from './spy.ts';

const entry = (name: string) => suite.find(e => e.name === name)!;
const run = (name: string, options: CommonOptions) =>
  integrate(entry(name).f as never, { dims: entry(name).dims, method: 'two-phase', ...options });

describe('evaluations, exactly, and regions', () => {
  // biome-ignore format: a table
  test.each([
    ['f1_5', 1e-3, 17199, 32],
    ['f1_5', 2e-4, 34671, 64],
    ['f2_3', 1e-3, 235585, 928],
    ['f2_3', 6.4e-8, 1245489, 4904],
    ['f3_3', 1e-3, 4445, 18],
    ['f3_5', 2e-4, 56511, 104],
    ['f3_5', 3.2e-7, 1101555, 2018],
    ['f5_5', 1e-3, 838383, 1536],
    ['f7_8', 2e-4, 1130415, 512],
    ['f8_8', 1e-3, 564655, 256],
  ] as const)('%s at %d: %i and %i', async (name, relTol, evaluations, regions) => {
    const r = await run(name, { relTol, cubature: { witnesses: 0 } });
    expect([r.status, r.evaluations, r.regions]).toEqual(['converged', evaluations, regions]);
    expect(Math.abs(r.value / entry(name).truth! - 1)).toBeLessThanOrEqual(relTol);
  });
});

describe('phases', () => {
  test('phase I doubles the regions up to the processors, phase II gives each working one two halves a step', async () => {
    const device = spyDevice();
    const r = await run('f5_5', { relTol: 2e-4, device, cubature: { processors: 64, witnesses: 0 } });
    const counts = device.tasks.map(t => t.count);
    expect(counts.slice(0, 7)).toEqual([1, 2, 4, 8, 16, 32, 64]);
    const second = counts.slice(7);
    expect(second.length).toBeGreaterThan(3);
    for (const n of second) expect(n <= 128 && n % 2 === 0).toBe(true);
    expect(r.evaluations).toBe(counts.reduce((a, b) => a + b) * 273);
    await device.close();
  });
  test.each([7, 64, 4096])('%i processors: f5_5 at 2e-4 converges, and is true', async processors => {
    const r = await run('f5_5', { relTol: 2e-4, cubature: { processors } });
    expect(r.status).toBe('converged');
    expect(Math.abs(r.value / entry('f5_5').truth! - 1)).toBeLessThanOrEqual(2e-4);
  });
  test('processors of 4 regions are soon full: status memory, 4 regions each, and the error is true', async () => {
    for (const processors of [32, 64]) {
      const r = await run('f5_5', { relTol: 2e-4, cubature: { processors, perProcessor: 4 } });
      expect([r.status, r.regions]).toEqual(['memory', 4 * processors]);
      expect(Math.abs(r.value - entry('f5_5').truth!)).toBeLessThanOrEqual(r.error);
    }
  });
  test('memory is shared out: in 1 MiB 512 processors hold equally many regions, and the error is true', async () => {
    const r = await run('f5_5', { relTol: 1e-9, cubature: { maxMemory: 2 ** 20 } });
    expect([r.status, r.regions! % 512]).toEqual(['memory', 0]);
    const bytes = r.regions! * bytesOf(5);
    expect(bytes <= 2 ** 20 && bytes > 2 ** 18).toBe(true);
    expect(Math.abs(r.value - entry('f5_5').truth!)).toBeLessThanOrEqual(r.error);
  });
  test('an absolute tolerance alone converges, and is true', async () => {
    const r = await run('f5_5', { relTol: 0, absTol: 1e-7, maxEvaluations: 5e6 });
    expect(r.status).toBe('converged');
    expect(Math.abs(r.value - entry('f5_5').truth!)).toBeLessThanOrEqual(1e-7);
  });
});
