/// <reference types="@webgpu/types" />
/**
 * An open GPU: buffers, pipelines, dispatches and what they cost. Whatever goes wrong with the GPU is an error of the next call: a
 * device that is lost, a buffer that finds no memory, text that a driver refuses.
 */
import { findAdapter, openAdapter, WebGpuError } from './adapter.ts';
import { type Bound, Commands, isSame } from './commands.ts';
import { SpareBuffers, USAGE } from './growing-buffer.ts';
import { Pace } from './pace.ts';
import { polled } from './polled-waits.ts';

const MAP_READ = 0x1;
const COMPUTE = 0x4;

/** One launch of a kernel. */
export interface Dispatch {
  pipeline: GPUComputePipeline;
  buffers: readonly (GPUBuffer | null)[];
  workgroups: readonly [number, number?];
}

/** Bytes to read of a buffer. */
export interface Wanted {
  buffer: GPUBuffer;
  bytes: number;
  from?: number;
}

/** Bind groups that are kept for a pipeline. */
const MOST_BIND_GROUPS = 8;
/** Buffers for reading above this size are not kept. */
const MOST_KEPT_BYTES = 2 ** 24;

export class Gpu {
  readonly device: GPUDevice;
  /** As the driver calls it. */
  readonly name: string;
  /** How often the host waited for the GPU, and for how many milliseconds: benchmarks tell by it what the host takes. */
  readonly waits = { count: 0, ms: 0 };
  readonly #isPolled: boolean;
  readonly #pipelines = new Map<string, Promise<GPUComputePipeline>>();
  readonly #paces = new Map<string, Pace>();
  /** Why it cannot be used any more. */
  #failure: WebGpuError | null = null;
  #closed = false;
  #lost: Promise<never>;
  readonly #bindGroups = new WeakMap<GPUComputePipeline, { of: Bound[]; group: GPUBindGroup }[]>();
  /** Buffers of sessions that are closed. */
  readonly spare = new SpareBuffers();
  /** A buffer for the next reading. */
  #kept: GPUBuffer | null = null;

  static async open(): Promise<Gpu> {
    const { adapter, name, isPolled } = await findAdapter();
    return new Gpu(await openAdapter(adapter), name, isPolled);
  }

