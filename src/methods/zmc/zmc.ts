/**
 * ZMCintegral (H.-Z. Wu, J.-J. Zhang, L.-G. Pang, Q. Wang): stratified sampling with a heuristic tree search; see tree-search.ts.
 *
 * The search finds the tree from `trials` trials per block. Then the tree is frozen, and all blocks are sampled anew in
 * passes until the tolerance is met; the error is that of the mean of the passes (measurement.ts). The weight of a block is its volume,
 * and its variance is that of its own samples. Several results share the tree and the samples; see several-blocks.ts.
 *
 * This follows the paper, not the public code, which numbers cells one way in its kernel and the other way on the host
 * and so refines a wrong cell, lets padding into the threshold, and reports the deviation of one trial.
 */
import { innerRange } from '../../integrand/inner-range.ts';
import { OptionError } from '../../options/option-error.ts';
import { combineAll, type Estimate } from '../combine.ts';
import { Ledger } from '../ledger.ts';
import {
  goalsOf,
  type MethodProblem,
  type Outcome,
  type Run,
  type Status,
  type Step,
  statusAtEnd,
} from '../method.ts';
import { probe } from '../probe.ts';
import { estimatedOutcome, hopelessGoals, ofResult } from '../several-estimates.ts';
import { MAX_ZERO_SAMPLES } from '../trust.ts';
import { BlockSampler } from './block-sampler.ts';
import { BlockTree } from './block-tree.ts';
import { BlockMeasurement } from './measurement.ts';
import { OneResultBlocks } from './one-result-blocks.ts';
import type { ZmcOptions } from './options.ts';
import { MIN_BLOCK_SAMPLES, PASSES, type Plan, planFor, SEARCH_PART } from './plan.ts';
import { RecordedPasses, type ZmcParts } from './recorded-passes.ts';
import { SeveralBlocks } from './several-blocks.ts';
import { searchTree } from './tree-search.ts';

/** Evaluations that one level of the tree may take. */
const MAX_LEVEL_EVALUATIONS = 2 ** 22;
/** Evaluations per pass, at least, so that its error is known well enough. */
const MIN_PASS_EVALUATIONS = 2 ** 12;

export async function* zmc(problem: MethodProblem, options: ZmcOptions): Run {
  const run = new ZmcRun(problem, options);
  return run.outcome(yield* statusAtEnd(run.integrate(), problem.signal));
}

class ZmcRun {
  readonly #options: ZmcOptions;
  readonly #parts: ZmcParts;
  readonly #recorded: RecordedPasses;
  /** What the last probe found: an estimate for runs that end before their first pass does. */
  #probed: Estimate | null = null;
  /** Null before the tree is known. */
  #measurement: BlockMeasurement | null = null;

  constructor(problem: MethodProblem, options: ZmcOptions) {
    const { several, epsilon } = problem;
    if (several?.allPairs)
      throw new OptionError(
        'covariance',
        'all',
        "`zmc` has covariances within 16 results: use method 'vegas+'",
      );
    this.#options = options;
    const ledger = new Ledger(problem);
    const sampler = new BlockSampler(problem, ledger);
    const blocks = several
      ? new SeveralBlocks(several, sampler, epsilon)
      : new OneResultBlocks(sampler, epsilon);
    this.#parts = { problem, ledger, sampler, blocks };
    this.#recorded = new RecordedPasses(this.#parts);
  }

