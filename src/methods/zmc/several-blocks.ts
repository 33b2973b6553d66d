/**
 * Several results in ZMC: one tree for all of them.
 *
 * The search: the deviation of a block is √Σ σ²/size² over the results that lead, with σ the standard deviation of the mean
 * of a trial and `size` = √(value² + variance within blocks) of each result. So a block that is unstable for one of them stands out,
 * and what counts is the deviation relative to the size, as the tolerance does. For one result σ is the scatter of the trials, as in the
 * paper; here it is taken from the variance of samples within the block, which estimates the same. Devices return the sum of
 * the variances of a block in one pass over all leads, and would return means per block and result in a pass for each.
 *
 * The measurement: devices add up covariances over whole grids of blocks, and blocks that are cut have to be left out. So the
 * blocks that are not cut are sampled as grids without holes (uncutGrids in blocks.ts).
 *
 * Floors: what steps and faces may hide (jumps.ts, faces.ts) needs means per block and result. One pass for each goal, over the
 * same points, is made once the tree is known; what it may hide for any number of samples follows from a few numbers per node. The
 * same pass, for each lead, tells how to share samples among nodes.
 */
import { STREAM } from '../../random/philox.ts';
import { blocksOf, packedIndex, packedLength } from '../../tasks/correlation.ts';
import { addLists, type ResultPass, type SampleSums, type SeveralSums } from '../../tasks/sample.ts';
import type { Estimate } from '../combine.ts';
import { hiddenBy } from '../jumps.ts';
import type { Several } from '../method.ts';
import { type PassSums, passOf, ResultPasses, together } from '../result-passes.ts';
import { MOST_TRIES, overflowStep } from '../unit.ts';
import type { BlockSampler } from './block-sampler.ts';
import type { BlockTree } from './block-tree.ts';
import { type Slab, slabsOf, uncutGrids } from './blocks.ts';
import { type Face, facesOf, hiddenBeyondFaces, keepSums, type NodeSums, sumsOfNode } from './faces.ts';
import { PASSES } from './plan.ts';
import type { CountedPass, PassRecord, PassTotals, ZmcRecord } from './record.ts';
import type { Node } from './tree-search.ts';

/** What steps and faces may hide of a result, as data; nodes are given by their numbers. */
export interface Floor {
  result: number;
  /** What steps between blocks of each node may hide with one sample per block. */
  steps: readonly number[];
  faces: readonly Face<number>[];
}

/**
 * Units of results fit while sizes are within this factor of them. A pilot that has hit one of two equal peaks, and not the other, is
 * off by a factor of 10 or more, and only one of them would be cut.
 */
const UNIT_RANGE = 4;

/** What ZMC asks of blocks, whether the integrand has one result (one-result-blocks.ts) or several. */
export type ResultBlocks = Omit<SeveralBlocks, 'units'> & { readonly units?: readonly number[] };

/** Makes the estimate of a result from its value and variance in a unit. */
export type MakeEstimate = (unit: number, value: number, variance: number) => Estimate;

/** The largest ratio between the variances that different passes find for a block with most of the variance. */
export const MAX_VARIANCE_RATIO = 8;

export class SeveralBlocks {
  readonly #several: Several;
  readonly #sampler: BlockSampler;
  readonly #units: ResultPasses;
  readonly #epsilon: number;
  /** Whether units fit the sizes of the leads, as a trial of blocks found them. */
  #fit = false;
  /** What goals may hide; null before that is known. */
  #floors: readonly Floor[] | null = null;

  constructor(several: Several, sampler: BlockSampler, epsilon: number) {
    this.#several = several;
    this.#sampler = sampler;
    this.#epsilon = epsilon;
    this.#units = new ResultPasses(several, epsilon);
  }

  get units(): readonly number[] {
    return this.#units.units;
  }

  /** Whether what may hide between samples is known. */
  get knowsHidden(): boolean {
    return this.#floors !== null;
  }

