/** What a session adds up is what the plain reference adds up, and a device that fails or is closed says so. */
import { afterAll, describe, expect, test } from 'vitest';
import { CpuDevice } from '../../src/devices/cpu/cpu.ts';
import type { DeviceIntegrand, SampleSums, SampleTask } from '../../src/devices/device.ts';
import { type Integrand, lowerFor } from './program.ts';
import { reference } from './reference.ts';

const device = new CpuDevice(2);
afterAll(() => device.close());

const polynomial: Integrand = (x: number[]) => {
  let s = 0.5;
  for (let i = 0; i < x.length; i++) s += (i + 1) * x[i] * x[i] - 0.25 * x[i];
  return s;
};

/** A task with a map that is different on every axis, narrow below and wide above. */
function taskFor(
  strata: number[],
  counts: number | Uint32Array,
  bins: number,
  over: Partial<SampleTask> = {},
) {
  const edges = new Float64Array(strata.length * (bins + 1));
  strata.forEach((_, d) => {
    for (let i = 0; i <= bins; i++)
      edges[d * (bins + 1) + i] = -1 - d + (3 + d) * (i / bins) ** (1.25 + d / 4);
  });
  const task: SampleTask = {
    key: [0x1234_5678, 0x9abc_def0],
    iteration: 3,
    stream: 0,
    bins,
    edges,
    strata,
    counts,
    unit: 1,
    adapt: { scale: 2 ** 20, variances: true },
    ...over,
  };
  return task;
}

/** So many cubes with between `low` and `high` samples, in no order; and `large`, a cube and its samples. */
function countsFor(cubes: number, low: number, high: number, large: Record<number, number> = {}) {
  const counts = Uint32Array.from({ length: cubes }, (_, i) => low + ((i * 7919) % (high - low + 1)));
  for (const [cube, n] of Object.entries(large)) counts[Number(cube)] = n;
  return counts;
}

function expectClose(actual: number, wanted: number, scale = Math.abs(wanted)) {
  expect(Math.abs(actual - wanted), `${actual} is ${wanted}`).toBeLessThanOrEqual(1e-12 * scale);
}

function expectSame(actual: SampleSums, wanted: SampleSums) {
  expect(actual.evaluations).toBe(wanted.evaluations);
  expectClose(actual.sum, wanted.sum);
  expectClose(actual.variance, wanted.variance);
  expectClose(actual.concentration, wanted.concentration);
  for (const part of ['variances', 'means', 'histogram'] as const) {
    const [own, want] = [actual[part], wanted[part]];
    expect(own?.length).toBe(want?.length);
    if (!own || !want) continue;
    const most = want.reduce((a, b) => Math.max(a, Math.abs(b)), 0);
    const wrong = want.findIndex((v, i) => {
      const scale = part === 'histogram' ? Math.max(1, v) : most;
      return !(Math.abs(own[i] - v) <= 1e-12 * scale);
    });
    expect(wrong, `${part}[${wrong}]: ${own[wrong]} is ${want[wrong]}`).toBe(-1);
  }
}

