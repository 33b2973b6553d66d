/**
 * Devices by their names, and what of them this machine has. A new kind of device is one line here, beside its folder. What
 * only Node has is loaded when it is asked for: a page has no cards, and a bundle for it does not load what it takes to ask.
 */
import { CpuDevice } from './cpu/cpu.ts';
import { WorkerPool } from './cpu/worker-pool.ts';
import type { Device } from './device.ts';
import { JsDevice } from './js/js.ts';
import { Spread } from './spread.ts';

/** A device of this machine. */
export interface DeviceInfo {
  /** As the option `device` takes it: `cpu`, `js`, `cuda:0`. */
  name: string;
  /** The part of the name before the colon. */
  kind: DeviceKind;
  /** What it is, for people. */
  description: string;
  /** Why it cannot be used; only for `cuda` where no card can. */
  missing?: string;
  /** Of the CPU. */
  cores?: number;
  /** Of a card: bytes. */
  memory?: number;
  /** Of a card, as 9.0. */
  computeCapability?: string;
  /** Of a card: the CUDA that its driver can do, as 13.0. */
  driver?: string;
  /** Of a card. */
  multiprocessors?: number;
}

/** Devices that a name stands for: several for `cuda:*`. */
export interface Opened {
  devices: Device[];
  /** Why others are not among them. */
  warnings?: string[];
  /** They are nobody else's, and closed after the run. */
  own?: boolean;
}

interface Kind {
  /** `number` stands behind the colon of a name. */
  open(number: string | undefined): Opened | Promise<Opened>;
  list(): DeviceInfo[] | Promise<DeviceInfo[]>;
}

const KINDS = {
  cpu: { open: openWorkers(n => new CpuDevice(n)), list: listCpu },
  js: { open: openWorkers(n => new JsDevice(n)), list: listJs },
  cuda: { open: async n => (await loadCuda()).openCuda(n), list: async () => (await loadCuda()).listCuda() },
} satisfies Record<string, Kind>;

export type DeviceKind = keyof typeof KINDS;

/** Evaluations that take a CPU minutes: beyond, `auto` looks for a card, whose kernels take the better part of a second to compile. */
const LONG = 1e10;

/** The device that an option names, and how to give it back. Open devices are returned as they are. */
export async function openDevice(
  asked: string | readonly string[] | Device,
  maxEvaluations: number,
): Promise<{ device: Device; release(): Promise<void> }> {
  if (typeof asked !== 'string' && !Array.isArray(asked))
    return { device: asked as Device, release: async () => {} };
  const names = asked === 'auto' ? [await chosen(maxEvaluations)] : ([asked].flat() as string[]);
  const opened: Opened[] = [];
  const release = async () => {
    await Promise.all(opened.filter(o => o.own).flatMap(o => o.devices.map(d => d.close())));
  };
  try {
    for (const name of names) {
      const [kind, number] = name.split(':');
      opened.push(await KINDS[kind as DeviceKind].open(number));
    }
  } catch (e) {
    await release();
    throw e;
  }
  const devices = opened.flatMap(o => o.devices);
  const warnings = opened.flatMap(o => o.warnings ?? []);
  const single = devices.length === 1 && warnings.length === 0;
  return { device: single ? devices[0] : new Spread(devices, warnings), release };
}

/** The devices of this machine. Where no CUDA card can be used, an entry `cuda` says why in `missing`. */
export async function devices(): Promise<DeviceInfo[]> {
  return (await Promise.all(Object.values(KINDS).map(k => k.list()))).flat();
}

/** What `auto` stands for. It depends on the options alone, not on a clock, so that bits do not. */
async function chosen(maxEvaluations: number): Promise<string> {
  if (maxEvaluations < LONG || !inNode()) return 'cpu';
  return (await loadCuda()).hasCard() ? 'cuda' : 'cpu';
}

let pool: WorkerPool | null = null;

/** Devices with workers. Those without a number share a pool that is kept: its idle workers do not keep a process alive. */
function openWorkers(make: (workers: number | WorkerPool) => Device): Kind['open'] {
  return number => {
    if (number) return { devices: [make(Number(number))], own: true };
    pool ??= new WorkerPool('cpu');
    return { devices: [make(pool)] };
  };
}

async function loadCuda() {
  if (inNode()) return import('./cuda/open.ts');
  const why = 'CUDA devices are for Node, not for pages.';
  return {
    openCuda: (): never => {
      throw new Error(why);
    },
    listCuda: (): DeviceInfo[] => [{ name: 'cuda', kind: 'cuda', description: `none: ${why}`, missing: why }],
    hasCard: () => false,
  };
}

const inNode = () => typeof process === 'object' && !!process.versions?.node;

function listCpu(): DeviceInfo[] {
  const os = inNode() ? process.getBuiltinModule('node:os') : null;
  const cores = os ? os.availableParallelism() : (globalThis.navigator?.hardwareConcurrency ?? 1);
  const model = os?.cpus()[0]?.model.trim();
  const description = `${cores} ${cores === 1 ? 'core' : 'cores'}${model ? `, ${model}` : ''}`;
  return [{ name: 'cpu', kind: 'cpu', description, cores }];
}

function listJs(): DeviceInfo[] {
  return [{ name: 'js', kind: 'js', description: 'functions as they are, without compiling' }];
}
