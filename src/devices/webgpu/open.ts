/** The WebGPU device by its name. It is kept open for the next run. */
import type { DeviceInfo } from '../list.ts';
import type { Opened } from '../registry.ts';
import { findAdapter } from './adapter.ts';
import { WebGpuDevice } from './webgpu.ts';

let device: WebGpuDevice | null = null;

export async function openWebGpu(): Promise<Opened> {
  device ??= new WebGpuDevice();
  await device.gpu(); // so that its absence is known before the work begins
  return { devices: [device] };
}

/** Whether there is a GPU that can be opened. */
export async function hasWebGpu(): Promise<boolean> {
  try {
    await openWebGpu();
    return true;
  } catch {
    return false;
  }
}

/** The GPU that WebGPU finds, or why it finds none. */
export async function listWebGpu(): Promise<DeviceInfo[]> {
  try {
    const { name } = await findAdapter();
    return [{ name: 'webgpu', kind: 'webgpu', description: `${name}, in float32` }];
  } catch (e) {
    const why = e instanceof Error ? e.message : String(e);
    return [{ name: 'webgpu', kind: 'webgpu', description: `none: ${why}`, missing: why }];
  }
}
