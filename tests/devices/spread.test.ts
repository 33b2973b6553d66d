/** Several devices as one: the bits of one of them, whoever does what, and what happens when some are slow or lost on the way. */
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { CpuDevice } from '../../src/devices/cpu/cpu.ts';
import { CudaDevice } from '../../src/devices/cuda/cuda.ts';
import type { Module } from '../../src/devices/cuda/module.ts';
import { type Device, DeviceError, type Session } from '../../src/devices/device.ts';
import { Spread } from '../../src/devices/spread.ts';
import { integrate, scan } from '../../src/index.ts';
import type { CommonOptions, MethodName } from '../../src/problem.ts';
import type { Part } from '../../src/tasks/part.ts';
import { plan } from '../../src/tasks/sample.ts';
import { absent } from '../cuda/emulated.ts';
import { integrandOf, named, regionTask, type Subject, sampleTask } from '../cuda/tasks.ts';
import { evaluated, sampled } from './whole.ts';
import { wrapped } from './wrapped.ts';

const VARIABLES = ['BACKWARDS', 'MEMORY', 'FAULT', 'SLOW'].map(name => `QUADRILLE_EMULATOR_${name}`);
/** A fault ruins a card for the rest of the process: those from 4 on are there to be ruined. */
const CARDS = 16;
let fresh = 4;
beforeAll(() => {
  process.env.QUADRILLE_EMULATOR_DEVICES = `${CARDS}`;
});
afterEach(() => {
  for (const name of VARIABLES) delete process.env[name];
});

const subject = named('f4_3');
const peak: Subject = {
  dims: 3,
  domain: subject.domain,
  f: ([x, y, z]) => Math.exp(-20 * ((x - 0.3) ** 2 + (y - 0.6) ** 2)) * (1 + z),
};
const run = (device: CommonOptions['device'], options: CommonOptions = {}) =>
  integrate(subject.f as never, {
    method: 'vegas+',
    domain: subject.domain,
    relTol: 1e-3,
    maxEvaluations: 3e5,
    ...options,
    device: device!,
  });

const pause = (ms: number) => new Promise(resolve => setTimeout(resolve, ms));

/** The same on one card and on several. */
async function onBoth<T>(
  of: Subject,
  use: (session: Session) => Promise<T>,
  cards = [0, 1, 2],
): Promise<T[]> {
  const devices: Device[] = [new CudaDevice(0), new Spread(cards.map(n => new CudaDevice(n)))];
  const results: T[] = [];
  for (const device of devices) {
    const session = await device.open(integrandOf(of));
    results.push(await use(session));
    session.close();
    await device.close();
  }
  return results;
}

/** Adapts, allots, refines and samples again, so that everything learned is used. */
const adaptive = (perAxis: number, bins: number) => async (session: Session) => {
  const learning = session.learning!;
  const keep = { scale: 2 ** 20, variances: true, keep: true };
  const first = await sampled(session, sampleTask(peak.domain, perAxis, 4, bins, { adapt: keep }));
  const counts = await learning.allocate(0.75, 60_000);
  const edges = await learning.refine({ alpha: 0.5, floor: 0.01, shared: false });
  const second = sampleTask(peak.domain, perAxis, counts, bins, { edges, iteration: 4, adapt: keep });
  const again = await sampled(session, second);
  const more = await learning.allocate(0.75, 50_000);
  const frozen = await sampled(session, { ...second, counts: more, iteration: 5, adapt: null });
  return {
    first,
    again,
    frozen,
    edges: await learning.edgesOf(edges),
    counts: await learning.countsOf(more),
  };
};

