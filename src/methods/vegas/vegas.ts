/**
 * VEGAS in its four forms: adapt, then measure.
 *
 * While the map and the strata learn, estimates are biased, because an iteration reports the same samples that it learns
 * from, and early estimates can be far off; so none of them enters the result. Then map and strata are frozen, and the
 * values of the following iterations are averaged, weighted by their evaluations.
 *
 * Without a protocol given by the user, the number of samples grows: iterations have one size until they improve no
 * more, then four times as many samples, as long as learning costs little beside the measurement that the tolerance asks
 * for. The measurement is planned from the last error, is made in several iterations so that χ² has degrees of freedom,
 * and is extended if it falls short. If its iterations disagree, or few samples carry its variance (a peak hit by chance,
 * a heavy tail), it is discarded and learning goes on with more samples; when the budget allows no more learning, the
 * last measurement gets the rest.
 */

import { OptionError } from '../../options/option-error.ts';
import { type Combined, combineAll, type Estimate, ratio } from '../combine.ts';
import { Ledger } from '../ledger.ts';
import {
  type MethodProblem,
  type Outcome,
  type Run,
  type Running,
  type Status,
  type Step,
  statusOf,
  toleranceAt,
} from '../method.ts';
import { probe } from '../probe.ts';
import { estimatesOf, hopelessGoals, ofResult, valuesOf, withErrors } from '../several-estimates.ts';
import {
  believable,
  claimedError,
  FEW_SAMPLES,
  HIDDEN_STEP,
  hiddenError,
  leastSamples,
  MISSED,
  nothingSeen,
  SMALLEST_Q,
  STEEP_ENDS,
  samplesFor,
  UNSEEN,
  ZERO_SAMPLES,
} from '../trust.ts';
import { PROTOCOL_ITERATIONS, type VegasOptions } from './options.ts';
import { RecordedSampling, type VegasRecord } from './recorded-sampling.ts';
import type { Knobs } from './sampling.ts';
import { type Box, WITNESS_PART } from './witness.ts';

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

/** The part of the budget that may go into learning. */
const ADAPT_BUDGET = 0.4;
/** The part of the budget that may go into the search for a first value other than 0. */
const SEARCH_BUDGET = 0.8;
/** Learning goes on while its next size costs at most this part of the planned measurement. */
const ADAPT_SHARE = 0.25;
/** Iterations of one size while learning, at most. */
const MAX_TURNS = 25;
/** Iterations per measurement, at least. */
const MEASUREMENTS = 5;
/** Learning goes on after a measurement that is not trusted if this many times the samples of an iteration are left. */
const AGAIN = 20;
/** Samples per iteration, at least; fewer where a deadline leaves time for fewer than twice MEASUREMENTS such iterations. */
const FEWEST_SAMPLES = 64;
/** With a deadline that leaves time for fewer evaluations than this nothing is learned: they are spent on the measurement. */
const MIN_LEARNING_RUN = 16 * FEWEST_SAMPLES;
/** Samples per iteration, at most, so that progress is reported and time limits are kept. */
const MAX_ITERATION_SAMPLES = 2 ** 26;
/** Without a single value other than 0 after this many samples, the search ends. */
const MAX_ZERO_SAMPLES = 2 ** 24;

export async function* vegas(given: MethodProblem, method: VegasMethod, options: VegasOptions): Run {
  const problem = begun(given);
  const fixed = (['evaluations', 'iterations', 'adapt', 'skip'] as const).some(k => options[k] !== undefined);
  const knobs = knobsOf(method, options);
  checkRecord(problem, knobs);
  const run = new VegasRun(problem, knobs, options.alpha === undefined);
  return yield* ended(run, problem, fixed ? run.protocol(options) : run.toTolerance(method !== 'plain'));
}

/** The knobs of a method with the options that were given. */
export function knobsOf(method: VegasMethod, { bins, alpha, beta, maxStrata }: VegasOptions): Knobs {
  const preset = KNOBS[method];
  return {
    ...preset,
    growBins: method !== 'plain' && bins === undefined,
    bins: bins ?? preset.bins,
    alpha: alpha ?? preset.alpha,
    beta: beta ?? preset.beta,
    // a number of samples for each cube takes memory
    maxStrata: maxStrata ?? (beta ? Math.min(preset.maxStrata, 2 ** 20) : preset.maxStrata),
  };
}

