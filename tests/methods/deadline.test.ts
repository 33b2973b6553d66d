/**
 * Runs that a deadline ends: little of their time is lost, more time means a smaller error, and error bars are true. The clock
 * is a counter that each task moves on by its evaluations, so nothing here depends on how fast a machine is.
 */
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { CpuDevice } from '../../src/devices/cpu/cpu.ts';
import { type Integrand, integrate } from '../../src/index.ts';
import type { MethodProblem, Outcome } from '../../src/methods/method.ts';
import { drive, MaxTimeOver } from '../../src/methods/method.ts';
import type { MethodName } from '../../src/methods/names.ts';
import { keyOf } from '../../src/random/philox.ts';
import { samplesOf } from '../../src/tasks/sample.ts';
import { lowerFor } from '../devices/program.ts';
import { wrapped } from '../devices/wrapped.ts';
import { pullsOf } from '../truth/statistics.ts';
import { start } from './problem.ts';

const METHODS = ['plain', 'mcubes', 'vegas+', 'zmc'] as const;
const kinks: Integrand = ([x, y, z]) => Math.sqrt(Math.abs(x - 0.3 * y - 0.4 * z)) + Math.abs(y - x * z);
const smooth: Integrand = ([x, y]) => Math.exp(-x * y);
const SMOOTH = 0.7965995992970532;

const cpu = new CpuDevice(1);
afterAll(() => cpu.close());

/** Milliseconds of a task: what a card takes for any task, and what an evaluation takes. The first task compiles. */
interface Speed {
  latency?: number;
  each: number;
  compile?: number;
  /** From this time on evaluations take three times as long. */
  slowFrom?: number;
}

let now = 0;
beforeEach(() => {
  now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
});
afterEach(() => {
  vi.restoreAllMocks();
});

async function run(
  method: MethodName,
  f: Integrand,
  dims: number,
  maxTime: number,
  speed: Speed,
  over: Partial<MethodProblem> = {},
): Promise<Outcome> {
  const stop = new AbortController();
  let compile = speed.compile ?? 0;
  const device = wrapped(cpu, session => ({
    async sample(task, part) {
      const { latency = 0, each, slowFrom = Infinity } = speed;
      now += compile + latency + samplesOf(task) * each * (now > slowFrom ? 3 : 1);
      compile = 0;
      if (now > maxTime) stop.abort(new MaxTimeOver());
      stop.signal.throwIfAborted();
      return session.sample(task, part);
    },
  }));
  now = 0;
  const session = await device.open(lowerFor(f, dims));
  const limits = { deadline: maxTime, signal: stop.signal, maxEvaluations: 1e12, relTol: 0 };
  try {
    return await drive(start(method, session, dims, { ...limits, ...over }), 1e12, () => undefined);
  } finally {
    session.close();
  }
}

describe.each(METHODS)('%s', method => {
  test.each([
    ['calls of 2 ms, 3 s', 3000, { each: 2 }],
    ['calls of 2 ms, 0.3 s', 300, { each: 2 }],
    ['calls of 0.1 ms, 1 s', 1000, { each: 0.1 }],
    ['a thousand calls per ms, 1 s', 1000, { each: 1e-3 }],
    ['a task takes 1 ms or more, the first 200 ms, 1 s', 1000, { each: 1e-3, latency: 1, compile: 200 }],
    ['calls become three times as slow after half of 1 s', 1000, { each: 1e-3, slowFrom: 500 }],
  ])('%s: status time, and a seventh of the time is lost at most', async (_, maxTime, speed: Speed) => {
    const r = await run(method, kinks, 3, maxTime, speed);
    expect(r.status).toBe('time');
    expect(r.error).toBeLessThan(Infinity);
    const slow = Math.max(0, maxTime - (speed.slowFrom ?? Infinity));
    const possible = (maxTime - slow + slow / 3 - (speed.compile ?? 0)) / speed.each;
    // what a task takes besides its evaluations is a part of the time that nobody can use
    expect(r.evaluations).toBeGreaterThan((speed.latency ? 0.6 : 0.85) * possible);
    expect(r.warnings.join()).not.toMatch(/before anything/);
  });

  test('four times the time: an error of 0.2 to 0.7 of what it was, from 0.25 s to 4 s', async () => {
    const errors: number[] = [];
    for (const maxTime of [250, 1000, 4000])
      errors.push((await run(method, kinks, 3, maxTime, { each: 2e-3 })).error);
    for (const i of [1, 2]) {
      expect(errors[i] / errors[i - 1]).toBeLessThan(0.7);
      expect(errors[i] / errors[i - 1]).toBeGreaterThan(0.2);
    }
  });

  test('1500 calls of 2 ms: pulls over 60 seeds are normal', async () => {
    const all: Outcome[] = [];
    for (let seed = 1; seed <= 60; seed++)
      all.push(await run(method, smooth, 2, 3000, { each: 2 }, { key: keyOf(seed) }));
    const { mean, deviation, worst } = pullsOf(all, SMOOTH);
    expect(Math.abs(mean)).toBeLessThan(0.45);
    expect(deviation).toBeGreaterThan(0.7);
    expect(deviation).toBeLessThan(1.35);
    expect(worst).toBeLessThan(4.5);
    for (const r of all) expect(r.error).toBeLessThan(0.05);
  });

  test('ten calls: the estimate that they allow, with a warning or without', async () => {
    const r = await run(method, smooth, 2, 20, { each: 2 });
    expect(r.status).toBe('time');
    expect(r.error).toBeLessThan(Infinity);
    expect(Math.abs(r.value - SMOOTH)).toBeLessThan(0.4);
  });

  test('time to spare: the value and the error of a run without a deadline', async () => {
    const within = (deadline: number) => run(method, smooth, 2, deadline, { each: 1e-6 }, { relTol: 1e-3 });
    const [free, ample] = [await within(Infinity), await within(1e9)];
    expect([ample.value, ample.error, ample.status]).toEqual([free.value, free.error, 'converged']);
  });
});

test.each([...METHODS, 'auto'] as const)('%s: without a deadline no clock changes a bit', async method => {
  const options = { dims: 3, method, relTol: 1e-3, maxEvaluations: 3e5 } as const;
  const seen: unknown[] = [];
  for (const step of [0, 1e-3, 1e4]) {
    vi.spyOn(performance, 'now').mockImplementation(() => {
      now += step;
      return now;
    });
    const { value, error, status, evaluations, iterations } = await integrate(kinks, options);
    seen.push({ value, error, status, evaluations, iterations });
  }
  expect(seen[1]).toEqual(seen[0]);
  expect(seen[2]).toEqual(seen[0]);
});

test.each(METHODS)('%s: a function that takes 2 ms has an estimate after a second', async method => {
  vi.restoreAllMocks();
  const f = ([x, y]: number[]) => {
    const end = performance.now() + 2;
    while (performance.now() < end);
    return Math.exp(-x * y);
  };
  const r = await integrate(f, { dims: 2, method, device: 'js', relTol: 0, maxTime: 1000 });
  expect(r.status).toBe('time');
  expect(Math.abs(r.value - SMOOTH)).toBeLessThan(6 * r.error);
  expect(r.error).toBeLessThan(0.3);
});
