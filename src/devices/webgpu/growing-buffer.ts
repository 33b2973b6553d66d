/// <reference types="@webgpu/types" />
/**
 * Buffers of a GPU that grow when more is asked for. Small ones of a session that is closed are kept for the next: an integral of 1e5
 * evaluations needs 32 buffers, and for each of them the driver finds memory, clears it, and makes bind groups anew. What a
 * buffer contains at first is not defined.
 */
import type { Gpu } from './gpu.ts';

/** As in GPUBufferUsage, which Node has only if somebody puts it there. */
export const USAGE = { mapRead: 0x1, copyFrom: 0x4, copyTo: 0x8, uniform: 0x40, storage: 0x80 } as const;

/** Bytes of a buffer that is kept, at most; their sizes are powers of 2. */
const MOST_SPARE_BYTES = 2 ** 20;
/** Buffers that are kept, at most. */
const MOST_SPARE = 64;

/** Bytes of a buffer with room for so many. */
function sizeFor(bytes: number): number {
  if (bytes > MOST_SPARE_BYTES) return 4 * Math.ceil(bytes / 4);
  return 2 ** Math.ceil(Math.log2(Math.max(256, bytes)));
}

/**
 * Buffers that nobody uses. Whoever had a buffer is given the same one again: bind groups are of certain buffers, and are kept from run to run.
 */
export class SpareBuffers {
  readonly #spare: { buffer: GPUBuffer; of: number }[] = [];

  /** A buffer for user number `of` of a program; the one that this user had, or one of another. */
  take(size: number, usage: number, of: number): GPUBuffer | undefined {
    const fits = ({ buffer }: { buffer: GPUBuffer }) => buffer.size === size && buffer.usage === usage;
    const own = this.#spare.findIndex(s => s.of === of && fits(s));
    const at = own < 0 ? this.#spare.findIndex(fits) : own;
    return at < 0 ? undefined : this.#spare.splice(at, 1)[0].buffer;
  }

  give(buffer: GPUBuffer, of: number): void {
    if (buffer.size > MOST_SPARE_BYTES) return buffer.destroy();
    this.#spare.push({ buffer, of });
    if (this.#spare.length > MOST_SPARE) this.#spare.shift()!.buffer.destroy();
  }
}

/** Words of a uniform buffer that are compared with what it has, at most: a write is a call of the driver, and a copy. */
const MOST_COMPARED = 16;

/** A buffer that grows when more is asked for. */
export class GrowingBuffer {
  readonly #gpu: Gpu;
  readonly #own: 'storage' | 'uniform';
  readonly #usage: number;
  readonly #number: number;
  #buffer: GPUBuffer | null = null;
  /** Buffers that it has grown out of: commands that are recorded may still use them. */
  readonly #outgrown: GPUBuffer[] = [];
  /** What a small uniform buffer has: kernels do not change it. */
  #words: number[] | null = null;

  /** `number`: which of the buffers of a program it is. */
  constructor(gpu: Gpu, usage: 'storage' | 'uniform', number = -1) {
    this.#number = number;
    this.#gpu = gpu;
    this.#own = usage;
    this.#usage = USAGE[usage] | USAGE.copyFrom | USAGE.copyTo;
  }

  get size(): number {
    return this.#buffer?.size ?? 0;
  }

  /** The buffer with room for so many bytes. What it had is lost when it grows. */
  of(bytes: number): GPUBuffer {
    if (this.#buffer && this.#buffer.size >= bytes) return this.#buffer;
    if (this.#buffer && this.#buffer.size <= MOST_SPARE_BYTES) this.#outgrown.push(this.#buffer);
    else this.#buffer?.destroy();
    this.#buffer = null;
    this.#words = null;
    const size = sizeFor(bytes);
    this.#buffer =
      this.#gpu.spare.take(size, this.#usage, this.#number) ?? this.#gpu.buffer(size, this.#usage);
    return this.#buffer;
  }

  /** Writes to the beginning. The few words of a task that are there already are not written again. */
  write(data: Float32Array | Uint32Array): GPUBuffer {
    const buffer = this.of(data.byteLength);
    const known = this.#words;
    if (this.#own !== 'uniform' || data.length > MOST_COMPARED) this.#words = null;
    else if (known?.length === data.length && data.every((word, i) => word === known[i])) return buffer;
    else this.#words = Array.from(data);
    this.#gpu.device.queue.writeBuffer(buffer, 0, data as never);
    return buffer;
  }

  /** Gives the buffer up, after everything that uses it was submitted: it may serve the next session. */
  giveBack(): void {
    for (const buffer of this.#buffer ? [...this.#outgrown, this.#buffer] : this.#outgrown) {
      if (this.#gpu.works) this.#gpu.spare.give(buffer, this.#number);
      else buffer.destroy();
    }
    this.#forget();
  }

  /** Gives its memory back: for buffers that the driver may have had none for, and large ones. */
  destroy(): void {
    for (const buffer of this.#outgrown) buffer.destroy();
    this.#buffer?.destroy();
    this.#forget();
  }

  #forget(): void {
    this.#buffer = null;
    this.#outgrown.length = 0;
    this.#words = null;
  }
}
