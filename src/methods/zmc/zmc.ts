/**
 * ZMCintegral: stratified sampling with a heuristic tree search; see tree-search.ts.
 *
 * The search finds the tree from `trials` trials per block. Then the tree is frozen, and all blocks are sampled anew in
 * passes until the tolerance is met; the error is that of the mean of the passes. The weight of a block is its volume, and
 * its variance is that of its own samples.
 *
 * This follows the paper, not the public code, which numbers cells one way in its kernel and the other way on the host
 * and so refines a wrong cell, lets padding into the threshold, and reports the deviation of one trial.
 */

import { innerRange, volumeExcess } from '../../integrand/inner-range.ts';
import { OptionError } from '../../options/option-error.ts';
import { withDefaults } from '../../options/table.ts';
import { STREAM } from '../../random/philox.ts';
import type { NonFinite } from '../../tasks/part.ts';
import { additionsOf } from '../../tasks/pieces.ts';
import { merge, type SampleSums, type SampleTask, wholeOf } from '../../tasks/sample.ts';
import { combine, type Estimate, ratio } from '../combine.ts';
import { hiddenBy } from '../jumps.ts';
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
import { probe } from '../probe.ts';
import { FEW_SAMPLES, nothingSeen, SMALLEST_Q, STEEP_ENDS, UNSEEN, ZERO_SAMPLES } from '../trust.ts';
import { MOST_TRIES, unitError, unitFor } from '../unit.ts';
import { MAX_KEPT_BLOCKS, MAX_SUMMED_BLOCKS, type Slab, slabsOf } from './blocks.ts';
import { hiddenBeyondFaces, type NodeSums } from './faces.ts';
import { nearestOf } from './nearest.ts';
import { ZMC_OPTIONS, type ZmcOptions } from './options.ts';
import { type After, nodeRecords, nodesOf, type PassRecord, type ZmcRecord } from './record.ts';
import { type Node, searchTree } from './tree-search.ts';

/** Blocks per box, at most, by default. */
const MAX_BLOCKS = 2 ** 14;
/** Samples per block and trial, by default. */
const SAMPLES_PER_TRIAL = 32;
/** Evaluations that all trials of one box may take. */
const MAX_BOX_EVALUATIONS = 2 ** 21;
/** The part of the budget, and of the time, that the search may take. */
const SEARCH_PART = 0.4;
/** Evaluations that one level of the tree may take. */
const MAX_LEVEL_EVALUATIONS = 2 ** 22;
/** Passes per measurement, at least, so that χ² has degrees of freedom. */
const PASSES = 5;
/** Evaluations per pass, at least, so that its error is known well enough. */
const MIN_PASS_EVALUATIONS = 2 ** 12;
/**
 * Samples that each block must have had before a claim, once some blocks are cut. Where a peak lies near a border of
 * blocks, all passes with fewer samples may miss the part of the peak that reaches into the block beside it.
 */
const MIN_BLOCK_SAMPLES = 150;
/** The part of the samples that is spread evenly over all blocks. */
const EVEN_PART = 0.3;
/** Samples of the pilot, which finds the size of values where no search does. */
const PILOT_SAMPLES = 256;
/** The largest ratio between the variances that different passes find for a block with most of the variance. */
const MAX_VARIANCE_RATIO = 8;
/** Means and variances of the blocks of a node are kept for faces.ts if there are at most this many blocks. */
const MAX_KEPT_SUMS = 2 ** 18;
/** Samples that a claim needs at least, with this budget: what lies on less than 5 of so many parts of the domain can hide. */
const leastSamples = (maxEvaluations: number): number => Math.min(2 ** 15, maxEvaluations / 4);
const BESIDE_CUT =
  'blocks beside those that were cut may hide a part of what was found there; raise maxEvaluations, or take another number of zmc.blocks';
