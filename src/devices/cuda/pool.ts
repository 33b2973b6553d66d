/**
 * A pool of regions in a card's memory. Kernels select, halve, evaluate and add (kernels/pool.cu), and a step reads back
 * about a hundred bytes. Lists grow by a factor of four when a step needs more room than they have.
 */

import { ruleFor } from '../../tasks/every-rule.ts';
import { hearingOf } from '../../tasks/hearing.ts';
import { ALONG_PARTS, missingAlong, regionsAlong } from '../../tasks/pool/along-axes.ts';
import { DEVIATING } from '../../tasks/pool/blame.ts';
import { BESIDE, DEEP, WIDER } from '../../tasks/pool/borders.ts';
import { differenceWeight } from '../../tasks/pool/errors.ts';
import {
  type PoolStep,
  type PoolSums,
  type PoolTask,
  type RegionPool,
  type Tolerance,
  toleranceLeft,
  type WitnessDraw,
  type WitnessStep,
} from '../../tasks/pool/pool.ts';
import { searchThreshold } from '../../tasks/pool/threshold.ts';
import type { Rule } from '../../tasks/rules.ts';
import type { Buffer } from './card.ts';
import { PoolLists } from './lists.ts';
import type { Kernels } from './module.ts';
import type { CudaProgram, Recipe } from './program.ts';
import { blocksFor, type CudaRegions, KIND, pointIn, THREADS } from './regions.ts';
import { FOUND, IMAGES, POOL } from './structs.ts';
import type { CudaWitness, WitnessTotals } from './witness.ts';

const WIDTH = 1024;
const BUCKETS = 2 ** 12;
/** Up to this many regions, one block selects. */
const MAX_ONE_BLOCK_REGIONS = 2 ** 15;
/** The lists start with room for this many regions. */
const FIRST_ROOM = 2 ** 16;
/** Blocks of kernels that add over all regions, at most. */
const MAX_SUM_BLOCKS = 1024;
/** Regions per block in a look across borders, at most. */
const REGIONS_PER_LOOK_BLOCK = 2048;
/** Blocks in a look across borders, at most, unless REGIONS_PER_LOOK_BLOCK needs more. */
const MAX_LOOK_BLOCKS = 8192;
/**
 * The values of a wide region's neighbours are added as 64-bit integers, in units of this part of Σ |values|. In a coarser
 * unit many small regions would be rounded up to more than they have.
 */
const NEIGHBOUR_UNIT = 2 ** -56;
/** Why regions are listed: for halving, for a look across borders, as gaps of finished ones, or to move into the gaps. */
const PURPOSE = { HALVING: 0, LOOKS: 1, GAPS: 2, MOVES: 3 } as const;
/** Whose errors witnesses raise. */
const BLAME = { SURPRISED: 0, DEVIATING: 1, EVERYONE: 2 } as const;
/** The part of a card's free memory that a pool may take. */
const MEMORY_PART = 0.8;

const found = FOUND.layout(0);
type Found = ReturnType<typeof found.unpack>;

/** Threads per block in a look across borders: 18 bytes of shared memory per axis and thread, at most 48 KB in all. */
const lookersFor = (dims: number) => (dims <= 16 ? 128 : 64);

/** The kernels of a pool, and of looks across borders. */
export const poolRecipe = (program: CudaProgram): Recipe =>
  program.without('pool', { DEEP, WIDTH, BUCKETS, ...PURPOSE, ...BLAME, LIMIT: DEVIATING });
export const lookRecipe = (program: CudaProgram): Recipe =>
  program.without('borders', {
    DEEP,
    WIDER,
    BESIDE,
    SHARE: REGIONS_PER_LOOK_BLOCK,
    LOOKERS: lookersFor(program.dims),
  });

