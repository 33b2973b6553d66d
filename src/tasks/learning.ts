/** What VEGAS learns from an iteration: the refined map (map.ts), and samples of each cube by its variance (strata.ts). */
import type { AxisMap, Counts, SampleSums, SampleTask } from './sample.ts';

export interface Refinement {
  /** How fast the map follows the histogram; α of the papers. */
  alpha: number;
  /** The part of the samples that stays spread evenly. */
  floor: number;
  /** One map for all axes. */
  shared: boolean;
}

/** Learns from the last iteration that it was given, or that was sampled with `keep`. */
export interface Learning {
  /** Learns from sums with a histogram and, where samples are to be allotted, variances. */
  learn(task: SampleTask, sums: SampleSums): Promise<void>;
  /** The map for the next iteration. */
  refine(how: Refinement): Promise<AxisMap>;
  /** Samples of each cube, `evaluations` in all: a part for all cubes alike, the rest as variance^(β/2). */
  allocate(beta: number, evaluations: number): Promise<Counts>;
  /** A map as numbers. */
  edgesOf(map: AxisMap): Promise<Float64Array>;
  /** Samples of each cube as numbers. */
  countsOf(counts: Counts): Promise<Uint32Array>;
}
