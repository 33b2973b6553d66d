/** The options of `integrate`, checked before any work starts: each mistake names the option, the value and the remedy. */

import type { Device } from './devices/device.ts';
import { type Domain, makeDomain, type Range } from './integrand/domain.ts';
import { checkParams, type Params } from './integrand/params.ts';
import { CUBATURE_OPTIONS, type CubatureOptions } from './methods/cubature/cubature.ts';
import { VEGAS_OPTIONS, type VegasOptions } from './methods/vegas/vegas.ts';
import { ZMC_OPTIONS, type ZmcOptions } from './methods/zmc/zmc.ts';
import { RULES } from './tasks/rules.ts';

export const METHODS = [
  'auto',
  'vegas+',
  'mcubes',
  'mcubes1d',
  'plain',
  'pagani',
  'cuhre',
  'two-phase',
  'zmc',
] as const;
export type MethodName = (typeof METHODS)[number];

/** What `onProgress` is told once an iteration. */
export interface Progress {
  /** Counted from 1, over all methods that `auto` runs. */
  iteration: number;
  /** The running estimate; while the map is learning, that of this iteration alone. */
  value: number;
  /** The error of that. */
  error: number;
  /** In all, up to here. */
  evaluations: number;
  /** The map is still learning: this iteration does not count. */
  adapting: boolean;
  /** Who is at work: with `auto` the one whose turn it is. */
  method: string;
  /** Of the iterations that count so far; 0 for deterministic methods. */
  chi2: number;
  /** Degrees of freedom of `chi2`. */
  dof: number;
}

/** A problem: where to integrate, how well, with what. One of `domain` and `dims` is needed, all else has a default. */
export interface IntegrateOptions {
  /** A range an axis; ±Infinity allowed, backwards turns the sign. */
  domain?: readonly Range[];
  /** The unit cube of so many dimensions, instead of `domain`. */
  dims?: number;
  /** Default `auto`: `pagani` and `vegas+` in turns, until one of them is there. */
  method?: MethodName;
  /**
   * `cpu` (every core), `cpu:3` (three workers), `cuda`, `cuda:1`, several as `['cuda:0', 'cuda:1']` or `cuda:*` (all of
   * them), `js` (the function as it is), or an open device. Default `cpu`.
   */
  device?: string | readonly string[] | Device;
  /** Stop when the error is at most max(absTol, relTol·|value|). Default 1e-3. */
  relTol?: number;
  /** The error that is small enough whatever the value is. Default 0. */
  absTol?: number;
  /** Values of the integrand that may be asked for, at least 1000. Default 1e9. */
  maxEvaluations?: number;
  /** Iterations that may be made. Default 10,000. */
  maxIterations?: number;
  /** In milliseconds. Default: no limit. */
  maxTime?: number;
  /** What all random numbers come from: the same seed gives the same bits. Default 1. */
  seed?: number | bigint;
  /** The integrand's second argument: numbers, booleans, typed arrays, tables. */
  params?: Params;
  /** Ends the run when it is aborted; what was found so far is the result, with status `aborted`. */
  signal?: AbortSignal;
  /** Called once an iteration. */
  onProgress?: (progress: Progress) => void;
  /** What to do when the integrand is NaN or infinite: stop with an error (default), or count it as 0 and say so. */
  onNonFinite?: 'error' | 'zero';
  /** Knobs of the VEGAS family, named as in the papers. */
  vegas?: VegasOptions;
  /** Knobs of `pagani`, `cuhre` and `two-phase`. */
  cubature?: CubatureOptions;
  /** Knobs of `zmc`. */
  zmc?: ZmcOptions;
}

/** Options with their defaults. */
export interface Problem
  extends Required<Omit<IntegrateOptions, 'domain' | 'seed' | 'signal' | 'onProgress'>> {
  domain: Domain;
  seed: bigint;
  signal: AbortSignal | undefined;
  onProgress: IntegrateOptions['onProgress'] | undefined;
}

const OPTIONS = [
  'domain',
  'dims',
  'method',
  'device',
  'relTol',
  'absTol',
  'maxEvaluations',
  'maxIterations',
  'maxTime',
  'seed',
  'params',
  'signal',
  'onProgress',
  'onNonFinite',
  'vegas',
  'cubature',
  'zmc',
];

