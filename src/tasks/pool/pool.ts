/**
 * A pool of regions, which PAGANI works on: regions are selected by their errors and halved, and their halves are evaluated
 * and take their place. Only sums leave a pool, so it can be in the memory of a device; host-pool.ts is the one for devices
 * that bring none.
 */
import type { Key } from '../../random/philox.ts';
import type { NonFinite } from '../part.ts';
import type { Ranges } from '../region.ts';
import type { RuleName } from '../rules.ts';

export interface PoolTask {
  /** The cubature rule. */
  rule: RuleName;
  /** The box. */
  ranges: Ranges;
  /** How many results the integrand has; by default 1. */
  results?: number;
  /** Bytes that it may take; the default depends on the device. */
  maxMemory?: number | undefined;
}

export interface Tolerance {
  /** The error that is small enough, as a part of the value. */
  relTol: number;
  /** The error that is small enough whatever the value is. */
  absTol: number;
}

export interface RegionPool {
  /** The number of regions in the pool. */
  readonly count: number;
  /** The number of regions that fit into it. */
  readonly most: number;
  /** Sums over regions, as of the last step; of the first result. */
  readonly sums: PoolSums;
  /** Starts with the box, every axis halved `level` times. */
  start(level: number): Promise<PoolStep>;
  /** Says that the next `times` steps will halve all regions: a device may begin with them at once. */
  expectHalvings?(times: number): void;
  /**
   * Selects the regions with the largest errors, as many as have errors that sum to `part` (Infinity: all regions); returns
   * their number.
   */
  select(part: number): Promise<number>;
  /** Halves the selected regions; if they are more than `most`, those with the largest errors. */
  halve(most: number): Promise<PoolStep>;
  /**
   * Finishes regions to make room: those with error ≤ relative·|value|, then those below PAGANI's threshold (threshold.ts),
   * within the error that the tolerance leaves. Their values and errors stay in the sums.
   */
  finish(relative: number, tolerance: Tolerance): Promise<void>;
  /**
   * Looks across borders (borders.ts), with at most `affordable` evaluations of regions, and raises the errors of regions
   * that have missed something. The smallest regions, with Σ |values| ≤ `negligible`, do not look. `result` is the one that is
   * looked at, by default the first.
   */
  look(negligible: number, affordable: number, result?: number): Promise<PoolStep>;
  /**
   * Looks along all axes (all-axes.ts) at the regions with the largest errors, with at most `affordable` evaluations of
   * regions, and raises the errors of those that have missed something. Pools without it claim more than they know where an integrand is singular in a corner.
   */
  lookAlong?(affordable: number, result?: number): Promise<PoolStep>;
  /** Draws witnesses for all regions in the pool (../witness.ts); each round has other points. */
  witness(draw: WitnessDraw): Promise<WitnessStep>;
  /**
   * Raises the errors of regions by what their last witnesses deviate, times a factor that makes the errors of all of them
   * sum to `least` more at least: of the surprised regions, or of those that deviate most. They are to be halved
   * along the axis on which the witness with the largest residual is nearest to a face. `result` is that of the last witnesses.
   */
  blame(who: 'surprised' | 'deviating', least: number, result?: number): Promise<void>;
  /** Frees what the pool holds. */
  close(): void;
}

/** What a pool has more if the integrand has several results. */
export interface SeveralPool extends RegionPool {
  /** The sums of each result. */
  readonly each: readonly PoolSums[];
  /** Σ over the regions in the pool of what they need: the largest error_r / scale_r of each. */
  readonly need: number;
  /** Says how large an error of each result is (see RegionStore.rank): regions are selected and finished by that. */
  rank(scales: ArrayLike<number>): void;
}

export interface WitnessDraw {
  key: Key;
  round: number;
  /** Witnesses in all, about. */
  witnesses: number;
  /** Σ |values|, with those of finished regions. */
  absolute: number;
  /** The result that they are heard about; by default the first. */
  result?: number;
}

/** What witnesses say of all regions together. */
export interface WitnessStep {
  /** Σ deviations: an estimate of truth minus value without bias, and its standard deviation. */
  deviation: number;
  spread: number;
  /** Σ |deviations| of surprised regions. */
  surprise: number;
  /** Σ of what the faces of regions may hide. */
  missing: number;
  witnesses: number;
  /** Evaluations, with those of the models. */
  evaluations: number;
  nonFinite: NonFinite | null;
}

export interface PoolSums {
  /** The integral. */
  value: number;
  /** The errors of all regions. */
  error: number;
  /** Σ |values|. */
  absolute: number;
  /** The part of `error` that finished regions have: those too small to be halved, and those finished to make room. */
  finished: number;
  /** The number of regions that left the pool when they were finished. */
  done: number;
}

export interface PoolStep {
  /** The number of regions that were evaluated. */
  evaluated: number;
  /** Σ errors of the regions that were halved; with several results, of their needs. */
  before: number;
  /** Σ errors of their halves, likewise. */
  after: number;
  /** Whether there are positive and negative values among those that exceed their errors. */
  signed: boolean;
  /** Values that were not finite; they count as 0. */
  nonFinite: NonFinite | null;
}

/** The error that the tolerance leaves for regions that are not finished: max(absTol, relTol·|value|) − finished. */
export function toleranceLeft({ relTol, absTol }: Tolerance, { value, finished }: PoolSums): number {
  return Math.max(absTol, relTol * Math.abs(value)) - finished;
}
