/** Checks of the device suite: regions and witnesses of integrands with several results. */
import assert from 'node:assert/strict';
import type { Session } from '../../src/devices/device.ts';
import type { BoundProgram } from '../../src/integrand/bound.ts';
import { withShape } from '../../src/integrand/plain.ts';
import { shapeOfValue } from '../../src/integrand/shape.ts';
import { evaluatorOf } from '../../src/tasks/evaluate.ts';
import { partsOf } from '../../src/tasks/part.ts';
import { witnessPoints } from '../../src/tasks/pointwise.ts';
import { allRegions, mergeRegions, type RegionSums, type RegionTask } from '../../src/tasks/region.ts';
import { decode, encode } from '../../src/tasks/wire.ts';
import { type Integrand, lowerFor, plainFor } from './program.ts';
import { regionReference } from './region-reference.ts';
import { type Check, isSingle, regionSlack, regionTask, type Tried } from './suite.ts';

/** Result r of the integrands here; basic arithmetic alone, so that compiled and plain values are the same. */
const term = (r: number): string =>
  r % 3 === 0
    ? `${r + 1} / (0.4 + (x - 0.3) * (x - 0.3) + ${r / 8} * y * y)`
    : r % 3 === 1
      ? `(y > 0.${r + 11} ? ${r} : 1) + x * z`
      : `s * (1 + ${r} * z * z * z * z)`;

/** The integrand with these results; a single one is a number. */
function integrandOf(terms: readonly string[]): Integrand {
  const result = terms.length > 1 ? `[${terms.join(', ')}]` : terms[0];
  return new Function(`return ([x, y, z]) => { const s = x / (1 + y * y); return ${result}; }`)();
}

const termsOf = (results: number) => Array.from({ length: results }, (_, r) => term(r));

function programOf({ plain }: Tried, f: Integrand): BoundProgram {
  if (!plain) return lowerFor(f, 3);
  const shape = shapeOfValue(f([0.1, 0.2, 0.3], {}, {} as never));
  return withShape(plainFor(f, 3, {}, String(f)), shape);
}

async function withSession<T>(
  tried: Tried,
  terms: readonly string[],
  use: (session: Session) => Promise<T>,
): Promise<T> {
  const session = await tried.device.open(programOf(tried, integrandOf(terms)));
  try {
    return await use(session);
  } finally {
    session.close();
  }
}

const evaluated = (session: Session, task: RegionTask) => session.regions(task, allRegions(task));

/** The lists of result r. */
function ofResult({ values, errors, axes }: RegionSums, count: number, r: number) {
  return [values, errors, axes].map(list => list.slice(r * count, (r + 1) * count));
}

export const severalRegions: Check[] = [
  ...[2, 3, 16, 20].map(
    (results): Check => ({
      name: `regions: ${results} results, each is what it is point by point, and has the bits that it has alone`,
      run: async tried => {
        const terms = termsOf(results);
        const task = regionTask(3, 67);
        const sums = await withSession(tried, terms, session => evaluated(session, task));
        assert.equal(sums.values.length, results * task.count);
        assert.equal(sums.nonFinite, null);
        for (let r = 0; r < results; r++) {
          const f = integrandOf([terms[r]]) as unknown as (x: number[]) => number;
          const [values, errors, axes] = ofResult(sums, task.count, r);
          for (let i = r; i < task.count; i += 8) {
            const want = regionReference(task, i, f);
            const close = regionSlack(tried);
            const off = Math.abs(values[i] - want.value);
            if (isSingle(tried) && r % 3 === 1) continue; // a step: points beside it may be on its other side
            assert.ok(off <= close.value * want.size, `value ${r} of ${i}`);
            const slack = close.ownError * want.error + close.error * want.size;
            assert.ok(want.shaky || Math.abs(errors[i] - want.error) <= slack, `error ${r} of ${i}`);
          }
          if (results > 3 && r % 6 > 0) continue;
          const alone = await withSession(tried, [terms[r]], session => evaluated(session, task));
          assert.deepEqual([values, errors, axes], [alone.values, alone.errors, alone.axes], `result ${r}`);
        }
      },
    }),
  ),
  {
    name: 'regions: 3 results, the same bits for any cut into parts, and through JSON',
    run: tried =>
      withSession(tried, termsOf(3), async session => {
        const task = regionTask(3, 300);
        const whole = await evaluated(session, task);
        const sums: RegionSums[] = [];
        for (const part of partsOf(allRegions(task), 71))
          sums.unshift(decode(encode(await session.regions(task, part))));
        assert.deepEqual(mergeRegions(allRegions(task), sums), whole);
      }),
  },
  {
    name: 'regions: values that are not finite count as 0 in their own result, and leave the others alone',
    run: async tried => {
      const task = regionTask(3, 10);
      const [smooth, wrong] = ['x + y * y', 'x > 0.5 ? 0 / (y - y) : 1'];
      const sums = await withSession(tried, [smooth, wrong], session => evaluated(session, task));
      const alone = await withSession(tried, [smooth], session => evaluated(session, task));
      const other = await withSession(tried, [wrong], session => evaluated(session, task));
      assert.deepEqual(ofResult(sums, 10, 0), [alone.values, alone.errors, alone.axes]);
      assert.deepEqual(ofResult(sums, 10, 1), [other.values, other.errors, other.axes]);
      assert.ok(sums.nonFinite && sums.nonFinite.first.point[0] > 0.5);
      assert.equal(sums.nonFinite.count, other.nonFinite?.count);
      assert.ok(Number.isNaN(sums.nonFinite.first.value));
    },
  },
  {
    name: 'witnesses: about each of 3 results, what they say about it alone',
    run: async tried => {
      const terms = ['1 + x * y', '(x > 0.34 && x < 0.342 ? 30 : 1) + x * y', 'x * x + z'];
      const list = regionTask(3, 300);
      const draw = { ...list, key: [5, 7] as const, round: 2, witnesses: 20_000, absolute: 1 };
      await withSession(tried, terms, async session => {
        const sums = await evaluated(session, list);
        for (const result of [0, 1, 2]) {
          const [values] = ofResult(sums, 300, result) as [Float64Array];
          const task = { ...draw, values, result };
          const own = await session.witness(task, allRegions(task));
          const f = lowerFor(integrandOf([terms[result]]), 3);
          const want = await witnessPoints({ ...task, result: 0 }, allRegions(task), evaluatorOf(f));
          assert.equal(own.witnesses, want.witnesses);
          if (!isSingle(tried)) assert.deepEqual(own.surprises, want.surprises, `surprises of ${result}`);
          assert.equal(own.surprises.includes(1), result === 1);
          const size = Math.max(...values.map(Math.abs));
          own.deviations.forEach((d, i) => {
            assert.ok(
              Math.abs(d - want.deviations[i]) < (isSingle(tried) ? 1e-5 : 1e-12) * size,
              `deviation of ${result} in ${i}`,
            );
          });
        }
      });
    },
  },
];
