/** The pool of regions for devices that bring none: lists in this process, whose regions the device evaluates. */
import type { Ranges, RegionSums, RegionTask } from '../region.ts';
import { Blame, type HearWitnesses } from './blame.ts';
import { probesFor } from './borders.ts';
import { Totals, twoLevelErrors } from './errors.ts';
import {
  type PoolStep,
  type PoolSums,
  type PoolTask,
  type RegionPool,
  type Tolerance,
  toleranceLeft,
  type WitnessDraw,
  type WitnessStep,
} from './pool.ts';
import { canSplit, type Regions, regionsIn, uniformSplit } from './regions.ts';
import { RegionStore } from './store.ts';
import { thresholdFor } from './threshold.ts';
import { SplitTree } from './tree.ts';
import { errorFrom, regionsFrom } from './worst.ts';

const NOTHING: PoolStep = { evaluated: 0, before: 0, after: 0, signed: false, nonFinite: null };

/** Evaluates all regions of a task. */
export type EvaluateRegions = (task: RegionTask) => Promise<RegionSums>;

export class HostPool implements RegionPool {
  readonly most: number;
  readonly #evaluateAll: EvaluateRegions;
  readonly #blame: Blame;
  readonly #task: PoolTask;
  readonly #ranges: Ranges;
  readonly #store: RegionStore;
  /** Null once regions were finished: the tree cannot give back their nodes, and memory is short then. */
  #tree: SplitTree | null = new SplitTree();
  /** Sums over the regions in the store, and over the finished ones. */
  #here = new Totals();
  readonly #finished = new Totals();
  /** Regions with at least this error are selected. */
  #threshold = 0;

  constructor(evaluate: EvaluateRegions, hear: HearWitnesses, task: PoolTask) {
    this.#evaluateAll = evaluate;
    this.#blame = new Blame(hear);
    this.#task = task;
    this.#ranges = task.ranges;
    this.#store = new RegionStore(task.ranges.length);
    this.most = regionsIn(task.maxMemory, task.ranges.length, true);
  }

  get count(): number {
    return this.#store.count;
  }

  get sums(): PoolSums {
    const [here, done] = [this.#here, this.#finished];
    return {
      value: here.value + done.value,
      error: here.error + done.error,
      absolute: here.absolute + done.absolute,
      finished: done.error,
      done: done.count,
    };
  }

  async start(level: number): Promise<PoolStep> {
    const regions = uniformSplit(this.#ranges, level);
    const step = await this.#evaluate(regions);
    const leaves = this.#plant(level);
    for (let i = 0; i < regions.count; i++) {
      this.#store.add(regions, i, leaves[i]);
      this.#here.add(regions.values[i], regions.errors[i]);
    }
    return step;
  }

  /** Makes the tree of a box whose every axis was halved `level` times; returns its leaves in the order of regions. */
  #plant(level: number): Uint32Array {
    const leaves = new Uint32Array(2 ** (level * this.#ranges.length));
    const cut = (node: number, step: number, number: number, low: number, high: number): void => {
      const axis = Math.floor(step / Math.max(1, level));
      if (step === level * this.#ranges.length) {
        leaves[number] = node;
        return;
      }
      const middle = low + (high - low) / 2;
      const first = this.#tree!.split(node, axis, middle);
      const weight = 2 ** (level * axis + level - 1 - (step % level));
      const [nextLow, nextHigh] = this.#ranges[Math.floor((step + 1) / level)] ?? [0, 0];
      const same = (step + 1) % level !== 0;
      cut(first, step + 1, number, same ? low : nextLow, same ? middle : nextHigh);
      cut(first + 1, step + 1, number + weight, same ? middle : nextLow, same ? high : nextHigh);
    };
    cut(0, 0, 0, ...this.#ranges[0]);
    return leaves;
  }

  async select(part: number): Promise<number> {
    const { errors, count } = this.#store;
    this.#threshold = part === Infinity ? 0 : Math.max(errorFrom(errors, count, part), Number.MIN_VALUE);
    return regionsFrom(errors, count, this.#threshold, Infinity).length;
  }

  async halve(most: number): Promise<PoolStep> {
    const store = this.#store;
    const which = regionsFrom(store.errors, store.count, this.#threshold, most);
    const halves = store.halves(which, this.#ranges);
    const step = await this.#evaluate(halves);
    twoLevelErrors(
      halves.values,
      halves.errors,
      Float64Array.from(which, i => store.values[i]),
      this.#ranges.length,
    );
    const gaps: number[] = [];
    for (let p = 0; p < which.length; p++) {
      const parent = which[p];
      step.before += store.errors[parent];
      this.#here.add(store.values[parent], store.errors[parent], -1);
      const axis = store.axis(parent);
      const first = this.#tree?.split(store.nodes[parent], axis, store.centre(parent, axis)) ?? 0;
      let empty = true;
      for (const i of [2 * p, 2 * p + 1]) {
        step.after += halves.errors[i];
        const done = !canSplit(halves, i, this.#ranges);
        (done ? this.#finished : this.#here).add(halves.values[i], halves.errors[i]);
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
    if (relative > 0) this.#finish((value, error) => error <= relative * Math.abs(value));
    const t = thresholdFor(this.#store.errors, this.#store.count, toleranceLeft(tolerance, this.sums));
    if (t !== null) this.#finish((_, error) => error < t);
  }

  #finish(done: (value: number, error: number) => boolean): void {
    const { values, errors, count } = this.#store;
    const gaps: number[] = [];
    for (let i = 0; i < count; i++) {
      if (!done(values[i], errors[i])) continue;
      gaps.push(i);
      this.#finished.add(values[i], errors[i]);
      this.#here.add(values[i], errors[i], -1);
    }
    this.#store.remove(gaps);
  }

  async look(negligible: number, affordable: number): Promise<PoolStep> {
    // the sums are made anew: subtracting regions has left rounding errors in them
    this.#here = Totals.of(this.#store);
    if (!this.#tree) return NOTHING;
    const { values, errors, cleared } = this.#store;
    const { images, mirrored, within, sums } = probesFor(this.#store, this.#tree, this.#ranges, negligible);
    if (images.count === 0) return NOTHING;
    // if the budget does not allow to evaluate the images, each counts as much as the region that it is the image of
    const looks = images.count <= affordable;
    const step = looks ? await this.#evaluate(images) : NOTHING;
    within.forEach((home, i) => {
      const ratio = looks ? Math.abs(images.values[i] / values[mirrored[i]]) : 1;
      const missing = ratio * sums[i] - Math.abs(values[home]) - errors[home];
      if (missing > 0) errors[home] += missing;
      else cleared[home] = 1;
    });
    this.#here = Totals.of(this.#store);
    return step;
  }

  witness(draw: WitnessDraw): Promise<WitnessStep> {
    return this.#blame.witness(this.#store, this.#task, draw);
  }

  async blame(who: 'surprised' | 'deviating', least: number): Promise<void> {
    this.#blame.put(this.#store, who, least);
    this.#here = Totals.of(this.#store);
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

/** Whether there are positive and negative values among those that exceed their errors. */
function changesSign({ values, errors }: Regions): boolean {
  let [positive, negative] = [false, false];
  for (let i = 0; i < values.length; i++) {
    if (values[i] > errors[i]) positive = true;
    if (-values[i] > errors[i]) negative = true;
  }
  return positive && negative;
}
