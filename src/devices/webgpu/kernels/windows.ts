/**
 * How threads walk over the pieces of a window of samples, for kernels. What both kernels of samples declare in their `main`: `group`, `begin`
 * (where the cube begins, counted from the first sample of the group), `full` (the samples of the cube), `cube`, `j` (the piece in the cube), and
 * `working`, as long as there is a piece left.
 */
import { PIECES } from './pieces.ts';

/** Declarations that the walk needs, besides the bindings `words`, `groups` and `before`. */
export const WINDOWS = /* wgsl */ `${PIECES}
fn taskWord(i: u32) -> u32 { return words[i >> 2u][i & 3u]; }

fn countOf(cube: u32) -> u32 {
  var count = taskWord(COUNT);
  if (count == 0u) { count = before[cube + 1u].y - before[cube].y; }
  return count;
}
`;

/** Goes to the first piece of a window. Where cubes have their own counts, `average` is what they have on average. */
export const openWindow = (window: string): string => /* wgsl */ `let cubes = taskWord(CUBES);
  let perCube = taskWord(COUNT);
  let number = taskWord(FIRST_GROUP) + (${window} >> taskWord(GROUP_BITS));
  let group = groups[number];
  // samples are counted from the first one of the group
  let opens = (${window} & ((1u << taskWord(GROUP_BITS)) - 1u)) << taskWord(WINDOW_BITS);
  let ends = opens + (1u << taskWord(WINDOW_BITS));
  var average = 1.0;
  var cube = group.x;
  var offset = group.y + opens;
  if (perCube > 0u) {
    cube += offset / perCube;
    offset %= perCube;
  } else {
    average = f32(before[cubes].y) / f32(cubes);
    // the last cube that begins with the window or before
    var high = groups[number + 1u].x + 1u;
    while (high > cube + 1u) {
      let middle = cube + (high - cube) / 2u;
      if (before[middle].y - group.z <= opens) { cube = middle; } else { high = middle; }
    }
    offset = opens - (before[cube].y - group.z);
  }
  // where the cube begins: for the first one mostly before the group, a difference below 0
  var begin = opens - offset;
  var full = 0u;
  var j = 0u;
  if (cube < cubes) {
    full = countOf(cube);
    j = pieceFrom(offset, full);
    if (j == piecesOf(full)) {
      begin += full;
      cube++;
      j = 0u;
      if (cube < cubes) { full = countOf(cube); }
    }
  }
  var working = ${window} < taskWord(WINDOWS) && cube < cubes && begin + startOf(j, full) < ends;`;

/** Goes to the next piece. `nextCube`: what else has to be done where that is in the next cube. */
export const nextPiece = (nextCube = ''): string => /* wgsl */ `j++;
    if (j == piecesOf(full)) {
      begin += full;
      cube++;
      j = 0u;
      if (cube < cubes) { full = countOf(cube); }
      ${nextCube}
    }
    working = cube < cubes && begin + startOf(j, full) < ends;`;

/** The number of the piece among those of all cubes. */
export const PIECE_NUMBER = /* wgsl */ `var piece = cube * piecesOf(full) + j;
    if (perCube == 0u) { piece = before[cube].x + j; }`;
