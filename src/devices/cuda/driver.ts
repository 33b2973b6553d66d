/**
 * CUDA's driver, libcuda, through koffi, with the calls that the device needs. Nothing is built or linked; the library
 * comes with NVIDIA's driver, and is loaded when a CUDA device is first asked for.
 */
import { inWords, LIBRARY, type Text, type Worded, type Wording } from '../../options/wording.ts';
import { DeviceError } from '../device.ts';

/** An error of the card, of its driver or of its compiler. */
export class CudaError extends DeviceError implements Worded {
  override name = 'CudaError';
  readonly code: number | undefined;
  readonly #text: Text;

  constructor(text: Text, code?: number) {
    super(inWords(text, LIBRARY));
    this.code = code;
    this.#text = text;
  }

  toText(wording: Wording): string {
    return inWords(this.#text, wording);
  }
}

/** An environment variable with the path of the library, which is tried before LIBRARIES. */
const VARIABLE = 'QUADRILLE_LIBCUDA';
const LIBRARIES = ['libcuda.so.1', 'libcuda.so', 'nvcuda.dll'];

const SIGNATURES = {
  cuInit: 'int cuInit(uint32_t flags)',
  cuDriverGetVersion: 'int cuDriverGetVersion(_Out_ int *version)',
  cuDeviceGetCount: 'int cuDeviceGetCount(_Out_ int *count)',
  cuDeviceGet: 'int cuDeviceGet(_Out_ int *device, int ordinal)',
  cuDeviceGetName: 'int cuDeviceGetName(_Out_ uint8_t *name, int length, int device)',
  cuDeviceTotalMem: 'int cuDeviceTotalMem_v2(_Out_ uint64_t *bytes, int device)',
  cuDeviceGetAttribute: 'int cuDeviceGetAttribute(_Out_ int *value, int attribute, int device)',
  cuDevicePrimaryCtxRetain: 'int cuDevicePrimaryCtxRetain(_Out_ uint64_t *context, int device)',
  cuDevicePrimaryCtxRelease: 'int cuDevicePrimaryCtxRelease_v2(int device)',
  cuDevicePrimaryCtxReset: 'int cuDevicePrimaryCtxReset_v2(int device)',
  cuCtxSetCurrent: 'int cuCtxSetCurrent(uint64_t context)',
  cuMemGetInfo: 'int cuMemGetInfo_v2(_Out_ uint64_t *free, _Out_ uint64_t *total)',
  cuModuleLoadData: 'int cuModuleLoadData(_Out_ uint64_t *module, const void *image)',
  cuModuleLoadLinked: 'int cuModuleLoadData(_Out_ uint64_t *module, uint64_t image)',
  cuLinkCreate:
    'int cuLinkCreate_v2(uint32_t count, const void *options, uint64_t values, _Out_ uint64_t *state)',
  cuLinkAddData:
    'int cuLinkAddData_v2(uint64_t state, int type, const void *data, size_t bytes, const char *name, uint32_t count, const void *options, const void *values)',
  cuLinkComplete: 'int cuLinkComplete(uint64_t state, _Out_ uint64_t *image, _Out_ uint64_t *bytes)',
  cuLinkDestroy: 'int cuLinkDestroy(uint64_t state)',
  cuModuleUnload: 'int cuModuleUnload(uint64_t module)',
  cuModuleGetFunction: 'int cuModuleGetFunction(_Out_ uint64_t *fn, uint64_t module, const char *name)',
  cuFuncGetAttribute: 'int cuFuncGetAttribute(_Out_ int *value, int attribute, uint64_t fn)',
  cuFuncSetAttribute: 'int cuFuncSetAttribute(uint64_t fn, int attribute, int value)',
  cuMemHostAlloc: 'int cuMemHostAlloc(_Out_ uint64_t *address, size_t bytes, uint32_t flags)',
  cuMemHostGetDevicePointer:
    'int cuMemHostGetDevicePointer_v2(_Out_ uint64_t *address, uint64_t host, uint32_t flags)',
  cuMemAlloc: 'int cuMemAlloc_v2(_Out_ uint64_t *address, size_t bytes)',
  cuMemFree: 'int cuMemFree_v2(uint64_t address)',
  cuMemcpyHtoD: 'int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes)',
  cuMemcpyDtoH: 'int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes)',
  cuMemcpyDtoD: 'int cuMemcpyDtoD_v2(uint64_t to, uint64_t from, size_t bytes)',
  cuMemsetD8: 'int cuMemsetD8_v2(uint64_t address, uint8_t value, size_t bytes)',
  cuLaunchKernel:
    'int cuLaunchKernel(uint64_t fn, uint32_t gx, uint32_t gy, uint32_t gz, uint32_t bx, uint32_t by, uint32_t bz, uint32_t shared, uint64_t stream, void **params, void **extra)',
  cuStreamQuery: 'int cuStreamQuery(uint64_t stream)',
  cuGetErrorName: 'int cuGetErrorName(int error, _Out_ const char **name)',
  cuGetErrorString: 'int cuGetErrorString(int error, _Out_ const char **text)',
} as const;

type Call = (...args: unknown[]) => number;
export type Driver = Record<keyof typeof SIGNATURES, Call>;

export const NOT_READY = 600;
export const OUT_OF_MEMORY = 2;

let loaded: Driver | null = null;

export function loadDriver(): Driver {
  if (loaded) return loaded;
  const library = openLibrary(VARIABLE, LIBRARIES);
  if (!library)
    throw new CudaError(
      w =>
        `no CUDA driver (libcuda) on this machine; install NVIDIA's driver, or use ${w.setting('device', 'cpu')}.`,
    );
  const driver = bindAll(library, SIGNATURES) as Driver;
  const status = driver.cuInit(0);
  if (status !== 0)
    throw new CudaError(
      w =>
        `CUDA's driver does not start: ${errorText(driver, status)}; see whether nvidia-smi works, or use ${w.setting('device', 'cpu')}.`,
      status,
    );
  loaded = driver;
  return driver;
}

/** A library that was opened. */
export interface Library {
  name: string;
  func(signature: string): Call;
}

/**
 * The library that the environment variable names; without it the first of `names` that can be opened, or null. A named
 * one that cannot be opened is an error: with another one in its place, people would search long for what is wrong.
 */
export function openLibrary(variable: string, names: readonly string[]): Library | null {
  const { [variable]: named } = process.env;
  const koffi = loadKoffi();
  if (named) {
    const { isAbsolute } = process.getBuiltinModule('node:path');
    // a name without a folder is looked for where the system keeps its libraries
    if (/[/\\]/.test(named) && !isAbsolute(named))
      throw new CudaError(`${variable} is '${named}'; give an absolute path, or a name alone.`);
    try {
      const library = koffi.load(named);
      return { name: named, func: s => library.func(s) };
    } catch (e) {
      throw new CudaError(`${variable} names a library that cannot be opened: ${(e as Error).message}`);
    }
  }
  for (const name of names) {
    try {
      const library = koffi.load(name);
      return { name, func: s => library.func(s) };
    } catch {
      // tries the next one
    }
  }
  return null;
}

/** The functions of a library by name. */
export function bindAll<K extends string>(library: Library, signatures: Record<K, string>): Record<K, Call> {
  const entries = Object.entries<string>(signatures).map(([name, signature]) => {
    try {
      return [name, library.func(signature)];
    } catch (e) {
      throw new CudaError(
        `${library.name} has no ${name} (${(e as Error).message}); it is another library, or too old: update NVIDIA's driver and NVRTC.`,
      );
    }
  });
  return Object.fromEntries(entries) as Record<K, Call>;
}

/** Memory of the host that the driver allocated, as an ArrayBuffer. */
export function hostMemory(address: number, bytes: number): ArrayBuffer {
  return loadKoffi().view(BigInt(address), bytes);
}

/** Memory of the host that stays at its address until the process ends. */
export function fixedMemory(bytes: number): { memory: ArrayBuffer; address: bigint } {
  const koffi = loadKoffi();
  const address = koffi.address(koffi.alloc('uint8_t', bytes));
  return { memory: koffi.view(address, bytes), address };
}

interface Koffi {
  load(name: string): { func(signature: string): Call };
  view(address: bigint, bytes: number): ArrayBuffer;
  alloc(type: string, length: number): unknown;
  address(value: unknown): bigint;
}

function loadKoffi(): Koffi {
  try {
    // bundlers for the browser do not follow getBuiltinModule
    return process.getBuiltinModule('node:module').createRequire(import.meta.url)('koffi');
  } catch (cause) {
    throw new CudaError(
      `CUDA devices need the package koffi, which could not be loaded (${(cause as Error).message}); npm install koffi.`,
    );
  }
}

/** Throws unless a call succeeded; `doing` says what it was for. */
export function check(driver: Driver, status: number, doing: string): void {
  if (status === 0) return;
  const remedy: Text = REMEDIES[status] ?? (isSticky(status) ? NO_MORE : '');
  const failure = `CUDA failed ${doing}: ${errorText(driver, status)}`;
  throw new CudaError(w => `${failure}${inWords(remedy, w)}`, status);
}

/** The remedy after a fault. */
const NO_MORE: Text = w =>
  `. This process cannot use the card any more: start a new one, and see whether the integrand runs with ${w.setting('device', 'cpu')}`;
const REMEDIES: Record<number, Text> = {
  [OUT_OF_MEMORY]:
    '; the card is out of memory: close what else runs on it, or lower cubature.maxMemory or vegas.maxStrata',
  209: '; the card is too old for this kernel, or the driver for this NVRTC: update the driver',
  218: '; the driver is older than the NVRTC that made this kernel: update the driver',
  700: w => `; the integrand read or wrote where it must not${inWords(NO_MORE, w)}`,
  702: w => `; a kernel took longer than the driver allows on a card with a display${inWords(NO_MORE, w)}`,
  719: w => `; the integrand failed on the card${inWords(NO_MORE, w)}`,
};

/** Whether this status is a fault after which no call of this process works on the card any more. */
export function isSticky(status: number): boolean {
  return (
    [214, 220, 709, 710, 999].includes(status) ||
    (status >= 700 && status <= 702) ||
    (status >= 714 && status <= 720)
  );
}

export function errorText(driver: Driver, status: number): string {
  const [name, text] = [[null], [null]] as [(string | null)[], (string | null)[]];
  driver.cuGetErrorName(status, name);
  driver.cuGetErrorString(status, text);
  return `${name[0] ?? status} (${text[0] ?? 'unknown'})`;
}
