/**
 * The two-phase method (K. Arumugam et al., "An efficient deterministic parallel algorithm for adaptive multidimensional
 * numerical integration on GPUs", ICPP 2013), as PAGANI's paper describes it in section 2.2.1.
 *
 * Phase I goes breadth first: every region is halved, except that regions whose relative error is within the tolerance
 * are finished, until there is one region per processor. In phase II each processor runs Cuhre on its own region, with
 * its own heap, its own tolerance and a limited number of regions, and knows nothing of the others. The processors here
 * work in step, one split per processor at a time, so that their regions are evaluated together.
 *
 * The two-level error is used in phase I as well. The original has none there, so its errors may be too small. And before a
 * claim small regions look across their borders (tasks/pool/borders.ts), and random points have to confirm it (witnesses.ts); where
 * they contradict it, Cuhre goes on with the regions of all processors.
 *
 * With several results a region is finished, and a processor done, when every goal is within its tolerance there.
 */
import { addRegion, type Estimate, Sum, Totals, twoLevelErrors } from '../../tasks/pool/errors.ts';
import { canSplit, type Regions } from '../../tasks/pool/regions.ts';
import { RegionStore } from '../../tasks/pool/store.ts';
import { SplitTree } from '../../tasks/pool/tree.ts';
import { type MethodProblem, type Run, type Status, type Step, toleranceAt } from '../method.ts';
import { Cubature, LEAST_ERROR_IN_NOISE, runCubature, storeCourt } from './cubature.ts';
import { splitWorst } from './cuhre.ts';
import { Heap } from './heap.ts';
import { CUBATURE_OPTIONS, type CubatureOptions } from './options.ts';
import { StoreLooks } from './store-looks.ts';

export function twoPhase(problem: MethodProblem, options: CubatureOptions): Run {
  const run = new TwoPhase(problem, options);
  return runCubature(run, () => run.integrate());
}

class TwoPhase extends Cubature {
  readonly #storeLooks = new StoreLooks(this);
  readonly #store = new RegionStore(this.problem.ranges.length, this.results);
  readonly #tree = new SplitTree();
  /** Sums over the regions that are finished, of each result. */
  readonly #finished = this.#store.totals();
  /** The regions that are finished, for witnesses. */
  readonly #done = new RegionStore(this.problem.ranges.length, this.results);
  /** The sum of the absolute values of all regions, of each result. */
  #absolute: number[] = [];
  /** Errors of regions that cannot be halved any more, of each result. */
  readonly #stuck = this.#finished.map(() => new Sum());

