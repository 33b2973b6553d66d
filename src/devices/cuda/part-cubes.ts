/** What cubes contribute to the groups of a part of an iteration: the host adds pieces in the order of `fold` in kernels/allocate.cu. */
import type { Part } from '../../tasks/part.ts';
import { PIECE, piecesOf, placeFinder } from '../../tasks/pieces.ts';
import type { CubeSums, PlainTask } from '../../tasks/sample.ts';
import { MANY_PIECES } from './learning.ts';

/** `read` gives the variances, and the means where these are wanted, of pieces `from` to `to`. A group has `size` samples. */
export function partCubes(
  counts: PlainTask['counts'],
  cubes: number,
  size: number,
  part: Part,
  read: (from: number, to: number) => Float64Array[],
): CubeSums {
  const countOf = typeof counts === 'number' ? () => counts : (cube: number) => counts.each[cube];
  const place = placeFinder(counts, cubes);
  const places = Array.from({ length: part.count + 1 }, (_, g) => place((part.first + g) * size));
  const [from, to] = [places[0].piece, places[part.count].piece];
  const lists = read(from, to);
  const starts = new Uint32Array(part.count + 1);
  const sums: number[][] = lists.map(() => []);
  for (let g = 0; g < part.count; g++) {
    const end = places[g + 1];
    let { cube, offset, piece } = places[g];
    while (cube < end.cube || (cube === end.cube && offset < end.offset)) {
      const last =
        cube === end.cube ? end.piece : piece + piecesOf(countOf(cube)) - Math.ceil(offset / PIECE);
      lists.forEach((list, l) => {
        sums[l].push(sumOf(list.subarray(piece - from, last - from)));
      });
      [cube, offset, piece] = [cube + 1, 0, last];
    }
    starts[g + 1] = sums[0].length;
  }
  const [variances, means] = sums.map(s => Float64Array.from(s));
  return {
    first: Uint32Array.from(places.slice(0, -1), p => p.cube),
    starts,
    variances,
    means: means ?? null,
  };
}

/** The sum over the pieces of a cube in a group. */
function sumOf(pieces: Float64Array): number {
  if (pieces.length <= MANY_PIECES) return pieces.reduce((a, b) => a + b, 0);
  const lanes = new Float64Array(32);
  pieces.forEach((v, i) => {
    lanes[i % 32] += v;
  });
  for (let step = 16; step >= 1; step /= 2) for (let l = 0; l < step; l++) lanes[l] += lanes[l + step];
  return lanes[0];
}
