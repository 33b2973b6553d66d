/** `devices()`: what it finds, and what it says where there is nothing to find. */
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { absent } from '../cuda/emulated.ts';

/** `devices` of a process that has not loaded a driver yet. */
async function freshDevices(before = () => {}) {
  vi.resetModules();
  const { devices } = await import('../../src/index.ts');
  before();
  return devices();
}

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
  delete process.env.QUADRILLE_EMULATOR_DEVICES;
  vi.unstubAllEnvs();
});

test('cpu with its cores, and js', async () => {
  const [cpu, js] = await freshDevices();
  const cores = availableParallelism();
  expect(cpu).toMatchObject({ name: 'cpu', kind: 'cpu', cores });
  expect(cpu.description).toMatch(new RegExp(`^${cores} cores?`));
  expect(js).toMatchObject({ name: 'js', kind: 'js' });
});

test.skipIf(absent)(
  'every card with its memory, compute capability, multiprocessors and driver',
  async () => {
    process.env.QUADRILLE_EMULATOR_DEVICES = '3';
    const cards = (await freshDevices()).filter(d => d.kind === 'cuda');
    expect(cards.map(c => c.name)).toEqual(['cuda:0', 'cuda:1', 'cuda:2']);
    expect(cards[1]).toEqual({
      name: 'cuda:1',
      kind: 'cuda',
      description: 'Emulated GPU 1, 1 GiB, 4 multiprocessors, compute capability 9.0, driver for CUDA 13.0',
      memory: 2 ** 30,
      computeCapability: '9.0',
      driver: '13.0',
      multiprocessors: 4,
    });
  },
);

describe('where no card can be used, one entry says why', () => {
  const why = async (before?: () => void) => {
    const cards = (await freshDevices(before)).filter(d => d.kind === 'cuda');
    expect(cards).toHaveLength(1);
    expect(cards[0]).toMatchObject({ name: 'cuda', description: `none: ${cards[0].missing}` });
    return cards[0].missing;
  };
  test.skipIf(absent)('no card', async () => {
    process.env.QUADRILLE_EMULATOR_DEVICES = '0';
    expect(await why()).toMatch(/^CUDA's driver does not start: CUDA_ERROR_NO_DEVICE .*nvidia-smi/);
  });
  test('no driver', async () => {
    const koffi = createRequire(import.meta.url)('koffi') as { load(name: string): unknown };
    vi.spyOn(koffi, 'load').mockImplementation(name => {
      throw new Error(`cannot open ${name}`);
    });
    vi.stubEnv('QUADRILLE_LIBCUDA', undefined);
    expect(await why()).toBe(
      "no CUDA driver (libcuda) on this machine; install NVIDIA's driver, or use device: 'cpu'.",
    );
  });
  test('no koffi', async () => {
    const module = process.getBuiltinModule('node:module');
    vi.spyOn(module, 'createRequire').mockReturnValue((() => {
      throw new Error("Cannot find module 'koffi'");
    }) as never);
    expect(await why()).toBe(
      "CUDA devices need the package koffi, which could not be loaded (Cannot find module 'koffi'); npm install koffi.",
    );
  });
  test('a page', async () => {
    // not before modules are loaded: what loads them here is in Node
    expect(await why(() => vi.stubGlobal('process', undefined))).toBe(
      'CUDA devices are for Node, not for pages.',
    );
  });
});
