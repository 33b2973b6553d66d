/**
 * A pool of regions in the memory of a GPU. Kernels list, halve, evaluate and add (kernels/pool.ts), and a step reads back 2 KB: sums over
 * all regions, and how many have which errors, by which the host selects the next ones. Lists grow by a factor of four.
 *
 * Commands of a step are recorded, and submitted together when something is read: a submission is a call of the driver, and takes as
 * long as the kernels of a small step.
 */

import { ruleFor } from '../../tasks/every-rule.ts';
import { hearingOf } from '../../tasks/hearing.ts';
import { mergeNonFinite } from '../../tasks/part.ts';
import { type Missing, missingAlong, regionsAlong } from '../../tasks/pool/along-axes.ts';
import { THIN } from '../../tasks/pool/borders.ts';
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
import { type Volume, volumeOf } from '../../tasks/region.ts';
import type { Rule } from '../../tasks/rules.ts';
import { WebGpuError } from './adapter.ts';
import type { Dispatch } from './gpu.ts';
import type { GrowingBuffer } from './growing-buffer.ts';
import { MAX_SURVEYORS, PURPOSE, WIDTH } from './kernels/pool.ts';
import { FOUND, FOUND_BYTES, NO_KEY } from './kernels/pool-record.ts';
import { POOL_ROW, POOL_THREADS, poolRegionKernel } from './kernels/pool-regions.ts';
import type { Points } from './points.ts';
import { kernelsFor, type OwnKernels, PoolKernels } from './pool-kernels.ts';
import { PoolLists } from './pool-lists.ts';
import { firstWrongPoint, type Geometry, type ReadRegions, readRegions } from './pool-reading.ts';
import { type PoolRule, poolRule } from './pool-rule.ts';
import { Survey } from './pool-sums.ts';
import { type PoolShape, type PoolTree, poolWords } from './pool-task.ts';
import { guiltOf, PoolWitness, type Said } from './pool-witness.ts';
import type { WebGpuProgram } from './program.ts';
import { WebGpuRegions } from './regions.ts';
import { StepCommands } from './step-commands.ts';
import { firstNonFinite } from './witness.ts';

const NOTHING: PoolStep = { evaluated: 0, before: 0, after: 0, signed: false, nonFinite: null };
/** The lists start with room for this many regions. */
const FIRST_ROOM = 2 ** 14;

export class WebGpuPool implements RegionPool {
  readonly task: PoolTask;
  readonly #program: WebGpuProgram;
  readonly #points: Points;
  readonly #signal: AbortSignal | undefined;
  readonly #rule: Rule;
  readonly #laid: PoolRule;
  readonly #dims: number;
  readonly #volume: Volume;
  readonly #lists: PoolLists;
  readonly #offsets: GrowingBuffer;
  readonly #range: GrowingBuffer;
  readonly #kernels: PoolKernels;
  readonly #own: OwnKernels;
  /** Evaluates lists of the host. */
  readonly #regions: WebGpuRegions;
  #evaluation!: GPUComputePipeline;
  #most: number;
  #nodes = 0;
  #rootLevel = 0;
  /** What `select` chose. */
  #threshold = NO_KEY;
  #wanted = 0;
  #last!: Survey;
  #witnesses: PoolWitness | null = null;
  /** What the last witnesses said. */
  #said: Said | null = null;
  readonly #commands: StepCommands;
  /** Sums over regions that left the pool. Without them the tree of halvings has gaps, so there are no more looks. */
  readonly #finished = { count: 0, value: 0, error: 0, absolute: 0 };
  count = 0;
  #closed = false;

  /** Compiles what the first steps need. */
  static async open(
    program: WebGpuProgram,
    points: Points,
    task: PoolTask,
    signal?: AbortSignal,
  ): Promise<WebGpuPool> {
    const pool = new WebGpuPool(program, points, task, signal);
    await pool.#compile();
    return pool;
  }

