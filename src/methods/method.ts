/**
 * The contract between `integrate` and the methods. A method is an async generator: it yields after each iteration and is
 * then told what it may spend in all. Whoever drives it may stop it with `return()`; its `finally` frees what it holds.
 */
import type { Session } from '../devices/device.ts';
import type { Key } from '../random/philox.ts';
import type { NonFinite } from '../tasks/part.ts';
import type { Ranges } from '../tasks/region.ts';
import type { PlainTask } from '../tasks/sample.ts';
import type { Estimate } from './combine.ts';
import type { KnownRegions } from './cubature/known-regions.ts';
import type { CubatureRecord, PoolRecord } from './cubature/region-record.ts';
import type { Learned, VegasRecord } from './vegas/record.ts';
import type { ZmcRecord } from './zmc/record.ts';

/** How a run ended: only `converged` says that the tolerance is met. `failed` is for integrals of a scan. */
export type Status = 'converged' | 'budget' | 'time' | 'memory' | 'roundoff' | 'aborted' | 'failed';

/** One iteration, as `Result.iterations` has it. */
export interface IterationRecord {
  /** What it found; for deterministic methods, the estimate of the whole integral after it. */
  value: number;
  /** The error of that value. */
  error: number;
  /**
   * Evaluations made in this iteration. For deterministic methods: all evaluations so far, because each iteration
   * re-estimates the whole integral.
   */
  evaluations: number;
  /** The map or the strata were still changing: such an iteration does not enter the result. */
  adapting: boolean;
  /** An integrand with several results: the value of each; `value` and `error` are those of the first goal. */
  values?: readonly number[];
  /** The errors of these values. */
  errors?: readonly number[];
}

/**
 * What a method must know of an integrand with several results. They are numbered in the order of `leaves(shape)`
 * (integrand/shape.ts), which is that of the program's results.
 */
export interface Several {
  /** How many results there are. */
  count: number;
  /** The results whose tolerance has to be met: at least one, in ascending order. */
  goals: readonly number[];
  /** The results that map and strata learn from: at least one, in ascending order. */
  leads: readonly number[];
  /** The names of all results, for warnings. */
  names: readonly string[];
  /** As `beyond` of the problem, for each result; absent: 0. */
  beyond?: readonly number[];
  /** Whether covariances of all pairs of results are measured, also of those in different blocks. */
  allPairs?: boolean;
}

/** Estimates of several results. */
export interface SeveralEstimates {
  values: readonly number[];
  /** As the error of a single result: of each. */
  errors: readonly number[];
  /**
   * Monte Carlo: correlations of the values, one list per block of results, or one for all (tasks/correlation.ts). Absent for deterministic
   * methods, whose errors are no standard deviations.
   */
  correlations?: readonly (readonly number[])[];
  /** Monte Carlo: χ² and Q of each result. */
  chi2?: readonly number[];
  q?: readonly number[];
}

