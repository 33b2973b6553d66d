/**
 * Devices by their names. A new kind of device is an entry here, beside its folder, in list.ts and in cli/words.ts. What most runs
 * do not use is loaded when it is asked for. A page has no cards: the member `browser` of package.json makes
 * bundlers put cuda/absent.ts in the place of cuda/open.ts, so that nothing of CUDA is in the files of a page.
 */
import type { ClusterOptions } from './cluster/cluster.ts';
import { isServer } from './cluster/server-url.ts';
import { CpuDevice } from './cpu/cpu.ts';
import { WorkerPool } from './cpu/worker-pool.ts';
import * as absentCuda from './cuda/absent.ts';
import type { Device } from './device.ts';

/** Devices that a name stands for: several for `cuda:*`. */
export interface Opened {
  devices: Device[];
  /** Why others are not among them. */
  warnings?: string[];
  /** They are nobody else's, and closed after the run. */
  own?: boolean;
}

/** What `auto` chooses by. */
export interface Work {
  maxEvaluations: number;
  relTol: number;
  /** Whether the method refuses float32. */
  float64: boolean;
}

interface Kind {
  kind: string;
  /** What may stand behind the colon of a name; null where the name has no colon. */
  suffix: RegExp | null;
  /** Whether it can be one of several in a list; otherwise what a message says, with what to do. */
  inLists: true | string;
  /** Whether the number behind the colon is one of workers. */
  workers?: boolean;
  /** As in Device. */
  takesFunctions?: boolean;
  /** Names for messages. */
  examples: readonly string[];
  open(suffix: string | undefined, work: Work): Opened | Promise<Opened>;
}

const ALONE = 'pass it alone';

export const DEVICES = [
  {
    kind: 'auto',
    suffix: null,
    inLists: ALONE,
    examples: ["'auto'"],
    open: openChosen,
  },
  {
    kind: 'cpu',
    suffix: /^[1-9]\d*$/,
    workers: true,
    inLists: true,
    examples: ["'cpu'", "'cpu:3' for three workers"],
    open: workers => openWorkers(workers, n => new CpuDevice(n)),
  },
  {
    kind: 'cuda',
    suffix: /^(\d+|\*)$/,
    inLists: true,
    examples: ["'cuda'", "'cuda:1'", "'cuda:*'"],
    open: async number => (await loadCuda()).openCuda(number),
  },
  {
    kind: 'webgpu',
    suffix: null,
    inLists:
      'it is the one GPU that WebGPU finds, and the part of an integral that it computes in float32 would depend on how fast the others are; pass it alone',
    examples: ["'webgpu'"],
    open: async () => (await loadWebGpu()).openWebGpu(),
  },
  {
    kind: 'js',
    suffix: /^[1-9]\d*$/,
    workers: true,
    inLists: ALONE,
    examples: ["'js'"],
    takesFunctions: true,
    open: openJs,
  },
  {
    kind: 'nats',
    suffix: null,
    inLists: ALONE,
    examples: ["'nats://host'"],
    open: url => openCluster(url!),
  },
] as const satisfies readonly Kind[];

interface DeviceName {
  of: Kind;
  /** What stands behind the colon: the workers of a CPU, the number of a card, or `*`; of a cluster, the whole URL. */
  suffix: string | undefined;
}

/** A name in its parts; undefined when it names no device. */
function readDeviceName(name: unknown): DeviceName | undefined {
  if (typeof name !== 'string') return undefined;
  if (isServer(name)) return { of: DEVICES.find(d => d.kind === 'nats')!, suffix: name };
  const [kind, suffix, more] = name.split(':');
  const of: Kind | undefined = DEVICES.find(d => d.kind === kind && d.kind !== 'nats');
  if (!of || more !== undefined) return undefined;
  return suffix === undefined || of.suffix?.test(suffix) ? { of, suffix } : undefined;
}

/** What to pass instead of a device that makes no sense; undefined for one that does. */
export function deviceRemedy(asked: unknown): string | undefined {
  const many = [asked]
    .flat()
    .map(readDeviceName)
    .some(n => n?.of.workers && Number(n.suffix) > mostWorkers());
  if (many)
    return `this machine has ${coresText(cores())}, and more than ${mostWorkers()} workers would only use up its memory; name fewer`;
  if (Array.isArray(asked)) return listRemedy(Array.from(asked, readDeviceName));
  if (typeof asked === 'string' ? readDeviceName(asked) : isDevice(asked)) return undefined;
  return `use ${DEVICES.flatMap(d => d.examples).join(', ')}, or an open device`;
}

