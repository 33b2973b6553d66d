/** CUDA devices by their numbers. They are kept open, since opening a card takes a good part of a second. */
import type { DeviceInfo } from '../list.ts';
import type { Opened } from '../registry.ts';
import { CudaDevice } from './cuda.ts';
import { CudaError } from './driver.ts';
import { listCards } from './info.ts';
import { loadNvrtc } from './nvrtc.ts';

const opened = new Map<number, CudaDevice>();

/** The card of that number; by default the first one; for `*`, every card that can be used. */
export function openCuda(number: string | undefined): Opened {
  return number === '*' ? every() : { devices: [one(Number(number ?? 0))] };
}

/** Whether there is a card, and NVRTC to compile for it. */
export function hasCard(): boolean {
  try {
    loadNvrtc();
    one(0).card.use();
    return true;
  } catch (e) {
    if (!(e instanceof CudaError)) throw e;
    return false;
  }
}

/** The cards of this machine, or why none can be used. */
export function listCuda(): DeviceInfo[] {
  try {
    const found = listCards();
    if (found.length === 0)
      return [missing('the CUDA driver sees no GPU; see whether nvidia-smi lists one.')];
    return found.map(({ ordinal, name, memory, computeCapability, driver, multiprocessors }) => ({
      name: `cuda:${ordinal}`,
      kind: 'cuda',
      description: `${name}, ${(memory / 2 ** 30).toFixed(0)} GiB, ${multiprocessors} multiprocessors, compute capability ${computeCapability}, driver for CUDA ${driver}`,
      memory,
      computeCapability,
      driver,
      multiprocessors,
    }));
  } catch (e) {
    return [missing(e instanceof Error ? e.message : String(e))];
  }
}

const missing = (why: string): DeviceInfo => ({
  name: 'cuda',
  kind: 'cuda',
  description: `none: ${why}`,
  missing: why,
});

function one(ordinal: number): CudaDevice {
  const device = opened.get(ordinal) ?? new CudaDevice(ordinal);
  opened.set(ordinal, device);
  return device;
}

function every(): Opened {
  const devices: CudaDevice[] = [];
  const failures: CudaError[] = [];
  const cards = listCards();
  if (cards.length === 0) return { devices: [one(0)] }; // opening it throws an error that says what to do
  for (const { ordinal } of cards) {
    try {
      const device = one(ordinal);
      device.card.use();
      devices.push(device);
    } catch (e) {
      if (!(e instanceof CudaError)) throw e;
      failures.push(e);
    }
  }
  if (devices.length === 0) throw failures[0];
  return { devices, warnings: failures.map(e => `a card was left out: ${e.message}`) };
}
