/** What a session makes of regions: every rule against the rule applied point by point in plain JavaScript. */
import { afterAll, describe, expect, test } from 'vitest';
import { CpuDevice } from '../../src/devices/cpu/cpu.ts';
import { walkOf } from '../../src/devices/cpu/walk.ts';
import type { DeviceIntegrand, RegionSums, RegionTask } from '../../src/devices/device.ts';
import { lower } from '../../src/integrand/lower/lower.ts';
import { bind } from '../../src/integrand/params.ts';
import { read } from '../../src/integrand/read.ts';
import { pointsOf, type Rule, type RuleName, ruleFor } from '../../src/tasks/rules.ts';
import { Random } from '../compiler/random.ts';
import { type Integrand, lowerFor } from '../devices/program.ts';

const device = new CpuDevice(2);
afterAll(() => device.close());

/** Bends differently along each axis; basic arithmetic alone, so that compiled and plain values are the same. */
const bent = (x: number[]) => {
  let y = 1;
  for (let i = 0; i < x.length; i++)
    y *= 1 / (0.3 + (i + 1) * 0.4 * (x[i] - 0.3) * (x[i] - 0.3)) - 0.2 * x[i];
  return y;
};

/** So many regions of a box, at random places: each axis halved up to `deepest` times. */
function taskFor(rule: Rule, count: number, seed: number, deepest = 5): RegionTask {
  const random = new Random(seed);
  const ranges = Array.from({ length: rule.dims }, (_, d): [number, number] => [-1 - d / 4, 1 + d / 2]);
  const centres = new Float64Array(rule.dims * count);
  const levels = new Uint8Array(rule.dims * count);
  for (let i = 0; i < centres.length; i++) {
    const [low, high] = ranges[Math.floor(i / count)];
    levels[i] = random.below(deepest + 1);
    const parts = 2 ** levels[i];
    centres[i] = low + ((high - low) * (random.below(parts) + 0.5)) / parts;
  }
  return { rule, ranges, count, centres, levels };
}

/** Every point of an orbit: all orders of the coordinates with all signs, each once. */
function orbitOf(generator: readonly number[], dims: number): number[][] {
  const padded = [...generator, ...new Array<number>(dims - generator.length).fill(0)];
  const place = (left: number[]): number[][] =>
    left.length === 0
      ? [[]]
      : [...new Set(left)].flatMap(v =>
          place(left.toSpliced(left.indexOf(v), 1)).flatMap(rest =>
            v === 0
              ? [[0, ...rest]]
              : [
                  [v, ...rest],
                  [-v, ...rest],
                ],
          ),
        );
  return place(padded);
}

/**
 * The formulas of rules.ts for one region: value, error, the largest |f|, and how much it bends along each axis. `shaky`:
 * rounding decides which of the two errors is taken.
 */
function applied(task: RegionTask, region: number, f: (x: number[]) => number) {
  const { rule, ranges, count } = task;
  const { dims, orbits, differences } = rule;
  const centre = ranges.map((_, d) => task.centres[d * count + region]);
  const half = ranges.map(([low, high], d) => ((high - low) / 2) * 2 ** -task.levels[d * count + region]);
  const volume = half.reduce((v, h) => v * 2 * h, 1);
  const known = new Map<string, number>(); // each point is evaluated once
  const at = (g: number[]) => {
    const x = g.map((gd, d) => Math.max(ranges[d][0], Math.min(ranges[d][1], centre[d] + gd * half[d])));
    const y = known.get(`${g}`) ?? f(x);
    known.set(`${g}`, y);
    return y;
  };
  const sums = orbits.map(o => orbitOf(o.generator, dims).reduce((s, g) => s + at(g), 0));
  const total = (weights: number[]) => sums.reduce((t, s, o) => t + weights[o] * s, 0);
  const value = total(orbits.map(o => o.weight));
  const nulls = orbits[0].nulls.map((_, r) => total(orbits.map(o => o.nulls[r])));
  const size = Math.max(...[...known.values()].map(Math.abs));
  let error = Math.abs(nulls[0]);
  let shaky = false;
  if (rule.error) {
    const most = nulls.slice(1).map((next, r) =>
      Math.max(
        ...orbits.map(({ nulls: own }) => {
          const scale = own[r] === 0 ? 100 : -own[r + 1] / own[r];
          const length = orbits.reduce(
            (t, o) => t + o.points * Math.abs(o.nulls[r + 1] + scale * o.nulls[r]),
            0,
          );
          return Math.abs(next + scale * nulls[r]) / length;
        }),
      ),
    );
    const [fall, calm, wild] = rule.error;
    const gaps = [most[1] - fall * most[0], most[2] - fall * most[1]];
    shaky = gaps.some(g => Math.abs(g) < 1e-13 * size);
    error = Math.min(...gaps) >= 0 ? calm * most[0] : wild * Math.max(...most);
  }
  const [inner, outer] = differences.map(o => orbits[o].generator[0]);
  const ratio = (outer / inner) ** 2;
  const bends = ranges.map((_, d) => {
    const pair = (a: number) => {
      const on = (v: number) => at(ranges.map((_, e) => (e === d ? v : 0)));
      return on(a) - 2 * on(0) + on(-a);
    };
    return Math.abs(ratio * pair(inner) - pair(outer));
  });
  return { value: volume * value, error: volume * error, size: volume * size, bends, shaky };
}

