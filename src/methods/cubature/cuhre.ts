/**
 * Cuhre: the sequential reference (J. Berntsen, T. O. Espelid, A. Genz, "An adaptive algorithm for the approximate
 * calculation of multiple integrals", ACM TOMS 17, 1991; T. Hahn, "Cuba", Comput. Phys. Commun. 168, 2005).
 *
 * All regions stay in a heap. The one with the largest error is halved along the axis on which the integrand bends
 * most, until the errors of all add up to less than the tolerance. The first region has no parent to compare it with,
 * so at least one is split.
 */
import type { Status } from '../../result.ts';
import { type MethodProblem, type Outcome, toleranceAt } from '../method.ts';
import { Cubature, type CubatureOptions, type Estimate, runCubature, withNoise } from './cubature.ts';
import { NOISE, Sum, twoLevelErrors } from './error.ts';
import { Heap } from './heap.ts';
import { canSplit } from './regions.ts';
import { RegionStore } from './store.ts';

export function cuhre(problem: MethodProblem, options: CubatureOptions): Promise<Outcome> {
  const run = new Cubature(problem, options);
  return runCubature(run, () => splitWorst(run));
}

async function splitWorst(run: Cubature): Promise<Status> {
  const { problem } = run;
  const { ranges } = problem;
  const store = new RegionStore(ranges.length);
  const heap = new Heap(store);
  const value = new Sum();
  const error = new Sum();
  const absolute = new Sum();
  const stuck = new Sum(); // errors of regions that cannot be halved any more
  const root = await run.start(1);
  heap.push(store.add(root, 0));
  value.add(root.values[0]);
  error.add(root.errors[0]);
  absolute.add(Math.abs(root.values[0]));
  const parent = new Float64Array(1);
  for (let shown = 1; ; ) {
    const worst = [heap.pop()];
    const [oldValue, oldError] = [store.values[worst[0]], store.errors[worst[0]]];
    const pair = store.halves(worst, ranges);
    await run.evaluate(pair);
    parent[0] = oldValue;
    twoLevelErrors(pair.values, pair.errors, parent, ranges.length);
    store.put(worst[0], pair, 0);
    const added = store.add(pair, 1);
    run.regions = store.count;
    for (const [i, region] of [worst[0], added].entries()) {
      value.add(pair.values[i]);
      error.add(pair.errors[i]);
      absolute.add(Math.abs(pair.values[i]));
      if (canSplit(pair, i, ranges)) heap.push(region);
      else stuck.add(pair.errors[i]);
    }
    value.add(-oldValue);
    error.add(-oldError);
    absolute.add(-Math.abs(oldValue));
    const now = withNoise(value.value, error.value, absolute.value);
    const status = run.enough(now) ? 'converged' : why(now);
    if (status || store.count >= 2 * shown) {
      shown = store.count;
      // once more from the regions themselves: differences of large numbers have left their mark
      await run.record(total());
    }
    if (status) return status;
    if (run.lastIteration) return 'budget';
  }

  function why(now: Estimate): Status | undefined {
    if (run.affordable < 2) return 'budget';
    if (store.count >= run.maxRegions) return 'memory';
    if (run.isDark(now)) return undefined;
    const missed = stuck.value > toleranceAt(problem, value.value) ? 2 * stuck.value : 0;
    const floor = Math.max(missed, NOISE * absolute.value);
    return heap.size > 0 && error.value > floor ? undefined : 'roundoff';
  }

  function total(): Estimate {
    const sums = [new Sum(), new Sum(), new Sum()];
    for (let i = 0; i < store.count; i++) {
      sums[0].add(store.values[i]);
      sums[1].add(store.errors[i]);
      sums[2].add(Math.abs(store.values[i]));
    }
    return withNoise(sums[0].value, sums[1].value, sums[2].value);
  }
}
