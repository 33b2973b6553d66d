/** What a run has spent and may spend: evaluations, iterations, time; and the records of its iterations. */
import type { Grant, Iteration, IterationRecord, MethodProblem, Running } from './method.ts';

/** The part of the time left that an iteration is planned for. */
const PLANNED_TIME = 0.8;
/** In the first EARLY of the time an iteration may have MAX_GROWTH times the evaluations of all before it. */
const EARLY = 0.25;
const MAX_GROWTH = 64;

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
  /** Evaluations per millisecond of the fastest iteration so far. */
  #rate = 0;

  constructor({ maxEvaluations, maxIterations, deadline }: MethodProblem) {
    this.maxEvaluations = maxEvaluations;
    this.#maxIterations = maxIterations;
    this.#deadline = deadline;
  }

  /** Notes the evaluations that were made since the last call. */
  spend(evaluations: number): void {
    const now = performance.now();
    this.#rate = Math.max(this.#rate, evaluations / Math.max(0.01, now - this.#last));
    this.evaluations += evaluations;
    this.#last = now;
  }

  /** Yields an iteration, and takes what is granted then. */
  *note(record: IterationRecord, running: Running): Generator<Iteration, void, Grant> {
    this.iterations++;
    this.records.push(record);
    const grant = yield { record, running, evaluations: this.evaluations };
    this.maxEvaluations = grant.maxEvaluations;
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
    return Math.min(this.budgetLeft, this.#timeLeft);
  }

  /** Whether time, not the budget of evaluations, is what is running out. */
  get hurried(): boolean {
    return this.#timeLeft < this.budgetLeft;
  }

  /** Whether `part` of the time, from 0 to 1, is over. */
  isLate(part: number): boolean {
    return performance.now() > this.#start + part * (this.#deadline - this.#start);
  }

  /**
   * How many evaluations fit into the time that is left. Small iterations say little about that: on a GPU one of a thousand
   * samples takes as long as one of a million, and the first one has to be compiled. So the fastest iteration counts, and
   * while most of the time is left, an iteration may be many times as large as all before it.
   */
  get #timeLeft(): number {
    if (this.#deadline === Infinity || this.evaluations === 0) return Infinity;
    const planned = PLANNED_TIME * (this.#deadline - performance.now()) * this.#rate;
    return this.isLate(EARLY) ? planned : Math.max(planned, MAX_GROWTH * this.evaluations);
  }
}