const open = (f: Integrand, dims: number) => device.open(lowerFor(f, dims));

/** Values and errors to 1e-13 of the region's size; the axis is the one that bends most: wherever that is clear. */
function expectSame(sums: RegionSums, task: RegionTask, f: (x: number[]) => number) {
  let clear = 0;
  for (let i = 0; i < task.count; i++) {
    const own = applied(task, i, f);
    expect(Math.abs(sums.values[i] - own.value), `value of ${i}`).toBeLessThanOrEqual(1e-13 * own.size);
    if (!own.shaky)
      expect(Math.abs(sums.errors[i] - own.error), `error of ${i}`).toBeLessThanOrEqual(1e-13 * own.size);
    const [first, second = 0] = own.bends.toSorted((a, b) => b - a);
    if (own.shaky || first < 1.001 * second) continue;
    clear++;
    expect(sums.axes[i], `axis of ${i}`).toBe(own.bends.indexOf(first));
  }
  expect(clear).toBeGreaterThan(0.5 * task.count);
}

const rules: [RuleName, number[]][] = [
  ['gauss-kronrod', [1]],
  ['degree13', [2]],
  ['degree11', [3]],
  ['degree9', [2, 3, 5, 7]],
  ['degree7', [2, 3, 4, 8]],
  ['genz-malik', [2, 3, 6]],
];
describe.each(rules.flatMap(([name, dims]) => dims.map(n => [name, n] as const)))(
  '%s in %i dimensions',
  (name, dims) => {
    const rule = ruleFor(dims, name);
    test('67 regions: values and errors to 1e-13, the axis that bends most', async () => {
      const session = await open(bent, dims);
      const task = taskFor(rule, 67, dims);
      const sums = await session.regions(task);
      expect(sums.nonFinite).toBeNull();
      expectSame(sums, task, bent);
      session.close();
    });
  },
);

