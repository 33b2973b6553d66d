/** Several cards, on the emulator: the bits of one, whoever does what, and what happens when cards are lost on the way. */
import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { CudaDevice } from '../../src/devices/cuda/cuda.ts';
import { SeveralCards } from '../../src/devices/cuda/several.ts';
import type { Device, Session } from '../../src/devices/device.ts';
import { integrate, scan } from '../../src/index.ts';
import type { IntegrateOptions, MethodName } from '../../src/problem.ts';
import { absent } from './emulated.ts';
import { integrandOf, named, regionTask, type Subject, sampleTask } from './tasks.ts';

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
const run = (device: IntegrateOptions['device'], options: IntegrateOptions = {}) =>
  integrate(subject.f as never, {
    method: 'vegas+',
    domain: subject.domain,
    relTol: 1e-3,
    maxEvaluations: 3e5,
    ...options,
    device: device!,
  });

/** The same on one card and on several. */
async function onBoth<T>(
  of: Subject,
  use: (session: Session) => Promise<T>,
  cards = [0, 1, 2],
): Promise<T[]> {
  const devices: Device[] = [new CudaDevice(0), new SeveralCards(cards.map(n => new CudaDevice(n)))];
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
  const keep = { scale: 2 ** 20, histogram: 'keep', variances: 'keep' } as const;
  const first = await session.sample(sampleTask(peak.domain, perAxis, 4, bins, { adapt: keep }));
  const counts = await session.allocate(0.75, 60_000);
  const edges = await session.refine({ alpha: 0.5, floor: 0.01, shared: false });
  const second = sampleTask(peak.domain, perAxis, counts, bins, { edges, iteration: 4, adapt: keep });
  const again = await session.sample(second);
  const more = await session.allocate(0.75, 50_000);
  const frozen = await session.sample({ ...second, counts: more, iteration: 5, adapt: null });
  return { first, again, frozen, edges: await session.edgesOf(edges) };
};

describe.skipIf(absent)('the bits of one card', () => {
  test.each([
    ['few cubes, of many samples', 2, 16],
    ['many cubes', 30, 64],
    ['cubes whose sums need several blocks of threads a chunk', 40, 8],
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
      const [one, three] = await onBoth(peak, s => s.sample(task));
      expect(three).toEqual(one);
    }
  });
  test('regions', async () => {
    const { rule, ranges, ...task } = regionTask(subject);
    const count = 5000;
    const centres = Float64Array.from({ length: 3 * count }, (_, i) => task.centres[i % task.centres.length]);
    const many = { rule, ranges, count, centres, levels: new Uint8Array(3 * count).fill(3) };
    const [one, three] = await onBoth(subject, s => s.regions(many));
    expect(three).toEqual(one);
  });
  test('the first value that is not finite is the first of all cards', async () => {
    const holes: Subject = { dims: 3, domain: peak.domain, f: ([x, y]) => (y > 0.9 ? x / 0 : y) };
    const [one, three] = await onBoth(holes, s => s.sample(sampleTask(holes.domain, 30, 2, 4)));
    expect(three).toEqual(one);
    expect(three.nonFinite!.count).toBeGreaterThan(1000);
    const [alone, shared] = await onBoth(holes, s => s.regions(regionTask(holes)));
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
    const [one] = await onBoth(peak, s => s.sample(task), [0]);
    const [slow, fast] = [new CudaDevice(1), new CudaDevice(2)];
    const launches = new Map<string, number>();
    for (const { card, name } of [slow, fast]) {
      const finished = card.finished.bind(card);
      card.finished = async (...args) => {
        launches.set(name, (launches.get(name) ?? 0) + 1);
        const ahead = () => (launches.get(fast.name) ?? 0) >= 12; // of 16
        for (let i = 0; card === slow.card && i < 3000 && !ahead(); i++)
          await new Promise(resolve => setTimeout(resolve, 10));
        return finished(...args);
      };
    }
    const session = await new SeveralCards([slow, fast]).open(integrandOf(peak));
    expect(await session.sample(task)).toEqual(one);
    expect(launches.get('cuda:2')).toBeGreaterThan(2 * launches.get('cuda:1')!);
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
  function failing(kernel: string, n = 1): { cards: SeveralCards; name: string } {
    const [bad, good] = [new CudaDevice(fresh++), new CudaDevice(0)];
    let launches = 0;
    for (const { card } of [bad, good]) {
      const module = card.module.bind(card);
      card.module = source => {
        const made = module(source);
        const launch = made.launch.bind(made);
        made.launch = (name, ...rest) => {
          const fails = card === bad.card && name === kernel && ++launches >= n;
          if (fails) process.env.QUADRILLE_EMULATOR_FAULT = `${kernel}=719`;
          launch(name, ...rest);
          delete process.env.QUADRILLE_EMULATOR_FAULT;
        };
        return made;
      };
    }
    return { cards: new SeveralCards([bad, good]), name: bad.name };
  }
  test.each([
    ['sampleAdapting', 'vegas+'],
    ['sampleFrozen', 'vegas+'],
    ['refine', 'vegas+'],
    ['allocate', 'vegas+'],
    ['fold', 'vegas+'],
    ['evaluateRegions', 'two-phase'],
  ] as const)('in %s is left out with a warning; the result has the same bits', async (kernel, method) => {
    const want = await run('cuda:0', { method });
    const { cards, name } = failing(kernel, 2);
    const result = await run(cards, { method });
    expect([result.value, result.error, result.status]).toEqual([want.value, want.error, want.status]);
    expect(result.warnings).toHaveLength(1);
    expect(result.warnings[0]).toContain(`${name} was left out: `);
    expect(result.warnings[0]).toMatch(/CUDA_ERROR_LAUNCH_FAILED/);
    expect(result.device).toBe('cuda:0 (Emulated GPU 0)');
  });
  test.each([1, 2, 3])('while chunks are shared, after %i of its own: what it did is done again', async n => {
    const adapt = { scale: 2 ** 20, variances: true };
    const task = sampleTask(peak.domain, 40, 4, 16, { adapt });
    const [one] = await onBoth(peak, s => s.sample(task), [0]);
    const { cards } = failing('sampleAdapting', n);
    const session = await cards.open(integrandOf(peak));
    expect(await session.sample(task)).toEqual(one);
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
    const result = await run(new SeveralCards([good, full]));
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
  });
});
