/** Integrands that never end or fail on a card, and cards that cannot be used: what the caller sees, and what comes after. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { Card } from '../../src/devices/cuda/card.ts';
import { CudaDevice } from '../../src/devices/cuda/cuda.ts';
import { loadDriver } from '../../src/devices/cuda/driver.ts';
import { integrate, scan } from '../../src/index.ts';
import type { CommonOptions, MethodName } from '../../src/problem.ts';
import { plan } from '../../src/tasks/sample.ts';
import { sampled } from '../devices/whole.ts';
import { cube } from '../integrands/entry.ts';
import { absent } from './emulated.ts';
import { integrandOf, sampleTask } from './tasks.ts';

const VARIABLES = ['MEMORY', 'FAULT', 'SLOW'].map(name => `QUADRILLE_EMULATOR_${name}`);
beforeAll(() => {
  process.env.QUADRILLE_EMULATOR_DEVICES = '8';
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  for (const name of VARIABLES) delete process.env[name];
});

const smooth = ([x, y]: number[]) => Math.exp(-x - y);
const truth = (1 - Math.exp(-1)) ** 2;
const good = (options: Partial<CommonOptions> = {}) =>
  integrate(smooth, { dims: 2, method: 'vegas+', relTol: 1e-2, device: 'cuda:0', ...options });
/** Never ends where x > 0.2; 1e9 turns would take an emulated card for ever as well. */
const endless = ([x, y]: number[]) => {
  let t = x;
  while (t > 0.2) t = t < 1 ? t + 0.5 : t - 0.5;
  return t + y;
};
const stuck = (options: Partial<CommonOptions> = {}) =>
  integrate(endless, { dims: 2, method: 'vegas+', device: 'cuda:0', ...options });

async function timed<T>(work: Promise<T>): Promise<[T, number]> {
  const start = performance.now();
  return [await work, performance.now() - start];
}
const soon = (ms: number) => {
  const stop = new AbortController();
  setTimeout(() => stop.abort(), ms);
  return stop.signal;
};

describe.skipIf(absent)('an integrand that never ends', () => {
  beforeAll(async () => {
    await good(); // kernels are compiled
  });
  test.each<MethodName>(['vegas+', 'plain', 'mcubes', 'zmc', 'cuhre', 'two-phase', 'pagani', 'auto'])(
    '%s: maxTime ends it, and the next run is right',
    async method => {
      await stuck({ method, maxTime: 1 }).catch(() => {}); // compiles
      const [result, ms] = await timed(stuck({ method, maxTime: 100 }));
      expect(result.status).toBe('time');
      expect(ms).toBeLessThan(10_000);
      const next = await good({ method });
      expect(Math.abs(next.value - truth)).toBeLessThan(0.05);
      expect(next.status).toBe('converged');
    },
  );
  test('a signal ends it', async () => {
    const [result, ms] = await timed(stuck({ signal: soon(50) }));
    expect(result.status).toBe('aborted');
    expect(ms).toBeLessThan(10_000);
  });
  test('kernels leave: the card is idle again before long', async () => {
    const device = new CudaDevice(1);
    const session = await device.open(integrandOf({ dims: 2, domain: [], f: endless }));
    const task = sampleTask(
      [
        [0, 1],
        [0, 1],
      ],
      4,
      2000,
      4,
    );
    await expect(sampled(session, task, soon(100))).rejects.toThrow('abort');
    session.close();
    const [, ms] = await timed(device.close());
    expect(ms).toBeLessThan(10_000);
  });
  test('a run beside it waits for its turn, or for its own maxTime', async () => {
    const want = await good();
    const [first, second, third] = await Promise.all([
      stuck({ maxTime: 3000 }),
      good(),
      timed(good({ maxTime: 100, seed: 2 })),
    ]);
    expect(first.status).toBe('time');
    expect(second.value).toBe(want.value);
    expect(third[0].status).toBe('time');
    expect(third[1]).toBeLessThan(2500);
  });
  test('in a scan, it has the card until maxTime is over; no integral is lost without saying so', async () => {
    const f = ([x]: number[], p: { a: number }) => {
      let t = x;
      while (t > p.a) t = t < 1 ? t + 0.5 : t - 0.5;
      return x;
    };
    const options = { dims: 1, method: 'vegas+', relTol: 1e-2, device: 'cuda:0', maxTime: 1000 } as const;
    const sets = (list: number[]) => list.map(a => ({ a }));
    const [results, ms] = await timed(scan(f as never, { ...options, params: sets([9, 0.2, 9]) }));
    expect(ms).toBeLessThan(10_000);
    expect(results[1].status).toBe('time');
    for (const r of results) expect(['converged', 'time']).toContain(r.status);
    const next = await scan(f as never, { ...options, params: sets([8, 9]) });
    for (const r of next) expect(r.value).toBeCloseTo(0.5, 2);
  });
});