/** The problem with the map that a run which is resumed began with. */
export function begun(problem: MethodProblem): MethodProblem {
  const began = problem.resume?.began;
  return began ? { ...problem, map: began } : problem;
}

/** The outcome of a run, also of one that its signal stopped. */
export async function* ended(run: VegasRun, problem: MethodProblem, steps: Step<Status>): Run {
  let status: Status;
  try {
    status = yield* steps;
  } catch (e) {
    status = statusOf(e, problem.signal);
  }
  return { ...run.outcome(status), record: await run.record() };
}

/** What was recorded with other knobs would be taken for what these find. */
export function checkRecord({ resume, several }: MethodProblem, knobs: Knobs): void {
  if (!resume) return;
  const [then, now] = [resume.several, several].map(
    s => s && JSON.stringify([s.goals, s.leads, !!s.allPairs]),
  );
  if (then !== now)
    throw new OptionError(
      'resume',
      resume,
      'pass the `goals`, `learnFrom` and `covariance` that it was made with, or leave it out',
      w =>
        `${w.quoted('resume')} is a state of a run with other ${w.quoted('goals')}, ${w.quoted('learnFrom')} or ${w.quoted('covariance')}`,
    );
  if (JSON.stringify(resume.knobs) === JSON.stringify(knobs)) return;
  throw new OptionError(
    'resume',
    resume,
    'pass the `vegas` options that it was made with, or leave it out',
    w => `${w.quoted('resume')} is a state of a run with other ${w.quoted('vegas')} options`,
  );
}

export class VegasRun {
  protected readonly problem: MethodProblem;
  protected readonly ledger: Ledger;
  readonly #knobs: Knobs;
  protected readonly sampling: RecordedSampling;
  /** The α of the first iterations: 1, unless the user gave one, since the map is far off then. */
  readonly #firstAlpha: number;
  /** Samples that a claim needs at least; 0 when the user prescribes iterations. */
  protected leastSamples = 0;
  /** Evaluations up to the first iteration with a value other than 0; 0 when that was the first iteration of all. */
  #dark = 0;
  protected counted: Estimate[] = [];
  #learned: Estimate[] = [];
  readonly #warnings: string[] = [];

  /** The results whose tolerance has to be met; of an integrand that returns a number, number 0. */
  protected readonly goals: readonly number[];

  constructor(problem: MethodProblem, knobs: Knobs, hurry: boolean) {
    this.problem = problem;
    this.goals = problem.several?.goals ?? [0];
    this.ledger = new Ledger(problem);
    this.#knobs = knobs;
    this.#firstAlpha = hurry && knobs.alpha > 0 && !problem.map ? 1 : knobs.alpha;
    this.sampling = new RecordedSampling(problem, this.ledger, knobs);
  }

  record(): Promise<VegasRecord> {
    return this.sampling.record();
  }

  /** Makes as many iterations of one size as the options ask for; fewer if the tolerance is met before. */
  async *protocol({ evaluations, iterations, adapt, skip }: VegasOptions): Step<Status> {
    const total = Math.min(iterations ?? PROTOCOL_ITERATIONS, this.problem.maxIterations);
    const adapting = Math.min(
      this.#knobs.alpha > 0 || this.#knobs.beta > 0 ? (adapt ?? Math.ceil(total / 2)) : 0,
      total,
    );
    const size =
      evaluations ?? Math.max(1000, Math.floor(Math.min(1e5, this.problem.maxEvaluations / total)));
    for (let i = 0; i < total; i++) {
      if (this.ledger.left < size) return (await this.enough()) ? 'converged' : 'budget';
      const alpha = i < adapting / 2 ? this.#firstAlpha : undefined;
      yield* this.iterate(size, i < adapting, i >= (skip ?? adapting), alpha);
      if (this.counted.length >= 2 && i >= adapting && (await this.enough())) return 'converged';
    }
    return (await this.enough()) ? 'converged' : 'budget';
  }

