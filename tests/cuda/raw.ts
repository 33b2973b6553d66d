/** The emulated driver with nothing between it and a test. */
import { createRequire } from 'node:module';
import { type Driver, loadDriver } from '../../src/devices/cuda/driver.ts';
import { compileCuda } from '../../src/devices/cuda/nvrtc.ts';

export type Call = (...args: unknown[]) => number;
export type List = Int32Array | Uint32Array | Float32Array | Float64Array | BigUint64Array;

/** A call of the driver by its C prototype. */
export const call = (signature: string): Call =>
  createRequire(import.meta.url)('koffi')
    .load(process.env.QUADRILLE_LIBCUDA)
    .func(signature);

/** What a call that gives a number through its first pointer gives. */
export function given(call: Call, ...args: unknown[]): number {
  const out = [0];
  const status = call(out, ...args);
  if (status !== 0) throw new Error(`status ${status}`);
  return Number(out[0]);
}

/** A device with its context, current as long as no other one is made so. */
export class Raw {
  readonly driver: Driver = loadDriver();
  readonly device: number;

  constructor(device: number) {
    this.device = device;
    this.use();
  }

  use(): void {
    const context = given(this.driver.cuDevicePrimaryCtxRetain, this.device);
    this.driver.cuCtxSetCurrent(context);
  }

  module(source: string): number {
    return given(
      this.driver.cuModuleLoadData,
      compileCuda({ text: source, architecture: 'sm_90', driver: 13000 }),
    );
  }

  /** Launches a kernel of one param, an address; gives the status. */
  launch(module: number, name: string, address: number, blocks = 1, threads = 32, shared = 0): number {
    const fn = given(this.driver.cuModuleGetFunction, module, name);
    const params = [BigUint64Array.of(BigInt(address))];
    return this.driver.cuLaunchKernel(fn, blocks, 1, 1, threads, 1, 1, shared, 0, params, null);
  }

  take(bytes: number): number {
    return given(this.driver.cuMemAlloc, bytes);
  }

  /** What a kernel `k(T* out)` makes of a list; throws its status where it fails. */
  run<T extends List>(source: string, out: T, { blocks = 1, threads = 32, shared = 0 } = {}): T {
    const { driver } = this;
    const [module, address] = [this.module(source), this.take(out.byteLength)];
    driver.cuMemcpyHtoD(address, out, out.byteLength);
    for (const status of [
      this.launch(module, 'k', address, blocks, threads, shared),
      driver.cuMemcpyDtoH(out, address, out.byteLength),
    ])
      if (status !== 0) throw Object.assign(new Error(this.textOf(status)), { status });
    driver.cuMemFree(address);
    driver.cuModuleUnload(module);
    return out;
  }

  textOf(status: number): string {
    const text = [null] as (string | null)[];
    this.driver.cuGetErrorString(status, text as never);
    return `${text[0]}`;
  }
}
