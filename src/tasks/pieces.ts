/**
 * How the samples of an iteration are cut, on every device alike. The samples of all cubes are numbered in the order of the
 * cubes. A cube with more than PIECE samples is cut into pieces of PIECE each; where a single sample would be left for the
 * last piece, the piece before lends it two. A piece has its own mean and variance. A group is all pieces whose first sample
 * has a number from g·size up to, but not including, (g + 1)·size.
 *
 * kernels/sample.cu has the same cuts for a card; its constants come from here.
 */
import type { CountsWindow } from './counts-window.ts';

/** Samples of a piece, at most. */
export const PIECE = 256;
const PIECE_BITS = Math.log2(PIECE);
/** Samples of a group: about a 64th of all, within these limits. Powers of two, as all sizes of groups are. */
const SMALLEST_GROUP = 2 ** 12;
const LARGEST_GROUP = 2 ** 16;
const GROUPS = 64;

export interface Groups {
  groups: number;
  /** Samples of each. */
  size: number;
}

/** The groups of an iteration that has so many samples in all. */
export function groupsOf(samples: number): Groups {
  let size = SMALLEST_GROUP;
  while (size < LARGEST_GROUP && size * GROUPS * Math.SQRT2 < samples) size *= 2;
  return { groups: Math.max(1, Math.ceil(samples / size)), size };
}

/**
 * How many numbers are added one after another in an iteration of so many samples: the pieces of a group, of which each has
 * at least two samples. The relative rounding error of the sum is at most this many epsilons; where all pieces are equal,
 * all additions may round the same way (the constant 1 over [0, 0.001] in cubes of two samples: 4e-14 at 2,048 additions).
 */
export const additionsOf = (samples: number): number => groupsOf(samples).size / 2;

/**
 * The relative rounding error of a sum after so many additions, on a device with that epsilon. Devices in float32 add in integers or
 * in float64, so that only values are rounded.
 */
export const sumRounding = (additions: number, epsilon: number): number =>
  Math.max(additions * 2 ** -53, 4 * epsilon);

/** Pieces of a cube with n samples. */
export const piecesOf = (n: number): number => Math.ceil(n / PIECE);

/** The first sample of the last piece of a cube with n samples. */
function lastStart(n: number): number {
  const last = PIECE * (piecesOf(n) - 1);
  return n % PIECE === 1 && last > 0 ? last - 2 : last;
}

/** Where the first piece begins that does not begin before sample `offset` of a cube with n samples; n when there is none. */
export function pieceFrom(n: number, offset: number): number {
  if (offset > lastStart(n)) return n;
  return Math.min(PIECE * Math.ceil(offset / PIECE), lastStart(n));
}

/** A place in the samples of all cubes, at the beginning of a piece. */
export interface Place {
  cube: number;
  /** Samples of the cube before it. */
  offset: number;
  /** Samples, and pieces, of all cubes before it. */
  sample: number;
  piece: number;
}

/**
 * Finds the first piece that does not begin before a sample; the end of all when there is none. Cubes have `counts` samples
 * each, or their own numbers; then samples have to be asked for in ascending order. With a window, only places in it are found,
 * and pieces are counted from its first cube.
 */
export function placeFinder(
  counts: number | { each: Uint32Array; window?: CountsWindow },
  cubes: number,
): (sample: number) => Place {
  if (typeof counts === 'number')
    return sample => {
      const cube = Math.min(cubes, Math.floor(sample / counts));
      return placeIn(cube, cube < cubes ? counts : 0, cube * counts, cube * piecesOf(counts), sample);
    };
  const { each, window } = counts;
  const shift = window?.cube ?? 0;
  let [at, start, pieces] = [0, window?.before ?? 0, 0];
  return sample => {
    // own variables: those of the closure made a walk over a million cubes three times as long
    let [i, first, piece] = [at, start, pieces];
    while (i < each.length && first + each[i] <= sample) {
      first += each[i];
      piece += (each[i] >>> PIECE_BITS) + (each[i++] % PIECE > 0 ? 1 : 0);
    }
    [at, start, pieces] = [i, first, piece];
    return placeIn(i + shift, i < each.length ? each[i] : 0, first, piece, sample);
  };
}

/** The same in a cube of n samples whose first sample and piece have these numbers. */
function placeIn(cube: number, n: number, first: number, piece: number, sample: number): Place {
  const offset = n > 0 ? pieceFrom(n, sample - first) : 0;
  const at = { sample: first + offset, piece: piece + Math.ceil(offset / PIECE) };
  return offset > 0 && offset === n ? { cube: cube + 1, offset: 0, ...at } : { cube, offset, ...at };
}