export function checkProblem(options: IntegrateOptions): Problem {
  if (options === null || typeof options !== 'object')
    fail('options', options, 'pass an object such as { dims: 3 }');
  const unknown = Object.keys(options).find(k => !OPTIONS.includes(k));
  if (unknown) fail(unknown, undefined, `the options are ${OPTIONS.join(', ')}`, 'unknown option');
  const {
    method = 'auto',
    device = 'auto',
    relTol = 1e-3,
    absTol = 0,
    maxEvaluations = 1e9,
    maxIterations = 10_000,
    maxTime = Infinity,
    seed = 1,
    params = {},
    signal,
    onProgress,
    onNonFinite = 'error',
    vegas = {},
    cubature = {},
    zmc = {},
  } = options;
  checkVegas(vegas);
  checkCubature(cubature);
  checkZmc(zmc);
  oneOf('method', method, METHODS);
  checkDevice(device);
  for (const [name, value] of Object.entries({ relTol, absTol })) {
    if (typeof value !== 'number' || !(value >= 0))
      fail(name, value, 'pass a number from 0 on, such as 1e-3');
  }
  const given = options.maxEvaluations !== undefined && maxEvaluations < Infinity;
  if (relTol === 0 && absTol === 0 && !given && maxTime === Infinity && !vegas.iterations) {
    fail('relTol', 0, 'with no tolerance at all, give a budget: maxEvaluations or maxTime');
  }
  for (const [name, value] of Object.entries({ maxEvaluations, maxIterations, maxTime })) {
    if (typeof value !== 'number' || !(value > 0))
      fail(name, value, 'pass a number above 0, or leave it out');
  }
  if (maxEvaluations < 1000)
    fail('maxEvaluations', maxEvaluations, 'no method can say anything with fewer than 1000');
  const { evaluations = 0 } = vegas;
  if (evaluations > maxEvaluations) {
    fail(
      'vegas.evaluations',
      evaluations,
      `an iteration cannot have more than maxEvaluations, ${maxEvaluations}`,
    );
  }
  if (typeof seed !== 'bigint' && !Number.isSafeInteger(seed))
    fail('seed', seed, 'pass a whole number or a bigint');
  if (signal !== undefined && !(signal instanceof AbortSignal))
    fail('signal', signal, 'pass the signal of an AbortController');
  if (onProgress !== undefined && typeof onProgress !== 'function')
    fail('onProgress', onProgress, 'pass a function');
  oneOf('onNonFinite', onNonFinite, ['error', 'zero']);
  checkParams(params);
  const ranges = checkDomain(options.domain, options.dims);
  return {
    domain: makeDomain(ranges),
    dims: ranges.length,
    method,
    device,
    relTol,
    absTol,
    maxEvaluations,
    maxIterations,
    maxTime,
    seed: BigInt(seed),
    params,
    signal,
    onProgress,
    onNonFinite,
    vegas,
    cubature,
    zmc,
  };
}

function checkDevice(device: IntegrateOptions['device']): void {
  if (Array.isArray(device)) {
    const known = device.length > 0 && device.every(d => /^cuda(:\d+)?$/.test(d));
    if (!known)
      fail('device', device, "list CUDA devices, such as ['cuda:0', 'cuda:1'], or 'cuda:*' for all");
    const numbers = device.map(d => Number(d.split(':')[1] ?? 0));
    if (new Set(numbers).size < numbers.length) fail('device', device, 'name each device once');
  } else if (
    typeof device === 'string'
      ? !/^(auto|cpu(:[1-9]\d*)?|js(:[1-9]\d*)?|cuda(:(\d+|\*))?)$/.test(device)
      : typeof (device as Device | null)?.open !== 'function'
  ) {
    fail(
      'device',
      device,
      "use 'auto', 'cpu', 'cpu:3' for three workers, 'cuda', 'cuda:1', 'cuda:*', 'js', or an open device",
    );
  }
}

function checkDomain(domain: unknown, dims: unknown): Range[] {
  if ((domain === undefined) === (dims === undefined)) {
    fail(
      'domain',
      domain,
      domain === undefined
        ? 'give `domain` (a range an axis) or `dims` (the unit cube)'
        : 'give `domain` or `dims`, not both',
    );
  }
  if (dims !== undefined) {
    if (!Number.isInteger(dims) || (dims as number) < 1 || (dims as number) > 1000)
      fail('dims', dims, 'pass a whole number from 1 to 1000');
    return Array.from({ length: dims as number }, () => [0, 1]);
  }
  if (!Array.isArray(domain) || domain.length < 1 || domain.length > 1000)
    fail('domain', domain, 'pass a range an axis, such as [[0, 1], [-1, 1]], at most 1000');
  return (domain as unknown[]).map((range, d) => {
    const bounds =
      Array.isArray(range) && range.length === 2
        ? (range as unknown[])
        : fail(`domain[${d}]`, range, 'pass two bounds, such as [0, 1]');
    for (const b of bounds)
      if (typeof b !== 'number' || Number.isNaN(b))
        fail(`domain[${d}]`, range, 'bounds are numbers or ±Infinity');
    const [a, b] = bounds as [number, number];
    if (a === b && !Number.isFinite(a))
      fail(`domain[${d}]`, range, 'a range from an infinity to itself has no points');
    if (Number.isFinite(a) && Number.isFinite(b) && !Number.isFinite(b - a))
      fail(`domain[${d}]`, range, 'this range is wider than a number can say: use ±Infinity');
    return [a, b] as Range;
  });
}

