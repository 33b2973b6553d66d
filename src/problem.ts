/** The options of `integrate`, checked before any work starts: each mistake names the option, the value and the remedy. */

import type { Device } from './devices/device.ts';
import { deviceRemedy, type Work } from './devices/registry.ts';
import { type DomainOption, domainOf } from './domain-options.ts';
import type { ResultName } from './goals.ts';
import type { HistogramOptions } from './histogram-options.ts';
import { copyParams } from './integrand/check-params.ts';
import type { Domain } from './integrand/domain.ts';
import { OnDemand } from './integrand/on-demand.ts';
import type { Params } from './integrand/params.ts';
import { CUBATURE_OPTIONS, type CubatureOptions } from './methods/cubature/options.ts';
import { LATTICE_OPTIONS, type LatticeOptions } from './methods/lattice/options.ts';
import { METHOD_NAMES, type MethodName, needsFloat64 } from './methods/names.ts';
import { checkProtocol, VEGAS_OPTIONS, type VegasOptions } from './methods/vegas/options.ts';
import { ZMC_OPTIONS, type ZmcOptions } from './methods/zmc/options.ts';
import { OptionError } from './options/option-error.ts';
import { checkOptions, entryOf, type OptionsOf, type OptionTable, withDefaults } from './options/table.ts';
import type { Text } from './options/wording.ts';
import type { State } from './state.ts';

export type { MethodName };

/** What `onProgress` is told once per iteration. */
export interface Progress {
  /** Counted from 1, over all methods that `auto` runs. */
  iteration: number;
  /** The running estimate; while the map is learning, that of this iteration alone. */
  value: number;
  /** The error of that value. */
  error: number;
  /** Evaluations of the integrand so far, of all methods together. */
  evaluations: number;
  /** The map is still learning: this iteration does not count. */
  adapting: boolean;
  /** The method that made this iteration; with `auto`, the one whose turn it is. */
  method: string;
  /** χ² of the iterations that count so far; 0 for deterministic methods. */
  chi2: number;
  /** Degrees of freedom of `chi2`. */
  dof: number;
  /** Several results: the running estimates of all of them, in their order; `value`, `error` and `chi2` are those of the first goal. */
  values?: readonly number[];
  /** The errors of these values. */
  errors?: readonly number[];
}

const results = new OnDemand(() => import('./goals.ts'));
const states = new OnDemand(() => import('./read-state.ts'));
const histogramOptions = new OnDemand(() => import('./histogram-options.ts'));

const tolerance = {
  kind: 'number',
  least: 0,
  infinite: true,
  remedy: 'pass a number from 0 on, such as 1e-3',
} as const;
const limit = {
  kind: 'number',
  above: 0,
  infinite: true,
  remedy: 'pass a number above 0, or leave it out',
} as const;