describe('lists of any length', () => {
  const rule = ruleFor(3);
  test.each([1, 2, 3, 63, 64, 65, 128, 129, 255, 256, 257])(
    '%i regions: each is what it is alone, bit for bit',
    async count => {
      const session = await open(bent, 3);
      const task = taskFor(rule, count, count);
      const sums = await session.regions(task);
      expect([sums.values, sums.errors, sums.axes].map(a => a.length)).toEqual([count, count, count]);
      for (let i = 0; i < count; i++) {
        const centres = Float64Array.from({ length: 3 }, (_, d) => task.centres[d * count + i]);
        const levels = Uint8Array.from({ length: 3 }, (_, d) => task.levels[d * count + i]);
        const one = await session.regions({ ...task, count: 1, centres, levels });
        expect([one.values[0], one.errors[0], one.axes[0]]).toEqual([
          sums.values[i],
          sums.errors[i],
          sums.axes[i],
        ]);
      }
      session.close();
    },
  );
  test('none: nothing', async () => {
    const session = await open(bent, 3);
    const sums = await session.regions(taskFor(rule, 0, 1));
    expect([sums.values.length, sums.nonFinite]).toEqual([0, null]);
    session.close();
  });
  test('5000 regions, spread over workers: the bits of the calling thread', async () => {
    const session = await open(bent, 3);
    const task = taskFor(rule, 5000, 9);
    await session.regions(task);
    const sums = await session.regions(task); // now workers are up
    for (const first of [0, 255, 256, 1000, 4900]) {
      const n = Math.min(300, 5000 - first);
      const part = (a: Float64Array | Uint8Array) =>
        [0, 1, 2].flatMap(d => [...a.subarray(d * 5000 + first, d * 5000 + first + n)]);
      const here = await session.regions({
        ...task,
        count: n,
        centres: Float64Array.from(part(task.centres)),
        levels: Uint8Array.from(part(task.levels)),
      });
      expect(here.values).toEqual(sums.values.slice(first, first + n));
      expect(here.errors).toEqual(sums.errors.slice(first, first + n));
      expect(here.axes).toEqual(sums.axes.slice(first, first + n));
    }
    session.close();
  });
});

describe('the axis to split', () => {
  const axesOf = async (f: Integrand, levels: number[]) => {
    const session = await open(f, levels.length);
    const ranges = levels.map((): [number, number] => [0, 1]);
    const sums = await session.regions({
      rule: ruleFor(levels.length),
      ranges,
      count: 1,
      centres: Float64Array.from(levels, l => 2 ** -l / 2),
      levels: Uint8Array.from(levels),
    });
    session.close();
    return sums.axes[0];
  };
  test('where nothing bends, the widest: of equal ones the first', async () => {
    expect(await axesOf(() => 3, [0, 0, 0])).toBe(0);
    expect(await axesOf(() => 3, [1, 0, 0])).toBe(1);
    expect(await axesOf(() => 3, [1, 1, 0])).toBe(2);
    expect(await axesOf(() => 0, [2, 1, 1, 1])).toBe(1);
  });
  test('the widest as a part of its range: [0, 1000] halved once is narrower than [0, 1]', async () => {
    const session = await open(() => 3, 2);
    const ranges = [
      [0, 1000],
      [0, 1],
    ] as const;
    const task = { rule: ruleFor(2), ranges, count: 1, centres: Float64Array.of(250, 0.5) };
    expect((await session.regions({ ...task, levels: Uint8Array.of(1, 0) })).axes[0]).toBe(1);
    session.close();
  });
  test('rounding is no bend: a linear function is split along its widest axis in all of 300 regions', async () => {
    const session = await open(([x, y, z]) => 0.1 + x / 3 + 0.7 * y - 0.3 * z, 3);
    const task = taskFor(ruleFor(3), 300, 12);
    const { axes } = await session.regions(task);
    for (let i = 0; i < 300; i++) {
      const levels = [0, 1, 2].map(d => task.levels[d * 300 + i]);
      expect(axes[i]).toBe(levels.indexOf(Math.min(...levels)));
    }
    session.close();
  });
  test('the one that bends, however narrow', async () => {
    expect(await axesOf(([, , z]) => 1 / (0.1 + z * z), [0, 0, 2])).toBe(2);
    expect(await axesOf(([, y]) => 1 / (0.1 + y * y), [0, 3, 0])).toBe(1);
  });
});

