/** Kernels that are linked with the integrand, and those with the integrand inside: the same bits, and what is compiled when. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { CudaDevice } from '../../src/devices/cuda/cuda.ts';
import { listenToPhases, type Phase } from '../../src/devices/cuda/phases.ts';
import { integrate } from '../../src/index.ts';
import type { CommonOptions } from '../../src/problem.ts';
import { absent } from './emulated.ts';
import { integrandOf, named, sampleTask } from './tasks.ts';

let phases: string[];
let folder: string;
beforeEach(() => {
  phases = [];
  listenToPhases(p => phases.push(p.name));
  folder = mkdtempSync(join(tmpdir(), 'tiers-'));
  vi.stubEnv('XDG_CACHE_HOME', folder); // without kernels of other tests
});
afterEach(() => {
  listenToPhases(null);
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true });
});

const compiled = () => phases.filter(p => p.startsWith('compiling ')).map(p => p.slice('compiling '.length));

describe.skipIf(absent)('linked kernels give the bits of those with the integrand inside', () => {
  const vegas = { evaluations: 5000, iterations: 4, adapt: 2 };
  const few: CommonOptions = { relTol: 0, vegas };
  test.each<[string, (x: number[]) => number | number[], CommonOptions]>([
    ['vegas+', ([x, y, z]) => Math.exp(-x * y) * Math.cos(z), { method: 'vegas+', ...few }],
    ['three results', ([x, y, z]) => [x * y, Math.sin(z), x], { method: 'vegas+', ...few }],
    ['a lattice', ([x, y, z]) => Math.exp(x * y * z), { method: 'lattice', relTol: 1e-3 }],
    ['pagani', ([x, y, z]) => 1 / (0.01 + x * x + y * y + z * z), { method: 'pagani', relTol: 1e-4 }],
    [
      'a loop that reads the stop flag, and a function of the math library',
      ([x, y, z]) => {
        let sum = 0;
        for (let i = 0; i < 50 * x; i++) sum += Math.atanh(y / (i + 2)) * z;
        return sum;
      },
      { method: 'vegas+', ...few },
    ],
  ])('%s', async (_, f, options) => {
    const run = (tier: string) => {
      vi.stubEnv('QUADRILLE_TIER', tier);
      return integrate(f as never, { dims: 3, device: 'cuda', ...options });
    };
    const [linked, inlined] = [await run('linked'), await run('inlined')];
    expect(compiled()).toContain('the integrand');
    expect(phases.some(p => p.startsWith('linking '))).toBe(true);
    expect(compiled().some(c => c.endsWith(' with the integrand'))).toBe(true);
    const { value, error, evaluations } = inlined;
    expect(linked).toMatchObject({ value, error, evaluations });
  });
});

test.skipIf(absent)(
  'of a second integrand only the integrand is compiled, and of one known to the disk nothing',
  async () => {
    vi.stubEnv('QUADRILLE_TIER', 'linked'); // an emulated kernel soon takes long enough for the other one
    const options = { dims: 4, device: 'cuda', method: 'pagani', relTol: 1e-3 } as const;
    await integrate(([x, y, z, u]) => Math.exp(-x * y - z * u), options);
    expect(compiled()).toContain('regions without the integrand');
    phases = [];
    await integrate(([x, y, z, u]) => Math.exp(-x * y - z * u - 1), options);
    expect(compiled()).toEqual(['the integrand']);
    phases = [];
    await integrate(([x, y, z, u]) => Math.exp(-x * y - z * u), options);
    expect(compiled()).toEqual([]);
  },
);

test.skipIf(absent)(
  'after 0.3 s of waiting for linked kernels, those with the integrand inside take over',
  async () => {
    vi.stubEnv('QUADRILLE_TIER', '');
    const subject = named('f4_5');
    const session = await new CudaDevice(0).open(integrandOf(subject));
    const task = sampleTask(subject.domain, 2, 20, 32);
    const sample = () => session.sample(task, { first: 0, count: 1 });
    const { nodes } = await sample();
    expect(compiled()).toContain('sample without the integrand');
    expect(compiled()).not.toContain('sample with the integrand');
    vi.stubEnv('QUADRILLE_EMULATOR_SLOW', 'sampleFrozen=600');
    await sample();
    vi.stubEnv('QUADRILLE_EMULATOR_SLOW', '');
    const start = performance.now();
    while (!phases.includes('loading sample with the integrand') && performance.now() - start < 100_000) {
      expect((await sample()).nodes).toEqual(nodes);
      await new Promise(resolve => setTimeout(resolve, 20));
    }
    expect(phases).toContain('loading sample with the integrand');
    expect((await sample()).nodes).toEqual(nodes);
    session.close();
  },
);

test.skipIf(absent)(
  'where the driver cannot link, kernels have the integrand inside, and the device says so',
  async () => {
    vi.stubEnv('QUADRILLE_EMULATOR_LINK', '218');
    vi.stubEnv('QUADRILLE_TIER', '');
    const options = { dims: 2, method: 'vegas+', relTol: 1e-2 } as const;
    const r = await integrate(([x, y]) => Math.exp(-x * y) + 2, { ...options, device: 'cuda:1' });
    expect(r.device).toBe('cuda:1 (Emulated GPU 1, which cannot link kernels)');
    expect(compiled()).toContain('sample with the integrand');
    expect(phases).toContainEqual(
      expect.stringMatching(
        /^not linked: the driver could not link a kernel: CUDA_ERROR_INVALID_PTX .*; asked for$/,
      ),
    );
    phases = [];
    await integrate(([x, y]) => Math.exp(-x * y) + 3, { ...options, device: 'cuda:1' });
    expect(compiled()).toEqual(['sample with the integrand']);
  },
);

test.skipIf(absent)('the integrand is compiled while the context is made', async () => {
  const timed: Phase[] = [];
  listenToPhases(p => timed.push(p));
  const device = new CudaDevice(0);
  expect(timed.some(p => p.name === 'making the context')).toBe(false);
  const subject = named('f2_3');
  const session = await device.open(integrandOf(subject));
  await session.sample(sampleTask(subject.domain, 2, 20, 32), { first: 0, count: 1 });
  const [compiling, making] = ['compiling the integrand', 'making the context'].map(
    name => timed.filter(p => p.name === name)[0],
  );
  expect(compiling.start).toBeLessThan(making.start);
  expect(compiling.end).toBeGreaterThan(making.end);
  session.close();
  await device.close();
});

test.skipIf(absent)('QUADRILLE_TIER with another value is an error', async () => {
  vi.stubEnv('QUADRILLE_TIER', 'fast');
  await expect(integrate(([x, y]) => x * y, { dims: 2, device: 'cuda', method: 'vegas+' })).rejects.toThrow(
    "QUADRILLE_TIER is 'fast'; it may be 'linked' or 'inlined', or not be set.",
  );
});
