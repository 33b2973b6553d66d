/** Writes down the tree and the passes of a run, and takes those of an earlier run that were made by the same plan (record.ts). */
import type { Ledger } from '../ledger.ts';
import type { MethodProblem } from '../method.ts';
import type { BlockSampler } from './block-sampler.ts';
import { BlockTree } from './block-tree.ts';
import type { Plan } from './plan.ts';
import { nodeRecords, nodesOf, type PassRecord, type PassTotals, type ZmcRecord } from './record.ts';
import type { ResultBlocks } from './several-blocks.ts';

/** What the parts of a run share. */
export interface ZmcParts {
  problem: MethodProblem;
  ledger: Ledger;
  sampler: BlockSampler;
  blocks: ResultBlocks;
}

export class RecordedPasses {
  readonly #parts: ZmcParts;
  /** What is recorded of this run; null before its search has ended, or if nobody asks. */
  record: ZmcRecord | null = null;
  readonly #passes: PassRecord[] = [];
  /** Passes of an earlier run; null once this run has left them. */
  #old: readonly PassRecord[] | null = null;

  constructor(parts: ZmcParts) {
    this.#parts = parts;
  }

  /** The tree: that of the record if it was made by the same plan, otherwise the one that `search` finds. */
  async tree({ budget, ...knobs }: Plan, search: () => Promise<BlockTree>): Promise<BlockTree> {
    const { problem, ledger, sampler, blocks } = this.#parts;
    const { keeps, blocks: old, several } = problem;
    const plan = JSON.stringify([knobs, budget, ...(several ? [several.goals, several.leads] : [])]);
    if (old?.plan === plan) {
      problem.signal?.throwIfAborted();
      sampler.take(old.after);
      sampler.unit = old.after.unit;
      blocks.restore(old);
      this.#old = old.passes;
      this.record = { ...old, passes: this.#passes };
      return new BlockTree(nodesOf(old.nodes), knobs, old.shares);
    }
    const before = ledger.evaluations;
    const tree = await search();
    if (keeps)
      this.record = {
        plan,
        nodes: nodeRecords(tree.nodes),
        shares: tree.shares,
        after: sampler.after(before),
        ...blocks.state,
        passes: this.#passes,
      };
    return tree;
  }

  /** A pass that enters the result: from the record if that has one of the same size, otherwise made. */
  async pass(tree: BlockTree, count: number): Promise<PassTotals> {
    const { problem, ledger, sampler, blocks } = this.#parts;
    const known = this.#old?.[this.#passes.length];
    const { units } = blocks;
    const { unit } = sampler;
    const sameUnits = (units ?? []).every((u, r) => u === known?.units?.[r]);
    if (known?.count === count && known.unit === unit && sameUnits) {
      problem.signal?.throwIfAborted();
      sampler.take(known.after);
      blocks.takePass(known);
      this.#passes.push(known);
      return known;
    }
    this.#old = null;
    const before = ledger.evaluations;
    const pass = await blocks.pass(tree, count);
    if (this.record)
      this.#passes.push({
        ...pass,
        count,
        unit,
        ...(units && { units }),
        hidden: blocks.hiddenAfter(tree, count),
        after: sampler.after(before),
      });
    return pass;
  }
}
