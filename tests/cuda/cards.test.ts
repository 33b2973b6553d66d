/** Cards: what there is, what is not, several at once, and what happens when they run out of memory or fail. */
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { listCards } from '../../src/devices/cuda/card.ts';
import { CudaDevice } from '../../src/devices/cuda/cuda.ts';
import type { Session } from '../../src/devices/device.ts';
import { integrate } from '../../src/index.ts';
import type { CommonOptions } from '../../src/problem.ts';
import { evaluated, sampled } from '../devices/whole.ts';
import { absent } from './emulated.ts';
import { integrandOf, named, regionTask, sampleTask } from './tasks.ts';

const VARIABLES = ['MEMORY', 'FAULT', 'SLOW'].map(name => `QUADRILLE_EMULATOR_${name}`);
beforeAll(() => {
  process.env.QUADRILLE_EMULATOR_DEVICES = '12';
});
afterEach(() => {
  for (const name of VARIABLES) delete process.env[name];
});

const subject = named('f4_3');
const small = { domain: subject.domain, relTol: 1e-2, maxEvaluations: 1e6 };
const run = (device: string | CudaDevice, options: CommonOptions = {}) =>
  integrate(subject.f as never, { method: 'vegas+', ...small, ...options, device });

describe.skipIf(absent)('what there is', () => {
  test('listCards names every card, its memory, its compute capability and the driver', () => {
    expect(listCards()).toHaveLength(12);
    expect(listCards()[1]).toMatchObject({
      ordinal: 1,
      name: 'Emulated GPU 1',
      memory: 2 ** 30,
      computeCapability: '9.0',
      driver: '13.0',
    });
  });
  test('auto takes a card for long runs, and the CPU otherwise', async () => {
    expect((await run('auto', { maxEvaluations: 1e10 })).device).toBe('cuda:0 (Emulated GPU 0)');
    expect((await run('auto')).device).toBe('cpu');
  });
  test('a card that is not there is refused, with those that are', async () => {
    await expect(run('cuda:12')).rejects.toThrow(
      'there is no device cuda:12; this machine has 12: cuda:0 to cuda:11.',
    );
  });
  test('a function as it is is refused', async () => {
    const device = new CudaDevice(0);
    const call = { f: ([x]: number[]) => x };
    await expect(device.open({ kind: 'plain', call, dims: 1 })).rejects.toThrow(/device: 'js'/);
    await device.close();
  });
  test('what a run took is there for the next one, and gone with the device', async () => {
    const device = new CudaDevice(2);
    const left: number[] = [];
    for (let round = 0; round < 3; round++) {
      for (const method of ['vegas+', 'mcubes', 'zmc', 'cuhre', 'pagani', 'auto'] as const)
        await run(device, { method });
      left.push(device.card.freeMemory);
    }
    expect(left[2]).toBe(left[1]);
    await device.close();
    const again = new CudaDevice(2);
    expect(again.card.freeMemory).toBe(again.card.info.memory);
    expect((await run(again)).status).toBe('converged');
    await again.close();
  });
  test('two devices of one card: closing one leaves the other', async () => {
    const [a, b] = [new CudaDevice(3), new CudaDevice(3)];
    const want = (await run(a)).value;
    await a.close();
    expect((await run(b)).value).toBe(want);
    await b.close();
  });
});

describe.skipIf(absent)('stopping', () => {
  test('a signal ends the wait for a kernel; the next run is right', async () => {
    const want = (await run('cuda:4')).value;
    process.env.QUADRILLE_EMULATOR_SLOW = 'sampleAdapting=300';
    const start = performance.now();
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 50);
    const stopped = await run('cuda:4', { signal: stop.signal });
    expect(stopped.status).toBe('aborted');
    expect(performance.now() - start).toBeLessThan(5000);
    delete process.env.QUADRILLE_EMULATOR_SLOW;
    expect((await run('cuda:4')).value).toBe(want);
  });
  test('maxTime ends a run', async () => {
    process.env.QUADRILLE_EMULATOR_SLOW = 'sampleAdapting=300';
    expect((await run('cuda:4', { maxTime: 50 })).status).toBe('time');
  });
});

describe.skipIf(absent)('a run that is stopped', () => {
  test.each(['vegas+', 'two-phase', 'pagani'] as const)(
    '%s: an integrand that never ends does end, and the next run works',
    async method => {
      const endless = ([x]: number[]) => {
        let s = x;
        while (s > -1) s = (s + 1) / 2;
        return s;
      };
      const start = performance.now();
      const r = await integrate(endless, { dims: 1, method, device: 'cuda:10', maxTime: 100 });
      expect(r.status).toBe('time');
      expect(performance.now() - start).toBeLessThan(20_000);
      expect((await run('cuda:10', { method })).status).toBe('converged');
    },
  );
  // the driver waits for a kernel before it frees memory: for ever, if that never ends
  test('comes back while its kernel still runs', async () => {
    process.env.QUADRILLE_EMULATOR_SLOW = 'sampleAdapting=5000';
    const start = performance.now();
    expect((await run('cuda:4', { maxTime: 50 })).status).toBe('time');
    expect(performance.now() - start).toBeLessThan(4000);
  });
});

