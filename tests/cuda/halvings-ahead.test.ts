/** Halvings of all regions that a card begins before it is asked for them. */
import { expect, test } from 'vitest';
import { CudaDevice } from '../../src/devices/cuda/cuda.ts';
import { loadDriver } from '../../src/devices/cuda/driver.ts';
import { ruleFor } from '../../src/tasks/every-rule.ts';
import { lowerFor } from '../devices/program.ts';
import { absent } from './emulated.ts';

const HALVINGS = 4;

/** What a pool says of the start, of HALVINGS halvings of all regions, and of two more of those with half of the error. */
async function steps(f: (x: number[]) => number, expected: number, ranges: [number, number][]) {
  const device = new CudaDevice(0);
  const session = await device.open(lowerFor(f as never, ranges.length, {}));
  const { name: rule } = ruleFor(ranges.length, undefined);
  const pool = await session.pool!({ rule, ranges });
  const said: unknown[] = [await pool.start(0), pool.sums];
  pool.expectHalvings!(expected);
  const query = loadDriver().cuStreamQuery;
  let waits = 0;
  loadDriver().cuStreamQuery = (...args) => {
    const status = query(...args);
    waits += status === 0 ? 1 : 0;
    return status;
  };
  for (let i = 0; i < HALVINGS; i++) {
    const wanted = await pool.select(Infinity);
    if (wanted === 0) break;
    said.push(wanted, await pool.halve(wanted), pool.sums, pool.count);
  }
  loadDriver().cuStreamQuery = query;
  for (let i = 0; i < 2; i++) {
    const wanted = await pool.select(0.5 * pool.sums.error);
    if (wanted === 0) break;
    said.push(wanted, await pool.halve(wanted), pool.sums, pool.count);
  }
  pool.close();
  session.close();
  await device.close();
  return { said, waits };
}

const UNIT: [number, number][] = [
  [0, 1],
  [0, 1],
  [0, 1],
];

test.skipIf(absent)('they have the bits of halvings one by one, with one wait for all', async () => {
  const f = ([x, y, z]: number[]) => Math.exp(-9 * (x - 0.3) ** 2 - 4 * y * z) * Math.cos(7 * z);
  const [ahead, one] = [await steps(f, HALVINGS, UNIT), await steps(f, 0, UNIT)];
  expect(ahead.said).toEqual(one.said);
  expect([ahead.waits, one.waits]).toEqual([1, HALVINGS]);
});

test.skipIf(absent)(
  'a value that is not finite is reported by the halving that meets it, with its point',
  async () => {
    const f = ([x, y, z]: number[]) => (x === 0.125 ? 1 / (x - 0.125) : x + y * z);
    const [ahead, one] = [await steps(f, HALVINGS, UNIT), await steps(f, 0, UNIT)];
    expect(JSON.stringify(one.said)).toContain('"nonFinite":{');
    expect(ahead.said).toEqual(one.said);
  },
);

test.skipIf(absent)(
  'regions that soon are too small to be halved, and loops that may run long, are not halved ahead',
  async () => {
    const f = ([x, y, z]: number[]) => x * y + z;
    const narrow = UNIT.map(([a]): [number, number] => [1, 1 + 2 ** -50 + a]);
    const long = ([x, y, z]: number[]) => {
      let s = x;
      while (s < 1000 + y) s += 1 + z;
      return s;
    };
    expect((await steps(f, HALVINGS, narrow)).said).toEqual((await steps(f, 0, narrow)).said);
    expect((await steps(long, HALVINGS, UNIT)).waits).toBe(HALVINGS);
  },
);
