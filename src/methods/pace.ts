/**
 * How many evaluations fit into the time that is left. Small iterations say little about that: on a GPU one of a thousand
 * samples takes as long as one of a million, and the first one has to be compiled. So the fastest iteration counts, and
 * while most of the time is left, an iteration may be many times as large as all before it.
 */

/** The part of the time that plans may use; the part of it that is early, and how much may be risked then. */
const PART = 0.8;
const EARLY = 0.25;
const GROWTH = 64;

export class Pace {
  readonly #deadline: number;
  readonly #start = performance.now();
  #last = this.#start;
  #evaluations = 0;
  /** Evaluations a millisecond. */
  #rate = 0;

  constructor(deadline: number) {
    this.#deadline = deadline;
  }

  /** So many evaluations were made since the last call. */
  note(evaluations: number): void {
    const now = performance.now();
    this.#rate = Math.max(this.#rate, evaluations / Math.max(0.01, now - this.#last));
    this.#evaluations += evaluations;
    this.#last = now;
  }

  get left(): number {
    const now = performance.now();
    if (this.#deadline === Infinity || this.#evaluations === 0) return Infinity;
    const planned = PART * (this.#deadline - now) * this.#rate;
    const early = now - this.#start < EARLY * (this.#deadline - this.#start);
    return early ? Math.max(planned, GROWTH * this.#evaluations) : planned;
  }
}
