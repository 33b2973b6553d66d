/** The pool of regions for devices that bring none: lists in this process, whose regions the device evaluates. */
import { mergeNonFinite } from '../part.ts';
import type { Ranges, RegionSums, RegionTask } from '../region.ts';
import type { AllAxes } from './all-axes.ts';
import { Blame, type HearWitnesses } from './blame.ts';
import { addRegion, Sum, Totals, twoLevelErrors } from './errors.ts';
import { nestedStart } from './nested-start.ts';
import {
  type PoolStep,
  type PoolSums,
  type PoolTask,
  type SeveralPool,
  type Tolerance,
  toleranceLeft,
  type WitnessDraw,
  type WitnessStep,
} from './pool.ts';
import { canSplit, type Regions, regionsIn, uniformSplit } from './regions.ts';
import { RegionStore } from './store.ts';
import { SplitTree } from './tree.ts';
import { errorFrom, regionsFrom } from './worst.ts';

const NOTHING: PoolStep = { evaluated: 0, before: 0, after: 0, signed: false, nonFinite: null };

/** Evaluates all regions of a task. */
export type EvaluateRegions = (task: RegionTask) => Promise<RegionSums>;

export class HostPool implements SeveralPool {
  readonly most: number;
  readonly #evaluateAll: EvaluateRegions;
  readonly #blame: Blame;
  readonly #task: PoolTask;
  readonly #ranges: Ranges;
  readonly #store: RegionStore;
  /** Loaded when it is used: many claims need none. */
  #allAxes: AllAxes | null = null;
  /** Null once regions were finished: the tree cannot give back their nodes, and memory is short then. */
  #tree: SplitTree | null = new SplitTree();
  /** Sums over the regions in the store, and over the finished ones, of each result. */
  #here: Totals[];
  readonly #finished: Totals[];
  /** Regions with at least this error are selected. */
  #threshold = 0;

  constructor(evaluate: EvaluateRegions, hear: HearWitnesses, task: PoolTask) {
    this.#evaluateAll = evaluate;
    this.#blame = new Blame(hear);
    this.#task = task;
    this.#ranges = task.ranges;
    this.#store = new RegionStore(task.ranges.length, task.results);
    this.#here = this.#store.totals();
    this.#finished = this.#store.totals();
    this.most = regionsIn(task.maxMemory, task.ranges.length, true, task.results);
  }

  get count(): number {
    return this.#store.count;
  }

