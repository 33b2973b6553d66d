/**
 * A method that runs in turns: it pauses after the iteration in which it has spent what it was given, and goes on later.
 * Its budget is the whole budget minus what the other method has spent.
 *
 * With several results it needs what its worst goal needs, and is contradicted if one of its goals is. Errors of different goals
 * are compared in units of their tolerances.
 */
import { evaluationsFor, improvement, leastSamples, type Point, slopeOf } from '../convergence.ts';
import {
  goalsOf,
  type IterationRecord,
  type MethodProblem,
  NO_OUTCOME,
  type Outcome,
  type Run,
  type Running,
  type Step,
  toleranceAt,
} from '../method.ts';

/**
 * CONSTANT: an error up to this part of the value is one of rounding, which means that all samples had the same value. VARIES: an error
 * of the other run from this part of the value on means that the integrand varies. Without this, VEGAS+ claimed 1.0000000000000(2) for 4 of 250 seeds where a slab on a
 * 10,000th of five dimensions had hidden from its samples, though the witnesses of PAGANI had met it.
 */
const CONSTANT = 2 ** -36;
const VARIES = 1e-9;
/** A random method that needs more than this times the evaluations left is hopeless, however much its map improves. */
const HOPELESS_RATIO = 1e4;
/** A smaller estimate contradicts a larger one only if its relative error is at most this. */
const MAX_VAGUENESS = 0.2;
/** The relative error below which a map counts as good. */
const GOOD_MAP_ERROR = 0.01;
/** With a good map, needing more than this times the evaluations left is out of reach; a good map may still improve a bit. */
const OUT_OF_REACH_RATIO = 6;
/** The factor that the extrapolated need, which is a guess, is multiplied by. */
const NEED_SAFETY = 1.2;

interface Estimate {
  value: number;
  error: number;
}

interface Seen {
  /** The estimate of each goal. */
  each: readonly Estimate[];
  evaluations: number;
  adapting: boolean;
  /** Evaluations that it should still need, if it told. */
  needed: number | undefined;
}

export interface PausableMethod {
  name: string;
  start(problem: MethodProblem): Run;
  /** Whether its error falls as evaluations^−1/2; otherwise the power is taken from its last iterations. */
  random: boolean;
  /** The cost of one of its evaluations. */
  price: number;
  /** The evaluations that it needs to start. */
  least: number;
  /** The part of the tolerance that it has to reach. */
  margin: number;
  /** Whether it will tell what it needs, once it knows better than by the law of its errors. */
  tells: boolean;
}

export class PausableRun {
  readonly #of: PausableMethod;
  readonly #problem: MethodProblem;
  /** The problem with the tolerances that were asked for. */
  readonly #asked: MethodProblem;
  readonly #goals: readonly number[];
  readonly records: IterationRecord[] = [];
  /** The run that shares the budget with this one. */
  other: PausableRun | null = null;
  outcome: Outcome | null = null;
  evaluations = 0;
  /** Evaluations that it and the other run may make together. */
  granted: number;
  readonly #seen: Seen[] = [];
  #run: Run | null = null;
  /** The error that was thrown because a value was not finite. */
  #lost: { error: unknown } | null = null;

  constructor(of: PausableMethod, problem: MethodProblem) {
    this.#of = of;
    this.#asked = problem;
    this.#goals = goalsOf(problem);
    this.granted = problem.maxEvaluations;
    this.#problem = {
      ...problem,
      relTol: of.margin * problem.relTol,
      absTol: of.margin * problem.absTol,
      // of the whole budget: the other method may leave little of it
      leastSamples: leastSamples(problem.maxEvaluations),
      // a rule evaluates special points such as the centre, where an integrand may be infinite: the other run goes on
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

  /** Its name, or that of the method which it measured with. */
  get name(): string {
    return this.outcome?.method ?? this.#of.name;
  }

  get cost(): number {
    return this.evaluations * this.#of.price;
  }

  /** Goes on until it has cost this much in all, or is done; yields its iterations. */
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
        const { needed } = running;
        this.#seen.push({ each: this.#eachOf(running), evaluations, adapting: record.adapting, needed });
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

  /** Whether it has converged and the other run neither contradicts nor doubts it. */
  convinces(): boolean {
    if (this.outcome?.status !== 'converged' || this.outcome.warnings.length > 0) return false;
    return !this.other?.doubts && !this.contradicted;
  }

  /** Whether rounding ended it: what it integrates may not exist. */
  get doubts(): boolean {
    return this.outcome?.status === 'roundoff';
  }

  /** Whether the estimate of the other run contradicts its own. */
  get contradicted(): boolean {
    return this.contradictedGoal !== undefined;
  }

  /** The first goal whose estimate by the other run contradicts its own. */
  get contradictedGoal(): number | undefined {
    return this.#goals.find((_, g) => this.#contradictedAt(g));
  }

  /** The same for the goal at place `g` of the list. */
  #contradictedAt(g: number): boolean {
    if (!this.other) return false;
    const own = this.#estimates?.[g];
    const theirs = (this.other.#estimates ?? this.other.#seen.at(-1)?.each)?.[g];
    if (!own || !theirs) return false;
    const [size, most] = [Math.abs(theirs.value), Math.abs(own.value)];
    // all samples were equal, but rules or their witnesses have met values that are not
    if (this.#of.random && own.error <= CONSTANT * most && theirs.error > VARIES * most) return true;
    // what a map has seen while it learns counts only if it is more
    if (size < most && !this.other.#estimates) return false;
    // a smaller estimate is no contradiction when its relative error is large, since it has not found the peak yet; nor
    // when it is that of a rule which nobody has confirmed
    const unconfirmed = !this.other.#of.random && this.other.outcome?.status !== 'converged';
    if (size < most && (unconfirmed || theirs.error > MAX_VAGUENESS * size)) return false;
    const allowed = this.#trust * own.error + this.other.#trust * theirs.error;
    return Math.abs(own.value - theirs.value) > Math.max(allowed, 1e-13 * most);
  }

  /** The outcome, or the last estimate, of each goal. */
  get #estimates(): readonly Estimate[] | undefined {
    return this.outcome && this.outcome.error < Infinity ? this.#eachOf(this.outcome) : this.#last?.each;
  }

  /** The estimates of the goals. */
  #eachOf({ value, error, several }: Running): Estimate[] {
    if (!several) return this.#goals.map(() => ({ value, error }));
    return this.#goals.map(r => ({ value: several.values[r], error: several.errors[r] }));
  }

  /** The last estimate of an iteration that counts; without one, that of the last adapting iteration if the map is good. */
  get #last(): Seen | undefined {
    return this.#seen.findLast(s => !s.adapting) ?? (this.#hasGoodMap ? this.#seen.at(-1) : undefined);
  }