describe.skipIf(absent)('work that does not look at the stop flag', () => {
  test('comes back at once; the next run waits until it has ended, and is right', async () => {
    const want = await good();
    process.env.QUADRILLE_EMULATOR_SLOW = 'sampleFrozen=4000';
    const [result, ms] = await timed(good({ maxTime: 100 }));
    delete process.env.QUADRILLE_EMULATOR_SLOW;
    expect(result.status).toBe('time');
    expect(ms).toBeLessThan(3000);
    const [next, waited] = await timed(good());
    expect(next.value).toBe(want.value);
    expect(waited).toBeGreaterThan(500);
  });
});

describe.skipIf(absent)('a fault', () => {
  test.each([
    ['sampleFrozen', 'vegas+', 'cuda:2', 700, 'the integrand read or wrote where it must not'],
    ['evaluateRegions', 'two-phase', 'cuda:3', 719, 'the integrand failed on the card'],
    ['sampleAdapting', 'vegas+', 'cuda:4', 715, 'This process cannot use the card any more'],
  ] as const)(
    'in %s: the error says that it takes a new process',
    async (kernel, method, device, status, text) => {
      process.env.QUADRILLE_EMULATOR_FAULT = `${kernel}=${status}`;
      const error = await good({ device, method }).catch((e: Error) => e);
      expect((error as Error).message).toContain(text);
      expect((error as Error).message).toMatch(
        /\. This process cannot use the card any more: start a new one[^$]*$/,
      );
      delete process.env.QUADRILLE_EMULATOR_FAULT;
      await expect(good({ device, method })).rejects.toThrow(
        new RegExp(
          `^a kernel failed on ${device} before, with CUDA_ERROR.*: start a new one, or use another device\\.$`,
        ),
      );
      expect(() => new CudaDevice(Number(device.at(-1))).card.use()).toThrow(/a kernel failed on .* before/);
      expect((await good()).status).toBe('converged');
    },
  );
  test('while a run is being stopped does not hide that it was stopped', async () => {
    await good({ device: 'cuda:5' });
    process.env.QUADRILLE_EMULATOR_SLOW = 'sampleFrozen=1000';
    process.env.QUADRILLE_EMULATOR_FAULT = 'sampleFrozen=719';
    const result = await good({ device: 'cuda:5', maxTime: 50 });
    expect(result.status).toBe('time');
    await expect(good({ device: 'cuda:5' })).rejects.toThrow(/a kernel failed on cuda:5 before/);
  });
});

