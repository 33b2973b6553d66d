/**
 * One GPU: its context, its memory, its kernels, and how it is got back.
 *
 * A kernel cannot be interrupted, but it looks at a flag in the host's memory (integrand/stop-checks.ts). When a run is
 * aborted the flag goes up, and the run comes back at once; the card belongs to it until its kernel has left, so that
 * nobody reuses what the kernel still works on.
 *
 * After a fault a process cannot use the card any more: on an H200 (driver 580) the context can be reset, but every try to
 * open it again gives the fault's error, and resetting waits for kernels as well. So there is no way back from a fault
 * but a new process, and errors say so.
 */

import { CardCache } from './card-cache.ts';
import {
  CudaError,
  check,
  type Driver,
  errorText,
  hostMemory,
  isSticky,
  loadDriver,
  NOT_READY,
  OUT_OF_MEMORY,
} from './driver.ts';
import { type CardInfo, countCards, driverVersion, infoOf, out } from './info.ts';
import { compileAhead, compileCuda, type Source } from './nvrtc.ts';
import { type Turns, turnsOf } from './turns.ts';

export { type CardInfo, listCards } from './info.ts';

const SHARED_SIZE = 8; // of cuFuncSetAttribute
const DEVICE_MAP = 2; // of cuMemHostAlloc
/** Below, kernels use instructions that are not there. */
const OLDEST = 7;
/** Bytes of the host's memory that kernels see: the stop flag, and further on their report. */
const SEEN = 4096;
const REPORT = 256;
/** Milliseconds for which the thread itself waits: a turn of the event loop takes as long as a small kernel. */
const AT_ONCE = 0.05;
/** Turns of the event loop in which short work ends; long work is asked for once a millisecond. */
const SOON = 2000;

export class Card {
  readonly info: CardInfo;
  readonly driver: Driver;
  readonly turns: Turns;
  readonly cache = new CardCache();
  readonly #device: number;
  readonly #context: number;
  readonly #version: number;
  readonly #seen: { memory: ArrayBuffer; device: number };
  /** The fault that ended its use. */
  #fault = 0;

