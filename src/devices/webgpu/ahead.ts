/**
 * Iterations that were sampled along with one before them. Those of a measurement differ by their number only, so a method says how many are
 * likely to follow, and small ones are one submission and one reading instead of one each: on an H200 an iteration of 5,000 samples took 0.8 to
 * 1.2 ms, of which 0.2 to 0.4 were waits for the GPU and the rest the host's (bench/results/gpu.txt, all but f4_8).
 */
import type { SampleTask } from '../../tasks/sample.ts';

/** Bytes of the buffers for iterations that are sampled together, at most. */
export const MOST_AHEAD_BYTES = 2 ** 24;

/** What a GPU left of an iteration: records of its groups, and how many samples it had. */
export interface Found {
  records: Uint32Array;
  evaluations: number;
}

export class Ahead {
  /** The task that they were sampled with, and the iterations behind it. */
  #after: SampleTask | null = null;
  #found: readonly Found[] = [];

  put(task: SampleTask, found: readonly Found[]): void {
    this.#after = task;
    this.#found = found;
  }

  /** What was found of a task; null where it was not sampled ahead. Witnesses may be drawn in between. */
  take(task: SampleTask): Found | null {
    const after = this.#after;
    if (!after || !isSameButIteration(after, task)) return null;
    return this.#found[task.iteration - after.iteration - 1] ?? null;
  }

  forget(): void {
    this.#after = null;
    this.#found = [];
  }
}

/** Whether the tasks differ by nothing but their iteration. Maps and counts have to be the same objects, since methods keep them. */
function isSameButIteration(a: SampleTask, b: SampleTask): boolean {
  const plain = ({ key, stream, bins, strata, unit, pass, lattice, adapt, cubes }: SampleTask) =>
    JSON.stringify([key, stream, bins, strata, unit, pass, !!lattice, adapt, !!cubes]);
  return a.edges === b.edges && a.counts === b.counts && plain(a) === plain(b);
}
