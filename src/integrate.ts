/** The one call: checks the problem, compiles the integrand, runs the method on the device, returns the result. */
import { CpuDevice } from './devices/cpu/cpu.ts';
import type { Device, DeviceIntegrand } from './devices/device.ts';
import { exportName, plainIntegrand } from './devices/js/plain.ts';
import { buildDomain, toDomain } from './domain.ts';
import type { Integrand } from './integrand/compile.ts';
import { IntegrandError } from './integrand/diagnostics.ts';
import { lower } from './integrand/lower/lower.ts';
import { bind } from './integrand/params.ts';
import { read } from './integrand/read.ts';
import type { MethodProblem, Outcome } from './methods/method.ts';
import { runMethod } from './methods/run.ts';
import { checkProblem, type IntegrateOptions, type Problem } from './problem.ts';
import { keyOf } from './random/philox.ts';
import { type IterationRecord, Result } from './result.ts';

/** The integral of `f` over a domain, with its error. Throws when the problem makes no sense; a run that stops short is a result. */
export async function integrate(f: Integrand | URL, options: IntegrateOptions): Promise<Result> {
  const start = performance.now();
  const problem = checkProblem(options);
  const method = problem.method === 'auto' ? 'vegas+' : problem.method;
  const integrand = prepare(...(await resolve(f)), problem);
  const iterations: IterationRecord[] = [];
  let nonFinite = 0;
  const finish = (outcome: Outcome, device: string): Result =>
    new Result({
      ...outcome,
      value: outcome.value === 0 ? 0 : problem.domain.sign * outcome.value,
      iterations: iterations.map(r => ({ ...r, value: problem.domain.sign * r.value })),
      method,
      device,
      seed: problem.seed,
      elapsed: performance.now() - start,
      nonFinite,
      warnings:
        nonFinite > 0
          ? [
              ...outcome.warnings,
              `${nonFinite} ${nonFinite === 1 ? 'value was' : 'values were'} not finite and counted as 0`,
            ]
          : outcome.warnings,
    });
  if (problem.domain.empty) {
    return finish(
      { value: 0, error: 0, status: 'converged', evaluations: 0, chi2: 0, dof: 0, q: 1, warnings: [] },
      'no device',
    );
  }
  const [device, ours] = deviceFor(problem);
  const session = await device.open(integrand);
  const stop = stopSignal(problem, start);
  try {
    const task: MethodProblem = {
      session,
      ranges: problem.domain.axes.map(a => a.range),
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
        });
      },
    };
    return finish(await runMethod(task, method, problem), session.description);
  } finally {
    stop.clear();
    session.close();
    if (ours) await device.close();
  }
}

function prepare(
  f: Integrand,
  module: URL | null,
  { dims, params, domain, device }: Problem,
): DeviceIntegrand {
  if (typeof device === 'string' && device.startsWith('js')) {
    if (typeof f !== 'function') read(f); // says what is wrong with it
    return plainIntegrand(f, module, domain, params);
  }
  const infinite = domain.axes.some(a => a.infinite);
  try {
    const program = lower(
      read(f),
      dims,
      params,
      infinite ? (b, z) => buildDomain(b, domain.axes, z) : undefined,
    );
    return { kind: 'program', program, params: bind(program.params, params) };
  } catch (e) {
    if (e instanceof IntegrandError && typeof f === 'function') {
      e.message += "\nOr run the function as it is, more slowly, with device: 'js'.";
    }
    throw e;
  }
}

/** The function, and the module it comes from when it was named by a URL. */
async function resolve(f: Integrand | URL): Promise<[Integrand, URL | null]> {
  if (!(f instanceof URL)) return [f, null];
  const exports = (await import(/* @vite-ignore */ f.href.split('#')[0])) as Record<string, Integrand>;
  const found = exports[exportName(f)];
  if (typeof found === 'function') return [found, f];
  throw new TypeError(
    `integrate: ${f.href} has no exported function '${exportName(f)}'; name one behind a #.`,
  );
}

let shared: CpuDevice | null = null;

/** The device, and whether it is ours to close. The default one is kept: its idle workers do not keep a process alive. */
function deviceFor({ device }: Problem): [Device, boolean] {
  if (typeof device !== 'string') return [device, false];
  const [, workers] = device.split(':');
  if (workers) return [new CpuDevice(Number(workers)), true];
  shared ??= new CpuDevice();
  return [shared, false];
}

function stopSignal(
  { signal, maxTime }: Problem,
  start: number,
): { signal: AbortSignal | undefined; clear(): void } {
  if (maxTime === Infinity) return { signal, clear() {} };
  const timeout = new AbortController();
  const timer = setTimeout(
    () => timeout.abort(new DOMException('maxTime is over', 'TimeoutError')),
    Math.min(Math.max(0, start + maxTime - performance.now()), 2 ** 31 - 1),
  );
  return {
    signal: signal ? AbortSignal.any([signal, timeout.signal]) : timeout.signal,
    clear: () => clearTimeout(timer),
  };
}

function nonFiniteError({ point, value }: { point: number[]; value: number }, { domain }: Problem): Error {
  const { x } = toDomain(domain.axes, point);
  const shown = Number.isNaN(value) ? 'NaN' : value > 0 ? 'Infinity' : '-Infinity';
  return new RangeError(
    `integrate: the integrand is ${shown} at [${x.slice(0, 16).join(', ')}${x.length > 16 ? ', …' : ''}]; mend it there, exclude the point from the domain, or count such values as 0 with onNonFinite: 'zero'.`,
  );
}
