/** One problem on an open session: runs its method and makes the result. */
import type { Device, Session } from './devices/device.ts';
import { EndPoints } from './ends/end-points.ts';
import { EndProbe, type Missing } from './ends/end-probe.ts';
import { negligibleFor, totalOf, worthwhile } from './ends/missing.ts';
import { type BoundProgram, boundShape } from './integrand/bound.ts';
import type { Domain } from './integrand/domain.ts';
import { build, leaves, type Shape } from './integrand/shape.ts';
import {
  drive,
  MaxTimeOver,
  type MethodProblem,
  NO_OUTCOME,
  type Outcome,
  type Several,
  type SeveralEstimates,
  statusOf,
} from './methods/method.ts';
import { startMethod } from './methods/registry.ts';
import type { Problem } from './problem.ts';
import { keyOf } from './random/philox.ts';
import { Reports } from './reports.ts';
import { type IterationRecord, keepState, Result, seedData } from './result.ts';
import { isTold, stateOf } from './state.ts';
import type { NonFinite } from './tasks/part.ts';

/** The longest delay of a timer, 25 days. */
const MAX_DELAY_MS = 2 ** 31 - 1;

export async function solve(
  problem: Problem,
  { epsilon, kind }: Pick<Device, 'epsilon' | 'kind'>,
  session: Session,
  integrand: BoundProgram,
  start: number,
  neighbours?: MethodProblem['neighbours'] & { keepsStates?: boolean },
): Promise<Result> {
  const iterations: IterationRecord[] = [];
  let nonFinite = 0;
  // what may throw comes before the timer of `maxTime` is set, which would keep Node alive
  const given = problem.resume || problem.map;
  const states = given && (await import('./read-state.ts')).fromStates(problem, integrand);
  const histograms =
    problem.histograms && new (await import('./histograms.ts')).Histograms(problem, integrand);
  const several = await severalResults(integrand, problem);
  const reports = new Reports(problem.onProgress);
  const stop = stopSignal(problem, start, reports.signal);
  const { relTol, absTol, maxEvaluations, maxIterations, maxTime, domain } = problem;
  const keeps = isTold(integrand) && (!neighbours || !!neighbours.keepsStates);
  const task: MethodProblem = {
    session,
    kind,
    epsilon,
    ranges: domain.ranges,
    ...(domain.points && { points: domain.points }),
    key: keyOf(problem.seed),
    relTol,
    absTol,
    maxEvaluations,
    maxIterations,
    deadline: start + maxTime,
    signal: stop.signal,
    ...(neighbours && { neighbours }),
    ...states,
    keeps,
    onMeasured: histograms && ((sampled, estimate) => histograms.fill(sampled, estimate, stop.signal)),
    ...(several && { several }),
    onNonFinite(found) {
      if (problem.onNonFinite === 'error') throw new NonFiniteMet(found.first);
      nonFinite += found.count;
    },
  };
  const points = new EndPoints(integrand, domain, task);
  const probe = new EndProbe(points);
  try {
    const each: Missing[][] = [];
    for (let r = 0; r < (several?.count ?? 1); r++) each.push(await probe.beyondMaps(r));
    const beyond = each.map(totalOf);
    const missing = Math.max(...(several?.goals ?? [0]).map(g => beyond[g]));
    const unseen: MethodProblem['unseen'] = async (...samples) =>
      (await import('./ends/end-excess.ts')).unseenBy(points, ...samples);
    const own = { ...task, unseen, ...(several ? { several: { ...several, beyond } } : { beyond: missing }) };
    const run = startMethod(problem.method, own, problem);
    const measure = session.noise?.bind(session);
    const watch = measure && new (await import('./noise-watch.ts')).NoiseWatch(measure, task, several);
    let outcome = await drive(
      run,
      worthwhile(maxEvaluations, missing),
      iteration => {
        const { record, running, evaluations } = iteration;
        iterations.push(record);
        if (problem.onProgress)
          reports.tell({
            iteration: iterations.length,
            value: domain.sign * running.value,
            error: running.error,
            evaluations,
            adapting: record.adapting,
            method: running.method ?? problem.method,
            chi2: running.chi2 ?? 0,
            dof: running.dof ?? 0,
            ...(running.several && {
              values: running.several.values.map(v => domain.sign * v),
              errors: running.several.errors,
            }),
          });
        return watch?.most(iteration);
      },
      stop.signal,
    );
    await reports.settled(stop.signal);
    const { values, errors } = outcome.several ?? { values: [outcome.value], errors: [outcome.error] };
    if (values.length === each.length) {
      const negligible = values.map((value, r) => negligibleFor(problem, value, errors[r]));
      const beside = await probe.besideEnds(negligible);
      each.forEach((list, r) => list.push(...beside[r]));
    } // else the run ended without estimates
    if (each.some(list => list.length > 0)) {
      const { withMissing, withMissingOfSeveral } = await import('./ends/with-missing.ts');
      if (!several) outcome = withMissing(outcome, each[0], problem);
      else if (outcome.several) outcome = withMissingOfSeveral(outcome, each, problem, several);
    }
    if (measure && !stop.signal?.aborted) {
      const { withNoise } = await import('./noise-floor.ts');
      outcome = withNoise(outcome, await measure(stop.signal), problem, several, watch?.ended);
    }
    const { description: device, warnings = [] } = session;
    const result = resultOf(
      problem,
      { ...outcome, warnings: [...outcome.warnings, ...warnings] },
      { iterations, nonFinite, device, start, shape: boundShape(integrand) },
    );
    const { record, counted } = outcome;
    if (histograms && counted && counted.length > 0) result.histograms = histograms.of(counted);
    if (record && keeps) keepState(result, () => stateOf(problem, result.method, integrand, record));
    return result;
  } catch (e) {
    if (!(e instanceof NonFiniteMet)) throw e;
    const { nonFiniteError } = await import('./non-finite.ts');
    throw await nonFiniteError(e.first, problem, integrand, several?.names);
  } finally {
    stop.clear();
  }
}

