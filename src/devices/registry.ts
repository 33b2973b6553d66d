/**
 * What there is to integrate on. CUDA's driver is asked only where there can be one: a page has none, and a bundle for it
 * does not load what it takes to ask.
 */

/** A device of this machine. */
export interface DeviceInfo {
  /** As the option `device` takes it: `cpu`, `js`, `cuda:0`. */
  name: string;
  /** The part of the name before the colon. */
  kind: 'cpu' | 'js' | 'cuda';
  /** What it is, for people. */
  description: string;
  /** Why it cannot be used; only of `cuda` where no card can. */
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

/** The devices of this machine. Where no CUDA card can be used, an entry `cuda` says why in `missing`. */
export async function devices(): Promise<DeviceInfo[]> {
  const cores = coreCount();
  const model = processorName();
  return [
    {
      name: 'cpu',
      kind: 'cpu',
      description: `${cores} ${cores === 1 ? 'core' : 'cores'}${model ? `, ${model}` : ''}`,
      cores,
    },
    { name: 'js', kind: 'js', description: 'functions as they are, without compiling' },
    ...(await cards()),
  ];
}

async function cards(): Promise<DeviceInfo[]> {
  if (!inNode()) return [missing('CUDA devices are for Node, not for pages.')];
  try {
    const { listCards } = await import('./cuda/info.ts');
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

export const inNode = () => typeof process === 'object' && !!process.versions?.node;

function coreCount(): number {
  if (inNode()) return process.getBuiltinModule('node:os').availableParallelism();
  return globalThis.navigator?.hardwareConcurrency ?? 1;
}

function processorName(): string | undefined {
  return inNode() ? process.getBuiltinModule('node:os').cpus()[0]?.model.trim() : undefined;
}
