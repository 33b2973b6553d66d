/** What precedes the witnesses of a claim about regions in a store of the host, for `cuhre` and `two-phase`: halvings, and the looks of looks.ts. */
import type { AllAxes } from '../../tasks/pool/all-axes.ts';
import { lookAcross } from '../../tasks/pool/borders.ts';
import { twoLevelErrors } from '../../tasks/pool/errors.ts';
import { canSplit } from '../../tasks/pool/regions.ts';
import type { RegionStore } from '../../tasks/pool/store.ts';
import type { SplitTree } from '../../tasks/pool/tree.ts';
import { type Cubature, storeCourt } from './cubature.ts';

export class StoreLooks {
  readonly #run: Cubature;
  /** Loaded when it is used: many claims need none. */
  #allAxes: AllAxes | null = null;

  constructor(run: Cubature) {
    this.#run = run;
  }

  /**
   * Halves all regions in a store until there are enough for witnesses (witnesses.ts); returns whether any was. Halving
   * those with the largest errors would leave the others as wide as they are.
   */
  async halve(store: RegionStore, tree: SplitTree): Promise<boolean> {
    const run = this.#run;
    const { ranges } = run.problem;
    const before = store.count;
    for (let least = 0; ; ) {
      if (store.count >= least) {
        const claims = store.totals().map(own => run.claim(own.estimate(run.noise), own.absolute));
        least = await run.leastToWitness(storeCourt(run, store), claims);
      }
      if (store.count >= least) break;
      const list = store.list(ranges.length);
      const which = Array.from({ length: store.count }, (_, i) => i).filter(i => canSplit(list, i, ranges));
      if (which.length === 0) break;
      const halves = store.halves(which, ranges);
      await run.evaluate(halves);
      twoLevelErrors(halves.values, halves.errors, store.valuesOf(which), ranges.length);
      which.forEach((whole, k) => {
        const first = store.cut(whole, tree);
        store.put(whole, halves, 2 * k, first);
        store.add(halves, 2 * k + 1, first + 1);
      });
      run.regions += which.length;
    }
    return store.count > before;
  }

  /** Looks at the regions in a store; returns whether an error was raised. */
  async at(store: RegionStore, tree: SplitTree): Promise<boolean> {
    const run = this.#run;
    if (run.options.witnesses === 0) return false; // nobody checks
    let raised = false;
    for (const result of run.goals) {
      const negligible = run.looks.negligible(store.totals()[result].value, result);
      const look = { result, negligible, affordable: run.affordable };
      if (await lookAcross(store, tree, run.problem.ranges, look, images => run.evaluate(images)))
        raised = true;
      const total = store.totals()[result];
      const along = run.looks.affordableAlong(run.claim(total.estimate(run.noise), total.absolute), result);
      if (along < 1) continue;
      this.#allAxes ??= new (await import('../../tasks/pool/all-axes.ts')).AllAxes(run.problem.ranges);
      if (await this.#allAxes.look(store, result, along, halves => run.evaluate(halves))) raised = true;
    }
    return raised;
  }
}
