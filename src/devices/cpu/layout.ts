/** Where the sampling kernel keeps what in memory; see kernel.ts for what it does with it. */
import { ROUNDS } from '../../random/philox.ts';

/** The corner of stratum 0. */
export const CORNER = 2 ** 20 - 2 ** -33;

/** Where the kernel keeps what, in bytes; its caller fills the first group and reads the last. */
export interface KernelLayout {
  dims: number;
  batch: number;
  bins: number;
  /** Most cubes a chunk can have. */
  cubes: number;
  /** Rows of the integrand: one a coordinate, `batch` numbers each; and the row of values. */
  points: number;
  values: number;

  /** Round keys of Philox, each a vector of four equal words. */
  keys: number;
  /** Words: sample (low, high), iteration, stream, number of cubes, cursor, samples taken of that cube, pieces, stratified. */
  state: number;
  /** bins/strata of each axis; corner of the current cube along each axis; where an axis wraps; its corner 0. */
  scales: number;
  corners: number;
  limits: number;
  /** Edges of the map: bins + 1 numbers a coordinate. */
  edges: number;
  /** Samples to take of each cube of the chunk, and how many it has in all. */
  take: number;
  full: number;
  /** 1/n for n up to batch. */
  reciprocals: number;
  /** Two numbers: the Jacobian's constant factor, and the factor of w² in the histogram. */
  factors: number;

  /** Scratch rows: corners, bins, Jacobian, weights, histogram increments; pieces of the batch. */
  strata: number;
  offsets: number;
  jacobian: number;
  increments: number;
  pieces: number;

  /** Variance and mean of each cube; sum, variance of the sum, its concentration; histogram. */
  variances: number;
  means: number;
  sums: number;
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
};

export function kernelLayout(
  dims: number,
  batch: number,
  bins: number,
  cubes: number,
  points: number,
  values: number,
  base: number,
): KernelLayout {
  let next = Math.ceil(base / 16) * 16;
  const take = (bytes: number) => {
    const at = next;
    next += Math.ceil(bytes / 16) * 16;
    return at;
  };
  const padded = Math.ceil(dims / 4) * 4;
  return {
    dims,
    batch,
    bins,
    cubes,
    points,
    values,
    keys: take(2 * ROUNDS * 16),
    state: take(48),
    scales: take(padded * 8),
    corners: take(padded * 8),
    limits: take(padded * 8),
    edges: take(padded * (bins + 1) * 8),
    take: take(cubes * 4),
    full: take(cubes * 4),
    reciprocals: take((batch + 1) * 8),
    factors: take(16),
    strata: take(padded * batch * 8),
    offsets: take(padded * batch * 8),
    jacobian: take(batch * 8),
    increments: take(batch * 8),
    pieces: take((batch / 2 + 1) * 8),
    variances: take(cubes * 8),
    means: take(cubes * 8),
    sums: take(24),
    histogram: take(dims * bins * 8),
    end: next,
  };
}
