/** What the CPU makes of regions beyond what every device does (tests/devices/suite.ts). */
import { afterAll, describe, expect, test } from 'vitest';
import { CpuDevice } from '../../src/devices/cpu/cpu.ts';
import { walkOf } from '../../src/devices/cpu/walk.ts';
import { ruleFor } from '../../src/tasks/every-rule.ts';
import type { RegionTask } from '../../src/tasks/region.ts';
import { pointsOf, type RuleName } from '../../src/tasks/rules.ts';
import { type Integrand, lowerFor } from '../devices/program.ts';
import { orbitOf } from '../devices/region-reference.ts';
import { evaluated } from '../devices/whole.ts';

const device = new CpuDevice(2);
afterAll(() => device.close());

const open = (f: Integrand, dims: number) => device.open(lowerFor(f, dims));

const rules: [RuleName, number[]][] = [
  ['gauss-kronrod', [1]],
  ['degree13', [2]],
  ['degree11', [3]],
  ['degree9', [2, 3, 5, 7]],
  ['degree7', [2, 3, 4, 8]],
  ['genz-malik', [2, 3, 6]],
];

test('5000 regions, spread over workers: the bits of the calling thread', async () => {
  const session = await open(([x, y, z]) => 1 / (0.3 + x * x + 2 * y * y + x * z * z), 3);
  const task: RegionTask = {
    rule: 'degree11',
    ranges: [
      [-1, 1],
      [0, 2],
      [0, 1],
    ],
    count: 5000,
    centres: Float64Array.from({ length: 15_000 }, (_, i) => ((i * 7919) % 997) / 997),
    levels: Uint8Array.from({ length: 15_000 }, (_, i) => 1 + (i % 4)),
  };
  await evaluated(session, task);
  const { values, errors, axes } = await evaluated(session, task); // now workers are up
  for (const first of [0, 255, 256, 1000, 4900]) {
    const n = Math.min(100, 5000 - first);
    const here = await session.regions(task, { first, count: n });
    expect(here.values).toEqual(values.slice(first, first + n));
    expect(here.errors).toEqual(errors.slice(first, first + n));
    expect(here.axes).toEqual(axes.slice(first, first + n));
  }
  session.close();
});

describe('values that are not finite', () => {
  test.each([
    ['Infinity', Infinity],
    ['-Infinity', -Infinity],
  ])('%s at one point of 64 regions: 1', async (_, wanted) => {
    const f: Integrand =
      wanted > 0 ? ([x]) => (x === 0.5 ? 1 / (x - x) ** 2 : 1) : ([x]) => (x === 0.5 ? -1 / (x - x) ** 2 : 1);
    const session = await open(f, 1);
    const task: RegionTask = {
      rule: ruleFor(1).name,
      ranges: [[0, 64]],
      count: 64,
      centres: Float64Array.from({ length: 64 }, (_, i) => i + 0.5),
      levels: new Uint8Array(64).fill(6),
    };
    expect((await evaluated(session, task)).nonFinite).toEqual({
      count: 1,
      first: { point: [0.5], value: wanted },
    });
    session.close();
  });
  test.each([1e-300, 1, 1e300])(
    'values of %d keep their digits beside one that is not finite',
    async size => {
      const hole: Integrand = ([x]) => (x === 0 ? Math.sqrt(-1 - x) : 1 / (2 + x));
      const sized: Integrand = ([x], p) => (x === 0 ? Math.sqrt(-1 - x) : p.size / (2 + x));
      const [session, one] = [await device.open(lowerFor(sized, 1, { size })), await open(hole, 1)];
      const task: RegionTask = {
        rule: ruleFor(1).name,
        ranges: [[-1, 1]],
        count: 3,
        centres: Float64Array.of(0, -0.5, 0.5),
        levels: Uint8Array.of(0, 1, 1),
      };
      const [sums, wanted] = [await evaluated(session, task), await evaluated(one, task)];
      expect([sums.nonFinite?.count, wanted.nonFinite?.count]).toEqual([1, 1]);
      for (let i = 0; i < 3; i++)
        expect(Math.abs(sums.values[i] / size / wanted.values[i] - 1)).toBeLessThan(1e-14);
      expect(Math.abs(sums.values[1] / size / Math.log(2) - 1)).toBeLessThan(1e-12);
      session.close();
      one.close();
    },
  );
  test('1e307 in 5 dimensions is 1e307, or a value that is not finite: never Infinity without a word', async () => {
    const session = await open(() => 1e307, 5);
    const sums = await evaluated(session, {
      rule: ruleFor(5).name,
      ranges: Array.from({ length: 5 }, (): [number, number] => [0, 1]),
      count: 1,
      centres: new Float64Array(5).fill(0.5),
      levels: new Uint8Array(5),
    });
    if (!sums.nonFinite) expect(Math.abs(sums.values[0] / 1e307 - 1)).toBeLessThan(1e-13);
    session.close();
  });
  test.each<[string, [number, number][]]>([
    [
      'underflows',
      [
        [0, 1e-200],
        [0, 1e-200],
        [0, 1e250],
      ],
    ],
    [
      'overflows',
      [
        [0, 1e200],
        [0, 1e200],
        [0, 1e-250],
      ],
    ],
  ])('a volume that %s on the way is right in the end', async (_, ranges) => {
    const session = await open(() => 1, 3);
    const task = { rule: ruleFor(3).name, ranges, count: 1, levels: new Uint8Array(3) };
    const { values } = await evaluated(session, {
      ...task,
      centres: Float64Array.from(ranges, r => r[1] / 2),
    });
    const volume = ranges[0][1] * ranges[2][1] * ranges[1][1];
    expect(Math.abs(values[0] / volume - 1)).toBeLessThan(1e-13);
    session.close();
  });
});

describe('walkOf', () => {
  test.each(rules.flatMap(([name, dims]) => dims.map(n => [name, n] as const)))(
    '%s in %i dimensions: goes through every point of the rule once, with its weight',
    (name, dims) => {
      const rule = ruleFor(dims, name);
      const walk = walkOf(rule);
      const at = new Array<number>(dims).fill(0);
      const seen = new Map<string, number>();
      for (let p = 0; p < walk.slot.length; p++) {
        for (let c = walk.starts[p]; c < walk.starts[p + 1]; c++) at[walk.axis[c]] = walk.value[c];
        seen.set(`${at}`, walk.slot[p]);
      }
      expect(seen.size).toBe(rule.points);
      for (const orbit of rule.orbits)
        for (const g of orbitOf(orbit.generator, dims)) {
          const slot = seen.get(`${g}`)!;
          expect(walk.weights[slot]).toBe(orbit.weight);
          expect(walk.nulls.map(n => n[slot])).toEqual(orbit.nulls);
        }
      // one-axis points of the differences have a slot an axis
      rule.differences.forEach((o, k) => {
        for (const g of pointsOf(rule.orbits[o], dims))
          expect(seen.get(`${g}`)).toBe((k === 0 ? walk.inner : walk.outer) + g.findIndex(v => v !== 0));
      });
      expect(walk.starts.at(-1)).toBeLessThanOrEqual(3 * rule.points); // few coordinates change
    },
  );
});
