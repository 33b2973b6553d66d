/**
 * Many integrals of one function, one per set of params. The function is compiled once for every shape that params
 * have. Several integrals are under way at a time, so that workers never wait for one of them. Each result has the same
 * bits as `integrate` gives for its params, whatever ran beside it.
 *
 * Neighbours vouch for each other: as long as no random point contradicts the claim of any of them, few are drawn for each
 * (methods/cubature/witnesses.ts). After a contradiction all draw the full number, and those that had not are made again.
 */
import type { Session } from './devices/device.ts';
import { openDevice } from './devices/registry.ts';
import { type DomainOption, domainOf, generalDomains } from './domain-options.ts';
import type { BoundProgram } from './integrand/bound.ts';
import { copyParams } from './integrand/check-params.ts';
import type { IntegrandOf, NoParams } from './integrand/compile.ts';
import type { Domain } from './integrand/domain.ts';
import { loading } from './integrand/on-demand.ts';
import { bind, type Params, shapeOf } from './integrand/params.ts';
import { mapsOf } from './integrand/program-cache.ts';
import {
  type AnyIntegrand,
  capturing,
  checked,
  type DeviceFor,
  prepare,
  type Returned,
  resolve,
  shaped,
  withinTime,
} from './integrate.ts';
import { checkedFor, OptionError } from './options/option-error.ts';
import {
  type AllOptions,
  type CommonOptions,
  checkProblem,
  type Problem,
  type Where,
  workOf,
} from './problem.ts';
import { Reports } from './reports.ts';
import type { Result } from './result.ts';
import type { ScanElsewhere } from './scan-elsewhere.ts';
import { nothing, outOfTime, resultOf, solve } from './solve.ts';
import { learnsMap } from './state.ts';

/** The options of `scan` but for the domain: `params` is a list, and `onResult` takes the place of `onProgress`. */
// biome-ignore lint/suspicious/noExplicitAny: what params hold is between the caller and the function
export interface CommonScanOptions<S = number, P extends Params = any>
  extends Omit<CommonOptions, 'params' | 'onProgress' | 'resume'> {
  /** One set of params per integral. */
  params: readonly P[];
  /**
   * Each integral begins with the map that the one before it in the list has learned, so that it learns in fewer
   * iterations; for `vegas+`, `mcubes` and `mcubes1d`. Results then depend on the list as well as on their params: the list is
   * cut into eight parts, whose first integrals begin with no map. Default false.
   */
  reuseMaps?: boolean;
  /**
   * Called as results come, in any order. When random points contradict one of the integrals, those that had fewer of them
   * are made again, and it is called a second time for results that change.
   */
  onResult?: (result: Result<S>, index: number) => void;
}

/** The options of `integrate`, except that `params` is a list, and `onResult` takes the place of `onProgress`. */
// biome-ignore lint/suspicious/noExplicitAny: as in `CommonScanOptions`
export type ScanOptions<S = number, P extends Params = any> = CommonScanOptions<S, P> &
  (Where | DomainPerSet<P>);

/** A domain for each integral. */
export interface DomainPerSet<P> {
  /**
   * The domain of an integral, by its params and its number: `p => [[0, p.a]]`. Ranges with finite ends are not compiled into the
   * program, and may differ at no cost.
   */
  domain: (params: P, index: number) => DomainOption;
  dims?: undefined;
}

/** Integrals under way at a time. */
const LANES = 8;
/** Idle sessions kept for the next params of their shape; each has the integrand and its params in every worker. */
const MAX_IDLE_SESSIONS = 16;

/**
 * The integrals of `f` for every set of params, in the order of the sets. `maxTime` limits all of them together; budgets
 * and tolerances apply to each. An integral that fails, for instance because a value is not finite, has status `failed`
 * and a warning with the reason; the others go on.
 */
export async function scan<P extends Params = NoParams, S = number>(
  f: IntegrandOf<NoInfer<P>, S> | URL,
  options: ScanOptions<Returned<S>, P> & DeviceFor<S>,
): Promise<Result<Returned<S>>[]> {
  return scanned(f as AnyIntegrand | URL, options as unknown as ScanOptions) as Promise<
    Result<unknown>[]
  > as Promise<Result<Returned<S>>[]>;
}

