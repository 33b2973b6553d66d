/**
 * VEGAS in its four forms: adapt, then measure.
 *
 * While the map and the strata learn, estimates are biased (what an iteration learns from also is what it reports)
 * and early ones can be far off; so nothing of that enters the result. Then map and strata are frozen, and
 * what iterations find is averaged by their number of evaluations.
 *
 * Without a protocol given by the user, samples grow: iterations of one size until they improve no more, then four
 * times as many, as long as learning costs little beside the measurement that the tolerance asks for. The
 * measurement is planned from the last error seen, made in several iterations so that χ² can speak, and
 * extended if it falls short. If its iterations disagree, or few samples carry its variance (a peak hit by chance, a
 * heavy tail), it is thrown away and learning goes on with more samples; when the budget allows no more of that, the
 * last measurement gets the rest.
 */

import { type Combined, combine, type Estimate, ratio } from '../combine.ts';
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
import { believable, carried, FEW_SAMPLES, nothingSeen, SMALLEST_Q } from '../trust.ts';
import { PROTOCOL_ITERATIONS, type VegasOptions } from './options.ts';
import { type Knobs, Sampling } from './sampling.ts';

export type VegasMethod = 'plain' | 'mcubes' | 'mcubes1d' | 'vegas+';

export const KNOBS: Record<VegasMethod, Omit<Knobs, 'growBins'>> = {
  plain: { bins: 1, alpha: 0, beta: 0, shared: false, perCube: Infinity, maxStrata: 1 },
  mcubes: { bins: 512, alpha: 0.5, beta: 0, shared: false, perCube: 2, maxStrata: 2 ** 52 },
  mcubes1d: { bins: 512, alpha: 0.5, beta: 0, shared: true, perCube: 2, maxStrata: 2 ** 52 },
  'vegas+': {
    bins: 1024,
    alpha: 0.5,
    beta: 0.75,
    shared: false,
    perCube: 4,
    maxStrata: 2 ** 20,
  },
};

/** The part of the budget that may go into learning, or into finding something at all; the part of a planned measurement. */
const ADAPT_BUDGET = 0.4;
const SEARCH_BUDGET = 0.8;
const ADAPT_SHARE = 0.25;
/** Iterations of one size while learning, at most. */
const MAX_TURNS = 25;
/** Iterations of a measurement, at least. */
const MEASUREMENTS = 5;
/** An iteration is no larger than this, so that progress is seen and time limits are kept. */
const LARGEST = 2 ** 26;
/** Without a single value other than 0 after this many samples, the search ends. */
const DARK = 2 ** 24;

export async function* vegas(problem: MethodProblem, method: VegasMethod, options: VegasOptions): Run {
  const fixed = (['evaluations', 'iterations', 'adapt', 'skip'] as const).some(k => options[k] !== undefined);
  const { bins, alpha, beta, maxStrata } = options;
  const preset = KNOBS[method];
  const knobs: Knobs = {
    ...preset,
    growBins: method !== 'plain' && bins === undefined,
    bins: bins ?? preset.bins,
    alpha: alpha ?? preset.alpha,
    beta: beta ?? preset.beta,
    // cubes with samples of their own take memory
    maxStrata: maxStrata ?? (beta ? Math.min(preset.maxStrata, 2 ** 20) : preset.maxStrata),
  };
  const run = new VegasRun(problem, knobs, alpha === undefined);
  let status: Status;
  try {
    status = yield* fixed ? run.protocol(options) : run.toTolerance(method !== 'plain');
  } catch (e) {
    status = statusOf(e, problem.signal);
  }
  return run.outcome(status);
}

class VegasRun {
  readonly #problem: MethodProblem;
  readonly #ledger: Ledger;
  readonly #knobs: Knobs;
  readonly #sampling: Sampling;
  /** While the map is far off, it may change faster than the paper's α lets it. */
  readonly #firstAlpha: number;
  /** Evaluations until something was seen, unless that was at once. */
  #dark = 0;
  #counted: Estimate[] = [];
  #learned: Estimate[] = [];
  readonly #warnings: string[] = [];

  constructor(problem: MethodProblem, knobs: Knobs, hurry: boolean) {
    this.#problem = problem;
    this.#ledger = new Ledger(problem);
    this.#knobs = knobs;
    this.#firstAlpha = hurry && knobs.alpha > 0 ? 1 : knobs.alpha;
    this.#sampling = new Sampling(problem, this.#ledger, knobs);
  }