describe.skipIf(absent)('the bits of one card', () => {
  test.each([
    ['few cubes, of many samples', 2, 16],
    ['many cubes', 30, 64],
    ['cubes whose sums need several blocks of threads a group', 40, 8],
  ])('samples that learn: %s', async (_, perAxis, bins) => {
    const [one, three] = await onBoth(peak, adaptive(perAxis, bins));
    expect(three).toEqual(one);
  });
  test('means and variances of cubes, histograms, samples of each cube as numbers', async () => {
    const uneven = Uint32Array.from({ length: 8000 }, (_, i) => 2 + (i % 9) + (i === 5 ? 9000 : 0));
    const tasks = [
      sampleTask(peak.domain, 20, uneven, 12, { cubes: true }),
      sampleTask(peak.domain, 20, 3, 12, { adapt: { scale: 2 ** 10, variances: true } }),
      sampleTask(peak.domain, 2, 3000, 12, { adapt: { scale: 2 ** 70, variances: true } }), // counters overflow
    ];
    for (const task of tasks) {
      const [one, three] = await onBoth(peak, s => sampled(s, task));
      expect(three).toEqual(one);
    }
  });
  test('regions', async () => {
    const { rule, ranges, ...task } = regionTask(subject);
    const count = 5000;
    const centres = Float64Array.from({ length: 3 * count }, (_, i) => task.centres[i % task.centres.length]);
    const many = { rule, ranges, count, centres, levels: new Uint8Array(3 * count).fill(3) };
    const [one, three] = await onBoth(subject, s => evaluated(s, many));
    expect(three).toEqual(one);
  });
  test('the first value that is not finite is the first of all cards', async () => {
    const holes: Subject = { dims: 3, domain: peak.domain, f: ([x, y]) => (y > 0.9 ? x / 0 : y) };
    const [one, three] = await onBoth(holes, s => sampled(s, sampleTask(holes.domain, 30, 2, 4)));
    expect(three).toEqual(one);
    expect(three.nonFinite!.count).toBeGreaterThan(1000);
    const [alone, shared] = await onBoth(holes, s => evaluated(s, regionTask(holes)));
    expect(shared).toEqual(alone);
  });
  test.each<MethodName>(['vegas+', 'mcubes', 'mcubes1d', 'plain', 'zmc', 'cuhre', 'two-phase'])(
    '%s, whole runs',
    async method => {
      const one = await run('cuda:0', { method });
      const several = await run(['cuda:0', 'cuda:1', 'cuda:2'], { method });
      expect([several.value, several.error, several.evaluations]).toEqual([
        one.value,
        one.error,
        one.evaluations,
      ]);
      expect(several.warnings).toEqual(one.warnings);
    },
  );
  // one card has a pool of regions in its own memory, several have it on the host: sums in another order
  test.each<MethodName>(['pagani', 'auto'])('%s: to rounding, or within the errors', async method => {
    const one = await run('cuda:0', { method });
    const several = await run(['cuda:0', 'cuda:1'], { method });
    expect(several.status).toBe(one.status);
    expect(Math.abs(several.value - one.value)).toBeLessThan(several.error + one.error);
  });
  test('with an α and a β that only the host knows', async () => {
    const vegas = { alpha: 0.7, beta: 1.2 };
    const one = await run('cuda:0', { vegas });
    expect((await run(['cuda:0', 'cuda:1'], { vegas })).value).toBe(one.value);
  });
  test('in any order of cards, and of blocks and threads on them', async () => {
    const one = await run('cuda:0');
    process.env.QUADRILLE_EMULATOR_BACKWARDS = '1';
    expect((await run(['cuda:2', 'cuda:0'])).value).toBe(one.value);
  });
  test('whoever is slow: a card that is held up does less, and changes nothing', async () => {
    const task = sampleTask(peak.domain, 40, 4, 16, { adapt: { scale: 2 ** 20, variances: true } });
    const [one] = await onBoth(peak, s => sampled(s, task), [0]);
    const { groups } = plan(task);
    const done = [0, 0];
    const cards = [new CudaDevice(1), new CudaDevice(2)].map((device, i) =>
      wrapped(device, session => ({
        async sample(own, part, signal) {
          const ahead = () => done[1] > 0.6 * groups;
          for (let n = 0; i === 0 && n < 3000 && !ahead(); n++) await pause(10);
          done[i] += part.count;
          return session.sample(own, part, signal);
        },
      })),
    );
    const session = await new Spread(cards).open(integrandOf(peak));
    expect(await sampled(session, task)).toEqual(one);
    expect(done[0] + done[1]).toBe(groups);
    expect(done[1]).toBeGreaterThan(2 * done[0]);
    session.close();
  });
  test('scans', async () => {
    const options = {
      dims: 2,
      params: [1, 2, 3, 4].map(a => ({ a })),
      method: 'vegas+',
      relTol: 1e-2,
    } as const;
    const f = ([x, y]: number[], p: { a: number }) => Math.exp(-p.a * (x + y));
    const one = await scan(f as never, { ...options, device: 'cuda:0' });
    const two = await scan(f as never, { ...options, device: ['cuda:0', 'cuda:1'] });
    expect(two.map(r => r.value)).toEqual(one.map(r => r.value));
  });
});