/** Without a single value other than 0 after this many samples, the run ends. */
const MAX_ZERO_SAMPLES = 2 ** 24;
/** Evaluations per pass, at most, or a quarter of all before it: progress is reported and time limits are kept. */
const MAX_PASS_EVALUATIONS = 2 ** 26;

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
  readonly #options: ZmcOptions;
  /** The evaluations that budget and time allow, as they were known when the run began. */
  #budget: number;
  #knobs: Required<ZmcOptions>;
  readonly #passes: Estimate[] = [];
  /** Samples per block in all of these passes, on average. */
  #counts = 0;
  /** The factor by which first passes are larger, after measurements that were not trusted. */
  #larger = 1;
  /** The nodes of the tree; and the samples of the blocks of a node, relative to the average over all blocks: 1 unless given. */
  #nodes: readonly Node[] = [];
  readonly #shares = new Map<Node, number>();
  #calls = 0;
  #unit = 1;
  /** The largest mean of a block that the search met. */
  #size = 0;
  #seen = false;
  /** Whether any value was not finite, and counted as 0. */
  #nonFinite = false;
  /** What the last probe found: an estimate for runs that end before their first pass does. */
  #probed: Estimate | null = null;
  /** Means and variances of blocks in the last pass, in its unit; or what they may hide, if the pass is from a record. */
  #known: { sums: ReadonlyMap<Node, NodeSums>; unit: number; hidden?: number } = { sums: new Map(), unit: 1 };
  /** The error that a claim needs for what lies closer to singular ends than samples come; 0 until all else allows a claim. */
  #unseen = 0;
  /** What is recorded of this run; null before its search has ended, or if nobody asks. */
  #record: ZmcRecord | null = null;
  readonly #recorded: PassRecord[] = [];
  /** Passes of an earlier run; null once this run has left them. */
  #old: readonly PassRecord[] | null = null;
  /** Values that were not finite in the present step. */
  #found: NonFinite[] = [];
  /** For each pass: the largest variance of a block as a part of the whole variance, and the variance per sample itself. */
  readonly #largest: { share: number; own: number }[] = [];

  constructor(problem: MethodProblem, options: ZmcOptions) {
    this.#problem = problem;
    this.#ledger = new Ledger(problem);
    this.#options = options;
    this.#budget = problem.maxEvaluations;
    this.#knobs = this.#chooseKnobs();
  }

  #chooseKnobs(): Required<ZmcOptions> {
    const options = this.#options;
    const dims = this.#problem.ranges.length;
    const { trials, sigma, depth } = withDefaults(ZMC_OPTIONS, options) as Required<ZmcOptions>;
    const { maxEvaluations } = this.#problem;
    // the search of one box takes at most a twentieth of the search's budget, so that there can be many boxes
    const budget = Math.min(MAX_BOX_EVALUATIONS, (SEARCH_PART / 20) * this.#budget);
    const most = Math.min(MAX_BLOCKS, budget / (SAMPLES_PER_TRIAL * trials));
    const blocks = options.blocks ?? blocksFor(dims, most);
    const count = blocks ** dims;
    const affordable = Math.floor(budget / (count * trials));
    const samples = options.samples ?? Math.max(2, Math.min(SAMPLES_PER_TRIAL, affordable));
    if (2 * count > maxEvaluations)
      throw new OptionError(
        'maxEvaluations',
        maxEvaluations,
        w =>
          `${blocks} blocks an axis are ${count} in ${dims} dimensions, with two samples each: raise it, or use fewer ${w.quoted('zmc.blocks')}`,
      );
    return { blocks, samples, trials, sigma, depth };
  }

  async *integrate(): Step<Status> {
    const { ranges } = this.#problem;
    const ledger = this.#ledger;
    await this.#probe();
    const { blocks, samples, trials, sigma, depth } = this.#knobs;
    const perBox = blocks ** ranges.length;
    const perNode = perBox * samples * trials;
    const allowance = SEARCH_PART * this.#budget;
    // samples per block after the search: one pass that sets the shares, and those of a measurement
    const each = samples + Math.max(PASSES * samples, MIN_BLOCK_SAMPLES);
    const most = Math.floor(((1 - SEARCH_PART) * this.#budget) / (each * perBox));
    const search = () =>
      searchTree(ranges.map(innerRange), {
        perAxis: blocks,
        trials,
        sigma,
        depth,
        room: known => Math.floor(Math.min(most - known, MAX_LEVEL_EVALUATIONS / (samples * perBox))),
        searchable: () => {
          if (ledger.timeSpent > SEARCH_PART) return 0;
          return Math.floor(Math.min(MAX_LEVEL_EVALUATIONS, allowance - ledger.evaluations) / perNode);
        },
        trial: slab => this.#sample(slab, samples, STREAM.search),
      });
    const nodes = await this.#tree(async () => {
      const found = await search();
      await this.#setUnit();
      if (found.length > 1) await this.#share(found, samples);
      return found;
    });
    this.#nodes = nodes;
    const leaves = nodes.length * blocks ** ranges.length;
    // the first PASSES passes have the samples of one trial; the next ones have as many as the tolerance should take
    const first = Math.max(samples, Math.ceil(MIN_PASS_EVALUATIONS / leaves));
    for (let count = first; !ledger.lastIteration; count = this.#wanted(first, leaves)) {
      const left = ledger.left / leaves; // samples per block
      // what fits into the time is a guess, so a first pass is made in spite of it; the budget is exact
      if (left < 2 && (this.#passes.length > 0 || ledger.budgetLeft < 2 * leaves)) break;
      const share = Math.floor(left / Math.max(1, PASSES - this.#passes.length));
      const limit = Math.floor(ledger.iterationLimit / leaves);
      yield* this.#measure(nodes, Math.max(2, Math.min(count, share, limit)));
      if (await this.#enough(nodes.length > 1)) return 'converged';
      if (!this.#seen && this.#ledger.evaluations >= MAX_ZERO_SAMPLES) break;
    }
    return ledger.hurried ? 'time' : 'budget';
  }

  /** The tree: that of the record if it was made by the same plan, otherwise the one that `search` finds. */
  async #tree(search: () => Promise<Node[]>): Promise<Node[]> {
    const { keeps, blocks: old } = this.#problem;
    const plan = JSON.stringify([this.#knobs, this.#budget]);
    if (old?.plan === plan) {
      this.#problem.signal?.throwIfAborted();
      this.#take(old.after);
      this.#unit = old.after.unit;
      this.#old = old.passes;
      this.#record = { ...old, passes: this.#recorded };
      const nodes = nodesOf(old.nodes);
      old.shares.forEach((share, n) => {
        this.#shares.set(nodes[n], share);
      });
      return nodes;
    }
    const before = this.#ledger.evaluations;
    const nodes = await search();
    if (keeps)
      this.#record = {
        plan,
        nodes: nodeRecords(nodes),
        shares: nodes.map(node => this.#shares.get(node) ?? 1),
        after: this.#after(before),
        passes: this.#recorded,
      };
    return nodes;
  }

  /** Where the run is, and what it has spent and found since `before`. */
  #after(before: number): After {
    const after: After = {
      calls: this.#calls,
      unit: this.#unit,
      size: this.#size,
      seen: this.#seen,
      nonFinite: this.#nonFinite,
      spent: this.#ledger.evaluations - before,
      found: this.#found,
    };
    this.#found = [];
    return after;
  }

  /** Goes where a step has led that was recorded. */
  #take({ calls, size, seen, nonFinite, spent, found }: After): void {
    this.#calls = calls;
    this.#size = size;
    this.#seen = seen;
    this.#nonFinite = nonFinite;
    this.#ledger.spend(spent);
    for (const own of found) this.#problem.onNonFinite(own);
  }

  /** A pass that enters the result: from the record if that has one of the same size, otherwise made. */
  async #recordedPass(
    nodes: Node[],
    count: number,
  ): Promise<Pick<PassRecord, 'value' | 'variance' | 'largest'>> {
    const known = this.#old?.[this.#recorded.length];
    if (known?.count === count && known.unit === this.#unit) {
      this.#problem.signal?.throwIfAborted();
      this.#take(known.after);
      this.#known = { sums: new Map(), unit: 1, hidden: known.hidden };
      this.#recorded.push(known);
      return known;
    }
    this.#old = null;
    const [before, unit] = [this.#ledger.evaluations, this.#unit];
    const pass = await this.#pass(nodes, count);
    if (this.#record)
      this.#recorded.push({
        ...pass,
        count,
        unit,
        hidden: this.#hiddenAfter(count),
        after: this.#after(before),
      });
    return pass;
  }

  /** With a deadline, measures how fast the integrand is, and cuts the domain into blocks that the time allows for. */
  async #probe(): Promise<void> {
    const { blocks, samples } = this.#knobs;
    await probe(this.#ledger, blocks ** this.#problem.ranges.length * samples, async n => {
      const { sum, variance, evaluations } = await this.#sample(this.#whole, n, STREAM.probe);
      this.#probed = { value: sum * this.#unit, error: Math.sqrt(variance) * this.#unit, evaluations };
    });
    this.#budget = Math.min(this.#budget, this.#ledger.timeLeft);
    this.#knobs = this.#chooseKnobs();
  }

  get #whole(): Slab {
    const { ranges } = this.#problem;
    return { box: ranges.map(innerRange), strata: ranges.map(() => 1), first: 0, blocks: 1 };
  }

  /** Sets the unit (unit.ts) near the largest mean of a block so far. */
  async #setUnit(): Promise<void> {
    const pilot = Math.max(2, Math.min(PILOT_SAMPLES, Math.floor(this.#ledger.iterationLimit)));
    if (this.#size === 0) await this.#sample(this.#whole, pilot, STREAM.pilot);
    if (this.#size > 0 && this.#size < Infinity) this.#unit = unitFor(this.#size);
  }

  /**
   * Makes a pass that does not enter the result, and sets the samples per node from the deviations that it finds:
   * EVEN_PART of them evenly, the rest in proportion to the deviations.
   */
  async #share(nodes: Node[], samples: number): Promise<void> {
    const spreads: number[] = [];
    await this.#pass(nodes, samples, spreads);
    const deviations = spreads.map(v => (v < Infinity ? Math.sqrt(v) : 0));
    const mean = deviations.reduce((a, b) => a + b, 0) / nodes.length;
    if (!(mean > 0)) return;
    for (const [n, node] of nodes.entries())
      this.#shares.set(node, EVEN_PART + (1 - EVEN_PART) * (deviations[n] / mean));
  }

  /** Samples per block in the next pass. */
  #wanted(first: number, leaves: number): number {
    if (this.#passes.length < PASSES || !this.#seen) return first * this.#larger;
    const { value, error, evaluations } = combine(this.#passes);
    const tolerance = toleranceAt(this.#problem, value);
    const need = tolerance > 0 ? 1.1 * evaluations * ((error / tolerance) ** 2 - 1) : Infinity;
    // where the tolerance is met but the passes are not trusted, the evaluations are doubled
    const next = Math.min(need > 0 ? need : evaluations, Math.max(MAX_PASS_EVALUATIONS, evaluations / 4));
    return Math.max(first, Math.ceil(Math.max(next, evaluations / 8) / leaves));
  }

  /** Makes one pass over all blocks of the tree, and repeats it in another unit when squares overflowed or underflowed. */
  async *#measure(nodes: Node[], count: number): Step<void> {
    for (let tries = 0; ; tries++) {
      const before = this.#ledger.evaluations;
      const pass = await this.#recordedPass(nodes, count);
      const evaluations = this.#ledger.evaluations - before;
      const wrong = unitError({ ...pass, sum: pass.value });
      if (wrong !== 1 && tries < MOST_TRIES && evaluations <= this.#ledger.budgetLeft) {
        this.#unit *= unitFor(wrong);
        continue;
      }
      // the pieces of a group are added one after another, and so are the means of a slab's blocks
      const kept = Math.min(MAX_KEPT_BLOCKS, this.#knobs.blocks ** this.#problem.ranges.length);
      const additions = Math.max(additionsOf(evaluations), this.#knobs.depth > 1 ? kept : 0);
      const rounding = additions * this.#problem.epsilon * Math.abs(pass.value);
      // blocks are parts of the inner ranges of the axes (integrand/inner-range.ts)
      const excess = volumeExcess(this.#problem.ranges);
      const whole = (x: number) => (x + x * excess) * this.#unit;
      const estimate: Estimate = {
        value: whole(pass.value),
        error: whole(Math.sqrt(pass.variance + rounding ** 2)),
        evaluations,
        rounding: whole(rounding),
      };
      this.#passes.push(estimate);
      this.#largest.push({
        share: pass.variance > 0 ? pass.largest / pass.variance : 0,
        own: pass.largest * count,
      });
      this.#counts += count;
      const { value, error } = estimate;
      yield* this.#ledger.note({ value, error, evaluations, adapting: false }, combine(this.#passes));
      return;
    }
  }

  /**
   * The value and the variance over all blocks that are not cut further, and the largest variance of one block, in the
   * present unit. `spreads` receives for each node its part of the variance times the samples per block.
   */
  async #pass(
    nodes: Node[],
    average: number,
    spreads?: number[],
  ): Promise<{ value: number; variance: number; largest: number }> {
    const known = this.#knobs.depth > 1; // whether mean and variance of each block are needed
    const kept = new Map<Node, NodeSums>();
    let [value, variance, largest] = [0, 0, 0];
    for (const node of nodes) {
      const share = average * EVEN_PART >= 2 ? (this.#shares.get(node) ?? 1) : 1;
      const count = Math.floor(average * share);
      const before = variance;
      const perBox = this.#knobs.blocks ** node.box.length;
      const list = () => new Float64Array(known && perBox <= MAX_KEPT_SUMS ? perBox : 0);
      const all: NodeSums = { means: list(), variances: list() };
      let at = 0;
      const slabs = slabsOf(node.box, this.#knobs.blocks, known ? undefined : MAX_SUMMED_BLOCKS);
      for (const slab of slabs) {
        const sums = await this.#sample(slab, count, STREAM.blocks, known);
        if (!known) {
          value += sums.sum / slab.blocks;
          variance += sums.variance / slab.blocks ** 2;
          continue;
        }
        let [sum, squares, most] = [0, 0, 0];
        if (all.means.length > 0) {
          all.means.set(sums.means!, slab.first);
          all.variances.set(sums.variances!, slab.first);
        }
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
      if (all.means.length > 0) kept.set(node, all);
    }
    this.#known = { sums: kept, unit: this.#unit };
    return { value, variance, largest };
  }

  /** What steps between blocks may hide, and blocks beside those that were cut. */
  get #hidden(): number {
    return this.#known.hidden ?? this.#hiddenAfter(0);
  }

  /** The same, after another pass of so many samples per block. */
  #hiddenAfter(more: number): number {
    const { sums, unit } = this.#known;
    const { blocks } = this.#knobs;
    const samplesOf = (node: Node) => this.#samplesOf(node, more);
    const steps = [...sums].map(([node, { means }]) => hiddenBy(means, samplesOf(node), blocks));
    return Math.max(hiddenBeyondFaces(sums, blocks, samplesOf), ...steps) * unit;
  }

  /** Samples per block of a node in all passes, and in another one of so many on average. */
  readonly #samplesOf = (node: Node, more = 0): number =>
    (this.#counts + more) * (this.#shares.get(node) ?? 1);

  async #sample(slab: Slab, counts: number, stream: number, cubes = true): Promise<SampleSums> {
    const { session, key, signal, onNonFinite } = this.#problem;
    const task: SampleTask = {
      key,
      iteration: stream === STREAM.probe ? 0 : this.#calls++, // runs without a deadline have the same numbers
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
    if (stream !== STREAM.probe) this.#seen ||= sums.sum !== 0 || sums.variance !== 0;
    if (stream === STREAM.search || stream === STREAM.pilot)
      this.#size = sums.means!.reduce((a, b) => Math.max(a, Math.abs(b)), this.#size);
    if (sums.nonFinite) {
      onNonFinite(sums.nonFinite);
      if (stream !== STREAM.probe) this.#found.push(sums.nonFinite);
    }
    this.#nonFinite ||= !!sums.nonFinite;
    return sums;
  }

  /** Whether enough samples were 0, and no other was seen, to claim 0. */
  get #isZero(): boolean {
    const { absTol } = this.#problem;
    return !this.#seen && !this.#nonFinite && absTol > 0 && this.#ledger.evaluations >= ZERO_SAMPLES;
  }

  /** Whether the tolerance is met. Passes that are not trusted are discarded: larger ones follow. */
  async #enough(cut: boolean): Promise<boolean> {
    if (this.#isZero) return true;
    if (this.#passes.length < PASSES || !this.#seen) return false;
    const now = combine(this.#passes);
    const tolerance = toleranceAt(this.#problem, now.value);
    if (now.error > tolerance || now.evaluations < leastSamples(this.#problem.maxEvaluations)) return false;
    if (this.#doubt() === null) {
      if ((cut && this.#counts < MIN_BLOCK_SAMPLES) || this.#hidden > tolerance) return false;
      const nearest = nearestOf(this.#nodes, this.#knobs.blocks, node => this.#samplesOf(node));
      const outer = 1 / this.#knobs.blocks; // the outer layer of blocks
      this.#unseen = UNSEEN * ((await this.#problem.unseen?.(nearest, now.evaluations, 0, outer)) ?? 0);
      return this.#unseen <= tolerance;
    }
    if (now.evaluations > this.#budget / 8) return false;
    this.#ledger.discard();
    this.#passes.length = this.#largest.length = this.#counts = 0;
    this.#larger *= 4;
    return false;
  }

  /** Why a measurement is not trusted; null when it is. */
  #doubt(): string | null {
    if (this.#passes.every(p => p.value === 0 && p.error === 0))
      return nothingSeen(this.#seen, this.#ledger.evaluations);
    const { chi2, dof, q } = combine(this.#passes);
    if (dof > 0 && q < SMALLEST_Q)
      return `the passes disagree (chi2/dof ${ratio(chi2, dof)}): the error is larger than it says; raise maxEvaluations`;
    if (this.#passes.length < 3) return null;
    const most = Math.max(...this.#passes.map(p => p.error)) || 1;
    const squares = this.#passes.map(p => (p.error / most) ** 2 * p.evaluations);
    if (Math.max(...squares) > 0.8 * squares.reduce((a, b) => a + b, 0)) return FEW_SAMPLES;
    // a block with most of the variance is no danger as long as all passes find about the same variance in it
    const share = this.#largest.reduce((a, b) => a + b.share, 0) / this.#largest.length;
    const variances = this.#largest.map(l => l.own);
    if (share > 0.5 && Math.max(...variances) > MAX_VARIANCE_RATIO * Math.min(...variances))
      return 'one block has most of the variance, and passes differ about it: it may hide a peak; raise zmc.depth or maxEvaluations';
    return null;
  }

  outcome(status: Status): Outcome {
    const found = this.#probed;
    const passes =
      this.#passes.length > 0 ? this.#passes : [found ?? { value: 0, error: Infinity, evaluations: 1 }];
    const warnings: string[] = [];
    if (this.#passes.length === 0)
      warnings.push(
        `the run ended before anything was measured: ${found ? `this is what ${found.evaluations} samples saw` : 'there is no estimate'}`,
      );
    const zero = this.#isZero && status === 'converged';
    const doubt = this.#passes.length > 0 && !zero ? this.#doubt() : null;
    if (doubt) warnings.push(doubt);
    const { value, error: own, chi2, dof, q } = combine(passes);
    const tolerance = toleranceAt(this.#problem, value);
    // an error within the tolerance has to allow for what samples do not show, also where that forbids the claim
    const floor = own <= tolerance ? Math.max(this.#hidden, this.#unseen) : 0;
    if (floor > tolerance && !doubt) warnings.push(this.#unseen > tolerance ? STEEP_ENDS : BESIDE_CUT);
    const error = zero ? this.#problem.absTol : Math.max(own, floor);
    const { evaluations } = this.#ledger;
    const record = this.#record && { record: this.#record };
    return { value, error, status, evaluations, chi2, dof, q, warnings, ...record };
  }
}

/** Parts per axis: as many as give at most `most` blocks, an odd number if possible, since peaks often are in the middle. */
function blocksFor(dims: number, most: number): number {
  let n = 1;
  while ((n + 1) ** dims <= most && n < 63) n++;
  if (n < 3 && 3 ** dims <= 16 * most) return 3;
  return n > 2 && n % 2 === 0 ? n - 1 : n;
}