  async *integrate(): Step<Status> {
    const start = await this.start();
    const leaves = this.#tree.plant(this.problem.ranges, start.levels[0]);
    for (let i = 0; i < start.count; i++) this.#store.add(start, i, leaves[i]);
    return (yield* this.#breadthFirst()) ?? (yield* this.#cuhreEach());
  }

  async *#breadthFirst(): Step<Status | undefined> {
    const store = this.#store;
    const { ranges, relTol } = this.problem;
    const processors = this.options.processors ?? CUBATURE_OPTIONS.processors.default;
    let searching = false;
    do {
      if (this.affordable < 2 * store.count) return 'budget';
      if (2 * store.count > this.maxRegions) return 'memory';
      const all = Array.from({ length: store.count }, (_, i) => i);
      const leaves = Uint32Array.from(all, i => store.cut(i, this.#tree));
      const halves = store.halves(all, ranges);
      await this.evaluate(halves);
      const starting = store.count + this.#finished[0].count < this.least;
      twoLevelErrors(halves.values, halves.errors, store.valuesOf(all), ranges.length);
      store.count = 0;
      const { count, values, errors } = halves;
      // a peak may hide in any region, so none is finished
      const dark = this.goals.some(r => !values.subarray(r * count, (r + 1) * count).some(v => v !== 0));
      for (let i = 0; i < count; i++) {
        const small = this.goals.every(
          r => errors[r * count + i] <= relTol * Math.abs(values[r * count + i]),
        );
        const stuck = !canSplit(halves, i, ranges);
        if (stuck) this.#addStuck(halves, i);
        const leaf = leaves[i >> 1] + (i & 1);
        if (stuck || (small && !starting && !dark)) {
          addRegion(this.#finished, halves, i);
          this.#done.add(halves, i, leaf);
        } else store.add(halves, i, leaf);
      }
      const now = this.#estimate();
      if (this.regions >= this.least && this.enough(now)) return yield* this.#confirmed(now);
      yield* this.record(now);
      if (store.count === 0) return this.#missed(now);
      if (this.ledger.lastIteration) return 'budget';
      searching = this.isDark(now);
    } while (store.count < processors || this.regions < this.least || searching);
    return undefined;
  }

  async *#cuhreEach(): Step<Status> {
    const store = this.#store;
    const { ranges } = this.problem;
    store.rank(this.scalesFor(this.#sums()));
    const processors = Array.from({ length: store.count }, (_, i) => new Processor(store, this.#tree, i));
    const most = Math.min(
      this.options.perProcessor ?? CUBATURE_OPTIONS.perProcessor.default,
      Math.floor(this.maxRegions / processors.length),
    );
    // a processor's part of the absolute tolerance, or of the smallest error that rounding allows
    const local = this.#absolute.map(absolute => {
      const rounding = LEAST_ERROR_IN_NOISE * this.noise * absolute;
      return Math.max(this.problem.absTol, rounding) / processors.length;
    });
    let [full, shown] = [false, store.count];
    for (;;) {
      const working = processors.filter(p => {
        if (p.heap.size === 0 || this.#locallyDone(p, local)) return false;
        if (p.totals[0].count < most) return true;
        full = true;
        return false;
      });
      const affordable = working.slice(0, Math.floor(this.affordable / 2));
      const stop = affordable.length === 0;
      if (store.count > shown && (stop || store.count >= 1.5 * shown)) {
        shown = store.count;
        const now = this.#estimate();
        if (this.enough(now)) return yield* this.#confirmed(now);
        yield* this.record(now);
        if (this.ledger.lastIteration) return 'budget';
      }
      if (stop) return working.length > 0 ? 'budget' : this.#missed(this.#estimate(), full);
      const which = affordable.map(p => p.heap.pop());
      const halves = store.halves(which, ranges);
      await this.evaluate(halves);
      twoLevelErrors(halves.values, halves.errors, store.valuesOf(which), ranges.length);
      affordable.forEach((p, i) => {
        p.replace(which[i], halves, 2 * i, j => {
          if (canSplit(halves, j, ranges)) return true;
          this.#addStuck(halves, j);
          return false;
        });
      });
    }
  }

  /** Lets small regions look across borders, and witnesses speak about all. If they contradict, Cuhre goes on with all regions. */
  async *#confirmed(now: readonly Estimate[]): Step<Status> {
    const all = new RegionStore(this.problem.ranges.length, this.results);
    for (const own of [this.#store, this.#done]) {
      const list = own.list(this.problem.ranges.length);
      for (let i = 0; i < list.count; i++) all.add(list, i, own.nodes[i]);
    }
    let reached = now;
    const renewed = () => all.totals().map(own => own.estimate(this.noise));
    if (await this.#storeLooks.halve(all, this.#tree)) reached = renewed();
    if (this.enough(reached) && (await this.#storeLooks.at(all, this.#tree))) reached = renewed();
    const claims = all.totals().map((own, r) => this.claim(reached[r], own.absolute));
    const status = this.enough(reached) ? await this.confirm(storeCourt(this, all), claims) : undefined;
    yield* this.record(status ? reached : all.totals().map(own => own.estimate(this.noise)));
    if (status) return status;
    return this.ledger.lastIteration ? 'budget' : yield* splitWorst(this, all, this.#tree, this.#storeLooks);
  }

  /** Whether a processor meets the tolerance relative to the sum of its own regions, the only ones that it knows. */
  #locallyDone({ totals }: Processor, absTol: readonly number[]): boolean {
    const { relTol } = this.problem;
    for (const r of this.goals)
      if (!(totals[r].error <= Math.max(absTol[r], relTol * Math.abs(totals[r].value)))) return false;
    return true;
  }

  #addStuck({ errors, count }: Regions, i: number): void {
    for (let r = 0; r < this.results; r++) this.#stuck[r].add(errors[r * count + i]);
  }

  /** Why the tolerance is not met although all regions are finished, or all processors done. */
  #missed(now: readonly Estimate[], full = false): Status {
    const missing = this.goals.filter(r => !this.meets(now[r], r));
    const isZero = (r: number) => now[r].value === 0 && now[r].error === 0;
    if (missing.every(isZero)) return 'budget'; // a peak was hit once and missed when its region was halved
    const isRounding = (r: number) => {
      const { value, error } = now[r];
      const stuck = this.#stuck[r].value > Math.max(toleranceAt(this.problem, value, r), error / 2);
      return stuck || error <= 2 * LEAST_ERROR_IN_NOISE * this.noise * this.#absolute[r];
    };
    if (missing.every(r => isZero(r) || isRounding(r))) return 'roundoff';
    if (full) return 'memory';
    this.warnings.push(
      "every region is within its own tolerance, but together they miss it: values cancel; use method 'pagani'",
    );
    return 'budget';
  }

  #estimate(): Estimate[] {
    const here = this.#store.totals();
    this.regions = here[0].count + this.#finished[0].count;
    this.#absolute = here.map((own, r) => own.absolute + this.#finished[r].absolute);
    return here.map((own, r) => own.estimate(this.noise, this.#finished[r]));
  }

  /** Sums over all regions, of each result. */
  #sums(): (Estimate & { absolute: number })[] {
    return this.#estimate().map((own, r) => ({ ...own, absolute: this.#absolute[r] }));
  }
}

/** Cuhre on one region. */
class Processor {
  readonly #store: RegionStore;
  readonly #tree: SplitTree;
  readonly heap: Heap;
  /** The sums over its regions, of each result. */
  readonly totals: readonly Totals[];

  constructor(store: RegionStore, tree: SplitTree, region: number) {
    this.#store = store;
    this.#tree = tree;
    this.heap = new Heap(store);
    this.heap.push(region);
    this.totals = store.columns.map(() => new Totals());
    this.#add(region, 1);
  }

  #add(region: number, sign: 1 | -1): void {
    for (let r = 0; r < this.totals.length; r++) {
      const { values, errors } = this.#store.columns[r];
      this.totals[r].add(values[region], errors[region], sign);
    }
  }

  /** Puts halves `i` and `i + 1` of a list in the place of their parent. */
  replace(parent: number, halves: Regions, i: number, canSplit: (i: number) => boolean): void {
    const store = this.#store;
    this.#add(parent, -1);
    const leaf = store.cut(parent, this.#tree);
    store.put(parent, halves, i, leaf);
    for (const [region, j] of [
      [parent, i],
      [store.add(halves, i + 1, leaf + 1), i + 1],
    ]) {
      this.#add(region, 1);
      if (canSplit(j)) this.heap.push(region);
    }
  }
}
