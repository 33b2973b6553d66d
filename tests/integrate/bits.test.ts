/** The same seed gives the same bits, whoever computes: workers of any number, the calling thread, one run after another. */
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { CpuDevice } from '../../src/devices/cpu/cpu.ts';
import type { Integrand } from '../../src/integrand/compile.ts';
import { integrate } from '../../src/integrate.ts';
import type { IntegrateOptions, MethodName } from '../../src/problem.ts';

const oscillating: Integrand = ([x, y, z]) => Math.cos(3 * x + y) * Math.exp(-z) + x * y;

/** A Gaussian of width 0.005 within one cube: VEGAS+ gives that cube most of its samples. */
const peak: Integrand = (x: number[]) => {
  let s = 0;
  for (let i = 0; i < x.length; i++) s += (x[i] - 0.31) ** 2;
  return Math.exp(-20_000 * s);
};

/** Everything that a run found, to the last bit. */
async function bits(f: Integrand, options: IntegrateOptions) {
  const { value, error, chi2, q, evaluations, iterations, status, seed } = await integrate(f, options);
  return { value, error, chi2, q, evaluations, iterations, status, seed };
}

const fixed = { evaluations: 150_000, iterations: 4, adapt: 2 };
const methods: MethodName[] = ['plain', 'mcubes', 'mcubes1d', 'vegas+'];

describe.each(methods)('%s', method => {
  const options: IntegrateOptions = { dims: 3, method, relTol: 0, vegas: fixed };
  let one: Awaited<ReturnType<typeof bits>>;
  beforeAll(async () => {
    one = await bits(oscillating, { ...options, device: 'cpu:1' });
  });
  test('has four iterations, each large enough for workers', () => {
    expect(one.iterations.map(i => i.evaluations > 65_536)).toEqual([true, true, true, true]);
    expect(one.error).toBeGreaterThan(0);
  });
  test.each(['cpu:2', 'cpu:3', 'cpu:7', 'cpu', 'auto'])('%s gives the bits of cpu:1', async device => {
    expect(await bits(oscillating, { ...options, device })).toStrictEqual(one);
  });
  test('again gives the same bits', async () => {
    expect(await bits(oscillating, { ...options, device: 'cpu:1' })).toStrictEqual(one);
  });
  test('another seed gives other values', async () => {
    const other = await bits(oscillating, { ...options, seed: 2 });
    expect(other.value).not.toBe(one.value);
    expect(other.iterations.every((it, i) => it.value !== one.iterations[i].value)).toBe(true);
  });
});

describe('a cube with most of the samples', () => {
  const options: IntegrateOptions = {
    dims: 4,
    method: 'vegas+',
    relTol: 0,
    // few strata and a map that hardly moves: the peak stays in its cube
    vegas: { evaluations: 200_000, iterations: 4, adapt: 3, alpha: 0.01, beta: 1, maxStrata: 16 },
  };
  let largest = 0;
  beforeAll(async () => {
    const device = new CpuDevice(1);
    const open = device.open.bind(device);
    device.open = async integrand => {
      const session = await open(integrand);
      const sample = session.sample.bind(session);
      session.sample = async (task, ...rest) => {
        const { counts } = task as { counts: { each?: Uint32Array } };
        if (counts.each) largest = Math.max(largest, ...counts.each);
        return sample(task, ...rest);
      };
      return session;
    };
    await integrate(peak, { ...options, device });
    await device.close();
  });
  test('is larger than a chunk', () => expect(largest).toBeGreaterThan(100_000));
  test('gives the same bits for 1, 2, 3 and 7 workers', async () => {
    const one = await bits(peak, { ...options, device: 'cpu:1' });
    for (const device of ['cpu:2', 'cpu:3', 'cpu:7'])
      expect(await bits(peak, { ...options, device })).toStrictEqual(one);
  });
});

test('a run that grows until its tolerance is met gives the same bits for 1 and 3 workers', async () => {
  const options: IntegrateOptions = { dims: 4, relTol: 3e-4, maxEvaluations: 2e6 };
  const one = await bits(peak, { ...options, device: 'cpu:1' });
  expect(one.iterations.some(i => i.evaluations > 65_536)).toBe(true);
  expect(await bits(peak, { ...options, device: 'cpu:3' })).toStrictEqual(one);
});

test('two runs at once on one device do not disturb each other', async () => {
  const runs = [1, 2].map(seed => ({ dims: 3, relTol: 0, vegas: fixed, seed }));
  const alone = [await bits(oscillating, runs[0]), await bits(oscillating, runs[1])];
  expect(await Promise.all(runs.map(o => bits(oscillating, o)))).toStrictEqual(alone);
});

test('an infinite range gives the same bits for 1 and 3 workers', async () => {
  const options: IntegrateOptions = {
    domain: [
      [0, 1],
      [-Infinity, Infinity],
    ],
    relTol: 0,
    vegas: fixed,
  };
  const f: Integrand = ([x, y]) => Math.exp(-x * y * y);
  const one = await bits(f, { ...options, device: 'cpu:1' });
  expect(await bits(f, { ...options, device: 'cpu:3' })).toStrictEqual(one);
});

describe('seeds', () => {
  const run = (seed?: number | bigint) =>
    bits(oscillating, {
      dims: 3,
      vegas: { evaluations: 2000, iterations: 3 },
      ...(seed === undefined ? {} : { seed }),
    });
  test('a number and a bigint agree', async () => {
    expect(await run(12_345)).toStrictEqual(await run(12_345n));
    expect(await run(-7)).toStrictEqual(await run(-7n));
  });
  test('the default is 1', async () => expect(await run()).toStrictEqual(await run(1)));
  test('values differ for 64 seeds, also for those that differ in the upper 32 bits alone', async () => {
    const seeds = Array.from({ length: 32 }, (_, i) => [BigInt(i), BigInt(i) << 32n])
      .flat()
      .slice(1);
    const values = await Promise.all(seeds.map(async s => (await run(s)).value));
    expect(new Set(values).size).toBe(63);
  });
});

describe("device: 'js'", () => {
  test.each(methods)('%s gives the bits of cpu for a polynomial', async method => {
    const f: Integrand = ([x, y, z]) => 1 + x * x * y - 3 * z * (x - y) + z * z * z * 0.125;
    const options: IntegrateOptions = {
      domain: [
        [0, 1],
        [-2, 3],
        [1, 0],
      ],
      method,
      vegas: { evaluations: 20_000, iterations: 4, adapt: 2 },
    };
    expect(await bits(f, { ...options, device: 'js' })).toStrictEqual(await bits(f, options));
  });
});

const messages = vi.spyOn(console, 'error');
afterAll(() => expect(messages).not.toHaveBeenCalled());
