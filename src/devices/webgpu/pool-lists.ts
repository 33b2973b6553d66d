/**
 * The lists of a pool of regions in the memory of a GPU: one buffer per list. They grow together, and some keep their content. Those of the last
 * pool are kept for the next one: a driver takes milliseconds for memory, and sets it to 0.
 */
import type { Commands } from './commands.ts';
import type { Gpu } from './gpu.ts';
import { GrowingBuffer } from './growing-buffer.ts';
import { LISTED_PER_BLOCK } from './kernels/pool.ts';
import type { PoolBuffer } from './kernels/pool-record.ts';

/** Bytes per region in lists that stay, in lists of a step, and in those of looks across borders and of witnesses. */
const kept = (dims: number) => ({ places: 8 * dims, levels: 4 * Math.ceil(dims / 4), state: 16, tree: 16 });
const STEP = { list: 4, parents: 8, blocks: 4 / LISTED_PER_BLOCK };
const SOMETIMES = { best: 4, around: 12, face: 4, said: 8 };

/** A listing kernel has at most 65,535 workgroups. */
const MAX_REGIONS = 2 ** 15 * LISTED_PER_BLOCK;

/** As long as the driver has memory, a pool has at most so many bytes, unless the user says otherwise: WebGPU does not tell. */
const DEFAULT_MEMORY = 2 ** 34;

/** Tasks that may be written before what was recorded with the first of them is submitted: a step of a pool has two. */
const TASKS = 4;

/** Lists above this many bytes are not kept. */
const MOST_SPARE = 2 ** 29;
/** The lists of the last pool on a GPU. */
const spare = new WeakMap<Gpu, PoolLists>();

export class PoolLists {
  readonly #gpu: Gpu;
  readonly #dims: number;
  readonly #buffers = new Map<string, GrowingBuffer>();
  readonly #tasks: readonly GrowingBuffer[];
  #task = 0;
  /** Regions that there is room for. */
  room = 0;

  /** Lists for regions in so many dimensions, with at most so many bytes. */
  static take(gpu: Gpu, dims: number, maxMemory?: number): PoolLists {
    const kept = spare.get(gpu);
    spare.delete(gpu);
    if (kept && kept.#dims === dims && kept.room <= kept.most(maxMemory)) return kept;
    if (kept) kept.#destroy();
    return new PoolLists(gpu, dims);
  }

  constructor(gpu: Gpu, dims: number) {
    this.#gpu = gpu;
    this.#dims = dims;
    this.#tasks = Array.from({ length: TASKS }, () => new GrowingBuffer(gpu, 'uniform'));
  }

  /** The number of regions that fit, by memory, by the largest buffer that a kernel may see, and by numbers of faces. */
  most(maxMemory = DEFAULT_MEMORY): number {
    const all = Object.values({ ...kept(this.#dims), ...STEP, ...SOMETIMES });
    const bytes = all.reduce((a, b) => a + b, 0);
    // 1.25: while lists grow by a factor of four, the old quarter is in memory beside the new lists
    const byMemory = maxMemory / (1.25 * bytes);
    return Math.floor(
      Math.min(byMemory, this.#gpu.bindingBytes / Math.max(...all), 2 ** 31 / (2 * this.#dims), MAX_REGIONS),
    );
  }

  /** Makes room for this many regions; false, and all is as it was, when the driver has no memory for them. */
  async grow(room: number): Promise<boolean> {
    if (room <= this.room) return true;
    const { device } = this.#gpu;
    const stays = Object.keys(kept(this.#dims));
    const fresh = new Map<string, GrowingBuffer>();
    device.pushErrorScope('out-of-memory');
    for (const [name, bytes] of Object.entries({ ...kept(this.#dims), ...STEP })) {
      const list = new GrowingBuffer(this.#gpu, 'storage');
      fresh.set(name, list);
      list.of(bytes * room);
    }
    if (await device.popErrorScope()) {
      for (const list of fresh.values()) list.destroy();
      return false;
    }
    for (const [name, list] of fresh) {
      const old = this.#buffers.get(name);
      if (old && stays.includes(name)) this.#gpu.copy(old.of(0), list.of(0), old.of(0).size);
      old?.destroy();
      this.#buffers.set(name, list);
    }
    this.room = room;
    return true;
  }

  /** The buffer of a list. */
  get(name: PoolBuffer): GPUBuffer {
    if (name === 'task') return this.#tasks[this.#task].of(4);
    const bytes = name in SOMETIMES ? SOMETIMES[name as keyof typeof SOMETIMES] * this.room : 4;
    return this.#own(name).of(bytes);
  }

  /** A buffer of so many bytes, for other things. */
  of(name: PoolBuffer, bytes: number): GPUBuffer {
    return this.#own(name).of(bytes);
  }

  /** Writes the task of the dispatches that are recorded next. */
  writeTask(words: Uint32Array): void {
    this.#task = (this.#task + 1) % TASKS;
    this.#tasks[this.#task].write(words);
  }

  /** Fills a list with zeros for so many regions. */
  clear(name: keyof typeof SOMETIMES, count: number, commands: Commands): void {
    commands.clear(this.get(name), SOMETIMES[name] * count);
  }

  /** Keeps the lists for the next pool, or destroys them. */
  close(): void {
    let bytes = 0;
    for (const buffer of this.#buffers.values()) bytes += buffer.size;
    if (bytes > MOST_SPARE || !this.#gpu.works) return this.#destroy();
    const other = spare.get(this.#gpu);
    if (other && other !== this) other.#destroy();
    spare.set(this.#gpu, this);
  }

  #destroy(): void {
    for (const buffer of this.#tasks) buffer.destroy();
    for (const buffer of this.#buffers.values()) buffer.destroy();
    this.#buffers.clear();
    this.room = 0;
  }

  #own(name: string): GrowingBuffer {
    const buffer =
      this.#buffers.get(name) ?? new GrowingBuffer(this.#gpu, name === 'hearing' ? 'uniform' : 'storage');
    this.#buffers.set(name, buffer);
    return buffer;
  }
}