  /** As many iterations of one size as asked for; fewer if the tolerance is met before. */
  async *protocol({ evaluations, iterations, adapt, skip }: VegasOptions): Step<Status> {
    const total = Math.min(iterations ?? PROTOCOL_ITERATIONS, this.#problem.maxIterations);
    const adapting = Math.min(
      this.#knobs.alpha > 0 || this.#knobs.beta > 0 ? (adapt ?? Math.ceil(total / 2)) : 0,
      total,
    );
    const size =
      evaluations ?? Math.max(1000, Math.floor(Math.min(1e5, this.#problem.maxEvaluations / total)));
    for (let i = 0; i < total; i++) {
      if (this.#ledger.left < size) return this.#enough() ? 'converged' : 'budget';
      const alpha = i < adapting / 2 ? this.#firstAlpha : undefined;
      yield* this.#iterate(size, i < adapting, i >= (skip ?? adapting), alpha);
      if (this.#counted.length >= 2 && this.#enough() && i >= adapting) return 'converged';
    }
    return this.#enough() ? 'converged' : 'budget';
  }

  async *toTolerance(adaptive: boolean): Step<Status> {
    const { maxEvaluations, ranges } = this.#problem;
    let size = Math.max(64, Math.min(4096 + 1024 * ranges.length, (ADAPT_BUDGET * maxEvaluations) / 6));
    for (;;) {
      const need = adaptive ? yield* this.#learn(size) : size * MEASUREMENTS;
      if (adaptive) size = this.#size;
      if (!this.#sampling.seen && this.#ledger.evaluations >= Math.min(DARK, maxEvaluations / 2))
        return 'budget';
      const status = yield* this.#measure(need, size, adaptive);
      if (status) return status;
      size *= 4;
    }
  }

  /** The size that learning arrived at, and whether it was cut short there. */
  #size = 0;
  #moving = false;

  /** Adapts with growing samples; returns the evaluations that a measurement will need. */
  async *#learn(start: number): Step<number> {
    let searching = true;
    for (let size = start; ; size *= 4) {
      this.#size = size;
      const { last, moving } = yield* this.#learnAt(
        size,
        searching,
        searching && size > start ? 1 : MAX_TURNS,
      );
      const next = this.#ledger.evaluations + 3 * 4 * size;
      const spent = next > this.#learningEnds || 4 * size > LARGEST || this.#ledger.iterationsLeft <= 1;
      if (isDark(last)) {
        // nothing there yet: more samples, not more of the same
        // half of what is left: at first sight of something an iteration is made again, in its unit
        const left = (this.#learningEnds - this.#ledger.evaluations) / 2;
        const over = left < size || this.#ledger.iterationsLeft <= 1;
        if (over || this.#ledger.evaluations > DARK) return 0;
        size = Math.min(4 * size, left, LARGEST) / 4;
        continue;
      }
      if (searching && size > start && this.#ledger.evaluations + 8 * start < this.#learningEnds) {
        size = start / 4; // a first glimpse: small iterations follow it up
        continue;
      }
      this.#moving = moving;
      if (moving && !spent) {
        size /= 4; // not there yet: more of the same
        continue;
      }
      searching = false;
      const target = toleranceAt(this.#problem, last.value);
      const need = last.error > 0 ? last.evaluations * (last.error / target) ** 2 : 0;
      if (spent || 3 * 4 * size > ADAPT_SHARE * need) return need;
    }
  }

  /** Iterations of one size, until they improve no more; `moving` when they still did at the last. */
  async *#learnAt(size: number, hurry: boolean, most: number): Step<{ last: Estimate; moving: boolean }> {
    const seen: Estimate[] = [];
    for (let turn = 0; turn < most; turn++) {
      const full = this.#ledger.evaluations + size > this.#learningEnds;
      if (turn > 0 && (full || this.#ledger.iterationsLeft <= 1)) break;
      const now = yield* this.#iterate(size, true, false, hurry ? this.#firstAlpha : undefined);
      // while the map is far off one iteration may stall by chance: two must not have improved
      const back = hurry ? 2 : 1;
      const enough = turn >= (hurry ? 3 : 1) && settled(seen[turn - back], now);
      seen.push(now);
      if (enough || isDark(now)) return { last: now, moving: false };
    }
    const [before, last] = [seen[seen.length >> 1], seen.at(-1)!];
    // errors that shrink, or that grow because more is being found; relative ones would mean nothing where values cancel
    const change = last.error / before.error;
    return { last, moving: seen.length > 1 && (change < 0.5 || change > 2 || !agree(before, last)) };
  }

  /** Measures until the tolerance is met or the budget is spent; undefined when the measurement is not to be believed. */
  async *#measure(need: number, learned: number, adaptive: boolean): Step<Status | undefined> {
    // what an earlier measurement found is not to be believed, and counts no more
    this.#ledger.discard();
    this.#counted = [];
    const smallest = Math.max(64, 2 * this.#sampling.cubesFor(learned)); // two samples a cube
    const least = Math.max(smallest, learned / 2);
    for (let wanted = 1.15 * need; ; ) {
      const missing = Math.max(1, MEASUREMENTS - this.#counted.length);
      const affordable = this.#ledger.left;
      const total = Math.min(Math.max(wanted, missing * least), affordable, 1e15);
      const turns = Math.min(Math.max(missing, Math.ceil(total / LARGEST)), Math.floor(total / smallest));
      const size = Math.floor(total / turns);
      if (!(turns >= 1) || this.#ledger.lastIteration) return this.#enough() ? 'converged' : 'budget';
      for (let i = 0; i < turns && !this.#ledger.lastIteration; i++) {
        if (i > 0 && this.#ledger.left < size) break; // others may have taken from the budget in the meantime
        yield* this.#iterate(size, false, true);
      }
      if (!this.#sampling.seen) return 'budget';
      const now = combine(this.#counted);
      // more learning, if there is budget for it and for another measurement
      const again = adaptive && this.#ledger.left > 20 * learned && !this.#ledger.lastIteration;
      if (this.#enough()) return 'converged';
      if (again && !believable(this.#counted, now)) return undefined;
      wanted = 1.1 * now.evaluations * (this.#short(now) ** 2 - 1);
      if (!(this.#ledger.left > least)) return 'budget';
    }
  }

  outcome(status: Status): Outcome {
    if (status === 'budget' && this.#ledger.hurried && !this.#ledger.lastIteration) status = 'time';
    const warnings = this.#warnings;
    const counted = this.#counted.length > 0 ? this.#counted : this.#learned.slice(-1);
    if (counted.length === 0) counted.push({ value: 0, error: Infinity, evaluations: 1 });
    if (this.#counted.length === 0 && this.#learned.length === 0) {
      warnings.push('the run ended before anything was sampled: there is no estimate');
    } else if (this.#counted.length === 0 && this.#sampling.seen) {
      warnings.push(
        'the run ended before anything was measured: this is what the last adapting iteration saw',
      );
    }
    const now = combine(counted);
    const { value, error, chi2, dof, q } = now;
    if (value === 0 && error === 0) {
      warnings.push(nothingSeen(this.#sampling.seen, this.#ledger.evaluations));
      if (status === 'converged') status = 'budget';
    } else if (!this.#steady()) {
      warnings.push(
        'the map was still changing when it was frozen: give it more adapting iterations or more samples',
      );
      if (status === 'converged') status = 'budget';
    } else if (this.#counted.length > 0 && status !== 'converged' && this.#doubtful(now)) {
      warnings.push(
        q < SMALLEST_Q
          ? `the iterations disagree (chi2/dof ${ratio(chi2, dof)}): the error is larger than it says; raise maxEvaluations`
          : FEW_SAMPLES,
      );
    }
    return { value, error, status, evaluations: this.#ledger.evaluations, chi2, dof, q, warnings };
  }

  /** Whether learning came to an end, its last two iterations agree, and the first measurement with them. */
  #steady(): boolean {
    if (this.#moving) return false;
    // what was found by chance at last has to be followed up
    if (this.#dark > 0 && this.#learned.filter(e => !isDark(e)).length < 3) return false;
    const [before, now] = this.#learned.slice(-2);
    if (!now) return true;
    const seen = [before, now, ...this.#counted.slice(0, 1)];
    return seen.every((e, i) => i === 0 || agree(seen[i - 1], e));
  }

  /** Evaluations after which learning, or the search for something to learn from, has had its part. */
  get #learningEnds(): number {
    const all = this.#ledger.evaluations + this.#ledger.left;
    if (!this.#sampling.seen) return SEARCH_BUDGET * all;
    return this.#dark + ADAPT_BUDGET * (all - this.#dark);
  }

  #enough(): boolean {
    if (this.#counted.length === 0 || !this.#sampling.seen) return false;
    const now = combine(this.#counted);
    const nothing = now.value === 0 && now.error === 0;
    return !nothing && this.#short(now) <= 1 && now.q >= SMALLEST_Q;
  }

  /** The error over the tolerance; where few pieces carry it, it has to be smaller by the square of what is missing. */
  #short(now: Combined): number {
    const enough = Math.min(1, carried(this.#counted, now));
    return now.error / (toleranceAt(this.#problem, now.value) * enough ** 2);
  }

  /** Whether a run that did not claim should say why: its error is not to be believed, or small enough for a claim. */
  #doubtful(now: Combined): boolean {
    return !believable(this.#counted, now) || now.error <= toleranceAt(this.#problem, now.value);
  }

  async *#iterate(evaluations: number, adapting: boolean, counts: boolean, alpha?: number): Step<Estimate> {
    const size = Math.floor(Math.min(evaluations, Math.max(64, this.#ledger.budgetLeft)));
    const wasDark = !this.#sampling.seen;
    const estimate = adapting ? await this.#sampling.adapt(size, alpha) : await this.#sampling.measure(size);
    if (!this.#sampling.seen || (this.#dark > 0 && wasDark)) this.#dark = this.#ledger.evaluations;
    (counts ? this.#counted : this.#learned).push(estimate);
    const running = counts ? combine(this.#counted) : estimate;
    const { value, error, evaluations: own } = estimate;
    yield* this.#ledger.note({ value, error, evaluations: own, adapting: !counts }, running);
    return estimate;
  }
}

const isDark = (e: Estimate) => e.value === 0 && e.error === 0;

const agree = (a: Estimate, b: Estimate) => Math.abs(a.value - b.value) <= 5 * Math.hypot(a.error, b.error);

/** Whether an iteration agrees with the one before and did not do much better. */
function settled(before: Estimate, now: Estimate): boolean {
  if (!(now.error < 0.15 * Math.abs(now.value))) return false; // a few samples only
  const improved = now.error / Math.abs(now.value) < (0.75 * before.error) / Math.abs(before.value);
  return agree(before, now) && !improved;
}
