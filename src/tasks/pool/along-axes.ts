/**
 * The look along all axes (all-axes.ts tells why) at a few regions that were read from a device's memory: their halves along every axis
 * are evaluated as a list, and what left and right differ by from the whole, over all axes, is an error of the region.
 */
import { allRegions, type RegionSums, type RegionTask } from '../region.ts';
import type { PoolStep, PoolTask } from './pool.ts';
import { canHalve } from './regions.ts';

/** Where regions are selected by their part of all errors: the first of these parts whose regions are few enough; 0 is the one with the largest error. */
export const ALONG_PARTS = [0.9, 0.5, 0.2, 0];
/** Regions of a look, at most: each is read by itself. */
const MOST_REGIONS = 16;

/** Regions that a look along all axes with so many evaluations of regions can have. */
export const regionsAlong = (affordable: number, dims: number): number =>
  Math.min(MOST_REGIONS, Math.floor(affordable / (2 * dims)));

export interface FewRegions extends Pick<RegionTask, 'count' | 'centres' | 'levels'> {
  values: ArrayLike<number>;
  errors: ArrayLike<number>;
}

/** What the error of a region is too small by, and the axis along which it should be halved. */
export interface Missing {
  more: number;
  axis: number;
}

/** What was found: for each region what is missing, or null. */
export interface Along {
  missing: readonly (Missing | null)[];
  /** As in PoolStep. */
  evaluated: number;
  nonFinite: PoolStep['nonFinite'];
}

/** `device`: applies the rule to a list of regions. */
export async function missingAlong(
  { rule, ranges }: PoolTask,
  { count, centres, levels, values, errors }: FewRegions,
  device: { evaluate(task: RegionTask, part: RegionSums['part'], signal?: AbortSignal): Promise<RegionSums> },
  signal?: AbortSignal,
): Promise<Along> {
  const dims = ranges.length;
  const perRegion = 2 * dims;
  const halves: RegionTask = {
    rule,
    ranges,
    count: perRegion * count,
    centres: new Float64Array(dims * perRegion * count),
    levels: new Uint8Array(dims * perRegion * count),
  };
  const isWhole = Array<boolean>(count).fill(true);
  ranges.forEach((range, d) => {
    for (let k = 0; k < count; k++) {
      const [centre, level] = [centres[d * count + k], levels[d * count + k]];
      if (!canHalve(centre, level, range)) isWhole[k] = false;
      const from = d * halves.count + k * perRegion;
      halves.centres.fill(centre, from, from + perRegion);
      halves.levels.fill(level, from, from + perRegion);
      const offset = ((range[1] - range[0]) / 2) * 2 ** -(level + 1);
      for (const [half, side] of [-1, 1].entries()) {
        halves.centres[from + 2 * d + half] += side * offset;
        halves.levels[from + 2 * d + half]++;
      }
    }
  });
  const { values: found, nonFinite } = await device.evaluate(halves, allRegions(halves), signal);
  const missing = isWhole.map((whole, k) => {
    let [sum, most, axis] = [0, 0, 0];
    for (let a = 0; a < dims; a++) {
      const left = k * perRegion + 2 * a;
      const off = Math.abs(found[left] + found[left + 1] - values[k]);
      sum += off;
      if (off > most) [most, axis] = [off, a];
    }
    return whole && sum > errors[k] ? { more: sum - errors[k], axis } : null;
  });
  return { missing, evaluated: halves.count, nonFinite };
}
