/**
 * One GPU: its context, its memory, its kernels, and how running kernels are stopped.
 *
 * A kernel cannot be interrupted, but it reads a flag in the host's memory (integrand/stop-checks.ts). When a run is
 * aborted the flag is set, and the run ends at once; the card stays reserved until the kernel has ended, so that no other
 * task reuses memory which the kernel still works on.
 *
 * After a fault a process cannot use the card any more: on an H200 (driver 580) the context can be reset, but every attempt
 * to open it again gives the fault's error, and resetting waits for kernels as well. So only a new process can use the
 * card again, and error messages say so.
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
import { loadLinked } from './linker.ts';
import { Module } from './module.ts';
import { compileAhead, compileCuda, isCompiled, type Source, type Unit } from './nvrtc.ts';
import { phase } from './phases.ts';
import { type Turns, turnsOf } from './turns.ts';

export { type CardInfo, listCards } from './info.ts';

const DEVICE_MAP = 2; // CU_MEMHOSTALLOC_DEVICEMAP of cuMemHostAlloc
/** The smallest compute capability that has all instructions that kernels use. */
const MIN_COMPUTE_CAPABILITY = 7;
/** Bytes of the host's memory that kernels can read and write: the stop flag, a report, and from SURVEY_OFFSET on counts of a pool's errors. */
const MAPPED_BYTES = 8192;
const REPORT_OFFSET = 256;
const SURVEY_OFFSET = 4096;
/** Milliseconds for which the thread waits for a kernel without a turn of the event loop, which takes about as long. */
const BLOCKING_WAIT_MS = 0.05;
/**
 * For so many milliseconds the card is asked in every turn of the event loop whether work has ended, then by timers, which come after 1 to 2 ms:
 * what is lost by them is at most a tenth of a kernel's time.
 */
const POLLED_MS = 20;

/** For so many milliseconds the amount of free memory is not asked for again, unless memory of this process was taken or given back. */
const FREE_MEMORY_MS = 1000;

/** The part of a card's memory that is kept for the next run, at most. */
const KEPT_PART = 1 / 16;

/** What a card has once it is used. */
interface Made {
  context: number;
  /** Memory of the host that kernels can use too, and its address for them; 0 where there is none. */
  memory: ArrayBuffer;
  device: number;
}

export class Card {
  readonly info: CardInfo;
  readonly driver: Driver;
  readonly turns: Turns;
  readonly cache = new CardCache(() => KEPT_PART * this.info.memory);
  readonly #device: number;
  readonly #version: number;
  #made: Made | null = null;
  /** Modules with kernels that were started and not waited for yet. */
  readonly #started = new Set<Module>();
  /** Why kernels cannot be linked on this card; undefined as long as nothing speaks against it. */
  linkFailure: string | undefined;
  /** The driver's status for the fault after which the card cannot be used; 0 without one. */
  #fault = 0;
  /** What `freeMemory` found last: asking the driver takes 26 µs. */
  #free: { bytes: number; at: number } | null = null;

