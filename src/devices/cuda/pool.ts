/**
 * A pool of regions in a card's memory. Kernels halve, evaluate and add (kernels/pool.cu), and a step reads back sums and the counts by
 * which the host selects the next regions (survey.ts). Lists grow by a factor of four when a step needs more room than they have.
 */

import { hearingOf } from '../../tasks/hearing.ts';
import { mergeNonFinite } from '../../tasks/part.ts';
import { ALONG_PARTS, regionsAlong } from '../../tasks/pool/along-axes.ts';
import { BESIDE, DEEP, MOST_UNEVEN, THIN, WIDER } from '../../tasks/pool/borders.ts';
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
import type { Kernels } from './module.ts';
import {
  BLAME,
  type Found,
  MAX_SUM_BLOCKS,
  PoolKernels,
  PURPOSE,
  type Shape,
  WIDTH,
} from './pool-kernels.ts';
import type { CudaProgram, Recipe } from './program.ts';
import { type CudaRegions, KIND, pointIn } from './regions.ts';
import { IMAGES } from './structs.ts';
import type { CudaWitness, WitnessTotals } from './witness.ts';

/** The lists start with room for this many regions. */
const FIRST_ROOM = 2 ** 16;
/** Regions per block in a look across borders, at most. */
const REGIONS_PER_LOOK_BLOCK = 2048;
/** Blocks in a look across borders, at most, unless REGIONS_PER_LOOK_BLOCK needs more. */
const MAX_LOOK_BLOCKS = 8192;
/**
 * The values of a wide region's neighbours are added as 64-bit integers, in units of this part of Σ |values|. In a coarser
 * unit many small regions would be rounded up to more than they have.
 */
const NEIGHBOUR_UNIT = 2 ** -56;
/** An axis can be halved as long as the width of a region is at least 2^-WIDE_BITS of its numbers. */
const WIDE_BITS = 48;
/** The part of a card's free memory that a pool may take. */
const MEMORY_PART = 0.8;

/** Constants of the kernels of looks. A thread of a look across borders takes 18 bytes of shared memory per axis, a block 48 KB at most. */
const LOOKS = { DEEP, MOST_UNEVEN, WIDER, BESIDE, SHARE: REGIONS_PER_LOOK_BLOCK };
const LOOKS_UP_TO_16_AXES = { ...LOOKS, LOOKERS: 128 };
const LOOKS_BEYOND = { ...LOOKS, LOOKERS: 64 };
const looksIn = (dims: number) => (dims <= 16 ? LOOKS_UP_TO_16_AXES : LOOKS_BEYOND);

/** The kernels of looks across borders and along all axes. */
export const lookRecipe = (program: CudaProgram): Recipe => program.without('borders', looksIn(program.dims));

/** What regions look at. */
interface Sight {
  /** How many images or halves there are. */
  count: number;
  /** False for images that the budget has no evaluations for. */
  evaluated?: boolean;
  shape: Partial<Shape>;
  /** Of an image 2^-thin is evaluated. */
  thin?: number;
  /** What is launched before sums are read. */
  then?: () => void;
}

export class CudaPool implements RegionPool {
  readonly most: number;
  readonly #kernels: PoolKernels;
  readonly #witnesses: CudaWitness;
  #heard: WitnessTotals | null = null;
  /** Regions that the last selection has, their least error, and whether their list is written. */
  #wanted = 0;
  #threshold = 0;
  #isListed = false;
  /** How often all regions will be halved, as far as is known; and what the halvings found that were started ahead. */
  #expected = 0;
  #ahead: Found[] = [];
  /** The kernels of looks, once they are needed. */
  #looks: Kernels | null = null;
  /** Sums over regions that left the pool. Without them the tree of halvings has gaps, so there are no more looks. */
  readonly #finished = { count: 0, value: 0, error: 0, absolute: 0 };