describe.skipIf(absent)('what does not work says what to do, and the next run works', () => {
  afterEach(async () => {
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
    for (const name of VARIABLES) delete process.env[name];
    expect((await good()).status).toBe('converged');
  });
  test('out of memory', async () => {
    process.env.QUADRILLE_EMULATOR_MEMORY = '4096';
    await expect(good({ device: 'cuda:6' })).rejects.toThrow(
      /^CUDA failed taking \d+ MiB of memory on cuda:6: CUDA_ERROR_OUT_OF_MEMORY .*: close what else runs on it, or lower cubature\.maxMemory or vegas\.maxStrata$/,
    );
    delete process.env.QUADRILLE_EMULATOR_MEMORY;
    expect((await good({ device: 'cuda:6' })).status).toBe('converged');
  });
  test('a launch that fails', async () => {
    vi.spyOn(loadDriver(), 'cuLaunchKernel').mockReturnValue(1);
    await expect(good()).rejects.toThrow(
      'CUDA failed starting sampleFrozen on cuda:0: CUDA_ERROR_INVALID_VALUE (invalid argument)',
    );
  });
  test('a card that is too old', () => {
    const driver = loadDriver();
    const { cuDeviceGetAttribute: real } = driver;
    vi.spyOn(driver, 'cuDeviceGetAttribute').mockImplementation((...args) => {
      const status = real(...args);
      if (args[1] === 75) (args[0] as number[])[0] = 6;
      return status;
    });
    expect(() => new Card(7)).toThrow(
      "Emulated GPU 7 has compute capability 6.0; 7.0 is the least. Use device: 'cpu'.",
    );
  });
  test('no memory that card and host share: runs are the same, and stopped ones end by themselves', async () => {
    vi.spyOn(loadDriver(), 'cuMemHostAlloc').mockReturnValue(2);
    const device = new CudaDevice(7);
    expect(device.card.stopFlag).toBe(0);
    expect((await good({ device })).value).toBe((await good()).value);
    await device.close();
  });
  test('nor where a card takes over the first part of an iteration after a later one', async () => {
    vi.spyOn(loadDriver(), 'cuMemHostAlloc').mockReturnValue(2);
    const device = new CudaDevice(7);
    const session = await device.open(integrandOf({ dims: 2, domain: [], f: smooth }));
    const task = sampleTask(cube(2), 4, 2000, 4);
    const { groups } = plan(task);
    expect(groups).toBeGreaterThan(4);
    const parts: Float64Array[] = [];
    for (const [from, count] of [
      [0, 4],
      [4, groups - 4],
      [0, 4],
    ])
      parts.push((await session.sample(task, { first: from, count })).nodes);
    const [first, last, again] = parts;
    expect(last[0]).toBeGreaterThan(0);
    expect(again).toEqual(first);
    session.close();
    await device.close();
  });
});

