/** Blocks of an integrand that returns a number. */
import { STREAM } from '../../random/philox.ts';
import type { Estimate } from '../combine.ts';
import { hiddenBy } from '../jumps.ts';
import { unitError, unitFor } from '../unit.ts';
import type { BlockSampler } from './block-sampler.ts';
import type { BlockTree } from './block-tree.ts';
import { MAX_SUMMED_BLOCKS, type Slab, slabsOf } from './blocks.ts';
import { facesOf, hiddenBeyondFaces, keepSums, type NodeSums, sumsOfNode } from './faces.ts';
import type { CountedPass, PassRecord, PassTotals } from './record.ts';
import { MAX_VARIANCE_RATIO, type MakeEstimate, type ResultBlocks } from './several-blocks.ts';
import { type Node, trialDeviations } from './tree-search.ts';

export class OneResultBlocks implements ResultBlocks {
  readonly #sampler: BlockSampler;
  readonly #epsilon: number;
  /** Means and variances of blocks in the last pass, in its unit; or what they may hide, if the pass is from a record. */
  #known: { sums: ReadonlyMap<Node, NodeSums>; unit: number; hidden?: number } = { sums: new Map(), unit: 1 };
  readonly knowsHidden = true;
  readonly state = {};

  constructor(sampler: BlockSampler, epsilon: number) {
    this.#sampler = sampler;
    this.#epsilon = epsilon;
  }

  async probe(samples: number): Promise<Estimate> {
    const { unit, whole } = this.#sampler;
    const { sum, variance, evaluations } = await this.#sampler.one(whole, samples, STREAM.probe);
    return { value: sum * unit, error: Math.sqrt(variance) * unit, evaluations };
  }

  async beforeSearch(): Promise<void> {}

  deviations(slab: Slab, trials: number, samples: number): Promise<Float64Array> {
    return trialDeviations(trials, () => this.#sampler.one(slab, samples, STREAM.search));
  }

  /** The unit (unit.ts) is set near the largest mean of a block so far; samples are shared by a pass that does not enter the result. */
  async afterSearch(tree: BlockTree, samples: number): Promise<void> {
    const sampler = this.#sampler;
    if (sampler.size === 0) await sampler.one(sampler.whole, sampler.pilotSamples, STREAM.pilot);
    if (sampler.size > 0 && sampler.size < Infinity) sampler.unit = unitFor(sampler.size);
    if (!tree.isCut) return;
    const spreads: number[] = [];
    await this.pass(tree, samples, spreads);
    tree.share(spreads);
  }

  /**
   * The value and the variance over all blocks that are not cut further, and the largest variance of one block, in the
   * present unit. `spreads` receives for each node its part of the variance times the samples per block.
   */
  async pass(tree: BlockTree, average: number, spreads?: number[]): Promise<PassTotals> {
    const { perAxis, perNode, searched } = tree;
    const kept = new Map<Node, NodeSums>();
    let [value, variance, largest] = [0, 0, 0];
    for (const node of tree.nodes) {
      const count = tree.countOf(node, average);
      const before = variance;
      const all = sumsOfNode(searched ? perNode : 0);
      let at = 0;
      for (const slab of slabsOf(node.box, perAxis, searched ? undefined : MAX_SUMMED_BLOCKS)) {
        const sums = await this.#sampler.one(slab, count, STREAM.blocks, searched);
        if (!searched) {
          value += sums.sum / slab.blocks;
          variance += sums.variance / slab.blocks ** 2;
          continue;
        }
        keepSums(all, sums, slab.first);
        let [sum, squares, most] = [0, 0, 0];
        for (let i = 0; i < slab.blocks; i++) {
          if (node.unstable[at] === slab.first + i) {
            at++;
            continue;
          }
          sum += sums.means![i];
          squares += sums.variances![i];
          most = Math.max(most, sums.variances![i]);
        }
        value += sum / slab.blocks;
        variance += squares / count / slab.blocks ** 2;
        largest = Math.max(largest, most / count / slab.blocks ** 2);
      }
      spreads?.push((variance - before) * count);
      if (all.means.length > 0) kept.set(node, all);
    }
    this.#known = { sums: kept, unit: this.#sampler.unit };
    return { value, variance, largest };
  }

  outOfUnit({ value, variance }: PassTotals): boolean {
    const wrong = unitError({ sum: value, variance }, this.#epsilon);
    if (wrong !== 1) this.#sampler.unit *= unitFor(wrong);
    return wrong !== 1;
  }

  estimate({ value, variance }: PassTotals, _evaluations: number, one: MakeEstimate): Estimate {
    return one(this.#sampler.unit, value, variance);
  }

  /** A block with most of the variance is no danger as long as all passes find about the same variance in it. */
  differByOneBlock(passes: readonly CountedPass[]): boolean {
    const shares = passes.map(({ largest, variance }) => (variance > 0 ? largest / variance : 0));
    const variances = passes.map(({ largest, count }) => largest * count);
    const share = shares.reduce((a, b) => a + b, 0) / shares.length;
    return share > 0.5 && Math.max(...variances) > MAX_VARIANCE_RATIO * Math.min(...variances);
  }

  hidden(tree: BlockTree): Map<number, number> {
    return new Map([[0, this.#known.hidden ?? this.hiddenAfter(tree, 0)]]);
  }

  hiddenAfter(tree: BlockTree, count: number): number {
    const { sums, unit } = this.#known;
    const { perAxis } = tree;
    const samplesOf = (node: Node) => tree.samplesOf(node, count);
    const steps = [...sums].map(([node, { means }]) => hiddenBy(means, samplesOf(node), perAxis));
    return Math.max(hiddenBeyondFaces(facesOf(sums, perAxis), samplesOf), ...steps) * unit;
  }

  restore(): void {}

  takePass({ hidden }: PassRecord): void {
    this.#known = { sums: new Map(), unit: 1, hidden };
  }
}