async function scanned(f: AnyIntegrand | URL, options: ScanOptions): Promise<Result[]> {
  const start = performance.now();
  const { params, onResult, reuseMaps = false, domain, ...common } = options ?? {};
  let sets = checkSets(params);
  if (onResult !== undefined && typeof onResult !== 'function')
    throw refusal('onResult', onResult, 'pass one, or leave it out', '`onResult` is no function');
  const reports = new Reports(onResult);
  if (typeof domain === 'function') await generalDomains.load(); // so that it is called once per set
  const domains = await loading(() => domainsOf(domain, common, sets));
  const given = await loading(() => checkCommon({ ...common, ...domains.first }, sets[0] ?? {}));
  checkReuse(reuseMaps, given);
  const signals = [given.signal, reports.signal].filter(s => s !== undefined);
  const first: Problem = { ...given, signal: signals.length > 1 ? AbortSignal.any(signals) : signals[0] };
  const resolved = await resolve(f, first, start);
  if (!resolved) return sets.map(params => outOfTime({ ...first, params }, start));
  const [found, module] = resolved;
  sets = sets.map((params, i) => {
    const domain = domains.of(i) ?? first.domain;
    return capturing(found, { ...first, params, domain }).params;
  });
  first.params = sets[0] ?? first.params;
  const results: Result[] = Array(sets.length);
  if (sets.length === 0) return results;
  const { device, release } = await openDevice(first.device, workOf(first));
  const deadline = start + first.maxTime;
  const compiled = new Map<string, BoundProgram>();
  const shapeFor = ({ dims, params, domain }: Problem) => `${dims} ${shapeOf(params)} ${mapsOf(domain.axes)}`;
  const integrandFor = async (problem: Problem) => {
    const shape = shapeFor(problem);
    const known = compiled.get(shape);
    if (known?.kind === 'compiled')
      return {
        shape,
        integrand: await checked(
          found,
          { ...known, params: bind(known.program.params, problem.params) },
          problem,
        ),
      };
    const ready = await loading(() => withinTime(() => prepare(found, module, problem, deadline)));
    if (!ready) return undefined;
    const integrand = await shaped(found, ready, problem, performance.now());
    compiled.set(shape, integrand);
    return { shape, integrand: await checked(found, integrand, problem) };
  };
  let where = device.name;
  const open = async (integrand: BoundProgram) => {
    const session = await device.open(integrand, { shared: sets.length > 1 });
    where = session.description;
    return session;
  };
  const waiting: { shape: string; session: Session }[] = []; // idle sessions; the one that has waited longest is first
  const neighbours = { count: sets.length, contradicted: false, keepsStates: reuseMaps };
  const one = async (problem: Problem, begin: number): Promise<Result> => {
    const ready = await integrandFor(problem);
    if (!ready) return outOfTime(problem, begin);
    const { shape, integrand } = ready;
    if (problem.domain.empty) return nothing(problem, integrand, begin);
    const at = waiting.findLastIndex(w => w.shape === shape);
    const own = at < 0 ? { shape, session: await open(integrand) } : waiting.splice(at, 1)[0];
    try {
      if (at >= 0) await own.session.rebind(integrand);
      return await solve(problem, device, own.session, integrand, begin, neighbours);
    } finally {
      waiting.push(own);
      if (waiting.length > MAX_IDLE_SESSIONS) waiting.shift()!.session.close();
    }
  };
  const problemAt = (index: number, begin: number, map = first.map): Problem => {
    const domain = domains.of(index) ?? first.domain;
    const maxTime = first.maxTime - (begin - start);
    return { ...first, domain, dims: domain.axes.length, params: sets[index], maxTime, map };
  };
  const record = (index: number, result: Result) => {
    const before = results[index];
    results[index] = result;
    const same = before && (['value', 'error', 'status'] as const).every(k => before[k] === result[k]);
    if (!same) reports.tell(result, index);
  };
  let todo = sets.map((_, index) => index);
  /** What each lane has to do: all take from one list, or each has neighbours of its own. */
  let queues: number[][] = [];
  /** Integrals that began before a contradiction. */
  const vouched: number[] = [];
  const lane = async (own: number[]) => {
    let { map } = first;
    try {
      for (let index = own.shift(); index !== undefined; index = own.shift()) {
        if (reports.signal?.aborted) return;
        const begin = performance.now();
        const problem = problemAt(index, begin, map);
        if (!neighbours.contradicted) vouched.push(index);
        const result = await one(problem, begin).catch(e => failed(problem, e, where, begin));
        if (reuseMaps && result.converged) map = result.state ?? map;
        Reflect.deleteProperty(result, 'state'); // thousands of them would stay in memory
        record(index, result);
      }
    } catch (e) {
      for (const other of queues) other.length = 0; // when onResult throws, the other lanes stop as well
      reports.fail(e);
    }
  };
  /** Aborted by the user, by a report that failed, and when `maxTime` is over. */
  const limits = () => {
    const left = start + first.maxTime - performance.now();
    const timeout = left < 2 ** 31 ? AbortSignal.timeout(Math.max(0, Math.ceil(left))) : undefined;
    return AbortSignal.any([first.signal, timeout].filter(s => s !== undefined));
  };
  const elsewhere = (signal: AbortSignal): ScanElsewhere => ({
    options: { ...common, ...domains.first },
    seed: first.seed,
    neighbours,
    signal,
    shapeOf: index => shapeFor(problemAt(index, start)),
    ready: async index => {
      const problem = problemAt(index, start);
      return problem.domain.empty ? null : ((await integrandFor(problem))?.integrand ?? null);
    },
    domainOf: domains.given,
    open: async (integrand, shape) => {
      const session = await open(integrand);
      waiting.push({ shape, session });
      return session;
    },
    tell: (index, result, vouchedFor) => {
      if (vouchedFor) vouched.push(index);
      try {
        record(index, result);
      } catch (e) {
        reports.fail(e);
      }
    },
  });
  const inLanes = async () => {
    const signal = limits();
    if (device.solvesIntegrals && !reuseMaps)
      todo = await (await import('./scan-elsewhere.ts')).solveElsewhere(todo, elsewhere(signal));
    const lanes = Math.min(LANES, todo.length);
    const cut = (i: number) => Math.round((i * todo.length) / lanes);
    queues = Array.from({ length: lanes }, (_, i) => (reuseMaps ? todo.slice(cut(i), cut(i + 1)) : todo));
    await Promise.all(queues.map(lane));
    await reports.settled(signal);
  };
  try {
    await integrandFor(first); // an error in the function itself is thrown at once, not once per integral
    await device.prepare?.();
    await inLanes();
    if (neighbours.contradicted) {
      todo = vouched.splice(0).filter(index => results[index].witnesses !== undefined);
      await inLanes();
    }
    return results;
  } finally {
    for (const { session } of waiting) session.close();
    await release();
  }
}