describe('values that are not finite', () => {
  test('are counted, the first is named, they count as 0; other regions keep their bits', async () => {
    const hole: Integrand = ([x, y]) => (x > 0.9 && y > 0.9 ? Math.sqrt(-x) : 1 / (0.1 + x * x + 3 * y * y));
    let count = 0;
    const filled = ([x, y]: number[]) => {
      if (!(x > 0.9 && y > 0.9)) return 1 / (0.1 + x * x + 3 * y * y);
      count++;
      return 0;
    };
    const task = taskFor(ruleFor(2), 129, 3, 3);
    const session = await open(hole, 2);
    const sums = await session.regions(task);
    expectSame(sums, task, filled);
    expect(count).toBeGreaterThan(100);
    expect(sums.nonFinite!.count).toBe(count);
    const { point, value } = sums.nonFinite!.first;
    expect([point.length, value]).toEqual([2, Number.NaN]);
    expect(Math.min(...point)).toBeGreaterThan(0.9);
    session.close();
  });
  test.each([
    ['Infinity', Infinity],
    ['-Infinity', -Infinity],
  ])('%s at one point of 64 regions: 1', async (_, wanted) => {
    const f: Integrand =
      wanted > 0 ? ([x]) => (x === 0.5 ? 1 / (x - x) ** 2 : 1) : ([x]) => (x === 0.5 ? -1 / (x - x) ** 2 : 1);
    const session = await open(f, 1);
    const task: RegionTask = {
      rule: ruleFor(1),
      ranges: [[0, 64]],
      count: 64,
      centres: Float64Array.from({ length: 64 }, (_, i) => i + 0.5),
      levels: new Uint8Array(64).fill(6),
    };
    expect((await session.regions(task)).nonFinite).toEqual({
      count: 1,
      first: { point: [0.5], value: wanted },
    });
    session.close();
  });
  test.each([1e-300, 1, 1e300])(
    'values of %d keep their digits beside one that is not finite',
    async size => {
      const hole: Integrand = ([x]) => (x === 0 ? Math.sqrt(-1 - x) : 1 / (2 + x));
      const program = lower(
        read((([x]: number[], p: { size: number }) =>
          x === 0 ? Math.sqrt(-1 - x) : p.size / (2 + x)) as never),
        1,
        { size },
      );
      const [session, one] = [
        await device.open({ kind: 'program', program, params: bind(program.params, { size }) }),
        await open(hole, 1),
      ];
      const task: RegionTask = {
        rule: ruleFor(1),
        ranges: [[-1, 1]],
        count: 3,
        centres: Float64Array.of(0, -0.5, 0.5),
        levels: Uint8Array.of(0, 1, 1),
      };
      const [sums, wanted] = [await session.regions(task), await one.regions(task)];
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
    const sums = await session.regions({
      rule: ruleFor(5),
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
    const task = { rule: ruleFor(3), ranges, count: 1, levels: new Uint8Array(3) };
    const { values } = await session.regions({ ...task, centres: Float64Array.from(ranges, r => r[1] / 2) });
    const volume = ranges[0][1] * ranges[2][1] * ranges[1][1];
    expect(Math.abs(values[0] / volume - 1)).toBeLessThan(1e-13);
    session.close();
  });
});

describe('a session', () => {
  const program = lower(read((([x]: number[], p: { a: number }) => p.a * x * x) as never), 1, { a: 1 });
  const withA = (a: number): DeviceIntegrand => ({
    kind: 'program',
    program,
    params: bind(program.params, { a }),
  });
  const line = (count: number): RegionTask => ({
    rule: ruleFor(1),
    ranges: [[0, 1]],
    count,
    centres: new Float64Array(count).fill(0.5),
    levels: new Uint8Array(count),
  });
  test.each([1, 10_000])('takes other params from the next task on: %i regions', async count => {
    const session = await device.open(withA(1));
    for (const a of [1, 6, -3]) {
      await session.rebind(withA(a));
      const { values } = await session.regions(line(count));
      expect(values.every(v => Math.abs(v - a / 3) < 1e-14 * Math.abs(a))).toBe(true);
    }
    session.close();
  });
  test('changes from one rule and box to another', async () => {
    const session = await open(bent, 3);
    for (const name of ['degree11', 'degree7', 'genz-malik', 'degree11'] as const) {
      const task = taskFor(ruleFor(3, name), 5, 4);
      expectSame(await session.regions(task), task, bent);
    }
    const task = {
      ...taskFor(ruleFor(3), 5, 4),
      ranges: [
        [-2, 2],
        [-2, 2],
        [-2, 2],
      ] as const,
    };
    expectSame(await session.regions(task), task, bent);
    session.close();
  });
  test('rejects with the reason of its signal', async () => {
    const session = await open(bent, 3);
    const why = new Error('enough');
    const run = session.regions({ ...taskFor(ruleFor(3), 5, 4), signal: AbortSignal.abort(why) });
    await expect(run).rejects.toBe(why);
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
