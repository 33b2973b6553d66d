/** Several results on an emulated card, and on two: the points of the CPU, so the same values to rounding. */
import { describe, expect, test } from 'vitest';
import { absent } from '../cuda/emulated.ts';

const { integrate } = await import('../../src/index.ts');

const moments = ([x, y]: number[]) => {
  const g = Math.exp(-5 * (x - 0.3) ** 2);
  return { norm: g * y, mean: x * g * y };
};
const list = ([x, y]: number[]) =>
  [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19].map(i => 1 + Math.cos(i * x) * y);

describe.skipIf(absent)('an emulated card', () => {
  const vegas = { evaluations: 3000, iterations: 4, adapt: 2 };
  const options = { dims: 2, relTol: 0, absTol: 0, vegas } as const;
  test.each([
    ['vegas+', 'cuda'],
    ['mcubes', 'cuda'],
    ['vegas+', ['cuda:0', 'cuda:1']],
  ] as const)('%s on %s: values, errors and correlations of the CPU', async (method, device) => {
    const own = await integrate(moments, { ...options, method, device });
    const cpu = await integrate(moments, { ...options, method, device: 'cpu:1' });
    expect(own.value.mean / cpu.value.mean).toBeCloseTo(1, 10);
    expect(own.error.mean / cpu.error.mean).toBeCloseTo(1, 6);
    expect(own.correlation()[0][1]).toBeCloseTo(cpu.correlation()[0][1], 6);
    expect(own.of(v => v.mean / v.norm).error / cpu.of(v => v.mean / v.norm).error).toBeCloseTo(1, 5);
  });
  test('zmc: values, errors and correlations of the CPU, with a tree', async () => {
    const f = ([x, y]: number[]) => ({
      peak: 1 / (1e-4 + (x - 0.31) ** 2 + (y - 0.62) ** 2),
      wave: Math.cos(9 * x + y),
    });
    const zmc = { blocks: 9, samples: 4, trials: 2, depth: 2 };
    const run = (device: string) =>
      integrate(f, { dims: 2, method: 'zmc', relTol: 0, maxEvaluations: 3e4, zmc, device });
    const [own, cpu] = [await run('cuda'), await run('cpu:1')];
    expect(own.evaluations).toBe(cpu.evaluations);
    expect(own.value.peak / cpu.value.peak).toBeCloseTo(1, 9);
    expect(own.error.wave / cpu.error.wave).toBeCloseTo(1, 6);
    expect(own.correlation()[0][1]).toBeCloseTo(cpu.correlation()[0][1], 6);
  });
  test('20 results, in two passes, learn from all of them', async () => {
    const own = await integrate(list, { ...options, method: 'vegas+', device: 'cuda' });
    const cpu = await integrate(list, { ...options, method: 'vegas+', device: 'cpu:1' });
    own.value.forEach((v, i) => {
      expect(v / cpu.value[i], `${i}`).toBeCloseTo(1, 9);
      expect(own.error[i] / cpu.error[i], `${i}`).toBeCloseTo(1, 5);
    });
    expect(own.covariance(17, 18) / cpu.covariance(17, 18)).toBeCloseTo(1, 5);
  });
  test('a value that is not finite is named', async () => {
    const f = ([x]: number[]) => ({ good: x, bad: x > 0.5 ? 1 / 0 : 1 });
    await expect(integrate(f, { dims: 1, method: 'vegas+', device: 'cuda' })).rejects.toThrow(
      /is Infinity at/,
    );
  });
});
