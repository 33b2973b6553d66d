/** Devices with workers: what fails, is aborted or closed says so, and leaves the others alone. */
import { afterAll, describe, expect, test } from 'vitest';
import { CpuDevice } from '../../src/devices/cpu/cpu.ts';
import { WorkerPool } from '../../src/devices/cpu/worker-pool.ts';
import { JsDevice } from '../../src/devices/js/js.ts';
import type { SampleTask } from '../../src/tasks/sample.ts';
import { type Integrand, lowerFor, plainFor } from './program.ts';
import { sampled } from './whole.ts';

const device = new CpuDevice(2);
afterAll(() => device.close());

const polynomial: Integrand = ([x]) => 0.5 + x * x - 0.25 * x;

/** An iteration over [0, 1] with so many samples in each stratum. */
const taskFor = (
  strata: number[],
  counts: number,
  bins: number,
  over: Partial<SampleTask> = {},
): SampleTask => ({
  key: [1, 2],
  iteration: 3,
  stream: 0,
  bins,
  edges: Float64Array.from({ length: bins + 1 }, (_, i) => i / bins),
  strata,
  counts,
  unit: 1,
  adapt: { scale: 1, variances: true },
  ...over,
});

/** An integrand that is called as it is, by workers when it comes with its text. */
const plain = (f: (x: number[]) => number, text?: string) => plainFor(f, 1, {}, text);
const large = () => taskFor([1], 2 ** 21, 10, { adapt: null });

describe('failure', () => {
  test('an integrand that throws on the calling thread rejects with its error', async () => {
    const own = new JsDevice(1);
    const boom = new RangeError('boom at x');
    const session = await own.open(
      plain(() => {
        throw boom;
      }),
    );
    await expect(sampled(session, taskFor([1], 10, 10))).rejects.toBe(boom);
    await own.close();
  });
  test('an integrand that throws in a worker rejects with its message', async () => {
    const own = new JsDevice(2);
    const session = await own.open(plain(() => 1, "() => { throw new RangeError('boom in a worker') }"));
    await expect(sampled(session, large())).rejects.toThrow(/boom in a worker/);
    await own.close();
  });
  test('a device goes on after an integrand threw', async () => {
    const pool = new WorkerPool('cpu', 2);
    const [js, own] = [new JsDevice(pool), new CpuDevice(pool)];
    const bad = await js.open(plain(() => 1, "() => { throw new Error('boom') }"));
    await sampled(bad, large()).catch(() => {});
    bad.close();
    const good = await own.open(lowerFor(polynomial, 1));
    expect((await sampled(good, large())).evaluations).toBe(2 ** 21);
    await own.close();
  });
  test('a worker that dies rejects with the cause', async () => {
    const own = new JsDevice(2);
    const session = await own.open(plain(() => 1, '() => process.exit(3)'));
    await expect(sampled(session, large())).rejects.toThrow(/a worker died: it ended with code 3/);
    await own.close();
  });
  test('a device whose worker died says so, or works; it gives no wrong sums', async () => {
    const pool = new WorkerPool('cpu', 1);
    const [js, own] = [new JsDevice(pool), new CpuDevice(pool)];
    const bad = await js.open(plain(() => 1, '() => process.exit(3)'));
    await sampled(bad, large()).catch(() => {});
    const good = await own.open(lowerFor(polynomial, 1));
    const outcome = await sampled(good, large()).catch(e => e as Error);
    if (outcome instanceof Error) expect(outcome.message).toMatch(/a worker died/);
    else expect(outcome.evaluations).toBe(2 ** 21);
    await own.close();
  });
});

describe('abort', () => {
  test('a signal that is aborted already rejects with its reason', async () => {
    const session = await device.open(lowerFor(polynomial, 1));
    const signal = AbortSignal.abort(new Error('no more'));
    await expect(sampled(session, large(), signal)).rejects.toThrow('no more');
  });
  test('a signal aborted while workers are at work rejects with its reason, and the session works on', async () => {
    const session = await device.open(lowerFor(polynomial, 1));
    const controller = new AbortController();
    const run = sampled(session, taskFor([1], 2 ** 26, 10), controller.signal);
    setTimeout(() => controller.abort(new Error('no more')), 20);
    await expect(run).rejects.toThrow('no more');
    const task = taskFor([5], 20_000, 10);
    expect((await sampled(session, task)).sum / 5).toBeCloseTo(0.5 + 1 / 3 - 0.125, 2);
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
    const pool = new WorkerPool('cpu', 2);
    const own = new CpuDevice(pool);
    const session = await own.open(lowerFor(polynomial, 1));
    await pool.firstWorker();
    const run = sampled(session, taskFor([1], 2 ** 26, 10, { adapt: null }));
    setTimeout(() => own.close(), 20);
    await expect(run).rejects.toThrow(/closed/);
  });
  test('closing while workers are starting rejects', async () => {
    const own = new CpuDevice(2);
    const session = await own.open(lowerFor(polynomial, 1));
    const run = sampled(session, taskFor([1], 2 ** 27, 10, { adapt: null }));
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
    await expect(sampled(session, taskFor([1], n, 10))).rejects.toThrow(/closed/);
  });
});
