/**
 * Lists of regions as a structure of arrays, which is how devices take them. A region is a part of the box that halving
 * axes makes; it is stored as its centre and the number of halvings per axis. So half-widths are exact, and siblings share
 * their border.
 */
import type { Ranges } from '../region.ts';

export interface Regions {
  count: number;
  /** `count` numbers per axis. */
  centres: Float64Array;
  levels: Uint8Array;
  /** Filled by an evaluation; with several results one after the other: that of result r is at r · count + i. */
  values: Float64Array;
  errors: Float64Array;
  axes: Uint8Array;
}

/** 2^−level. Computing a power takes longer than all else that is done with it. */
export const HALVED = Float64Array.from({ length: 256 }, (_, level) => 2 ** -level);

/** Halvings per axis, at most: with more, a half-width is too small to tell points apart, wherever the box is. */
const MAX_LEVEL = 250;

/** Bytes per region in a list; with the tree of halvings, two nodes of the tree more; each further result has a column. */
export const bytesOf = (dims: number, tree = false, results = 1): number =>
  9 * dims + 25 + (tree ? 34 : 0) + (results > 1 ? 8 + 19 * (results - 1) : 0);

/** The number of regions that fit into `memory` bytes; by default, into a quarter of the machine's memory. */
export function regionsIn(memory: number | undefined, dims: number, tree = false, results = 1): number {
  const bytes = memory ?? quarterOfMemory();
  // three times the list: a list that grows is in memory twice for a moment, and the halves of its regions come on top
  return Math.floor(bytes / (3 * bytesOf(dims, tree, results)));
}

let quarter = 0;

/** Asked once: a scan has thousands of pools. */
function quarterOfMemory(): number {
  const node = typeof process === 'object' && !!process.versions?.node;
  quarter ||= node ? process.getBuiltinModule('node:os').totalmem() / 4 : 2 ** 30;
  return quarter;
}

export function emptyRegions(dims: number, count: number): Regions {
  return {
    count,
    centres: new Float64Array(dims * count),
    levels: new Uint8Array(dims * count),
    values: new Float64Array(0),
    errors: new Float64Array(0),
    axes: new Uint8Array(0),
  };
}

/** The box with every axis halved `level` times: (2^level)^n regions, the first axis fastest. */
export function uniformSplit(ranges: Ranges, level: number): Regions {
  const parts = 2 ** level;
  const regions = emptyRegions(ranges.length, parts ** ranges.length);
  const { count } = regions;
  regions.levels.fill(level);
  ranges.forEach(([low, high], d) => {
    const half = (high - low) / 2 / parts;
    const stride = parts ** d;
    for (let i = 0; i < count; i++) {
      const k = Math.floor(i / stride) % parts;
      regions.centres[d * count + i] = low + (2 * k + 1) * half;
    }
  });
  return regions;
}

/** Whether a region can still be halved, along the axis of each result: the centres of its halves differ from its own. */
export function canSplit(regions: Regions, region: number, ranges: Ranges): boolean {
  const { count, axes, levels, centres } = regions;
  for (let own = region; own < axes.length; own += count) {
    const axis = axes[own];
    const at = axis * count + region;
    if (!canHalve(centres[at], levels[at], ranges[axis])) return false;
  }
  return true;
}

/** Whether the centres of the halves along an axis differ from the centre of the whole, which was halved `level` times. */
export function canHalve(centre: number, level: number, [low, high]: readonly [number, number]): boolean {
  const offset = ((high - low) / 2) * HALVED[level + 1];
  return level + 1 < MAX_LEVEL && centre + offset / 4 !== centre;
}
