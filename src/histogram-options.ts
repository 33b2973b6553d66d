/** The option `histograms`, checked before any work. */
import { checkNames, type ResultName } from './goals.ts';
import type { Integrand } from './integrand/compile.ts';
import { FAMILIES, type MethodName } from './methods/names.ts';
import { OptionError } from './options/option-error.ts';
import type { AllOptions } from './problem.ts';

/** A histogram to fill. */
export interface HistogramOptions {
  /** What is binned: a function of the point, like the integrand. */
  of: Integrand;
  /** The number of bins, at most 500. */
  bins: number;
  /** Where the first bin begins and the last one ends. */
  range: readonly [number, number];
  /** The result that is integrated over bins, for an integrand that returns several: its name or number. */
  result?: ResultName | undefined;
}

/** The covariance of each iteration has (bins + 2)² numbers: 2 MB. */
const MAX_BINS = 500;

/** Throws unless a value describes histograms. */
export function checkHistograms(value: unknown): void {
  const refuse = (name: string, found: unknown, remedy: string): never => {
    throw new OptionError(name, found, remedy);
  };
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    refuse(
      'histograms',
      value,
      'pass an object such as { mass: { of: ([x, y]) => x + y, bins: 20, range: [0, 2] } }',
    );
  for (const [name, given] of Object.entries(value as object)) {
    const at = `histograms.${name}`;
    if (typeof given !== 'object' || given === null)
      refuse(at, given, 'pass an object such as { of: ([x, y]) => x + y, bins: 20, range: [0, 2] }');
    const { of, bins, range, result, ...rest } = given as Record<string, unknown>;
    const [unknown] = Object.keys(rest);
    if (unknown !== undefined)
      refuse(`${at}.${unknown}`, rest[unknown], 'the members are of, bins, range and result');
    if (result !== undefined) checkNames(`${at}.result`, result);
    if (Array.isArray(result)) refuse(`${at}.result`, result, "pass the name of one result, such as 'mean'");
    if (typeof of !== 'function') refuse(`${at}.of`, of, 'pass a function of the point');
    if (!(Number.isInteger(bins) && (bins as number) >= 1 && (bins as number) <= MAX_BINS))
      refuse(`${at}.bins`, bins, `pass a whole number from 1 to ${MAX_BINS}`);
    const bounds = Array.isArray(range) && range.length === 2 && range.every(b => Number.isFinite(b));
    if (!bounds || !(range[0] < range[1]) || !Number.isFinite(range[1] - range[0]))
      refuse(`${at}.range`, range, 'pass two finite bounds, the lower one first');
  }
}

/** Checks that there are samples to fill histograms with: of frozen iterations, each with its error. */
export function checkFillable({ histograms, resume, vegas }: Required<AllOptions>, method: MethodName): void {
  const no = (remedy: string, why: string): never => {
    throw new OptionError('histograms', histograms, remedy, w => `${w.quoted('histograms')} ${why}`);
  };
  if (FAMILIES[method] !== 'vegas')
    no("use method 'vegas+', or leave it out", `are filled with samples, and ${method} hands out none`);
  if (resume)
    no(
      'pass the state as `map`',
      'are filled with samples, and a resumed run does not repeat those that it had',
    );
  if (vegas.skip !== undefined)
    no(
      'leave `vegas.skip` out',
      'are filled while map and strata are frozen, and `vegas.skip` lets others count',
    );
}
