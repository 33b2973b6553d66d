/**
 * How far the values of a GPU, in float32, are from those of float64: both are computed at some points of the last task, the latter on the
 * calling thread. The mean of their differences is the error of an integral; it is known to its standard deviation. So the noise is
 * what is seen, twice what may be hidden in its scatter, and what the map and the sums of the kernels round.
 *
 * Rounded coordinates, params and constants, functions near their poles, differences of large numbers, values beyond float32: all of
 * these are in it, and no bound for a program has to be known.
 */
import { type CompiledProgram, resultCount } from '../../integrand/bound.ts';
import { drawSamples } from '../../tasks/draw.ts';
import type { RegionSums, RegionTask } from '../../tasks/region.ts';
import { plainTask, type SampleTask, samplesOf } from '../../tasks/sample.ts';
import { float64Values } from './float64-values.ts';
import type { Points } from './points.ts';
import type { WebGpuPool } from './pool.ts';
import { ruleValues } from './rule-values.ts';

/**
 * Points that are compared: an eighth of what the task has, whose own error hides what fewer points leave open, within these limits. The most
 * take a millisecond of the calling thread for most integrands.
 */
const FEWEST_SAMPLES = 256;
const MOST_SAMPLES = 2048;
/** Regions of a list that are compared, those with the largest values. */
const REGIONS = 8;
/** What kernels round besides values, relative to Σ |w|, in epsilons: the coordinates of a point in its bin, the Jacobian, pieces. */
const KERNEL_EPSILONS = 2;

/** The noise of the integral of each result, from samples through the map of a task. */
export async function sampleNoise(
  task: SampleTask,
  integrand: CompiledProgram,
  points: Points,
  epsilon: number,
  signal?: AbortSignal,
): Promise<number[]> {
  const count = Math.max(FEWEST_SAMPLES, Math.min(MOST_SAMPLES, Math.ceil(samplesOf(task) / 8)));
  const strata = task.strata.map(() => 1);
  const [drawn] = drawSamples(plainTask({ ...task, strata, counts: count, unit: 1 }), count);
  let double: Float64Array = new Float64Array();
  const single = await points.evaluate(drawn.points, count, signal, () => {
    double = float64Values(integrand, drawn.points, count);
  });
  return Array.from({ length: resultCount(integrand) }, (_, r) => {
    let [sum, squares, size] = [0, 0, 0];
    for (let i = 0; i < count; i++) {
      const [f32, f64] = [single[r * count + i], double[r * count + i]];
      const off = (f32 - f64) * drawn.jacobians[i];
      if (!Number.isFinite(off)) continue; // they are reported as values that are not finite
      sum += off;
      squares += off * off;
      size += Math.abs(f64 * drawn.jacobians[i]);
    }
    const mean = sum / count;
    const deviation = Math.sqrt(Math.max(0, squares / count - mean * mean) / count);
    return Math.abs(mean) + 2 * deviation + (KERNEL_EPSILONS * epsilon * size) / count;
  });
}

/** The noise of Σ values of a list of regions that covers the box, relative to Σ |values|, from the largest of some list. */
export function regionNoise(
  task: RegionTask,
  found: RegionSums,
  integrand: CompiledProgram,
  epsilon: number,
): number {
  const largest = Array.from(found.values.keys())
    .sort((a, b) => Math.abs(found.values[b]) - Math.abs(found.values[a]))
    .slice(0, REGIONS);
  const numbers = largest.map(i => found.part.first + i);
  const values = ruleValues(task, numbers, (points, n) => float64Values(integrand, points, n));
  let [off, size] = [0, 0];
  largest.forEach((i, k) => {
    off += Math.abs(found.values[i] - values[k]);
    size += Math.abs(values[k]);
  });
  return (size > 0 ? off / size : 0) + KERNEL_EPSILONS * epsilon;
}

/** The noise of the value of a pool of regions, from those with the largest values. */
export async function poolNoise(
  pool: WebGpuPool,
  integrand: CompiledProgram,
  epsilon: number,
): Promise<number> {
  if (pool.count === 0) return 0;
  const { rule, ranges } = pool.task;
  const { values, errors, ...regions } = await pool.largest(REGIONS);
  const part = { first: 0, count: regions.count };
  const found = { part, values, errors, axes: regions.levels, nonFinite: null };
  return regionNoise({ rule, ranges, ...regions }, found, integrand, epsilon) * pool.sums.absolute;
}
