/**
 * Which part of the samples of an iteration the histogram counts (tasks/counted.ts). All of them, unless there are many, and until an iteration
 * has shown that many of them carry the variance: before the map has found a peak, the few samples that meet it are all there is to learn
 * from.
 */
import { intrinsics } from '../../integrand/math/kit.ts';
import { PIECE } from '../../tasks/pieces.ts';
import type { Estimate } from '../combine.ts';

/**
 * Samples that count, at least: 16,384 for each of 1,024 bins. With 4,096 of them the errors of iterations of 2e7 samples that followed were larger by
 * 6 % on a sum of 10 coordinates, whose residual variance is so small that noise of the map is seen; by 1 % on a product of 10 cosines, by none on
 * f4 (_trial_).
 */
const ENOUGH = 2 ** 24;
/** Of those that carry the variance, at least: 4,096 per bin. */
const ENOUGH_CARRIERS = 2 ** 22;
/** One sample of so many counts, at least: counting fewer saves no time that could be measured. */
const MOST_SKIPPED = 16;

/** The limit of blocks that count (tasks/counted.ts), where not all do. A power of two: devices that differ in the last digits of `carriers` find the same. */
export function limitFor(evaluations: number, carriers: number): { limit?: number } {
  const most = Math.min(evaluations / ENOUGH, carriers / ENOUGH_CARRIERS, MOST_SKIPPED);
  return most < 2 ? {} : { limit: 2 ** (32 - intrinsics.exponent(most)) };
}

/** The effective number of samples that carry the variance of an iteration; of several results, that of the fewest. */
export function carriersIn(estimate: Estimate, cubes: number): number {
  const { evaluations, results } = estimate;
  const pieces = Math.max(cubes, evaluations / PIECE);
  const sampled = (results?.each ?? [estimate]).filter(e => !Number.isNaN(e.value)).map(e => e.carriers ?? 0);
  // infinitely many carry a variance of 0: of a result that was 0 at all samples, which may have been overlooked
  return evaluations * Math.min(1, ...sampled.map(n => (n < Infinity ? n / pieces : 0)));
}