  /** What a record has beside the tree. */
  get state(): Pick<ZmcRecord, 'units' | 'floors'> {
    return { units: this.units, floors: this.#floors };
  }

  /** Goes on from the tree of a record. */
  restore({ units, floors }: Pick<ZmcRecord, 'units' | 'floors'>): void {
    this.#units.units = units!;
    this.#floors = floors!;
  }

  /** Goes on from a pass of a record. */
  takePass(_pass: PassRecord): void {}

  /** Samples the whole domain evenly, to measure how fast the integrand is. */
  async probe(samples: number): Promise<Estimate> {
    const sums = await this.#whole(samples, STREAM.probe);
    const { evaluations } = sums;
    return this.#units.estimate(sums, (unit, { sum, variance }) => ({
      value: sum * unit,
      error: Math.sqrt(variance) * unit,
      evaluations,
    }));
  }

  /** Samples the whole domain evenly; all results. */
  async #whole(samples: number, stream: number): Promise<PassSums> {
    const passes = this.#units.passesFor(false);
    const { whole } = this.#sampler;
    return together(passes, await this.#sampler.passes(whole, samples, stream, passes, false));
  }

  /** Sets the units of all results from a few samples of the whole domain. */
  async beforeSearch(): Promise<void> {
    const { pilotSamples } = this.#sampler;
    for (let tries = 0; ; tries++) {
      const sums = await this.#whole(pilotSamples, STREAM.pilot);
      if (tries < MOST_TRIES && this.#units.outOfUnit(sums)) continue;
      this.#units.pilot(sums, pilotSamples);
      return;
    }
  }

  /** The deviations of the blocks of a slab, from so many trials. */
  async deviations(slab: Slab, trials: number, samples: number): Promise<Float64Array> {
    const total = new Float64Array(slab.blocks);
    for (let t = 0; t < trials; t++) {
      const { variances } = await this.#trial(slab, samples);
      for (let i = 0; i < total.length; i++) total[i] += variances![i];
    }
    return total.map(v => Math.sqrt(v / trials / samples));
  }

  async #trial(slab: Slab, samples: number): Promise<Pick<SampleSums, 'variances'>> {
    for (let tries = 0; ; tries++) {
      const passes = inSixteens(this.#several.leads).map(r => passOf(r, this.units, r));
      const found = await this.#sampler.passes(slab, samples, STREAM.search, passes, true);
      if (this.#fit || tries === MOST_TRIES || this.#fits(slab, samples, passes, found)) {
        this.#fit = true;
        return { variances: addLists(found.map(f => f.variances)) };
      }
    }
  }

  /** Whether units fit the sizes of the leads; otherwise they are set anew. */
  #fits({ blocks }: Slab, samples: number, passes: readonly ResultPass[], found: SampleSums[]): boolean {
    const sizes: number[] = this.units.map(() => 0);
    passes.forEach(({ results }, p) => {
      const { sums, covariances } = found[p].several!;
      results.forEach((r, i) => {
        const [mean, square] = [sums[i] / blocks, (covariances[packedIndex(i, i)] * samples) / blocks];
        sizes[r] = square < Infinity ? Math.sqrt(mean * mean + square) : overflowStep(this.#epsilon);
      });
    });
    const isFar = (size: number) => size > UNIT_RANGE || (size > 0 && size < 1 / UNIT_RANGE);
    if (!sizes.some(isFar)) return true;
    this.#units.setUnits(sizes.map((size, r) => size * this.units[r]));
    return false;
  }

  /**
   * Looks at every block for each goal and lead, if samples per block are left for that and two for each pass: sets the floors of
   * goals, and shares samples by Σ variance/size² over the leads.
   */
  async afterSearch(tree: BlockTree, samples: number): Promise<void> {
    if (!tree.searched) {
      this.#floors = [];
      return;
    }
    if (this.#sampler.left < (samples + 2 * PASSES) * tree.leaves) return;
    const { goals, leads } = this.#several;
    const spreads = tree.nodes.map(() => 0);
    const floors: Floor[] = [];
    const first = this.#sampler.calls;
    for (const [turn, result] of [...new Set([...goals, ...leads])].entries()) {
      const look = () => this.#lookAt(result, tree, samples);
      const { sums, variances } = await (turn === 0 ? look() : this.#sampler.again(first, look));
      if (leads.includes(result))
        variances.forEach((v, n) => {
          spreads[n] += v;
        });
      if (goals.includes(result)) floors.push({ result, ...floorOf(tree, sums, this.units[result]) });
    }
    this.#floors = floors;
    if (tree.isCut) tree.share(spreads);
  }

  /** Means and variances of all blocks for a result, and for each node Σ of the variances of blocks that are not cut. */
  async #lookAt(
    result: number,
    { nodes, perAxis, perNode }: BlockTree,
    samples: number,
  ): Promise<{ sums: Map<Node, NodeSums>; variances: number[] }> {
    const passes = [passOf([result], this.units, [result])];
    const sums = new Map<Node, NodeSums>();
    const variances: number[] = [];
    for (const node of nodes) {
      const all = sumsOfNode(perNode);
      const cut = new Set(node.unstable);
      let variance = 0;
      for (const slab of slabsOf(node.box, perAxis)) {
        const [own] = await this.#sampler.passes(slab, samples, STREAM.blocks, passes, true);
        keepSums(all, own, slab.first);
        for (let i = 0; i < slab.blocks; i++)
          if (!cut.has(slab.first + i)) variance += own.variances![i] / slab.blocks ** 2;
      }
      variances.push(variance);
      if (all.means.length > 0) sums.set(node, all);
    }
    return { sums, variances };
  }

  /** What steps between blocks may hide of each goal, and blocks beside those that were cut; by the goal's number. */
  hidden(tree: BlockTree): Map<number, number> {
    const samplesOf = (node: number) => tree.samplesOf(tree.nodes[node]);
    return new Map(
      (this.#floors ?? []).map(({ result, steps, faces }) => [
        result,
        Math.max(hiddenBeyondFaces(faces, samplesOf), ...steps.map((step, n) => step / samplesOf(n))),
      ]),
    );
  }

  /** What may hide after another pass of `count` samples per block; 0 here, since floors are known before the first pass. */
  hiddenAfter(_tree: BlockTree, _count: number): number {
    return 0;
  }

  /** Samples all blocks that are not cut, with so many samples per block on average; the sums are those of each block of results. */
  async pass(tree: BlockTree, average: number): Promise<PassTotals> {
    const passes = this.#units.passesFor(false);
    const several: SeveralSums[] = passes.map(({ results: { length: n } }) => ({
      sums: new Float64Array(n),
      covariances: new Float64Array(packedLength(n)),
      concentrations: new Float64Array(n),
    }));
    for (const node of tree.nodes)
      for (const grid of uncutGrids(node.box, tree.perAxis, node.unstable)) {
        const count = tree.countOf(node, average);
        const found = await this.#sampler.passes(grid, count, STREAM.blocks, passes, false);
        found.forEach(({ several: own }, p) => {
          addScaled(several[p].sums, own!.sums, 1 / grid.blocks);
          addScaled(several[p].covariances, own!.covariances, 1 / grid.blocks ** 2);
        });
      }
    return { value: 0, variance: 0, largest: 0, several };
  }

  /** Corrects units when squares overflowed or underflowed; returns whether the pass has to be repeated. */
  outOfUnit(pass: PassTotals): boolean {
    return this.#units.outOfUnit(this.#asPasses(pass, 0));
  }

  estimate(pass: PassTotals, evaluations: number, one: MakeEstimate): Estimate {
    return this.#units.estimate(this.#asPasses(pass, evaluations), (unit, { sum, variance }) =>
      one(unit, sum, variance),
    );
  }

  /**
   * Whether passes differ about a block that has most of the variance of a goal. They do not tell the variance of each block: where
   * `squares`, the variances of the goal per sample, differ as much, there is one that carries it.
   */
  differByOneBlock(_passes: readonly CountedPass[], squares: readonly number[]): boolean {
    return Math.max(...squares) > MAX_VARIANCE_RATIO * Math.min(...squares);
  }

  #asPasses({ several }: PassTotals, evaluations: number): PassSums {
    const passes = this.#units.passesFor(false).map((pass, p) => ({ pass, sums: several![p] }));
    return { ...NO_SUMS, evaluations, passes };
  }
}

const NO_SUMS: SampleSums = {
  evaluations: 0,
  sum: 0,
  variance: 0,
  concentration: 0,
  histogram: null,
  squares: 0,
  variances: null,
  means: null,
  nonFinite: null,
};

/** Results in passes of at most 16. */
const inSixteens = (results: readonly number[]): number[][] =>
  blocksOf(results.length).map(places => places.map(i => results[i]));

function floorOf(
  { nodes, perAxis }: BlockTree,
  sums: ReadonlyMap<Node, NodeSums>,
  unit: number,
): Omit<Floor, 'result'> {
  const numbers = new Map(nodes.map((node, n) => [node, n]));
  return {
    steps: [...sums.values()].map(({ means }) => hiddenBy(means, 1, perAxis) * unit),
    faces: facesOf(sums, perAxis).map(({ node, block, most, between }) => ({
      node: numbers.get(node)!,
      block,
      most: most * unit,
      between: between * unit,
    })),
  };
}

function addScaled(to: Float64Array, from: Float64Array, factor: number): void {
  for (let i = 0; i < to.length; i++) to[i] += from[i] * factor;
}
