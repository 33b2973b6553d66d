/** The cubes of an iteration cut into pieces as on the CPU: see kernels/sample.cu. */
import type { SampleTask } from '../device.ts';

const BATCH = 256;

export interface Pieces {
  /** Samples in all. */
  total: number;
  /** Where a cube with many samples is cut first. */
  chunk: number;
  items: number;
  /** Pieces of every cube; 0 when they differ. */
  each: number;
}

const chunkFor = (total: number): number => Math.floor(Math.min(2 ** 16, Math.max(2 ** 12, total / 64)));

function piecesOf(n: number, chunk: number): number {
  if (n <= BATCH) return 1;
  const whole = n > chunk + 1 ? Math.floor((n - 2) / chunk) : 0;
  return whole * Math.ceil(chunk / BATCH) + Math.ceil((n - whole * chunk) / BATCH);
}

export function uniformPieces(count: number, cubes: number): Pieces {
  const total = cubes * count;
  const chunk = chunkFor(total);
  const each = piecesOf(count, chunk);
  return { total, chunk, each, items: cubes * each };
}

/** Where pieces and samples of each cube begin. */
export function listedPieces(counts: Uint32Array) {
  let total = 0;
  for (let c = 0; c < counts.length; c++) total += counts[c];
  const chunk = chunkFor(total);
  const firstPiece = new Uint32Array(counts.length + 1);
  const firstSample = new Float64Array(counts.length);
  let [items, samples] = [0, 0];
  for (let c = 0; c < counts.length; c++) {
    firstPiece[c] = items;
    firstSample[c] = samples;
    items += piecesOf(counts[c], chunk);
    samples += counts[c];
  }
  firstPiece[counts.length] = items;
  return { total, chunk, each: 0, items, firstPiece, firstSample };
}

/** The cube that a sample belongs to. */
export function cubeOf(firstSample: Float64Array, sample: number): number {
  let cube = firstSample.length - 1;
  while (firstSample[cube] > sample) cube--;
  return cube;
}

/** Where a sample is. */
export function pointOf(
  task: SampleTask & { edges: Float64Array },
  wordsOf: WordsOf,
  cube: number,
  sample: number,
): number[] {
  const { strata, bins, edges, key, iteration, stream } = task;
  return strata.map((n, d) => {
    const k = cube % n;
    cube = Math.floor(cube / n);
    const u = (wordsOf(sample, d >> 2, iteration, stream, key)[d & 3] + 0.5) * 2 ** -32;
    const t = (k + u) * (bins / n);
    const b = Math.floor(t);
    const [low, high] = edges.subarray(d * (bins + 1) + b);
    return low + (t - b) * (high - low);
  });
}

type WordsOf = typeof import('../../random/philox.ts').wordsOf;
