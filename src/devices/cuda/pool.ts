/**
 * A pool of regions in a card's memory: lists, selection, halving, evaluation and sums are kernels (kernels/pool.cu), and a
 * step reads back a hundred bytes. Lists grow by a factor of four, when a step needs more room than they have.
 */
import { BESIDE, DEEP, WIDER } from '../../tasks/pool/borders.ts';
import { differenceWeight } from '../../tasks/pool/errors.ts';
import type { PoolStep, PoolSums, PoolTask, RegionPool } from '../device.ts';
import type { Buffer, Module } from './card.ts';
import { PoolLists } from './lists.ts';
import type { CudaProgram, Recipe } from './program.ts';
import { blocksFor, type CudaRegions, KIND, pointIn, THREADS } from './regions.ts';
import { Struct } from './struct.ts';

const WIDTH = 1024;
const BUCKETS = 2 ** 12;
/** Regions up to which one block selects. */
const FEW = 2 ** 15;
/** Regions that there is room for at first. */
const ROOM = 2 ** 16;
/** Blocks that add up, at most. */
const BLOCKS = 1024;
/** Regions of a block that looks across borders, at most, and how many blocks are enough for that. */
const SHARE = 2048;
const ENOUGH = 8192;
/** What neighbours of a region add up in, of all values: integers of 64 bits. Coarser ones would count many small regions for more. */
const UNIT = 2 ** -56;
/** Words of Found in pool.cu. */
const FOUND = 14;
const NO_FIRST = 2n ** 64n - 1n;
/** The part of a card's free memory that a pool may take. */
const FAIR = 0.8;

interface Found {
  value: number;
  error: number;
  absolute: number;
  stuck: number;
  before: number;
  after: number;
  wrong: number;
  first: number;
  stuckCount: number;
  positive: boolean;
  negative: boolean;
  wanted: number;
  threshold: number;
}

/** Threads of a block that looks across borders: its shared memory has 18 bytes an axis and thread, and 48 KB at most. */
const lookersFor = (dims: number) => (dims <= 16 ? 128 : 64);

/** The kernels of a pool, and of looks across borders. */
const poolRecipe = (program: CudaProgram): Recipe => program.without('pool', { DEEP });
const lookRecipe = (program: CudaProgram): Recipe =>
  program.without('borders', { DEEP, WIDER, BESIDE, SHARE, LOOKERS: lookersFor(program.dims) });
export const poolRecipes = (program: CudaProgram): Recipe[] => [poolRecipe(program), lookRecipe(program)];

export class CudaPool implements RegionPool {
  readonly most: number;
  readonly #program: CudaProgram;
  readonly #regions: CudaRegions;
  readonly #task: PoolTask;
  readonly #dims: number;
  readonly #lookers: number;
  /** Kernels of the pool, and those that evaluate. */
  readonly #module: Module;
  readonly #evaluation: Module;
  readonly #lists: PoolLists;
  readonly #buckets: Buffer;
  readonly #found: Buffer;
  readonly #blocks: Buffer;
  readonly #sums: Buffer;
  #nodes = 0;
  #roots = 0;
  #rootLevel = 0;
  #wanted = 0;
  #threshold = 0;
  #last: Found | null = null;
  #drawn: Drawn | null = null;
  count = 0;