describe.skipIf(absent)('names', () => {
  test('a result names its cards', async () => {
    expect((await run(['cuda:0', 'cuda:1'])).device).toBe('cuda:0 (Emulated GPU 0), cuda:1 (Emulated GPU 1)');
    expect((await run(['cuda:1'])).device).toBe('cuda:1 (Emulated GPU 1)');
  });
  test('what is no list of devices is refused', async () => {
    for (const device of [[], ['cuda:*'], [3]])
      await expect(run(device as string[])).rejects.toThrow(
        /list CPU and CUDA devices, .* or use 'cuda:\*' for all cards\.$/,
      );
    await expect(run(['cuda', 'cuda:0'])).rejects.toThrow(/name each device once/);
    await expect(run(['cuda:0', 'cuda:99'])).rejects.toThrow(/there is no device cuda:99/);
  });
});

describe.skipIf(absent)('a card that fails', () => {
  /** A new card and a good one; a kernel fails on the new one, from its n-th launch on. */
  function failing(kernel: string, n = 1): { cards: Spread; name: string } {
    const [bad, good] = [new CudaDevice(fresh++), new CudaDevice(0)];
    let launches = 0;
    for (const { card } of [bad, good]) {
      const watched = (made: Module): Module => {
        const launch = made.launch.bind(made);
        made.launch = (name, ...rest) => {
          const fails = card === bad.card && name === kernel && ++launches >= n;
          if (fails) process.env.QUADRILLE_EMULATOR_FAULT = `${kernel}=719`;
          launch(name, ...rest);
          delete process.env.QUADRILLE_EMULATOR_FAULT;
        };
        return made;
      };
      const [module, linked] = [card.module.bind(card), card.linked.bind(card)];
      card.module = unit => watched(module(unit));
      card.linked = units => watched(linked(units));
    }
    return { cards: new Spread([bad, good]), name: bad.name };
  }
  test.each([
    ['sampleAdapting', 'vegas+'],
    ['sampleFrozen', 'vegas+'],
    ['refine', 'vegas+'],
    ['allocate', 'vegas+'],
    ['fold', 'vegas+'],
    ['evaluateRegions', 'two-phase'],
  ] as const)('in %s is left out with a warning; the result has the same bits', async (kernel, method) => {
    const options = { method, cubature: { witnesses: 0 } };
    const want = await run('cuda:0', options);
    const { cards, name } = failing(kernel, 2);
    const result = await run(cards, options);
    expect([result.value, result.error, result.status]).toEqual([want.value, want.error, want.status]);
    expect(result.warnings).toHaveLength(1);
    expect(result.warnings[0]).toContain(`${name} was left out: `);
    expect(result.warnings[0]).toMatch(/CUDA_ERROR_LAUNCH_FAILED/);
    expect(result.device).toBe('cuda:0 (Emulated GPU 0)');
  });
  test.each([1, 2, 3])('while parts are shared, at its part number %i: that is done again', async n => {
    const adapt = { scale: 2 ** 20, variances: true };
    const task = sampleTask(peak.domain, 40, 4, 16, { adapt });
    const [one] = await onBoth(peak, s => sampled(s, task), [0]);
    const { cards } = failing('sampleAdapting', n);
    const session = await cards.open(integrandOf(peak));
    expect(await sampled(session, task)).toEqual(one);
    expect(session.warnings).toHaveLength(1);
    session.close();
  });
  test('is left out again by later runs, which say why', async () => {
    const bad = `cuda:${fresh++}`;
    process.env.QUADRILLE_EMULATOR_FAULT = 'sampleFrozen=700';
    await expect(run(bad)).rejects.toThrow(/CUDA_ERROR_ILLEGAL_ADDRESS/);
    delete process.env.QUADRILLE_EMULATOR_FAULT;
    const want = await run('cuda:0');
    const result = await run(['cuda:0', bad]);
    expect(result.value).toBe(want.value);
    expect(result.warnings[0]).toContain(`${bad} was left out: a kernel failed on ${bad} before`);
    const every = await run('cuda:*');
    expect([every.value, every.status]).toEqual([want.value, 'converged']);
    expect(every.warnings.length).toBeGreaterThan(0);
  });
  test('out of memory: the others go on', async () => {
    const [good, full] = [new CudaDevice(0), new CudaDevice(1)];
    const reserve = full.card.buffer.bind(full.card);
    full.card.buffer = () => {
      const buffer = reserve();
      const own = buffer.reserve.bind(buffer);
      buffer.reserve = bytes => {
        process.env.QUADRILLE_EMULATOR_MEMORY = '4096';
        try {
          return own(bytes);
        } finally {
          delete process.env.QUADRILLE_EMULATOR_MEMORY;
        }
      };
      return buffer;
    };
    const result = await run(new Spread([good, full]));
    expect(result.value).toBe((await run('cuda:0')).value);
    expect(result.warnings[0]).toMatch(/cuda:1 was left out: .*out of memory/);
  });
  test('when none is left, the error is that of a card', async () => {
    const cards = [`cuda:${fresh++}`, `cuda:${fresh++}`];
    process.env.QUADRILLE_EMULATOR_FAULT = 'sampleAdapting=719';
    await expect(run(cards)).rejects.toThrow(/CUDA_ERROR_LAUNCH_FAILED.*start a new one/);
  });
});

