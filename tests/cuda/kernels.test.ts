/** Every kernel on the emulated card against the CPU device, which has tests of its own. */
import { afterAll, describe, expect, test } from 'vitest';
import { CpuDevice } from '../../src/devices/cpu/cpu.ts';
import { CudaDevice } from '../../src/devices/cuda/cuda.ts';
import type { Device, Session } from '../../src/devices/device.ts';
import { HostPool } from '../../src/tasks/pool/host-pool.ts';
import { RULES, ruleFor } from '../../src/tasks/rules.ts';
import { cube } from '../integrands/entry.ts';
import { tabulated } from '../integrands/tabulated.ts';
import { expectSameRegions, expectSameSums } from './compare.ts';
import { absent } from './emulated.ts';
import { integrandOf, named, regionTask, type Subject, sampleTask, sampleTasks } from './tasks.ts';

const cpu = new CpuDevice(2);
let card: Device | undefined;
afterAll(() => cpu.close());

/** The same on both. */
async function onBoth<T>(subject: Subject, use: (session: Session) => Promise<T>): Promise<[T, T]> {
  card ??= new CudaDevice(0);
  const sessions = [await card.open(integrandOf(subject)), await cpu.open(integrandOf(subject))];
  try {
    return [await use(sessions[0]), await use(sessions[1])];
  } finally {
    for (const s of sessions) s.close();
  }
}

/** A scale for the squares of weights with which their sum is around 2^40. */
async function scaleFor(subject: Subject): Promise<number> {
  const session = await cpu.open(integrandOf(subject));
  const { sum, variance } = await session.sample(sampleTask(subject.domain, 1, 20_000, 1));
  session.close();
  return 2 ** (40 - Math.ceil(Math.log2(sum ** 2 + 20_000 * variance || 1)));
}

// biome-ignore format: one family a line
const SUBJECTS = [
  'f1_5', 'f2_3', 'f3_3', 'f4_5', 'f5_8', 'f6_6', 'f7_8', 'f8_8',
  'sine_exponential_2', 'cosine_10', 'roos_arnold_10', 'morokoff_caflisch_8', 'gaussian_4', 'ridge_4',
  'asian_geometric_16', 'path_integral_7', 'fA_6', 'fB_9',
];
const peak: Subject = {
  dims: 3,
  domain: cube(3),
  f: ([x, y, z]) => Math.exp(-20 * ((x - 0.3) ** 2 + (y - 0.6) ** 2)) * (1 + z),
};

describe.skipIf(absent)('samples: sums, variances, cubes and histogram within 1e-11', () => {
  test.each([...SUBJECTS.map(named), tabulated])('$name', async e => {
    const scale = await scaleFor(e);
    for (const task of sampleTasks(e, scale)) expectSameSums(...(await onBoth(e, s => s.sample(task))));
  });
  test('counters that do not fit into shared memory, and edges that do not either', async () => {
    for (const bins of [6000, 12_000]) {
      const task = sampleTask(peak.domain, 2, 300, bins, { adapt: { scale: 2 ** 10, variances: true } });
      expectSameSums(...(await onBoth(peak, s => s.sample(task))));
    }
  });
  test('counters of more than 32 bits', async () => {
    const task = sampleTask(peak.domain, 1, 3000, 8, { adapt: { scale: 2 ** 40, variances: true } });
    expectSameSums(...(await onBoth(peak, s => s.sample(task))));
  });
  test('the smallest task, and runs of several pieces a thread', async () => {
    const small = { ...peak, dims: 1, domain: cube(1), f: ([x]: number[]) => x * x };
    expectSameSums(...(await onBoth(small, s => s.sample(sampleTask(small.domain, 1, 2, 1)))));
    const long = sampleTask(peak.domain, 60, 2, 16, { adapt: { scale: 1, variances: true } });
    expectSameSums(...(await onBoth(peak, s => s.sample(long))));
  });
  test('values that are not finite are counted, and the first is named with its point', async () => {
    const holes: Subject = { dims: 2, domain: cube(2), f: ([x, y]) => (x > 0.9 ? x / 0 : y) };
    const uneven = Uint32Array.from({ length: 9 }, (_, i) => 2 + 100 * i);
    for (const counts of [500, uneven]) {
      const [own, want] = await onBoth(holes, s => s.sample(sampleTask(holes.domain, 3, counts, 10)));
      expect(own.nonFinite).toEqual(want.nonFinite);
      expect(own.nonFinite!.first.value).toBe(Infinity);
    }
  });
});