  async *integrate(): Step<Status> {
    const { ledger, sampler } = this.#parts;
    const plan = await this.#probe();
    const tree = await this.#recorded.tree(plan, () => this.#search(plan));
    const measurement = new BlockMeasurement(this.#parts, this.#recorded, plan, tree);
    this.#measurement = measurement;
    const { leaves } = tree;
    const first = Math.max(plan.samples, Math.ceil(MIN_PASS_EVALUATIONS / leaves));
    for (let count = first; !ledger.lastIteration; count = measurement.wanted(first)) {
      const left = ledger.left / leaves; // samples per block
      const made = measurement.estimates.length;
      // what fits into the time is a guess, so a first pass is made in spite of it; the budget is exact
      if (left < 2 && (made > 0 || ledger.budgetLeft < 2 * leaves)) break;
      const share = Math.floor(left / Math.max(1, PASSES - made));
      const limit = Math.floor(ledger.iterationLimit / leaves);
      yield* measurement.pass(Math.max(2, Math.min(count, share, limit)));
      if (await measurement.enough()) return 'converged';
      if (!sampler.seen && ledger.evaluations >= MAX_ZERO_SAMPLES) break;
    }
    return ledger.hurried ? 'time' : 'budget';
  }

  /** With a deadline, measures how fast the integrand is; the domain is cut into blocks that budget and time allow for. */
  async #probe(): Promise<Plan> {
    const { problem, ledger, blocks } = this.#parts;
    const { maxEvaluations, ranges } = problem;
    const plan = planFor(problem, this.#options, maxEvaluations);
    await probe(ledger, plan.blocks ** ranges.length * plan.samples, async n => {
      this.#probed = await blocks.probe(n);
    });
    return planFor(problem, this.#options, Math.min(maxEvaluations, ledger.timeLeft));
  }

  async #search(plan: Plan): Promise<BlockTree> {
    const { samples, trials, sigma, depth, budget } = plan;
    const { problem, ledger, blocks } = this.#parts;
    const perBox = plan.blocks ** problem.ranges.length;
    // samples per block after the search: one pass that sets the shares, and those of a measurement
    const each = samples + Math.max(PASSES * samples, MIN_BLOCK_SAMPLES);
    const most = Math.floor(((1 - SEARCH_PART) * budget) / (each * perBox));
    await blocks.beforeSearch();
    const nodes = await searchTree(problem.ranges.map(innerRange), {
      perAxis: plan.blocks,
      sigma,
      depth,
      room: known => Math.floor(Math.min(most - known, MAX_LEVEL_EVALUATIONS / (samples * perBox))),
      searchable: () => {
        if (ledger.timeSpent > SEARCH_PART) return 0;
        const left = Math.min(MAX_LEVEL_EVALUATIONS, SEARCH_PART * budget - ledger.evaluations);
        return Math.floor(left / (perBox * samples * trials));
      },
      deviations: slab => blocks.deviations(slab, trials, samples),
    });
    const tree = new BlockTree(nodes, plan);
    await blocks.afterSearch(tree, samples);
    return tree;
  }

  outcome(status: Status): Outcome {
    const { problem, ledger } = this.#parts;
    const { evaluations } = ledger;
    const record = this.#recorded.record && { record: this.#recorded.record };
    const measurement = this.#measurement;
    if (!measurement || measurement.estimates.length === 0) {
      const found = this.#probed;
      const seen = found ? `this is what ${found.evaluations} samples saw` : 'there is no estimate';
      const now = combineAll([found ?? { value: 0, error: Infinity, evaluations: 1 }], goalsOf(problem)[0]);
      const errorOf = (r: number) => ofResult(now, r).error;
      const warnings = [`the run ended before anything was measured: ${seen}`];
      return { ...estimatedOutcome(problem, now, errorOf, { status, evaluations, warnings }), ...record };
    }
    const { now } = measurement;
    const zero = measurement.isZero && status === 'converged';
    const doubt = zero ? null : measurement.doubt();
    const { errorOf, warning } = measurement.errors(now);
    const warnings = [
      ...(doubt ? [doubt] : []),
      ...(status === 'converged' ? [] : hopelessGoals(problem, now)),
      ...(warning && !doubt ? [warning] : []),
    ];
    const error = (r: number) => (zero ? problem.absTol : errorOf(r));
    return { ...estimatedOutcome(problem, now, error, { status, evaluations, warnings }), ...record };
  }
}
