/**
 * ZMCintegral: stratified sampling with a heuristic tree search; see tree-search.ts.
 *
 * The search finds the tree from `trials` trials a block. Then blocks are sampled anew, with the tree frozen, in passes
 * over all of them until the tolerance is met; the error is that of the mean. Blocks of one size count by their
 * volume, each with the variance of its own samples.
 *
 * The public code numbers cells one way in its kernel and the other way on the host, so that it refines a wrong cell,
 * lets padding into the threshold and reports the deviation of one trial; this follows the paper.
 */
import { combine, type Estimate } from '../../combine.ts';
import type { SampleSums } from '../../devices/device.ts';
import { STREAM } from '../../random/philox.ts';
import { ratio, type Status } from '../../result.ts';
import { type MethodProblem, type Outcome, statusOf, toleranceAt } from '../method.ts';
import { type Slab, slabsOf } from './blocks.ts';
import { type Node, searchTree } from './tree-search.ts';

export interface ZmcOptions {
  /** Parts of each axis. */
  blocks?: number;
  /** Samples of a block in one trial. */
  samples?: number;
  /** Independent trials of a block. */
  trials?: number;
  /** How many deviations above the mean deviation a block may be. */
  sigma?: number;
  /** Layers of blocks; 1: no search. */
  depth?: number;
}

export const ZMC_OPTIONS = ['blocks', 'samples', 'trials', 'sigma', 'depth'] as const;

/** Blocks of a box, evaluations in them, and the part of the budget that the search may take. */
const BLOCKS = 2 ** 14;
const SEARCH = 2 ** 21;
const SEARCH_PART = 0.4;
/** Evaluations that a level of the tree may take. */
const LEVEL = 2 ** 23;
/** Passes of a measurement at least, so that χ² can speak. */
const PASSES = 5;
const SMALLEST_Q = 1e-3;
/** Evaluations of a pass, at most: progress is seen and time limits are kept. */
const LARGEST = 2 ** 26;
/** What adding up a million numbers may lose. */
const ROUNDING = 1e-14;

export async function zmc(problem: MethodProblem, options: ZmcOptions): Promise<Outcome> {
  const run = new Run(problem, options);
  let status: Status;
  try {
    status = await run.integrate();
  } catch (e) {
    status = statusOf(e, problem.signal);
  }
  return run.outcome(status);
}

class Run {
  readonly #problem: MethodProblem;
  readonly #knobs: Required<ZmcOptions>;
  readonly #passes: Estimate[] = [];
  #calls = 0;
  #unit = 1;
  #evaluations = 0;
  #seen = false;
  /** The part of the variance that one block had, in each pass. */
  readonly #shares: number[] = [];

  constructor(problem: MethodProblem, options: ZmcOptions) {
    this.#problem = problem;
    const dims = problem.ranges.length;
    const { trials = 5, sigma = 5, depth = 4 } = options;
    const budget = Math.min(SEARCH, SEARCH_PART * problem.maxEvaluations);
    const blocks = options.blocks ?? blocksFor(dims, Math.min(BLOCKS, budget / (2 * trials)));
    const count = blocks ** dims;
    const samples = options.samples ?? Math.max(2, Math.min(32, Math.floor(budget / (count * trials))));
    if (count * samples * 2 > problem.maxEvaluations)
      throw new RangeError(
        `integrate: \`maxEvaluations\` is ${problem.maxEvaluations}; ${blocks} blocks an axis are ${count} in ${dims} dimensions, with ${samples} samples each: raise it, or use fewer \`zmc.blocks\` or \`zmc.samples\`.`,
      );
    this.#knobs = { blocks, samples, trials, sigma, depth };
  }

