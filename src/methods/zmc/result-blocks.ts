/**
 * What ZMC asks of blocks: deviations for the search, passes that measure, and what may hide between samples. one-result-blocks.ts
 * answers for an integrand that returns a number, several-blocks.ts for one with several results.
 */
import type { Estimate } from '../combine.ts';
import type { BlockTree } from './block-tree.ts';
import type { Slab } from './blocks.ts';
import type { PassRecord, PassTotals, ZmcRecord } from './record.ts';

/** Makes the estimate of a result from its value and variance in a unit. */
export type MakeEstimate = (unit: number, value: number, variance: number) => Estimate;

export interface ResultBlocks {
  /** The units of several results. */
  readonly units?: readonly number[];
  /** Whether what may hide between samples is known. */
  readonly knowsHidden: boolean;
  /** Samples the whole domain evenly, to measure how fast the integrand is. */
  probe(samples: number): Promise<Estimate>;
  /** Prepares the search. */
  beforeSearch(): Promise<void>;
  /** The deviations of the blocks of a slab, from so many trials. */
  deviations(slab: Slab, trials: number, samples: number): Promise<Float64Array>;
  /** Sets units, and shares the samples of the tree, from a look at all blocks with so many samples. */
  afterSearch(tree: BlockTree, samples: number): Promise<void>;
  /** Samples all blocks that are not cut; so many samples per block on average. */
  pass(tree: BlockTree, average: number): Promise<PassTotals>;
  /** Corrects units when squares overflowed or underflowed; returns whether the pass has to be repeated. */
  outOfUnit(pass: PassTotals): boolean;
  estimate(pass: PassTotals, evaluations: number, one: MakeEstimate): Estimate;
  /** Whether passes differ about a block that has most of the variance of a goal. `squares`: the variances of this goal per sample. */
  differByOneBlock(passes: readonly CountedPass[], squares: readonly number[]): boolean;
  /** What steps between blocks may hide of each goal, and blocks beside those that were cut; by the goal's number. */
  hidden(tree: BlockTree): ReadonlyMap<number, number>;
  /** What a record has of one pass beside its totals: what may hide after it. */
  hiddenAfter(tree: BlockTree, count: number): number;
  /** What a record has beside the tree. */
  readonly state: Pick<ZmcRecord, 'units' | 'floors'>;
  /** Goes on from a record: from its tree, or from one of its passes. */
  restore(state: Pick<ZmcRecord, 'units' | 'floors'>): void;
  takePass(pass: PassRecord): void;
}

/** A pass with so many samples per block on average. */
export interface CountedPass extends PassTotals {
  count: number;
}

/** The largest ratio between the variances that different passes find for a block with most of the variance. */
export const MAX_VARIANCE_RATIO = 8;
