/**
 * A pool of regions, the one thing that PAGANI works on: some regions are selected by their errors and halved, their halves
 * evaluated in their place. Nothing leaves a pool but sums, so that it may be in the memory of a device; host-pool.ts is the
 * one for devices that bring none of their own.
 */
import type { NonFinite } from '../part.ts';
import type { Ranges } from '../region.ts';
import type { RuleName } from '../rules.ts';

export interface PoolTask {
  /** The cubature rule. */
  rule: RuleName;
  /** The box. */
  ranges: Ranges;
  /** Bytes that it may take; by default what the device has left. */
  maxMemory?: number | undefined;
}

export interface Tolerance {
  /** The error that is small enough, as a part of the value. */
  relTol: number;
  /** The error that is small enough whatever the value is. */
  absTol: number;
}

export interface RegionPool {
  /** Regions in it. */
  readonly count: number;
  /** How many regions fit. */
  readonly most: number;
  /** Sums over regions, as of the last step. */
  readonly sums: PoolSums;
  /** Starts with the box, every axis halved `level` times. */
  start(level: number): Promise<PoolStep>;
  /**
   * Selects the regions with the largest errors, as many as have `part` of the error (Infinity: all regions); returns how
   * many they are.
   */
  select(part: number): Promise<number>;
  /** Halves what was selected, the largest errors first if that is more than `most`. */
  halve(most: number): Promise<PoolStep>;
  /**
   * Finishes regions, so that there is room: those with an error of at most `relative` times their value, then those below
   * PAGANI's threshold (threshold.ts), within what the tolerance leaves. They leave their contributions to the sums.
   */
  finish(relative: number, tolerance: Tolerance): Promise<void>;
  /**
   * Looks across borders (borders.ts) with at most `affordable` evaluations of regions, and raises errors; small regions
   * that all together have no more than `negligible` do not look. Returns how many regions were evaluated.
   */
  look(negligible: number, affordable: number): Promise<PoolStep>;
  /** Frees what the pool holds. */
  close(): void;
}

export interface PoolSums {
  /** The integral. */
  value: number;
  /** The errors of all regions. */
  error: number;
  /** The absolute values of all regions. */
  absolute: number;
  /** The part of `error` of finished regions: too small to be halved, or finished to make room. */
  finished: number;
  /** How many regions left the pool when they were finished. */
  done: number;
}

export interface PoolStep {
  /** Regions evaluated. */
  evaluated: number;
  /** The errors of the regions that were halved. */
  before: number;
  /** The errors of their halves. */
  after: number;
  /** Whether values of both signs were seen, beyond their errors. */
  signed: boolean;
  /** Values that were not finite; they count as 0. */
  nonFinite: NonFinite | null;
}

/** What the tolerance leaves for regions that are not finished. */
export function toleranceLeft({ relTol, absTol }: Tolerance, { value, finished }: PoolSums): number {
  return Math.max(absTol, relTol * Math.abs(value)) - finished;
}