describe('sums, variances and histogram are those of the reference, to 1e-12', () => {
  test.each<[string, SampleTask]>([
    ['1 dimension, no strata', taskFor([1], 1000, 50)],
    ['1 dimension, 7 strata of 2', taskFor([7], 2, 50)],
    ['1 dimension, 1 bin', taskFor([5], 20, 1)],
    ['1 dimension, more strata than bins', taskFor([1000], 3, 16)],
    ['1 dimension, 65536 bins', taskFor([3], 100, 65_536)],
    ['4 dimensions, counts of 5', taskFor([3, 1, 2, 5], 5, 32)],
    ['4 dimensions, counts of their own', taskFor([3, 1, 2, 5], countsFor(30, 2, 40), 32)],
    ['5 dimensions, strata 3 1 2 5 2', taskFor([3, 1, 2, 5, 2], 3, 100)],
    ['5 dimensions, counts of their own', taskFor([3, 1, 2, 5, 2], countsFor(60, 2, 300), 100)],
    ['9 dimensions', taskFor([2, 1, 1, 3, 1, 2, 1, 1, 2], 7, 20)],
    ['9 dimensions, counts of their own', taskFor([2, 1, 1, 3, 1, 2, 1, 1, 2], countsFor(24, 2, 90), 20)],
    ['32 dimensions', taskFor(Array(32).fill(1), 300, 8)],
    ['another iteration and stream', taskFor([3, 4], 5, 10, { iteration: 77, stream: 1 })],
    [
      'a unit of 2^-40',
      taskFor([3, 4], 50, 10, { unit: 2 ** -40, adapt: { scale: 2 ** -50, variances: true } }),
    ],
    ['a histogram in large numbers', taskFor([3, 4], 50, 10, { adapt: { scale: 2 ** 30, variances: true } })],
    ['a histogram in small numbers', taskFor([3, 4], 50, 10, { adapt: { scale: 1, variances: true } })],
    ['cubes of 255 to 259 samples', taskFor([5], Uint32Array.of(255, 256, 257, 258, 259), 64)],
    ['cubes of 511 to 515 samples', taskFor([5], Uint32Array.of(511, 512, 513, 514, 515), 64)],
    ['an odd cube that fills a batch', taskFor([5, 1], Uint32Array.of(3, 253, 2, 2, 2), 64)],
    ['an odd cube that fills a batch, same strata', taskFor([2, 2], Uint32Array.of(3, 253, 9, 9), 64)],
    ['every cube has 257 samples', taskFor([3, 2], 257, 64)],
    ['every cube has more samples than a chunk', taskFor([2, 2], 5000, 64)],
    ['cubes around the size of a chunk', taskFor([5], Uint32Array.of(4095, 4096, 4097, 4098, 8193), 64)],
    ['a large cube among small ones', taskFor([3, 1, 2, 5, 2], countsFor(60, 2, 20, { 17: 70_001 }), 100)],
    [
      'a large cube first and another last',
      taskFor([4, 3], countsFor(12, 2, 20, { 0: 40_000, 11: 66_000 }), 64),
    ],
    ['one cube of 150000', taskFor([1, 1, 1, 1], 150_000, 64)],
    ['40000 cubes of 2', taskFor([20, 20, 10, 10], 2, 64)],
    ['40000 cubes of their own', taskFor([20, 20, 10, 10], countsFor(40_000, 2, 5), 64)],
  ])('%s', async (_, task) => {
    const session = await device.open(lowerFor(polynomial, task.strata.length));
    const wanted = reference(task, polynomial as (x: number[]) => number);
    expectSame(await session.sample(task), wanted);
    const mapOnly = await session.sample({ ...task, adapt: { ...task.adapt!, variances: false } });
    expectSame(mapOnly, { ...wanted, variances: null });
    const frozen = await session.sample({ ...task, adapt: null });
    expectSame(frozen, { ...wanted, histogram: null, variances: null });
    const cubes = { ...task, adapt: null, cubes: true };
    expectSame(await session.sample(cubes), reference(cubes, polynomial as never));
    session.close();
  });

  test('one session with maps of more and of fewer bins, one after the other', async () => {
    const session = await device.open(lowerFor(polynomial, 2));
    for (const bins of [64, 2000, 10, 3000, 64]) {
      const task = taskFor([3, 4], 30, bins);
      expectSame(await session.sample(task), reference(task, polynomial as (x: number[]) => number));
    }
    session.close();
  });
});

test('the variance of a cube of 10000 samples is that of all its samples, to 1 %', async () => {
  const task = taskFor([1, 1], 10_000, 64);
  const values: number[] = [];
  reference(task, polynomial as (x: number[]) => number, w => values.push(w));
  const mean = values.reduce((a, b) => a + b, 0) / values.length;
  const variance = values.reduce((s, w) => s + (w - mean) ** 2, 0) / (values.length - 1);
  const session = await device.open(lowerFor(polynomial, 2));
  const sums = await session.sample(task);
  expectClose(sums.sum, mean);
  expect(sums.variances![0] / variance).toBeCloseTo(1, 2);
  expect(sums.variance).toBeCloseTo(sums.variances![0] / 10_000, 12);
  session.close();
});

describe('values that are not finite', () => {
  const holes: Integrand = ([x, y]) => (x > 0.5 ? Math.sqrt(y) : x < -0.9 ? 1 / (x - x) : 1);
  test.each<[string, SampleTask]>([
    ['on the calling thread', taskFor([3, 4], 50, 10)],
    ['by workers', taskFor([30, 40], 100, 10)],
  ])('are counted, taken as 0, and the first by sample is shown: %s', async (_, task) => {
    const session = await device.open(lowerFor(holes, 2));
    const wanted = reference(task, holes as (x: number[]) => number);
    for (let i = 0; i < 3; i++) {
      const sums = await session.sample(task);
      expectSame(sums, wanted);
      expect(sums.nonFinite?.count).toBe(wanted.nonFinite!.count);
      expect(sums.nonFinite?.first.point).toEqual(wanted.nonFinite!.first.point);
      expect(sums.nonFinite?.first.value).toBe(wanted.nonFinite!.first.value);
    }
    session.close();
  });
});

