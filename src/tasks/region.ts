/** Tasks of regions: a cubature rule applied to a list of regions, as data that can be cloned and sent. */
import { inOrder, mergeNonFinite, type NonFinite, type Part } from './part.ts';
import type { RuleName } from './rules.ts';

/** Low and high end of each axis of a box. */
export type Ranges = readonly (readonly [number, number])[];

/** Regions of a box: each axis of the box was halved `levels` times, down to the part around the centre. */
export interface RegionTask {
  /** The cubature rule. */
  rule: RuleName;
  /** The box. */
  ranges: Ranges;
  /** How many regions there are. */
  count: number;
  /** The centres, `count` numbers per axis. */
  centres: Float64Array;
  /** How often each axis was halved, `count` numbers per axis. */
  levels: Uint8Array;
}

/** With several results the lists have one after the other: result r of the i-th region is at r · part.count + i. */
export interface RegionSums {
  /** The regions that were evaluated. */
  part: Part;
  /** The integral over each region by the rule. */
  values: Float64Array;
  /** Its error by the null rules. */
  errors: Float64Array;
  /** The axis along which it should be halved, for this result. */
  axes: Uint8Array;
  /** Values that were not finite; they count as 0. */
  nonFinite: NonFinite | null;
}

/** The volume of a box as mantissa·2^exponent, which neither overflows nor underflows. */
export interface Volume {
  mantissa: number;
  exponent: number;
}

export function volumeOf(ranges: Ranges): Volume {
  let [mantissa, exponent] = [1, 0];
  for (const [low, high] of ranges) {
    const own = Math.floor(Math.log2(high - low));
    mantissa *= (high - low) * 2 ** -Math.floor(own / 2) * 2 ** -Math.ceil(own / 2);
    exponent += own;
  }
  return { mantissa, exponent };
}

/** All regions of a task. */
export const allRegions = ({ count }: { count: number }): Part => ({ first: 0, count });

export function emptyRegionSums(part: Part, results = 1): RegionSums {
  const length = results * part.count;
  return {
    part,
    values: new Float64Array(length),
    errors: new Float64Array(length),
    axes: new Uint8Array(length),
    nonFinite: null,
  };
}

/** The sums of several passes over the same regions, each for some of the results, as those of all results. */
export function joinResults(passes: readonly RegionSums[]): RegionSums {
  if (passes.length === 1) return passes[0];
  const { part } = passes[0];
  const results = passes.reduce((n, p) => n + p.values.length, 0) / part.count;
  const sums = emptyRegionSums(part, results);
  let at = 0;
  for (const { values, errors, axes } of passes) {
    sums.values.set(values, at);
    sums.errors.set(errors, at);
    sums.axes.set(axes, at);
    at += values.length;
  }
  return { ...sums, nonFinite: mergeNonFinite(passes) };
}

/** The sums of parts as those of one part that covers them all. */
export function mergeRegions(whole: Part, parts: Iterable<RegionSums>): RegionSums {
  const sorted = inOrder(parts, whole);
  if (sorted.length === 1) return sorted[0];
  const results = sorted.length > 0 ? sorted[0].values.length / sorted[0].part.count : 1;
  const sums = emptyRegionSums(whole, results);
  for (const { part, values, errors, axes } of sorted) {
    for (let r = 0; r < results; r++) {
      const [at, from, to] = [
        r * whole.count + part.first - whole.first,
        r * part.count,
        (r + 1) * part.count,
      ];
      sums.values.set(values.subarray(from, to), at);
      sums.errors.set(errors.subarray(from, to), at);
      sums.axes.set(axes.subarray(from, to), at);
    }
  }
  return { ...sums, nonFinite: mergeNonFinite(sorted) };
}

/** The regions of a part as a task of their own. */
export function regionsOf(task: RegionTask, { first, count }: Part): RegionTask {
  if (count === task.count) return task;
  const dims = task.ranges.length;
  const centres = new Float64Array(dims * count);
  const levels = new Uint8Array(dims * count);
  for (let d = 0; d < dims; d++) {
    const from = d * task.count + first;
    centres.set(task.centres.subarray(from, from + count), d * count);
    levels.set(task.levels.subarray(from, from + count), d * count);
  }
  return { ...task, count, centres, levels };
}
