/** WebAssembly modules, made from bytes. Where there is no WebAssembly the error says what to do instead. */
import { RecentCache } from '../../integrand/recent-cache.ts';
import { DeviceError } from '../device.ts';

/** The smallest module: its magic number and version. */
const EMPTY_MODULE = Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0);

let works = false;

/** Throws unless modules can be compiled here: `node --jitless` has no WebAssembly, and policies of pages may forbid it. */
export async function checkWebAssembly(): Promise<void> {
  if (works) return;
  await compiled(EMPTY_MODULE);
  works = true;
}

async function compiled(bytes: Uint8Array<ArrayBuffer>): Promise<WebAssembly.Module> {
  if (typeof WebAssembly !== 'object')
    throw new DeviceError(
      "there is no WebAssembly, which compiled integrands need; start Node without --jitless, or run the function as it is with device: 'js'",
    );
  try {
    return await WebAssembly.compile(bytes);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : cause;
    throw new DeviceError(
      `WebAssembly could not compile a module (${why}); allow it ('wasm-unsafe-eval' in the policy of a page), give the process more memory, or run the function as it is with device: 'js'`,
      { cause },
    );
  }
}

/** Kernels, by what they were made for. V8 keeps optimised code with a module. */
const kernels = new Map<string, Promise<WebAssembly.Module>>();

export function kernelOf(
  key: string,
  bytes: () => Promise<Uint8Array<ArrayBuffer>>,
): Promise<WebAssembly.Module> {
  const module = kernels.get(key) ?? bytes().then(compiled);
  kernels.set(key, module);
  module.catch(() => kernels.delete(key)); // the next run tries again
  return module;
}

/** Integrands as modules, by their bytes, 8 MB in all. V8 keeps optimised code with a module, so a second run starts fast. */
const modules = new RecentCache<Promise<WebAssembly.Module>>(2 ** 23);

export function moduleOf(bytes: Uint8Array<ArrayBuffer>): Promise<WebAssembly.Module> {
  const key = new TextDecoder('latin1').decode(bytes);
  const known = modules.get(key);
  if (known) return known;
  const module = compiled(bytes);
  modules.set(key, module, key.length);
  module.catch(() => modules.delete(key)); // the next run tries again
  return module;
}
