/**
 * Cuhre: the sequential reference (J. Berntsen, T. O. Espelid, A. Genz, "An adaptive algorithm for the approximate
 * calculation of multiple integrals", ACM TOMS 17, 1991; T. Hahn, "Cuba", Comput. Phys. Commun. 168, 2005).
 *
 * All regions stay in a heap. The one with the largest error is halved along the axis with the largest fourth
 * difference, until the errors of all regions sum to less than the tolerance. The first region has no parent to compare
 * it with, so it is always halved.
 */
import { type Estimate, Sum, Totals, twoLevelErrors } from '../../tasks/pool/errors.ts';
import { canSplit } from '../../tasks/pool/regions.ts';
import { RegionStore } from '../../tasks/pool/store.ts';
import { type MethodProblem, type Run, type Status, type Step, toleranceAt } from '../method.ts';
import { Cubature, runCubature, storeCourt } from './cubature.ts';
import { Heap } from './heap.ts';
import type { CubatureOptions } from './options.ts';

export function cuhre(problem: MethodProblem, options: CubatureOptions): Run {
  const run = new Cubature(problem, options);
  return runCubature(run, async function* () {
    const store = new RegionStore(problem.ranges.length);
    store.add(await run.start(1), 0);
    return yield* splitWorst(run, store);
  });
}

/** Halves the worst of the regions in a store until the tolerance is met. */
export async function* splitWorst(run: Cubature, store: RegionStore): Step<Status> {
  const { problem } = run;
  const { ranges } = problem;
  let heap = new Heap(store);
  let totals = Totals.of(store);
  const court = storeCourt(run, store);
  const stuck = new Sum(); // errors of regions that cannot be halved any more
  const list = store.list(ranges.length);
  for (let i = 0; i < list.count; i++) {
    // the first region has no parent to compare it with, so it is always halved
    if (list.count === 1 || canSplit(list, i, ranges)) heap.push(i);
    else stuck.add(store.errors[i]);
  }
  for (let shown = store.count; ; ) {
    const worst = heap.pop();
    const pair = store.halves([worst], ranges);
    await run.evaluate(pair);
    twoLevelErrors(pair.values, pair.errors, store.values.slice(worst, worst + 1), ranges.length);
    totals.add(store.values[worst], store.errors[worst], -1);
    store.put(worst, pair, 0);
    for (const [i, region] of [worst, store.add(pair, 1)].entries()) {
      totals.add(pair.values[i], pair.errors[i]);
      if (canSplit(pair, i, ranges)) heap.push(region);
      else stuck.add(pair.errors[i]);
    }
    run.regions = store.count;
    const now = totals.estimate(run.noise);
    const claims = run.enough(now);
    const status = claims ? await run.confirm(court, run.claim(now, totals.absolute)) : why(now);
    if (claims && !status) {
      // random points contradict, and errors were raised
      totals = Totals.of(store);
      const open = heap.items;
      heap = new Heap(store);
      for (const region of open) heap.push(region);
    }
    if (status || store.count >= 2 * shown) {
      shown = store.count;
      yield* run.record(Totals.of(store).estimate(run.noise));
    }
    if (status) return status;
    if (run.ledger.lastIteration) return 'budget';
  }

  function why(now: Estimate): Status | undefined {
    if (run.affordable < 2) return 'budget';
    if (store.count >= run.maxRegions) return 'memory';
    if (heap.size === 0) return 'roundoff';
    if (run.isDark(now)) return undefined;
    if (totals.absolute + totals.error === 0) return 'budget'; // 0 meets no relative tolerance
    const missed = stuck.value > toleranceAt(problem, now.value) ? 2 * stuck.value : 0;
    return totals.error > Math.max(missed, run.noise * totals.absolute) ? undefined : 'roundoff';
  }
}
