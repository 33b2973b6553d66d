/**
 * ZMCintegral: stratified sampling with a heuristic tree search; see tree-search.ts.
 *
 * The search finds the tree from `trials` trials per block. Then the tree is frozen, and all blocks are sampled anew in
 * passes until the tolerance is met; the error is that of the mean of the passes. The weight of a block is its volume, and
 * its variance is that of its own samples. Several results share the tree and the samples; see several-blocks.ts.
 *
 * This follows the paper, not the public code, which numbers cells one way in its kernel and the other way on the host
 * and so refines a wrong cell, lets padding into the threshold, and reports the deviation of one trial.
 */

import { innerRange, volumeExcess } from '../../integrand/inner-range.ts';
import { OptionError } from '../../options/option-error.ts';
import { withDefaults } from '../../options/table.ts';
import { STREAM } from '../../random/philox.ts';
import { additionsOf, sumRounding } from '../../tasks/pieces.ts';
import { type Combined, combineAll, type Estimate } from '../combine.ts';
import { hiddenBy } from '../jumps.ts';
import { Ledger } from '../ledger.ts';
import {
  goalsOf,
  type MethodProblem,
  type Outcome,
  type Run,
  type Status,
  type Step,
  statusAtEnd,
  toleranceAt,
} from '../method.ts';
import { probe } from '../probe.ts';
import {
  estimatedOutcome,
  hopelessGoals,
  ofResult,
  recordOf,
  runningOf,
  toleranceOf,
} from '../several-estimates.ts';
import {
  disagreement,
  FEW_SAMPLES,
  isZeroClaim,
  MAX_ZERO_SAMPLES,
  nothingSeen,
  STEEP_ENDS,
  unseenAtEnds,
  zeroSamplesOfOne,
} from '../trust.ts';
import { MOST_TRIES, unitError, unitFor } from '../unit.ts';
import { BlockSampler } from './block-sampler.ts';
import { MAX_KEPT_BLOCKS, MAX_SUMMED_BLOCKS, type Slab, slabsOf } from './blocks.ts';
import { facesOf, hiddenBeyondFaces, type NodeSums } from './faces.ts';
import { nearestOf } from './nearest.ts';
import { ZMC_OPTIONS, type ZmcOptions } from './options.ts';
import { nodeRecords, nodesOf, type PassRecord, type PassTotals, type ZmcRecord } from './record.ts';
import { SeveralBlocks } from './several-blocks.ts';
import { type Node, searchTree, trialDeviations } from './tree-search.ts';

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
const ONE_BLOCK =
  'one block has most of the variance, and passes differ about it: it may hide a peak; raise zmc.depth or maxEvaluations';
/** Evaluations per pass, at most, or a quarter of all before it: progress is reported and time limits are kept. */
const MAX_PASS_EVALUATIONS = 2 ** 26;

