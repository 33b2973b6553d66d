/** The devices of this machine. Stands in for `devices()` of the library until that is there. */
import { availableParallelism, cpus } from 'node:os';

export interface DeviceInfo {
  /** As --device takes it. */
  name: string;
  /** What it is. */
  description: string;
}

export async function devices(): Promise<DeviceInfo[]> {
  const cores = availableParallelism();
  const model = cpus()[0]?.model.trim();
  return [
    { name: 'cpu', description: `${cores} ${cores === 1 ? 'core' : 'cores'}${model ? `, ${model}` : ''}` },
    { name: 'js', description: 'functions as they are, without compiling' },
  ];
}
