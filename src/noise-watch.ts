/**
 * Ends runs whose tolerance is below what a device in float32 can tell. The noise of its values is measured on the way. Once the error of a run
 * is no larger, more evaluations do not make it better, and the run gets no more of its budget. Errors of samples fall with the square
 * root of evaluations, so it is known before how many of them that takes: such runs plan with no more.
 */
import type { Session } from './devices/device.ts';
import { type Iteration, type MethodProblem, type Several, toleranceAt } from './methods/method.ts';

/** Evaluations before the noise is first measured: what a run of fewer would save is little beside 2,048 points in float64. */
const FIRST = 2 ** 16;
/** The noise is measured again after so many times the evaluations, with the map that there is then. */
const AGAIN = 4;
/** What sums are known to in epsilons of the value: the errors of methods do not fall below a few, also where values have less noise. */
const FLOOR_EPSILONS = 8;
/** What a run may still spend, in evaluations so far, whose map was learning when the floor was met: it has measured nothing. */
const TO_MEASURE = 2;
/** How much more samples may cost than the square root law says. */
const MARGIN = 1.5;

type Watched = Pick<MethodProblem, 'relTol' | 'absTol' | 'signal' | 'epsilon' | 'maxEvaluations'>;

export class NoiseWatch {
  readonly #measure: NonNullable<Session['noise']>;
  readonly #problem: Watched;
  readonly #goals: readonly number[];
  #next = FIRST;
  #noise: readonly number[] = [];
  /** Evaluations that the run may make. */
  #most = Infinity;

  constructor(
    measure: NonNullable<Session['noise']>,
    problem: Watched,
    several?: Pick<Several, 'goals'> | undefined,
  ) {
    this.#measure = measure;
    this.#problem = problem;
    this.#goals = several?.goals ?? [0];
  }

  /** Whether the run has less than its budget because of the noise. */
  get ended(): boolean {
    return this.#most < this.#problem.maxEvaluations;
  }

  /** Evaluations that a run may make in all, after an iteration. */
  async most({ running, record, evaluations }: Iteration): Promise<number> {
    if (evaluations < FIRST) return this.#most;
    const { values, errors: own } = running.several ?? { values: [running.value], errors: [running.error] };
    const errors = own.map((error, r) => Math.max(error, running.leastErrors?.[r] ?? 0));
    const tolerance = (g: number) => toleranceAt(this.#problem, values[g], g);
    const open = this.#goals.filter(g => errors[g] > tolerance(g));
    /** The error of the goal that is farthest from its floor, in floors; Infinity where a tolerance is above the floor. */
    const distance = () =>
      open.reduce((most, g) => {
        const rounding = FLOOR_EPSILONS * this.#problem.epsilon * Math.abs(values[g]);
        const floor = Math.max(this.#noise[g] ?? 0, rounding);
        return Math.max(most, floor >= tolerance(g) ? errors[g] / floor : Infinity);
      }, 0);
    if (open.length === 0) return this.#most;
    if (evaluations >= this.#next || (distance() <= 1 && !this.ended)) {
      this.#next = AGAIN * evaluations;
      this.#noise = await this.#measured();
    }
    const left = distance();
    const factor = left <= 1 ? (record.adapting ? TO_MEASURE : 1) : MARGIN * left * left;
    const lawful = left <= 1 || (!record.adapting && running.chi2 !== undefined);
    if (lawful) this.#most = Math.min(this.#most, factor * evaluations);
    return this.#most;
  }

  /** The noise of each result; none where the run is over meanwhile. */
  async #measured(): Promise<readonly number[]> {
    try {
      return await this.#measure(this.#problem.signal);
    } catch (e) {
      if (this.#problem.signal?.aborted) return [];
      throw e;
    }
  }
}
