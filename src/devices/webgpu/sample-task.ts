/**
 * What the kernel of samples reads of an iteration (kernels/sample.ts), made on the host: words of the task, rows of the map, what is before
 * each cube, and where groups begin.
 */

import { roundKeys } from '../../random/philox.ts';
import { ALL_COUNT, blockBitsOf } from '../../tasks/counted.ts';
import { isKept, type Part } from '../../tasks/part.ts';
import { PIECE, type Place, piecesOf, placeFinder } from '../../tasks/pieces.ts';
import { type PlainTask, type SampleTask, samplesOf } from '../../tasks/sample.ts';
import { curveOf } from '../../tasks/smooth-map.ts';
import { exponentOf, innerRange32, splitFloat32, toFloat32 } from './float32.ts';
import { AXIS, powersAt, TASK, TASK_VECTORS } from './kernels/sample-words.ts';

/**
 * Threads that an iteration should have, if it has enough pieces: a few times what a large GPU runs at a time, so that its last
 * workgroups do not run alone for long. It is not a number of the GPU in use, because the bits of the sums would depend on it.
 */
const BUSY_THREADS = 2 ** 18;
/** Samples of a window, at least; and windows of a group, at least. */
const LEAST_WINDOW = 8;
const LEAST_WINDOWS = 16;

/**
 * Samples of a task from which on kernels of its own pay: one that only measures, and one whose histogram is in workgroup memory. Below, a thread
 * has a slice of a piece (kernels/slices.ts).
 */
const LARGE = 2 ** 17;

/** A task whose map is on the host; its counts may be on the GPU. */
export type MappedTask = SampleTask & { edges: Float64Array };

/** The task, whose map must be numbers: the map is never kept on the GPU. */
export function mapped(task: SampleTask): MappedTask {
  if (isKept(task.edges)) throw new Error('a task names a map that this session does not keep');
  return task as MappedTask;
}

/** Whether sums of each cube come back. */
export const asksForLists = ({ cubes, adapt }: SampleTask): boolean =>
  !adapt?.keep && !!(cubes || adapt?.variances);

/** The task with counts of the host. */
export function plainCounts(task: MappedTask): PlainTask {
  if (typeof task.counts !== 'number' && isKept(task.counts.each))
    throw new Error('parts of an iteration need counts of the host');
  return task as PlainTask;
}

export const isLarge = (task: SampleTask): boolean => samplesOf(task) >= LARGE;

/** Samples of a window as a power of two: so many that threads are busy, and at least as many as a piece has on average. */
export function windowBitsFor(task: SampleTask, cubes: number, size: number): number {
  const samples = samplesOf(task);
  const piece = Math.min(PIECE, samples / cubes);
  const wanted = Math.ceil(Math.log2(Math.max(LEAST_WINDOW, piece, samples / BUSY_THREADS)));
  return Math.min(wanted, Math.log2(size / LEAST_WINDOWS));
}

/** Where the groups of a part begin, and where the last ends. */
export function placesOf({ counts }: PlainTask, cubes: number, part: Part, size: number): Place[] {
  const place = placeFinder(counts, cubes);
  return Array.from({ length: part.count + 1 }, (_, i) => place((part.first + i) * size));
}

/** Groups of a part as the kernel reads them, and the end of the last. */
export function groupStarts({ counts }: PlainTask, cubes: number, part: Part, size: number): Uint32Array {
  const list = new Uint32Array(4 * (part.count + 1));
  let [cube, begin] = [0, 0];
  for (let g = 0; g <= part.count; g++) {
    const sample = (part.first + g) * size;
    if (typeof counts === 'number') {
      cube = Math.floor(sample / counts);
      begin = cube * counts;
    } else while (cube < cubes - 1 && begin + counts.each[cube] <= sample) begin += counts.each[cube++];
    list.set([cube, sample - begin, sample, Math.floor(sample / 2 ** 32)], 4 * g);
  }
  return list;
}

/** A bin of a smooth map as the kernel reads it. */
const curveRow = (low: readonly number[], [, m, b, a]: readonly number[], scale: number): number[] => [
  ...low,
  ...[m, b, a].map(toFloat32),
  scale,
  0,
  0,
];

/** The power of two near the width of an axis. */
const axisExponent = (edges: Float64Array, bins: number, d: number): number =>
  exponentOf(edges[d * (bins + 1) + bins] - edges[d * (bins + 1)]);

