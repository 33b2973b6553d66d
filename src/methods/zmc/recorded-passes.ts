/** Writes down the tree and the passes of a run, and takes those of an earlier run that were made by the same plan (record.ts). */
import type { Ledger } from '../ledger.ts';
import type { MethodProblem } from '../method.ts';
import type { BlockSampler } from './block-sampler.ts';
import { BlockTree } from './block-tree.ts';
import type { Plan } from './plan.ts';
import { nodeRecords, nodesOf, type PassRecord, type PassTotals, type ZmcRecord } from './record.ts';
import type { ResultBlocks } from './result-blocks.ts';

export class RecordedPasses {
  readonly #problem: MethodProblem;
  readonly #ledger: Ledger;
  readonly #sampler: BlockSampler;
  readonly #blocks: ResultBlocks;
  /** What is recorded of this run; null before its search has ended, or if nobody asks. */
  record: ZmcRecord | null = null;
  readonly #passes: PassRecord[] = [];
  /** Passes of an earlier run; null once this run has left them. */
  #old: readonly PassRecord[] | null = null;

  constructor(problem: MethodProblem, ledger: Ledger, sampler: BlockSampler, blocks: ResultBlocks) {
    this.#problem = problem;
    this.#ledger = ledger;
    this.#sampler = sampler;
    this.#blocks = blocks;
  }

  /** The tree: that of the record if it was made by the same plan, otherwise the one that `search` finds. */
  async tree({ budget, ...knobs }: Plan, search: () => Promise<BlockTree>): Promise<BlockTree> {
    const { keeps, blocks: old, several } = this.#problem;
    const plan = JSON.stringify([knobs, budget, ...(several ? [several.goals, several.leads] : [])]);
    if (old?.plan === plan) {
      this.#problem.signal?.throwIfAborted();
      this.#sampler.take(old.after);
      this.#sampler.unit = old.after.unit;
      this.#blocks.restore(old);
      this.#old = old.passes;
      this.record = { ...old, passes: this.#passes };
      return new BlockTree(nodesOf(old.nodes), knobs, old.shares);
    }
    const before = this.#ledger.evaluations;
    const tree = await search();
    if (keeps)
      this.record = {
        plan,
        nodes: nodeRecords(tree.nodes),
        shares: tree.shares,
        after: this.#sampler.after(before),
        ...this.#blocks.state,
        passes: this.#passes,
      };
    return tree;
  }

  /** A pass that enters the result: from the record if that has one of the same size, otherwise made. */
  async pass(tree: BlockTree, count: number): Promise<PassTotals> {
    const known = this.#old?.[this.#passes.length];
    const { units } = this.#blocks;
    const { unit } = this.#sampler;
    const sameUnits = (units ?? []).every((u, r) => u === known?.units?.[r]);
    if (known?.count === count && known.unit === unit && sameUnits) {
      this.#problem.signal?.throwIfAborted();
      this.#sampler.take(known.after);
      this.#blocks.takePass(known);
      this.#passes.push(known);
      return known;
    }
    this.#old = null;
    const { evaluations: before } = this.#ledger;
    const pass = await this.#blocks.pass(tree, count);
    if (this.record)
      this.#passes.push({
        ...pass,
        count,
        unit,
        ...(units && { units }),
        hidden: this.#blocks.hiddenAfter(tree, count),
        after: this.#sampler.after(before),
      });
    return pass;
  }
}
