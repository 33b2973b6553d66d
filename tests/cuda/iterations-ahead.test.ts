/** Iterations that a card begins before it is asked for them. */
import { expect, test } from 'vitest';
import { CudaDevice } from '../../src/devices/cuda/cuda.ts';
import { loadDriver } from '../../src/devices/cuda/driver.ts';
import { uniformMap } from '../../src/tasks/map.ts';
import { type SampleTask, wholeOf } from '../../src/tasks/sample.ts';
import { lowerFor } from '../devices/program.ts';
import { absent } from './emulated.ts';

const ITERATIONS = 4;
const UNIT: [number, number][] = Array(3).fill([0, 1]);

/** The sums of some iterations, of which each says that `following` of them come next, and how often the card was waited for. */
async function sums(f: (x: number[]) => unknown, following: number, more: Partial<SampleTask> = {}) {
  const device = new CudaDevice(0);
  const session = await device.open(lowerFor(f as never, 3, {}));
  const task: SampleTask = {
    key: [1, 2],
    iteration: 7,
    stream: 0,
    unit: 1,
    bins: 8,
    edges: uniformMap(UNIT, 8),
    strata: [4, 4, 4],
    counts: 9,
    adapt: null,
    ...more,
  };
  const query = loadDriver().cuStreamQuery;
  let waits = 0;
  loadDriver().cuStreamQuery = (...args) => {
    const status = query(...args);
    waits += status === 0 ? 1 : 0;
    return status;
  };
  const found: unknown[] = [];
  for (let i = 0; i < ITERATIONS; i++) {
    const own = { ...task, iteration: task.iteration + i };
    found.push(await session.sample(own, wholeOf(own), undefined, Math.min(following, ITERATIONS - 1 - i)));
  }
  loadDriver().cuStreamQuery = query;
  session.close();
  await device.close();
  return { found, waits };
}

const several = {
  pass: { results: [0, 1, 2], units: [1, 1, 1], leads: [0] },
} as unknown as Partial<SampleTask>;

test.skipIf(absent).each([
  ['one result', ([x, y, z]: number[]) => Math.exp(x * y) + z, {}],
  ['three results', ([x, y, z]: number[]) => [x * y, Math.exp(z), x - z], several],
] as const)('%s: they have the bits of iterations one by one, with one wait for all', async (_, f, more) => {
  const [ahead, one] = [await sums(f, ITERATIONS - 1, more), await sums(f, 0, more)];
  expect(ahead.found).toEqual(one.found);
  expect(new Set(ahead.found.map(sums => JSON.stringify(sums))).size).toBe(ITERATIONS);
  // the first task of a process also asks whether an earlier one has failed
  expect(ahead.waits).toBeLessThanOrEqual(2);
  expect(one.waits).toBeGreaterThanOrEqual(ITERATIONS);
});

test.skipIf(absent)(
  'a value that is not finite is reported by the iteration that meets it, with its point',
  async () => {
    const f = ([x, y, z]: number[]) => (x * y * z > 0.5 ? NaN : x);
    const [ahead, one] = [await sums(f, ITERATIONS - 1), await sums(f, 0)];
    expect(JSON.stringify(one.found)).toContain('"nonFinite":{');
    expect(ahead.found).toEqual(one.found);
  },
);