function checkVegas(vegas: VegasOptions): void {
  checkKnobs('vegas', vegas, VEGAS_OPTIONS);
  for (const [name, value] of Object.entries(vegas)) {
    if (value === undefined) continue;
    const lowest = { alpha: 0, beta: 0, adapt: 0, skip: 0, evaluations: 4 }[name as 'alpha'] ?? 1;
    const whole = name !== 'alpha' && name !== 'beta';
    if (
      typeof value !== 'number' ||
      !(value >= lowest) ||
      !Number.isFinite(value) ||
      (whole && !Number.isInteger(value))
    ) {
      fail(`vegas.${name}`, value, `pass a ${whole ? 'whole ' : ''}number from ${lowest} on`);
    }
  }
  const { bins = 1, skip = 0, iterations = 20, adapt = 0, beta = 0, alpha = 0 } = vegas;
  for (const [name, value] of Object.entries({ alpha, beta }))
    if (value > 2) fail(`vegas.${name}`, value, 'pass a number from 0 to 2');
  if ((vegas.evaluations ?? 0) >= 2 ** 32) {
    fail('vegas.evaluations', vegas.evaluations, 'pass less than 2^32, and more iterations');
  }
  if (bins > 2 ** 16) fail('vegas.bins', bins, 'pass at most 65536');
  if (skip >= iterations)
    fail('vegas.skip', skip, `leave at least one of the ${iterations} iterations in the result`);
  if (adapt >= iterations && vegas.skip === undefined)
    fail(
      'vegas.adapt',
      adapt,
      `leave at least one of the ${iterations} iterations frozen, or say how many to \`skip\``,
    );
}

function checkCubature(cubature: CubatureOptions): void {
  checkKnobs('cubature', cubature, CUBATURE_OPTIONS);
  const { rule, split, maxMemory, relErrFilter, processors, perProcessor } = cubature;
  if (rule !== undefined) oneOf('cubature.rule', rule, RULES);
  if (split !== undefined && !(Number.isInteger(split) && split >= 1 && Number.isInteger(Math.log2(split))))
    fail('cubature.split', split, 'pass a power of two, such as 2');
  if (maxMemory !== undefined && !(typeof maxMemory === 'number' && maxMemory >= 2 ** 20))
    fail('cubature.maxMemory', maxMemory, 'pass bytes, from 1048576 on');
  if (relErrFilter !== undefined && typeof relErrFilter !== 'boolean')
    fail('cubature.relErrFilter', relErrFilter, 'pass true or false, or leave it out');
  for (const [name, value] of Object.entries({ processors, perProcessor }))
    if (value !== undefined && !(Number.isInteger(value) && value >= 1))
      fail(`cubature.${name}`, value, 'pass a whole number from 1 on');
}

function checkZmc(zmc: ZmcOptions): void {
  checkKnobs('zmc', zmc, ZMC_OPTIONS);
  const lowest = { blocks: 1, samples: 2, trials: 2, sigma: 0, depth: 1 };
  for (const name of ZMC_OPTIONS) {
    const value = zmc[name];
    if (value === undefined) continue;
    const whole = name !== 'sigma';
    const fits = typeof value === 'number' && value >= lowest[name] && value < Infinity;
    if (!fits || (whole && !Number.isInteger(value)))
      fail(`zmc.${name}`, value, `pass a ${whole ? 'whole ' : ''}number from ${lowest[name]} on`);
  }
  if ((zmc.blocks ?? 0) > 2 ** 18) fail('zmc.blocks', zmc.blocks, 'pass at most 262144');
}

/** An object with known members only. */
function checkKnobs(name: string, knobs: object, known: readonly string[]): void {
  if (knobs === null || typeof knobs !== 'object')
    fail(name, knobs, `pass an object with ${known.join(', ')}`);
  const unknown = Object.keys(knobs).find(k => !known.includes(k));
  if (unknown) fail(`${name}.${unknown}`, undefined, `the knobs are ${known.join(', ')}`, 'unknown option');
}

function oneOf(name: string, value: unknown, known: readonly string[]): void {
  if (!known.includes(value as string)) fail(name, value, `use ${known.map(k => `'${k}'`).join(', ')}`);
}

function fail(name: string, value: unknown, remedy: string, what?: string): never {
  const shown = show(value);
  throw new TypeError(`integrate: ${what ? `${what} \`${name}\`` : `\`${name}\` is ${shown}`}; ${remedy}.`);
}

function show(value: unknown): string {
  if (typeof value === 'string') return `'${value}'`;
  if (typeof value === 'bigint') return `${value}n`;
  if (Array.isArray(value))
    return value.length > 6 ? `an array of ${value.length}` : `[${value.map(show).join(', ')}]`;
  if (typeof value === 'object' && value !== null) return 'an object';
  return typeof value === 'function' ? 'a function' : String(value);
}
