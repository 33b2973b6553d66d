/** The looks before a claim (looks.ts) at regions in a store of the host: for `cuhre` and `two-phase`. */
import type { AllAxes } from '../../tasks/pool/all-axes.ts';
import { lookAcross } from '../../tasks/pool/borders.ts';
import type { RegionStore } from '../../tasks/pool/store.ts';
import type { SplitTree } from '../../tasks/pool/tree.ts';
import type { Cubature } from './cubature.ts';

export class StoreLooks {
  readonly #run: Cubature;
  /** Loaded when it is used: many claims need none. */
  #allAxes: AllAxes | null = null;

  constructor(run: Cubature) {
    this.#run = run;
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
