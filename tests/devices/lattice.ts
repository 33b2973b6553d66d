/** What every device does with the points of lattices, against the reference; a part of the device suite (suite.ts). */
import assert from 'node:assert/strict';
import type { Session } from '../../src/devices/device.ts';
import { drawShifts, latticeWords } from '../../src/random/lattice.ts';
import { partsOf } from '../../src/tasks/part.ts';
import { merge, type PartSums, type SampleTask, wholeOf } from '../../src/tasks/sample.ts';
import { slopesOf } from '../../src/tasks/smooth-map.ts';
import { type Integrand, lowerFor, plainFor } from './program.ts';
import { reference } from './reference.ts';
import { type Check, closeFor, isSingle, type Tried } from './suite.ts';
import { sampled } from './whole.ts';

const smooth: Integrand = (x: number[]) => {
  let s = 1;
  for (let i = 0; i < x.length; i++) s *= 1 + Math.sin((i + 1) * x[i]) / (i + 2);
  return s;
};
const three: Integrand = ([x, y]) => [x * y, Math.exp(-x), 1 + y * y] as never;
const holes: Integrand = ([x, y]) => (x > 0.5 ? Math.sqrt(y) : 1);

/** `shifts` lattices of 2^log2 points through a map that is different on every axis. */
function taskFor(
  dims: number,
  log2: number,
  shifts: number,
  over: Partial<SampleTask> & { folded?: boolean; half?: 'whole' | 'new half'; bins?: number } = {},
): SampleTask {
  const { folded = false, half = 'whole', bins = 16, ...more } = over;
  const edges = Float64Array.from({ length: dims * (bins + 1) }, (_, i) => {
    const d = Math.floor(i / (bins + 1));
    return -1 - d + (3 + d) * ((i % (bins + 1)) / bins) ** (1.25 + d / 4);
  });
  const words = latticeWords(dims, drawShifts([5, 6], 1, dims, 0, shifts), log2, half);
  return {
    key: [5, 6],
    iteration: 1,
    stream: 0,
    bins,
    edges,
    strata: Array(dims).fill(1),
    lattice: { ...words, folded, slopes: slopesOf(edges, dims) },
    counts: 2 ** log2,
    unit: 0.5,
    adapt: null,
    cubes: true,
    ...more,
  };
}

async function withSession(
  { device, plain }: Tried,
  f: Integrand,
  dims: number,
  use: (s: Session) => Promise<void>,
): Promise<void> {
  const session = await device.open(plain ? plainFor(f, dims, {}) : lowerFor(f, dims, {}));
  try {
    await use(session);
  } finally {
    session.close();
  }
}

const closeOn = (tried: Tried) => (own: number, want: number, size: number, what: string) =>
  assert.ok(Math.abs(own - want) <= closeFor(tried) * size, `${what}: ${own} is ${want}`);

// biome-ignore format: a row each
const TASKS: [string, SampleTask][] = [
  ['1 dimension', taskFor(1, 10, 3)],
  ['2 dimensions, the new half of twice the points', taskFor(2, 10, 4, { half: 'new half' })],
  ['3 dimensions, folded, 1 bin', taskFor(3, 8, 5, { folded: true, bins: 1 })],
  ['5 dimensions, folded, shifts larger than a group', taskFor(5, 13, 3, { folded: true, bins: 128 })],
  ['9 dimensions, small shifts', taskFor(9, 8, 70, { half: 'new half', bins: 64 })],
  ['45 dimensions', taskFor(45, 9, 2, { bins: 8 })],
];

export const lattices: Check[] = [
  ...TASKS.map(
    ([name, given]): Check => ({
      name: `lattices: ${name}`,
      run: tried =>
        withSession(tried, smooth, given.strata.length, async session => {
          const close = closeOn(tried);
          // float32 has squares of squares only of numbers that are near 1
          const task = { ...given, unit: 2 ** Math.round(Math.log2(reference(given, smooth as never).sum)) };
          const [own, want] = [await sampled(session, task), reference(task, smooth as never)];
          assert.equal(own.evaluations, want.evaluations);
          const size = Math.sqrt(want.variance) + Math.abs(want.sum);
          close(own.sum, want.sum, size, 'sum');
          close(own.variance, want.variance, want.variance, 'variance');
          const fourth = isSingle(tried) ? 4 : 1; // a sum of fourth powers
          close(own.concentration, want.concentration, fourth * want.concentration, 'concentration');
          want.means!.forEach((mean, r) => close(own.means![r], mean, size, `mean ${r}`));
          // in float32, where the first value of a shift is far from the others, its variance is a small difference
          const size32 = 50 * Math.max(...want.variances!);
          want.variances!.forEach((v, r) =>
            close(own.variances![r], v, isSingle(tried) ? size32 : v, `variance ${r}`),
          );
          const parts: PartSums[] = [];
          for (const p of partsOf(wholeOf(task), 1)) parts.push(await session.sample(task, p));
          const { means, sum } = merge(task, parts.reverse());
          assert.deepEqual({ means, sum }, { means: own.means, sum: own.sum });
          // random points of the same session, before and after
          const { lattice: _, ...random } = task;
          const both = [await sampled(session, random), reference(random, smooth as never)];
          close(both[0].sum, both[1].sum, Math.abs(both[1].sum), 'sum of random points');
        }),
    }),
  ),
  {
    name: 'lattices: several results',
    run: tried =>
      withSession(tried, three, 2, async session => {
        const close = closeOn(tried);
        const units = [1, 2, 0.25];
        const pass = { results: [0, 1, 2], units, leads: [0] };
        const { cubes: _, ...task } = taskFor(2, 11, 1, { unit: 1, pass });
        const { sums } = (await sampled(session, task)).several!;
        units.forEach((unit, r) => {
          const { pass: _, ...one } = task;
          const want = reference(one, x => (three as never as (x: number[]) => number[])(x)[r] / unit);
          close(sums[r], want.sum, Math.abs(want.sum) + Math.sqrt(want.variance), `result ${r}`);
        });
      }),
  },
  {
    name: 'lattices: values that are not finite are counted, and the first by sample is named',
    run: tried =>
      withSession(tried, holes, 2, async session => {
        const close = closeOn(tried);
        const task = taskFor(2, 10, 3);
        const [own, want] = [await sampled(session, task), reference(task, holes as never)];
        assert.equal(own.nonFinite?.count, want.nonFinite?.count);
        own.nonFinite!.first.point.forEach((x, d) => close(x, want.nonFinite!.first.point[d], 1, 'point'));
      }),
  },
];
