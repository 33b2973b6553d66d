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

import { OptionError } from '../../options/option-error.ts';
import { withDefaults } from '../../options/table.ts';
import { STREAM } from '../../random/philox.ts';
import { merge, type SampleSums, type SampleTask, wholeOf } from '../../tasks/sample.ts';
import { combine, type Estimate, ratio } from '../combine.ts';
import { Ledger } from '../ledger.ts';
import {
  type MethodProblem,
  type Outcome,
  type Run,
  type Status,
  type Step,
  statusOf,
  toleranceAt,
} from '../method.ts';
import { FEW_SAMPLES, nothingSeen, SMALLEST_Q } from '../trust.ts';
import { MOST_TRIES, unitError, unitFor } from '../unit.ts';
import { LARGEST_SUMMED, type Slab, slabsOf } from './blocks.ts';
import { ZMC_OPTIONS, type ZmcOptions } from './options.ts';
import { beyondFace, type Node, searchTree } from './tree-search.ts';

/** Blocks of a box, samples of one in a trial, evaluations of a box, and the part of the budget that the search may take. */
const BLOCKS = 2 ** 14;
const SAMPLES = 32;
const SEARCH = 2 ** 21;
const SEARCH_PART = 0.4;
/** Evaluations that a level of the tree may take. */
const LEVEL = 2 ** 22;
/** Passes of a measurement at least, so that χ² can speak; and their evaluations, so that their errors are known. */
const PASSES = 5;
const SMALLEST_PASS = 2 ** 12;
/**
 * Samples that each block must have had, once some are cut: where a peak lies near a border, the block beside it may see
 * nothing of its part in fewer, time after time.
 */
const EVIDENCE = 150;
/** The part of the samples that is spread evenly over all blocks. */
const EVENLY = 0.3;
/** Samples of a first look, where there is no search. */
const PILOT = 256;
/** By how much passes may differ about the variance of a block. */
const UNSTEADY = 8;
/** The density beyond a face, against that before it, below which something may be missing. */
const FAINT = 1e-4;
/** Blocks of a node whose means are kept for that. */
const MOST_KNOWN = 2 ** 18;
/** Without a single value other than 0 after this many samples, the search ends. */
const DARK = 2 ** 24;
/** Evaluations of a pass, at most, or a quarter of all before it: progress is seen and time limits are kept. */
const LARGEST = 2 ** 26;
/** What adding up a million numbers may lose, in epsilons (1e-14 for float64). */
const ROUNDING = 1e-14 * 2 ** 53;

export async function* zmc(problem: MethodProblem, options: ZmcOptions): Run {
  const run = new ZmcRun(problem, options);
  let status: Status;
  try {
    status = yield* run.integrate();
  } catch (e) {
    status = statusOf(e, problem.signal);
  }
  return run.outcome(status);
}

class ZmcRun {
  readonly #problem: MethodProblem;
  readonly #ledger: Ledger;
  readonly #knobs: Required<ZmcOptions>;
  readonly #passes: Estimate[] = [];
  /** Samples of each block in these passes, and by how much the next ones have to be larger. */
  #counts = 0;
  #larger = 1;
  /** Samples of the blocks of each node, as a ratio to those of all. */
  #shares: number[] = [];
  #calls = 0;
  #unit = 1;
  /** The largest mean of a block that the search met. */
  #size = 0;
  #seen = false;
  /** Means of blocks that the last pass found, in its unit. */
  #known: { means: Map<Node, Float64Array>; unit: number } = { means: new Map(), unit: 1 };
  /** The block with the largest variance in each pass: its part of the whole, and the variance itself. */
  readonly #largest: { share: number; own: number }[] = [];

  constructor(problem: MethodProblem, options: ZmcOptions) {
    this.#problem = problem;
    this.#ledger = new Ledger(problem);
    const dims = problem.ranges.length;
    const { trials, sigma, depth } = withDefaults(ZMC_OPTIONS, options) as Required<ZmcOptions>;
    const { maxEvaluations } = problem;
    // of one box: the tree should have room for many
    const budget = Math.min(SEARCH, (SEARCH_PART / 20) * maxEvaluations);
    const blocks = options.blocks ?? blocksFor(dims, Math.min(BLOCKS, budget / (SAMPLES * trials)));
    const count = blocks ** dims;
    const samples = options.samples ?? Math.max(2, Math.min(SAMPLES, Math.floor(budget / (count * trials))));
    if (2 * count > maxEvaluations)
      throw new OptionError(
        'maxEvaluations',
        maxEvaluations,
        w =>
          `${blocks} blocks an axis are ${count} in ${dims} dimensions, with two samples each: raise it, or use fewer ${w.quoted('zmc.blocks')}`,
      );
    this.#knobs = { blocks, samples, trials, sigma, depth };
  }

