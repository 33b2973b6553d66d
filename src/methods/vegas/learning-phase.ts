/**
 * Learns map and strata, with iterations that do not enter the result.
 *
 * Iterations have one size until they improve no more, then four times as many samples, as long as learning costs little beside the
 * measurement that the tolerance asks for. While all samples are 0 every iteration is larger than the last; once one meets
 * another value, the map follows it in small iterations.
 */
import type { Estimate } from '../combine.ts';
import type { Step } from '../method.ts';
import { isZeroEstimate, ofResult } from '../several-estimates.ts';
import { MAX_ZERO_SAMPLES } from '../trust.ts';
import { MAX_ITERATION_SAMPLES, type VegasRun } from './run.ts';

/** The part of the budget that may go into learning. */
export const ADAPT_BUDGET = 0.4;
/** The part of the budget that may go into the search for a first value other than 0. */
const SEARCH_BUDGET = 0.8;
/** Learning goes on while its next size costs at most this part of the planned measurement. */
const ADAPT_SHARE = 0.25;
/** Iterations of one size, at most. */
const MAX_TURNS = 25;
/** Each size has this many times the samples of the one before. */
const GROWTH = 4;
/** Iterations that the next size is expected to take. */
const NEXT_TURNS = 3;
/** An iteration with a relative error above this rests on a few samples. */
const MAX_SETTLED_ERROR = 0.15;
/** An iteration that leaves more than this part of the relative error did not improve much. */
const IMPROVED = 0.75;

export class LearningPhase {
  readonly #run: VegasRun;
  /** The α of the first iterations: 1, unless the user gave one, since the map is far off then. */
  readonly firstAlpha: number;
  /** The samples per iteration that learning arrived at. */
  size = 0;
  /** Whether the map was still changing when learning ended. */
  #moving = false;

  constructor(run: VegasRun, givenAlpha: boolean) {
    const { knobs, problem } = run;
    this.#run = run;
    this.firstAlpha = !givenAlpha && knobs.alpha > 0 && !problem.map ? 1 : knobs.alpha;
  }

  /** Adapts with a growing number of samples; returns the evaluations that a measurement will need. */
  async *learn(start: number): Step<number> {
    const { ledger, problem, measurement, measuring } = this.#run;
    let searching = !problem.map; // a map that was learned elsewhere is near
    for (let size = start; ; size *= GROWTH) {
      this.size = size;
      const most = searching && size > start ? 1 : MAX_TURNS;
      const { last, moving } = yield* this.#learnAt(size, searching, most);
      const nextCost = NEXT_TURNS * GROWTH * size;
      const spent =
        ledger.evaluations + nextCost > this.#ends ||
        GROWTH * size > this.#mostSamples ||
        ledger.iterationsLeft <= 1;
      if (isZeroEstimate(last)) {
        // all samples were 0: the next iteration has more. It takes at most half of what is left, because the first
        // iteration with a value other than 0 is made twice, the second time in the unit of that value
        const left = (this.#ends - ledger.evaluations) / 2;
        const over = measurement.isZero || left < size || ledger.iterationsLeft <= 1;
        if (over || ledger.evaluations > MAX_ZERO_SAMPLES) return 0;
        size = Math.min(GROWTH * size, left, this.#mostSamples) / GROWTH;
        continue;
      }
      if (searching && size > start && ledger.evaluations + 8 * start < this.#ends) {
        size = start / GROWTH; // the first value other than 0 was found: the map follows it in small iterations
        continue;
      }
      this.#moving = moving;
      if (moving && !spent) {
        size /= GROWTH; // the map is still changing: more iterations of the same size
        continue;
      }
      searching = false;
      const need = yield* measuring.planned(last, size);
      if (spent || nextCost > ADAPT_SHARE * need) return need;
    }
  }

  /** Makes iterations of one size until they improve no more; `moving` when the last one still did. */
  async *#learnAt(size: number, hurry: boolean, most: number): Step<{ last: Estimate; moving: boolean }> {
    const { ledger, goals } = this.#run;
    const seen: Estimate[] = [];
    for (let turn = 0; turn < most; turn++) {
      const full = ledger.evaluations + size > this.#ends;
      if (turn > 0 && (full || ledger.iterationsLeft <= 1)) break;
      const now = yield* this.#run.iterate(size, true, false, { alpha: hurry ? this.firstAlpha : undefined });
      // while the map is far off one iteration may fail to improve by chance: then two in a row are needed to settle
      const back = hurry ? 2 : 1;
      const enough =
        turn >= (hurry ? 3 : 1) &&
        goals.every(g => settled(ofResult(seen[turn - back], g), ofResult(now, g), !!now.results));
      seen.push(now);
      if (enough || isZeroEstimate(now)) return { last: now, moving: false };
    }
    const [before, last] = [seen[seen.length >> 1], seen.at(-1)!];
    // errors still shrink, or grow because new peaks are found; relative errors mean nothing where values cancel
    const changes = (g: number) => {
      const change = ofResult(last, g).error / ofResult(before, g).error;
      return change < 0.5 || change > 2 || !agree(ofResult(before, g), ofResult(last, g));
    };
    return { last, moving: seen.length > 1 && goals.some(changes) };
  }

  /** Whether learning came to an end, its last two iterations agree, and the first measurement with them. */
  get isSteady(): boolean {
    const { learned, measurement, dark, goals } = this.#run;
    if (this.#moving) return false;
    // a peak that was found late by chance needs three iterations that see it
    if (dark > 0 && learned.filter(e => !isZeroEstimate(e)).length < 3) return false;
    const [before, now] = learned.slice(-2);
    if (!now) return true;
    const seen = [before, now, ...measurement.counted.slice(0, 1)];
    return goals.every(g => seen.every((e, i) => i === 0 || agree(ofResult(seen[i - 1], g), ofResult(e, g))));
  }

  /** The number of evaluations at which learning, or the search for a first value other than 0, has used up its part. */
  get #ends(): number {
    const { ledger, dark, seen } = this.#run;
    const all = ledger.evaluations + ledger.left;
    return seen ? dark + ADAPT_BUDGET * (all - dark) : SEARCH_BUDGET * all;
  }

  /**
   * Samples per iteration, at most. The deadline is far when these are made, and twice as many cubes per axis
   * lower the error of a smooth integrand more than larger measuring iterations do.
   */
  get #mostSamples(): number {
    return Math.min(MAX_ITERATION_SAMPLES, 4 * this.#run.ledger.iterationLimit);
  }
}

const agree = (a: Estimate, b: Estimate) => Math.abs(a.value - b.value) <= 5 * Math.hypot(a.error, b.error);

/**
 * Whether an iteration agrees with the one before and did not do much better. Of several results one may be 0, and its error is
 * compared with the size of its weights instead of its value.
 */
function settled(before: Estimate, now: Estimate, several: boolean): boolean {
  const size = ({ value, error, evaluations }: Estimate) =>
    several ? Math.sqrt(value * value + error * error * evaluations) : Math.abs(value);
  if (several && isZeroEstimate(now) && isZeroEstimate(before)) return true;
  if (!(now.error < MAX_SETTLED_ERROR * size(now))) return false;
  const improved = now.error / size(now) < (IMPROVED * before.error) / size(before);
  return agree(before, now) && !improved;
}
