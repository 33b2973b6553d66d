/**
 * Cubes of two samples each, spread evenly over the domain, of which few matter: those with a value so large, at a place where a map
 * is so wide, that no sample through the map was like it (methods/vegas/witness.ts). A device may find them by itself, so that a
 * million means need not come back to the host; for others `heavyCubes` looks at the means.
 */
import { roundKeys, writeWords } from '../random/philox.ts';
import { widthAt } from './map.ts';
import type { NonFinite } from './part.ts';
import type { Ranges } from './region.ts';
import type { AxisMap, SampleSums, SampleTask } from './sample.ts';

/** Which cubes matter. */
export interface HeavyLimits {
  ranges: Ranges;
  /** The map, with so many bins per axis. */
  map: AxisMap;
  bins: number;
  /** Weights above this matter. A weight is |m| + √(v/2), the larger one of two values with mean m and variance v, in the unit of the task. */
  least: number;
  /** A weight times the Jacobian of the map above this matters. Of the two points of a cube the one with the smaller Jacobian counts. */
  far: number;
}

/** The cubes that matter, in their order. */
export interface HeavyCubes {
  evaluations: number;
  nonFinite: NonFinite | null;
  /** Σ |m| over all cubes, in units of the task. */
  sum: number;
  cubes: readonly number[];
  weights: readonly number[];
  jacobians: readonly number[];
}

/** Finds the heavy cubes of a task by the means and variances of all of them. */
export async function heavyCubes(
  task: SampleTask,
  { means, variances, evaluations, nonFinite }: SampleSums,
  { ranges, least, far }: HeavyLimits,
  edges: () => Promise<Float64Array>,
): Promise<HeavyCubes> {
  const { unit } = task;
  const candidates: number[] = [];
  let sum = 0;
  for (let cube = 0; cube < means!.length; cube++) {
    sum += Math.abs(means![cube]);
    if (weightOf(means![cube], variances![cube], unit) > least) candidates.push(cube);
  }
  const found = { evaluations, nonFinite, sum, cubes: [], weights: [], jacobians: [] };
  if (candidates.length === 0) return found;
  const jacobian = jacobiansOf(task, ranges, await edges());
  const [cubes, weights, jacobians]: number[][] = [[], [], []];
  for (const cube of candidates) {
    const weight = weightOf(means![cube], variances![cube], unit);
    const enough = far / weight;
    const first = jacobian(cube, 0, enough);
    const smaller = first > enough ? Math.min(first, jacobian(cube, 1, enough)) : 0;
    if (!(smaller > enough)) continue;
    cubes.push(cube);
    weights.push(weight);
    jacobians.push(smaller);
  }
  return { ...found, cubes, weights, jacobians };
}

const weightOf = (mean: number, variance: number, unit: number): number =>
  unit * (Math.abs(mean) + Math.sqrt(variance / 2));

/**
 * The Jacobians of a map at the points of a task: that of point 0 or 1 of a cube, or 0 when it is no more than `least`. For most that is known
 * before the last axis, and the random words of further ones are not drawn.
 */
function jacobiansOf(
  { key, iteration, stream, strata }: SampleTask,
  ranges: Ranges,
  edges: Float64Array,
): (cube: number, i: number, least: number) => number {
  const dims = ranges.length;
  const bins = edges.length / dims - 1;
  const keys = roundKeys(key);
  const words = new Uint32Array(4);
  const width = ranges.map((_, d) => widthAt(edges.subarray(d * (bins + 1), (d + 1) * (bins + 1))));
  // at most so much comes from the axes from d on
  const rest = new Float64Array(dims + 1).fill(1);
  for (let d = dims - 1; d >= 0; d--) {
    let widest = 0;
    for (let at = d * (bins + 1); at < d * (bins + 1) + bins; at++)
      widest = Math.max(widest, edges[at + 1] - edges[at]);
    rest[d] = rest[d + 1] * bins * widest;
  }
  return (cube, i, least) => {
    if (rest[0] <= least) return 0;
    let jacobian = 1;
    let left = cube;
    for (let d = 0; d < dims; d++) {
      if (d % 4 === 0) writeWords(words, 2 * cube + i, d >> 2, iteration, stream, keys);
      const k = left % strata[d];
      left = Math.floor(left / strata[d]);
      const [from, to] = ranges[d];
      jacobian *= bins * width[d](from + ((k + (words[d & 3] + 0.5) * 2 ** -32) / strata[d]) * (to - from));
      if (jacobian * rest[d + 1] <= least) return 0;
    }
    return jacobian;
  };
}