  get sums(): PoolSums {
    return sumsOf(this.#here[0], this.#finished[0]);
  }

  get each(): PoolSums[] {
    return this.#here.map((here, r) => sumsOf(here, this.#finished[r]));
  }

  get need(): number {
    const sum = new Sum();
    for (let i = 0; i < this.#store.count; i++) sum.add(this.#store.needs[i]);
    return sum.value;
  }

  rank(scales: ArrayLike<number>): void {
    this.#store.rank(scales);
  }

  async start(level: number): Promise<PoolStep> {
    return this.#startWith(uniformSplit(this.#ranges, level), this.#tree!.plant(this.#ranges, level));
  }

  /** Starts with the box, every axis halved `level` times, and `depth` times more around points. */
  async startAround(points: readonly (readonly number[])[], level: number, depth: number): Promise<PoolStep> {
    const tree = this.#tree!;
    const split = (node: number, axis: number, plane: number) => tree.split(node, axis, plane);
    const { regions, nodes } = nestedStart(this.#ranges, level, points, depth, split);
    return this.#startWith(regions, nodes);
  }

  async #startWith(regions: Regions, leaves: ArrayLike<number>): Promise<PoolStep> {
    const step = await this.#evaluate(regions);
    for (let i = 0; i < regions.count; i++) {
      this.#store.add(regions, i, leaves[i]);
      addRegion(this.#here, regions, i);
    }
    return step;
  }

  async select(part: number): Promise<number> {
    const { needs, count } = this.#store;
    this.#threshold = part === Infinity ? 0 : Math.max(errorFrom(needs, count, part), Number.MIN_VALUE);
    return regionsFrom(needs, count, this.#threshold, Infinity).length;
  }

  async halve(most: number): Promise<PoolStep> {
    const store = this.#store;
    const which = regionsFrom(store.needs, store.count, this.#threshold, most);
    const halves = store.halves(which, this.#ranges);
    const step = await this.#evaluate(halves);
    twoLevelErrors(halves.values, halves.errors, store.valuesOf(which), this.#ranges.length);
    const gaps: number[] = [];
    for (let p = 0; p < which.length; p++) {
      const parent = which[p];
      step.before += store.needs[parent];
      this.#subtract(parent);
      const first = this.#tree ? store.cut(parent, this.#tree) : 0;
      let empty = true;
      for (const i of [2 * p, 2 * p + 1]) {
        step.after += store.needOf(halves, i);
        const done = !canSplit(halves, i, this.#ranges);
        addRegion(done ? this.#finished : this.#here, halves, i);
        if (done) continue;
        if (empty) store.put(parent, halves, i, first + (i & 1));
        else store.add(halves, i, first + (i & 1));
        empty = false;
      }
      if (empty) gaps.push(parent);
    }
    store.remove(gaps);
    return { ...step, signed: changesSign(halves) };
  }

  async finish(relative: number, tolerance: Tolerance): Promise<void> {
    this.#tree = null;
    const { columns, scales, needs } = this.#store;
    const ranked = columns.filter((_, r) => scales[r] < Infinity);
    if (relative > 0)
      this.#finish(i => ranked.every(({ values, errors }) => errors[i] <= relative * Math.abs(values[i])));
    // the needs of finished regions sum to at least their errors of each result, in units of its scale
    const left = this.each.map((sums, r) => toleranceLeft(tolerance, sums) / scales[r]);
    const least = left.reduce((a, b, r) => (scales[r] < Infinity ? Math.min(a, b) : a), Infinity);
    const { thresholdFor } = await import('./threshold.ts'); // few runs are out of memory
    const t = thresholdFor(needs, this.#store.count, least);
    if (t !== null) this.#finish(i => needs[i] < t);
  }

  #finish(done: (region: number) => boolean): void {
    const gaps: number[] = [];
    for (let i = 0; i < this.#store.count; i++) {
      if (!done(i)) continue;
      gaps.push(i);
      this.#store.columns.forEach(({ values, errors }, r) => {
        this.#finished[r].add(values[i], errors[i]);
      });
      this.#subtract(i);
    }
    this.#store.remove(gaps);
  }

  /** Takes a region out of the sums. */
  #subtract(region: number): void {
    for (let r = 0; r < this.#here.length; r++) {
      const { values, errors } = this.#store.columns[r];
      this.#here[r].add(values[region], errors[region], -1);
    }
  }

  async look(negligible: number, affordable: number, result = 0): Promise<PoolStep> {
    const { columns, count, depths, smallDepth } = this.#store;
    const { values, errors } = columns[result];
    // the sums are made anew: subtracting regions has left rounding errors in them
    this.#here[result] = Totals.of({ values, errors, count });
    // what looks is loaded when there is a small region: on most pages there is none
    if (!this.#tree || !depths.some((depth, i) => i < count && depth >= smallDepth)) return NOTHING;
    let step = NOTHING;
    const { lookAcross } = await import('./borders.ts');
    await lookAcross(
      this.#store,
      this.#tree,
      this.#ranges,
      { result, negligible, affordable },
      async images => {
        const now = await this.#evaluate(images);
        const evaluated = step.evaluated + now.evaluated;
        step = { ...now, evaluated, nonFinite: mergeNonFinite([step, now]) };
      },
    );
    this.#here[result] = Totals.of({ values, errors, count });
    return step;
  }

  async lookAlong(affordable: number, result = 0): Promise<PoolStep> {
    if (!this.#tree) return NOTHING;
    let step = NOTHING;
    this.#allAxes ??= new (await import('./all-axes.ts')).AllAxes(this.#ranges);
    await this.#allAxes.look(this.#store, result, affordable, async halves => {
      step = await this.#evaluate(halves);
    });
    const { values, errors } = this.#store.columns[result];
    this.#here[result] = Totals.of({ values, errors, count: this.#store.count });
    return step;
  }

  witness(draw: WitnessDraw): Promise<WitnessStep> {
    return this.#blame.witness(this.#store, this.#task, draw);
  }

  async blame(who: 'surprised' | 'deviating', least: number, result = 0): Promise<void> {
    this.#blame.put(this.#store, who, least, result);
    this.#here = this.#store.totals();
  }

  /** Fills in values, errors and axes. */
  async #evaluate(regions: Regions): Promise<PoolStep> {
    const { rule, ranges } = this.#task;
    const { count, centres, levels } = regions;
    const sums = await this.#evaluateAll({ rule, ranges, count, centres, levels });
    regions.values = sums.values;
    regions.errors = sums.errors;
    regions.axes = sums.axes;
    return { ...NOTHING, evaluated: count, nonFinite: sums.nonFinite };
  }

  close(): void {}
}

function sumsOf(here: Totals, done: Totals): PoolSums {
  return {
    value: here.value + done.value,
    error: here.error + done.error,
    absolute: here.absolute + done.absolute,
    finished: done.error,
    done: done.count,
  };
}

/** Whether a result has positive and negative values among those that exceed their errors. */
function changesSign({ values, errors, count }: Regions): boolean {
  for (let first = 0; first < values.length; first += count) {
    let [positive, negative] = [false, false];
    for (let i = first; i < first + count; i++) {
      if (values[i] > errors[i]) positive = true;
      if (-values[i] > errors[i]) negative = true;
    }
    if (positive && negative) return true;
  }
  return false;
}
