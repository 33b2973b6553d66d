/**
 * Slices of pieces. In a small task there are few pieces, and one thread for each of them would leave a GPU idle: on an H200 an iteration of
 * f4 in 8 dimensions with 5,000 samples took 1.4 ms, since a thread had up to 287 samples, one after another. So there a thread of the kernel of
 * samples has a slice of a piece, and writes the sums of that slice, about its own first weights. The kernel here puts the slices of a piece
 * together in their order, and adds the piece to its window.
 *
 * Slices have places in a list: p pieces before a piece, which have s samples, have at most p + ⌊s/SLICE⌋ slices, and that is where the
 * slices of the piece begin. So a thread finds its slice by the number of its place, and at most one place per piece is empty.
 *
 * Iterations that differ by their number only are dispatched together, as rows of threads: on a GPU they take about as long as one.
 */
import { PIECE } from '../../../tasks/pieces.ts';
import { recordOf } from './fold.ts';
import { SUMS } from './numbers.ts';
import { addPiece, SUMS_OF_WINDOW, writeWindow } from './piece-sums.ts';
import { TASK, TASK_VECTORS } from './sample-words.ts';
import { nextPiece, openWindow, PIECE_NUMBER, WINDOWS } from './windows.ts';

/** Samples of a slice; the last one of a piece may have fewer. */
export const SLICE = 8;
/** Threads of a workgroup. */
export const JOIN_THREADS = 64;

/** Words of what is written of a slice: pivots, sums, products, squares; values that were not finite, and the first of them. */
export function sliceOf(results: number) {
  const pairs = (results * (results + 1)) / 2;
  const products = 2 * results;
  const squares = products + pairs;
  return {
    sums: results,
    products,
    squares,
    wrong: squares + 1,
    firstWrong: squares + 2,
    words: squares + 3,
  };
}

/** Places of slices that pieces with so many samples in all take, at most. */
export const placesOfSlices = (pieces: number, samples: number): number =>
  pieces + Math.ceil(samples / SLICE);

/** The place of the first slice of a piece, by the pieces and the samples before it. */
export const FIRST_SLICE = /* wgsl */ `
fn firstSlice(piece: u32, sample: u32) -> u32 { return piece + sample / ${SLICE}u; }
`;

/**
 * Finds the slice of a thread: `m` samples, of which the first is `own` samples behind that of the first group of the dispatch; 0 samples where
 * a place is empty or of no group of the dispatch.
 */
export const FIND_SLICE = /* wgsl */ `let cubes = taskWord(CUBES);
  let perCube = taskWord(COUNT);
  let group = groups[taskWord(FIRST_GROUP)];
  // where the first piece of the first group begins
  var cube = group.x;
  var full = countOf(cube);
  let offset = startOf(pieceFrom(group.y, full), full);
  var place = thread.x;
  var average = 1.0;
  if (perCube > 0u) {
    let pieces = piecesOf(full);
    place += firstSlice(cube * pieces + pieceFrom(group.y, full), cube * full + offset);
    // c·pieces + ⌊c·full/SLICE⌋ places are before cube c
    cube = min(cubes - 1u, (${SLICE}u * place + ${SLICE - 1}u) / (${SLICE}u * pieces + full));
  } else {
    average = f32(before[cubes].y) / f32(cubes);
    place += firstSlice(before[cube].x + pieceFrom(group.y, full), before[cube].y + offset);
    // the last cube with this place or one before
    var high = min(cubes, groups[taskWord(FIRST_GROUP) + (taskWord(WINDOWS) >> taskWord(GROUP_BITS))].x + 1u);
    while (high > cube + 1u) {
      let middle = cube + (high - cube) / 2u;
      if (firstSlice(before[middle].x, before[middle].y) <= place) { cube = middle; } else { high = middle; }
    }
    full = countOf(cube);
  }
  var earlier = vec2<u32>(cube * piecesOf(full), cube * full);
  if (perCube == 0u) { earlier = before[cube]; }
  // whole pieces have PIECE samples, and the last one may begin two before that
  var j = min(piecesOf(full) - 1u, (place - firstSlice(earlier.x, earlier.y)) / ${1 + PIECE / SLICE}u);
  if (j + 1u < piecesOf(full) && place >= firstSlice(earlier.x + j + 1u, earlier.y + startOf(j + 1u, full))) { j++; }
  let start = earlier.y + startOf(j, full);
  let first = ${SLICE}u * (place - firstSlice(earlier.x + j, start));
  let size = startOf(j + 1u, full) - startOf(j, full);
  let isOwn = start - group.z < (taskWord(WINDOWS) << taskWord(WINDOW_BITS));
  let m = select(0u, min(${SLICE}u, size - min(size, first)), isOwn);
  let own = start + first - group.z;`;

