/** The contract between `integrate` and the methods: a problem on an open session, and what came of it. */
import type { Session } from '../devices/device.ts';
import type { Key } from '../random/philox.ts';
import type { IterationRecord, Status } from '../result.ts';

export interface MethodProblem {
  session: Session;
  /** The box that is sampled, an interval a coordinate. */
  ranges: readonly (readonly [number, number])[];
  key: Key;
  relTol: number;
  absTol: number;
  maxEvaluations: number;
  maxIterations: number;
  /** When `maxTime` is over, by performance.now(); Infinity without one. */
  deadline: number;
  /** Aborted by the user or by `maxTime`. */
  signal: AbortSignal | undefined;
  /** What to do with values that are not finite: throws unless they may count as 0. */
  onNonFinite(found: { count: number; first: { point: number[]; value: number } }): void;
  /** Called once an iteration, with the running estimate and all evaluations so far; to be waited for. */
  onIteration(record: IterationRecord, running: Running, evaluations: number): Promise<void> | undefined;
}

/** An estimate while a run goes on; Monte Carlo methods tell whether iterations agree, `auto` whose it is. */
export interface Running {
  value: number;
  error: number;
  chi2?: number;
  dof?: number;
  method?: string;
}

export interface Outcome {
  evaluations: number;
  value: number;
  error: number;
  status: Status;
  /** Deterministic methods: how many regions the estimate is made of. */
  regions?: number;
  chi2: number;
  dof: number;
  q: number;
  warnings: string[];
  /** When the method was chosen by `auto`: which, why, and its own iterations. */
  method?: string;
  choice?: string;
  iterations?: readonly IterationRecord[];
}

/** What became of a run that was stopped by its signal; throws what has another cause. */
export function statusOf(error: unknown, signal: AbortSignal | undefined): Status {
  if (!signal?.aborted || error !== signal.reason) throw error;
  return (signal.reason as DOMException | undefined)?.name === 'TimeoutError' ? 'time' : 'aborted';
}

/** The error that a problem asks for at this value. */
export function toleranceAt({ relTol, absTol }: MethodProblem, value: number): number {
  return Math.max(absTol, relTol * Math.abs(value));
}