interface Domains {
  /** `domain` as `integrate` takes it, for the first integral. */
  first: { domain?: DomainOption };
  /** The domain of an integral; undefined if it is that of the first one. */
  of(index: number): Domain | undefined;
  /** The same as an option. */
  given(index: number): DomainOption | undefined;
}

/** The domains of all integrals, checked; they differ where a function gives them, or bounds that depend on params. */
function domainsOf(
  domain: ScanOptions['domain'],
  common: Omit<AllOptions, 'domain'>,
  sets: readonly Params[],
): Domains {
  const own = (index: number) => (typeof domain === 'function' ? domain(sets[index], index) : domain);
  const first = sets.length > 0 || typeof domain !== 'function' ? own(0) : [[0, 1] as const];
  const same =
    typeof domain !== 'function' && !(Array.isArray(first) && first.some(part => typeof part === 'function'));
  if (same)
    return {
      first: first === undefined ? {} : { domain: first },
      of: () => undefined,
      given: () => undefined,
    };
  const options = sets.map((_, index) => (index === 0 ? first : own(index)) as DomainOption);
  const all = sets.map((params, index) => {
    try {
      return domainOf({ ...common, domain: options[index] }, params);
    } catch (e) {
      if (!(e instanceof OptionError)) throw e;
      throw refusal(e.option, e.value, e.remedy, `set ${index}: ${e.reason}`);
    }
  });
  return {
    first: { domain: first as DomainOption },
    of: index => all[index],
    given: index => options[index],
  };
}

function checkSets(params: unknown): readonly Params[] {
  if (!Array.isArray(params))
    throw refusal(
      'params',
      params,
      'pass a set of params an integral, such as [{ a: 1 }, { a: 2 }]',
      '`params` is no list',
    );
  return Array.from(params, (set, i) => copyParams(set, `scan: set ${i}`));
}

/** Only a method that learns a map can hand it on. */
function checkReuse(reuseMaps: unknown, { method }: Problem): void {
  if (typeof reuseMaps !== 'boolean')
    throw refusal('reuseMaps', reuseMaps, 'pass true or false, or leave it out', '`reuseMaps` is no boolean');
  if (reuseMaps && !learnsMap(method))
    throw refusal(
      'reuseMaps',
      reuseMaps,
      "use method 'vegas+', or leave it out",
      `\`reuseMaps\` is true, and method '${method}' hands no map on`,
    );
}

function checkCommon(common: object, params: Params): Problem {
  if ('onProgress' in common)
    throw refusal(
      'onProgress',
      common.onProgress,
      '`onResult` is called for each integral',
      'unknown option `onProgress`',
    );
  if ('resume' in common)
    throw refusal(
      'resume',
      common.resume,
      'a state is of one integral: pass it to `integrate`',
      'unknown option `resume`',
    );
  return checkedFor('scan', () => checkProblem({ ...common, params }));
}

const refusal = (option: string, value: unknown, remedy: string, reason: string) =>
  new OptionError(option, value, remedy, reason, 'scan');

function failed(problem: Problem, error: unknown, device: string, start: number): Result {
  const why = error instanceof Error ? error.message : String(error);
  const result = resultOf(
    problem,
    {
      value: Number.NaN,
      error: Infinity,
      status: 'failed',
      evaluations: 0,
      chi2: 0,
      dof: 0,
      q: 1,
      warnings: [why],
    },
    { iterations: [], nonFinite: 0, device, start },
  );
  // not among the members that are copied, compared or written as JSON
  Object.defineProperty(result, 'failure', { value: error });
  return result;
}