export async function* zmc(problem: MethodProblem, options: ZmcOptions): Run {
  const run = new ZmcRun(problem, options);
  return run.outcome(yield* statusAtEnd(run.integrate(), problem.signal));
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
  readonly #sampler: BlockSampler;
  /** What several results need beyond that; null for one. */
  readonly #several: SeveralBlocks | null;
  /** The results whose tolerance has to be met; of an integrand that returns a number, number 0. */
  readonly #goals: readonly number[];
  /** What the last probe found: an estimate for runs that end before their first pass does. */
  #probed: Estimate | null = null;
  /** Means and variances of blocks in the last pass, in its unit; or what they may hide, if the pass is from a record. */
  #known: { sums: ReadonlyMap<Node, NodeSums>; unit: number; hidden?: number } = { sums: new Map(), unit: 1 };
  /** For each goal, the error that a claim needs for what lies closer to singular ends than samples come; empty until all else allows a claim. */
  #unseen: readonly number[] = [];
  /** What is recorded of this run; null before its search has ended, or if nobody asks. */
  #record: ZmcRecord | null = null;
  readonly #recorded: PassRecord[] = [];
  /** Passes of an earlier run; null once this run has left them. */
  #old: readonly PassRecord[] | null = null;
  /** One result, for each pass: the largest variance of a block as a part of the whole variance, and the variance per sample itself. */
  readonly #largest: { share: number; own: number }[] = [];

  constructor(problem: MethodProblem, options: ZmcOptions) {
    this.#problem = problem;
    this.#ledger = new Ledger(problem);
    this.#sampler = new BlockSampler(problem, this.#ledger);
    if (problem.several?.allPairs)
      throw new OptionError(
        'covariance',
        'all',
        "`zmc` has covariances within 16 results: use method 'vegas+'",
      );
    this.#several = problem.several
      ? new SeveralBlocks(problem.several, this.#sampler, problem.epsilon)
      : null;
    this.#goals = goalsOf(problem);
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
        sigma,
        depth,
        room: known => Math.floor(Math.min(most - known, MAX_LEVEL_EVALUATIONS / (samples * perBox))),
        searchable: () => {
          if (ledger.timeSpent > SEARCH_PART) return 0;
          return Math.floor(Math.min(MAX_LEVEL_EVALUATIONS, allowance - ledger.evaluations) / perNode);
        },
        deviations: slab =>
          this.#several?.deviations(slab, trials, samples) ??
          trialDeviations(trials, () => this.#sampler.one(slab, samples, STREAM.search)),
      });
    const nodes = await this.#tree(async () => {
      await this.#several?.pilot(this.#whole, this.#pilotSamples);
      const found = await search();
      if (this.#several) await this.#look(found, samples);
      else {
        await this.#setUnit();
        if (found.length > 1) await this.#share(found, samples);
      }
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
      if (!this.#sampler.seen && this.#ledger.evaluations >= MAX_ZERO_SAMPLES) break;
    }
    return ledger.hurried ? 'time' : 'budget';
  }

  /** The tree: that of the record if it was made by the same plan, otherwise the one that `search` finds. */
  async #tree(search: () => Promise<Node[]>): Promise<Node[]> {
    const { keeps, blocks: old, several } = this.#problem;
    const of = several ? [several.goals, several.leads] : [];
    const plan = JSON.stringify([this.#knobs, this.#budget, ...of]);
    if (old?.plan === plan) {
      this.#problem.signal?.throwIfAborted();
      this.#sampler.take(old.after);
      this.#sampler.unit = old.after.unit;
      if (this.#several) {
        this.#several.units = old.units!;
        this.#several.floors = old.floors!;
      }
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
        after: this.#sampler.after(before),
        ...(this.#several && { units: this.#several.units, floors: this.#several.floors }),
        passes: this.#recorded,
      };
    return nodes;
  }

  /** A pass that enters the result: from the record if that has one of the same size, otherwise made. */
  async #recordedPass(nodes: Node[], count: number): Promise<PassTotals> {
    const known = this.#old?.[this.#recorded.length];
    const units = this.#several && { units: this.#several.units };
    const sameUnits = (units?.units ?? []).every((u, r) => u === known?.units?.[r]);
    if (known?.count === count && known.unit === this.#sampler.unit && sameUnits) {
      this.#problem.signal?.throwIfAborted();
      this.#sampler.take(known.after);
      this.#known = { sums: new Map(), unit: 1, hidden: known.hidden };
      this.#recorded.push(known);
      return known;
    }
    this.#old = null;
    const { evaluations: before } = this.#ledger;
    const { unit } = this.#sampler;
    const pass = await (this.#several ? this.#passOfSeveral(nodes, count) : this.#pass(nodes, count));
    if (this.#record)
      this.#recorded.push({
        ...pass,
        count,
        unit,
        ...units,
        hidden: this.#several ? 0 : this.#hiddenAfter(count),
        after: this.#sampler.after(before),
      });
    return pass;
  }

  /** With a deadline, measures how fast the integrand is, and cuts the domain into blocks that the time allows for. */
  async #probe(): Promise<void> {
    const { blocks, samples } = this.#knobs;
    await probe(this.#ledger, blocks ** this.#problem.ranges.length * samples, async n => {
      if (this.#several) {
        const { passes, evaluations } = await this.#several.whole(this.#whole, n, STREAM.probe);
        const one = (unit: number, value: number, variance: number): Estimate => ({
          value: value * unit,
          error: Math.sqrt(variance) * unit,
          evaluations,
        });
        this.#probed = this.#several.estimate(
          passes!.map(p => p.sums),
          evaluations,
          one,
        );
        return;
      }
      const { unit } = this.#sampler;
      const { sum, variance, evaluations } = await this.#sampler.one(this.#whole, n, STREAM.probe);
      this.#probed = { value: sum * unit, error: Math.sqrt(variance) * unit, evaluations };
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
    const sampler = this.#sampler;
    if (sampler.size === 0) await sampler.one(this.#whole, this.#pilotSamples, STREAM.pilot);
    if (sampler.size > 0 && sampler.size < Infinity) sampler.unit = unitFor(sampler.size);
  }

  get #pilotSamples(): number {
    return Math.max(2, Math.min(PILOT_SAMPLES, Math.floor(this.#ledger.iterationLimit)));
  }

  /** Several results: looks at all blocks, for floors and shares, if samples per block are left for that and two for each pass. */
  async #look(nodes: Node[], samples: number): Promise<void> {
    const { blocks, depth } = this.#knobs;
    if (depth === 1) {
      this.#several!.floors = [];
      return;
    }
    const leaves = nodes.length * blocks ** this.#problem.ranges.length;
    if (this.#ledger.left < (samples + 2 * PASSES) * leaves) return;
    const spreads = await this.#several!.look(nodes, blocks, samples, MAX_KEPT_SUMS);
    if (nodes.length > 1) this.#setShares(nodes, spreads);
  }

  /**
   * Makes a pass that does not enter the result, and sets the samples per node from the deviations that it finds:
   * EVEN_PART of them evenly, the rest in proportion to the deviations.
   */
  async #share(nodes: Node[], samples: number): Promise<void> {
    const spreads: number[] = [];
    await this.#pass(nodes, samples, spreads);
    this.#setShares(nodes, spreads);
  }

  /** `spreads`: the variance of each node per sample of a block. */
  #setShares(nodes: Node[], spreads: readonly number[]): void {
    const deviations = spreads.map(v => (v < Infinity ? Math.sqrt(v) : 0));
    const mean = deviations.reduce((a, b) => a + b, 0) / nodes.length;
    if (!(mean > 0)) return;
    for (const [n, node] of nodes.entries())
      this.#shares.set(node, EVEN_PART + (1 - EVEN_PART) * (deviations[n] / mean));
  }

  /** Samples per block in the next pass. */
  #wanted(first: number, leaves: number): number {
    if (this.#passes.length < PASSES || !this.#sampler.seen) return first * this.#larger;
    const now = this.#combined(this.#passes);
    const { evaluations } = now;
    const needs = this.#goals.map(g => {
      const { value, error } = ofResult(now, g);
      const tolerance = toleranceAt(this.#problem, value, g);
      if (error === 0 && now.results) return 0; // of several results one may be 0 everywhere
      return tolerance > 0 ? 1.1 * evaluations * ((error / tolerance) ** 2 - 1) : Infinity;
    });
    const need = Math.max(...needs);
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
      if (tries < MOST_TRIES && evaluations <= this.#ledger.budgetLeft && this.#outOfUnit(pass)) continue;
      // the pieces of a group are added one after another, and so are the means of a slab's blocks
      const kept = Math.min(MAX_KEPT_BLOCKS, this.#knobs.blocks ** this.#problem.ranges.length);
      const additions = Math.max(additionsOf(evaluations), this.#knobs.depth > 1 ? kept : 0);
      // blocks are parts of the inner ranges of the axes (integrand/inner-range.ts)
      const excess = volumeExcess(this.#problem.ranges);
      const one = (unit: number, value: number, variance: number): Estimate => {
        const rounding = sumRounding(additions, this.#problem.epsilon) * Math.abs(value);
        const whole = (x: number) => (x + x * excess) * unit;
        return {
          value: whole(value),
          error: whole(Math.sqrt(variance + rounding ** 2)),
          evaluations,
          rounding: whole(rounding),
        };
      };
      const estimate = pass.several
        ? this.#several!.estimate(pass.several, evaluations, one)
        : one(this.#sampler.unit, pass.value, pass.variance);
      this.#passes.push(estimate);
      this.#largest.push({
        share: pass.variance > 0 ? pass.largest / pass.variance : 0,
        own: pass.largest * count,
      });
      this.#counts += count;
      yield* this.#ledger.note(recordOf(estimate, false), runningOf(this.#combined(this.#passes)));
      return;
    }
  }

  /** Corrects units when squares overflowed or underflowed; returns whether the pass has to be repeated. */
  #outOfUnit({ value, variance, several }: PassTotals): boolean {
    if (several) return this.#several!.outOfUnit(several);
    const wrong = unitError({ sum: value, variance }, this.#problem.epsilon);
    if (wrong !== 1) this.#sampler.unit *= unitFor(wrong);
    return wrong !== 1;
  }

  /** Samples per block of a node in a pass of so many on average. */
  #countOf(node: Node, average: number): number {
    return Math.floor(average * (average * EVEN_PART >= 2 ? (this.#shares.get(node) ?? 1) : 1));
  }

  async #passOfSeveral(nodes: Node[], average: number): Promise<PassTotals> {
    const several = await this.#several!.pass(nodes, this.#knobs.blocks, node =>
      this.#countOf(node, average),
    );
    return { value: 0, variance: 0, largest: 0, several };
  }

  /**
   * The value and the variance over all blocks that are not cut further, and the largest variance of one block, in the
   * present unit. `spreads` receives for each node its part of the variance times the samples per block.
   */
  async #pass(nodes: Node[], average: number, spreads?: number[]): Promise<PassTotals> {
    const known = this.#knobs.depth > 1; // whether mean and variance of each block are needed
    const kept = new Map<Node, NodeSums>();
    let [value, variance, largest] = [0, 0, 0];
    for (const node of nodes) {
      const count = this.#countOf(node, average);
      const before = variance;
      const perBox = this.#knobs.blocks ** node.box.length;
      const list = () => new Float64Array(known && perBox <= MAX_KEPT_SUMS ? perBox : 0);
      const all: NodeSums = { means: list(), variances: list() };
      let at = 0;
      const slabs = slabsOf(node.box, this.#knobs.blocks, known ? undefined : MAX_SUMMED_BLOCKS);
      for (const slab of slabs) {
        const sums = await this.#sampler.one(slab, count, STREAM.blocks, known);
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
    this.#known = { sums: kept, unit: this.#sampler.unit };
    return { value, variance, largest };
  }

  /** What steps between blocks may hide of each goal, and blocks beside those that were cut; by the goal's number. */
  get #hidden(): ReadonlyMap<number, number> {
    const several = this.#several?.hidden(n => this.#samplesOf(this.#nodes[n]));
    return several ?? new Map([[0, this.#known.hidden ?? this.#hiddenAfter(0)]]);
  }

  /** The same for an integrand that returns a number, after another pass of so many samples per block. */
  #hiddenAfter(more: number): number {
    const { sums, unit } = this.#known;
    const { blocks } = this.#knobs;
    const samplesOf = (node: Node) => this.#samplesOf(node, more);
    const steps = [...sums].map(([node, { means }]) => hiddenBy(means, samplesOf(node), blocks));
    return Math.max(hiddenBeyondFaces(facesOf(sums, blocks), samplesOf), ...steps) * unit;
  }

  /** Samples per block of a node in all passes, and in another one of so many on average. */
  readonly #samplesOf = (node: Node, more = 0): number =>
    (this.#counts + more) * (this.#shares.get(node) ?? 1);

  /** Whether enough samples were 0, and no other was seen, to claim 0. */
  get #isZero(): boolean {
    return isZeroClaim(this.#problem, this.#ledger, this.#sampler);
  }

  /** Whether the tolerance is met. Passes that are not trusted are discarded: larger ones follow. */
  async #enough(cut: boolean): Promise<boolean> {
    if (this.#isZero) return true;
    if (this.#passes.length < PASSES || !this.#sampler.seen) return false;
    const now = this.#combined(this.#passes);
    const tolerance = (g: number) => this.#toleranceOf(now, g);
    if (now.evaluations < leastSamples(this.#problem.maxEvaluations)) return false;
    if (!this.#goals.every(g => this.#isMet(now, g))) return false;
    if (this.#doubt() === null) {
      if (cut && this.#counts < MIN_BLOCK_SAMPLES) return false;
      if (this.#several && !this.#several.floors) return false;
      const hidden = this.#hidden;
      if (this.#goals.some(g => (hidden.get(g) ?? 0) > tolerance(g))) return false;
      const nearest = nearestOf(this.#nodes, this.#knobs.blocks, node => this.#samplesOf(node));
      const outer = 1 / this.#knobs.blocks; // the outer layer of blocks
      this.#unseen = await unseenAtEnds(this.#problem, nearest, now.evaluations, outer);
      return this.#goals.every(g => this.#unseen[g] <= tolerance(g));
    }
    if (now.evaluations > this.#budget / 8) return false;
    this.#ledger.discard();
    this.#passes.length = this.#largest.length = this.#counts = 0;
    this.#larger *= 4;
    return false;
  }

  #combined(estimates: readonly Estimate[]): Combined {
    return combineAll(estimates, this.#goals[0]);
  }

  #toleranceOf(now: Combined, result: number): number {
    return toleranceOf(this.#problem, now, result);
  }

  /** Whether the error of a result is within its tolerance; of several results one may be 0 everywhere, by as many samples. */
  #isMet(now: Combined, result: number): boolean {
    const { error } = ofResult(now, result);
    const enough = now.evaluations >= zeroSamplesOfOne(this.#problem);
    return error <= this.#toleranceOf(now, result) || (error === 0 && !!now.results && enough);
  }

  /** Why a measurement is not trusted; null when it is. */
  #doubt(): string | null {
    const isZero = ({ value, error }: Estimate) => value === 0 && error === 0;
    if (this.#passes.every(p => this.#goals.every(g => isZero(ofResult(p, g)))))
      return nothingSeen(this.#sampler.seen, this.#ledger.evaluations);
    const now = this.#combined(this.#passes);
    const disagree = disagreement(this.#problem, now, 'the passes disagree (chi2/dof');
    if (disagree) return disagree;
    if (this.#passes.length < 3) return null;
    for (const g of this.#goals) {
      const own = this.#passes.map(p => ofResult(p, g));
      const most = Math.max(...own.map(p => p.error)) || 1;
      const squares = own.map(p => (p.error / most) ** 2 * p.evaluations);
      if (Math.max(...squares) > 0.8 * squares.reduce((a, b) => a + b, 0)) return FEW_SAMPLES;
      // passes of several results do not tell the variance of each block: passes that differ as much have one that carries it
      if (this.#several && Math.max(...squares) > MAX_VARIANCE_RATIO * Math.min(...squares)) return ONE_BLOCK;
    }
    if (this.#several) return null;
    // a block with most of the variance is no danger as long as all passes find about the same variance in it
    const share = this.#largest.reduce((a, b) => a + b.share, 0) / this.#largest.length;
    const variances = this.#largest.map(l => l.own);
    if (share > 0.5 && Math.max(...variances) > MAX_VARIANCE_RATIO * Math.min(...variances)) return ONE_BLOCK;
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
    const now = this.#combined(passes);
    if (status !== 'converged' && this.#passes.length > 0)
      warnings.push(...hopelessGoals(this.#problem, now));
    // an error within the tolerance has to allow for what samples do not show, also where that forbids the claim
    const hidden = this.#passes.length > 0 ? this.#hidden : new Map<number, number>();
    const floorOf = (r: number) =>
      this.#isMet(now, r) ? Math.max(hidden.get(r) ?? 0, this.#unseen[r] ?? 0) : 0;
    const above = this.#goals.find(g => floorOf(g) > this.#toleranceOf(now, g));
    if (above !== undefined && !doubt) {
      const steep = this.#goals.some(g => (this.#unseen[g] ?? 0) > this.#toleranceOf(now, g));
      warnings.push(steep ? STEEP_ENDS : BESIDE_CUT);
    }
    const errorOf = (r: number) =>
      zero ? this.#problem.absTol : Math.max(ofResult(now, r).error, floorOf(r));
    const { evaluations } = this.#ledger;
    const record = this.#record && { record: this.#record };
    return { ...estimatedOutcome(this.#problem, now, errorOf, { status, evaluations, warnings }), ...record };
  }
}

/** Parts per axis: as many as give at most `most` blocks, an odd number if possible, since peaks often are in the middle. */
function blocksFor(dims: number, most: number): number {
  let n = 1;
  while ((n + 1) ** dims <= most && n < 63) n++;
  if (n < 3 && 3 ** dims <= 16 * most) return 3;
  return n > 2 && n % 2 === 0 ? n - 1 : n;
}