  /** How many times its error the value may be off; while a map is learning, errors are too small. */
  get #trust(): number {
    if (!this.#of.random) return 1;
    return (this.#last ?? this.#seen.at(-1))?.adapting ? 10 : 4;
  }

  get #hasGoodMap(): boolean {
    const now = this.#seen.at(-1);
    return !!now && now.each.every(({ value, error }) => error < GOOD_MAP_ERROR * Math.abs(value));
  }

  /** Whether the square root law says that it needs far more evaluations than are left. */
  get hopeless(): boolean {
    return this.#of.random && this.needed > HOPELESS_RATIO * this.#left;
  }

  /** Whether it is a random method whose map is good and which still needs several times the evaluations left. */
  get outOfReach(): boolean {
    return this.#of.random && this.#hasGoodMap && this.needed > OUT_OF_REACH_RATIO * this.#left;
  }

  /** Whether it runs, and has yet to find out what it needs. */
  get mayTellMore(): boolean {
    return this.#of.tells && !this.outcome && this.#seen.every(s => s.needed === undefined);
  }

  /** The cost that it should still need to reach the tolerance; Infinity when that is more than is left. */
  get need(): number {
    const { needed } = this;
    return needed <= this.#left ? needed * this.#of.price : Infinity;
  }

  /** The evaluations that it should still need to reach the tolerance of all goals. */
  get needed(): number {
    return this.#seen.at(-1)?.needed ?? Math.max(...this.#goals.map((goal, g) => this.#neededFor(goal, g)));
  }

  #neededFor(goal: number, g: number): number {
    const now = this.#now(g);
    if (!now) return 0;
    const missing = now.error / toleranceAt(this.#problem, now.value, goal);
    if (missing <= 1) return 0;
    const { samples, slope } = this.#law(now, g);
    return slope > 0.02 ? NEED_SAFETY * evaluationsFor(missing, samples, slope) : Infinity;
  }

  /** The error that it should have after all evaluations that are left; of several goals, the largest in units of its tolerance. */
  get projected(): number {
    const errors = this.#goals.map((_, g) => {
      const now = this.#now(g);
      if (!now) return { value: 0, error: Infinity };
      const { samples, slope } = this.#law(now, g);
      return { value: now.value, error: now.error / improvement(this.#left, samples, slope) };
    });
    return this.#worst(errors);
  }

  /** The error of the outcome, likewise. */
  get error(): number {
    return this.#worst(this.#eachOf(this.outcome!));
  }

  #worst(each: readonly Estimate[]): number {
    if (each.length === 1) return each[0].error;
    const inTolerances = each.map(
      ({ value, error }, g) => error / (toleranceAt(this.#asked, value, this.#goals[g]) || Number.MIN_VALUE),
    );
    return Math.max(...inTolerances);
  }

  /** Evaluations that it may still make. */
  get #left(): number {
    return this.maxEvaluations - this.evaluations;
  }

  /**
   * The present estimate of a goal. The errors of PAGANI go up and down, so for it the smallest error in the second half of the
   * evaluations is taken.
   */
  #now(g: number): (Point & { value: number; adapting: boolean }) | undefined {
    const last = this.#seen.at(-1);
    if (!last) return undefined;
    const { evaluations, adapting } = last;
    const { value, error } = last.each[g];
    if (this.#of.random) return { value, error, evaluations, adapting };
    const late = this.#seen.filter(s => s.evaluations > evaluations / 2);
    return { value, error: Math.min(...late.map(s => s.each[g].error)), evaluations, adapting };
  }

  /** The evaluations that the error comes from, and the power s with which it falls: error ∝ evaluations^−s. */
  #law(now: Point & { adapting: boolean }, g: number): { samples: number; slope: number } {
    if (!this.#of.random) {
      const points = this.#seen.map(({ each, evaluations }) => ({ error: each[g].error, evaluations }));
      return { samples: now.evaluations, slope: slopeOf(points, now) };
    }
    // while the map is learning, the estimate is that of one iteration, from its own samples
    return { samples: now.adapting ? this.records.at(-1)!.evaluations : now.evaluations, slope: 0.5 };
  }
}
