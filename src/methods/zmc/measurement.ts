/**
 * A measurement of ZMC: passes over all blocks of a frozen tree, and what may be claimed of them.
 *
 * Every pass samples each block anew, so passes are independent and the error is that of their mean. A claim needs at least PASSES of
 * them that agree (χ²), no pass and no single block that carries most of the variance, and an error within the tolerance of each goal,
 * which also allows for what blocks beside cut ones (faces.ts), steps (jumps.ts) and singular ends (ends/end-excess.ts) may hide. Passes
 * that are not trusted are discarded, and larger ones follow.
 */
import { volumeExcess } from '../../integrand/inner-range.ts';
import { additionsOf, sumRounding } from '../../tasks/pieces.ts';
import { type Combined, combineAll, type Estimate } from '../combine.ts';
import { goalsOf, type Step } from '../method.ts';
import { isZeroEstimate, ofResult, recordOf, runningOf, toleranceOf } from '../several-estimates.ts';
import {
  disagreement,
  FEW_SAMPLES,
  isConstant,
  isZeroClaim,
  nothingSeen,
  STEEP_ENDS,
  unseenAtEnds,
  zeroSamplesOfOne,
} from '../trust.ts';
import { MOST_TRIES } from '../unit.ts';
import type { BlockTree } from './block-tree.ts';
import { MAX_KEPT_BLOCKS } from './blocks.ts';
import { MIN_BLOCK_SAMPLES, PASSES, type Plan } from './plan.ts';
import type { CountedPass } from './record.ts';
import type { RecordedPasses, ZmcParts } from './recorded-passes.ts';

/** Evaluations per pass, at most, or a quarter of all before it: progress is reported and time limits are kept. */
const MAX_PASS_EVALUATIONS = 2 ** 26;
/** Samples that a claim needs at least, with this budget: what lies on less than 5 of so many parts of the domain can hide. */
const leastSamples = (maxEvaluations: number): number => Math.min(2 ** 15, maxEvaluations / 4);
/** A pass with more than this part of the variance of all passes rests on a few samples. */
const MOST_OF_VARIANCE = 0.8;

const BESIDE_CUT =
  'blocks beside those that were cut may hide a part of what was found there; raise maxEvaluations, or take another number of zmc.blocks';
const ONE_BLOCK =
  'one block has most of the variance, and passes differ about it: it may hide a peak; raise zmc.depth or maxEvaluations';

export class BlockMeasurement {
  readonly #parts: ZmcParts;
  readonly #goals: readonly number[];
  readonly #recorded: RecordedPasses;
  readonly #plan: Plan;
  readonly #tree: BlockTree;
  readonly estimates: Estimate[] = [];
  /** What these estimates are made of. */
  readonly #passes: CountedPass[] = [];
  /** The factor by which first passes are larger, after measurements that were not trusted. */
  #larger = 1;
  /** For each goal, the error that a claim needs for what lies at singular ends; empty until all else allows a claim. */
  #unseen: readonly number[] = [];

  constructor(parts: ZmcParts, recorded: RecordedPasses, plan: Plan, tree: BlockTree) {
    this.#parts = parts;
    this.#goals = goalsOf(parts.problem);
    this.#recorded = recorded;
    this.#plan = plan;
    this.#tree = tree;
  }