export interface MethodProblem {
  session: Session;
  /** The kind of the device: those of one kind give the same bits. */
  kind: string;
  /** The relative rounding error of the device's numbers, 2^-53 for float64. */
  epsilon: number;
  /** The box that is integrated over, one interval per axis. */
  ranges: Ranges;
  /** Points of the box where the integrand peaks, for methods whose regions start with them. */
  points?: readonly (readonly number[])[];
  key: Key;
  relTol: number;
  absTol: number;
  /** The integral of |f| that may lie beyond the maps of infinite ranges, where no method has a point; absent: 0. */
  beyond?: number;
  /**
   * The integral of |f| closer to the ends of ranges than so many samples come, less what it would be if |f| grew no more
   * from there on (ends/end-excess.ts); `endPart` is the part of the samples beside an end that have the density of the nearest. Absent: 0.
   */
  unseen?(nearest: Nearest, samples: number, result: number, endPart: number): Promise<number>;
  /** For an integrand with several results; absent for one that returns a number. */
  several?: Several;
  /** Evaluations that it may make; each Grant may say otherwise. */
  maxEvaluations: number;
  maxIterations: number;
  /** The value of performance.now() at which `maxTime` is over; Infinity without a limit. */
  deadline: number;
  /** Aborted by the user or by `maxTime`. */
  signal: AbortSignal | undefined;
  /** Samples that a Monte Carlo claim needs at least; by default a quarter of `maxEvaluations`, or 2^14 if that is less. */
  leastSamples?: number;
  /** In a scan: how many integrals it has, and whether witnesses have contradicted a claim on any of them. */
  neighbours?: { count: number; contradicted: boolean };
  /** The record of a run that this one goes on with, by a method of its family. */
  resume?: VegasRecord;
  regions?: KnownRegions | PoolRecord;
  blocks?: ZmcRecord;
  /** What another run has learned, to begin with. */
  map?: Learned;
  /** VEGAS family: called after each iteration that measures, with its task and what it found. */
  onMeasured?: ((task: PlainTask, estimate: Estimate) => Promise<void>) | undefined;
  /** Whether the outcome is to have a record, where that costs memory. */
  keeps?: boolean;
  /** What to do with values that are not finite: throws unless they may count as 0. */
  onNonFinite(found: NonFinite): void;
}

/** For each axis: how close samples come to its low and to its high end, as parts of its range. */
export type Nearest = readonly (readonly [low: number, high: number])[];

/** What a method yields: an iteration, the estimate that the run has come to, and all evaluations so far. */
export interface Iteration {
  record: IterationRecord;
  running: Running;
  evaluations: number;
}

/** What a method is told when it goes on: the evaluations that it may make, from its start. */
export interface Grant {
  maxEvaluations: number;
}

/** A method at work on a problem. */
export type Run = AsyncGenerator<Iteration, Outcome, Grant>;
/** A step of a run that may yield iterations on the way to its result. */
export type Step<T> = AsyncGenerator<Iteration, T, Grant>;

/**
 * An estimate while a run goes on. Monte Carlo methods add χ² of their iterations and its Q, `auto` the name of the method. With
 * several results, `value`, `error` and `chi2` are those of the first goal.
 */
export interface Running {
  value: number;
  error: number;
  several?: SeveralEstimates;
  chi2?: number;
  dof?: number;
  q?: number;
  method?: string;
  /** VEGAS family, while measuring on devices with `noise`: for each result, what steps may hide. The error of the outcome is no smaller. */
  leastErrors?: readonly number[];
  /** Evaluations that the run should still need, where it knows better than the law of its method. */
  needed?: number;
}

/** With several results, `value`, `error`, `chi2` and `q` are those of the first goal, and `several` has all. */
export interface Outcome {
  evaluations: number;
  value: number;
  error: number;
  several?: SeveralEstimates;
  status: Status;
  /** Deterministic methods: how many regions the estimate is made of. */
  regions?: number;
  /** Deterministic methods: how many random points confirm a claim, or contradict it. */
  witnesses?: number;
  chi2: number;
  dof: number;
  q: number;
  warnings: string[];
  /** When the method was chosen by `auto`: which, why, and its own iterations. */
  method?: string;
  choice?: string;
  iterations?: readonly IterationRecord[];
  /** VEGAS family: the iterations that the value is made of. */
  counted?: readonly Estimate[];
  /** What a later run goes on with; absent for methods that cannot be resumed. */
  record?: MethodRecord;
}

/** What a run has done and learned, as data. */
export type MethodRecord = VegasRecord | CubatureRecord | ZmcRecord;

/** The outcome of a run that made no estimate. */
export const NO_OUTCOME: Outcome = {
  value: 0,
  error: Infinity,
  status: 'budget',
  evaluations: 0,
  chi2: 0,
  dof: 0,
  q: 1,
  warnings: [],
};

/** The reason of signals that `maxTime` aborts. One of AbortSignal.timeout has the same name, and is the caller's own. */
export class MaxTimeOver extends DOMException {
  constructor() {
    super('maxTime is over', 'TimeoutError');
  }
}