  async *toTolerance(adaptive: boolean): Step<Status> {
    this.leastSamples = this.problem.leastSamples ?? leastSamples(this.problem.maxEvaluations);
    const { maxEvaluations, ranges, several } = this.problem;
    // a map that follows other results hardly sends a sample to where this one may be
    if (several) this.#zeroSamples = Math.min(ZERO_SAMPLES, maxEvaluations / 4);
    const usual = 4096 + 1024 * ranges.length;
    await probe(this.ledger, usual, samples => this.sampling.probe(samples));
    const { timeLeft, iterationLimit } = this.ledger;
    this.fewest = Math.max(2, Math.min(FEWEST_SAMPLES, Math.floor(timeLeft / (2 * MEASUREMENTS))));
    adaptive &&= timeLeft >= MIN_LEARNING_RUN;
    this.#witnessing = adaptive;
    const share = (ADAPT_BUDGET * Math.min(maxEvaluations, timeLeft)) / 6;
    let size = Math.max(this.fewest, Math.min(usual, share, iterationLimit));
    for (;;) {
      const need = adaptive ? yield* this.#learn(size) : size * MEASUREMENTS;
      if (adaptive) size = this.#size;
      if (this.isZero) return 'converged';
      if (!this.sampling.seen && this.ledger.evaluations >= Math.min(MAX_ZERO_SAMPLES, maxEvaluations / 2))
        return 'budget';
      const status = yield* this.measure(need, size, adaptive);
      if (status) return status;
      if (this.neglected.length === 0) {
        size *= 4;
        continue;
      }
      if (this.ledger.left < AGAIN * size || this.ledger.iterationsLeft <= 1) return 'budget';
      await this.sampling.seed(this.neglected);
    }
  }

  /** The samples per iteration that learning arrived at, and whether the map was still changing when learning ended. */
  #size = 0;
  #moving = false;
  /** Whether witnesses are drawn; how many there were; and the boxes where they speak against the measurement. */
  #witnessing = false;
  #witnesses = 0;
  protected neglected: readonly Box[] = [];
  /** Evenly spread samples that one of several goals needs before it is claimed to be 0; 0 when the user prescribes iterations. */
  #zeroSamples = 0;
  /** Samples per iteration, at least. */
  protected fewest = FEWEST_SAMPLES;
  /** For each goal, the error that a claim needs for what lies closer to singular ends than samples come; empty until all else allows a claim. */
  protected unseen: number[] = [];

  /** Adapts with a growing number of samples; returns the evaluations that a measurement will need. */
  async *#learn(start: number): Step<number> {
    let searching = !this.problem.map; // a map that was learned elsewhere is near
    for (let size = start; ; size *= 4) {
      this.#size = size;
      const { last, moving } = yield* this.#learnAt(
        size,
        searching,
        searching && size > start ? 1 : MAX_TURNS,
      );
      const next = this.ledger.evaluations + 3 * 4 * size;
      const spent =
        next > this.#learningEnds || 4 * size > this.#mostLearning || this.ledger.iterationsLeft <= 1;
      if (isDark(last)) {
        // all samples were 0: the next iteration has more. It takes at most half of what is left, because the first
        // iteration with a value other than 0 is made twice, the second time in the unit of that value
        const left = (this.#learningEnds - this.ledger.evaluations) / 2;
        const over = this.isZero || left < size || this.ledger.iterationsLeft <= 1;
        if (over || this.ledger.evaluations > MAX_ZERO_SAMPLES) return 0;
        size = Math.min(4 * size, left, this.#mostLearning) / 4;
        continue;
      }
      if (searching && size > start && this.ledger.evaluations + 8 * start < this.#learningEnds) {
        size = start / 4; // the first value other than 0 was found: the map follows it in small iterations
        continue;
      }
      this.#moving = moving;
      if (moving && !spent) {
        size /= 4; // the map is still changing: more iterations of the same size
        continue;
      }
      searching = false;
      const need = yield* this.planned(last, size);
      if (spent || 3 * 4 * size > ADAPT_SHARE * need) return need;
    }
  }

  /** The evaluations that a measurement will need, after iterations of this size, of which `last` was the last. */
  protected async *planned(last: Estimate, _size: number): Step<number> {
    const each = this.goals.map(g => {
      const { value, error, evaluations } = ofResult(last, g);
      return error > 0 ? this.needed(evaluations, error / toleranceAt(this.problem, value, g)) : 0;
    });
    return Math.max(...each);
  }

