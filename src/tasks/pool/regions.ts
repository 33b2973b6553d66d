/**
 * Lists of regions as structure of arrays, as devices take them. A region is a part of the box that came out of halving
 * axes: its centre, and how often each axis was halved. So half-widths are exact, and siblings share their border.
 */
import type { Ranges } from '../region.ts';

export interface Regions {
  count: number;
  /** `count` numbers an axis. */
  centres: Float64Array;
  levels: Uint8Array;
  /** Filled by an evaluation. */
  values: Float64Array;
  errors: Float64Array;
  axes: Uint8Array;
}

/** The deepest level: below it a half-width is too small to tell points apart, wherever the box is. */
const DEEPEST = 250;

/** Bytes that a list takes for one region; with the tree of halvings as much as two of its nodes more. */
export const bytesOf = (dims: number, tree = false): number => 9 * dims + 25 + (tree ? 34 : 0);

/** Regions that fit into so many bytes; by default into a quarter of the machine's memory. */
export function regionsIn(memory: number | undefined, dims: number, tree = false): number {
  const node = typeof process === 'object' && !!process.versions?.node;
  const bytes = memory ?? (node ? process.getBuiltinModule('node:os').totalmem() / 4 : 2 ** 30);
  // a list that grows is there twice for a moment, and halves come beside it
  return Math.floor(bytes / (3 * bytesOf(dims, tree)));
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

/** Whether a region can still be halved: its halves have other centres. */
export function canSplit(regions: Regions, region: number, ranges: Ranges): boolean {
  const axis = regions.axes[region];
  const at = axis * regions.count + region;
  const level = regions.levels[at] + 1;
  const offset = ((ranges[axis][1] - ranges[axis][0]) / 2) * 2 ** -level;
  return level < DEEPEST && regions.centres[at] + offset / 4 !== regions.centres[at];
}
