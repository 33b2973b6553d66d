/** A method that runs in turns: it stops after an iteration once it has spent what it was given, and goes on later. */

import { kit } from '../../integrand/math/index.ts';
import type { Problem } from '../../problem.ts';
import type { IterationRecord } from '../../result.ts';
import { type MethodProblem, type Outcome, toleranceAt } from '../method.ts';
import { runMethod } from '../registry.ts';

/** How far back a slope is taken, as a ratio of evaluations. */
const BACK = 4;
/** Beyond reach, as a ratio of evaluations. */
const FAR = 1e4;
/** A deterministic error is an estimate as well: the part of the tolerance that it has to reach here. */
const MARGIN = 0.7;
/** The part of a value that an error has to be below, to contradict a larger value. */
const VAGUE = 0.2;
/** The relative error at which a map is good, and how much more than the budget is out of reach: a map may still improve. */
const GOOD_MAP = 0.01;
const OUT_OF_REACH = 6;
/** What is added to a need, which is a guess. */
const SAFETY = 1.2;

/** The outcome of a method for which nothing was left. */
const NOTHING: Outcome = {
  value: 0,
  error: Infinity,
  status: 'budget',
  evaluations: 0,
  chi2: 0,
  dof: 0,
  q: 1,
  warnings: [],
};

interface Seen {
  value: number;
  error: number;
  evaluations: number;
  adapting: boolean;
}

export class Contestant {
  readonly name: 'pagani' | 'vegas+';
  readonly records: IterationRecord[] = [];
  /** The other one shares the budget. */
  other: Contestant | null = null;
  outcome: Outcome | null = null;
  evaluations = 0;
  readonly #price: number;
  readonly #task: MethodProblem;
  readonly #problem: Problem;
  /** Evaluations that it cannot start without. */
  readonly #least: number;
  readonly #seen: Seen[] = [];
  #limit = 0;
  #running: Promise<void> | null = null;
  #failure: { error: unknown } | null = null;
  /** It met a value that is not finite. */
  #lost: { error: unknown } | null = null;
  #resume: (() => void) | null = null;
  #paused: (() => void) | null = null;

  constructor(name: 'pagani' | 'vegas+', task: MethodProblem, problem: Problem, price: number, least = 0) {
    this.name = name;
    this.#price = price;
    this.#least = least;
    this.#problem = problem;
    const own = this;
    const margin = name === 'pagani' ? MARGIN : 1;
    this.#task = {
      ...task,
      relTol: margin * task.relTol,
      absTol: margin * task.absTol,
      get maxEvaluations() {
        return task.maxEvaluations - (own.other?.evaluations ?? 0);
      },
      // a rule looks at points such as the centre, where an integrand may well be infinite: that need not end the run
      onNonFinite: found => {
        try {
          task.onNonFinite(found);
        } catch (error) {
          this.#lost = { error };
          throw error;
        }
      },
      onIteration: (record, running, evaluations) => {
        this.evaluations = evaluations;
        this.records.push(record);
        this.#seen.push({ ...running, evaluations, adapting: record.adapting });
        const all = evaluations + (this.other?.evaluations ?? 0);
        void task.onIteration(record, { ...running, method: name }, all);
        if (evaluations < this.#limit) return undefined;
        return new Promise<void>(resume => {
          this.#resume = resume;
          this.#paused!();
        });
      },
    };
  }

  get cost(): number {
    return this.evaluations * this.#price;
  }