export class CudaPool implements RegionPool {
  readonly most: number;
  readonly #program: CudaProgram;
  readonly #regions: CudaRegions;
  readonly #witnesses: CudaWitness;
  #heard: WitnessTotals | null = null;
  readonly #task: PoolTask;
  readonly #rule: Rule;
  readonly #signal: AbortSignal | undefined;
  readonly #struct;
  readonly #images;
  readonly #dims: number;
  readonly #lookers: number;
  /** The kernels of the pool, and those that evaluate regions. */
  readonly #module: Kernels;
  readonly #evaluation: Kernels;
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
  /** The struct POOL as the last launch was given it. */
  #bytes: Uint8Array = new Uint8Array(0);
  #view = new DataView(this.#bytes.buffer);
  /** Sums over regions that left the pool. Without them the tree of halvings has gaps, so there are no more looks. */
  readonly #finished = { count: 0, value: 0, error: 0, absolute: 0 };
  count = 0;

  constructor(
    program: CudaProgram,
    regions: CudaRegions,
    witnesses: CudaWitness,
    task: PoolTask,
    signal?: AbortSignal,
  ) {
    this.#program = program;
    this.#regions = regions;
    this.#witnesses = witnesses;
    this.#task = task;
    this.#signal = signal;
    this.#dims = task.ranges.length;
    this.#rule = ruleFor(this.#dims, task.rule);
    this.#struct = POOL.layout(this.#dims);
    this.#images = IMAGES.layout(this.#dims);
    this.#lookers = lookersFor(this.#dims);
    const { card } = program;
    this.#module = program.module(poolRecipe(program));
    this.#evaluation = program.module(regions.recipe(this.#rule));
    this.#buckets = program.buffer('pool buckets').reserve(4 * BUCKETS);
    this.#found = program.buffer('pool found').reserve(found.size);
    this.#blocks = program.buffer('pool blocks');
    this.#sums = program.buffer('pool sums').reserve(8 * 6 * MAX_SUM_BLOCKS);
    this.#lists = new PoolLists(card, this.#dims);
    // 1.25: while lists grow by a factor of four, the old quarter is in memory beside the new lists
    const memory = task.maxMemory ?? MEMORY_PART * card.freeMemory;
    this.most = Math.min(2 ** 31, Math.floor(memory / (1.25 * this.#lists.bytes)));
  }

  get sums(): PoolSums {
    const done = this.#finished;
    return {
      value: this.#last!.value + done.value,
      error: this.#last!.error + done.error,
      absolute: this.#last!.absolute + done.absolute,
      finished: this.#last!.stuck + done.error,
      done: done.count,
    };
  }

  async start(level: number): Promise<PoolStep> {
    this.count = this.#roots = this.#nodes = 2 ** (level * this.#dims);
    this.#rootLevel = level;
    this.#grow(Math.max(FIRST_ROOM, 2 * this.count));
    this.#launch('begin', Math.ceil(this.count / 256), 256);
    this.#expectFound();
    this.#evaluate(KIND.ALL, this.count);
    await this.#addUp();
    return this.#step(this.count, async i => this.#at(i));
  }

  async select(part: number): Promise<number> {
    this.#threshold = 0;
    const all = part === Infinity;
    const some = Math.max(part, Number.MIN_VALUE); // at least the region with the largest error
    if (this.count <= MAX_ONE_BLOCK_REGIONS)
      this.#launch('selectFew', 1, WIDTH, {}, Float64Array.of(all ? -1 : some));
    else {
      if (!all) this.#threshold = (await this.#choose(some)).threshold;
      this.#writeList();
    }
    // when all regions are selected and none is stuck, their number is known without reading it back
    const known = all && this.#last!.stuckCount === 0;
    this.#wanted = known ? this.count : (await this.#read()).wanted;
    return this.#wanted;
  }

  async halve(most: number): Promise<PoolStep> {
    const n = Math.min(most, this.#wanted);
    const { room } = this.#lists;
    if (this.count + n > room) this.#grow(Math.max(4 * room, this.count + n));
    this.#evaluate(KIND.HALVES, 2 * n, { n });
    await this.#addUp(n);
    const before = this.count;
    this.count += n;
    this.#nodes += 2 * n;
    return this.#step(2 * n, async i => {
      const [region] = this.#lists.read('list', new Uint32Array(1), 4 * Math.floor(i / 2));
      return this.#at(i % 2 === 0 ? region : before + Math.floor(i / 2));
    });
  }

  async finish(relative: number, tolerance: Tolerance): Promise<void> {
    if (relative > 0) await this.#finish({ relative });
    const first = await this.#finishable({ below: 0 });
    const search = searchThreshold(
      {
        count: this.count,
        sum: this.#last!.error,
        least: first.leastError,
        largest: first.largestError,
      },
      toleranceLeft(tolerance, this.sums),
    );
    let step = search.next();
    while (!step.done) {
      const now = await this.#finishable({ below: step.value });
      step = search.next({ count: now.finished, error: now.finishedError });
    }
    if (step.value !== null) await this.#finish({ below: step.value });
  }

  /** The sums over regions that may be finished. */
  async #finishable(which: Partial<Shape>): Promise<Found> {
    this.#found.write(Uint32Array.of(0xffffffff, 0xffffffff, 0, 0), found.offset('leastError'));
    this.#launch('finishable', Math.min(MAX_SUM_BLOCKS, Math.ceil(this.count / 256)), 256, which);
    return this.#read();
  }

  /** Finishes regions: adds their values and errors to `#finished`, and moves the last of the others into their places. */
  async #finish(which: Partial<Shape>): Promise<void> {
    const sums = await this.#finishable(which);
    const gone = sums.finished;
    if (gone === 0) return;
    const left = this.count - gone;
    this.#finished.count += gone;
    this.#finished.value += sums.finishedValue;
    this.#finished.error += sums.finishedError;
    this.#finished.absolute += sums.finishedAbsolute;
    this.#writeList({ ...which, purpose: PURPOSE.GAPS, n: left });
    const n = (await this.#read()).wanted;
    if (n > 0) {
      const behind = this.#lists.address('list') + 4 * n;
      this.#writeList({ ...which, purpose: PURPOSE.MOVES, n: left, list: behind });
      await this.#read();
      this.#launch('move', Math.ceil(n / 256), 256, { n });
    }
    this.count = left;
    await this.#addUp();
  }

  async witness(draw: WitnessDraw): Promise<WitnessStep> {
    const dims = this.#dims;
    const { rule, ranges } = this.#task;
    const nothing = { centres: new Float64Array(0), levels: new Uint8Array(0), values: new Float64Array(0) };
    const task = { ...draw, ...nothing, rule, ranges, count: this.count };
    const heard = {
      ...hearingOf(task, { first: 0, count: 0 }),
      count: this.count,
      all: this.count,
      across: 1,
      along: dims,
      at: (list: 'centres' | 'levels' | 'values') => this.#lists.address(list),
      unit: this.#last!.absolute || 1,
    };
    const totals = await this.#witnesses.run(this.#rule, heard, this.#signal, async region => {
      const [centres, levels] = this.#at(region);
      return { centres: Float64Array.from(centres), levels: Uint8Array.from(levels) };
    });
    this.#heard = totals;
    const { deviation, spread, surprise, missing, witnesses, evaluations, nonFinite } = totals;
    return { deviation, spread, surprise, missing, witnesses, evaluations, nonFinite };
  }

  async blame(who: 'surprised' | 'deviating', least: number): Promise<void> {
    const { surprise, missing: hidden, deviating } = this.#heard!;
    const some = who === 'surprised' ? surprise + hidden : deviating;
    const { deviations, spreads, surprised, missing, axes } = this.#witnesses.lists;
    const guilty = some > 0 ? (who === 'surprised' ? BLAME.SURPRISED : BLAME.DEVIATING) : BLAME.EVERYONE;
    this.#launch(
      'blame',
      Math.ceil(this.count / 256),
      256,
      {},
      ...[deviations, spreads, surprised, missing, axes].map(list => BigUint64Array.of(BigInt(list.address))),
      Uint32Array.of(guilty),
      Float64Array.of(some > 0 ? Math.min(Number.MAX_VALUE, Math.max(1, least / some)) : least / this.count),
    );
    await this.#addUp();
  }

  async look(negligible: number, affordable: number): Promise<PoolStep> {
    if (this.#finished.count > 0) return this.#step(0, async () => []);
    const look = { purpose: PURPOSE.LOOKS, unit: this.#last!.absolute * NEIGHBOUR_UNIT };
    const threshold = (await this.#choose(negligible, look)).threshold;
    this.#lists.filled('best', 0, this.count);
    this.#lists.filled('around', 0, this.count);
    this.#lists.filled('face', 255, this.count);
    this.#draw();
    const of = { ...look, threshold };
    const blocks = Math.max(
      Math.ceil(this.count / REGIONS_PER_LOOK_BLOCK),
      Math.min(Math.ceil(this.count / this.#lookers), MAX_LOOK_BLOCKS),
    );
    const borders = this.#program.module(lookRecipe(this.#program));
    for (const again of [0, 1])
      borders.launch('faces', blocks, this.#lookers, 0, this.#shaped(of), Uint32Array.of(again));
    this.#writeList(of);
    const wanted = (await this.#read()).wanted;
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
    const { centres, levels, values } = images;
    const struct = this.#images.pack({ count: wanted, centres, levels, values, looks: looks ? 1 : 0 });
    borders.launch('mirror', Math.ceil(wanted / 256), 256, 0, this.#shaped(of), struct);
    if (looks) this.#regions.launchList(this.#rule, this.#task.ranges, wanted, address, this.#wrong);
    borders.launch('raise', Math.ceil(wanted / 256), 256, 0, this.#shaped(of), struct);
    await this.#addUp();
    return this.#step(looks ? wanted : 0, async i => [
      [...images.centres.read(new Float64Array(this.#dims * wanted))].filter((_, k) => k % wanted === i),
      [...images.levels.read(new Uint8Array(this.#dims * wanted))].filter((_, k) => k % wanted === i),
    ]);
  }

  async lookAlong(affordable: number): Promise<PoolStep> {
    const most = regionsAlong(affordable, this.#dims);
    let wanted = 0;
    for (const part of most < 1 ? [] : ALONG_PARTS) {
      wanted = await this.select(part * this.#last!.error);
      if (wanted <= most) break;
    }
    const slots = this.#lists.read('list', new Uint32Array(Math.min(most, wanted)), 0);
    if (slots.length === 0) return this.#step(0, async () => []);
    const regions = this.#lists.regionsAt(slots, this.count);
    const found = await missingAlong(this.#task, regions, this.#regions, this.#signal);
    found.missing.forEach((own, k) => {
      if (!own) return;
      this.#lists.write('errors', Float64Array.of(regions.errors[k] + own.more), 8 * slots[k]);
      this.#lists.write('axes', Uint8Array.of(own.axis), slots[k]);
    });
    await this.#addUp();
    return { ...(await this.#step(found.evaluated, async () => [])), nonFinite: found.nonFinite };
  }

  close(): void {
    this.#lists.close();
  }

  /** Finds the threshold above which errors sum to `part`, or up to which the values of small regions do. */
  #choose(part: number, more: Partial<Shape> = {}): Promise<Found> {
    this.#buckets.clear(4 * BUCKETS);
    // two blocks fit on a processor; more would only mean more lists of counts to add
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

  /** Adds over all regions, of which n are new. */
  async #addUp(n = 0): Promise<void> {
    this.#launch('totals', Math.min(MAX_SUM_BLOCKS, Math.ceil((this.count + n) / 256)), 256, { n });
    this.#last = await this.#read();
  }

  async #step(evaluated: number, where: (i: number) => Promise<number[][]>): Promise<PoolStep> {
    const step: PoolStep = {
      evaluated,
      before: this.#last!.before,
      after: this.#last!.after,
      signed: this.#last!.positive > 0 && this.#last!.negative > 0,
      nonFinite: null,
    };
    const wrong = this.#last!.wrong;
    if (wrong === 0) return step;
    const [rule, first] = [this.#rule, this.#last!.first];
    const { ranges } = this.#task;
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
    return this.#found.address + found.offset('wrong');
  }

  /** Clears the struct FOUND before kernels fill it. */
  #expectFound(): void {
    const bytes = found.pack({});
    bytes.fill(255, found.offset('first'), found.offset('first') + 8);
    this.#found.write(bytes);
  }

  async #read(): Promise<Found> {
    const { card } = this.#program;
    await card.finished(this.#signal, 'evaluating regions');
    return found.unpack(
      card.reportTo ? card.report(found.size) : this.#found.read(new Uint8Array(found.size)),
    );
  }

  #launch(
    kernel: string,
    blocks: number,
    threads: number,
    shape: Partial<Shape> = {},
    ...more: ArrayBufferView[]
  ): void {
    this.#module.launch(kernel, blocks, threads, 0, this.#shaped(shape), ...more);
  }

  #evaluate(kind: number, regions: number, shape: Partial<Shape> = {}): void {
    const how = [this.#shaped(shape), Uint32Array.of(kind)];
    this.#evaluation.launch('evaluateRegions', blocksFor(regions, kind), THREADS, 0, ...how);
  }

  #grow(room: number): void {
    this.#lists.grow(Math.min(this.most, room));
    this.#blocks.reserve(8 * Math.ceil(this.#lists.room / WIDTH));
    this.#draw();
  }

  /** The struct POOL for a launch, which copies it; most members stay the same until lists grow. */
  #shaped({
    n = 0,
    purpose = 0,
    threshold = 0,
    unit = 0,
    relative = 0,
    below = 0,
    list,
  }: Partial<Shape>): Uint8Array {
    const [struct, view] = [this.#struct, this.#view];
    struct.put(view, 'count', this.count);
    struct.put(view, 'n', n);
    struct.put(view, 'nodes', this.#nodes);
    struct.put(view, 'roots', this.#roots);
    struct.put(view, 'rootLevel', this.#rootLevel);
    struct.put(view, 'purpose', purpose);
    struct.put(view, 'threshold', threshold);
    struct.put(view, 'unit', unit);
    struct.put(view, 'relative', relative);
    struct.put(view, 'below', below);
    struct.put(view, 'list', list ?? this.#lists.address('list'));
    return this.#bytes;
  }

  #draw(): void {
    const address = this.#lists.address.bind(this.#lists);
    this.#bytes = this.#struct.pack({
      t: this.#regions.struct(this.#rule, this.#task.ranges, 0, address, this.#wrong),
      weight: differenceWeight(this.#dims),
      found: this.#found,
      flags: address('flags'),
      depths: address('depths'),
      nodeOf: address('nodeOf'),
      tree: address('tree'),
      buckets: this.#buckets,
      list: address('list'),
      blocks: this.#blocks,
      parentValues: address('parentValues'),
      parentErrors: address('parentErrors'),
      sums: this.#sums,
      best: address('best'),
      around: address('around'),
      face: address('face'),
      report: this.#program.card.reportTo,
    });
    this.#view = new DataView(this.#bytes.buffer);
  }
}

/** Members of POOL that change from launch to launch. */
interface Shape {
  n: number;
  purpose: number;
  threshold: number;
  unit: number;
  relative: number;
  below: number;
  list: number;
}