describe.skipIf(absent)('stopping', () => {
  test('maxTime and signals stop all cards', async () => {
    const endless = ([x]: number[]) => {
      let t = x;
      while (t >= 0) t = t < 1 ? t + 0.5 : t - 0.5;
      return t;
    };
    const start = performance.now();
    const options = { dims: 1, method: 'vegas+', device: ['cuda:2', 'cuda:3'], maxTime: 200 } as const;
    const result = await integrate(endless, options);
    expect(result.status).toBe('time');
    expect(performance.now() - start).toBeLessThan(20_000);
    expect((await run(['cuda:2', 'cuda:3'])).status).toBe('converged');
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 100);
    const aborted = await integrate(endless, { ...options, maxTime: 20_000, signal: stop.signal });
    expect(aborted.status).toBe('aborted');
  });
});

const METHODS = ['vegas+', 'mcubes', 'plain', 'zmc', 'cuhre', 'two-phase', 'pagani', 'auto'] as const;

test.each(METHODS)('two CPU devices give the bits of one: %s', async method => {
  const devices = [new CpuDevice(1), new Spread([new CpuDevice(1), new CpuDevice(1)])];
  const [one, two] = [await run(devices[0], { method }), await run(devices[1], { method })];
  expect(two.iterations).toEqual(one.iterations);
  expect([two.value, two.error, two.warnings]).toEqual([one.value, one.error, one.warnings]);
  expect(two.device).toBe('cpu:1, cpu:1');
  for (const d of devices) await d.close();
});