export const INTEGRATE_OPTIONS = {
  /**
   * One range per coordinate. Bounds may be ±Infinity; a range that is given backwards changes the sign of the integral. A
   * function gives the bounds as a function of the coordinates before it, `([x]) => [0, x]`; `{ from, to, centre, scale }` says where
   * on an infinite range the integrand lies. `simplex`, `ball` and `sphere` make a whole domain, or several coordinates of one.
   */
  domain: entryOf<DomainOption>({ kind: 'other' }),
  /** Instead of `domain`: the number of dimensions of the unit cube. */
  dims: {
    kind: 'whole',
    least: 1,
    most: 1000,
    remedy: 'pass a whole number from 1 to 1000',
  },
  /**
   * Where the integrand has kinks or steps: a list of numbers for each coordinate, such as `[[0.3], []]`. Regions, strata and bins
   * begin there.
   */
  breaks: entryOf<readonly (readonly number[])[]>({ kind: 'other' }),
  /**
   * Where the integrand has narrow peaks or singularities: a list of points, such as `[[0.3, 0.7]]`. Each axis is
   * stretched around their coordinates, so that peaks of any width are found.
   */
  points: entryOf<readonly (readonly number[])[]>({ kind: 'other' }),
  /** The method. Default `auto`: `pagani` and `vegas+`, which may measure with lattices, run in turns until one of them reaches the tolerance. */
  method: entryOf<MethodName>({
    kind: 'choice',
    choices: METHOD_NAMES,
    default: 'auto',
  }),
  /**
   * `auto`, `cpu` (every core), `cpu:3` (three workers), `cuda`, `cuda:1`, `cuda:*` (all cards), `js` (the function as it
   * is), `nats://host` (a cluster), a list such as `['cuda:0', 'cuda:1']`, or an open device. Default `auto`: the CPU, or a CUDA card for budgets from
   * 1e10 evaluations on.
   */
  device: entryOf<string | readonly string[] | Device>({
    kind: 'device',
    default: 'auto',
    check: checkDevice,
  }),
  /** The run stops when the error is at most max(absTol, relTol·|value|). Default 1e-3. */
  relTol: { ...tolerance, default: 1e-3 },
  /** The error that is small enough whatever the value is. Default 0. */
  absTol: { ...tolerance, default: 0 },
  /**
   * For an integrand with several results: the ones whose tolerance has to be met, by name (`'mean'`, `'z.re'`, `'[0]'`) or
   * number. A name of a group, `'z'`, stands for all results in it. Default: all results.
   */
  goals: entryOf<ResultName | readonly ResultName[]>({
    kind: 'other',
    check: value => results.now.checkNames('goals', value),
  }),
  /**
   * For an integrand with several results: the ones that the map and the strata learn from, each relative to its
   * size; named as in `goals`. Default: the goals.
   */
  learnFrom: entryOf<ResultName | readonly ResultName[]>({
    kind: 'other',
    check: value => results.now.checkNames('learnFrom', value),
  }),
  /**
   * For an integrand with more than 16 results, which are sampled in several passes over the same points: the covariances to measure.
   * `passes`: of results in the same pass, the first 16, the next 16 and so on. `all`: of all results, up to 128. With H = n/8 that takes
   * H·(H − 1)/2 passes in each measured iteration instead of n/16: 6 instead of 2 for 32 results, 28 instead of 4 for 64; `lattice`
   * has them at no price. VEGAS family and `lattice`. Default `passes`.
   */
  covariance: {
    kind: 'choice',
    choices: ['passes', 'all'],
    default: 'passes',
    placeholder: 'WHICH',
  },
  /** How many values of the integrand may be computed, at least 1000. Default 1e9. */
  maxEvaluations: {
    ...limit,
    default: 1e9,
    placeholder: 'N',
  },
  /** How many iterations may be made. Default 10,000. */
  maxIterations: { ...limit, default: 10_000, typedAs: 'whole' },
  /** The time that the run may take, in milliseconds; on the command line also with a unit, as 10s. Default: no limit. */
  maxTime: {
    ...limit,
    kind: 'duration',
    default: Infinity,
  },
  /** The seed of the random numbers, as a number, a bigint or digits: the same seed gives the same bits. Default 1. */
  seed: { kind: 'integer', default: 1 },
  /**
   * The integrand's second argument: numbers, booleans, typed arrays, tables, functions, and objects of these. Numbers and arrays
   * are copied when the call is made; functions are compiled from their text.
   */
  params: entryOf<Params>({ kind: 'other', default: {} }),
  /** Aborting this signal ends the run; the result is the estimate so far, with status `aborted`. */
  signal: entryOf<AbortSignal>({ kind: 'signal' }),
  /** Called once per iteration. If it throws, or returns a promise that rejects, so does the run. */
  onProgress: entryOf<(progress: Progress) => void>({ kind: 'function' }),
  /** What to do when the integrand is NaN or infinite: stop with an error, or count it as 0 and say so. Default `error`. */
  onNonFinite: {
    kind: 'choice',
    choices: ['error', 'zero'],
    default: 'error',
    placeholder: 'WHAT',
  },
  /**
   * Compare the compiled integrand with the function itself at a few points before the run, and throw if they differ.
   * Default true; it takes some microseconds.
   */
  check: {
    kind: 'boolean',
    default: true,
  },
  /**
   * The `state` of a result of the same integral, to go on with to a smaller tolerance or with a larger budget. The result
   * has the bits of a run that was not interrupted. Without a `method`, that of the state.
   */
  resume: entryOf<State>({ kind: 'other', check: value => states.now.checkState('resume', value) }),
  /** The `state` of a result of a similar integral: the map begins with what that run learned. VEGAS family only. */
  map: entryOf<State>({ kind: 'other', check: value => states.now.checkState('map', value) }),
  /**
   * Histograms that are filled while integrating, by their names: integrals of the integrand over bins of an expression of the
   * coordinates. VEGAS family only; without a `method`, `vegas+`. They are filled on the calling thread, which takes longer.
   */
  histograms: entryOf<{ readonly [name: string]: HistogramOptions }>({
    kind: 'other',
    check: value => histogramOptions.now.checkHistograms(value),
  }),
  /** Options of the VEGAS family, named as in the papers. */
  vegas: entryOf<VegasOptions>({ kind: 'family', table: VEGAS_OPTIONS, default: {} }),
  /** Options of `pagani`, `cuhre` and `two-phase`. */
  cubature: entryOf<CubatureOptions>({ kind: 'family', table: CUBATURE_OPTIONS, default: {} }),
  /** Options of `lattice`. */
  lattice: entryOf<LatticeOptions>({ kind: 'family', table: LATTICE_OPTIONS, default: {} }),
  /** Options of `zmc`. */
  zmc: entryOf<ZmcOptions>({ kind: 'family', table: ZMC_OPTIONS, default: {} }),
} as const satisfies OptionTable;

