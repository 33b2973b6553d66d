/** Regions of a pool as the host reads them: for the noise of a run, and to name a point where the integrand is not finite. */
import type { NonFinite } from '../../tasks/part.ts';
import { type Ranges, volumeOf } from '../../tasks/region.ts';
import type { Gpu } from './gpu.ts';
import type { Points } from './points.ts';
import { timesVolume } from './pool-sums.ts';

/** Regions of the pool, read back. */
export interface ReadRegions {
  count: number;
  /** As in RegionTask. */
  centres: Float64Array;
  levels: Uint8Array;
  values: Float64Array;
}

/** Where regions are. */
export interface Geometry {
  places: GPUBuffer;
  levels: GPUBuffer;
  state: GPUBuffer;
}

/** Reads the region at a place. */
export async function readRegion(gpu: Gpu, at: Geometry, slot: number, ranges: Ranges): Promise<ReadRegions> {
  const [dims, rows] = [ranges.length, Math.ceil(ranges.length / 4)];
  const read = await gpu.read([
    { buffer: at.places, from: 8 * dims * slot, bytes: 8 * dims },
    { buffer: at.levels, from: 4 * rows * slot, bytes: 4 * rows },
    { buffer: at.state, from: 16 * slot, bytes: 16 },
  ]);
  const places = new Uint32Array(read[0]);
  const levels = new Uint8Array(read[1]).slice(0, dims);
  const centres = Float64Array.from(ranges, ([low, high], d) => {
    const place = places[2 * d + 1] * 2 ** -32 + places[2 * d] * 2 ** -64;
    return low + place * (high - low);
  });
  const depth = levels.reduce((a, b) => a + b, 0);
  const value = timesVolume(new Float32Array(read[2])[0], volumeOf(ranges), -depth);
  return { count: 1, centres, levels, values: Float64Array.of(value) };
}

/** Regions that were read one by one. */
export function joinedRegions(regions: readonly ReadRegions[], dims: number): ReadRegions {
  const count = regions.length;
  return {
    count,
    centres: Float64Array.from(
      { length: dims * count },
      (_, i) => regions[i % count].centres[Math.floor(i / count)],
    ),
    levels: Uint8Array.from(
      { length: dims * count },
      (_, i) => regions[i % count].levels[Math.floor(i / count)],
    ),
    values: Float64Array.from(regions, r => r.values[0]),
  };
}

/** The first point of a rule, in a region, where the integrand is not finite. */
export async function firstWrongPoint(
  { centres, levels }: ReadRegions,
  rulePoints: readonly (readonly number[])[],
  ranges: Ranges,
  points: Points,
  signal: AbortSignal | undefined,
): Promise<NonFinite['first']> {
  const n = rulePoints.length;
  const places = new Float64Array(ranges.length * n);
  rulePoints.forEach((point, p) => {
    point.forEach((t, d) => {
      const half = ((ranges[d][1] - ranges[d][0]) / 2) * 2 ** -levels[d];
      places[d * n + p] = centres[d] + t * half;
    });
  });
  const values = await points.evaluate(places, n, signal);
  const first = Math.max(
    0,
    values.findIndex(v => !Number.isFinite(v)),
  );
  const value = Number.isFinite(values[first]) ? Number.NaN : values[first];
  return { point: ranges.map((_, d) => places[d * n + first]), value };
}
