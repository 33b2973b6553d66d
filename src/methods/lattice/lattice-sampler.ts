/**
 * Samples lattices through a frozen map, and keeps what they have found. The present lattices get as many points again, or further
 * shifts; lattices with another number of points, or folded otherwise, are new ones, with shifts of their own.
 */
import { drawShifts, latticeWords } from '../../random/lattice.ts';
import type { SampleTask } from '../../tasks/sample.ts';
import { slopesOf } from '../../tasks/smooth-map.ts';
import { oneCube } from '../../tasks/strata.ts';
import { combineAll, type Estimate } from '../combine.ts';
import { goalsOf, type MethodProblem } from '../method.ts';
import type { SampleRunner } from '../vegas/sample-runner.ts';
import { estimateOf, extended, type ShiftMeans, withShifts } from './shift-means.ts';

/** Samples of a task of lattices, at most. */
const MAX_LATTICE_SAMPLES = 2 ** 28;

/** Lattices to sample: `count` shifts from number `first` on. */
interface Draw extends Pick<ShiftMeans, 'iteration' | 'log2' | 'folded'> {
  first: number;
  count: number;
  half: Parameters<typeof latticeWords>[3];
}

export class LatticeSampler {
  readonly #problem: MethodProblem;
  readonly #runner: SampleRunner;
  /** The map that lattices were last sampled through, and its slopes: devices keep what they make of these as long as they are the same. */
  #smooth: { edges: Float64Array; slopes: Float64Array } | null = null;
  /** What lattices have found with the present map; null when there were none. */
  found: ShiftMeans | null = null;

  constructor(problem: MethodProblem, runner: SampleRunner) {
    this.#problem = problem;
    this.#runner = runner;
  }

  /** Samples lattices of 2^log2 points with so many shifts. `task`: a task of one cube, whose map is given as numbers. */
  async sample(shifts: number, log2: number, folded: boolean, task: () => PlainMapTask): Promise<Estimate> {
    const now = this.found;
    const own = now?.means[0].length ?? 0;
    const draw = (rest: Omit<Draw, 'folded'>) => this.#draw({ ...rest, folded }, task);
    if (now && now.folded === folded && now.log2 === log2 - 1 && own === shifts)
      this.found = extended(now, await draw({ ...now, first: 0, count: own, half: 'new half' }));
    else if (now && now.folded === folded && now.log2 === log2 && own < shifts)
      this.found = withShifts(now, await draw({ ...now, first: own, count: shifts - own, half: 'whole' }));
    else {
      const { iteration } = task();
      this.found = await draw({ iteration, log2, first: 0, count: shifts, half: 'whole' });
    }
    return estimateOf(this.found, goalsOf(this.#problem)[0]);
  }

  /** The means of lattices with some shifts. One result is sampled with all shifts together, several with one shift after the other. */
  async #draw(
    { first, count, iteration, log2, folded, half }: Draw,
    task: () => PlainMapTask,
  ): Promise<ShiftMeans> {
    const runner = this.#runner;
    const { key, ranges, several } = this.#problem;
    const dims = ranges.length;
    const slopes = this.#slopesOf(task().edges, dims);
    const random: Estimate[] = [];
    const atOnce = several ? 1 : Math.max(1, Math.floor(MAX_LATTICE_SAMPLES / 2 ** log2));
    const each = Math.min(count, atOnce);
    const means: number[][] = [];
    for (let r = first; r < first + count; r += each) {
      const own = Math.min(each, first + count - r);
      const words = latticeWords(dims, drawShifts(key, iteration, dims, r, own), log2, half);
      const lattice = { ...words, folded, slopes };
      for (let tries = 0; ; tries++) {
        const shifted: SampleTask = { ...task(), counts: 2 ** log2, lattice, cubes: !several };
        const sums = await runner.run(shifted, runner.units.passesFor(false, false));
        if (runner.mustRepeat(sums, tries)) continue;
        const estimate = runner.estimate(sums, { ...oneCube(dims), cubes: own });
        random.push(estimate);
        const found = estimate.results
          ? estimate.results.each.map(e => [e.value])
          : [Array.from(sums.means!, mean => runner.whole(mean, runner.units.unit))];
        found.forEach((list, result) => {
          means[result] = [...(means[result] ?? []), ...list];
        });
        break;
      }
    }
    return { iteration, log2, folded, means, random: combineAll(random, 0) };
  }

  #slopesOf(edges: Float64Array, dims: number): Float64Array {
    if (this.#smooth?.edges !== edges) this.#smooth = { edges, slopes: slopesOf(edges, dims) };
    return this.#smooth.slopes;
  }
}

type PlainMapTask = SampleTask & { edges: Float64Array };