  constructor(ordinal: number) {
    const driver = loadDriver();
    const count = countCards(driver);
    if (ordinal >= count)
      throw new CudaError(
        count === 0
          ? w =>
              `the CUDA driver sees no GPU; see whether nvidia-smi lists one, or use ${w.setting('device', 'cpu')}.`
          : `there is no device cuda:${ordinal}; this machine has ${count}: cuda:0${count > 1 ? ` to cuda:${count - 1}` : ''}.`,
      );
    this.driver = driver;
    this.info = infoOf(driver, ordinal);
    if (Number(this.info.computeCapability) < OLDEST)
      throw new CudaError(
        w =>
          `${this.info.name} has compute capability ${this.info.computeCapability}; 7.0 is the least. Use ${w.setting('device', 'cpu')}.`,
      );
    this.turns = turnsOf(ordinal);
    [this.#device] = out(driver, p => driver.cuDeviceGet(p, ordinal), 'looking for a device');
    this.#version = driverVersion(driver);
    const context = [0];
    const status = driver.cuDevicePrimaryCtxRetain(context, this.#device);
    if (isSticky(status)) throw this.#lostBefore(status);
    check(driver, status, `opening ${this.name}`);
    this.#context = Number(context[0]);
    this.use();
    this.#seen = this.#share();
  }

  get name(): string {
    return `cuda:${this.info.ordinal}`;
  }

  get processors(): number {
    return this.info.multiprocessors;
  }

  /** Bytes of shared memory that a block can have. */
  get shared(): number {
    return this.info.shared;
  }

  /** Where kernels find the stop flag; 0 when there is none. */
  get stopFlag(): number {
    return this.#seen.device;
  }

  /** Where kernels may leave a few words for the host, which reads them without asking the driver. 0: nowhere. */
  get reportTo(): number {
    return this.#seen.device && this.#seen.device + REPORT;
  }

  /** The bytes that the last kernel left there. */
  report(bytes: number): Uint8Array {
    return new Uint8Array(this.#seen.memory, REPORT, bytes).slice();
  }

  /** Runs a task on it, in its turn. */
  run<T>(signal: AbortSignal | undefined, task: () => Promise<T>): Promise<T> {
    return this.turns.take(signal, async () => {
      this.use();
      // a fault that nobody has heard of yet is not this task's
      const status = this.driver.cuStreamQuery(0);
      if (isSticky(status)) this.#fault = status;
      if (this.#fault) throw this.#lostBefore(this.#fault);
      return task();
    });
  }

  /** Makes its context the current one; nobody else changes it. */
  use(): void {
    if (current === this.#context) return;
    current = this.#context;
    check(this.driver, this.driver.cuCtxSetCurrent(this.#context), `choosing ${this.name}`);
  }

  /** Throws unless a call succeeded. */
  check(status: number, doing: string): void {
    if (isSticky(status)) this.#fault = status;
    check(this.driver, status, `${doing} on ${this.name}`);
  }

  /** A call that gives a number through a pointer. */
  get(call: (pointer: unknown) => number, doing: string): number {
    const pointer = [0];
    this.check(call(pointer), doing);
    return Number(pointer[0]);
  }

  get freeMemory(): number {
    this.use();
    return out(this.driver, (a, b) => this.driver.cuMemGetInfo(a, b), 'asking for free memory', 2)[0];
  }

  module(text: string): Module {
    const image = compileCuda(this.#source(text));
    this.use();
    return new Module(
      this,
      this.get(p => this.driver.cuModuleLoadData(p, image), 'loading a kernel'),
    );
  }

  /** Compiles a module that will be asked for; it does not need the card. */
  compileAhead(text: string): Promise<void> {
    return compileAhead(this.#source(text));
  }

  #source(text: string): Source {
    const [major, minor] = this.info.computeCapability.split('.');
    return { text, architecture: `sm_${major}${minor}`, driver: this.#version };
  }

  buffer(): Buffer {
    return new Buffer(this);
  }

  /** Waits for all work without blocking the thread. When the signal aborts, the work is told to stop, and not waited for. */
  async finished(signal: AbortSignal | undefined, doing: string): Promise<void> {
    const soon = performance.now() + AT_ONCE;
    while (!this.#idle(doing)) if (performance.now() > soon) break;
    for (let turns = 0; !this.#idle(doing); turns++) {
      if (signal?.aborted) {
        this.turns.hold(this.#stopped());
        throw signal.reason;
      }
      await new Promise(resolve => (turns < SOON ? setImmediate(resolve) : setTimeout(resolve, 1)));
    }
  }

  #idle(doing: string): boolean {
    this.use();
    const status = this.driver.cuStreamQuery(0);
    if (status === NOT_READY) return false;
    this.check(status, doing);
    return true;
  }

  /** Keeps the flag up until all work has left. */
  async #stopped(): Promise<void> {
    const flag = new Uint32Array(this.#seen.memory, 0, 1);
    flag[0] = 1;
    try {
      while (!this.#idle('stopping work')) await new Promise(resolve => setTimeout(resolve, 1));
    } catch {
      // a fault on the way: the next task hears of it
    }
    flag[0] = 0;
  }

  /** Memory of the host that kernels see too. Without it, work that is aborted goes on to its end. */
  #share(): { memory: ArrayBuffer; device: number } {
    const { driver } = this;
    const [host, device] = [[0], [0]];
    const none = { memory: new ArrayBuffer(SEEN), device: 0 };
    if (driver.cuMemHostAlloc(host, SEEN, DEVICE_MAP) !== 0) return none;
    if (driver.cuMemHostGetDevicePointer(device, host[0], 0) !== 0) return none;
    const memory = hostMemory(Number(host[0]), SEEN);
    new Uint8Array(memory).fill(0);
    return { memory, device: Number(device[0]) };
  }

  #lostBefore(status: number): CudaError {
    const why = errorText(this.driver, status);
    return new CudaError(
      `a kernel failed on ${this.name} before, with ${why}; after that a process cannot use a card any more: start a new one, or use another device.`,
      status,
    );
  }

  /** Gives something back; on a card that fails there is nothing left to give. */
  giveBack(call: (driver: Driver) => number): void {
    this.use();
    const status = call(this.driver);
    if (isSticky(status)) this.#fault = status;
  }

  close(): void {
    current = 0;
    this.driver.cuDevicePrimaryCtxRelease(this.#device);
  }
}

/** The context that calls go to. */
let current = 0;

export class Module {
  readonly #card: Card;
  readonly #module: number;
  readonly #functions = new Map<string, number>();
  readonly #shared = new Map<string, number>();

  constructor(card: Card, module: number) {
    this.#card = card;
    this.#module = module;
  }

  /** Starts a kernel; `shared` bytes of shared memory a block. */
  launch(name: string, blocks: number, threads: number, shared: number, ...params: ArrayBufferView[]): void {
    const card = this.#card;
    const { driver } = card;
    card.use();
    let fn = this.#functions.get(name);
    if (fn === undefined) {
      fn = card.get(p => driver.cuModuleGetFunction(p, this.#module, name), `looking for ${name}`);
      this.#functions.set(name, fn);
    }
    // more than every kernel may have has to be asked for
    if (shared > (this.#shared.get(name) ?? 48 * 1024)) {
      card.check(driver.cuFuncSetAttribute(fn, SHARED_SIZE, shared), `preparing ${name}`);
      this.#shared.set(name, shared);
    }
    const status = driver.cuLaunchKernel(fn, blocks, 1, 1, threads, 1, 1, shared, 0, params, null);
    card.check(status, `starting ${name}`);
  }

  close(): void {
    this.#card.giveBack(driver => driver.cuModuleUnload(this.#module));
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

  get size(): number {
    return this.#size;
  }

  /** Makes room for so many bytes; what was in it is gone when it grows. */
  reserve(bytes: number): this {
    if (bytes <= this.#size) return this;
    const card = this.#card;
    this.close();
    card.use();
    const address = [0];
    const take = () => card.driver.cuMemAlloc(address, bytes);
    let status = take();
    // what others have closed since is not given back before the end of this task, unless it is needed
    if (status === OUT_OF_MEMORY && card.turns.sweep()) status = take();
    if (status === OUT_OF_MEMORY && card.cache.clear()) status = take();
    card.check(status, `taking ${(bytes / 2 ** 20).toFixed(0)} MiB of memory`);
    this.address = Number(address[0]);
    this.#size = bytes;
    return this;
  }

  /** Writes from byte `at` on. */
  write(data: ArrayBufferView, at = 0): this {
    const card = this.#card;
    this.reserve(Math.max(8, at + data.byteLength));
    card.use();
    if (data.byteLength > 0)
      card.check(card.driver.cuMemcpyHtoD(this.address + at, data, data.byteLength), 'writing to the card');
    return this;
  }

  /** So many bytes, all 0. */
  clear(bytes: number): this {
    this.reserve(bytes);
    this.#card.use();
    this.#card.check(this.#card.driver.cuMemsetD8(this.address, 0, bytes), 'clearing memory');
    return this;
  }

  /** Reads from byte `at` on. */
  read<T extends ArrayBufferView>(into: T, at = 0): T {
    const card = this.#card;
    card.use();
    if (into.byteLength > 0)
      card.check(card.driver.cuMemcpyDtoH(into, this.address + at, into.byteLength), 'reading from the card');
    return into;
  }

  close(): void {
    const { address } = this;
    this.address = this.#size = 0;
    if (address) this.#card.giveBack(driver => driver.cuMemFree(address));
  }
}
