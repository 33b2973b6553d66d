/**
 * Cuhre: the sequential reference (J. Berntsen, T. O. Espelid, A. Genz, "An adaptive algorithm for the approximate
 * calculation of multiple integrals", ACM TOMS 17, 1991; T. Hahn, "Cuba", Comput. Phys. Commun. 168, 2005).
 *
 * All regions stay in a heap. The one with the largest error is halved along the axis with the largest fourth
 * difference, until the errors of all regions sum to less than the tolerance. The first region has no parent to compare
 * it with, so it is always halved. Before a claim regions look across their borders and along all axes (looks.ts) and random
 * points speak (witnesses.ts), which Cuba's Cuhre does not do; `cubature.witnesses: 0` turns this off.
 *
 * With several results the region is halved that needs it most: the one with the largest error of a goal in units of the goal's
 * tolerance. Tolerances follow the values, so the heap is made anew when one of them has changed by a factor of RERANKED.
 */
import { OptionError } from '../../options/option-error.ts';
import { type Estimate, Sum, twoLevelErrors } from '../../tasks/pool/errors.ts';
import { canSplit } from '../../tasks/pool/regions.ts';
import { RegionStore } from '../../tasks/pool/store.ts';
import { SplitTree } from '../../tasks/pool/tree.ts';
import { type MethodProblem, type Run, type Status, type Step, toleranceAt } from '../method.ts';
import { Cubature, runCubature, storeCourt } from './cubature.ts';
import { Heap } from './heap.ts';
import type { CubatureOptions } from './options.ts';
import { StoreLooks } from './store-looks.ts';

const RERANKED = 2;
/**
 * A look across borders goes over all regions; after one that found something they grow by this part before the next. Errors that
 * were raised are halved away before that, so the part is what the look costs: with 1/16 f4 in 5 dimensions took 13 % more regions to 4e-5.
 */
const LOOKED_AGAIN = 1 / 64;
/** The epsilon of float64. */
const FLOAT64 = 2 ** -53;

export function cuhre(problem: MethodProblem, options: CubatureOptions): Run {
  if (problem.epsilon > FLOAT64)
    throw new OptionError(
      'method',
      'cuhre',
      w => `use ${w.quoted('pagani')}, which halves many, or another device`,
      w =>
        `${w.quoted('method')} is cuhre, which evaluates two regions at a time, to the last digits of float64: nothing for a GPU in float32`,
    );
  const run = new Cubature(problem, options);
  return runCubature(run, async function* () {
    const store = new RegionStore(problem.ranges.length, run.results);
    store.add(await run.start(1), 0);
    return yield* splitWorst(run, store, new SplitTree());
  });
}

/** Halves the worst of the regions in a store, whose nodes are leaves of a tree, until the tolerance is met. */
export async function* splitWorst(
  run: Cubature,
  store: RegionStore,
  tree: SplitTree,
  looks: StoreLooks = new StoreLooks(run),
): Step<Status> {
  const { problem } = run;
  const { ranges } = problem;
  let totals = store.totals();
  store.rank(run.scalesFor(totals));
  let heap = new Heap(store);
  const court = storeCourt(run, store);
  let stuck = totals.map(() => new Sum()); // errors of regions that cannot be halved any more
  open();
  let lookAgain = 0;
  let now: Estimate[] = [];
  for (let shown = store.count; ; ) {
    const worst = heap.pop();
    const pair = store.halves([worst], ranges);
    await run.evaluate(pair);
    twoLevelErrors(pair.values, pair.errors, store.valuesOf([worst]), ranges.length);
    for (let r = 0; r < run.results; r++) {
      const { values, errors } = store.columns[r];
      totals[r].add(values[worst], errors[worst], -1);
    }
    const first = store.cut(worst, tree);
    store.put(worst, pair, 0, first);
    for (const [i, region] of [worst, store.add(pair, 1, first + 1)].entries()) {
      for (let r = 0; r < run.results; r++) totals[r].add(pair.values[2 * r + i], pair.errors[2 * r + i]);
      if (canSplit(pair, i, ranges)) heap.push(region);
      else addTo(stuck, pair.errors, i, 2);
    }
    run.regions = store.count;
    now = totals.map(own => own.estimate(run.noise));
    let claims = run.enough(now) && store.count >= lookAgain;
    if (claims && (await looks.halve(store, tree))) {
      open();
      claims = renewed();
    }
    let raised = claims && (await looks.at(store, tree));
    if (raised) {
      lookAgain = (1 + LOOKED_AGAIN) * store.count;
      claims = renewed();
    }
    const status = claims
      ? await run.confirm(
          court,
          now.map((own, r) => run.claim(own, totals[r].absolute)),
        )
      : why(now);
    if (claims && !status) {
      raised = true; // random points contradict
      totals = store.totals();
    }
    if (raised || rerank()) {
      const open = heap.items;
      heap = new Heap(store);
      for (const region of open) heap.push(region);
    }
    if (status || store.count >= 2 * shown) {
      shown = store.count;
      yield* run.record(store.totals().map(own => own.estimate(run.noise)));
    }
    if (status) return status;
    if (run.ledger.lastIteration) return 'budget';
  }

  /** Begins anew with the regions in the store. */
  function open(): void {
    heap = new Heap(store);
    stuck = totals.map(() => new Sum());
    const list = store.list(ranges.length);
    for (let i = 0; i < list.count; i++) {
      // the first region has no parent to compare it with, so it is always halved
      if (list.count === 1 || canSplit(list, i, ranges)) heap.push(i);
      else addTo(stuck, list.errors, i, list.count);
    }
  }

  /** Adds up regions that have changed; returns whether their errors meet the tolerance. */
  function renewed(): boolean {
    totals = store.totals();
    now = totals.map(own => own.estimate(run.noise));
    return run.enough(now);
  }

  /** Ranks the regions anew if a tolerance has changed much; returns whether it has. */
  function rerank(): boolean {
    if (run.results === 1) return false;
    const scales = run.scalesFor(totals);
    const changed = run.goals.some(r => {
      const ratio = scales[r] / store.scales[r];
      return ratio > RERANKED || ratio < 1 / RERANKED;
    });
    if (changed) store.rank(scales);
    return changed;
  }

  function why(now: readonly Estimate[]): Status | undefined {
    if (run.affordable < 2) return 'budget';
    if (store.count >= run.maxRegions) return 'memory';
    if (heap.size === 0) return 'roundoff';
    if (run.isDark(now)) return undefined;
    const missing = run.goals.filter(r => !run.meets(now[r], r));
    if (missing.length === 0) return undefined; // the next look across borders is to come
    const helps = missing.some(r => {
      const { error, absolute } = totals[r];
      const own = stuck[r].value > toleranceAt(problem, now[r].value, r) ? 2 * stuck[r].value : 0;
      return error > Math.max(own, run.noise * absolute);
    });
    if (helps) return undefined;
    // 0 meets no relative tolerance
    return missing.every(r => totals[r].absolute + totals[r].error === 0) ? 'budget' : 'roundoff';
  }
}

/** Adds the error of a region of a list to the sum of each result. */
function addTo(sums: readonly Sum[], errors: Float64Array, region: number, count: number): void {
  for (let r = 0; r < sums.length; r++) sums[r].add(errors[r * count + region]);
}
