/**
 * The contract between methods and devices.
 *
 * A device runs an integrand; a session is one integrand with its params on it. A method hands a session whole
 * iterations and gets sums back, never samples. The device decides how the work is spread; the numbers do
 * not depend on it: work is cut into chunks whose size depends on the task alone, and what chunks give is added in
 * their order, so the same task gives the same bits for any number of workers.
 *
 * A device decides nothing about statistics, and a method knows nothing of workers, memory or kernels.
 */
import type { Axis } from '../integrand/domain.ts';
import type { Program } from '../integrand/ir.ts';
import type { Bindings } from '../integrand/params.ts';
import type { Key } from '../random/philox.ts';
import type { Rule } from '../tasks/rules.ts';

export interface Device {
  /** As it is written in results: `cpu`, `js`. */
  readonly name: string;
  open(integrand: DeviceIntegrand, options?: OpenOptions): Promise<Session>;
  /** Frees everything; the device cannot be used any more. */
  close(): Promise<void>;
}

export interface OpenOptions {
  /** Other sessions run beside this one: work should not wait for the whole device. */
  shared?: boolean;
}

/** An integrand as devices take it: compiled, or to be called as it is. */
export type DeviceIntegrand =
  | { kind: 'program'; program: Program; params: Bindings }
  | { kind: 'function'; call: PlainIntegrand; dims: number };

/** A function called as it is; `moved` tells workers how to make it for themselves, if they can. */
export interface PlainIntegrand {
  f: (x: number[]) => number | Promise<number>;
  moved?: MovedIntegrand | undefined;
}

/** A plain integrand that a worker can make for itself: from its text, or from a module. */
export interface MovedIntegrand {
  text?: string;
  url?: string;
  name?: string;
  params: unknown;
  /** Set when the domain is infinite. */
  axes?: readonly Axis[];
}

export interface Session {
  /** Where it really runs, for results: `cpu`, `js on this thread`. */
  readonly description: string;
  /** What a result should tell of the device: cards that failed on the way, for instance. */
  readonly warnings?: readonly string[];
  /** One iteration of stratified sampling through a map. */
  sample(task: SampleTask): Promise<SampleSums>;
  /**
   * Samples of each cube, so many in all, by the variances that the last iteration with `keep` had: some for
   * all alike, and the rest as variance^(β/2); see methods/vegas/strata.ts.
   */
  allocate(beta: number, evaluations: number): Promise<Allocation>;
  /** The map for the next iteration, by the histogram that the last one with `keep` had; see methods/vegas/map.ts. */
  refine(how: Refinement): Promise<AxisMap>;
  /** A map as numbers. */
  edgesOf(map: AxisMap): Promise<Float64Array>;
  /** A cubature rule applied to regions. */
  regions(task: RegionTask): Promise<RegionSums>;
  /** A pool of regions in the device's own memory, where it has one. */
  pool?(task: PoolTask): Promise<RegionPool>;
  /** The same integrand with other params, from the next task on. */
  rebind(integrand: DeviceIntegrand): Promise<void>;
  close(): void;
}

/** Samples of each cube, where the device has them; only the session that made it can use it. */
export interface Allocation {
  readonly evaluations: number;
}

/** Edges of a map, bins + 1 a coordinate: as numbers, or where the device has them. */
export type AxisMap = Float64Array | KeptMap;

export interface KeptMap {
  readonly bins: number;
}

export interface Refinement {
  alpha: number;
  /** The part of the samples that stays spread evenly. */
  floor: number;
  /** One map for all axes. */
  shared: boolean;
}

/** Samples of one iteration: cubes, how many samples each has, and the map from the unit cube to the domain. */
export interface SampleTask {
  key: Key;
  iteration: number;
  stream: number;
  bins: number;
  edges: AxisMap;
  /** Strata along each axis; the cubes are numbered with the first axis fastest. */
  strata: readonly number[];
  /** Samples of every cube (at least 2), or of each. */
  counts: number | Uint32Array | Allocation;
  /** What w = f·Jacobian is divided by; a power of two. */
  unit: number;
  /**
   * Collect the histogram, to give it back or to keep it for `refine`, and on request the cubes' variances: to give them
   * back, or to keep them for `allocate`. `scale` is what w² is multiplied with before it is rounded.
   */
  adapt: { scale: number; histogram?: 'keep'; variances: boolean | 'keep' } | null;
  /** Give mean and variance of each cube; only when nothing adapts. */
  cubes?: boolean;
  /** Stops between chunks: the promise is rejected with the signal's reason. */
  signal?: AbortSignal | undefined;
}

export interface SampleSums {
  evaluations: number;
  /** Σ over cubes of the mean of w = f·Jacobian/unit in the cube. */
  sum: number;
  /** The variance of that sum. */
  variance: number;
  /** Σ of the squares of what pieces have of that variance: over its square, one over the number of pieces that carry it. */
  concentration: number;
  /** Σ of the rounded scaled squares in each bin, bins a coordinate; null when frozen or kept. */
  histogram: Float64Array | null;
  /** Σ of them over the bins of one coordinate; 0 when frozen. */
  squares: number;
  /** Variance of w in each cube, if asked for. */
  variances: Float64Array | null;
  /** Mean of w in each cube, if asked for. */
  means: Float64Array | null;
  /** Values that were not finite, and the first of them (by sample). */
  nonFinite: { count: number; first: { point: number[]; value: number } } | null;
}

/** Regions of a box: each axis of the box was halved `levels` times, down to the part around the centre. */
export interface RegionTask {
  rule: Rule;
  /** The box. */
  ranges: readonly (readonly [number, number])[];
  count: number;
  /** `count` numbers an axis. */
  centres: Float64Array;
  levels: Uint8Array;
  signal?: AbortSignal | undefined;
}

export interface RegionSums {
  /** Of each region: its integral by the rule, the error by the null rules, the axis to split. */
  values: Float64Array;
  errors: Float64Array;
  axes: Uint8Array;
  nonFinite: { count: number; first: { point: number[]; value: number } } | null;
}

export interface PoolTask {
  rule: Rule;
  ranges: RegionTask['ranges'];
  /** Bytes that it may take; by default what the device has left. */
  maxMemory?: number | undefined;
  signal?: AbortSignal | undefined;
}

/**
 * All regions of a run of PAGANI, with what is done to them: some are selected by their errors and halved, their halves
 * evaluated in their place. Nothing leaves but sums.
 */
export interface RegionPool {
  /** Regions in it, and how many fit. */
  readonly count: number;
  readonly most: number;
  /** Sums over regions in it, as of the last step. */
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
   * Finishes regions, so that there is room: those with an error below `relative` of their value, then by PAGANI's
   * threshold, within a budget. They leave their contributions.
   */
  finish(relative: number, budget: (finished: PoolSums) => number): Promise<void>;
  /**
   * Looks across borders (methods/cubature/borders.ts) with at most so many evaluations of regions, and raises errors;
   * small regions that all together have no more than `negligible` do not look. Returns how many were evaluated.
   */
  look(negligible: number, affordable: number): Promise<PoolStep>;
  close(): void;
}

export interface PoolSums {
  value: number;
  error: number;
  absolute: number;
  /** Of the error, what regions have that are finished: too small to be halved, or to make room. */
  finished: number;
  /** How many are. */
  done: number;
}

export interface PoolStep {
  /** Regions evaluated. */
  evaluated: number;
  /** The errors of halved regions, and of their halves. */
  before: number;
  after: number;
  /** Whether values of both signs were seen, beyond their errors. */
  signed: boolean;
  nonFinite: RegionSums['nonFinite'];
}
