/** The devices of this machine. A page that does not ask for them does not load this. */
import { cores, coresText, type DEVICES, inNode, loadCuda, loadWebGpu } from './registry.ts';

type DeviceKind = Exclude<(typeof DEVICES)[number]['kind'], 'auto' | 'nats'>;

/** A device of this machine. */
export interface DeviceInfo {
  /** As the option `device` takes it: `cpu`, `js`, `cuda:0`. */
  name: string;
  /** The part of the name before the colon. */
  kind: DeviceKind;
  /** What it is, for people. */
  description: string;
  /** Why it cannot be used; only for `cuda` and `webgpu` where no GPU can. */
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

/** The devices of this machine. Where no CUDA card or no GPU can be used, an entry `cuda` or `webgpu` says why in `missing`. */
export async function devices(): Promise<DeviceInfo[]> {
  const [cuda, webgpu] = await Promise.all([
    loadCuda().then(d => d.listCuda()),
    loadWebGpu().then(d => d.listWebGpu()),
  ]);
  // what every machine has first
  return [cpu(), js(), ...cuda, ...webgpu];
}

function cpu(): DeviceInfo {
  const model = inNode() ? process.getBuiltinModule('node:os').cpus()[0]?.model.trim() : undefined;
  const description = `${coresText(cores())}${model ? `, ${model}` : ''}`;
  return { name: 'cpu', kind: 'cpu', description, cores: cores() };
}

const js = (): DeviceInfo => ({
  name: 'js',
  kind: 'js',
  description: 'functions as they are, without compiling',
});