  async integrate(): Promise<Status> {
    const { ranges, maxEvaluations, maxIterations } = this.#problem;
    const { blocks, samples, trials, sigma, depth } = this.#knobs;
    const perNode = blocks ** ranges.length * samples * trials;
    const nodes = await searchTree(ranges, {
      perAxis: blocks,
      trials,
      sigma,
      // a level costs what its nodes do, in the search and in every pass
      mostNodes: Math.max(1, Math.floor(Math.min((SEARCH_PART * maxEvaluations) / depth, LEVEL) / perNode)),
      depth: SEARCH_PART * maxEvaluations >= perNode ? depth : 1,
      trial: slab => this.#sample(slab, samples, STREAM.search),
    });
    const leaves = nodes.length * blocks ** ranges.length;
    // a few passes with the samples of one trial, then as many more as the tolerance should take
    for (let count = samples; this.#passes.length < maxIterations; count = this.#wanted(leaves)) {
      const left = Math.max(1, PASSES - this.#passes.length);
      const affordable = Math.floor((maxEvaluations - this.#evaluations) / left / leaves);
      if (affordable < 2) break;
      await this.#measure(nodes, Math.max(2, Math.min(count, affordable)));
      if (this.#enough()) return 'converged';
    }
    return 'budget';
  }

  /** Samples of each block that the next pass should have. */
  #wanted(leaves: number): number {
    const { samples } = this.#knobs;
    if (this.#passes.length < PASSES) return samples;
    const { value, error, evaluations } = combine(this.#passes);
    const need = evaluations * ((error / toleranceAt(this.#problem, value)) ** 2 - 1);
    return Math.min(
      Math.max(samples, Math.ceil((1.1 * need) / leaves)),
      Math.ceil(LARGEST / leaves) + samples,
    );
  }

  /** One pass over all blocks of the tree. */
  async #measure(nodes: Node[], count: number): Promise<void> {
    const before = this.#evaluations;
    const known = this.#knobs.depth > 1; // something of each block
    let [value, variance, largest] = [0, 0, 0];
    for (const node of nodes) {
      let at = 0;
      for (const slab of slabsOf(node.box, this.#knobs.blocks)) {
        const sums = await this.#sample(slab, count, STREAM.blocks, known);
        const unit = this.#unit / slab.blocks;
        if (!known) {
          value += sums.sum * unit;
          variance += sums.variance * unit ** 2;
          continue;
        }
        let [sum, squares] = [0, 0];
        for (let i = 0; i < slab.blocks; i++) {
          if (node.unstable[at] === slab.first + i) {
            at++;
            continue;
          }
          sum += sums.means![i];
          const own = sums.variances![i] / count;
          squares += own;
          largest = Math.max(largest, own * unit ** 2);
        }
        value += sum * unit;
        variance += squares * unit ** 2;
      }
    }
    if (known && this.#knobs.blocks > 1) this.#shares.push(variance > 0 ? largest / variance : 0);
    const error = Math.hypot(Math.sqrt(variance), ROUNDING * value);
    const estimate = { value, error, evaluations: this.#evaluations - before };
    this.#passes.push(estimate);
    await this.#problem.onIteration(
      { ...estimate, adapting: false },
      combine(this.#passes),
      this.#evaluations,
    );
  }

  async #sample(slab: Slab, counts: number, stream: number, cubes = true): Promise<SampleSums> {
    const { session, key, signal, onNonFinite } = this.#problem;
    const sums = await session.sample({
      key,
      iteration: this.#calls++,
      stream,
      bins: 1,
      edges: Float64Array.from(slab.box.flat()),
      strata: slab.strata,
      counts,
      unit: this.#unit,
      adapt: null,
      cubes,
      signal,
    });
    this.#evaluations += sums.evaluations;
    this.#seen ||= sums.sum !== 0 || sums.variance !== 0;
    if (sums.nonFinite) onNonFinite(sums.nonFinite);
    return sums;
  }

  #enough(): boolean {
    if (this.#passes.length < PASSES || !this.#seen) return false;
    const now = combine(this.#passes);
    return now.error <= toleranceAt(this.#problem, now.value) && this.#doubt() === null;
  }

  /** Why a measurement is not to be believed. */
  #doubt(): string | null {
    if (!this.#seen)
      return `every one of ${this.#evaluations} samples was 0: either the integrand is 0, or it is not where the samples were; narrow the domain or raise maxEvaluations`;
    const { chi2, dof, q } = combine(this.#passes);
    if (dof > 0 && q < SMALLEST_Q)
      return `the passes disagree (chi2/dof ${ratio(chi2, dof)}): the error is larger than it says; raise maxEvaluations`;
    const share = this.#shares.reduce((a, b) => a + b, 0) / this.#shares.length;
    if (share > 0.5)
      return 'one block has most of the variance: it may hide a peak; raise zmc.depth or maxEvaluations';
    return null;
  }

  outcome(status: Status): Outcome {
    const passes = this.#passes.length > 0 ? this.#passes : [{ value: 0, error: Infinity, evaluations: 1 }];
    const warnings: string[] = [];
    if (this.#passes.length === 0)
      warnings.push('the run ended before anything was measured: there is no estimate');
    else {
      const doubt = this.#doubt();
      if (doubt) warnings.push(doubt);
    }
    const { value, error, chi2, dof, q } = combine(passes);
    return { value, error, status, evaluations: this.#evaluations, chi2, dof, q, warnings };
  }
}

/** Parts of an axis: as many as fit, an odd number if possible, since peaks like the middle. */
function blocksFor(dims: number, most: number): number {
  let n = 1;
  while ((n + 1) ** dims <= most && n < 63) n++;
  if (n < 3 && 3 ** dims <= 16 * most) return 3;
  return n > 2 && n % 2 === 0 ? n - 1 : n;
}