function listRemedy(names: readonly (DeviceName | undefined)[]): string | undefined {
  for (const n of names)
    if (n && n.of.inLists !== true) {
      const { kind, inLists } = n.of;
      return `'${kind}' cannot be in a list${inLists === ALONE ? ';' : ':'} ${inLists}`;
    }
  if (names.length === 0 || names.some(n => !n || n.suffix === '*'))
    return "list CPU and CUDA devices, such as ['cuda:0', 'cuda:1'] or ['cpu', 'cuda:0'], or use 'cuda:*' for all cards";
  // cuda is cuda:0, and there is one CPU however many workers it gets
  const same = names.map(n => (n!.of.kind === 'cpu' ? 'cpu' : `${n!.of.kind}:${Number(n!.suffix ?? 0)}`));
  return new Set(same).size < same.length ? 'name each device once' : undefined;
}

/** Whether a device takes functions as they are, not compiled ones. */
export function takesFunctions(asked: string | readonly string[] | Device): boolean {
  const of: { takesFunctions?: boolean } | undefined =
    typeof asked === 'string' ? readDeviceName(asked)?.of : (asked as Device);
  return of?.takesFunctions ?? false;
}

function isDevice(value: unknown): value is Device {
  const device = value as Device | null;
  return typeof device?.open === 'function' && typeof device.close === 'function' && device.epsilon > 0;
}

/** Evaluations that take a CPU minutes: beyond, `auto` looks for a card, whose kernels take the better part of a second to compile. */
const LONG = 1e10;
/** Tolerances that float32 reaches for most integrands, whose noise is some 1e-7 of their integral. */
const LOOSE = 1e-4;

/** The device that an option names, and how to give it back. Open devices are returned as they are. */
export async function openDevice(
  asked: string | readonly string[] | Device,
  work: Work,
): Promise<{ device: Device; release(): Promise<void> }> {
  if (typeof asked !== 'string' && !Array.isArray(asked))
    return { device: asked as Device, release: async () => {} };
  const opened: Opened[] = [];
  const release = async () => {
    await Promise.all(opened.filter(o => o.own).flatMap(o => o.devices.map(d => d.close())));
  };
  try {
    for (const name of [asked].flat() as string[]) {
      const { of, suffix } = readDeviceName(name)!;
      opened.push(await of.open(suffix, work));
    }
  } catch (e) {
    await release();
    throw e;
  }
  const devices = opened.flatMap(o => o.devices);
  const warnings = opened.flatMap(o => o.warnings ?? []);
  const single = devices.length === 1 && warnings.length === 0;
  if (single) return { device: devices[0], release };
  const { Spread } = await import('./spread.ts');
  return { device: new Spread(devices, warnings), release };
}

/** What `auto` stands for. It depends on the options alone, not on a clock, so that bits do not. */
async function openChosen(_: string | undefined, { maxEvaluations, relTol, float64 }: Work): Promise<Opened> {
  if (maxEvaluations >= LONG) {
    const cuda = inNode() ? await loadCuda() : null;
    if (cuda?.hasCard()) return cuda.openCuda(undefined);
    const webgpu = !inNode() && relTol >= LOOSE && !float64 ? await loadWebGpu() : null;
    if (await webgpu?.hasWebGpu()) return webgpu!.openWebGpu();
  }
  return openWorkers(undefined, n => new CpuDevice(n));
}

let pool: WorkerPool | null = null;

/** Devices with workers. Those without a number share a pool that is kept: its idle workers do not keep a process alive. */
function openWorkers(number: string | undefined, make: (workers: number | WorkerPool) => Device): Opened {
  if (number) return { devices: [make(Number(number))], own: true };
  pool ??= new WorkerPool('cpu');
  return { devices: [make(pool)] };
}

async function openJs(workers: string | undefined): Promise<Opened> {
  const { JsDevice } = await import('./js/js.ts');
  return openWorkers(workers, n => new JsDevice(n));
}

/** The cluster at a URL. Login and certificates are not in URLs: the environment names their files. */
async function openCluster(url: string): Promise<Opened> {
  if (!inNode())
    throw new Error('In a page, pass cluster({ servers, packages }) as the device: docs/cluster.md.');
  const { cluster, optionsFromEnvironment } = await import('./cluster/by-url.ts');
  return { devices: [cluster(optionsFromEnvironment(url) as ClusterOptions)], own: true };
}

export const loadWebGpu = () => import('./webgpu/open.ts');

export const loadCuda = async () => (inNode() ? import('./cuda/open.ts') : absentCuda);

export const inNode = () => typeof process === 'object' && !!process.versions?.node;

export const cores = (): number =>
  inNode()
    ? process.getBuiltinModule('node:os').availableParallelism()
    : (globalThis.navigator?.hardwareConcurrency ?? 1);

export const coresText = (n: number) => `${n} ${n === 1 ? 'core' : 'cores'}`;

/**
 * The largest number of workers that may be asked for: a few for each core, and enough for tests of sharing anywhere. A
 * worker takes some 5 MB before it does anything; V8 ends the process, without an error to catch, when it has no memory
 * for another one.
 */
const mostWorkers = (): number => Math.max(64, 4 * cores());
