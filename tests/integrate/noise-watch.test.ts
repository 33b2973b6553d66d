/** What a run may still spend when float32 allows no more: from errors and noises that are given. */
import { expect, test } from 'vitest';
import type { Iteration } from '../../src/methods/method.ts';
import { NoiseWatch } from '../../src/noise-watch.ts';

function watchFor(noise: number, relTol: number) {
  const asked = { count: 0 };
  const measure = async () => {
    asked.count++;
    return [noise];
  };
  const problem = { relTol, absTol: 0, signal: undefined, epsilon: 2 ** -24, maxEvaluations: 1e9 };
  return { watch: new NoiseWatch(measure, problem), asked };
}

/** An iteration of an integral of 1. */
const after = (evaluations: number, error: number, over: Partial<Iteration['running']> = {}): Iteration => ({
  record: { value: 1, error, evaluations, adapting: false },
  running: { value: 1, error, chi2: 1, ...over },
  evaluations,
});

test('a run whose error is no larger than the noise gets no more', async () => {
  const { watch } = watchFor(1e-4, 1e-6);
  expect(await watch.most(after(1e5, 9e-5))).toBe(1e5);
  expect(watch.ended).toBe(true);
});

test('one that is learning may spend as much again, to measure', async () => {
  const { watch } = watchFor(1e-4, 1e-6);
  const iteration = after(1e5, 9e-5);
  iteration.record.adapting = true;
  expect(await watch.most(iteration)).toBe(2e5);
});

test('samples with 10 times the noise need 100 times the evaluations, and get half of that more', async () => {
  const { watch } = watchFor(1e-4, 1e-6);
  expect(await watch.most(after(1e5, 1e-3))).toBeCloseTo(1.5e7, 0);
});

test('errors of regions follow no law: they are watched until they meet the noise', async () => {
  const { watch } = watchFor(1e-4, 1e-6);
  const { chi2: _, ...running } = after(1e5, 1e-3).running;
  expect(await watch.most({ ...after(1e5, 1e-3), running })).toBe(Infinity);
  expect(watch.ended).toBe(false);
});

test('what steps may hide counts as an error', async () => {
  const { watch } = watchFor(1e-4, 1e-6);
  expect(await watch.most(after(1e5, 1e-5, { leastErrors: [1e-3] }))).toBeCloseTo(1.5e7, 0);
});

test('a tolerance above the noise is left alone, and the noise is measured once for four times the evaluations', async () => {
  const { watch, asked } = watchFor(1e-7, 1e-4);
  for (const n of [1e4, 6e4]) expect(await watch.most(after(n, 1e-2))).toBe(Infinity);
  expect(asked.count).toBe(0);
  for (const n of [1e5, 2e5, 3e5, 4e5]) expect(await watch.most(after(n, 1e-3))).toBe(Infinity);
  expect(asked.count).toBe(2);
});