  constructor(ordinal: number) {
    const driver = phase('starting the driver', loadDriver);
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
    if (Number(this.info.computeCapability) < MIN_COMPUTE_CAPABILITY)
      throw new CudaError(
        w =>
          `${this.info.name} has compute capability ${this.info.computeCapability}; 7.0 is the least. Use ${w.setting('device', 'cpu')}.`,
      );
    this.turns = turnsOf(ordinal);
    [this.#device] = out(driver, p => driver.cuDeviceGet(p, ordinal), 'looking for a device');
    this.#version = driverVersion(driver);
  }

  /** The context, which is made when it is first needed: that takes a good part of a second, in which others can compile. */
  #opened(): Made {
    if (this.#made) return this.#made;
    const { driver } = this;
    const context = [0];
    const status = phase('making the context', () => driver.cuDevicePrimaryCtxRetain(context, this.#device));
    if (isSticky(status)) throw this.#lostBefore(status);
    check(driver, status, `opening ${this.name}`);
    this.#made = { context: Number(context[0]), memory: new ArrayBuffer(MAPPED_BYTES), device: 0 };
    this.use();
    Object.assign(this.#made, this.#share());
    return this.#made;
  }

  get name(): string {
    return `cuda:${this.info.ordinal}`;
  }

  get processors(): number {
    return this.info.multiprocessors;
  }

  /** Bytes of shared memory per block, at most. */
  get shared(): number {
    return this.info.shared;
  }

  /** The address at which kernels find the stop flag; 0 when there is none. */
  get stopFlag(): number {
    return this.#opened().device;
  }

  /** The address at which kernels leave a few words that the host reads without the driver; 0 when there is none. */
  get reportTo(): number {
    const { device } = this.#opened();
    return device && device + REPORT_OFFSET;
  }

  /** Bytes that kernels may leave there. */
  get reportRoom(): number {
    return this.reportTo && SURVEY_OFFSET - REPORT_OFFSET;
  }

  /** Bytes that kernels left at `reportTo`, from byte `at` on. */
  report(bytes: number, at = 0): Uint8Array {
    return new Uint8Array(this.#opened().memory, REPORT_OFFSET + at, bytes).slice();
  }

  /** The address at which a pool's kernels leave how many errors are in each bucket (survey.ts); 0 when there is none. */
  get surveyTo(): number {
    const { device } = this.#opened();
    return device && device + SURVEY_OFFSET;
  }

  /** Copies what the last kernel left at `surveyTo`. */
  survey(counts: Uint32Array): void {
    counts.set(new Uint32Array(this.#opened().memory, SURVEY_OFFSET, counts.length));
  }

  /** Runs a task on the card, in its turn. */
  run<T>(signal: AbortSignal | undefined, task: () => Promise<T>): Promise<T> {
    return this.turns.take(signal, async () => {
      this.use();
      // a fault that was not reported yet comes from an earlier task, not from this one
      const status = this.turns.areOver ? 0 : this.driver.cuStreamQuery(0);
      if (isSticky(status)) this.#fault = status;
      if (this.#fault) throw this.#lostBefore(this.#fault);
      return task();
    });
  }

  /** Makes its context the current one; the first call makes the context. */
  use(): void {
    const { context } = this.#opened();
    if (current === context) return;
    current = context;
    check(this.driver, this.driver.cuCtxSetCurrent(context), `choosing ${this.name}`);
  }

  /** Throws unless a call succeeded. */
  check(status: number, doing: string): void {
    if (isSticky(status)) this.#fault = status;
    check(this.driver, status, `${doing} on ${this.name}`);
  }

  /** The number that a call writes through its pointer. */
  get(call: (pointer: unknown) => number, doing: string): number {
    const pointer = [0];
    this.check(call(pointer), doing);
    return Number(pointer[0]);
  }

  /** Bytes that runs can have, with those that are kept. What others take meanwhile is seen after FREE_MEMORY_MS. */
  get freeMemory(): number {
    const now = performance.now();
    if (!this.#free || now > this.#free.at + FREE_MEMORY_MS) {
      this.use();
      const [bytes] = out(this.driver, (a, b) => this.driver.cuMemGetInfo(a, b), 'asking for free memory', 2);
      this.#free = { bytes, at: now };
    }
    return this.#free.bytes + this.cache.bytes;
  }

  /** Takes note that memory was taken or given back. */
  memoryChanged(): void {
    this.#free = null;
  }

  module(unit: Unit): Module {
    const image = compileCuda(this.#source(unit));
    this.use();
    return phase(
      `loading ${unit.name}`,
      () =>
        new Module(
          this,
          this.get(p => this.driver.cuModuleLoadData(p, image), 'loading a kernel'),
        ),
    );
  }

  /** A module of several relocatable units. */
  linked(units: readonly Unit[]): Module {
    const images = units.map(unit => compileCuda(this.#source(unit)));
    this.use();
    return phase(
      `linking ${units.map(u => u.name).join(' and ')}`,
      () => new Module(this, loadLinked(this.driver, images)),
    );
  }

  /** Compiles a unit that will be needed; this does not use the card. */
  compileAhead(unit: Unit): Promise<void> {
    return compileAhead(this.#source(unit));
  }

  /** Whether a unit needs no compiling any more. */
  isCompiled(unit: Unit): boolean {
    return isCompiled(this.#source(unit));
  }

  #source(unit: Unit): Source {
    const [major, minor] = this.info.computeCapability.split('.');
    return { ...unit, architecture: `sm_${major}${minor}`, driver: this.#version };
  }

  buffer(): Buffer {
    return new Buffer(this);
  }

  /** Waits for all work without blocking the thread. When the signal aborts, sets the stop flag and waits no longer. */
  async finished(signal: AbortSignal | undefined, doing: string): Promise<void> {
    const begin = performance.now();
    while (!this.#idle(doing)) if (performance.now() > begin + BLOCKING_WAIT_MS) break;
    while (!this.#idle(doing)) {
      if (signal?.aborted) {
        this.turns.hold(this.#stopped());
        throw signal.reason;
      }
      const polled = performance.now() < begin + POLLED_MS;
      await new Promise(resolve => (polled ? setImmediate(resolve) : setTimeout(resolve, 1)));
    }
    for (const module of this.#started) module.waited += performance.now() - begin;
    this.#started.clear();
  }

  /** Takes note that a kernel of a module was started. */
  started(module: Module): void {
    this.turns.areOver = false;
    this.#started.add(module);
  }

  #idle(doing: string): boolean {
    if (this.turns.areOver) return true;
    this.use();
    const status = this.driver.cuStreamQuery(0);
    if (status === NOT_READY) return false;
    this.check(status, doing);
    this.turns.areOver = true;
    return true;
  }

  /** Keeps the stop flag set until all work has ended. */
  async #stopped(): Promise<void> {
    const flag = new Uint32Array(this.#opened().memory, 0, 1);
    flag[0] = 1;
    try {
      while (!this.#idle('stopping work')) await new Promise(resolve => setTimeout(resolve, 1));
    } catch {
      // a fault happened meanwhile: the next task reports it
    }
    flag[0] = 0;
  }

  /** Memory of the host that kernels can use too. Without it, aborted work runs to its end. */
  #share(): Pick<Made, 'memory' | 'device'> | null {
    const { driver } = this;
    const [host, device] = [[0], [0]];
    if (driver.cuMemHostAlloc(host, MAPPED_BYTES, DEVICE_MAP) !== 0) return null;
    if (driver.cuMemHostGetDevicePointer(device, host[0], 0) !== 0) return null;
    const memory = hostMemory(Number(host[0]), MAPPED_BYTES);
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

  /** Gives a resource back; after a fault nothing can be given back. */
  giveBack(call: (driver: Driver) => number): void {
    this.use();
    const status = call(this.driver);
    if (isSticky(status)) this.#fault = status;
  }

  close(): void {
    current = 0;
    if (this.#made) this.driver.cuDevicePrimaryCtxRelease(this.#device);
  }
}

/** The current context, which calls of the driver use. */
let current = 0;

/** A buffer in the card's memory, which grows and is kept from call to call. */
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

  /** Makes room for this many bytes; when the buffer has to grow, its content is lost. */
  reserve(bytes: number): this {
    if (bytes <= this.#size) return this;
    const card = this.#card;
    this.close();
    card.use();
    const address = [0];
    const take = () => card.driver.cuMemAlloc(address, bytes);
    let status = take();
    // buffers that others closed during this task are given back at its end, or now if their memory is needed
    if (status === OUT_OF_MEMORY && card.turns.sweep()) status = take();
    if (status === OUT_OF_MEMORY && card.cache.clear()) status = take();
    card.check(status, `taking ${(bytes / 2 ** 20).toFixed(0)} MiB of memory`);
    this.address = Number(address[0]);
    this.#size = bytes;
    card.memoryChanged();
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

  /** Makes room for this many bytes and sets them to 0. */
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
    if (!address) return;
    this.#card.giveBack(driver => driver.cuMemFree(address));
    this.#card.memoryChanged();
  }
}
