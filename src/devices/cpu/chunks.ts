/**
 * An iteration cut into chunks. Where the cuts are depends on the samples alone, never on who runs them: that is
 * what makes a result the same for any number of workers.
 */
import type { SampleTask } from '../device.ts';
import type { Chunk } from './sampler.ts';

/** Cubes a chunk can have; what a worker's memory is made for. */
export const MAX_CUBES = 2 ** 15;
const MIN_SAMPLES = 2 ** 12;
const MAX_SAMPLES = 2 ** 16;

/** A task whose counts are known here. */
export type CountedTask = SampleTask & { counts: number | Uint32Array };

/** The chunks of a task of `total` samples. */
export function* chunksOf({ counts, strata }: CountedTask, total: number): Generator<Chunk> {
  const cubes = strata.reduce((a, b) => a * b, 1);
  // about 64 chunks, so that workers of different speed finish together, within limits
  const size = Math.min(MAX_SAMPLES, Math.max(MIN_SAMPLES, total / 64));
  let index = 0;
  let firstSample = 0;
  if (typeof counts === 'number' && counts <= size) {
    const perChunk = Math.min(MAX_CUBES, Math.max(1, Math.floor(size / counts)));
    for (let firstCube = 0; firstCube < cubes; firstCube += perChunk) {
      const n = Math.min(perChunk, cubes - firstCube);
      yield { index: index++, firstCube, firstSample, cubes: n, take: counts, full: counts };
      firstSample += n * counts;
    }
    return;
  }
  const countOf = (cube: number) => (typeof counts === 'number' ? counts : counts[cube]);
  for (let cube = 0; cube < cubes; ) {
    if (countOf(cube) > size) {
      // a cube larger than a chunk has several to itself; none is left with a single sample
      const full = countOf(cube);
      for (let used = 0; used < full; ) {
        const left = full - used;
        const n = left <= size + 1 ? left : Math.floor(size);
        yield { index: index++, firstCube: cube, firstSample, cubes: 1, take: n, full };
        used += n;
        firstSample += n;
      }
      cube++;
      continue;
    }
    const firstCube = cube;
    let samples = 0;
    while (
      cube < cubes &&
      cube - firstCube < MAX_CUBES &&
      countOf(cube) <= size &&
      samples + countOf(cube) <= size
    ) {
      samples += countOf(cube++);
    }
    const take = (counts as Uint32Array).slice(firstCube, cube);
    yield { index: index++, firstCube, firstSample, cubes: take.length, take, full: take };
    firstSample += samples;
  }
}