describe.skipIf(absent)('regions: values within 1e-12 of the largest, errors within 1e-9', () => {
  test.each([...SUBJECTS.map(named), tabulated].filter(e => e.dims <= 12))('$name', async e => {
    expectSameRegions(...(await onBoth(e, s => s.regions(regionTask(e)))));
  });
  test.each(RULES)('%s', async name => {
    const dims = { degree13: 2, degree11: 3, 'gauss-kronrod': 1 }[name as string] ?? 4;
    const f = (x: number[]) => Math.exp(-x.reduce((s, v) => s + (v - 0.3) ** 2, 0)) + x[0];
    const subject: Subject = { dims, domain: cube(dims, -1, 2), f };
    const [own, want] = await onBoth(subject, s => s.regions(regionTask(subject, ruleFor(dims, name))));
    expectSameRegions(own, want);
    expect(own.axes).toEqual(want.axes);
  });
  test('values that are not finite are counted, and the first is named with its point', async () => {
    const hole: Subject = { dims: 2, domain: cube(2), f: ([x, y]) => (x > 0.4 && x < 0.6 ? 0 / (x - x) : y) };
    const [own, want] = await onBoth(hole, s => s.regions(regionTask(hole)));
    expect(own.nonFinite!.count).toBe(want.nonFinite!.count);
    const { point, value } = own.nonFinite!.first;
    expect(value).toBeNaN();
    expect(point[0]).toBeGreaterThan(0.4);
    expect(point[0]).toBeLessThan(0.6);
  });
  test.each([1, 2, 3, 8, 13, 17])('in %i dimensions, the axis to split too, the last one', async dims => {
    const f = (x: number[]) => x.reduce((s, v, d) => s + (d + 1) * Math.exp(-(v - 0.3) * (v - 0.3)), 0);
    const subject: Subject = { dims, domain: cube(dims, -1, 2), f };
    const task = regionTask(subject, ruleFor(dims), 2);
    task.levels.fill(1);
    task.centres.fill(-0.25);
    const [own, want] = await onBoth(subject, s => s.regions(task));
    expectSameRegions(own, want);
    expect(own.axes).toEqual(want.axes);
    expect([...own.axes]).toEqual([dims - 1, dims - 1]);
  });
  test.each([1, 2, 3, 5])('none is evaluated outside a domain of %i dimensions', async dims => {
    const domain = Array.from({ length: dims }, (): [number, number] => [0.1, 0.7]);
    const f = (x: number[]) => (x.every(v => v >= 0.1 && v <= 0.7) ? x[0] : 0 / (x[0] - x[0]));
    const task = regionTask({ dims, domain }, ruleFor(dims), 2);
    const half = 0.3 * 2 ** -51;
    task.levels.fill(51);
    task.centres.forEach((_, i) => {
      task.centres[i] = i % 2 === 0 ? 0.1 : 0.7;
    });
    const most = Math.max(...ruleFor(dims).orbits.flatMap(o => o.generator));
    expect(0.7 + half * most).toBeGreaterThan(0.7);
    const [own, want] = await onBoth({ dims, domain, f }, s => s.regions(task));
    expect(own.nonFinite).toBe(null);
    expectSameRegions(own, want);
  });
  test('values whose sum over points would overflow', async () => {
    const huge: Subject = { dims: 10, domain: cube(10), f: x => 1e307 * (x[0] + x[9]) };
    const [own, want] = await onBoth(huge, s => s.regions(regionTask(huge, ruleFor(10), 3)));
    expect(want.values.every(v => v > 0 && v < Infinity)).toBe(true);
    expectSameRegions(own, want);
  });
  test('a region has the same bits alone and in a list, and is heard of once', async () => {
    const hole: Subject = { ...peak, f: ([x, y, z]) => (x > 0.6 ? 0 / (x - x) : Math.exp(x * y) + z) };
    const task = regionTask(hole);
    const at = (i: number): typeof task => {
      const of = <L extends Float64Array | Uint8Array>(list: L) => list.filter((_, k) => k % 37 === i) as L;
      return { ...task, count: 1, centres: of(task.centres), levels: of(task.levels) };
    };
    const [together] = await onBoth(hole, s => s.regions(task));
    let wrong = 0;
    for (const i of [0, 1, 17, 36]) {
      const [own, want] = await onBoth(hole, s => s.regions(at(i)));
      expect([own.values[0], own.errors[0], own.axes[0]]).toEqual([
        together.values[i],
        together.errors[i],
        together.axes[i],
      ]);
      expect(own.nonFinite?.count).toBe(want.nonFinite?.count);
      wrong += own.nonFinite?.count ?? 0;
    }
    expect(wrong).toBeGreaterThan(0);
  });
});

