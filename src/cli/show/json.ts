/**
 * Results as JSON. Members may be added in later versions, and are never renamed or removed.
 *
 *     integrand    the expression, or the name of the file
 *     variables    names of the axes (empty for a file without ranges)
 *     domain       a pair of bounds per axis: numbers, the strings "Infinity" and "-Infinity", or expressions of variables before it;
 *                  from files also the text of a function, or an object { shape, dims, size, centre }
 *     params       values of the parameters that are numbers or booleans
 *     value        the integral                             null when there is no estimate
 *     error        its error, one standard deviation for Monte Carlo methods     null when not known
 *     status       converged, budget, time, memory, roundoff, aborted; in scans also failed
 *     converged    whether status is converged
 *     method       the method that gave the value
 *     choice       why auto chose the method; null when the method was given
 *     device       where it ran
 *     evaluations  all evaluations of the integrand
 *     chi2, dof, q how well the iterations agree; null for deterministic methods
 *     regions      the number of regions; null for Monte Carlo methods
 *     witnesses    the number of random points that confirm the claim, or contradict it; null for Monte Carlo methods
 *     nonFinite    values that were not finite and counted as 0
 *     shape        only of several results: what they make up, with "number" in the place of each; value, error, chi2 and q have this
 *                  shape then
 *     correlations only of several results of Monte Carlo methods: for each 16 results the lower triangle of their correlations
 *     seed         as a string, since it may have 64 bits
 *     elapsed      milliseconds
 *     warnings     a list of strings
 *     iterations   a list of { value, error, evaluations, adapting }: the running estimate and all evaluations so far
 *
 * In a scan each line is an object with the members from params to warnings.
 */

import { endsOf } from '../../integrand/make-domain.ts';
import { isShape } from '../../integrand/shapes.ts';
import { visibleJson } from '../../options/visible.ts';
import type { Result } from '../../result.ts';
import type { Setup } from '../setup.ts';
import { historyOf } from './history.ts';

/** A line of JSON. */
export const jsonLine = (value: object): string => `${visibleJson(JSON.stringify(value))}\n`;

export function resultObject(r: Result, setup: Setup): object {
  const { title, variables, options } = setup;
  return {
    integrand: title,
    variables,
    domain: domainOf(setup),
    ...valueObject(r, options.params ?? {}),
    iterations: historyOf(r).map(({ value, error, evaluations, adapting }) => ({
      value,
      error,
      evaluations,
      adapting,
    })),
  };
}

/** A result and its params, as in a line of a scan. */
export function valueObject(r: Result, params: object): object {
  const random = r.dof > 0;
  return {
    params: Object.fromEntries(
      Object.entries(params).filter(([, v]) => typeof v !== 'object' && typeof v !== 'function'),
    ),
    ...(r.shape
      ? severalObject(r)
      : { value: finite(r.error < Infinity ? r.value : Number.NaN), error: finite(r.error) }),
    status: r.status,
    converged: r.converged,
    method: r.method,
    choice: r.choice ?? null,
    device: r.device,
    evaluations: r.evaluations,
    chi2: random ? (r.shape ? r.chi2 : finite(r.chi2)) : null,
    dof: random ? r.dof : null,
    q: random ? (r.shape ? r.q : finite(r.q)) : null,
    regions: r.regions ?? null,
    witnesses: r.witnesses ?? null,
    nonFinite: r.nonFinite,
    seed: String(r.seed),
    elapsed: r.elapsed,
    warnings: r.warnings,
  };
}

/** JSON writes null for what is not finite. */
function severalObject({ value, error, shape, correlations }: Result): object {
  return { value, error, shape, correlations: correlations ?? null };
}

const finite = (x: number): number | null => (Number.isFinite(x) ? x : null);

function domainOf({ ranges, options }: Setup): unknown[] {
  const texts = (pair: readonly (number | string)[]) =>
    pair.map(b => (typeof b === 'string' || Number.isFinite(b) ? b : String(b)));
  if (ranges.length > 0)
    return ranges.filter(r => r.range !== null).map(r => (isShape(r.range) ? r.range : texts(r.shown)));
  const { domain, dims = 0 } = options;
  if (!domain) return Array.from({ length: dims }, () => [0, 1]);
  return (isShape(domain) ? [domain] : domain).map(part => {
    const ends = endsOf(part);
    return ends ? texts(ends) : typeof part === 'function' ? String(part) : part;
  });
}
