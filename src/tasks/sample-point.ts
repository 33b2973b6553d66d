/** The point of a sample, by its number: what devices that keep no points tell of a value that is not finite. */
import { latticeWord } from '../random/lattice.ts';
import { wordsOf } from '../random/philox.ts';
import type { SampleTask } from './sample.ts';
import { placeIn } from './smooth-map.ts';

/** `counts` are samples per cube: of all, or of each. */
export function pointOfSample(
  task: SampleTask & { edges: Float64Array },
  counts: number | Uint32Array,
  sample: number,
): number[] {
  const { strata, bins, edges, key, iteration, stream, lattice } = task;
  let cube = 0;
  if (typeof counts === 'number') cube = Math.floor(sample / counts);
  else for (let end = counts[0]; end <= sample && cube < counts.length - 1; end += counts[cube]) cube++;
  let rest = lattice ? 0 : cube;
  return strata.map((n, d) => {
    const k = rest % n;
    rest = Math.floor(rest / n);
    const word = lattice
      ? latticeWord(lattice, cube, d, sample)
      : wordsOf(sample, d >> 2, iteration, stream, key)[d & 3];
    const t = (k + (word + 0.5) * 2 ** -32) * (bins / n);
    const bin = Math.floor(t);
    return placeIn(edges, lattice?.slopes, d * (bins + 1) + bin, t - bin).x;
  });
}
