/** One GPU: its context, its memory, its kernels. */
import { CudaError, check, type Driver, finished, loadDriver } from './driver.ts';
import { compileCuda } from './nvrtc.ts';

/** What a card is. */
export interface CardInfo {
  ordinal: number;
  name: string;
  /** Bytes. */
  memory: number;
  computeCapability: string;
  /** Of the driver, as 13.0. */
  driver: string;
}

const ATTRIBUTE = { major: 75, minor: 76, processors: 16, sharedOptIn: 97 };
const SHARED_SIZE = 8; // of cuFuncSetAttribute
/** Below, kernels use instructions that are not there. */
const OLDEST = 70;

export function listCards(): CardInfo[] {
  const driver = loadDriver();
  const [count] = out(driver, p => driver.cuDeviceGetCount(p), 'counting devices');
  return Array.from({ length: count }, (_, ordinal) => infoOf(driver, ordinal));
}

function infoOf(driver: Driver, ordinal: number): CardInfo {
  const [device] = out(driver, p => driver.cuDeviceGet(p, ordinal), 'looking for a device');
  const name = new Uint8Array(256);
  check(driver, driver.cuDeviceGetName(name, 256, device), 'reading the name of a device');
  const attribute = (a: number) =>
    out(driver, p => driver.cuDeviceGetAttribute(p, a, device), 'asking a device')[0];
  const [memory] = out(driver, p => driver.cuDeviceTotalMem(p, device), 'asking for the memory of a device');
  const [version] = out(driver, p => driver.cuDriverGetVersion(p), "asking for the driver's version");
  return {
    ordinal,
    name: new TextDecoder().decode(name.subarray(0, name.indexOf(0))),
    memory,
    computeCapability: `${attribute(ATTRIBUTE.major)}.${attribute(ATTRIBUTE.minor)}`,
    driver: `${Math.floor(version / 1000)}.${Math.floor((version % 1000) / 10)}`,
  };
}

/** A call that gives numbers through pointers. */
function out(driver: Driver, call: (...pointers: unknown[]) => number, doing: string, n = 1): number[] {
  const pointers = Array.from({ length: n }, () => [0]);
  check(driver, call(...pointers), doing);
  return pointers.map(p => Number(p[0]));
}

export class Card {
  readonly info: CardInfo;
  readonly driver: Driver;
  readonly processors: number;
  /** Bytes of shared memory that a block can have. */
  readonly shared: number;
  readonly #device: number;
  #context: number;
  readonly #version: number;