describe.skipIf(absent)('several integrals at once', () => {
  test('on one card: each has what it has alone', async () => {
    const methods = ['vegas+', 'mcubes', 'two-phase', 'pagani', 'zmc'] as const;
    const alone: number[] = [];
    for (const method of methods) alone.push((await run('cuda:4', { method })).value);
    const both = await Promise.all(methods.map(method => run('cuda:4', { method })));
    expect(both.map(r => r.value)).toEqual(alone);
  });
  /** A slow task on one card, a fast one on the other meanwhile. */
  async function beside<T>(kernel: string, task: (session: Session) => Promise<T>): Promise<[T, T]> {
    const [one, two] = [new CudaDevice(4), new CudaDevice(5)];
    const sessions = [await one.open(integrandOf(subject)), await two.open(integrandOf(subject))];
    process.env.QUADRILLE_EMULATOR_SLOW = `${kernel}=200`;
    const slow = task(sessions[0]);
    delete process.env.QUADRILLE_EMULATOR_SLOW;
    await sampled(sessions[1], sampleTask(subject.domain, 1, 100, 1));
    const both: [T, T] = [await slow, await task(sessions[0])];
    for (const s of sessions) s.close();
    await Promise.all([one.close(), two.close()]);
    return both;
  }
  // a call is for the card that was chosen last: another one's kernel is not waited for
  test('on two cards: samples', async () => {
    const task = sampleTask(subject.domain, 3, 100, 8);
    const [own, alone] = await beside('sampleFrozen', s => sampled(s, task));
    expect(own).toEqual(alone);
  });
  test('on two cards: regions', async () => {
    const [own, alone] = await beside('regions', s => evaluated(s, regionTask(subject)));
    expect(own).toEqual(alone);
  });
});

describe.skipIf(absent)('out of memory', () => {
  test.each(['vegas+', 'zmc', 'two-phase', 'pagani'] as const)(
    '%s with 4 KiB to 16 MiB: the result, or an end that says memory',
    async method => {
      const own = new CudaDevice(9);
      const want = (await run(own, { method })).value;
      for (let bytes = 4096; bytes <= 16 << 20; bytes *= 16) {
        process.env.QUADRILLE_EMULATOR_MEMORY = `${own.card.info.memory - own.card.freeMemory + bytes}`;
        const end = await run(own, { method }).catch(e => String(e));
        if (typeof end === 'string') expect(end).toMatch(/OUT_OF_MEMORY|memory/);
        else if (end.status !== 'memory') expect(end.value).toBe(want);
        delete process.env.QUADRILLE_EMULATOR_MEMORY;
        expect((await run(own, { method })).value).toBe(want);
      }
      await own.close();
    },
  );
  test('the error says so, and what to do; the next run works', async () => {
    process.env.QUADRILLE_EMULATOR_MEMORY = `${16 << 10}`;
    for (const method of ['vegas+', 'two-phase'] as const)
      await expect(run('cuda:11', { method })).rejects.toThrow(
        /CUDA_ERROR_OUT_OF_MEMORY \(out of memory\); the card is out of memory: close what else/,
      );
    delete process.env.QUADRILLE_EMULATOR_MEMORY;
    expect((await run('cuda:11')).value).toBe((await run('cuda:6')).value);
  });
});

describe.skipIf(absent)('a fault', () => {
  test.each([
    [
      'sampleAdapting',
      'vegas+',
      700,
      /CUDA_ERROR_ILLEGAL_ADDRESS.*the integrand read or wrote where it must not/,
    ],
    ['evaluateRegions', 'two-phase', 719, /CUDA_ERROR_LAUNCH_FAILED.*the integrand failed on the card/],
  ] as const)(
    'in %s is an error that names it; other cards go on',
    async (kernel, method, status, message) => {
      const device = kernel === 'evaluateRegions' ? 'cuda:7' : 'cuda:8';
      process.env.QUADRILLE_EMULATOR_FAULT = `${kernel}=${status}`;
      await expect(run(device, { method })).rejects.toThrow(message);
      delete process.env.QUADRILLE_EMULATOR_FAULT;
      expect((await run('cuda:6', { method })).status).toBe('converged');
    },
  );
  test('of one run is an error of the next ones too, with the only remedy: a new process', async () => {
    const message = /CUDA_ERROR_LAUNCH_FAILED.*[Ss]tart a new/;
    await expect(run('cuda:7')).rejects.toThrow(message);
    await expect(async () => run(new CudaDevice(7))).rejects.toThrow(message);
  });
});