  private constructor(program: WebGpuProgram, points: Points, task: PoolTask, signal?: AbortSignal) {
    this.task = task;
    this.#program = program;
    this.#points = points;
    this.#signal = signal;
    this.#dims = task.ranges.length;
    this.#volume = volumeOf(task.ranges);
    this.#rule = ruleFor(this.#dims, task.rule);
    this.#laid = poolRule(this.#rule, program.loops);
    this.#lists = PoolLists.take(program.gpu, this.#dims, task.maxMemory);
    this.#kernels = new PoolKernels(program, this.#lists);
    this.#commands = new StepCommands(program.gpu);
    this.#most = this.#lists.most(task.maxMemory);
    this.#own = kernelsFor(this.#dims);
    this.#regions = new WebGpuRegions(program, points);
    this.#offsets = program.buffer('storage');
    this.#range = program.buffer('uniform');
  }

  get most(): number {
    return this.#most;
  }

  get sums(): PoolSums {
    const [here, done] = [this.#last, this.#finished];
    return {
      value: here.value + done.value,
      error: here.error + done.error,
      absolute: here.absolute + done.absolute,
      finished: here.stuck + done.error,
      done: done.count,
    };
  }

  async #compile(): Promise<void> {
    const { gpu, text } = this.#program;
    const { begin, halve, twoLevel, survey, listed } = this.#own;
    const [evaluation] = await Promise.all([
      gpu.pipeline(poolRegionKernel(text, this.#laid.variant)),
      this.#kernels.ready(begin, halve, twoLevel, survey, ...listed),
    ]);
    this.#evaluation = evaluation;
  }

  async start(level: number): Promise<PoolStep> {
    const { gpu } = this.#program;
    this.count = this.#nodes = 2 ** (level * this.#dims);
    this.#rootLevel = level;
    await this.#grow(Math.max(FIRST_ROOM, 2 * this.count));
    if (this.#lists.room === 0)
      throw new WebGpuError('the GPU has no memory for regions; use another device.');
    const table = this.#laid.table(this.task.ranges);
    gpu.device.queue.writeBuffer(this.#lists.of('rule', table.byteLength), 0, table as never);
    this.#offsets.write(this.#laid.offsets);
    this.#commands.begin().clear(this.#lists.of('found', FOUND_BYTES), FOUND_BYTES);
    this.#shape({});
    this.#commands.add(this.#kernels.threads(this.#own.begin, this.count));
    await this.#evaluate(this.count);
    await this.#addUp();
    return this.#step(this.count, i => i);
  }

  async select(part: number): Promise<number> {
    const { threshold, count } =
      part === Infinity
        ? { threshold: NO_KEY, count: this.count - this.#last.stuckCount }
        : this.#last.largest(part);
    this.#threshold = threshold;
    this.#wanted = count;
    return count;
  }

  async halve(most: number): Promise<PoolStep> {
    if (this.#wanted > most) {
      const fewer = this.#last.most(most);
      if (fewer.count > 0) [this.#threshold, this.#wanted] = [fewer.threshold, fewer.count];
    }
    let n = Math.min(most, this.#wanted);
    const { room } = this.#lists;
    if (this.count + n > room) {
      await this.#grow(Math.max(4 * room, this.count + n));
      n = Math.min(n, this.#lists.room - this.count);
    }
    if (n === 0) return NOTHING;
    this.#begin();
    const shape = { n, threshold: this.#threshold };
    this.#shape(shape);
    const twoLevel = this.#kernels.threads(this.#own.twoLevel, n);
    this.#commands.add(
      ...this.#kernels.listing(this.#own.listed, this.count),
      this.#kernels.threads(this.#own.halve, n),
    );
    await this.#evaluate(2 * n, shape);
    this.#commands.add(twoLevel);
    const before = this.count;
    this.count += n;
    this.#nodes += 2 * n;
    await this.#addUp({ n, count: before });
    return this.#step(2 * n, i => (i % 2 === 0 ? this.#listed(i >> 1) : before + (i >> 1)));
  }

  async finish(relative: number, tolerance: Tolerance): Promise<void> {
    if (relative > 0) await this.#finish(NO_KEY, relative);
    const { count, least, largest } = this.#last.counted;
    // regions without an error, and those with less than 2^-128 of the largest, are in no bucket
    const below = Math.max(0, this.count - this.#last.stuckCount - count);
    const search = searchThreshold(
      { count: this.count, sum: this.#last.error, least: below > 0 ? 0 : least, largest },
      toleranceLeft(tolerance, this.sums),
    );
    let step = search.next();
    while (!step.done) {
      const now = this.#last.below(step.value);
      step = search.next({ count: below + now.count, error: now.error });
    }
    if (step.value !== null) await this.#finish(this.#last.below(step.value).threshold, 0);
  }

  /** Finishes regions: adds their values and errors to `#finished`, and moves the last of the others into their places. */
  async #finish(threshold: number, relative: number): Promise<void> {
    await this.#kernels.ready(this.#own.move);
    const which = { threshold, relative, purpose: PURPOSE.GAPS };
    this.#begin();
    this.#shape(which);
    this.#commands.add(this.#surveying());
    const sums = await this.#read();
    const gone = sums.stuckCount;
    if (gone === 0) return;
    const left = this.count - gone;
    this.#finished.count += gone;
    this.#finished.value += sums.value;
    this.#finished.error += sums.error;
    this.#finished.absolute += sums.absolute;
    this.#shape({ ...which, n: left });
    this.#commands.add(...this.#kernels.listing(this.#own.listed, this.count));
    const n = (await this.#read()).listed;
    if (n > 0) {
      this.#shape({ ...which, purpose: PURPOSE.MOVES, n: left, listAt: n });
      this.#commands.add(...this.#kernels.listing(this.#own.listed, this.count));
      this.#shape({ n });
      this.#commands.add(this.#kernels.threads(this.#own.move, n));
    }
    this.count = left;
    this.#clear();
    await this.#addUp();
  }

  async look(negligible: number, affordable: number): Promise<PoolStep> {
    if (this.#finished.count > 0) return NOTHING;
    const { facesFirst, facesAgain, mirror, raise, wide } = this.#own;
    await this.#kernels.ready(facesFirst, facesAgain, mirror, raise, ...wide);
    this.#begin();
    this.#shape({ purpose: PURPOSE.LOOKS });
    this.#commands.add(this.#surveying());
    const threshold = (await this.#read()).smallest(negligible);
    if (threshold === null) return NOTHING;
    const { count } = this;
    for (const name of ['best', 'around', 'face'] as const)
      this.#lists.clear(name, count, this.#commands.now);
    const { mantissa, exponent } = this.#volume;
    const size = Math.floor(Math.log2(this.#last.absolute / mantissa));
    const power = 128 + size - exponent;
    const shape = { threshold, power, purpose: PURPOSE.LOOKS };
    this.#shape(shape);
    this.#commands.add(
      this.#kernels.threads(facesFirst, count),
      this.#kernels.threads(facesAgain, count),
      ...this.#kernels.listing(wide, count),
    );
    const n = (await this.#read()).listed;
    if (n === 0) return NOTHING;
    // regions that have next to nothing get a second image
    const least = (negligible / n / mantissa) * 2 ** (54 + THIN - size);
    const emptier = { ...shape, power: power - THIN, factor: least, thin: THIN };
    const step = await this.#lookAt(n, shape, n <= affordable, emptier);
    const m = this.#last.listed;
    if (m === 0 || n + m > affordable) return step;
    const more = await this.#lookAt(m, { ...shape, thin: THIN }, true, emptier);
    const nonFinite = mergeNonFinite([step, more]);
    return { ...more, evaluated: step.evaluated + more.evaluated, nonFinite };
  }

  /** Looks at the images of neighbours of the n wide regions in the list, and lists those of the shape `next`. */
  async #lookAt(
    n: number,
    shape: Partial<PoolShape>,
    looks: boolean,
    next: Partial<PoolShape>,
  ): Promise<PoolStep> {
    const { mirror, raise, wide } = this.#own;
    const images = {
      places: this.#lists.of('imagePlaces', 8 * this.#dims * n),
      levels: this.#lists.of('imageLevels', 4 * Math.ceil(this.#dims / 4) * n),
      state: this.#lists.of('imageState', 16 * n),
    };
    this.#clear();
    this.#shape({ ...shape, n, purpose: Number(looks) });
    const raising = this.#kernels.threads(raise, n);
    this.#commands.add(this.#kernels.threads(mirror, n));
    if (looks) await this.#evaluate(n, {}, images);
    this.#commands.add(raising);
    this.#shape(next);
    this.#commands.add(...this.#kernels.listing(wide, this.count));
    await this.#addUp();
    return this.#step(looks ? n : 0, i => i, images);
  }

  async witness(draw: WitnessDraw): Promise<WitnessStep> {
    this.#witnesses ??= new PoolWitness(this.#program, this.#lists, this.#kernels, this.#rule);
    this.#begin();
    this.#shape({});
    this.#commands.take().submit();
    const { ranges } = this.task;
    const { said, wrong, ...step } = await this.#witnesses.hear(draw, ranges, this.count, this.#signal);
    this.#said = said;
    if (!wrong) return step;
    const slot = await this.#listed(wrong.first);
    const { rule } = this.task;
    const hearing = hearingOf(
      { ...draw, ...(await this.#region(slot)), rule, ranges },
      { first: 0, count: 1 },
    );
    const first = await firstNonFinite({ ...hearing, first: slot }, this.#points, this.#signal);
    return { ...step, nonFinite: { count: wrong.count, first } };
  }

  async blame(who: 'surprised' | 'deviating', least: number): Promise<void> {
    const { count, axes } = this.#said!;
    const { guilt, sum } = guiltOf(this.#said!, who);
    const everyone = !(sum > 0);
    const factor = Math.max(1, least / sum);
    await this.#raise(
      everyone ? this.count : count,
      everyone ? least / this.count : factor * sum,
      i => ({ more: factor * guilt[i], axis: axes[i] }),
      everyone ? 0 : count,
    );
  }

  /** Raises the errors of the first `listed` regions of the list, each by `of(i).more`; where none is listed, those of n regions by `unit`. */
  async #raise(n: number, unit: number, of: (i: number) => Missing, listed: number): Promise<void> {
    // errors are float32 numbers in units of this power of 2
    const { mantissa, exponent } = this.#volume;
    const power = Math.floor(Math.log2(Math.min(Number.MAX_VALUE, unit)));
    const words = new Uint32Array(2 * Math.max(1, listed));
    const floats = new Float32Array(words.buffer);
    for (let i = 0; i < listed; i++) {
      const { more, axis } = of(i);
      floats[2 * i] = (more * 2 ** -power) / mantissa;
      words[2 * i + 1] = axis;
    }
    await this.#kernels.ready(this.#own.blame);
    this.#program.gpu.device.queue.writeBuffer(this.#lists.get('said'), 0, words as never);
    this.#begin();
    this.#shape({
      n,
      purpose: Number(listed === 0),
      factor: (unit * 2 ** -power) / mantissa,
      power: power - exponent,
    });
    this.#commands.add(this.#kernels.threads(this.#own.blame, n));
    await this.#addUp();
  }

  async lookAlong(affordable: number): Promise<PoolStep> {
    const most = regionsAlong(affordable, this.#dims);
    if (most < 1 || this.#last.counted.count === 0) return NOTHING;
    const { gpu } = this.#program;
    const { threshold, count } = this.#last.most(most);
    const n = Math.min(most, count);
    this.#begin();
    this.#shape({ n, threshold });
    this.#commands.add(...this.#kernels.listing(this.#own.listed, this.count));
    const [list] = await gpu.read([{ buffer: this.#lists.get('list'), bytes: 4 * n }], this.#commands.take());
    const regions = await readRegions(gpu, this.#geometry, new Uint32Array(list), this.task.ranges);
    const { missing, ...step } = await missingAlong(this.task, regions, this.#regions, this.#signal);
    const sum = missing.reduce((s, found) => s + (found?.more ?? 0), 0);
    if (sum > 0) await this.#raise(n, sum, i => missing[i] ?? { more: 0, axis: 0 }, n);
    return { ...NOTHING, ...step };
  }

  /** A region of the list. */
  async #listed(k: number): Promise<number> {
    const read = [{ buffer: this.#lists.get('list'), from: 4 * k, bytes: 4 }];
    return new Uint32Array((await this.#program.gpu.read(read))[0])[0];
  }

  /** The regions with the largest |values|, about so many. */
  async largest(wanted: number): Promise<ReadRegions> {
    const { gpu } = this.#program;
    this.#begin();
    this.#shape({ purpose: PURPOSE.VALUES });
    this.#commands.add(this.#surveying());
    const { threshold, count } = (await this.#read()).most(wanted);
    this.#shape({ purpose: PURPOSE.VALUES, threshold });
    this.#commands.add(...this.#kernels.listing(this.#own.listed, this.count));
    const bytes = 4 * Math.min(count, wanted);
    const [list] = await gpu.read([{ buffer: this.#lists.get('list'), bytes }], this.#commands.take());
    return readRegions(gpu, this.#geometry, new Uint32Array(list), this.task.ranges);
  }

  close(): void {
    if (!this.#closed) this.#lists.close();
    this.#closed = true;
  }

  /** Adds over all regions, of which n are new, and reads what was found. */
  async #addUp(new_: { n: number; count: number } = { n: 0, count: this.count }): Promise<void> {
    this.#shape(new_, new_.count);
    this.#commands.add(this.#surveying());
    this.#last = await this.#read();
  }

  async #read(): Promise<Survey> {
    const found = { buffer: this.#lists.of('found', FOUND_BYTES), bytes: FOUND_BYTES };
    const [words] = await this.#program.gpu.read([found], this.#commands.take());
    this.#commands.done();
    this.#signal?.throwIfAborted();
    return new Survey(new Uint32Array(words), this.#volume);
  }

  #begin(): void {
    this.#commands.begin();
    this.#clear();
  }

  /** Clears what the next kernels find; the largest key of all stays. */
  #clear(): void {
    this.#commands.now.clear(this.#lists.of('found', FOUND_BYTES), FOUND_BYTES, 4 * (FOUND.TOP + 1));
  }

  async #step(
    evaluated: number,
    slotOf: (item: number) => number | Promise<number>,
    images?: Geometry,
  ): Promise<PoolStep> {
    const { before, after, signed, wrong } = this.#last;
    const step: PoolStep = { evaluated, before, after, signed, nonFinite: null };
    if (!wrong) return step;
    const region = await this.#region(await slotOf(wrong.first), images);
    const first = await firstWrongPoint(
      region,
      this.#laid.points,
      this.task.ranges,
      this.#points,
      this.#signal,
    );
    step.nonFinite = { count: wrong.count, first };
    return step;
  }

  /** Reads the region at a place of the pool, or of images. */
  #region(slot: number, images?: Geometry): Promise<ReadRegions> {
    return readRegions(this.#program.gpu, images ?? this.#geometry, [slot], this.task.ranges);
  }

  get #geometry(): Geometry {
    const lists = this.#lists;
    return { places: lists.get('places'), levels: lists.get('levels'), state: lists.get('state') };
  }

  /** Evaluates regions of the pool, or images; the last dispatch is recorded. */
  async #evaluate(regions: number, shape: Partial<PoolShape> = {}, images?: Geometry): Promise<void> {
    const { gpu, pace } = this.#program;
    const { lanes } = this.#laid.variant;
    const perGroup = POOL_THREADS / lanes;
    const { places, levels, state } = images ?? this.#geometry;
    const last = await pace.runBut(
      gpu,
      regions,
      this.#rule.points,
      POOL_ROW * POOL_ROW,
      this.#commands.take(),
      (first, n, commands) => {
        const range = this.#range.write(poolWords(shape, this.#tree(this.count), first, first + n));
        const found = this.#lists.of('found', FOUND_BYTES);
        const list = this.#lists.get('list');
        const tables = [this.#lists.get('rule'), this.#offsets.of(4)];
        const buffers = [this.#program.params(), range, places, levels, state, list, found, ...tables];
        const groups = Math.ceil(n / perGroup);
        const workgroups = [Math.min(groups, POOL_ROW), Math.ceil(groups / POOL_ROW)] as const;
        commands.dispatch(this.#evaluation, buffers, workgroups);
      },
      this.#signal,
    );
    this.#commands.goOn(last);
  }

  /** Makes room; where the driver has no memory for it, the pool stays as large as it is. */
  async #grow(room: number): Promise<void> {
    if (!(await this.#lists.grow(Math.min(this.#most, room)))) this.#most = this.#lists.room;
  }

  /** Writes the task of the next dispatches. */
  #shape(shape: Partial<PoolShape>, count = this.count): void {
    this.#lists.writeTask(poolWords(shape, this.#tree(count)));
  }

  #tree(count: number): PoolTree {
    return { count, nodes: this.#nodes, rootLevel: this.#rootLevel };
  }

  #surveying(): Dispatch {
    const groups = Math.min(MAX_SURVEYORS, Math.ceil(this.count / WIDTH));
    return this.#kernels.groups(this.#own.survey, groups);
  }
}
