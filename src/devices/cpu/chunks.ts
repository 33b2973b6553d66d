/** The groups of an iteration as chunks for the sampler: their cubes, the samples per cube, and the first sample. */
import type { Part } from '../../tasks/part.ts';
import { PIECE, placeFinder } from '../../tasks/pieces.ts';
import { cubesOf, type PlainTask, plan } from '../../tasks/sample.ts';
import type { Chunk } from './sampler.ts';

/** Cubes per chunk, at most, with two samples each; the memory of an engine has room for this many. */
export const MAX_CUBES = 2 ** 15;
/** Shifts of a lattice per chunk, at most, with PIECE samples each; a chunk may begin in the middle of one. */
export const MAX_SHIFTS = 2 ** 16 / PIECE + 1;

/** One chunk per group of the part; `index` is the group's number. */
export function* chunksOf(task: PlainTask, part: Part): Generator<Chunk> {
  const { size } = plan(task);
  const { counts } = task;
  const place = placeFinder(counts, cubesOf(task));
  const shift = typeof counts === 'number' ? 0 : (counts.window?.cube ?? 0);
  let from = place(part.first * size);
  for (let index = part.first; index < part.first + part.count; index++) {
    const to = place((index + 1) * size);
    const cubes = to.cube - from.cube + (to.offset > 0 ? 1 : 0);
    const chunk = { index, firstCube: from.cube, firstSample: from.sample, cubes };
    if (typeof counts === 'number' && counts <= PIECE) yield { ...chunk, take: counts, full: counts };
    else {
      const full =
        typeof counts === 'number'
          ? new Uint32Array(cubes).fill(counts)
          : counts.each.slice(from.cube - shift, from.cube - shift + cubes);
      const take = full.slice();
      if (to.offset > 0) take[cubes - 1] = to.offset;
      if (from.offset > 0) take[0] -= from.offset;
      yield { ...chunk, take, full };
    }
    from = to;
  }
}