describe.skipIf(absent)('what is not installed', () => {
  /** The library as a process has it that has loaded nothing yet. */
  async function fresh(options: CommonOptions = { device: 'cuda:0' }) {
    vi.resetModules();
    const { integrate } = await import('../../src/index.ts');
    return integrate(smooth, { dims: 2, ...options });
  }
  /** `auto` looks for a card, and does without. */
  const unasked = async () => (await fresh({ maxEvaluations: 1e10 })).device;
  const koffi = () => createRequire(import.meta.url)('koffi') as { load(name: string): unknown };
  test('NVRTC', async () => {
    const cache = mkdtempSync(join(tmpdir(), 'quadrille-cache-'));
    vi.stubEnv('XDG_CACHE_HOME', cache); // nothing is compiled yet
    vi.stubEnv('QUADRILLE_NVRTC', '');
    const { load } = koffi();
    vi.spyOn(koffi(), 'load').mockImplementation(name => {
      if (/nvrtc/.test(name)) throw new Error(`cannot open ${name}`);
      return load(name);
    });
    await expect(fresh()).rejects.toThrow(
      "NVRTC, CUDA's run-time compiler, was not found; install the CUDA toolkit, or pip install nvidia-cuda-nvrtc, or set QUADRILLE_NVRTC to the path of libnvrtc.so.",
    );
    expect(await unasked()).toBe('cpu');
    rmSync(cache, { recursive: true });
  });
  test('the driver', async () => {
    vi.stubEnv('QUADRILLE_LIBCUDA', '');
    vi.spyOn(koffi(), 'load').mockImplementation(name => {
      throw new Error(`cannot open ${name}`);
    });
    await expect(fresh()).rejects.toThrow(
      "no CUDA driver (libcuda) on this machine; install NVIDIA's driver, or use device: 'cpu'.",
    );
    expect(await unasked()).toBe('cpu');
  });
  test.each([
    ['QUADRILLE_LIBCUDA', 'libm.so.6', /^libm\.so\.6 has no cuInit .*; it is another library, or too old/],
    [
      'QUADRILLE_LIBCUDA',
      '/nonexistent/libcuda.so',
      /^QUADRILLE_LIBCUDA names a library that cannot be opened/,
    ],
    ['QUADRILLE_LIBCUDA', './libcuda.so', /^QUADRILLE_LIBCUDA is '.\/libcuda.so'; give an absolute path/],
    [
      'QUADRILLE_NVRTC',
      'libm.so.6',
      /^libm\.so\.6 has no nvrtcVersion .*; it is another library, or too old/,
    ],
  ])('%s names %s', async (variable, library, message) => {
    const cache = mkdtempSync(join(tmpdir(), 'quadrille-cache-'));
    vi.stubEnv('XDG_CACHE_HOME', cache);
    vi.stubEnv(variable, library);
    await expect(fresh()).rejects.toThrow(message);
    rmSync(cache, { recursive: true });
  });
  test('and is never looked for in the working folder', async () => {
    const cache = mkdtempSync(join(tmpdir(), 'quadrille-cache-'));
    vi.stubEnv('XDG_CACHE_HOME', cache);
    vi.stubEnv('QUADRILLE_NVRTC', '');
    for (const name of ['HOME', 'CUDA_HOME', 'CUDA_PATH', 'CONDA_PREFIX', 'VIRTUAL_ENV'])
      vi.stubEnv(name, name === 'HOME' || name === 'CONDA_PREFIX' ? '' : '.');
    // every folder seems to have one
    vi.spyOn(process.getBuiltinModule('node:fs'), 'readdirSync').mockReturnValue([
      'libnvrtc.so.12',
      'python3.12',
    ] as never);
    const { load } = koffi();
    const tried: string[] = [];
    vi.spyOn(koffi(), 'load').mockImplementation(name => {
      if (!/nvrtc/.test(name)) return load(name);
      tried.push(name);
      throw new Error(`cannot open ${name}`);
    });
    await expect(fresh()).rejects.toThrow('NVRTC');
    rmSync(cache, { recursive: true });
    expect(tried).toContain('/usr/local/cuda/lib64/libnvrtc.so.12');
    expect(tried.filter(name => name.includes('/') && !name.startsWith('/'))).toEqual([]);
  });
  test('koffi', async () => {
    vi.spyOn(process.getBuiltinModule('node:module'), 'createRequire').mockReturnValue((() => {
      throw new Error("Cannot find module 'koffi'");
    }) as never);
    await expect(fresh()).rejects.toThrow(/CUDA devices need the package koffi.*; npm install koffi\.$/);
  });
});

describe.skipIf(absent)('a cache that', () => {
  const run = async () => {
    vi.resetModules();
    const { integrate } = await import('../../src/index.ts');
    return (await integrate(smooth, { dims: 2, method: 'plain', relTol: 1e-2, device: 'cuda:0' })).value;
  };
  const folder = () => join(process.env.XDG_CACHE_HOME!, 'quadrille', 'cuda');
  test('is damaged, or cannot be written, changes no result', async () => {
    const cache = mkdtempSync(join(tmpdir(), 'quadrille-cache-'));
    vi.stubEnv('XDG_CACHE_HOME', cache);
    const want = await run();
    const files = readdirSync(folder());
    expect(files.length).toBeGreaterThan(0);
    const sound = files.map(f => readFileSync(join(folder(), f)));
    // the emulator would crash on this image if it were loaded
    for (const f of files) writeFileSync(join(folder(), f), 'no kernel at all');
    expect(await run()).toBe(want);
    // kernels that are needed later are compiled behind the run
    const sizes = () => files.map(f => readFileSync(join(folder(), f)).length);
    await vi.waitFor(() => expect(sizes()).toEqual(sound.map(s => s.length)), { timeout: 30_000 });
    vi.stubEnv('XDG_CACHE_HOME', join(folder(), files[0])); // a file, so that no folder can be made in it
    expect(await run()).toBe(want);
    rmSync(cache, { recursive: true });
  });
});
