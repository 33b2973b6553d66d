/** `integrate` checks the problem, compiles the integrand, opens the device, and returns the result of the method. */
import { beforeAbort } from './devices/before-abort.ts';
import type { Device } from './devices/device.ts';
import { dueTurn } from './devices/event-loop.ts';
import { openDevice, takesFunctions } from './devices/registry.ts';
import type { BoundProgram } from './integrand/bound.ts';
import { withCaptures } from './integrand/captures.ts';
import type { Integrand, IntegrandOf, NoParams } from './integrand/compile.ts';
import { IntegrandError } from './integrand/diagnostics.ts';
import { OutOfTime } from './integrand/lower/lowering.ts';
import { loading, OnDemand } from './integrand/on-demand.ts';
import { bind, type Params } from './integrand/params.ts';
import { cachedProgram } from './integrand/program-cache.ts';
import type { ResultShape, Shape } from './integrand/shape.ts';
import { statusOf } from './methods/method.ts';
import { type AllOptions, checkProblem, type IntegrateOptions, type Problem, workOf } from './problem.ts';
import type { Result } from './result.ts';
import { selfCheck } from './self-check.ts';
import { nothing, outOfTime, severalResults, solve, stopSignal } from './solve.ts';

/**
 * The integral of `f` over a domain, with its error. Throws when the problem makes no sense; a run that stops short is a result.
 * A function that returns an array or object of numbers has a result of the same shape.
 */
export async function integrate<P extends Params = NoParams, S = number>(
  f: IntegrandOf<NoInfer<P>, S> | URL,
  options: IntegrateOptions<P> & DeviceFor<S>,
): Promise<Result<Returned<S>>> {
  return integrated(f as AnyIntegrand | URL, options) as Promise<Result<unknown>> as Promise<
    Result<Returned<S>>
  >;
}

/** What an integrand returns; a number where that is `any`, or one of several numbers. */
export type Returned<S> = 0 extends 1 & S ? number : [S] extends [number] ? number : S;

/** An async integrand cannot be compiled: it needs a device that calls functions. */
export type DeviceFor<S> =
  S extends PromiseLike<unknown> ? { device: 'js' | `js:${number}` | Device } : unknown;

/** An integrand, whatever its shape is. */
export type AnyIntegrand = Integrand<ResultShape>;

async function integrated(f: AnyIntegrand | URL, options: AllOptions): Promise<Result> {
  const start = performance.now();
  const given = await loading(() => checkProblem(options));
  const resolved = await resolve(f, given, start);
  if (!resolved) return outOfTime(given, start);
  const [found, module] = resolved;
  const problem = capturing(found, given);
  await dueTurn(); // many calls at once compile one after another, and timers of those before are heard in between
  const deadline = start + problem.maxTime;
  const ready = await loading(() => withinTime(() => prepare(found, module, problem, deadline)));
  const integrand = ready && (await checked(found, await shaped(found, ready, problem, start), problem));
  if (!integrand) return outOfTime(problem, start);
  if (problem.domain.empty) return nothing(problem, integrand, start);
  const { device, release } = await openDevice(problem.device, workOf(problem));
  try {
    const session = await device.open(integrand);
    try {
      return await solve(problem, device, session, integrand, start);
    } finally {
      session.close();
    }
  } finally {
    await release();
  }
}

/** The problem with what its functions use from outside their texts among the params. */
export function capturing(f: unknown, problem: Problem): Problem {
  const bounds = problem.domain.axes.map(axis => axis.bounds?.f);
  return { ...problem, params: withCaptures([f, ...bounds], problem.params) };
}

/** The integrand, once it was compared with the function that it was made from. */
export async function checked(
  f: AnyIntegrand,
  integrand: BoundProgram,
  problem: Problem,
): Promise<BoundProgram> {
  await severalResults(integrand, problem); // throws for names of results that there are not
  if (problem.check && integrand.kind === 'compiled' && !problem.domain.empty)
    await loading(() => selfCheck(f, integrand, problem));
  return integrand;
}

/**
 * A plain function whose shape is known; compiled programs know theirs. What it throws the run rejects with. One that does not
 * settle before the run is over is taken for a number.
 */
export async function shaped(
  f: AnyIntegrand,
  integrand: BoundProgram,
  problem: Problem,
  start: number,
): Promise<BoundProgram> {
  const { domain, params } = problem;
  if (integrand.kind === 'compiled' || domain.empty) return integrand;
  const somewhere = domain.ranges.map(([a, b]) => a + (b - a) * 0.4871); // a middle is where poles are
  const stop = stopSignal(problem, start);
  const { shapeOfPlain, withShape } = plain.now;
  const shape = await beforeAbort(shapeOfPlain(f, integrand, domain.axes, params, somewhere), stop.signal)
    .catch((e): Shape => {
      if (stop.signal?.aborted) return 'number';
      throw e;
    })
    .finally(stop.clear);
  return withShape(integrand, shape);
}

/** What `compile` gives; undefined when compiling had to end because `maxTime` was over. */
export function withinTime<T>(compile: () => T): T | undefined {
  try {
    return compile();
  } catch (e) {
    if (e instanceof OutOfTime) return undefined;
    throw e;
  }
}

/** What functions need that are called as they are, the special functions among it. */
const plain = new OnDemand(() => import('./plain-integrand.ts'));

/** The integrand as devices take it: compiled, or as a plain function where the device calls functions. */
export function prepare(
  f: AnyIntegrand,
  module: URL | null,
  problem: Problem,
  deadline = Infinity,
): BoundProgram {
  const { dims, params, domain, device } = problem;
  if (takesFunctions(device)) return plain.now.preparePlain(f, module, problem, deadline);
  try {
    const program = cachedProgram(f, dims, params, domain.axes, deadline);
    return { kind: 'compiled', dims, program, params: bind(program.params, params) };
  } catch (e) {
    if (e instanceof IntegrandError && typeof f === 'function' && e.runsAsItIs) {
      e.add(w => `Or run the function as it is, more slowly, with ${w.setting('device', 'js')}.`);
    }
    throw e;
  }
}

/** The function, and the URL of its module if it was named by one; undefined when the run is over before that is loaded. */
export async function resolve(
  f: AnyIntegrand | URL,
  problem: Problem,
  start: number,
): Promise<[AnyIntegrand, URL | null] | undefined> {
  if (!(f instanceof URL)) return [f, null];
  const stop = stopSignal(problem, start);
  const loading: Promise<Record<string, AnyIntegrand>> = import(/* @vite-ignore */ f.href.split('#')[0]);
  const exports = await beforeAbort(loading, stop.signal)
    .catch(e => void statusOf(e, stop.signal))
    .finally(stop.clear);
  if (!exports) return undefined;
  const name = decodeURIComponent(f.hash.slice(1)) || 'default';
  const found = exports[name];
  if (typeof found === 'function') return [found, f];
  throw new TypeError(`integrate: ${f.href} has no exported function '${name}'; name one behind a #.`);
}