/** Writes the sums of a slice. */
export function writeSlice(results: number): string {
  const { sums, products, squares, wrong, firstWrong, words } = sliceOf(results);
  return /* wgsl */ `let out = (place + thread.y * taskWord(PLACES)) * ${words}u;
    for (var r = 0u; r < RESULTS; r++) {
      records[out + r] = bitcast<u32>(pivot[r]);
      records[out + ${sums}u + r] = bitcast<u32>(sum[r]);
    }
    for (var k = 0u; k < PAIRS; k++) { records[out + ${products}u + k] = bitcast<u32>(product[k]); }
    records[out + ${squares}u] = bitcast<u32>(squares);
    records[out + ${wrong}u] = wrong;
    records[out + ${firstWrong}u] = group.z + firstWrong;`;
}

/** Puts the slices of pieces together; a thread has a window. */
export function joinKernel(results: number): string {
  const own = sliceOf(results);
  const { floats } = recordOf(results);
  const number = (at: string) => `bitcast<f32>(slices[${at}])`;
  return /* wgsl */ `
@group(0) @binding(0) var<storage, read> slices: array<u32>;
@group(0) @binding(1) var<uniform> words: array<vec4<u32>, ${TASK_VECTORS}>;
@group(0) @binding(2) var<storage, read> groups: array<vec4<u32>>;
@group(0) @binding(3) var<storage, read> before: array<vec2<u32>>;
@group(0) @binding(4) var<storage, read_write> records: array<u32>;
@group(0) @binding(5) var<storage, read_write> ofPieces: array<vec2<f32>>;

${Object.entries({ ...TASK, RESULTS: results, PAIRS: own.squares - own.products, FLOATS: floats })
  .map(([name, value]) => `const ${name} = ${value}u;`)
  .join('\n')}
${SUMS}
${WINDOWS}
${FIRST_SLICE}
@compute @workgroup_size(${JOIN_THREADS})
fn main(@builtin(global_invocation_id) thread: vec3<u32>) {
  let leads = taskWord(LEADS);
  ${openWindow('thread.x')}
  ${SUMS_OF_WINDOW}
  // with explicit zeros: SwiftShader keeps the numbers of the turn before where a \`var\` has none
  var pivot = array<f32, RESULTS>();
  var sum = array<f32, RESULTS>();
  var product = array<f32, PAIRS>();
  var off = array<f32, RESULTS>();
  while (working) {
    let start = startOf(j, full);
    let m = startOf(j + 1u, full) - start;
    ${PIECE_NUMBER}
    let first = firstSlice(piece, group.z + begin + start) + thread.y * taskWord(PLACES);
    let last = first + (m - 1u) / ${SLICE}u;
    for (var slice = first; slice <= last; slice++) {
      let at = slice * ${own.words}u;
      let n = f32(min(${SLICE}u, m - (slice - first) * ${SLICE}u));
      if (slice == first) {
        for (var r = 0u; r < RESULTS; r++) {
          pivot[r] = ${number('at + r')};
          sum[r] = 0.0;
        }
        for (var k = 0u; k < PAIRS; k++) { product[k] = 0.0; }
      }
      // with u a difference from the pivot of the slice, u + off is one from the pivot of the piece
      for (var r = 0u; r < RESULTS; r++) { off[r] = ${number('at + r')} - pivot[r]; }
      var pair = 0u;
      for (var r = 0u; r < RESULTS; r++) {
        let ownSum = ${number(`at + ${own.sums}u + r`)};
        for (var s = 0u; s <= r; s++) {
          product[pair] += ${number(`at + ${own.products}u + pair`)} + (off[s] * (ownSum + n * off[r]) + off[r] * ${number(`at + ${own.sums}u + s`)});
          pair++;
        }
        sum[r] += ownSum + n * off[r];
      }
      spread[FLOATS - 1u] += ${number(`at + ${own.squares}u`)};
      let slicesWrong = slices[at + ${own.wrong}u];
      wrong += slicesWrong;
      // numbers of samples are counted from the group on
      firstWrong = min(firstWrong, select(0xffffffffu, slices[at + ${own.firstWrong}u] - group.z, slicesWrong > 0u));
    }
    ${addPiece(results)}
    ${nextPiece()}
  }
  ${writeWindow('thread.x', results, 'thread.y * taskWord(WINDOWS)')}
}
`;
}
