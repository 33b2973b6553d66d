/**
 * A method that runs in turns: it pauses after an iteration once it has spent what it was given, and goes on later. Its
 * budget is what the other method has left of the whole.
 */
import { evaluationsFor, improvement, slopeOf } from '../convergence.ts';
import {
  type IterationRecord,
  type MethodProblem,
  NO_OUTCOME,
  type Outcome,
  type Run,
  type Step,
  toleranceAt,
} from '../method.ts';

/** Beyond reach, as a ratio of evaluations. */
const FAR = 1e4;
/** The part of a value that an error has to be below, to contradict a larger value. */
const VAGUE = 0.2;
/** The relative error at which a map is good, and how much more than the budget is out of reach: a map may still improve. */
const GOOD_MAP = 0.01;
const OUT_OF_REACH = 6;
/** What is added to a need, which is a guess. */
const SAFETY = 1.2;

interface Seen {
  value: number;
  error: number;
  evaluations: number;
  adapting: boolean;
}

export interface Contender {
  name: string;
  start(problem: MethodProblem): Run;
  /** Its errors fall as the square root law says; otherwise only their slope tells. */
  random: boolean;
  /** What one of its evaluations costs. */
  price: number;
  /** Evaluations that it cannot start without. */
  least: number;
  /** The part of the tolerance that it has to reach. */
  margin: number;
}

export class PausableRun {
  readonly #of: Contender;
  readonly #problem: MethodProblem;
  readonly records: IterationRecord[] = [];
  /** The other one shares the budget. */
  other: PausableRun | null = null;
  outcome: Outcome | null = null;
  evaluations = 0;
  /** Evaluations that it and the other one may make together. */
  granted: number;
  readonly #seen: Seen[] = [];
  #run: Run | null = null;
  /** It met a value that is not finite. */
  #lost: { error: unknown } | null = null;

  constructor(of: Contender, problem: MethodProblem) {
    this.#of = of;
    this.granted = problem.maxEvaluations;
    this.#problem = {
      ...problem,
      relTol: of.margin * problem.relTol,
      absTol: of.margin * problem.absTol,
      // a rule looks at points such as the centre, where an integrand may well be infinite: that need not end the run
      onNonFinite: found => {
        try {
          problem.onNonFinite(found);
        } catch (error) {
          this.#lost = { error };
          throw error;
        }
      },
    };
  }

  get name(): string {
    return this.#of.name;
  }

  get cost(): number {
    return this.evaluations * this.#of.price;
  }

  /** Goes on until it has spent so much, or is done; yields its iterations. */
  async *runTo(cost: number): Step<void> {
    const { maxEvaluations } = this;
    if (!this.#run && maxEvaluations < this.#of.least) {
      this.outcome = NO_OUTCOME;
      return;
    }
    this.#run ??= this.#of.start({ ...this.#problem, maxEvaluations });
    const limit = cost / this.#of.price;
    try {
      do {
        const step = await this.#run.next({ maxEvaluations: this.maxEvaluations });
        if (step.done) {
          this.outcome = step.value;
          this.evaluations = step.value.evaluations;
          return;
        }
        const { record, running, evaluations } = step.value;
        this.evaluations = evaluations;
        this.records.push(record);
        this.#seen.push({
          value: running.value,
          error: running.error,
          evaluations,
          adapting: record.adapting,
        });
        const all = evaluations + (this.other?.evaluations ?? 0);
        const grant = yield { record, running: { ...running, method: this.name }, evaluations: all };
        for (const own of [this, this.other]) if (own) own.granted = grant.maxEvaluations;
      } while (this.evaluations < limit);
    } catch (error) {
      if (this.#lost?.error !== error || !this.other || this.other.#lost) throw error;
      this.outcome = { ...NO_OUTCOME, evaluations: this.evaluations };
    }
  }

  /** Frees what it holds; it cannot go on. */
  async stop(): Promise<void> {
    await this.#run?.return(NO_OUTCOME);
  }

  /** Evaluations that it may make, from its start. */
  get maxEvaluations(): number {
    return this.granted - (this.other?.evaluations ?? 0);
  }

  /** Whether it is there, and the other one does not contradict it. */
  convinces(): boolean {
    if (this.outcome?.status !== 'converged' || this.outcome.warnings.length > 0) return false;
    const [own, theirs] = [this.outcome, this.other?.last];
    if (!theirs) return true;
    // a smaller estimate with a large relative error is no contradiction: its regions have not found the peak yet
    const [size, most] = [Math.abs(theirs.value), Math.abs(own.value)];
    if (theirs.error > VAGUE * size && size < most) return true;
    const allowed = this.#trust * own.error + this.other!.#trust * theirs.error;
    return Math.abs(own.value - theirs.value) <= Math.max(allowed, 1e-13 * Math.abs(own.value));
  }

  /** The last estimate that is one: while a map is learning, only if it is good. */
  get last(): Seen | undefined {
    return this.#seen.findLast(s => !s.adapting) ?? (this.#hasGoodMap ? this.#seen.at(-1) : undefined);
  }

  /** How many of its errors it may be off by; while a map is learning, errors are too small. */
  get #trust(): number {
    if (!this.#of.random) return 1;
    return this.last?.adapting ? 10 : 4;
  }

  get #hasGoodMap(): boolean {
    const now = this.#seen.at(-1);
    return !!now && now.error < GOOD_MAP * Math.abs(now.value);
  }

  /** The square root law is no guess: what is beyond it by far stays there, however the map improves. */
  get hopeless(): boolean {
    return this.#of.random && this.needed > FAR * this.#left;
  }

  /** A random method with a map that is good already would need more than there is, several times. */
  get outOfReach(): boolean {
    return this.#of.random && this.#hasGoodMap && this.needed > OUT_OF_REACH * this.#left;
  }

  /** The cost that it should still take; Infinity when that is more than is left. */
  get need(): number {
    const { needed } = this;
    return needed <= this.#left ? needed * this.#of.price : Infinity;
  }

  /** The evaluations that it should still take. */
  get needed(): number {
    const now = this.#now;
    if (!now) return 0;
    const missing = now.error / toleranceAt(this.#problem, now.value);
    if (missing <= 1) return 0;
    const { samples, slope } = this.#law(now);
    return slope > 0.02 ? SAFETY * evaluationsFor(missing, samples, slope) : Infinity;
  }

  /** The error that it should come to with all that is left. */
  get projected(): number {
    const now = this.#now;
    if (!now) return Infinity;
    const { samples, slope } = this.#law(now);
    return now.error / improvement(this.#left, samples, slope);
  }

  /** Evaluations that it may still make. */
  get #left(): number {
    return this.maxEvaluations - this.evaluations;
  }

  /** What it has. The errors of regions go up and down: of the last half of the evaluations the best tells more than the last. */
  get #now(): Seen | undefined {
    const last = this.#seen.at(-1);
    if (!last || this.#of.random) return last;
    const late = this.#seen.filter(s => s.evaluations > last.evaluations / 2);
    return { ...last, error: Math.min(...late.map(s => s.error)) };
  }

  /** The evaluations behind an error, and the power with which it falls. */
  #law(now: Seen): { samples: number; slope: number } {
    if (!this.#of.random) return { samples: now.evaluations, slope: slopeOf(this.#seen, now) };
    // while the map is learning, an iteration has the error of its own samples
    return { samples: now.adapting ? this.records.at(-1)!.evaluations : now.evaluations, slope: 0.5 };
  }
}
