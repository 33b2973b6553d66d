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
  errors: Float64Array;
}

/** Where regions are. */
export interface Geometry {
  places: GPUBuffer;
  levels: GPUBuffer;
  state: GPUBuffer;
}

/** Reads the regions at some places. */
export async function readRegions(
  gpu: Gpu,
  at: Geometry,
  slots: ArrayLike<number>,
  ranges: Ranges,
): Promise<ReadRegions> {
  const [dims, rows, count] = [ranges.length, Math.ceil(ranges.length / 4), slots.length];
  const read = await gpu.read(
    Array.from(slots).flatMap(slot => [
      { buffer: at.places, from: 8 * dims * slot, bytes: 8 * dims },
      { buffer: at.levels, from: 4 * rows * slot, bytes: 4 * rows },
      { buffer: at.state, from: 16 * slot, bytes: 16 },
    ]),
  );
  const volume = volumeOf(ranges);
  const centres = new Float64Array(dims * count);
  const levels = new Uint8Array(dims * count);
  const values = new Float64Array(count);
  const errors = new Float64Array(count);
  for (let i = 0; i < count; i++) {
    const places = new Uint32Array(read[3 * i]);
    const own = new Uint8Array(read[3 * i + 1]);
    let depth = 0;
    ranges.forEach(([low, high], d) => {
      const place = places[2 * d + 1] * 2 ** -32 + places[2 * d] * 2 ** -64;
      centres[d * count + i] = low + place * (high - low);
      levels[d * count + i] = own[d];
      depth += own[d];
    });
    const [value, error] = new Float32Array(read[3 * i + 2]);
    values[i] = timesVolume(value, volume, -depth);
    errors[i] = timesVolume(error, volume, -depth);
  }
  return { count, centres, levels, values, errors };
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