/** An integrand that is called as it is, by workers when it comes with its text. */
const plain = (f: (x: number[]) => number, text?: string): DeviceIntegrand => ({
  kind: 'function',
  dims: 1,
  call: text ? { f, moved: { text, params: {} } } : { f },
});
const large = () => taskFor([1], 2 ** 21, 10, { adapt: null });

describe('failure', () => {
  test('an integrand that throws on the calling thread rejects with its error', async () => {
    const own = new CpuDevice(1);
    const boom = new RangeError('boom at x');
    const session = await own.open(
      plain(() => {
        throw boom;
      }),
    );
    await expect(session.sample(taskFor([1], 10, 10))).rejects.toBe(boom);
    await own.close();
  });
  test('an integrand that throws in a worker rejects with its message', async () => {
    const own = new CpuDevice(2);
    const session = await own.open(plain(() => 1, "() => { throw new RangeError('boom in a worker') }"));
    await expect(session.sample(large())).rejects.toThrow(/boom in a worker/);
    await own.close();
  });
  test('a device goes on after an integrand threw', async () => {
    const own = new CpuDevice(2);
    const bad = await own.open(plain(() => 1, "() => { throw new Error('boom') }"));
    await bad.sample(large()).catch(() => {});
    bad.close();
    const good = await own.open(lowerFor(polynomial, 1));
    expect((await good.sample(large())).evaluations).toBe(2 ** 21);
    await own.close();
  });
  test('a worker that dies rejects with the cause', async () => {
    const own = new CpuDevice(2);
    const session = await own.open(plain(() => 1, '() => process.exit(3)'));
    await expect(session.sample(large())).rejects.toThrow(/a worker died: it ended with code 3/);
    await own.close();
  });
  test('a device whose worker died says so, or works; it gives no wrong sums', async () => {
    const own = new CpuDevice(1);
    const bad = await own.open(plain(() => 1, '() => process.exit(3)'));
    await bad.sample(large()).catch(() => {});
    const good = await own.open(lowerFor(polynomial, 1));
    const outcome = await good.sample(large()).catch(e => e as Error);
    if (outcome instanceof Error) expect(outcome.message).toMatch(/a worker died/);
    else expect(outcome.evaluations).toBe(2 ** 21);
    await own.close();
  });
});

describe('abort', () => {
  test('a signal that is aborted already rejects with its reason', async () => {
    const session = await device.open(lowerFor(polynomial, 1));
    const signal = AbortSignal.abort(new Error('no more'));
    await expect(session.sample({ ...large(), signal })).rejects.toThrow('no more');
  });
  test('a signal aborted while workers are at work rejects with its reason, and the session works on', async () => {
    const session = await device.open(lowerFor(polynomial, 1));
    const controller = new AbortController();
    const run = session.sample({ ...taskFor([1], 2 ** 26, 10), signal: controller.signal });
    setTimeout(() => controller.abort(new Error('no more')), 20);
    await expect(run).rejects.toThrow('no more');
    const task = taskFor([5], 20_000, 10);
    expectSame(await session.sample(task), reference(task, polynomial as (x: number[]) => number));
    session.close();
  });
});

describe('closing', () => {
  test('a closed device opens nothing', async () => {
    const own = new CpuDevice(1);
    await own.close();
    await expect(own.open(lowerFor(polynomial, 1))).rejects.toThrow(
      'the device cpu:1 is closed; open a new one',
    );
  });
  test('closing twice is no mistake', async () => {
    const own = new CpuDevice(1);
    await own.close();
    await expect(own.close()).resolves.toBeUndefined();
  });
  test('closing while workers are at work rejects', async () => {
    const own = new CpuDevice(2);
    const session = await own.open(lowerFor(polynomial, 1));
    await own.firstWorker();
    const run = session.sample(taskFor([1], 2 ** 26, 10, { adapt: null }));
    setTimeout(() => own.close(), 20);
    await expect(run).rejects.toThrow(/closed/);
  });
  test('closing while workers are starting rejects', async () => {
    const own = new CpuDevice(2);
    const session = await own.open(lowerFor(polynomial, 1));
    const run = session.sample(taskFor([1], 2 ** 27, 10, { adapt: null }));
    run.catch(() => {});
    await new Promise(resolve => setTimeout(resolve, 1));
    await own.close();
    await expect(run).rejects.toThrow(/closed/);
  });
  test.each([
    ['small', 100],
    ['large', 2 ** 20],
  ])('a session of a closed device rejects a %s task', async (_, n) => {
    const own = new CpuDevice(2);
    const session = await own.open(lowerFor(polynomial, 1));
    await own.close();
    await expect(session.sample(taskFor([1], n, 10))).rejects.toThrow(/closed/);
  });
});
