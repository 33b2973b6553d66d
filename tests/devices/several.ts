/**
 * Integrands with several results, for the device suite. What sums have to be follows from the reference for one result: those of
 * each result alone, and from the variance of the sum of two results their covariance.
 */
import assert from 'node:assert/strict';
import type { Session } from '../../src/devices/device.ts';
import type { BoundProgram } from '../../src/integrand/bound.ts';
import { withShape } from '../../src/integrand/plain.ts';
import { packedIndex } from '../../src/tasks/correlation.ts';
import { uniformMap } from '../../src/tasks/map.ts';
import { partsOf } from '../../src/tasks/part.ts';
import { listed, merge, type PartSums, type SampleTask, wholeOf } from '../../src/tasks/sample.ts';
import { type Integrand, lowerFor, plainFor } from './program.ts';
import { reference } from './reference.ts';
import { type Check, isSingle, type Tried } from './suite.ts';
import { sampled } from './whole.ts';

/** Sums agree to this part of their size. */
const closeFor = (tried: Tried): number => (isSingle(tried) ? 2e-5 : 1e-10);

/** So many results of very different sizes and signs, of which most share their work. */
const RESULTS: Record<number, (x: number[]) => number[]> = {
  2: ([x, y]) => [Math.sin(3 * x + y), 50 * Math.cos(3 * x + y)],
  3: ([x, y]) => [Math.exp(-x * y), x * Math.exp(-x * y), -0.01 * y],
  6: ([x, y]) => [0, 1, 2, 3, 4, 5].map(i => (i - 2.5) * Math.exp(-(i + 1) * x * y)),
  10: ([x, y]) => [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map(i => Math.cos(i * x) - y),
  // biome-ignore format: one place for each result
  16: ([x, y]) => [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15].map(i => (i - 7.5) * x ** (1 + (i % 4)) * y ** Math.floor(i / 4)),
  // biome-ignore format: one place for each result
  20: ([x, y]) => [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19].map(i => Math.cos(i * x) + (1 + i) * y),
};

function programFor({ plain }: Tried, count: number): BoundProgram {
  const f = RESULTS[count] as unknown as Integrand;
  if (!plain) return lowerFor(f, 2);
  return withShape(
    plainFor(f, 2),
    Array.from({ length: count }, () => 'number' as const),
  );
}

const uneven = Uint32Array.from({ length: 12 }, (_, i) => (i === 5 ? 3001 : 2 + ((i * 37) % 300)));

/** An iteration that learns from the results at `leads`. */
function taskFor(
  results: readonly number[],
  leads: readonly number[],
  more: Partial<SampleTask>,
): SampleTask {
  return {
    key: [11, 13],
    iteration: 2,
    stream: 0,
    bins: 20,
    edges: uniformMap(
      [
        [-0.5, 1],
        [0.25, 2],
      ],
      20,
    ),
    strata: [3, 4],
    counts: 30,
    unit: 1,
    adapt: { scale: 2 ** 20, variances: true },
    pass: { results, units: results.map((_, i) => 2 ** ((i % 5) - 2)), leads },
    ...more,
  };
}

async function expectPass(tried: Tried, session: Session, count: number, task: SampleTask): Promise<void> {
  const own = await sampled(session, task);
  const { results, units, leads } = task.pass!;
  const f = (i: number) => (x: number[]) => RESULTS[count](x)[results[i]] / units[i];
  const { pass: _, ...plain } = task;
  const each = results.map((_, i) => reference(plain, f(i)));
  const { sums, covariances, concentrations } = own.several!;
  const close = (a: number, b: number, size: number, what: string) =>
    assert.ok(Math.abs(a - b) <= closeFor(tried) * size, `${what}: ${a} is ${b}`);
  each.forEach((want, i) => {
    const size = Math.sqrt(want.variance) + Math.abs(want.sum);
    close(sums[i], want.sum, size, `sum ${i}`);
    close(concentrations[i], want.concentration, want.concentration, `concentration ${i}`);
    for (let j = 0; j <= i; j++) {
      const both = reference({ ...plain, adapt: null, cubes: false }, x => f(i)(x) + f(j)(x)).variance;
      const covariance = i === j ? want.variance : (both - want.variance - each[j].variance) / 2;
      const most = want.variance + each[j].variance;
      close(covariances[packedIndex(i, j)], covariance, most, `covariance ${i}, ${j}`);
    }
  });
  for (const list of ['variances', 'means', 'histogram'] as const) {
    if (!own[list]) continue;
    own[list].forEach((v, c) => {
      const leading = leads.map(i => each[i][list]![c]);
      const norm = results.length > 1 ? Math.sqrt(leading.reduce((s, m) => s + m * m, 0)) : leading[0];
      const want = list === 'means' ? norm : leading.reduce((a, b) => a + b, 0);
      // squares are rounded once for all leads, and here once for each
      const part = isSingle(tried) ? 1e-4 * Math.abs(want) + 1e-6 : 1e-9 * Math.abs(want);
      const slack = list === 'histogram' ? 600 * (leads.length + 1) + (isSingle(tried) ? part : 0) : part;
      assert.ok(Math.abs(v - want) <= slack, `${list}[${c}]: ${v} is ${want}`);
    });
  }
}

const upTo = (n: number, from = 0) => Array.from({ length: n - from }, (_, i) => from + i);

async function withSession(tried: Tried, count: number, use: (session: Session) => Promise<void>) {
  const session = await tried.device.open(programFor(tried, count));
  try {
    await use(session);
  } finally {
    session.close();
  }
}

export const several: Check[] = [
  ...[2, 3, 6, 10, 16].map(
    (count): Check => ({
      name: `several: sums, covariances, histogram and variances of ${count} results`,
      run: tried =>
        withSession(tried, count, async session => {
          const all = upTo(count);
          for (const [leads, more] of [
            [all, {}],
            [[1], { counts: listed(uneven) }],
            [[0, count - 1], { counts: 700 }],
            [all, { counts: 3000, adapt: { scale: 2 ** 12, variances: true, limit: 2 ** 30 } }],
            [all, { counts: 2, adapt: null, cubes: true }],
            [[1], { counts: listed(uneven), adapt: null }],
          ] as [number[], Partial<SampleTask>][])
            await expectPass(tried, session, count, taskFor(all, leads, more));
        }),
    }),
  ),
  {
    name: 'several: passes over 16, 4 and 1 of 20 results, one after the other',
    run: tried =>
      withSession(tried, 20, async session => {
        for (const results of [upTo(16), upTo(20, 16), [19], upTo(16)])
          await expectPass(tried, session, 20, taskFor(results, [0], { counts: listed(uneven) }));
      }),
  },
  {
    name: 'several: parts have the bits of the whole',
    run: tried =>
      withSession(tried, 3, async session => {
        const task = taskFor(upTo(3), upTo(3), { strata: [40, 50], counts: 9 });
        const whole = merge(task, [await session.sample(task, wholeOf(task))]);
        const parts: PartSums[] = [];
        for (const p of partsOf(wholeOf(task), 1)) parts.push(await session.sample(task, p));
        assert.deepEqual(merge(task, parts.reverse()), whole);
      }),
  },
];