describe.skipIf(absent)('a pool: sums of the CPU', () => {
  // up to 1024 pairs of regions have a block each, more a warp each
  test.each([
    ['one region, and its halves', 0],
    ['1024 regions, and 1024 pairs of halves', 5],
    ['4096 regions', 6],
  ])('%s', async (_, level) => {
    const wave: Subject = { dims: 2, domain: cube(2, -1, 2), f: ([x, y]) => Math.cos(400 * x * y) + y };
    const [own, want] = await onBoth(wave, async session => {
      const task = { rule: ruleFor(2), ranges: wave.domain };
      const pool = (await session.pool?.(task)) ?? new HostPool(session, task);
      await pool.start(level);
      const sums = [pool.sums];
      await pool.select(Infinity);
      await pool.halve(Infinity);
      sums.push(pool.sums);
      pool.close();
      return sums;
    });
    own.forEach((sums, i) => {
      const { value, error, absolute } = want[i];
      expect(Math.abs(sums.value - value)).toBeLessThan(1e-12 * absolute);
      expect(Math.abs(sums.error - error)).toBeLessThan(1e-9 * error + 1e-12 * absolute);
    });
  });
});

describe.skipIf(absent)('what an iteration learned decides the next one as on the CPU', () => {
  /** Samples, allots by variance, samples again. */
  const twice = (perAxis: number, evaluations: number, beta: number) => async (session: Session) => {
    const adapt = { scale: 2 ** 20, variances: 'keep' } as const;
    await session.sample(sampleTask(peak.domain, perAxis, 4, 16, { adapt }));
    const counts = await session.allocate(beta, evaluations);
    return await session.sample(
      sampleTask(peak.domain, perAxis, counts, 16, { iteration: 4, adapt: { scale: 1, variances: true } }),
    );
  };
  test.each([
    ['27 cubes', 3, 20_000, 0.75],
    ['27 cubes, with a power of its own', 3, 20_000, 1],
    ['2197 cubes', 13, 50_000, 0.75],
    ['32768 cubes', 32, 200_000, 0.75],
    ['8 cubes with tens of thousands of samples', 2, 300_000, 0.75],
  ])('%s', async (_, perAxis, evaluations, beta) => {
    expectSameSums(...(await onBoth(peak, twice(perAxis, evaluations, beta))));
  });
  test('in whatever order threads run, to the bit', async () => {
    const [forwards] = await onBoth(peak, twice(32, 200_000, 0.75));
    process.env.QUADRILLE_EMULATOR_BACKWARDS = '1';
    const [backwards] = await onBoth(peak, twice(32, 200_000, 0.75));
    delete process.env.QUADRILLE_EMULATOR_BACKWARDS;
    expect(backwards).toEqual(forwards);
  });
  test.each([
    ['the α of VEGAS+', 100, { alpha: 0.5, floor: 0.99, shared: false }],
    ['α 1, bins for several rounds of a block', 2500, { alpha: 1, floor: 0.9, shared: false }],
    ['one map for all axes', 64, { alpha: 0.5, floor: 1, shared: true }],
    ['an α of its own', 64, { alpha: 0.7, floor: 0.99, shared: false }],
    ['a single bin', 1, { alpha: 0.5, floor: 0.99, shared: false }],
  ] as const)('the map is refined as there, within 1e-11: %s', async (_, bins, how) => {
    const adapt = { scale: 2 ** 20, histogram: 'keep', variances: false } as const;
    const refined = async (session: Session) => {
      await session.sample(sampleTask(peak.domain, 3, 500, bins, { adapt }));
      return await session.edgesOf(await session.refine(how));
    };
    const [own, want] = await onBoth(peak, refined);
    expect(own.length).toBe(want.length);
    expect(Math.max(...want.map((v, i) => Math.abs(v - own[i])))).toBeLessThan(1e-11);
  });
  test('where all variances are 0, every cube has its share', async () => {
    const flat: Subject = { dims: 3, domain: cube(3), f: () => 2 };
    expectSameSums(...(await onBoth(flat, twice(3, 1000, 0.75))));
  });
});
