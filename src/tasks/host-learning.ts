/** Learning on the host, for devices that bring none of their own. */
import type { Learning, Refinement } from './learning.ts';
import { refineMap } from './map.ts';
import { type AxisMap, type Counts, plainTask, type SampleSums, type SampleTask } from './sample.ts';
import { allocate } from './strata.ts';

export class HostLearning implements Learning {
  #learned: { edges: Float64Array; dims: number; sums: SampleSums } | null = null;
  #variances: Float64Array | null = null;

  /** Allots samples by these variances, until it learns others. */
  static with(variances: Float64Array): HostLearning {
    const learning = new HostLearning();
    learning.#variances = variances;
    return learning;
  }

  /** The variances of cubes in the last iteration; null if it had none. */
  get variances(): Float64Array | null {
    return this.#variances;
  }

  async learn(task: SampleTask, sums: SampleSums): Promise<void> {
    this.#learned = { edges: plainTask(task).edges, dims: task.strata.length, sums };
    this.#variances = sums.variances;
  }

  async refine({ alpha, floor, shared }: Refinement): Promise<AxisMap> {
    const { edges, dims, sums } = this.#last();
    return refineMap(edges, sums.histogram!, dims, alpha, floor, shared);
  }

  async allocate(beta: number, evaluations: number): Promise<Counts> {
    const variances = this.#variances;
    if (!variances) throw new Error('allocate after an iteration without variances');
    return {
      each: allocate(variances, beta, evaluations),
      evaluations: mostFor(evaluations, variances.length),
    };
  }

  async edgesOf(map: AxisMap): Promise<Float64Array> {
    return map as Float64Array;
  }

  async countsOf(counts: Counts): Promise<Uint32Array> {
    return counts.each as Uint32Array;
  }

  #last() {
    if (!this.#learned) throw new Error('nothing was learned yet');
    return this.#learned;
  }
}

/** The most samples that an allocation of `evaluations` can have: every cube has at least two. */
export const mostFor = (evaluations: number, cubes: number): number => Math.max(evaluations, 2 * cubes);
