/**
 * The samples of the cubes that some groups need, cut out of those of all cubes. Another machine that does a part of an
 * iteration takes these only: of a million cubes, eight machines with five parts each would otherwise be sent 8 MB, check each
 * number, and walk from the first cube to their own for every part.
 *
 * Groups from a to b take the cubes from that of sample a·size to that of sample b·size: where a group begins depends
 * on the pieces of the cube in which its first sample lies (pieces.ts).
 */
import type { Part } from './part.ts';
import type { Counts } from './sample.ts';

/** Which cubes a list of counts has, when it does not have all. */
export interface CountsWindow {
  /** The first cube of the list. */
  cube: number;
  /** Samples of all cubes before it. */
  before: number;
  /** Samples of all cubes. */
  total: number;
}

/** What a part of the groups needs of counts. */
export type PartCounts = { each: Uint32Array; window: CountsWindow };

/** Cuts counts for parts, whose groups have `size` samples; fastest if parts are asked for in ascending order. */
export function countsCutter(each: Uint32Array, size: number): (part: Part) => PartCounts {
  const total = totalOf(each);
  let [at, samples] = [0, 0];
  /** The first cube that ends behind a sample, or the end of all. */
  const seek = (sample: number) => {
    let [cube, before] = sample < samples ? [0, 0] : [at, samples];
    while (cube < each.length && before + each[cube] <= sample) before += each[cube++];
    [at, samples] = [cube, before];
  };
  return ({ first, count }) => {
    seek(first * size);
    const window = { cube: at, before: samples, total };
    seek((first + count) * size);
    return { each: each.slice(window.cube, at + 1), window };
  };
}

/** Whether counts have what a part needs, in groups of `size` samples. */
export function coversPart(
  { each, window }: Counts & { each: Uint32Array },
  part: Part,
  size: number,
  cubes: number,
): boolean {
  if (!window) return each.length === cubes;
  const first = part.first * size;
  const end = window.before + totalOf(each);
  const toTheEnd = window.cube + each.length === cubes && end === window.total;
  return window.before <= first && (toTheEnd || end > first + part.count * size);
}

/** A plain loop: there may be a million cubes. */
export function totalOf(each: Uint32Array): number {
  let total = 0;
  for (let i = 0; i < each.length; i++) total += each[i];
  return total;
}
