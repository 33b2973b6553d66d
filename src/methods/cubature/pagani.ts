/**
 * PAGANI (I. Sakiotis et al., "PAGANI: a parallel adaptive GPU algorithm for numerical integration", SC21): all
 * regions that need it are halved at once, and their halves evaluated in parallel; regions that need no more are
 * finished, which leaves only their contributions.
 *
 * Two things differ from the paper, both measured (docs/design.md).
 *
 * - Regions can wait. The paper halves everything that is not finished; here an iteration halves the regions with
 *   the largest errors, as many as make up most of the whole error, and no more than reaching the tolerance should
 *   take. The others stay in memory for later. That is what Cuhre does one region at a time, and it takes
 *   about as many evaluations; halving everything takes up to a hundred times as many on a narrow peak.
 * - Regions are finished, by relative error (section 3.5.1, lemma 3.1) and by threshold (sections 3.5.2 and 3.5.3; see
 *   threshold.ts), when memory runs out, not before: one that waits costs nothing, and what it knows may be needed.
 *
 * Nothing is claimed before every region has a parent to compare with and, as far as that is cheap, every axis was
 * halved; and not before small regions have looked across their borders (borders.ts).
 */
import type { Status } from '../../result.ts';
import { type MethodProblem, type Outcome, toleranceAt } from '../method.ts';
import { probesFor } from './borders.ts';
import { Cubature, type CubatureOptions, runCubature } from './cubature.ts';
import { type Estimate, NOISE, Totals, twoLevelErrors } from './error.ts';
import { canSplit, type Regions } from './regions.ts';
import { RegionStore } from './store.ts';
import { thresholdFor } from './threshold.ts';
import { errorFrom, regionsFrom } from './worst.ts';

/** The part of the whole error that regions halved in one iteration have. */
const MOST = 0.9;
/** The part of the tolerance below which nobody looks across borders. */
const UNSEEN = 0.1;

export function pagani(problem: MethodProblem, options: CubatureOptions): Promise<Outcome> {
  const run = new Pagani(problem, options);
  return runCubature(run, () => run.integrate());
}

class Pagani extends Cubature {
  readonly #store = new RegionStore(this.problem.ranges.length);
  /** Of regions in memory and of finished ones: value, error, absolute value. */
  #here = new Totals();
  readonly #finished = new Totals();
  /** Region values of both signs were seen. */
  #signed = false;
  /** What an iteration left of the errors of regions that it halved. */
  #remaining = 0.5;

  async integrate(): Promise<Status> {
    const { ranges } = this.problem;
    const start = await this.start();
    for (let i = 0; i < start.count; i++) {
      this.#store.add(start, i);
      this.#here.add(start.values[i], start.errors[i]);
    }
    const least = Math.max(2 * start.count, this.least);
    for (;;) {
      const which = this.#choose(this.regions < least);
      if (typeof which === 'string') return which;
      const halves = this.#store.halves(which, ranges);
      await this.evaluate(halves);
      this.#replace(which, halves);
      this.regions = this.#store.count + this.#finished.count;
      const claims = () => this.regions >= least && this.enough(this.#estimate());
      if (claims()) this.#recount();
      if (claims()) await this.#lookAcrossBorders();
      await this.record(this.#estimate());
      if (claims()) return 'converged';
      if (this.lastIteration) return 'budget';
    }
  }

  #estimate(): Estimate {
    return this.#here.with(this.#finished);
  }

  /** Once more from the regions themselves: differences of large numbers leave their mark. */
  #recount(): void {
    this.#here = Totals.of(this.#store);
  }