/** What methods must know of several results; undefined for an integrand that returns a number. Throws for names that are none. */
export async function severalResults(
  integrand: BoundProgram,
  problem: Problem,
): Promise<Several | undefined> {
  const { goals, learnFrom } = problem;
  if (boundShape(integrand) === 'number' && goals === undefined && learnFrom === undefined) return undefined;
  return (await import('./goals.ts')).severalOf(integrand, problem);
}

/** Ends a run that met a value that is not finite; non-finite.ts has the words. */
class NonFiniteMet extends Error {
  readonly first: NonFinite['first'];

  constructor(first: NonFinite['first']) {
    super('a value is not finite');
    this.first = first;
  }
}

/** The result of an integral over an empty domain: 0. */
export function nothing(problem: Problem, integrand: BoundProgram, start: number): Result {
  const shape = boundShape(integrand);
  const none = leaves(shape).map(() => 0);
  const outcome: Outcome = { ...NO_OUTCOME, error: 0, status: 'converged' };
  return resultOf(
    problem,
    shape === 'number' ? outcome : { ...outcome, several: { values: none, errors: none } },
    { iterations: [], nonFinite: 0, device: 'no device', start, shape },
  );
}

/** The result of a run that was over before its integrand was compiled: its signal was aborted, or `maxTime` is over. */
export function outOfTime(problem: Problem, start: number): Result {
  const { signal } = problem;
  const status = signal?.aborted ? statusOf(signal.reason, signal) : 'time';
  const over = status === 'time' ? 'maxTime was over' : 'the signal was aborted';
  const warnings = [`${over} before the integrand was compiled`];
  return resultOf(
    problem,
    { ...NO_OUTCOME, status, warnings },
    { iterations: [], nonFinite: 0, device: 'no device', start },
  );
}

export function resultOf(
  problem: Problem,
  { record: _, counted: __, several, ...outcome }: Outcome,
  run: {
    iterations: readonly IterationRecord[];
    nonFinite: number;
    device: string;
    start: number;
    /** The shape of several results; absent where the run ended before it was known. */
    shape?: Shape;
  },
): Result {
  const { domain, method, seed } = problem;
  const { nonFinite, device, shape = 'number' } = run;
  const warnings =
    nonFinite > 0
      ? [`${nonFinite} ${nonFinite === 1 ? 'value was' : 'values were'} not finite and counted as 0`]
      : [];
  if (shape === 'number' && mayBeZero(outcome, problem))
    warnings.push(
      '0 is within the error, and meets no relative tolerance: set absTol if the integral may be 0',
    );
  return new Result({
    method,
    iterations: run.iterations,
    ...outcome,
    value: signed(outcome.value, domain),
    ...(shape !== 'number' && severalData(several, shape, outcome, domain)),
    ...(domain.sign < 0 && {
      iterations: (outcome.iterations ?? run.iterations).map(r => ({
        ...r,
        value: -r.value,
        ...(r.values && { values: r.values.map(v => -v) }),
      })),
    }),
    device,
    seed: seedData(seed),
    elapsed: performance.now() - run.start,
    nonFinite,
    warnings: [...outcome.warnings, ...warnings],
  });
}

/** Whether a run ended at the digits of its numbers, where no accuracy is enough: a value that is 0 within its error. */
const mayBeZero = ({ value, error, status, warnings }: Outcome, { absTol }: Problem): boolean =>
  status === 'roundoff' && absTol === 0 && warnings.length === 0 && Math.abs(value) <= error;

const signed = (value: number, { sign }: Domain): number => (value === 0 ? 0 : sign * value);

/** The members of a result that have its shape. Without estimates all results are as that of a single number. */
function severalData(
  several: SeveralEstimates | undefined,
  shape: Shape,
  { value, error, chi2, q }: Outcome,
  domain: Domain,
): object {
  const shaped = (numbers: readonly number[] | undefined, otherwise: number) =>
    build(shape, numbers ?? leaves(shape).map(() => otherwise));
  return {
    value: shaped(
      several?.values.map(v => signed(v, domain)),
      value,
    ),
    error: shaped(several?.errors, error),
    chi2: shaped(several?.chi2, chi2),
    q: shaped(several?.q, q),
    shape,
    ...(several?.correlations && { correlations: several.correlations }),
  };
}

/** Aborted by the user's signal, by the failure of a report, and when `maxTime` is over. */
export function stopSignal(
  { signal: own, maxTime }: Pick<Problem, 'signal' | 'maxTime'>,
  start: number,
  broken?: AbortSignal,
): { signal: AbortSignal | undefined; clear(): void } {
  // a signal of its own: the user's may be shared by many runs, and Node warns of its eleventh listener
  const found = [own, broken].filter(s => s !== undefined);
  const signal = found.length > 0 ? AbortSignal.any(found) : undefined;
  if (!own && maxTime === Infinity) return { signal, clear() {} };
  const timeout = new AbortController();
  const left = start + maxTime - performance.now();
  const over = () => {
    if (left < MAX_DELAY_MS) timeout.abort(new MaxTimeOver());
  };
  // also without maxTime: it keeps Node alive, which the signals of AbortSignal.timeout do not
  const timer = setTimeout(over, Math.min(Math.max(0, left), MAX_DELAY_MS));
  if (left <= 0) over(); // not by the timer: a small problem ends before timers get a turn
  return {
    signal: signal ? AbortSignal.any([signal, timeout.signal]) : timeout.signal,
    clear: () => clearTimeout(timer),
  };
}