  async *integrate(): Step<Status> {
    const { ranges, maxEvaluations } = this.#problem;
    const ledger = this.#ledger;
    const { blocks, samples, trials, sigma, depth } = this.#knobs;
    const perBox = blocks ** ranges.length;
    const perNode = perBox * samples * trials;
    const allowance = SEARCH_PART * maxEvaluations;
    // all blocks get the same samples, and enough of them to be believed
    const each = samples + Math.max(PASSES * samples, EVIDENCE);
    const most = Math.floor(((1 - SEARCH_PART) * maxEvaluations) / (each * perBox));
    const nodes = await searchTree(ranges, {
      perAxis: blocks,
      trials,
      sigma,
      depth,
      room: known => Math.floor(Math.min(most - known, LEVEL / (samples * perBox))),
      searchable: () => {
        if (ledger.isLate(SEARCH_PART)) return 0;
        return Math.floor(Math.min(LEVEL, allowance - ledger.evaluations) / perNode);
      },
      trial: slab => this.#sample(slab, samples, STREAM.search),
    });
    await this.#setUnit();
    if (nodes.length > 1) await this.#share(nodes, samples);
    const leaves = nodes.length * blocks ** ranges.length;
    // a few passes with the samples of one trial, then as many more as the tolerance should take
    const first = Math.max(samples, Math.ceil(SMALLEST_PASS / leaves));
    for (let count = first; !ledger.lastIteration; count = this.#wanted(first, leaves)) {
      const left = ledger.left / leaves; // samples of each block
      // time is a guess, and without a pass there is no estimate; the budget is none
      if (left < 2 && (this.#passes.length > 0 || ledger.budgetLeft < 2 * leaves)) break;
      const share = Math.floor(left / Math.max(1, PASSES - this.#passes.length));
      yield* this.#measure(nodes, Math.max(2, Math.min(count, share)));
      if (this.#enough(nodes.length > 1)) return 'converged';
      if (!this.#seen && this.#ledger.evaluations >= DARK) break;
    }
    return ledger.hurried ? 'time' : 'budget';
  }

  /** Values are counted in a power of two near the largest mean seen, so that squares of 1e-200 or 1e200 are numbers too. */
  async #setUnit(): Promise<void> {
    if (this.#size === 0) {
      const strata = this.#problem.ranges.map(() => 1);
      await this.#sample({ box: this.#problem.ranges, strata, first: 0, blocks: 1 }, PILOT, STREAM.pilot);
    }
    if (this.#size > 0 && this.#size < Infinity) this.#unit = unitFor(this.#size);
  }

  /** A pass that does not count, to see which nodes need samples: as many as their deviations ask for, but some for all. */
  async #share(nodes: Node[], samples: number): Promise<void> {
    const spreads: number[] = [];
    await this.#pass(nodes, samples, spreads);
    const deviations = spreads.map(v => (v < Infinity ? Math.sqrt(v) : 0));
    const mean = deviations.reduce((a, b) => a + b, 0) / nodes.length;
    this.#shares = deviations.map(d => (mean > 0 ? EVENLY + (1 - EVENLY) * (d / mean) : 1));
  }

  /** Samples of each block that the next pass should have. */
  #wanted(first: number, leaves: number): number {
    if (this.#passes.length < PASSES || !this.#seen) return first * this.#larger;
    const { value, error, evaluations } = combine(this.#passes);
    const tolerance = toleranceAt(this.#problem, value);
    const need = tolerance > 0 ? 1.1 * evaluations * ((error / tolerance) ** 2 - 1) : Infinity;
    // where the tolerance is met but the passes are doubted, as much again
    const next = Math.min(need > 0 ? need : evaluations, Math.max(LARGEST, evaluations / 4));
    return Math.max(first, Math.ceil(Math.max(next, evaluations / 8) / leaves));
  }

  /** One pass over all blocks of the tree; again in another unit when squares of its values are no numbers. */
  async *#measure(nodes: Node[], count: number): Step<void> {
    for (let tries = 0; ; tries++) {
      const before = this.#ledger.evaluations;
      const pass = await this.#pass(nodes, count);
      const evaluations = this.#ledger.evaluations - before;
      const factor = unitError({ ...pass, sum: pass.value });
      if (factor !== 1 && tries < MOST_TRIES && evaluations <= this.#ledger.budgetLeft) {
        this.#unit *= unitFor(factor);
        continue;
      }
      const rounding = ROUNDING * this.#problem.epsilon * pass.value;
      const error = Math.sqrt(pass.variance + rounding ** 2) * this.#unit;
      const estimate = { value: pass.value * this.#unit, error, evaluations };
      this.#passes.push(estimate);
      this.#largest.push({
        share: pass.variance > 0 ? pass.largest / pass.variance : 0,
        own: pass.largest * count,
      });
      this.#counts += count;
      yield* this.#ledger.note({ ...estimate, adapting: false }, combine(this.#passes));
      return;
    }
  }

  /**
   * Value and variance over all blocks that are not cut further, and the largest variance of one; in units. `spreads`
   * is told how much each node adds to the variance when its blocks have one sample.
   */
  async #pass(
    nodes: Node[],
    average: number,
    spreads?: number[],
  ): Promise<{ value: number; variance: number; largest: number }> {
    const known = this.#knobs.depth > 1; // something of each block
    const means = new Map<Node, Float64Array>();
    let [value, variance, largest] = [0, 0, 0];
    for (const [n, node] of nodes.entries()) {
      const share = average * EVENLY >= 2 ? (this.#shares[n] ?? 1) : 1;
      const count = Math.floor(average * share);
      const before = variance;
      const perBox = this.#knobs.blocks ** node.box.length;
      const all = nodes.length > 1 && perBox <= MOST_KNOWN ? new Float64Array(perBox) : null;
      let at = 0;
      const slabs = slabsOf(node.box, this.#knobs.blocks, known ? undefined : LARGEST_SUMMED);
      for (const slab of slabs) {
        const sums = await this.#sample(slab, count, STREAM.blocks, known);
        if (!known) {
          value += sums.sum / slab.blocks;
          variance += sums.variance / slab.blocks ** 2;
          continue;
        }
        let [sum, squares, most] = [0, 0, 0];
        all?.set(sums.means!, slab.first);
        for (let i = 0; i < slab.blocks; i++) {
          if (node.unstable[at] === slab.first + i) {
            at++;
            continue;
          }
          sum += sums.means![i];
          squares += sums.variances![i];
          most = Math.max(most, sums.variances![i]);
        }
        value += sum / slab.blocks;
        variance += squares / count / slab.blocks ** 2;
        largest = Math.max(largest, most / count / slab.blocks ** 2);
      }
      spreads?.push((variance - before) * count);
      if (all) means.set(node, all);
    }
    this.#known = { means, unit: this.#unit };
    return { value, variance, largest };
  }

  /** What lies at a border of blocks, with nothing beyond: it may have been missed there. */
  get #cutOff(): number {
    const { means, unit } = this.#known;
    let most = 0;
    for (const node of means.keys()) most = Math.max(most, this.#missing(node, means));
    return most * unit;
  }

  /**
   * What may be missing beyond the faces of a node: where a layer of its blocks holds something, and the block beyond,
   * which is larger and was sampled thinly, nothing to speak of. A peak on the border of blocks looks like that, when the
   * block on one side of it was cut and the other never hit.
   */
  #missing(node: Node, means: Map<Node, Float64Array>): number {
    const { blocks } = this.#knobs;
    const dims = node.box.length;
    const layers = layersOf(means.get(node)!, blocks, dims);
    let most = 0;
    for (let d = 0; d < dims; d++) {
      const stride = blocks ** d;
      for (const step of [-1, 1] as const) {
        const beyond = beyondFace(node, stride, step, blocks);
        const there = beyond && means.get(beyond.node)?.[beyond.block];
        if (!beyond || there === undefined) continue;
        const face = step < 0 ? 0 : blocks - 1;
        const [layer, inner] = [layers[d * blocks + face], blocks > 1 ? layers[d * blocks + face - step] : 0];
        if (layer < inner) continue; // it falls towards the face: a tail
        // as a density: a block of an ancestor has the volume of as many nodes as a level has
        const density = (layer / blocks ** (dims - 1)) * blocks ** (dims * beyond.levels);
        if (Math.abs(there!) < FAINT * density) most = Math.max(most, layer / blocks ** dims);
      }
    }
    return most;
  }

  async #sample(slab: Slab, counts: number, stream: number, cubes = true): Promise<SampleSums> {
    const { session, key, signal, onNonFinite } = this.#problem;
    const task: SampleTask = {
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
    };
    const sums = merge(task, [await session.sample(task, wholeOf(task), signal)]);
    this.#ledger.spend(sums.evaluations);
    this.#seen ||= sums.sum !== 0 || sums.variance !== 0;
    if (stream !== STREAM.blocks)
      this.#size = sums.means!.reduce((a, b) => Math.max(a, Math.abs(b)), this.#size);
    if (sums.nonFinite) onNonFinite(sums.nonFinite);
    return sums;
  }

  /** Whether the tolerance is met. Passes that are not to be believed are forgotten: larger ones follow. */
  #enough(cut: boolean): boolean {
    if (this.#passes.length < PASSES || !this.#seen) return false;
    const now = combine(this.#passes);
    if (now.error > toleranceAt(this.#problem, now.value)) return false;
    if (this.#doubt() === null) return !cut || this.#counts >= EVIDENCE;
    if (now.evaluations > this.#problem.maxEvaluations / 8) return false;
    this.#ledger.discard();
    this.#passes.length = this.#largest.length = this.#counts = 0;
    this.#larger *= 4;
    return false;
  }

  /** Why a measurement is not to be believed. */
  #doubt(): string | null {
    if (this.#passes.every(p => p.value === 0 && p.error === 0))
      return nothingSeen(this.#seen, this.#ledger.evaluations);
    const { chi2, dof, q } = combine(this.#passes);
    if (dof > 0 && q < SMALLEST_Q)
      return `the passes disagree (chi2/dof ${ratio(chi2, dof)}): the error is larger than it says; raise maxEvaluations`;
    const { value } = this.#passes.at(-1)!;
    if (this.#cutOff > toleranceAt(this.#problem, value) / 4)
      return 'a peak lies on the border of a block, and part of it may be missed; take another number of zmc.blocks';
    if (this.#passes.length < 3) return null;
    const most = Math.max(...this.#passes.map(p => p.error)) || 1;
    const squares = this.#passes.map(p => (p.error / most) ** 2 * p.evaluations);
    if (Math.max(...squares) > 0.8 * squares.reduce((a, b) => a + b, 0)) return FEW_SAMPLES;
    // a block with most of the variance is no danger as long as every pass sees it alike
    const share = this.#largest.reduce((a, b) => a + b.share, 0) / this.#largest.length;
    const variances = this.#largest.map(l => l.own);
    if (share > 0.5 && Math.max(...variances) > UNSTEADY * Math.min(...variances))
      return 'one block has most of the variance, and passes differ about it: it may hide a peak; raise zmc.depth or maxEvaluations';
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
    return { value, error, status, evaluations: this.#ledger.evaluations, chi2, dof, q, warnings };
  }
}

/** Parts of an axis: as many as fit, an odd number if possible, since peaks like the middle. */
function blocksFor(dims: number, most: number): number {
  let n = 1;
  while ((n + 1) ** dims <= most && n < 63) n++;
  if (n < 3 && 3 ** dims <= 16 * most) return 3;
  return n > 2 && n % 2 === 0 ? n - 1 : n;
}

/** What the blocks of a box have, by their parts along each axis. */
function layersOf(means: Float64Array, blocks: number, dims: number): Float64Array {
  const layers = new Float64Array(dims * blocks);
  const parts = new Uint32Array(dims).fill(0);
  for (let i = 0; i < means.length; i++) {
    const size = Math.abs(means[i]);
    if (size > 0) for (let d = 0; d < dims; d++) layers[d * blocks + parts[d]] += size;
    for (let d = 0; d < dims && ++parts[d] === blocks; d++) parts[d] = 0;
  }
  return layers;
}
