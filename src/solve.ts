/** One problem on an open session: runs its method and makes the result. */
import type { Session } from './devices/device.ts';
import { toDomain } from './integrand/domain.ts';
import { auto } from './methods/auto/auto.ts';
import type { MethodProblem, Outcome } from './methods/method.ts';
import { runMethod } from './methods/registry.ts';
import { IntegrationError } from './options/integration-error.ts';
import type { Problem } from './problem.ts';
import { keyOf } from './random/philox.ts';
import { type IterationRecord, Result } from './result.ts';

export async function solve(problem: Problem, session: Session, start: number): Promise<Result> {
  const iterations: IterationRecord[] = [];
  let nonFinite = 0;
  const stop = stopSignal(problem, start);
  const task: MethodProblem = {
    session,
    ranges: problem.domain.ranges,
    key: keyOf(problem.seed),
    relTol: problem.relTol,
    absTol: problem.absTol,
    maxEvaluations: problem.maxEvaluations,
    maxIterations: problem.maxIterations,
    deadline: start + problem.maxTime,
    signal: stop.signal,
    onNonFinite(found) {
      if (problem.onNonFinite === 'error') throw nonFiniteError(found.first, problem);
      nonFinite += found.count;
    },
    onIteration(record, running, evaluations) {
      iterations.push(record);
      problem.onProgress?.({
        iteration: iterations.length,
        value: problem.domain.sign * running.value,
        error: running.error,
        evaluations,
        adapting: record.adapting,
        method: running.method ?? problem.method,
        chi2: running.chi2 ?? 0,
        dof: running.dof ?? 0,
      });
      return undefined;
    },
  };
  try {
    const outcome =
      problem.method === 'auto' ? await auto(task, problem) : await runMethod(task, problem.method, problem);
    const { description: device, warnings = [] } = session;
    return resultOf(
      problem,
      { ...outcome, warnings: [...outcome.warnings, ...warnings] },
      { iterations, nonFinite, device, start },
    );
  } finally {
    stop.clear();
  }
}

/** The result of an integral over nothing. */
export function nothing(problem: Problem, start: number): Result {
  const outcome: Outcome = {
    value: 0,
    error: 0,
    status: 'converged',
    evaluations: 0,
    chi2: 0,
    dof: 0,
    q: 1,
    warnings: [],
  };
  return resultOf(problem, outcome, { iterations: [], nonFinite: 0, device: 'no device', start });
}

export function resultOf(
  { domain, method, seed }: Problem,
  outcome: Outcome,
  run: { iterations: readonly IterationRecord[]; nonFinite: number; device: string; start: number },
): Result {
  const { nonFinite, device } = run;
  const warnings =
    nonFinite > 0
      ? [`${nonFinite} ${nonFinite === 1 ? 'value was' : 'values were'} not finite and counted as 0`]
      : [];
  return new Result({
    method,
    iterations: run.iterations,
    ...outcome,
    value: outcome.value === 0 ? 0 : domain.sign * outcome.value,
    ...(domain.sign < 0 && {
      iterations: (outcome.iterations ?? run.iterations).map(r => ({ ...r, value: -r.value })),
    }),
    device,
    seed,
    elapsed: performance.now() - run.start,
    nonFinite,
    warnings: [...outcome.warnings, ...warnings],
  });
}

function stopSignal(
  { signal, maxTime }: Problem,
  start: number,
): { signal: AbortSignal | undefined; clear(): void } {
  if (maxTime === Infinity) return { signal, clear() {} };
  const timeout = new AbortController();
  const over = () => timeout.abort(new DOMException('maxTime is over', 'TimeoutError'));
  const left = start + maxTime - performance.now();
  const timer = setTimeout(over, Math.min(Math.max(0, left), 2 ** 31 - 1));
  if (left <= 0) over(); // at once: a small problem gives a timer no turn
  return {
    signal: signal ? AbortSignal.any([signal, timeout.signal]) : timeout.signal,
    clear: () => clearTimeout(timer),
  };
}

function nonFiniteError({ point, value }: { point: number[]; value: number }, { domain }: Problem): Error {
  const { x } = toDomain(domain.axes, point);
  const shown = Number.isNaN(value) ? 'NaN' : value > 0 ? 'Infinity' : '-Infinity';
  return new IntegrationError(
    w =>
      `the integrand is ${shown} at ${w.point(x)}; mend it there, exclude the point from the domain, or count such values as 0 with ${w.setting('onNonFinite', 'zero')}.`,
  );
}