  /** The evaluations of a measurement whose error has to be so many times smaller than that of an iteration that learned. */
  protected needed(evaluations: number, times: number): number {
    return evaluations * times ** 2;
  }

  /** Makes iterations of one size until they improve no more; `moving` when the last one still did. */
  async *#learnAt(size: number, hurry: boolean, most: number): Step<{ last: Estimate; moving: boolean }> {
    const seen: Estimate[] = [];
    for (let turn = 0; turn < most; turn++) {
      const full = this.ledger.evaluations + size > this.#learningEnds;
      if (turn > 0 && (full || this.ledger.iterationsLeft <= 1)) break;
      const now = yield* this.iterate(size, true, false, hurry ? this.#firstAlpha : undefined);
      // while the map is far off one iteration may fail to improve by chance: then two in a row are needed to settle
      const back = hurry ? 2 : 1;
      const enough =
        turn >= (hurry ? 3 : 1) &&
        this.goals.every(g => settled(ofResult(seen[turn - back], g), ofResult(now, g), !!now.results));
      seen.push(now);
      if (enough || isDark(now)) return { last: now, moving: false };
    }
    const [before, last] = [seen[seen.length >> 1], seen.at(-1)!];
    // errors still shrink, or grow because new peaks are found; relative errors mean nothing where values cancel
    const changes = (g: number) => {
      const change = ofResult(last, g).error / ofResult(before, g).error;
      return change < 0.5 || change > 2 || !agree(ofResult(before, g), ofResult(last, g));
    };
    return { last, moving: seen.length > 1 && this.goals.some(changes) };
  }

  /** Begins a measurement; an earlier one was not trusted. */
  protected begin(): void {
    this.ledger.discard();
    this.counted = [];
    this.neglected = [];
    this.unseen = [];
  }