  constructor(ordinal: number) {
    const driver = loadDriver();
    const [count] = out(driver, p => driver.cuDeviceGetCount(p), 'counting devices');
    if (ordinal >= count)
      throw new CudaError(
        count === 0
          ? "the CUDA driver sees no GPU; see whether nvidia-smi lists one, or use device: 'cpu'."
          : `there is no device cuda:${ordinal}; this machine has ${count}: cuda:0${count > 1 ? ` to cuda:${count - 1}` : ''}.`,
      );
    this.driver = driver;
    this.info = infoOf(driver, ordinal);
    if (Number(this.info.computeCapability) * 10 < OLDEST)
      throw new CudaError(
        `${this.info.name} has compute capability ${this.info.computeCapability}; 7.0 is the least. Use device: 'cpu'.`,
      );
    [this.#device] = out(driver, p => driver.cuDeviceGet(p, ordinal), 'looking for a device');
    [this.#context] = out(driver, p => driver.cuDevicePrimaryCtxRetain(p, this.#device), 'opening a device');
    [this.#version] = out(driver, p => driver.cuDriverGetVersion(p), "asking for the driver's version");
    const attribute = (a: number) =>
      out(driver, p => driver.cuDeviceGetAttribute(p, a, this.#device), 'asking a device')[0];
    this.processors = attribute(ATTRIBUTE.processors);
    this.shared = attribute(ATTRIBUTE.sharedOptIn);
    this.use();
  }

  /** Makes its context the current one. */
  use(): void {
    check(this.driver, this.driver.cuCtxSetCurrent(this.#context), 'choosing a device');
  }

  /** After a fault nothing works in a context any more: throws it away and opens a new one. */
  reset(): void {
    this.driver.cuDevicePrimaryCtxReset(this.#device);
    this.driver.cuDevicePrimaryCtxRelease(this.#device);
    [this.#context] = out(
      this.driver,
      p => this.driver.cuDevicePrimaryCtxRetain(p, this.#device),
      'opening a device again',
    );
    this.use();
  }

  get freeMemory(): number {
    this.use();
    return out(this.driver, (a, b) => this.driver.cuMemGetInfo(a, b), 'asking for free memory', 2)[0];
  }

  module(source: string): Module {
    const [major, minor] = this.info.computeCapability.split('.');
    const image = compileCuda(source, `sm_${major}${minor}`, this.#version);
    this.use();
    const [module] = out(this.driver, p => this.driver.cuModuleLoadData(p, image), 'loading a kernel');
    return new Module(this, module);
  }

  buffer(): Buffer {
    return new Buffer(this);
  }

  finished(signal: AbortSignal | undefined, doing: string): Promise<void> {
    return finished(this.driver, signal, doing);
  }

  close(): void {
    this.driver.cuDevicePrimaryCtxRelease(this.#device);
  }
}

export class Module {
  readonly #card: Card;
  readonly #module: number;
  readonly #functions = new Map<string, number>();

  constructor(card: Card, module: number) {
    this.#card = card;
    this.#module = module;
  }

  /** Starts a kernel; `shared` bytes of shared memory a block. */
  launch(name: string, blocks: number, threads: number, shared: number, ...params: ArrayBufferView[]): void {
    const { driver } = this.#card;
    this.#card.use();
    let fn = this.#functions.get(name);
    if (fn === undefined) {
      [fn] = out(driver, p => driver.cuModuleGetFunction(p, this.#module, name), `looking for ${name}`);
      this.#functions.set(name, fn);
    }
    // more than every kernel may have has to be asked for
    if (shared > 48 * 1024)
      check(driver, driver.cuFuncSetAttribute(fn, SHARED_SIZE, shared), `preparing ${name}`);
    const status = driver.cuLaunchKernel(fn, blocks, 1, 1, threads, 1, 1, shared, 0, params, null);
    check(driver, status, `starting ${name}`);
  }

  close(): void {
    this.#card.driver.cuModuleUnload(this.#module);
  }
}

/** Memory on the card, which grows and is kept from call to call. */
export class Buffer {
  readonly #card: Card;
  #size = 0;
  address = 0;

  constructor(card: Card) {
    this.#card = card;
  }

  /** Makes room for so many bytes; what was in it is gone when it grows. */
  reserve(bytes: number): this {
    if (bytes <= this.#size) return this;
    const { driver } = this.#card;
    this.#card.use();
    this.close();
    [this.address] = out(
      driver,
      p => driver.cuMemAlloc(p, bytes),
      `taking ${(bytes / 2 ** 20).toFixed(0)} MiB of memory`,
    );
    this.#size = bytes;
    return this;
  }

  write(data: ArrayBufferView): this {
    this.reserve(Math.max(8, data.byteLength));
    const { driver } = this.#card;
    if (data.byteLength > 0)
      check(driver, driver.cuMemcpyHtoD(this.address, data, data.byteLength), 'writing to the card');
    return this;
  }

  /** So many bytes, all 0. */
  clear(bytes: number): this {
    this.reserve(bytes);
    check(this.#card.driver, this.#card.driver.cuMemsetD8(this.address, 0, bytes), 'clearing memory');
    return this;
  }

  read<T extends ArrayBufferView>(into: T): T {
    if (into.byteLength > 0)
      check(
        this.#card.driver,
        this.#card.driver.cuMemcpyDtoH(into, this.address, into.byteLength),
        'reading from the card',
      );
    return into;
  }

  close(): void {
    if (this.address) this.#card.driver.cuMemFree(this.address);
    this.address = this.#size = 0;
  }
}
