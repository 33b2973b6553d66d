/**
 * The two-phase method (K. Arumugam et al., "An efficient deterministic parallel algorithm for adaptive multidimensional
 * numerical integration on GPUs", ICPP 2013), as PAGANI's paper describes it in section 2.2.1.
 *
 * Phase I goes breadth first: every region is halved, but those whose relative error is within the tolerance are
 * finished, until there is one region for each processor. In phase II each processor runs Cuhre on its own region, with
 * a heap and a tolerance of its own and a limited number of regions, and hears nothing of the others. The processors
 * here work in step, one split each at a time, so that their regions are evaluated together.
 *
 * The two-level error is used in phase I as well, where the original has none and may claim too much.
 */
import type { Status } from '../../result.ts';
import type { MethodProblem, Outcome } from '../method.ts';
import { Cubature, type CubatureOptions, type Estimate, runCubature, withNoise } from './cubature.ts';
import { NOISE, Sum, twoLevelErrors } from './error.ts';
import { Heap } from './heap.ts';
import { canSplit, type Regions, uniformSplit } from './regions.ts';
import { RegionStore } from './store.ts';

/** One a multiprocessor's slot, as on the graphics cards of the paper, scaled to what a processor has here. */
const PROCESSORS = 512;
const PER_PROCESSOR = 2048;

export function twoPhase(problem: MethodProblem, options: CubatureOptions): Promise<Outcome> {
  const run = new TwoPhase(problem, options);
  return runCubature(run, () => run.integrate());
}

class TwoPhase extends Cubature {
  readonly #store = new RegionStore(this.problem.ranges.length);
  readonly #finished = { value: new Sum(), error: new Sum(), absolute: new Sum(), count: 0 };

  async integrate(): Promise<Status> {
    const start = uniformSplit(this.problem.ranges, Math.log2(this.options.split ?? 1));
    await this.evaluate(start);
    for (let i = 0; i < start.count; i++) this.#store.add(start, i);
    return (await this.#breadthFirst()) ?? (await this.#cuhreEach());
  }

  async #breadthFirst(): Promise<Status | undefined> {
    const store = this.#store;
    const { ranges, relTol } = this.problem;
    const processors = this.options.processors ?? PROCESSORS;
    while (store.count < processors) {
      if (this.affordable < 2 * store.count || this.lastIteration) return 'budget';
      if (2 * store.count > this.maxRegions) return 'memory';
      const all = Array.from({ length: store.count }, (_, i) => i);
      const halves = store.halves(all, ranges);
      await this.evaluate(halves);
      const starting = store.count + this.#finished.count < this.least;
      twoLevelErrors(halves.values, halves.errors, store.values.slice(0, store.count), ranges.length);
      store.count = 0;
      for (let i = 0; i < halves.count; i++) {
        const small = halves.errors[i] <= relTol * Math.abs(halves.values[i]);
        if ((small && this.seen && !starting) || !canSplit(halves, i, ranges)) this.#finish(halves, i);
        else store.add(halves, i);
      }
      const now = this.#estimate();
      this.record(now);
      if (this.regions >= this.least && this.enough(now)) return 'converged';
      if (store.count === 0) return 'roundoff';
    }
    return undefined;
  }

  async #cuhreEach(): Promise<Status> {
    const store = this.#store;
    const { ranges } = this.problem;
    const processors = Array.from({ length: store.count }, (_, i) => new Processor(store, i));
    const most = Math.min(
      this.options.perProcessor ?? PER_PROCESSOR,
      Math.floor(this.maxRegions / processors.length),
    );
    let [full, shown] = [false, store.count];
    for (;;) {
      const working = processors.filter(p => {
        if (p.heap.size === 0 || this.#locallyDone(p)) return false;
        if (p.regions < most) return true;
        full = true;
        return false;
      });
      const affordable = working.slice(0, Math.floor(this.affordable / 2));
      const stop = affordable.length === 0 || this.lastIteration;
      if (stop || store.count >= 1.5 * shown) {
        shown = store.count;
        const now = this.#estimate();
        this.record(now);
        if (this.enough(now)) return 'converged';
        if (stop) return working.length > 0 ? 'budget' : full ? 'memory' : 'roundoff';
      }
      const which = affordable.map(p => p.heap.pop());
      const parents = Float64Array.from(which, i => store.values[i]);
      const halves = store.halves(which, ranges);
      await this.evaluate(halves);
      twoLevelErrors(halves.values, halves.errors, parents, ranges.length);
      affordable.forEach((p, i) => {
        p.replace(which[i], halves, 2 * i, j => canSplit(halves, j, ranges));
      });
    }
  }

  /** A processor knows its own regions only. */
  #locallyDone({ value, error }: Processor): boolean {
    const { relTol, absTol } = this.problem;
    const volume = absTol / this.#store.count;
    return error.value <= Math.max(volume, relTol * Math.abs(value.value), NOISE * Math.abs(value.value));
  }

  #finish({ values, errors }: Regions, i: number): void {
    this.#finished.value.add(values[i]);
    this.#finished.error.add(errors[i]);
    this.#finished.absolute.add(Math.abs(values[i]));
    this.#finished.count++;
  }

  #estimate(): Estimate {
    const { values, errors, count } = this.#store;
    const [value, error, absolute] = [new Sum(), new Sum(), new Sum()];
    for (let i = 0; i < count; i++) {
      value.add(values[i]);
      error.add(errors[i]);
      absolute.add(Math.abs(values[i]));
    }
    value.add(this.#finished.value.value);
    error.add(this.#finished.error.value);
    absolute.add(this.#finished.absolute.value);
    this.regions = count + this.#finished.count;
    return withNoise(value.value, error.value, absolute.value);
  }
}

/** Cuhre on one region. */
class Processor {
  readonly #store: RegionStore;
  readonly heap: Heap;
  readonly value = new Sum();
  readonly error = new Sum();
  regions = 1;

  constructor(store: RegionStore, region: number) {
    this.#store = store;
    this.heap = new Heap(store);
    this.heap.push(region);
    this.value.add(store.values[region]);
    this.error.add(store.errors[region]);
  }

  /** Puts halves `i` and `i + 1` of a list in the place of their parent. */
  replace(parent: number, halves: Regions, i: number, canSplit: (i: number) => boolean): void {
    const store = this.#store;
    this.value.add(-store.values[parent]);
    this.error.add(-store.errors[parent]);
    store.put(parent, halves, i);
    for (const [region, j] of [
      [parent, i],
      [store.add(halves, i + 1), i + 1],
    ]) {
      this.value.add(halves.values[j]);
      this.error.add(halves.errors[j]);
      if (canSplit(j)) this.heap.push(region);
    }
    this.regions++;
  }
}