  constructor(
    program: CudaProgram,
    regions: CudaRegions,
    witnesses: CudaWitness,
    task: PoolTask,
    signal?: AbortSignal,
  ) {
    this.#kernels = new PoolKernels(program, regions, task, signal);
    this.#witnesses = witnesses;
    // 1.25: while lists grow by a factor of four, the old quarter is in memory beside the new lists
    const memory = task.maxMemory ?? MEMORY_PART * program.card.freeMemory;
    this.most = Math.min(2 ** 31, Math.floor(memory / (1.25 * this.#kernels.lists.bytes)));
  }

  get count(): number {
    return this.#kernels.tree.count / 2 ** this.#ahead.length;
  }

  get sums(): PoolSums {
    const done = this.#finished;
    const { value, error, absolute, stuck } = this.#kernels.last;
    return {
      value: value + done.value,
      error: error + done.error,
      absolute: absolute + done.absolute,
      finished: stuck + done.error,
      done: done.count,
    };
  }

  async start(level: number): Promise<PoolStep> {
    const count = await this.#begin(level);
    return this.#step(count, async i => this.#at(i));
  }

  /** Evaluates the regions of the start; returns their number. */
  async #begin(level: number): Promise<number> {
    const k = this.#kernels;
    const count = 2 ** (level * k.program.dims);
    Object.assign(k.tree, {
      count,
      nodes: count,
      roots: count,
      rootLevel: level,
      depth: level * k.program.dims,
    });
    this.#grow(Math.max(FIRST_ROOM, 2 * count));
    k.launch('begin', Math.ceil(count / 256), 256);
    k.expectFound();
    k.evaluate(KIND.ALL, count);
    await k.addUp();
    return count;
  }

  expectHalvings(times: number): void {
    const { program, task, tree } = this.#kernels;
    // regions that become too small to be halved would not be in the list
    const areWide = task.ranges.every(
      ([low, high]) =>
        (high - low) * 2 ** (WIDE_BITS - tree.depth - times) > Math.max(Math.abs(low), Math.abs(high)),
    );
    this.#expected = areWide && !program.mayTakeLong ? times : 0;
  }

  async select(part: number): Promise<number> {
    if (this.#ahead.length > 0) {
      if (part !== Infinity) throw new Error('halvings of all regions were expected');
      return this.count;
    }
    const { threshold, count } = this.#kernels.largest(part);
    this.#threshold = threshold;
    this.#isListed = false;
    if (count === null) this.#list();
    this.#wanted = count ?? (await this.#kernels.read()).wanted;
    return this.#wanted;
  }

  async halve(most: number): Promise<PoolStep> {
    const k = this.#kernels;
    const n = Math.min(most, this.#wanted);
    if (this.#ahead.length === 0 && this.#expected > 1 && n === k.tree.count) await this.#halveAhead();
    const [now] = this.#ahead;
    if (now) {
      this.#ahead.shift();
      k.last = now;
      return this.#step(this.count, async () => []);
    }
    const { room } = k.lists;
    const before = k.tree.count;
    this.#list();
    if (before + n > room) this.#grow(Math.max(4 * room, before + n));
    k.evaluate(KIND.HALVES, 2 * n, { n });
    await k.addUp(n);
    k.halved(n);
    return this.#step(2 * n, async i => {
      const [region] = k.lists.read('list', new Uint32Array(1), 4 * Math.floor(i / 2));
      return this.#at(i % 2 === 0 ? region : before + Math.floor(i / 2));
    });
  }

  /**
   * Halves all regions as often as is expected, without waiting in between: a wait, with what the host does meanwhile, takes as long as
   * halving a few regions. Where a value is not finite all is made again step by step, which says where.
   */
  async #halveAhead(): Promise<void> {
    const k = this.#kernels;
    const { rootLevel } = k.tree;
    const found = await k.halveAll(this.#expected);
    this.#expected = 0;
    if (!found) return;
    if (found[found.length - 1].wrong === 0) {
      this.#ahead = found;
      return;
    }
    await this.#begin(rootLevel);
    k.expectFound(); // what `start` met was reported
    await this.select(Infinity);
  }

  async finish(relative: number, tolerance: Tolerance): Promise<void> {
    const k = this.#kernels;
    if (relative > 0) await this.#finish({ relative });
    const first = await this.#finishable({ below: 0 });
    const search = searchThreshold(
      {
        count: k.tree.count,
        sum: k.last.error,
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
    const k = this.#kernels;
    k.expectErrors();
    k.launch('finishable', Math.min(MAX_SUM_BLOCKS, Math.ceil(k.tree.count / 256)), 256, which);
    return k.read();
  }

  /** Finishes regions: adds their values and errors to `#finished`, and moves the last of the others into their places. */
  async #finish(which: Partial<Shape>): Promise<void> {
    const k = this.#kernels;
    const sums = await this.#finishable(which);
    const gone = sums.finished;
    if (gone === 0) return;
    const left = k.tree.count - gone;
    this.#finished.count += gone;
    this.#finished.value += sums.finishedValue;
    this.#finished.error += sums.finishedError;
    this.#finished.absolute += sums.finishedAbsolute;
    k.list({ ...which, purpose: PURPOSE.GAPS, n: left });
    const n = (await k.read()).wanted;
    if (n > 0) {
      const behind = k.lists.address('list') + 4 * n;
      k.list({ ...which, purpose: PURPOSE.MOVES, n: left, list: behind });
      await k.read();
      k.launch('move', Math.ceil(n / 256), 256, { n });
    }
    k.tree.count = left;
    await k.addUp();
  }

  async witness(draw: WitnessDraw): Promise<WitnessStep> {
    const k = this.#kernels;
    const { dims } = k.program;
    const { rule, ranges } = k.task;
    const nothing = { centres: new Float64Array(0), levels: new Uint8Array(0), values: new Float64Array(0) };
    const task = { ...draw, ...nothing, rule, ranges, count: k.tree.count };
    const heard = {
      ...hearingOf(task, { first: 0, count: 0 }),
      count: k.tree.count,
      all: k.tree.count,
      across: 1,
      along: dims,
      at: (list: 'centres' | 'levels' | 'values') => k.lists.address(list),
      unit: k.last.absolute || 1,
    };
    const totals = await this.#witnesses.run(k.rule, heard, k.signal, async region => {
      const [centres, levels] = this.#at(region);
      return { centres: Float64Array.from(centres), levels: Uint8Array.from(levels) };
    });
    this.#heard = totals;
    const { deviation, spread, surprise, missing, witnesses, evaluations, nonFinite } = totals;
    return { deviation, spread, surprise, missing, witnesses, evaluations, nonFinite };
  }

  async blame(who: 'surprised' | 'deviating', least: number): Promise<void> {
    const k = this.#kernels;
    const { surprise, missing: hidden, deviating } = this.#heard!;
    const some = who === 'surprised' ? surprise + hidden : deviating;
    const { deviations, spreads, surprised, missing, axes } = this.#witnesses.lists;
    const guilty = some > 0 ? (who === 'surprised' ? BLAME.SURPRISED : BLAME.DEVIATING) : BLAME.EVERYONE;
    k.launch(
      'blame',
      Math.ceil(k.tree.count / 256),
      256,
      {},
      ...[deviations, spreads, surprised, missing, axes].map(list => BigUint64Array.of(BigInt(list.address))),
      Uint32Array.of(guilty),
      Float64Array.of(
        some > 0 ? Math.min(Number.MAX_VALUE, Math.max(1, least / some)) : least / k.tree.count,
      ),
    );
    await k.addUp();
  }

  async look(negligible: number, affordable: number): Promise<PoolStep> {
    const k = this.#kernels;
    const { count, depth } = k.tree;
    const isAnySmall = depth >= DEEP + Math.ceil(Math.log2(count));
    if (this.#finished.count > 0 || !isAnySmall) return this.#step(0, async () => []);
    const look = { purpose: PURPOSE.LOOKS, unit: k.last.absolute * NEIGHBOUR_UNIT };
    k.bucket('bucketSmall', look);
    k.launch('choose', 1, WIDTH, look, Float64Array.of(negligible));
    k.lists.filled('best', 0, count);
    k.lists.filled('around', 0, count);
    k.lists.filled('face', 255, count);
    k.draw();
    const { LOOKERS: lookers } = looksIn(k.program.dims);
    const blocks = Math.max(
      Math.ceil(count / REGIONS_PER_LOOK_BLOCK),
      Math.min(Math.ceil(count / lookers), MAX_LOOK_BLOCKS),
    );
    for (const again of [0, 1])
      this.#lookKernels.launch('faces', blocks, lookers, 0, k.shaped(look), Uint32Array.of(again));
    k.list(look);
    const wanted = (await k.read()).wanted;
    if (wanted === 0) return this.#step(0, async () => []);
    // regions that have next to nothing get a second image; their list is made behind the first ones
    const thin = { unit: look.unit * 2 ** -THIN, below: negligible / wanted, thin: THIN };
    const emptier = () => k.list({ ...look, ...thin });
    const whole = { count: wanted, evaluated: wanted <= affordable, shape: look, then: emptier };
    const step = await this.#lookAt(whole, ['mirror', wanted], ['raise', wanted]);
    const n = k.last.wanted;
    if (n === 0 || wanted + n > affordable) return step;
    const more = await this.#lookAt({ count: n, shape: look, thin: THIN }, ['mirror', n], ['raise', n]);
    const nonFinite = mergeNonFinite([step, more]);
    return { ...more, evaluated: step.evaluated + more.evaluated, nonFinite };
  }

  async lookAlong(affordable: number): Promise<PoolStep> {
    const k = this.#kernels;
    const { dims } = k.program;
    const most = regionsAlong(affordable, dims);
    let wanted = 0;
    for (const part of most < 1 ? [] : ALONG_PARTS) {
      wanted = await this.select(part * k.last.error);
      if (wanted <= most) break;
    }
    const n = Math.min(most, wanted);
    if (n === 0) return this.#step(0, async () => []);
    this.#list();
    const halves = 2 * dims * n;
    return this.#lookAt({ count: halves, shape: { n } }, ['halvesAlong', halves], ['raiseAlong', n]);
  }

  /**
   * Lets regions look at others that a kernel makes, and another kernel raises errors by what is there. Both kernels have a name and a
   * number of threads.
   */
  async #lookAt(
    { count, evaluated = true, shape, thin = 0, then }: Sight,
    ...[make, raise]: [string, number][]
  ): Promise<PoolStep> {
    const k = this.#kernels;
    const { dims } = k.program;
    const list = (name: string, bytes: number) => k.program.buffer(`image ${name}`).reserve(bytes * count);
    const images = {
      centres: list('centres', 8 * dims),
      levels: list('levels', dims),
      values: list('values', 8),
      errors: list('errors', 8),
      axes: list('axes', 1),
    };
    const { centres, levels, values } = images;
    const struct = IMAGES.layout(dims).pack({
      count,
      centres,
      levels,
      values,
      looks: Number(evaluated),
      thin,
    });
    const run = ([name, threads]: [string, number]) =>
      this.#lookKernels.launch(name, Math.ceil(threads / 256), 256, 0, k.shaped(shape), struct);
    const address = (name: keyof typeof images) => images[name].address;
    run(make);
    if (evaluated) k.regions.launchList(k.rule, k.task.ranges, count, address, k.wrong);
    run(raise);
    then?.();
    await k.addUp();
    return this.#step(evaluated ? count : 0, async i => [
      [...centres.read(new Float64Array(dims * count))].filter((_, j) => j % count === i),
      [...levels.read(new Uint8Array(dims * count))].filter((_, j) => j % count === i),
    ]);
  }

  close(): void {
    this.#kernels.lists.close();
  }

  get #lookKernels(): Kernels {
    const { program } = this.#kernels;
    this.#looks ??= program.module(lookRecipe(program));
    return this.#looks;
  }

  /** Writes the list of the selected regions, once. */
  #list(): void {
    if (!this.#isListed) this.#kernels.list({ threshold: this.#threshold });
    this.#isListed = true;
  }

  #grow(room: number): void {
    this.#kernels.grow(Math.min(this.most, room));
  }

  async #step(evaluated: number, where: (i: number) => Promise<number[][]>): Promise<PoolStep> {
    const k = this.#kernels;
    const step: PoolStep = {
      evaluated,
      before: k.last.before,
      after: k.last.after,
      signed: k.last.positive > 0 && k.last.negative > 0,
      nonFinite: null,
    };
    const { wrong, first } = k.last;
    if (wrong === 0) return step;
    k.last.wrong = 0; // a look that finds nothing to look at makes no new sums
    const { rule } = k;
    const { ranges } = k.task;
    const [centre, levels] = await where(Math.floor(first / rule.points));
    const point = pointIn(rule, ranges, centre, levels, first % rule.points);
    k.expectFound();
    step.nonFinite = { count: wrong, first: { point, value: await k.program.valueAt(point) } };
    return step;
  }

  /** Centre and levels of a region. */
  #at(region: number): number[][] {
    const { lists, program } = this.#kernels;
    const { dims } = program;
    return [
      [...lists.read('centres', new Float64Array(dims), 8 * dims * region)],
      [...lists.read('levels', new Uint8Array(dims), dims * region)],
    ];
  }
}
