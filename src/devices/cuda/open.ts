/** CUDA devices by their names. They are kept: opening a card takes a good part of a second. */
import type { Device } from '../device.ts';
import { CudaDevice } from './cuda.ts';
import { CudaError } from './driver.ts';
import { listCards } from './info.ts';
import { loadNvrtc } from './nvrtc.ts';
import { SeveralCards } from './several.ts';

const opened = new Map<number, CudaDevice>();

/** `cuda:1`, a list of such names, or `cuda:*`: every card that can be used. */
export function openCuda(names: string | readonly string[]): Device {
  if (names === 'cuda:*') return every();
  const devices = [names].flat().map(one);
  return devices.length === 1 ? devices[0] : new SeveralCards(devices);
}

/** The first card, if it and what compiles for it are there. */
export function cardIfAny(): Device | null {
  try {
    loadNvrtc();
    return one('cuda:0');
  } catch (e) {
    if (!(e instanceof CudaError)) throw e;
    return null;
  }
}

function one(name: string): CudaDevice {
  const ordinal = Number(name.split(':')[1] ?? 0);
  const device = opened.get(ordinal) ?? new CudaDevice(ordinal);
  opened.set(ordinal, device);
  return device;
}

function every(): Device {
  const devices: CudaDevice[] = [];
  const failures: CudaError[] = [];
  const cards = listCards();
  if (cards.length === 0) return one('cuda:0'); // which says what to do
  for (const { ordinal } of cards) {
    try {
      devices.push(one(`cuda:${ordinal}`));
    } catch (e) {
      if (!(e instanceof CudaError)) throw e;
      failures.push(e);
    }
  }
  if (devices.length === 0) throw failures[0];
  const warnings = failures.map(e => `a card was left out: ${e.message}`);
  return devices.length === 1 && failures.length === 0 ? devices[0] : new SeveralCards(devices, warnings);
}