  /** Goes on until it has spent so much, or is done. */
  async runTo(cost: number): Promise<void> {
    if (!this.#running && this.#task.maxEvaluations < this.#least) {
      this.outcome = { ...NOTHING };
      return;
    }
    this.#limit = cost / this.#price;
    const paused = new Promise<void>(resolve => {
      this.#paused = resolve;
    });
    this.#running ??= runMethod(this.#task, this.name, this.#problem).then(
      outcome => {
        this.outcome = outcome;
        this.evaluations = outcome.evaluations;
      },
      error => {
        if (this.#lost?.error === error && this.other && !this.other.#lost)
          this.outcome = { ...NOTHING, evaluations: this.evaluations };
        else this.#failure = { error };
      },
    );
    this.#resume?.();
    this.#resume = null;
    await Promise.race([paused, this.#running]);
    if (this.#failure) throw this.#failure.error;
  }

  /** Whether it is there, and the other one does not contradict it. */
  convinces(): boolean {
    if (this.outcome?.status !== 'converged' || this.outcome.warnings.length > 0) return false;
    const [own, theirs] = [this.outcome, this.other?.last];
    if (!theirs) return true;
    // who sees less, and that vaguely, does not contradict: regions that have not found a peak yet
    const [size, most] = [Math.abs(theirs.value), Math.abs(own.value)];
    if (theirs.error > VAGUE * size && size < most) return true;
    const allowed = this.#trust * own.error + this.other!.#trust * theirs.error;
    return Math.abs(own.value - theirs.value) <= Math.max(allowed, 1e-13 * Math.abs(own.value));
  }

  /** The last estimate that is one: while a map is learning, only if it is good. */
  get last(): Seen | undefined {
    return this.#seen.findLast(s => !s.adapting) ?? (this.#hasGoodMap ? this.#seen.at(-1) : undefined);
  }

  /** How many of its errors it may be off by: a deterministic one is a bound, one of a map that learns too small. */
  get #trust(): number {
    if (this.name === 'pagani') return 1;
    return this.last?.adapting ? 10 : 4;
  }

  get #hasGoodMap(): boolean {
    const now = this.#seen.at(-1);
    return !!now && now.error < GOOD_MAP * Math.abs(now.value);
  }

  /** The square root law is no guess: what is beyond it by far stays there, however the map improves. */
  get hopeless(): boolean {
    return this.name === 'vegas+' && this.needed > FAR * this.#left;
  }

  /** VEGAS+, with a map that is good already, would need more than there is, several times. */
  get outOfReach(): boolean {
    return this.#hasGoodMap && this.needed > OUT_OF_REACH * this.#left;
  }

  /** The cost that it should still take; Infinity when that is more than is left. */
  get need(): number {
    const { needed } = this;
    return needed <= this.#left ? needed * this.#price : Infinity;
  }

  /** The evaluations that it should still take. */
  get needed(): number {
    const now = this.#now;
    if (!now) return 0;
    const missing = now.error / toleranceAt(this.#task, now.value);
    if (missing <= 1) return 0;
    const { samples, slope } = this.#law(now);
    // by our own functions: what they give decides who goes on, and engines differ in theirs
    return slope > 0.02 ? SAFETY * samples * (kit.exp(kit.log(missing) / slope) - 1) : Infinity;
  }

  /** The error that it should come to with all that is left. */
  get projected(): number {
    const now = this.#now;
    if (!now) return Infinity;
    const { samples, slope } = this.#law(now);
    return now.error * kit.exp(-Math.max(0, slope) * kit.log(1 + Math.max(0, this.#left) / samples));
  }

  /** Evaluations that it may still make. */
  get #left(): number {
    return this.#task.maxEvaluations - this.evaluations;
  }

  /** What it has; the errors of regions go up and down, and the best of late tells more than the last. */
  get #now(): Seen | undefined {
    const last = this.#seen.at(-1);
    if (!last || this.name === 'vegas+') return last;
    const late = this.#seen.filter(s => s.evaluations > last.evaluations / 2);
    return { ...last, error: Math.min(...late.map(s => s.error)) };
  }

  /** Errors fall as a power of the evaluations: the square root law, or what the last iterations show. */
  #law(now: Seen): { samples: number; slope: number } {
    // while VEGAS+ learns, an iteration has the error of its own samples
    if (this.name === 'vegas+')
      return { samples: now.adapting ? this.records.at(-1)!.evaluations : now.evaluations, slope: 0.5 };
    const before = this.#seen.findLast(s => s.evaluations <= now.evaluations / BACK) ?? this.#seen[0];
    const slope = kit.log(before.error / now.error) / kit.log(now.evaluations / before.evaluations);
    return { samples: now.evaluations, slope: Math.max(0, slope || 0) };
  }
}
