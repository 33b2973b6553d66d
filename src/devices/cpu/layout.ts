/** The memory layout of the sampling kernel (kernel.ts). */
import { ROUNDS } from '../../random/philox.ts';
import { nodeWidth } from '../../tasks/sample.ts';

/** The corner of stratum 0: 2²⁰ − 2⁻³³, see kernel.ts. */
export const CORNER = 2 ** 20 - 2 ** -33;

/** Byte offsets in the kernel's memory; the caller fills the second group and reads the last one. */
export interface KernelLayout {
  dims: number;
  batch: number;
  bins: number;
  /** Cubes per chunk, at most. */
  cubes: number;
  /** Whether points are those of a lattice (lattice-kernel.ts). */
  lattice: boolean;
  /** Results that are sampled together. */
  results: number;
  /** Rows of `batch` numbers for the integrand: one per coordinate, and one of values per result. */
  points: number;
  values: number;

  /** Round keys of Philox, each a vector of four equal words. */
  keys: number;
  /**
   * Words: sample (low, high), iteration, stream, number of cubes, cursor, samples taken of that cube, pieces, stratified, folded, the first
   * sample of the batch (low), and three that say which blocks the histogram counts (`countedWords` in tasks/counted.ts).
   */
  state: number;
  /** Per axis: bins/strata; the corner of the current cube; the corner at which the axis wraps to stratum 0. */
  scales: number;
  corners: number;
  limits: number;
  /** Edges of the map, and for lattices the slopes there: bins + 1 numbers per axis. */
  edges: number;
  slopes: number;
  /** Lattices: the step of each axis; the word that each axis of each shift of the chunk starts from. */
  steps: number;
  shifts: number;
  /** Per cube of the chunk: the samples to take, and the samples of the whole cube. */
  take: number;
  full: number;
  /** 1/n at index n, for n from 1 to `batch`. */
  reciprocals: number;
  /** Two numbers: the Jacobian's constant factor, and the factor of w² in the histogram. */
  factors: number;
  /** Several results: 1/unit of each, and 1 or 0 for those that map and strata learn from or not. */
  inverseUnits: number;
  leads: number;

  /** Scratch rows: corners, bins, Jacobian, weights, histogram increments; pieces of the batch. */
  strata: number;
  offsets: number;
  jacobian: number;
  increments: number;
  pieces: number;

  /** Variance and mean of each cube; the sums of a node (tasks/sample.ts); the histogram. */
  variances: number;
  means: number;
  sums: number;
  /** Σ of the scaled squares of all samples of the chunk. */
  squares: number;
  histogram: number;
  end: number;
}

export const STATE = {
  sampleLow: 0,
  sampleHigh: 4,
  iteration: 8,
  stream: 12,
  cubes: 16,
  cursor: 20,
  taken: 24,
  pieces: 28,
  stratified: 32,
  folded: 36,
  first: 40,
  counted: 44,
};

export function kernelLayout(
  dims: number,
  batch: number,
  bins: number,
  cubes: number,
  points: number,
  values: number,
  base: number,
  results = 1,
  lattice = false,
): KernelLayout {
  let next = Math.ceil(base / 16) * 16;
  const take = (bytes: number) => {
    const at = next;
    next += Math.ceil(bytes / 16) * 16;
    return at;
  };
  const padded = Math.ceil(dims / 4) * 4;
  const several = results > 1;
  return {
    dims,
    batch,
    bins,
    cubes,
    lattice,
    results,
    points,
    values,
    keys: take(2 * ROUNDS * 16),
    state: take(64),
    scales: take(padded * 8),
    corners: take(padded * 8),
    limits: take(padded * 8),
    edges: take(padded * (bins + 1) * 8),
    slopes: lattice ? take(padded * (bins + 1) * 8) : 0,
    steps: lattice ? take(padded * 4) : 0,
    shifts: lattice ? take(cubes * padded * 4) : 0,
    take: take(cubes * 4),
    full: take(cubes * 4),
    reciprocals: take((batch + 1) * 8),
    factors: take(16),
    inverseUnits: several ? take(8 * results) : 0,
    leads: several ? take(8 * results) : 0,
    strata: take(padded * batch * 8),
    offsets: take(padded * batch * 8),
    jacobian: take(batch * 8),
    increments: take(batch * 8),
    pieces: take((batch / 2 + 1) * 8),
    variances: take(cubes * 8),
    means: take(cubes * 8),
    sums: take(8 * nodeWidth(results)),
    squares: take(8),
    histogram: take(dims * bins * 8),
    end: next,
  };
}