  constructor(program: CudaProgram, regions: CudaRegions, task: PoolTask) {
    this.#program = program;
    this.#regions = regions;
    this.#task = task;
    this.#dims = task.ranges.length;
    this.#lookers = lookersFor(this.#dims);
    const { card } = program;
    this.#module = program.module(poolRecipe(program));
    this.#evaluation = program.module(regions.recipe(task.rule));
    this.#buckets = program.buffer('pool buckets').reserve(4 * BUCKETS);
    this.#found = program.buffer('pool found').reserve(8 * FOUND);
    this.#blocks = program.buffer('pool blocks');
    this.#sums = program.buffer('pool sums').reserve(8 * 6 * BLOCKS);
    this.#lists = new PoolLists(card, this.#dims);
    // while lists grow, a quarter of them is there twice
    const memory = task.maxMemory ?? FAIR * card.freeMemory;
    this.most = Math.min(2 ** 31, Math.floor(memory / (1.25 * this.#lists.bytes)));
  }

  get sums(): PoolSums {
    const { value, error, absolute, stuck } = this.#last!;
    return { value, error, absolute, finished: stuck, done: 0 };
  }

  async start(level: number): Promise<PoolStep> {
    this.count = this.#roots = this.#nodes = 2 ** (level * this.#dims);
    this.#rootLevel = level;
    this.#grow(Math.max(ROOM, 2 * this.count));
    this.#launch('begin', Math.ceil(this.count / 256), 256);
    this.#expectFound();
    this.#evaluate(KIND.all, this.count);
    await this.#addUp();
    return this.#step(this.count, async i => this.#at(i));
  }

  async select(part: number): Promise<number> {
    this.#threshold = 0;
    const all = part === Infinity;
    const some = Math.max(part, Number.MIN_VALUE); // the largest error at least
    if (this.count <= FEW) this.#launch('selectFew', 1, WIDTH, {}, Float64Array.of(all ? -1 : some));
    else {
      if (!all) this.#threshold = (await this.#choose(some)).threshold;
      this.#writeList();
    }
    // all of them, and none that is stuck: no need to ask how many
    const known = all && this.#last!.stuckCount === 0;
    this.#wanted = known ? this.count : (await this.#read()).wanted;
    return this.#wanted;
  }

  async halve(most: number): Promise<PoolStep> {
    const n = Math.min(most, this.#wanted);
    const { room } = this.#lists;
    if (this.count + n > room) this.#grow(Math.max(4 * room, this.count + n));
    this.#evaluate(KIND.halves, 2 * n, { n });
    await this.#addUp(n);
    const before = this.count;
    this.count += n;
    this.#nodes += 2 * n;
    return this.#step(2 * n, async i => {
      const [region] = this.#lists.read('list', new Uint32Array(1), 4 * Math.floor(i / 2));
      return this.#at(i % 2 === 0 ? region : before + Math.floor(i / 2));
    });
  }

  /** Memory of a card is large: regions are not finished to make room for others. */
  async finish(): Promise<void> {}

  async look(negligible: number, affordable: number): Promise<PoolStep> {
    const look = { look: 1, unit: this.#last!.absolute * UNIT };
    const { threshold } = await this.#choose(negligible, look);
    this.#lists.filled('best', 0, this.count);
    this.#lists.filled('around', 0, this.count);
    this.#lists.filled('face', 255, this.count);
    this.#drawn = this.#draw();
    const of = { ...look, threshold };
    const blocks = Math.max(
      Math.ceil(this.count / SHARE),
      Math.min(Math.ceil(this.count / this.#lookers), ENOUGH),
    );
    const borders = this.#program.module(lookRecipe(this.#program));
    for (const again of [0, 1])
      borders.launch('faces', blocks, this.#lookers, 0, this.#struct(of), Uint32Array.of(again));
    this.#writeList(of);
    const { wanted } = await this.#read();
    if (wanted === 0) return this.#step(0, async () => []);
    const looks = wanted <= affordable;
    const image = (name: string, bytes: number) =>
      this.#program.buffer(`image ${name}`).reserve(bytes * wanted);
    const images = {
      centres: image('centres', 8 * this.#dims),
      levels: image('levels', this.#dims),
      values: image('values', 8),
      errors: image('errors', 8),
      axes: image('axes', 1),
    };
    const address = (name: keyof typeof images) => images[name].address;
    const struct = new Struct()
      .u64(wanted, address('centres'), address('levels'), address('values'))
      .u32(looks ? 1 : 0).bytes;
    borders.launch('mirror', Math.ceil(wanted / 256), 256, 0, this.#struct(of), struct);
    if (looks) {
      const { rule, ranges } = this.#task;
      this.#regions.launchList(rule, ranges, wanted, address, this.#wrong);
    }
    borders.launch('raise', Math.ceil(wanted / 256), 256, 0, this.#struct(of), struct);
    await this.#addUp();
    return this.#step(looks ? wanted : 0, async i => [
      [...images.centres.read(new Float64Array(this.#dims * wanted))].filter((_, k) => k % wanted === i),
      [...images.levels.read(new Uint8Array(this.#dims * wanted))].filter((_, k) => k % wanted === i),
    ]);
  }

  close(): void {
    this.#lists.close();
  }

  /** The threshold down to which errors have a part of the whole, or up to which small regions have. */
  #choose(part: number, more: Partial<Shape> = {}): Promise<Found> {
    this.#buckets.clear(4 * BUCKETS);
    // two blocks are all that fit on a processor; each has counts of its own to add up
    const blocks = Math.min(2 * this.#program.card.processors, Math.ceil(this.count / WIDTH));
    this.#launch('bucket', blocks, WIDTH, more);
    this.#launch('choose', 1, WIDTH, more, Float64Array.of(part));
    return this.#read();
  }

  #writeList(more: Partial<Shape> = {}): void {
    const blocks = Math.ceil(this.count / WIDTH);
    const of = { threshold: this.#threshold, ...more };
    this.#launch('listCounts', blocks, WIDTH, of);
    this.#launch('listStarts', 1, WIDTH, of);
    this.#launch('listWrite', blocks, WIDTH, of);
  }

  /** Sums over all regions, of which n are new. */
  async #addUp(n = 0): Promise<void> {
    this.#launch('totals', Math.min(BLOCKS, Math.ceil((this.count + n) / 256)), 256, { n });
    this.#last = await this.#read();
  }

  async #step(evaluated: number, where: (i: number) => Promise<number[][]>): Promise<PoolStep> {
    const { before, after, positive, negative, wrong, first } = this.#last!;
    const step: PoolStep = { evaluated, before, after, signed: positive && negative, nonFinite: null };
    if (wrong === 0) return step;
    const { rule, ranges } = this.#task;
    const [centre, levels] = await where(Math.floor(first / rule.points));
    const point = pointIn(rule, ranges, centre, levels, first % rule.points);
    this.#expectFound();
    step.nonFinite = { count: wrong, first: { point, value: await this.#program.valueAt(point) } };
    return step;
  }

  /** Centre and levels of a region. */
  #at(region: number): number[][] {
    const [dims, first] = [this.#dims, this.#dims * region];
    return [
      [...this.#lists.read('centres', new Float64Array(dims), 8 * first)],
      [...this.#lists.read('levels', new Uint8Array(dims), first)],
    ];
  }

  get #wrong(): number {
    return this.#found.address + 8 * 6;
  }

  /** Nothing found yet. */
  #expectFound(): void {
    const words = new BigUint64Array(FOUND);
    words[7] = NO_FIRST;
    this.#found.write(words);
  }

  async #read(): Promise<Found> {
    await this.#program.card.finished(this.#task.signal, 'evaluating regions');
    const { card } = this.#program;
    const words = card.reportTo ? card.report(FOUND) : this.#found.read(new BigUint64Array(FOUND));
    const numbers = new Float64Array(words.buffer);
    const [value, error, absolute, stuck, before, after] = numbers;
    return {
      value,
      error,
      absolute,
      stuck,
      before,
      after,
      wrong: Number(words[6]),
      first: Number(words[7]),
      stuckCount: Number(words[8]),
      positive: words[9] > 0n,
      negative: words[10] > 0n,
      wanted: Number(words[11]),
      threshold: numbers[12],
    };
  }

  #launch(
    kernel: string,
    blocks: number,
    threads: number,
    shape: Partial<Shape> = {},
    ...more: ArrayBufferView[]
  ): void {
    this.#module.launch(kernel, blocks, threads, 0, this.#struct(shape), ...more);
  }

  #evaluate(kind: number, regions: number, shape: Partial<Shape> = {}): void {
    const how = [this.#struct(shape), Uint32Array.of(kind)];
    this.#evaluation.launch('evaluateRegions', blocksFor(regions, kind), THREADS, 0, ...how);
  }

  #grow(room: number): void {
    this.#lists.grow(Math.min(this.most, room));
    this.#blocks.reserve(8 * Math.ceil(this.#lists.room / WIDTH));
    this.#drawn = this.#draw();
  }

  /** The pool as kernels take it: most of it stays the same until lists grow. */
  #struct({ n = 0, look = 0, threshold = 0, unit = 0 }: Partial<Shape>): Uint8Array {
    const { bytes, at } = this.#drawn!;
    const view = new DataView(bytes.buffer, bytes.byteOffset + at);
    // counts are numbers below 2^32
    [this.count, n, this.#nodes, this.#roots].forEach((v, i) => {
      view.setUint32(8 * i, v, true);
    });
    view.setUint32(32, this.#rootLevel, true);
    view.setUint32(36, look, true);
    view.setFloat64(40, threshold, true);
    view.setFloat64(48, unit, true);
    return bytes.slice();
  }

  #draw(): Drawn {
    const { rule, ranges } = this.#task;
    const lists = this.#lists;
    const address = lists.address.bind(lists);
    const struct = this.#regions.struct(rule, ranges, 0, address, this.#wrong);
    const at = struct.bytes.length;
    struct
      .u64(0, 0, 0, 0)
      .u32(0, 0)
      .f64(0, 0, differenceWeight(this.#dims))
      .u64(this.#found.address, address('flags'), address('depths'), address('nodeOf'))
      .u64(address('tree'), this.#buckets.address)
      .u64(address('list'), this.#blocks.address, address('parentValues'), address('parentErrors'))
      .u64(this.#sums.address, address('best'), address('around'), address('face'))
      .u64(this.#program.card.reportTo);
    return { bytes: struct.bytes, at };
  }
}

/** The pool's struct, and where in it is what changes from launch to launch. */
interface Drawn {
  bytes: Uint8Array;
  at: number;
}

/** What changes from launch to launch. */
interface Shape {
  n: number;
  look: number;
  threshold: number;
  unit: number;
}
