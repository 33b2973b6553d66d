/// <reference types="@webgpu/types" />
/**
 * Finds a GPU: that of the page, by `navigator.gpu`, or in Node that of the package `webgpu` (Dawn), an optional peer. No feature is
 * required. Limits above the defaults are asked for where the adapter has them.
 */
import { DeviceError } from '../device.ts';

/** Limits that make kernels faster or tasks larger; everything works with their defaults. */
const LIMITS = [
  'maxBufferSize',
  'maxStorageBufferBindingSize',
  'maxComputeWorkgroupStorageSize',
  'maxComputeInvocationsPerWorkgroup',
  'maxComputeWorkgroupSizeX',
] as const satisfies readonly (keyof GPUSupportedLimits)[];

/** What is wrong with the GPU or its absence, and what to do. */
export class WebGpuError extends DeviceError {
  override name = 'WebGpuError';
}

/** The adapter, its name for people, and whether Dawn's binding for Node polls it. */
export async function findAdapter(): Promise<{ adapter: GPUAdapter; name: string; isPolled: boolean }> {
  const own = (globalThis.navigator as Navigator | undefined)?.gpu;
  const gpu = own ?? (await nodeGpu());
  const adapter = await gpu.requestAdapter({ powerPreference: 'high-performance' });
  if (!adapter)
    throw new WebGpuError(
      inNode()
        ? "WebGPU finds no GPU. On Linux it needs a Vulkan driver (does vulkaninfo list one?), elsewhere a current driver of the GPU. Or use device: 'cpu'."
        : "WebGPU finds no GPU in this browser: see chrome://gpu or about:support, or use device: 'cpu'.",
    );
  const { description, vendor, architecture, device } = adapter.info;
  const name =
    description || [vendor, architecture, device].filter(Boolean).join(' ') || 'a GPU without a name';
  return { adapter, name, isPolled: !own };
}

export async function openAdapter(adapter: GPUAdapter): Promise<GPUDevice> {
  const requiredLimits = Object.fromEntries(LIMITS.map(name => [name, adapter.limits[name]]));
  try {
    return await adapter.requestDevice({ requiredLimits });
  } catch (e) {
    throw new WebGpuError(`the GPU cannot be used: ${e instanceof Error ? e.message : e}`, { cause: e });
  }
}

const inNode = () => typeof process === 'object' && !!process.versions?.node;

/** Dawn's entry. It is kept: when it is collected, so are the adapters that came from it. */
let ofNode: Promise<GPU> | null = null;

function nodeGpu(): Promise<GPU> {
  if (!inNode())
    throw new WebGpuError(
      "This browser has no WebGPU, or the page is not secure: WebGPU is for https:// and localhost, in current browsers. Or use device: 'cpu'.",
    );
  ofNode ??= loadDawn();
  return ofNode;
}

/** Folders in which Linux has libraries. */
const LIBRARIES = ['/usr/lib', '/usr/lib64', '/usr/local/lib', '/lib', '/lib64'];

/** Whether Linux has Vulkan, as far as files tell: where there is none, Dawn prints a warning of its own. */
function hasVulkan(): boolean {
  if (process.platform !== 'linux') return true;
  const { existsSync } = process.getBuiltinModule('node:fs');
  const machine = { x64: 'x86_64', arm64: 'aarch64' }[process.arch as string];
  const folders = [
    ...(process.env.LD_LIBRARY_PATH ?? '').split(':').filter(Boolean),
    ...LIBRARIES.flatMap(folder => [folder, `${folder}/${machine}-linux-gnu`]),
  ];
  return folders.some(folder => existsSync(`${folder}/libvulkan.so.1`));
}

async function loadDawn(): Promise<GPU> {
  if (!hasVulkan())
    throw new WebGpuError(
      "WebGPU on Linux needs a Vulkan driver, and there is no libvulkan.so.1: install one, libvulkan1 on Debian, or use device: 'cpu'.",
    );
  // no literal, so that bundlers leave it alone: pages have navigator.gpu
  const name: string = 'webgpu';
  try {
    const dawn: typeof import('webgpu') = await import(/* @vite-ignore */ /* webpackIgnore: true */ name);
    return dawn.create([]);
  } catch (e) {
    ofNode = null;
    throw new WebGpuError(
      `WebGPU in Node needs the package webgpu, which could not be loaded (${(e as Error).message}); npm install webgpu, or use device: 'cpu'.`,
      { cause: e },
    );
  }
}