/** The status of a run that its signal stopped; rethrows an error that has another cause. */
export function statusOf(error: unknown, signal: AbortSignal | undefined): Status {
  if (!signal?.aborted || error !== signal.reason) throw error;
  return signal.reason instanceof MaxTimeOver ? 'time' : 'aborted';
}

/** Makes the steps of a run to their end; an abort and the end of the time become its status. */
export async function* statusAtEnd(steps: Step<Status>, signal: AbortSignal | undefined): Step<Status> {
  try {
    return yield* steps;
  } catch (e) {
    return statusOf(e, signal);
  }
}

/** The results whose tolerance has to be met; of an integrand that returns a number, number 0. */
export const goalsOf = ({ several }: Pick<MethodProblem, 'several'>): readonly number[] =>
  several?.goals ?? [0];

/** What lies beyond the maps may come to this part of the tolerance without being a part of the error. */
export const NEGLIGIBLE_BEYOND = 0.1;

/**
 * The error that the problem allows for this value: max(absTol, relTol·|value|), less what may lie beyond the maps. Where
 * that leaves nothing, no claim is possible, and an error of half of what lies beyond is small enough. `result` is the number
 * of the result that the value is of.
 */
export function toleranceAt(
  { relTol, absTol, beyond: ofOne, several }: Pick<MethodProblem, 'relTol' | 'absTol' | 'beyond' | 'several'>,
  value: number,
  result = 0,
): number {
  const beyond = several?.beyond?.[result] ?? ofOne ?? 0;
  const whole = Math.max(absTol, relTol * Math.abs(value));
  if (beyond <= NEGLIGIBLE_BEYOND * whole) return whole;
  return whole > beyond ? Math.max(whole - beyond, NEGLIGIBLE_BEYOND * beyond) : beyond / 2;
}

/** Milliseconds that a method has to end after its signal. Devices of this library take a few. */
const STOP_GRACE_MS = 100;

/**
 * Drives a method to its end; `each` is called after every iteration, and may say how many evaluations it may make at most. A method whose device does not
 * stop within STOP_GRACE_MS after the signal is left alone, and the outcome is the estimate of its last iteration.
 */
export async function drive(
  run: Run,
  maxEvaluations: number,
  each: (iteration: Iteration) => undefined | Promise<number>,
  signal?: AbortSignal,
): Promise<Outcome> {
  const late = signal && graceAfter(signal);
  let last: Iteration | undefined;
  let left = false;
  let granted = maxEvaluations;
  try {
    for (;;) {
      const next = run.next({ maxEvaluations: granted });
      const step = await (late ? Promise.race([next, late.over]) : next);
      if (!step) {
        left = true;
        return leftOutcome(last, signal!);
      }
      if (step.done) return step.value;
      last = step.value;
      granted = Math.min(granted, (await each(last)) ?? Infinity);
    }
  } finally {
    late?.clear();
    const returned = run.return(NO_OUTCOME); // the method frees what it holds, also when `each` throws
    if (left) returned.catch(() => {});
    else await returned;
  }
}

/** `over` resolves STOP_GRACE_MS after the signal. */
function graceAfter(signal: AbortSignal): { over: Promise<null>; clear(): void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let start = () => {};
  const over = new Promise<null>(resolve => {
    start = () => {
      timer = setTimeout(() => resolve(null), STOP_GRACE_MS);
    };
    if (signal.aborted) start();
    else signal.addEventListener('abort', start, { once: true });
  });
  return {
    over,
    clear() {
      clearTimeout(timer);
      signal.removeEventListener('abort', start);
    },
  };
}

function leftOutcome(last: Iteration | undefined, signal: AbortSignal): Outcome {
  return {
    ...NO_OUTCOME,
    ...last?.running,
    evaluations: last?.evaluations ?? 0,
    status: statusOf(signal.reason, signal),
    warnings: [
      `the device had not stopped ${STOP_GRACE_MS} ms after it was told to; this is the estimate before its last task`,
    ],
  };
}
