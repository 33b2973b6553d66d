/**
 * Rank-1 lattices with n = 2^m points and a random shift: point k has the coordinates {k·z_d/n + shift_d}. As words of 32 bits,
 * which devices make coordinates of as they do of random words,
 *
 *     k·z_d·2^(32 − m) + shift_d   mod 2^32.
 *
 * The vector z (lattice-vector.ts) is good for every n at once. The lattice of 2n points has those of n points as its even
 * ones; the odd ones are (2k + 1)·z_d·2^(31 − m), for k < n: the same steps from another start. So n doubles, and what was
 * sampled stays.
 *
 * The baker's transform folds a coordinate, u → 1 − |2u − 1|. An integrand becomes periodic by it, and where it is smooth
 * errors fall as n^−2 instead of n^−1 (Hickernell 2002). On words: w → 2w, or its complement from 2^31 on; all words occur once.
 *
 * Where every axis has the same n words, a shift is uniform over all words, and the mean over a shifted lattice is unbiased.
 */
import { VECTOR } from './lattice-vector.ts';
import { type Key, roundKeys, STREAM, wordsOf, writeWords } from './philox.ts';

/** The words of a lattice's points: that of axis d of sample s in shift r is shifts[r·dims + d] + s·steps[d] mod 2^32. */
export interface LatticeWords {
  /** What the word of an axis grows by from sample to sample. */
  steps: Uint32Array;
  /** `dims` words per shift. */
  shifts: Uint32Array;
  /** Whether words are folded by the baker's transform. */
  folded: boolean;
}

/** The vector is good for 2^10 to 2^24 points. */
export const MOST_POINTS_LOG2 = 24;

/** The key of the components behind those of the table: any fixed one. */
const BEYOND: Key = [0x6c617474, 0x69636500];

/** The component of an axis. Behind the table: odd numbers by chance, the same in every run. */
export function component(axis: number): number {
  return axis < VECTOR.length ? VECTOR[axis] : (wordsOf(axis, 0, 0, STREAM.shifts, BEYOND)[0] | 1) >>> 0;
}

/** The words of shifts `first` to `first + count − 1` of a run, `dims` per shift. */
export function drawShifts(
  key: Key,
  iteration: number,
  dims: number,
  first: number,
  count: number,
): Uint32Array {
  const words = new Uint32Array(dims * count);
  const keys = roundKeys(key);
  const four = new Uint32Array(4);
  for (let r = 0; r < count; r++)
    for (let d = 0; d < dims; d++) {
      if (d % 4 === 0) writeWords(four, first + r, d >> 2, iteration, STREAM.shifts, keys);
      words[r * dims + d] = four[d % 4];
    }
  return words;
}

/**
 * Steps and starts of 2^log2 points of every shift: the whole lattice, or the half that a lattice of 2^(log2 + 1) points has
 * beyond one of 2^log2.
 */
export function latticeWords(
  dims: number,
  shifts: Uint32Array,
  log2: number,
  half: 'whole' | 'new half',
): Pick<LatticeWords, 'steps' | 'shifts'> {
  const steps = Uint32Array.from({ length: dims }, (_, d) => component(d) * 2 ** (32 - log2));
  if (half === 'whole') return { steps, shifts };
  const odd = Uint32Array.from({ length: dims }, (_, d) => component(d) * 2 ** (31 - log2));
  return { steps, shifts: shifts.map((word, i) => word + odd[i % dims]) };
}

/** The word of an axis of a sample, which belongs to this shift. */
export function latticeWord(
  { steps, shifts, folded }: LatticeWords,
  shift: number,
  axis: number,
  sample: number,
): number {
  const word = (shifts[shift * steps.length + axis] + Math.imul(sample, steps[axis])) | 0;
  return (folded ? (word << 1) ^ (word >> 31) : word) >>> 0;
}
