/** Selection and the look across borders on a card beside those in lists of the host, on the same regions. */
import { afterAll, describe, expect, test } from 'vitest';
import { CpuDevice } from '../../src/devices/cpu/cpu.ts';
import { CudaDevice } from '../../src/devices/cuda/cuda.ts';
import { ruleFor } from '../../src/tasks/every-rule.ts';
import type { RegionPool } from '../../src/tasks/pool/pool.ts';
import { hostPool } from '../devices/whole.ts';
import { cube } from '../integrands/entry.ts';
import { absent } from './emulated.ts';
import { integrandOf, type Subject } from './tasks.ts';

const cpu = new CpuDevice(2);
afterAll(() => cpu.close());

/** What is done to a pool, on the card and on the host. */
async function onBoth<T>(subject: Subject, use: (pool: RegionPool) => Promise<T>): Promise<[T, T]> {
  const card = new CudaDevice(0);
  const sessions = [await card.open(integrandOf(subject)), await cpu.open(integrandOf(subject))];
  const task = { rule: ruleFor(subject.dims).name, ranges: subject.domain };
  const pools = [await sessions[0].pool!(task), hostPool(sessions[1], task)];
  try {
    return [await use(pools[0]), await use(pools[1])];
  } finally {
    for (const pool of pools) pool.close();
    for (const session of sessions) session.close();
  }
}

/** Starts with a box whose axes are halved `level` times, and halves the worst region so often. */
const worstHalved = (level: number, times: number) => async (pool: RegionPool) => {
  await pool.start(level);
  for (let i = 0; i < times; i++) {
    await pool.select(Number.MIN_VALUE);
    await pool.halve(Infinity);
  }
};

describe.skipIf(absent)('a look across borders finds what the host finds', () => {
  const looked = (level: number, times: number) => async (pool: RegionPool) => {
    await worstHalved(level, times)(pool);
    const { count } = pool;
    const { evaluated } = await pool.look(0, Infinity);
    return { count, evaluated, error: pool.sums.error };
  };
  /** A pole, so strong that its region always is the worst, in a corner of regions that see it; others that touch it have no point near enough to see anything. */
  const pole = (dims: number, at: number, near: number, domain = cube(dims, -1, 1)): Subject => ({
    dims,
    domain,
    params: { at, near },
    f: (x: number[], p: { at: number; near: number }) => {
      let [r, inside] = [0, true];
      for (let d = 0; d < x.length; d++) {
        r += (1 + 0.3 * d) * (x[d] - p.at) ** 2;
        inside = inside && x[d] > p.at;
      }
      return inside || r < p.near ** 2 ? r ** (-0.75 * x.length) : 0;
    },
  });
  test.each([
    ['one axis', pole(1, 0, 2 ** -28), 1, 30],
    ['one axis, several roots', pole(1, 0.25, 2 ** -28), 3, 30],
    ['two axes, one root', pole(2, 0, 2 ** -20), 0, 50],
    ['two axes, roots', pole(2, 0.5, 2 ** -20), 2, 50],
    ['a width that is no power of two', pole(2, 0.3, 2 ** -20, cube(2, -1.3, 1.9)), 1, 50],
    ['four axes', pole(4, 0, 2 ** -8), 1, 40],
    ['levels above 40, where places are numbers', pole(1, 0, 2 ** -55), 1, 58],
    ['levels above 64', pole(1, 0, 2 ** -105), 1, 110],
    ['levels above 64 on two axes', pole(2, 0, 2 ** -65), 1, 140],
  ])('%s', async (_, subject, level, times) => {
    const [own, want] = await onBoth(subject, looked(level, times));
    expect(want.evaluated).toBeGreaterThan(0);
    expect([own.count, own.evaluated]).toEqual([want.count, want.evaluated]);
    expect(Math.abs(own.error / want.error - 1)).toBeLessThan(1e-9);
  });
});

// with f6 in 6 dimensions to 2.56e-9 each of 3 million regions counted for 2^-40 of the integral, and it never ended
test.skipIf(absent)('regions with next to nothing of all count for no more than that', async () => {
  const subject: Subject = {
    dims: 1,
    domain: [[0, 1]],
    f: ([x]: number[]) => (x > 0.5 ? 2 ** 20 : x < 0.3 ? 1 : 0),
  };
  const [own, want] = await onBoth(subject, async pool => {
    await worstHalved(1, 20)(pool);
    await pool.look(0, 0);
    return pool.sums;
  });
  expect(want.error).toBeGreaterThan(0);
  expect(Math.abs(own.error - want.error)).toBeLessThan(1e-15 * want.absolute);
});

describe.skipIf(absent)('as many regions are selected as on the host', () => {
  const selected =
    (level: number, ...parts: number[]) =>
    async (pool: RegionPool) => {
      await pool.start(level);
      const counts: number[] = [];
      for (const part of parts) counts.push(await pool.select(part * pool.sums.error));
      return counts;
    };
  /** Regions of level 16 are alike. */
  const teeth: Subject = {
    dims: 1,
    domain: cube(1),
    f: ([x]) => Math.sqrt(65536 * x - Math.floor(65536 * x)),
  };
  test('all of them in one bucket, selected by many blocks', async () => {
    const [own, want] = await onBoth(teeth, selected(16, 0.3, 0.95));
    expect(own).toEqual([65536, 65536]);
    expect(want).toEqual(own);
  });
  test('all of them in one bucket, selected by one block', async () => {
    const few = { ...teeth, f: ([x]: number[]) => Math.sqrt(16384 * x - Math.floor(16384 * x)) };
    expect((await onBoth(few, selected(14, 0.3)))[0]).toEqual([16384]);
  });
  const steep: Subject = { dims: 1, domain: cube(1), f: ([x]) => Math.exp(-500 * x) * (1 + (x % 0.01)) };
  test.each([
    ['one block', 6],
    ['many', 16],
  ])('errors over 700 octaves, by %s: the largest, or all that are not 0', async (_, level) => {
    const [own, want] = await onBoth(steep, selected(level, -1, 0, 1e-300, 0.5, 2));
    expect(want[0]).toBeGreaterThan(0);
    expect(own.slice(0, -1)).toEqual(want.slice(0, -1));
    // of a few the error is 0 or not, by rounding
    for (const counts of [own, want]) expect(counts.at(-1)).toBeGreaterThan(0.99 * 2 ** level);
  });
});