  /** Counts what small regions know of wide ones beside them, and these do not, as errors of the wide ones. */
  async #lookAcrossBorders(): Promise<void> {
    const { values, errors, cleared } = this.#store;
    const tolerance = toleranceAt(this.problem, this.#estimate().value);
    const { images, mirrored, within, sums } = probesFor(
      this.#store,
      this.problem.ranges,
      UNSEEN * tolerance,
    );
    if (images.count === 0) return;
    // without means to look, each image has as much as what it is the image of
    const affordable = images.count <= this.affordable;
    if (affordable) await this.evaluate(images);
    within.forEach((home, i) => {
      const ratio = affordable ? Math.abs(images.values[i] / values[mirrored[i]]) : 1;
      const missing = ratio * sums[i] - Math.abs(values[home]) - errors[home];
      if (missing > 0) errors[home] += missing;
      else cleared[home] = 1;
    });
    this.#recount();
  }

  /** The regions to halve next, or why there are none. */
  #choose(all: boolean): Uint32Array | Status {
    const store = this.#store;
    const { error } = this.#here;
    let t = 0;
    const everything = all || this.isDark(this.#estimate());
    if (!everything) {
      const left = this.#toleranceLeft();
      const part = Math.min(MOST * error, (error - 0.9 * left) / (1 - this.#remaining));
      const noise = NOISE * (this.#here.absolute + this.#finished.absolute);
      // when finished regions alone miss the tolerance, the others are improved as long as that changes anything
      const floor = left > 0 ? noise : Math.max(noise, this.#finished.error);
      if (!(error > floor)) return 'roundoff';
      t = Math.max(errorFrom(store.errors, store.count, part), Number.MIN_VALUE);
    }
    const wanted = regionsFrom(store.errors, store.count, t, Infinity);
    if (!everything && store.count + wanted.length > this.maxRegions) this.#makeRoom();
    const room = this.maxRegions - store.count;
    const most = Math.min(room, Math.floor(this.affordable / 2));
    if (most < 1) return room < 1 ? 'memory' : 'budget';
    const which = regionsFrom(store.errors, store.count, t, most);
    return which.length > 0 ? which : 'roundoff';
  }

  /** Puts halves in the place of their parents, or finishes them. */
  #replace(which: Uint32Array, halves: Regions): void {
    const store = this.#store;
    const { ranges } = this.problem;
    const { values, errors } = halves;
    const parents = Float64Array.from(which, i => store.values[i]);
    twoLevelErrors(values, errors, parents, ranges.length);
    this.#signed ||= changesSign(halves);
    const gaps: number[] = [];
    let [before, after] = [0, 0];
    for (let p = 0; p < which.length; p++) {
      const parent = which[p];
      before += store.errors[parent];
      this.#here.add(store.values[parent], store.errors[parent], -1);
      let empty = true;
      for (const i of [2 * p, 2 * p + 1]) {
        after += errors[i];
        const done = !canSplit(halves, i, ranges);
        (done ? this.#finished : this.#here).add(values[i], errors[i]);
        if (done) continue;
        if (empty) store.put(parent, halves, i);
        else store.add(halves, i);
        empty = false;
      }
      if (empty) gaps.push(parent);
    }
    store.remove(gaps);
    this.#remaining = before > 0 ? Math.min(0.9, Math.max(0.1, after / before)) : 0.5;
  }

  /** What the tolerance leaves for regions in memory. */
  #toleranceLeft(): number {
    return toleranceAt(this.problem, this.#here.value + this.#finished.value) - this.#finished.error;
  }

  /** Finishes regions because memory is full: by relative error as the paper does it, then by threshold. */
  #makeRoom(): void {
    const { relTol } = this.problem;
    if (this.options.relErrFilter ?? !this.#signed)
      this.#finish((value, error) => error <= relTol * Math.abs(value));
    const t = thresholdFor(this.#store.errors, this.#store.count, this.#toleranceLeft());
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
}

/** Whether values, beyond their errors, have both signs. */
function changesSign({ values, errors }: Regions): boolean {
  let [positive, negative] = [false, false];
  for (let i = 0; i < values.length; i++) {
    if (values[i] > errors[i]) positive = true;
    if (-values[i] > errors[i]) negative = true;
  }
  return positive && negative;
}
