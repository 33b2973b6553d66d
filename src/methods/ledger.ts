/** What a run has spent and may spend: evaluations, iterations, time; and the records of its iterations. */
import type { Grant, Iteration, IterationRecord, MethodProblem, Running } from './method.ts';

/** The part of the time left that an iteration is planned for. */
const PLANNED_TIME = 0.8;
/**
 * The part of all time that an iteration is planned for, at most: an iteration that the deadline interrupts is lost, since
 * its samples are in the order of the cubes, and a part of them covers a part of the domain.
 */
const MAX_ITERATION_TIME = 1 / 32;
/** What an iteration counts for in the average rate when the next one has ended. */
const RATE_DECAY = 0.5;

export class Ledger {
  evaluations = 0;
  iterations = 0;
  /** The records of all iterations since the last `discard`. */
  readonly records: IterationRecord[] = [];
  maxEvaluations: number;
  readonly #maxIterations: number;
  readonly #deadline: number;
  readonly #start = performance.now();
  #last = this.#start;
  /** Evaluations and milliseconds of the last iterations, earlier ones counting less and less; and the last rate of all. */
  #recent = { evaluations: 0, ms: 0, last: 0 };

  constructor({ maxEvaluations, maxIterations, deadline }: MethodProblem) {
    this.maxEvaluations = maxEvaluations;
    this.#maxIterations = maxIterations;
    this.#deadline = deadline;
  }

  /** Notes the evaluations that were made since the last call. */
  spend(evaluations: number): void {
    const now = performance.now();
    const ms = Math.max(0.01, now - this.#last);
    this.#recent = {
      evaluations: RATE_DECAY * this.#recent.evaluations + evaluations,
      ms: RATE_DECAY * this.#recent.ms + ms,
      last: evaluations / ms,
    };
    this.evaluations += evaluations;
    this.#last = now;
  }

  /** Yields an iteration, and takes what is granted then. */
  *note(record: IterationRecord, running: Running): Generator<Iteration, void, Grant> {
    this.iterations++;
    this.records.push(record);
    const grant = yield { record, running, evaluations: this.evaluations };
    this.maxEvaluations = grant.maxEvaluations;
    this.#last = performance.now(); // with `auto`, the other method may have run in the meantime
  }

  /** Marks all iterations so far as adapting: they are not trusted and do not enter the result. */
  discard(): void {
    for (const r of this.records.splice(0)) r.adapting = true;
  }

  get lastIteration(): boolean {
    return this.iterations >= this.#maxIterations;
  }

  /** Iterations that may still be made. */
  get iterationsLeft(): number {
    return this.#maxIterations - this.iterations;
  }

  get budgetLeft(): number {
    return this.maxEvaluations - this.evaluations;
  }

  /** Evaluations that can still be made, as budget and time allow. */
  get left(): number {
    return Math.min(this.budgetLeft, this.timeLeft);
  }

  /** Whether time, not the budget of evaluations, is what is running out. */
  get hurried(): boolean {
    return this.timeLeft < this.budgetLeft;
  }

  get hasDeadline(): boolean {
    return this.#deadline < Infinity;
  }

  /** The part of the time that is over, from 0 to 1; 0 without a deadline. */
  get timeSpent(): number {
    return (performance.now() - this.#start) / (this.#deadline - this.#start);
  }

  /** How many evaluations fit into the time that is left; Infinity without a deadline. */
  get timeLeft(): number {
    if (!this.hasDeadline || this.evaluations === 0) return Infinity;
    return PLANNED_TIME * (this.#deadline - performance.now()) * this.#rate;
  }

  /** How many evaluations an iteration should have at most, so that little is lost if the deadline interrupts it. */
  get iterationLimit(): number {
    if (!this.hasDeadline || this.evaluations === 0) return Infinity;
    return Math.min(this.timeLeft, MAX_ITERATION_TIME * (this.#deadline - this.#start) * this.#rate);
  }

  /**
   * Evaluations per millisecond. A small iteration after large ones says little about the rate, since on a GPU one of a
   * thousand samples takes as long as one of a million; so the average is by evaluations. A large iteration after small ones
   * says more than the average.
   */
  get #rate(): number {
    const { evaluations, ms, last } = this.#recent;
    return Math.max(last, evaluations / ms);
  }
}