  /** Measures until the tolerance is met or the budget is spent; undefined when the measurement is not trusted. */
  protected async *measure(need: number, learned: number, adaptive: boolean): Step<Status | undefined> {
    this.begin();
    const smallest = Math.max(this.fewest, 2 * this.sampling.cubesFor(learned)); // two samples per cube
    const least = Math.max(smallest, learned / 2);
    for (let wanted = 1.15 * need; ; ) {
      const missing = Math.max(1, MEASUREMENTS - this.counted.length);
      const { left } = this.ledger;
      const affordable = left - this.witnessesDue(left);
      const total = Math.min(Math.max(wanted, missing * least), affordable, 1e15);
      const turns = Math.min(
        Math.max(missing, Math.ceil(total / this.#mostSamples)),
        Math.floor(total / smallest),
      );
      const size = Math.floor(total / turns);
      if (!(turns >= 1) || this.ledger.lastIteration) return (await this.enough()) ? 'converged' : 'budget';
      for (let i = 0; i < turns && !this.ledger.lastIteration; i++) {
        if (i > 0 && this.ledger.left < size) break; // with `auto`, the other method may have used budget in the meantime
        yield* this.iterate(size, false, true);
        if (this.neglected.length > 0) return undefined;
      }
      if (!this.sampling.seen && this.ledger.evaluations < ZERO_SAMPLES && this.problem.absTol > 0) {
        wanted = ZERO_SAMPLES - this.ledger.evaluations;
        if (this.ledger.left > least) continue;
      }
      if (!this.sampling.seen) return this.isZero ? 'converged' : 'budget';
      const now = this.combined(this.counted);
      // learning can go on if there is budget for it and for another measurement
      const again = adaptive && this.ledger.left > AGAIN * learned && !this.ledger.lastIteration;
      if (await this.enough()) return 'converged';
      const steep = this.goals.some(g => this.isSteep(now, g));
      if (again && (steep || !this.believable(now))) return undefined;
      wanted = Math.max(this.#missingSamples(now), steep ? now.evaluations : 0);
      if (!(this.ledger.left > least)) return 'budget';
    }
  }

  /** The samples that a claim still lacks: errors fall as 1/√N, what steps may hide as 1/N. */
  #missingSamples(now: Combined): number {
    const times = this.goals.map(g => {
      const own = ofResult(now, g);
      const tolerance = toleranceAt(this.problem, own.value, g);
      if (own.error === 0 && now.results) return 0; // of several results one may be 0 everywhere
      const hidden = this.hidden(now, g);
      const times = samplesFor(this.#estimatesOf(g), own, tolerance);
      return Math.max(times, hidden > 0 ? hidden / tolerance : 0); // the tolerance may be 0
    });
    return Math.max(1.1 * now.evaluations * (Math.max(...times) - 1), this.leastSamples - now.evaluations);
  }

  /** Witnesses that should be drawn by the time that another `more` evaluations are made. */
  protected witnessesDue(more = 0): number {
    if (!this.#witnessing) return 0;
    return Math.max(0, Math.floor(WITNESS_PART * (this.ledger.evaluations + more)) - this.#witnesses);
  }

  outcome(status: Status): Outcome {
    if (status === 'budget' && this.ledger.hurried && !this.ledger.lastIteration) status = 'time';
    const warnings = this.#warnings;
    const counted = this.counted.length > 0 ? this.counted : this.#learned.slice(-1);
    if (counted.length === 0) {
      const { probed } = this.sampling;
      counted.push(probed ?? { value: 0, error: Infinity, evaluations: 1 });
      warnings.push(
        probed
          ? `the run ended before anything was measured: this is what ${probed.evaluations} samples saw`
          : 'the run ended before anything was sampled: there is no estimate',
      );
    } else if (this.counted.length === 0 && this.sampling.seen) {
      warnings.push(
        'the run ended before anything was measured: this is what the last adapting iteration saw',
      );
    }
    const now = this.combined(counted);
    const { value, chi2, dof, q } = now;
    const zero = this.isZero && status === 'converged';
    if (zero) {
      // nothing to warn of
    } else if (isDark(now)) {
      warnings.push(nothingSeen(this.sampling.seen, this.ledger.evaluations));
      if (status === 'converged') status = 'budget';
    } else if (this.neglected.length > 0) {
      warnings.push(MISSED);
      if (status === 'converged') status = 'budget';
    } else if (!this.#steady()) {
      warnings.push(
        'the map was still changing when it was frozen: give it more adapting iterations or more samples',
      );
      if (status === 'converged') status = 'budget';
    } else if (this.counted.length > 0 && status !== 'converged' && this.#doubtful(now)) {
      warnings.push(this.#whyDoubtful(now));
    }
    if (status !== 'converged' && this.counted.length > 0) warnings.push(...hopelessGoals(this.problem, now));
    const claimed = status === 'converged' && !zero;
    const error = (r: number): number => {
      if (zero) return this.problem.absTol;
      const own = ofResult(now, r).error;
      if (claimed) return Math.max(this.#claimed(now, r), this.unseen[r] ?? 0);
      // without a claim, too: the error of the samples would say nothing
      return this.counted.length > 0 ? Math.max(own, this.hidden(now, r), this.unseen[r] ?? 0) : own;
    };
    const several =
      now.results &&
      withErrors(
        estimatesOf(now),
        now.results.each.map((_, r) => error(r)),
      );
    return {
      value,
      error: error(this.goals[0]),
      ...(several && { several }),
      status,
      evaluations: this.ledger.evaluations,
      chi2,
      dof,
      q,
      warnings,
      counted: this.counted,
    };
  }

  /** Whether learning came to an end, its last two iterations agree, and the first measurement with them. */
  #steady(): boolean {
    if (this.#moving) return false;
    // a peak that was found late by chance needs three iterations that see it
    if (this.#dark > 0 && this.#learned.filter(e => !isDark(e)).length < 3) return false;
    const [before, now] = this.#learned.slice(-2);
    if (!now) return true;
    const seen = [before, now, ...this.counted.slice(0, 1)];
    return this.goals.every(g =>
      seen.every((e, i) => i === 0 || agree(ofResult(seen[i - 1], g), ofResult(e, g))),
    );
  }

  /** The number of evaluations at which learning, or the search for a first value other than 0, has used up its part. */
  get #learningEnds(): number {
    const all = this.ledger.evaluations + this.ledger.left;
    if (!this.sampling.seen) return SEARCH_BUDGET * all;
    return this.#dark + ADAPT_BUDGET * (all - this.#dark);
  }

  /** Samples per measuring iteration, at most. */
  get #mostSamples(): number {
    return Math.min(MAX_ITERATION_SAMPLES, this.ledger.iterationLimit);
  }

  /**
   * Samples per learning iteration, at most. The deadline is far when these are made, and twice as many cubes per axis
   * lower the error of a smooth integrand more than larger measuring iterations do.
   */
  get #mostLearning(): number {
    return Math.min(MAX_ITERATION_SAMPLES, 4 * this.ledger.iterationLimit);
  }

  /** Whether enough samples were 0, and no other was seen, to claim 0. */
  protected get isZero(): boolean {
    const { seen, nonFinite } = this.sampling;
    return !seen && !nonFinite && this.problem.absTol > 0 && this.ledger.evaluations >= ZERO_SAMPLES;
  }

  protected async enough(): Promise<boolean> {
    if (this.isZero) return true;
    if (this.counted.length === 0 || !this.sampling.seen) return false;
    const now = this.combined(this.counted);
    if (now.evaluations < this.leastSamples) return false;
    if (isDark(now)) return false;
    const within = (g: number): boolean => {
      const { value, q } = ofResult(now, g);
      const error = this.#claimed(now, g);
      // of several results one may be 0 everywhere
      const met = error <= toleranceAt(this.problem, value, g) || (error === 0 && this.#isZeroGoal(now, g));
      return met && q >= this.#smallestQ;
    };
    if (!this.goals.every(within)) return false;
    const nearest = this.sampling.nearest(now.evaluations);
    const outer = 1 / this.sampling.bins;
    for (const g of this.goals)
      this.unseen[g] = UNSEEN * ((await this.problem.unseen?.(nearest, now.evaluations, g, outer)) ?? 0);
    return !this.goals.some(g => this.isSteep(now, g));
  }

  /** Whether one of several goals is 0 as far as samples tell, and there were enough of those that are spread evenly. */
  #isZeroGoal(now: Combined, goal: number): boolean {
    if (!now.results || ofResult(now, goal).value !== 0) return false;
    return (this.#witnessing ? this.#witnesses : now.evaluations) >= this.#zeroSamples;
  }

  /** The error of a claim, but for what lies at singular ends. */
  #claimed(now: Combined, result: number): number {
    const own = ofResult(now, result);
    if (!(own.error > 0)) return own.error;
    return Math.max(own.error, claimedError(this.#estimatesOf(result), own), this.hidden(now, result));
  }

  /** What steps may hide of a result. */
  protected hidden(now: Combined, result: number): number {
    const own = ofResult(now, result);
    const spread = this.sampling.spreadAbout(own.value, result);
    const { perAxis } = this.sampling;
    const largest = this.sampling.largestSpread(result);
    return own.error > 0 ? hiddenError(own, { spread, largest, perAxis }) : 0;
  }

  /** Whether more than the tolerance of a result may lie closer to singular ends than samples come. */
  protected isSteep(now: Combined, result: number): boolean {
    return (this.unseen[result] ?? 0) > toleranceAt(this.problem, ofResult(now, result).value, result);
  }

  protected combined(estimates: readonly Estimate[]): Combined {
    return combineAll(estimates, this.goals[0]);
  }

  /** The estimates of one result in the iterations that count. */
  #estimatesOf(result: number): Estimate[] {
    return this.counted.map(e => ofResult(e, result));
  }

  /** One of many results has a small Q by chance: the limit is for all together. */
  get #smallestQ(): number {
    return SMALLEST_Q / this.goals.length;
  }

  /** Whether the estimates of all goals are trusted. */
  protected believable(now: Combined): boolean {
    return this.goals.every(g => believable(this.#estimatesOf(g), ofResult(now, g), this.#smallestQ));
  }

  /** Whether a run that did not converge needs a warning: its estimate is not trusted, or its error alone met the tolerance. */
  #doubtful(now: Combined): boolean {
    const met = (g: number) => {
      const { value, error } = ofResult(now, g);
      return error <= toleranceAt(this.problem, value, g);
    };
    return !this.believable(now) || this.goals.every(met);
  }

  #whyDoubtful(now: Combined): string {
    const disagrees = this.goals.find(g => ofResult(now, g).q < this.#smallestQ);
    if (disagrees !== undefined) {
      const { chi2, dof } = ofResult(now, disagrees);
      const name = this.problem.several ? `${this.problem.several.names[disagrees]}: ` : '';
      return `${name}the iterations disagree (chi2/dof ${ratio(chi2, dof)}): the error is larger than it says; raise maxEvaluations`;
    }
    if (this.goals.some(g => this.isSteep(now, g))) return STEEP_ENDS;
    const steps = (g: number) => this.hidden(now, g) > toleranceAt(this.problem, ofResult(now, g).value, g);
    return this.goals.some(steps) ? this.stepWarning : FEW_SAMPLES;
  }

  protected async *iterate(
    evaluations: number,
    adapting: boolean,
    counts: boolean,
    alpha?: number,
  ): Step<Estimate> {
    const size = Math.floor(Math.min(evaluations, Math.max(this.fewest, this.ledger.budgetLeft)));
    const wasDark = !this.sampling.seen;
    const estimate = adapting ? await this.sampling.adapt(size, alpha) : await this.sampling.measure(size);
    if (!this.sampling.seen || (this.#dark > 0 && wasDark)) this.#dark = this.ledger.evaluations;
    (counts ? this.counted : this.#learned).push(estimate);
    yield* this.noted(estimate, counts);
    return estimate;
  }

  /** The warning where what a step may hide exceeds the tolerance. */
  protected get stepWarning(): string {
    return HIDDEN_STEP;
  }

  /** Draws witnesses beside an iteration that counts, and notes it. */
  protected async *noted(estimate: Estimate, counts: boolean): Step<void> {
    const running = counts ? this.combined(this.counted) : estimate;
    const zeros = counts && this.goals.some(g => isDark(ofResult(running, g)));
    const wanted = Math.max(this.witnessesDue(), zeros ? this.#zeroSamples - this.#witnesses : 0);
    const due = this.#witnessing ? Math.min(wanted, this.ledger.budgetLeft) : 0;
    const seen = this.forWitnesses(running);
    if (counts && due >= 2) this.#witnesses += await this.sampling.witness(due, seen);
    if (counts) this.neglected = this.sampling.contradictions(seen);
    const { value, error, evaluations: own } = estimate;
    const all = estimate.results && valuesOf(estimate);
    const record = { value, error, evaluations: own, adapting: !counts, ...all };
    const { results, ...first } = running;
    const needed = this.stillNeeded(running, counts);
    this.told = {
      ...first,
      ...(results && { several: estimatesOf(running) }),
      ...(counts && this.problem.session.noise && { leastErrors: this.#hiddenOfEach() }),
      ...(needed !== undefined && { needed }),
    };
    yield* this.ledger.note(record, this.told);
  }

  #hiddenOfEach(): number[] {
    const now = this.combined(this.counted);
    return (now.results?.each ?? [now]).map((_, r) => this.hidden(now, r));
  }

  /** The estimate that it noted last. */
  protected told: Running | undefined;

  /** Evaluations that the run should still need, where it knows better than the square root law. */
  protected stillNeeded(_running: Estimate, _counts: boolean): number | undefined {
    return undefined;
  }

  /** The estimate that witnesses are compared with. */
  protected forWitnesses(running: Estimate): Estimate {
    return running;
  }
}

/** Whether no sample other than 0 was met; results that were not sampled are NaN. */
const isDark = (e: Estimate): boolean =>
  e.results
    ? e.results.each.every(own => Number.isNaN(own.value) || isDark(own))
    : e.value === 0 && e.error === 0;

const agree = (a: Estimate, b: Estimate) => Math.abs(a.value - b.value) <= 5 * Math.hypot(a.error, b.error);

/**
 * Whether an iteration agrees with the one before and did not do much better. Of several results one may be 0, and its error is
 * compared with the size of its weights instead of its value.
 */
function settled(before: Estimate, now: Estimate, several: boolean): boolean {
  const size = ({ value, error, evaluations }: Estimate) =>
    several ? Math.sqrt(value * value + error * error * evaluations) : Math.abs(value);
  if (several && isDark(now) && isDark(before)) return true;
  if (!(now.error < 0.15 * size(now))) return false; // an error above 15 % rests on a few samples
  const improved = now.error / size(now) < (0.75 * before.error) / size(before);
  return agree(before, now) && !improved;
}