  constructor(device: GPUDevice, name: string, isPolled = false) {
    this.device = device;
    this.name = name;
    this.#isPolled = isPolled;
    this.#lost = device.lost.then(({ reason, message }) => {
      this.#failure ??= new WebGpuError(
        this.#closed
          ? 'the WebGPU device is closed'
          : `the GPU was lost (${message || reason}); the next run opens it again. Drivers reset a GPU whose kernels take seconds.`,
      );
      throw this.#failure;
    });
    this.#lost.catch(() => {}); // it is told to whoever waits
    device.addEventListener('uncapturederror', event => {
      const { error } = event as GPUUncapturedErrorEvent;
      this.#failure ??= new WebGpuError(`the GPU failed: ${error.message}`);
    });
  }

  /** Whether it can still be used. */
  get works(): boolean {
    return !this.#failure && !this.#closed;
  }

  check(): void {
    if (this.#failure) throw this.#failure;
    if (this.#closed) throw new WebGpuError('the WebGPU device is closed');
  }

  /** Bytes that a kernel may see of one buffer. */
  get bindingBytes(): number {
    const { maxBufferSize, maxStorageBufferBindingSize } = this.device.limits;
    return Math.min(maxBufferSize, maxStorageBufferBindingSize);
  }

  buffer(bytes: number, usage: number): GPUBuffer {
    this.check();
    if (bytes > this.bindingBytes)
      throw new WebGpuError(
        `a task needs ${bytes} bytes in one buffer, and the GPU takes ${this.bindingBytes}; use fewer bins, strata or regions, or another device.`,
      );
    return this.device.createBuffer({ size: bytes, usage });
  }

  /** The pipeline of a kernel, by its text. Compiled in the background of the driver, and kept. */
  pipeline(text: string): Promise<GPUComputePipeline> {
    let made = this.#pipelines.get(text);
    if (!made) {
      made = this.#compile(text);
      made.catch(() => this.#pipelines.delete(text));
      this.#pipelines.set(text, made);
      forgetOldest(this.#pipelines);
    }
    return made;
  }

  /** How fast an integrand is, by its text: the next run of it begins with dispatches as large as the last one came to. */
  pace(text: string): Pace {
    const pace = this.#paces.get(text) ?? new Pace();
    this.#paces.set(text, pace);
    forgetOldest(this.#paces);
    return pace;
  }

  async #compile(code: string): Promise<GPUComputePipeline> {
    this.check();
    this.device.pushErrorScope('validation');
    const module = this.device.createShaderModule({ code });
    const wrong = this.device.popErrorScope();
    try {
      const layout = this.device.createPipelineLayout({ bindGroupLayouts: [this.#layoutOf(code)] });
      return await this.#alive(
        this.device.createComputePipelineAsync({ layout, compute: { module, entryPoint: 'main' } }),
      );
    } catch (e) {
      this.check();
      const refused = (await wrong)?.message ?? (e as Error).message;
      throw new WebGpuError(`the GPU's driver does not compile this integrand: ${refused}`, { cause: e });
    }
  }

  /** The bindings that a text declares. WebGPU's own layout has only those that are used: not params, where an integrand has none. */
  #layoutOf(code: string): GPUBindGroupLayout {
    const entries = Array.from(
      code.matchAll(/@binding\((\d+)\) var<(\w+)(?:, (\w+))?>/g),
      ([, n, space, access]) => ({
        binding: Number(n),
        visibility: COMPUTE,
        buffer: {
          type: space === 'uniform' ? 'uniform' : access === 'read' ? 'read-only-storage' : 'storage',
        } as const,
      }),
    );
    return this.device.createBindGroupLayout({ entries });
  }

  /** Submits a dispatch; a buffer's place in the list is the number of its binding. */
  submit(
    pipeline: GPUComputePipeline,
    buffers: readonly (GPUBuffer | null)[],
    workgroups: readonly [number, number?],
  ): void {
    this.submitAll([{ pipeline, buffers, workgroups }]);
  }

  /** Submits dispatches, each of which sees what those before it wrote. */
  submitAll(dispatches: readonly Dispatch[]): void {
    const commands = this.record();
    for (const { pipeline, buffers, workgroups } of dispatches)
      commands.dispatch(pipeline, buffers, workgroups);
    commands.submit();
  }

  copy(from: GPUBuffer, to: GPUBuffer, bytes: number): void {
    this.record().copy(from, 0, to, 0, bytes).submit();
  }

  clear(buffer: GPUBuffer, bytes: number, from = 0): void {
    this.record()
      .clear(buffer, from + bytes, from)
      .submit();
  }

  /** Begins a list of commands. */
  record(): Commands {
    this.check();
    return new Commands(this.device, (pipeline, buffers) => this.#bindGroup(pipeline, buffers));
  }

  /** The bind group of some buffers; the last ones are kept, since iterations use the same. */
  #bindGroup(pipeline: GPUComputePipeline, buffers: readonly Bound[]): GPUBindGroup {
    const known = this.#bindGroups.get(pipeline) ?? [];
    this.#bindGroups.set(pipeline, known);
    const found = known.find(
      ({ of }) => of.length === buffers.length && of.every((b, i) => isSame(b, buffers[i])),
    );
    if (found) return found.group;
    const entries = buffers.flatMap((bound, binding) =>
      bound ? [{ binding, resource: 'buffer' in bound ? bound : { buffer: bound } }] : [],
    );
    const group = this.device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries });
    known.push({ of: [...buffers], group });
    if (known.length > MOST_BIND_GROUPS) known.shift();
    return group;
  }

  /** Waits for everything that was submitted. */
  async done(): Promise<void> {
    await this.#waited(this.device.queue.onSubmittedWorkDone());
  }

  /** Bytes of some buffers, after everything that was submitted and the commands that are given. */
  async read(wanted: readonly Wanted[], commands = this.record()): Promise<ArrayBuffer[]> {
    const total = wanted.reduce((sum, { bytes }) => sum + bytes, 0);
    this.check();
    const copy = this.#readable(Math.max(4, total));
    let at = 0;
    for (const { buffer, bytes, from = 0 } of wanted) {
      if (bytes > 0) commands.copy(buffer, from, copy, at, bytes);
      at += bytes;
    }
    commands.submit();
    try {
      await this.#waited(copy.mapAsync(MAP_READ, 0, Math.max(4, total)));
      const range = copy.getMappedRange(0, Math.max(4, total));
      let end = 0;
      return wanted.map(({ bytes }) => {
        end += bytes;
        return range.slice(end - bytes, end);
      });
    } catch (e) {
      this.check();
      throw new WebGpuError(`the GPU failed: ${(e as Error).message}`, { cause: e });
    } finally {
      this.#giveBack(copy);
    }
  }

  /** A buffer that the host can read: the one of the last reading, if it is large enough. */
  #readable(bytes: number): GPUBuffer {
    const kept = this.#kept;
    this.#kept = null;
    if (kept && kept.size >= bytes) return kept;
    kept?.destroy();
    return this.device.createBuffer({
      size: Math.ceil(bytes / 4096) * 4096,
      usage: USAGE.mapRead | USAGE.copyTo,
    });
  }

  #giveBack(copy: GPUBuffer): void {
    if (copy.mapState === 'mapped') copy.unmap();
    if (this.#kept || copy.size > MOST_KEPT_BYTES || copy.mapState !== 'unmapped' || !this.works)
      copy.destroy();
    else this.#kept = copy;
  }

  close(): void {
    this.#closed = true;
    this.device.destroy();
  }

  async #waited(work: Promise<unknown>): Promise<void> {
    const begin = performance.now();
    await this.#alive(work);
    this.waits.count++;
    this.waits.ms += performance.now() - begin;
  }

  /** The result of some work of the GPU; rejects when the GPU is lost or has failed meanwhile. */
  async #alive<T>(work: Promise<T>): Promise<T> {
    const first = Promise.race([work, this.#lost]);
    const result = await (this.#isPolled ? polled(first) : first);
    this.check();
    return result;
  }
}

/** A scan over shapes of params would keep one for each. */
function forgetOldest<T>(kept: Map<string, T>): void {
  if (kept.size > 256) kept.delete(kept.keys().next().value!);
}