// mapped types keep doc comments: each is written once, in the table
type Options = OptionsOf<typeof INTEGRATE_OPTIONS>;
/** `Omit`, with members in their order. */
type Without<T, K> = { [N in keyof T as Exclude<N, K>]: T[N] };
/** `T` with other values. */
type Holding<T, V> = { [N in keyof T]: V };

/** The options of `integrate` but for the domain. P is the type of `params`, and of the integrand's second argument. */
// biome-ignore lint/suspicious/noExplicitAny: what params hold is between the caller and the function
export interface CommonOptions<P extends Params = any>
  extends Holding<Pick<Options, 'params'>, P>,
    Without<Options, 'domain' | 'dims' | 'params'> {}

/** Where to integrate: over a domain, or over the unit cube of so many dimensions. */
export type Where =
  | (Required<Pick<Options, 'domain'>> & { dims?: undefined })
  | (Required<Pick<Options, 'dims'>> & { domain?: undefined });

/** A problem: where to integrate, how well, with what. One of `domain` and `dims` is needed, all else has a default. */
// biome-ignore lint/suspicious/noExplicitAny: as in `CommonOptions`
export type IntegrateOptions<P extends Params = any> = CommonOptions<P> & Where;

/** Options that are not checked yet: `domain` and `dims` may both be there, or neither. */
export type AllOptions = CommonOptions & { domain?: DomainOption | undefined; dims?: number | undefined };

/** Options with their defaults. */
export interface Problem
  extends Required<
    Omit<
      Options,
      | 'domain'
      | 'breaks'
      | 'points'
      | 'seed'
      | 'signal'
      | 'onProgress'
      | 'resume'
      | 'map'
      | 'histograms'
      | 'goals'
      | 'learnFrom'
    >
  > {
  domain: Domain;
  seed: bigint;
  signal: AbortSignal | undefined;
  onProgress: AllOptions['onProgress'] | undefined;
  resume: State | undefined;
  map: State | undefined;
  histograms: AllOptions['histograms'] | undefined;
  goals: AllOptions['goals'] | undefined;
  learnFrom: AllOptions['learnFrom'] | undefined;
}

export function checkProblem(options: AllOptions): Problem {
  if (options === null || typeof options !== 'object' || Array.isArray(options))
    refuse('options', options, 'pass an object such as { dims: 3 }');
  checkOptions(INTEGRATE_OPTIONS, options);
  const all = withDefaults(INTEGRATE_OPTIONS, options) as Required<Options>;
  if (options.resume && options.map) refuse('map', options.map, 'give `resume` or `map`, not both');
  const method = methodOf(all);
  if (options.histograms) histogramOptions.now.checkFillable(all, method);
  checkProtocol(all.vegas);
  checkBudget(all, options.maxEvaluations !== undefined);
  const params = copyParams(options.params === undefined ? {} : options.params);
  const domain = domainOf({ ...options, method }, params);
  return {
    ...all,
    params,
    domain,
    dims: domain.axes.length,
    seed: BigInt(all.seed),
    method,
  };
}

/** The method; a state names its own where none was asked for, and `map` is for the VEGAS family. */
function methodOf({ method, resume, map, histograms }: Required<AllOptions>): MethodName {
  const named = (resume ?? map)?.method ?? (histograms && 'vegas+');
  return method === 'auto' && named && METHOD_NAMES.includes(named as MethodName)
    ? (named as MethodName)
    : method;
}

/** Checks that a tolerance, a budget or a time limit ends the run, and that the budget allows a first estimate. */
function checkBudget(options: Required<AllOptions>, given: boolean): void {
  const { relTol, absTol, maxEvaluations, maxTime, vegas } = options;
  const { evaluations = 0, iterations } = vegas;
  const endless = !(given && maxEvaluations < Infinity) && maxTime === Infinity && !iterations;
  if (relTol === 0 && absTol === 0 && endless)
    refuse(
      'relTol',
      0,
      w => `with no tolerance at all, give a budget: ${w.name('maxEvaluations')} or ${w.name('maxTime')}`,
    );
  if (maxEvaluations < 1000)
    refuse('maxEvaluations', maxEvaluations, 'no method can say anything with fewer than 1000');
  if (evaluations > maxEvaluations)
    refuse(
      'vegas.evaluations',
      evaluations,
      w => `an iteration cannot have more than ${w.name('maxEvaluations')}, ${maxEvaluations}`,
    );
}

function checkDevice(device: unknown): void {
  const remedy = deviceRemedy(device);
  if (remedy) refuse('device', device, remedy);
}

function refuse(option: string, value: unknown, remedy: Text): never {
  throw new OptionError(option, value, remedy);
}

/** What the device `auto` is chosen by. */
export const workOf = ({ maxEvaluations, relTol, method }: Problem): Work => ({
  maxEvaluations,
  relTol,
  float64: needsFloat64(method),
});