describe.skipIf(absent)('the CPU and a card together', () => {
  const options = { maxEvaluations: 3e6, relTol: 1e-6 };
  test.each(METHODS)('%s: the value of the CPU, and a warning about its last digits', async method => {
    const one = await run('cpu', { ...options, method });
    const both = await run(['cpu', 'cuda:0'], { ...options, method });
    // what rounding does to a variance moves a sample to another cube, and all points after it
    const slack = /^(vegas|auto)/.test(method) ? 5 * one.error : 1e-12 * Math.abs(one.value);
    expect(Math.abs(both.value - one.value)).toBeLessThanOrEqual(slack);
    expect(both.warnings).toContain(
      'cpu and cuda shared the work: the last digits depend on which of them did what',
    );
    expect(one.warnings.join()).not.toContain('shared');
    expect(both.device).toBe('cpu, cuda:0 (Emulated GPU 0)');
  });
  test('both of them have parts of an iteration of 500,000 samples, whichever is named first', async () => {
    const devices = [new CpuDevice(1), new CudaDevice(0)];
    const done = new Map(devices.map(d => [d.kind, 0]));
    const counted = devices.map(device =>
      wrapped(device, session => ({
        sample(task, part, signal) {
          done.set(device.kind, done.get(device.kind)! + part.count);
          return session.sample(task, part, signal);
        },
      })),
    );
    for (const order of [counted, counted.toReversed()]) {
      const session = await new Spread(order).open(integrandOf(peak));
      const task = sampleTask(peak.domain, 50, 4, 16);
      await sampled(session, task);
      session.close();
      for (const [kind, groups] of done) expect(groups, kind).toBeGreaterThan(0.1 * plan(task).groups);
      for (const kind of done.keys()) done.set(kind, 0);
    }
    for (const d of devices) await d.close();
  });
});

describe('devices of different speeds', () => {
  /** A CPU that takes so many milliseconds more for each group or region; `ends` are those of its parts. */
  function delayed(perItem: number) {
    const [done, ends] = [[] as Part[], [] as number[]];
    const late = async <T>(part: Part, work: Promise<T>): Promise<T> => {
      const sums = await work;
      await pause(perItem * part.count);
      done.push(part);
      ends.push(performance.now());
      return sums;
    };
    const device = wrapped(new CpuDevice(1), session => ({
      sample: (task, part, signal) => late(part, session.sample(task, part, signal)),
      regions: (task, part, signal) => late(part, session.regions(task, part, signal)),
    }));
    return { device, ends, count: () => done.splice(0).reduce((n, p) => n + p.count, 0) };
  }
  test.each([5, 50])(
    'one is %i times as slow: the fast one does most, and does not wait for it',
    async factor => {
      const [fast, slow] = [delayed(8), delayed(8 * factor)];
      const device = new Spread([slow.device, fast.device]);
      const session = await device.open(integrandOf(peak));
      const task = sampleTask(peak.domain, 40, 4, 16);
      await sampled(session, sampleTask(peak.domain, 20, 4, 16)); // their rates are known
      for (const d of [fast, slow]) d.count();
      const start = performance.now();
      await sampled(session, task);
      const [end, did] = [performance.now(), fast.count()];
      expect(did + slow.count()).toBe(plan(task).groups);
      expect(did).toBeGreaterThan(0.7 * plan(task).groups);
      expect(end - fast.ends.at(-1)!).toBeLessThan(0.3 * (end - start));
      session.close();
      await device.close();
    },
  );
});

describe('a device that fails', () => {
  /** A CPU that is lost at its part number n. */
  const lost = (n: number, name: string, Failure = DeviceError): Device => {
    let parts = 0;
    const device = wrapped(new CpuDevice(1), session => ({
      async sample(task, part, signal) {
        if (++parts >= n) throw new Failure(`${name} is gone`);
        return session.sample(task, part, signal);
      },
    }));
    return { ...device, name };
  };
  const ended = async (devices: Device[]) => {
    const spread = new Spread(devices);
    return run(spread).finally(() => spread.close());
  };
  test.each([1, 2, 5])(
    'at its part number %i: the others do its work, with the bits of one, and a warning',
    async n => {
      const one = await ended([new CpuDevice(1)]);
      const two = await ended([lost(n, 'broken'), new CpuDevice(1)]);
      expect([two.value, two.error, two.iterations]).toEqual([one.value, one.error, one.iterations]);
      expect(two.warnings).toEqual([...one.warnings, 'broken was left out: broken is gone']);
      expect(two.device).toBe('cpu:1');
    },
  );
  test('when all are lost, the run rejects with the cause', async () => {
    await expect(ended([lost(1, 'one'), lost(3, 'two')])).rejects.toThrow('two is gone');
  });
  test('an error that is not the device rejects at once', async () => {
    await expect(ended([lost(2, 'one', Error as never), new CpuDevice(1)])).rejects.toThrow('one is gone');
  });
});