  /** The mean of the passes. */
  get now(): Combined {
    return combineAll(this.estimates, this.#goals[0]);
  }

  /** Makes one pass over all blocks of the tree, and repeats it in another unit when squares overflowed or underflowed. */
  async *pass(count: number): Step<void> {
    const { ledger, blocks } = this.#parts;
    for (let tries = 0; ; tries++) {
      const before = ledger.evaluations;
      const pass = await this.#recorded.pass(this.#tree, count);
      const evaluations = ledger.evaluations - before;
      const mayRepeat = tries < MOST_TRIES && evaluations <= ledger.budgetLeft;
      if (mayRepeat && blocks.outOfUnit(pass)) continue;
      const estimate = blocks.estimate(pass, evaluations, this.#estimateOf(evaluations));
      this.estimates.push(estimate);
      this.#passes.push({ ...pass, count });
      this.#tree.samples += count;
      yield* ledger.note(recordOf(estimate, false), runningOf(this.now));
      return;
    }
  }

  /** Makes estimates of results of a pass. */
  #estimateOf(evaluations: number) {
    const { epsilon, ranges } = this.#parts.problem;
    // the pieces of a group are added one after another, and so are the means of a slab's blocks
    const kept = this.#tree.searched ? Math.min(MAX_KEPT_BLOCKS, this.#tree.perNode) : 0;
    const part = sumRounding(Math.max(additionsOf(evaluations), kept), epsilon);
    // blocks are parts of the inner ranges of the axes (integrand/inner-range.ts)
    const excess = volumeExcess(ranges);
    return (unit: number, value: number, variance: number): Estimate => {
      const rounding = part * Math.abs(value);
      const whole = (x: number) => (x + x * excess) * unit;
      return {
        value: whole(value),
        error: whole(Math.sqrt(variance + rounding ** 2)),
        evaluations,
        rounding: whole(rounding),
      };
    };
  }

  /** Samples per block in the next pass. The first PASSES passes have `first`, the next ones as many as the tolerance should take. */
  wanted(first: number): number {
    if (this.estimates.length < PASSES || !this.#parts.sampler.seen) return first * this.#larger;
    const { now } = this;
    const { evaluations } = now;
    const needs = this.#goals.map(g => {
      const { error } = ofResult(now, g);
      const tolerance = this.#tolerance(now, g);
      if (error === 0 && now.results) return 0; // of several results one may be 0 everywhere
      return tolerance > 0 ? 1.1 * evaluations * ((error / tolerance) ** 2 - 1) : Infinity;
    });
    const need = Math.max(...needs);
    // where the tolerance is met but the passes are not trusted, the evaluations are doubled
    const next = Math.min(need > 0 ? need : evaluations, Math.max(MAX_PASS_EVALUATIONS, evaluations / 4));
    return Math.max(first, Math.ceil(Math.max(next, evaluations / 8) / this.#tree.leaves));
  }

  /** Whether enough samples were 0, and no other was seen, to claim 0. */
  get isZero(): boolean {
    return isZeroClaim(this.#parts.problem, this.#parts.ledger, this.#parts.sampler);
  }

  /** Whether the tolerance is met. Passes that are not trusted are discarded: larger ones follow. */
  async enough(): Promise<boolean> {
    if (this.isZero) return true;
    if (this.estimates.length < PASSES || !this.#parts.sampler.seen) return false;
    const { now } = this;
    if (now.evaluations < leastSamples(this.#parts.problem.maxEvaluations)) return false;
    if (isConstant(this.#parts.problem, now) && now.evaluations < zeroSamplesOfOne(this.#parts.problem))
      return false;
    if (!this.#goals.every(g => this.#isMet(now, g))) return false;
    if (this.doubt() === null) return this.#mayClaim(now);
    if (now.evaluations > this.#plan.budget / 8) return false;
    this.#parts.ledger.discard();
    this.estimates.length = this.#passes.length = this.#tree.samples = 0;
    this.#larger *= 4;
    return false;
  }

  /** Whether what samples do not show is within the tolerances as well. */
  async #mayClaim(now: Combined): Promise<boolean> {
    const tree = this.#tree;
    if (tree.isCut && tree.samples < MIN_BLOCK_SAMPLES) return false;
    if (!this.#parts.blocks.knowsHidden) return false;
    const hidden = this.#parts.blocks.hidden(tree);
    if (this.#goals.some(g => (hidden.get(g) ?? 0) > this.#tolerance(now, g))) return false;
    const outer = 1 / tree.perAxis; // the outer layer of blocks
    this.#unseen = await unseenAtEnds(this.#parts.problem, tree.nearest, now.evaluations, outer);
    return !this.#isSteep(now);
  }

  /** Whether more than the tolerance of a goal may lie closer to singular ends than samples come. */
  #isSteep(now: Combined): boolean {
    return this.#goals.some(g => (this.#unseen[g] ?? 0) > this.#tolerance(now, g));
  }

  #tolerance(now: Combined, result: number): number {
    return toleranceOf(this.#parts.problem, now, result);
  }

  /** Whether the error of a result is within its tolerance; of several results one may be 0 everywhere, by as many samples. */
  #isMet(now: Combined, result: number): boolean {
    const { error } = ofResult(now, result);
    const enough = now.evaluations >= zeroSamplesOfOne(this.#parts.problem);
    return error <= this.#tolerance(now, result) || (error === 0 && !!now.results && enough);
  }

  /** Why the passes are not trusted; null when they are. */
  doubt(): string | null {
    if (this.estimates.every(e => this.#goals.every(g => isZeroEstimate(ofResult(e, g)))))
      return nothingSeen(this.#parts.sampler.seen, this.#parts.ledger.evaluations);
    const disagree = disagreement(this.#parts.problem, this.now, 'the passes disagree (chi2/dof');
    if (disagree) return disagree;
    if (this.estimates.length < 3) return null;
    for (const g of this.#goals) {
      const own = this.estimates.map(e => ofResult(e, g));
      const largest = Math.max(...own.map(e => e.error)) || 1;
      const squares = own.map(e => (e.error / largest) ** 2 * e.evaluations);
      if (Math.max(...squares) > MOST_OF_VARIANCE * squares.reduce((a, b) => a + b, 0)) return FEW_SAMPLES;
      if (this.#parts.blocks.differByOneBlock(this.#passes, squares)) return ONE_BLOCK;
    }
    return null;
  }

  /**
   * The errors of results. One that is within the tolerance has to allow for what samples do not show, also where that forbids the claim;
   * then there is a warning.
   */
  errors(now: Combined): { errorOf: (result: number) => number; warning: string | null } {
    const hidden = this.#parts.blocks.hidden(this.#tree);
    const floorOf = (r: number) =>
      this.#isMet(now, r) ? Math.max(hidden.get(r) ?? 0, this.#unseen[r] ?? 0) : 0;
    const isAbove = this.#goals.some(g => floorOf(g) > this.#tolerance(now, g));
    return {
      errorOf: r => Math.max(ofResult(now, r).error, floorOf(r)),
      warning: isAbove ? (this.#isSteep(now) ? STEEP_ENDS : BESIDE_CUT) : null,
    };
  }
}