/**
 * What the edges of an axis are counted from, so that float32 has digits enough for them: from 0 if that is in the range or near it, and
 * from the end that is closer to 0 if the range is far from it.
 */
function originOf(edges: Float64Array, bins: number, d: number): number {
  const [low, high] = [edges[d * (bins + 1)], edges[d * (bins + 1) + bins]];
  const end = Math.abs(low) < Math.abs(high) ? low : high;
  return low * high > 0 && Math.abs(end) > high - low ? toFloat32(end) : 0;
}

/** The words of an iteration, but for those that change from dispatch to dispatch. */
export function taskWords(task: MappedTask, cubes: number, results: number): Uint32Array<ArrayBuffer> {
  const { key, iteration, stream, bins, counts, unit, edges, strata, adapt, pass } = task;
  const dims = strata.length;
  const words = new Uint32Array(powersAt(dims) + results);
  if (words.length > 4 * TASK_VECTORS)
    throw new RangeError(`${dims} dimensions are more than this device has room for; use another one.`);
  const floats = new Float32Array(words.buffer);
  words.set(roundKeys(key), TASK.KEYS);
  words[TASK.ITERATION] = iteration;
  words[TASK.STREAM] = stream;
  words[TASK.BINS] = bins;
  words[TASK.COUNT] = typeof counts === 'number' ? counts : 0;
  words[TASK.CUBES] = cubes;
  for (const lead of pass?.leads ?? [0]) words[TASK.LEADS] |= 1 << lead;
  words[TASK.CUBES_WANTED] = Number(!!(task.cubes || adapt?.variances));
  if (adapt) {
    const root = Math.floor(exponentOf(adapt.scale) / 2);
    floats[TASK.ROOT] = 2 ** root;
    floats[TASK.REST] = adapt.scale / 4 ** root;
    words[TASK.LIMIT] = adapt.limit ?? ALL_COUNT;
    words[TASK.BLOCK_BITS] = blockBitsOf(samplesOf(task));
  }
  let exponent = 0;
  strata.forEach((n, d) => {
    const at = TASK.AXES + AXIS.WORDS * d;
    words[at + AXIS.STRATA] = n;
    floats[at + AXIS.INVERSE] = 1 / n;
    const ends = d * (bins + 1);
    floats.set(innerRange32(edges[ends], edges[ends + bins]), at + AXIS.LOW);
    floats[at + AXIS.STEP] = toFloat32(2 ** axisExponent(edges, bins, d) / bins / n);
    floats[at + AXIS.ORIGIN] = originOf(edges, bins, d);
    exponent += axisExponent(edges, bins, d);
  });
  const units = pass?.units ?? [1];
  units.forEach((own, r) => {
    words[powersAt(dims) + r] = exponent - exponentOf(unit) - exponentOf(own);
  });
  return words;
}

/** Numbers of a bin: its lower edge, and its width in units of the axis; of lattices, a curve. */
const rowNumbers = ({ lattice }: MappedTask): number => (lattice ? 8 : 2);

/** Bytes of the rows of a map. */
export const rowBytes = (task: MappedTask): number => 4 * rowNumbers(task) * task.strata.length * task.bins;

/** The map as rows of float32 numbers, one per bin. */
export function mapRows(task: MappedTask): Float32Array {
  const { edges, bins, strata, lattice } = task;
  const numbers = rowNumbers(task);
  const map = lattice?.slopes ?? edges;
  const rows = new Float32Array(numbers * strata.length * bins);
  strata.forEach((_, d) => {
    const scale = bins * 2 ** -axisExponent(edges, bins, d);
    const origin = originOf(edges, bins, d);
    for (let b = 0; b < bins; b++) {
      const at = d * (bins + 1) + b;
      const row = numbers * (d * bins + b);
      if (lattice) rows.set(curveRow(splitFloat32(edges[at]), curveOf(edges, map, at), scale), row);
      else {
        rows[row] = toFloat32(edges[at] - origin);
        rows[row + 1] = (edges[at + 1] - edges[at]) * scale;
      }
    }
  });
  return rows;
}

/** Pieces and samples before each cube, and all of them. */
export function countsBefore(each: Uint32Array): Uint32Array {
  const cubes = each.length;
  const list = new Uint32Array(2 * (cubes + 1));
  let [pieces, samples] = [0, 0];
  for (let cube = 0; cube < cubes; cube++) {
    pieces += piecesOf(each[cube]);
    samples += each[cube];
    list[2 * cube + 2] = pieces;
    list[2 * cube + 3] = samples;
  }
  return list;
}
