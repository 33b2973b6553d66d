/** What may be missing at the ends of ranges (end-probe.ts), in the outcome of a run: a larger error, no claim, a warning. */

import { type MethodProblem, type Outcome, type Several, toleranceAt } from '../methods/method.ts';
import { withErrors } from '../methods/raised-errors.ts';
import type { Missing } from './end-probe.ts';
import { negligibleFor, totalOf } from './missing.ts';

/** The outcome with what may be missing as a part of its error. */
export function withMissing(
  outcome: Outcome,
  missing: readonly Missing[],
  problem: Pick<MethodProblem, 'relTol' | 'absTol'>,
): Outcome {
  const total = totalOf(missing);
  if (missing.length === 0) return outcome;
  if (total < Infinity && total <= negligibleFor(problem, outcome.value, outcome.error)) return outcome;
  const error = outcome.error + total;
  const converged = outcome.status === 'converged';
  if (converged && error <= toleranceAt(problem, outcome.value)) return { ...outcome, error };
  const largest = missing.reduce((a, b) => (b.amount > a.amount ? b : a));
  return {
    ...outcome,
    error,
    status: converged ? (largest.infinite ? 'budget' : 'roundoff') : outcome.status,
    warnings: [...outcome.warnings, warningOf(largest)],
  };
}

/** The same for several results; `missing` has a list for each. */
export function withMissingOfSeveral(
  outcome: Outcome,
  missing: readonly (readonly Missing[])[],
  problem: Pick<MethodProblem, 'relTol' | 'absTol'>,
  { goals, names }: Pick<Several, 'goals' | 'names'>,
): Outcome {
  const { values, errors } = outcome.several!;
  const each = missing.map((own, r) =>
    withMissing({ ...outcome, value: values[r], error: errors[r], warnings: [] }, own, problem),
  );
  const broken = goals.filter(g => each[g].warnings.length > 0);
  return {
    ...outcome,
    error: each[goals[0]].error,
    several: withErrors(
      outcome.several!,
      each.map(e => e.error),
    ),
    status: broken.length > 0 ? each[broken[0]].status : outcome.status,
    warnings: [...outcome.warnings, ...broken.slice(0, 1).map(g => `${names[g]}: ${each[g].warnings[0]}`)],
  };
}

/** Maps of ranges that begin at 0, or nowhere, end below this; see integrand/domain.ts. */
const NEAR = 1e16;

const shown = (x: number): string => x.toPrecision(2);
const listed = (names: readonly string[]): string =>
  names.length > 1 ? `${names.slice(0, -1).join(', ')} and ${names.at(-1)}` : names[0];
const namesOf = ({ parts }: Missing): string => listed(parts.map(d => `domain[${d}]`));

const warningOf = (missing: Missing): string =>
  missing.infinite ? beyondMap(missing) : missing.cut ? besideCut(missing) : besideEnd(missing);

function beyondMap(missing: Missing): string {
  const { amount, oscillates, parts } = missing;
  const last = Math.min(...missing.last.map(Math.abs));
  const where = `the map of ${namesOf(missing)} ends at ${shown(last)}`;
  if (amount === Infinity)
    return oscillates
      ? `${where}, up to where the integrand oscillates and hardly falls: what lies beyond may be anything; integrate over a finite range, or from zero to zero`
      : `${where}, up to where the integrand falls so slowly that its integral may not exist; integrate over a finite range`;
  let remedy = 'substitute a variable in which the integrand falls faster';
  if (last < NEAR && parts.length === 1)
    remedy = missing.bothInfinite
      ? 'integrate the ranges below 1 and above 1 by themselves: their maps reach 1.8e75'
      : 'shift the variable so that the range begins at 1: its map reaches 1.8e75';
  return `${where}, and what lies beyond may come to ${shown(amount)}; ${remedy}`;
}

function besideEnd(missing: Missing): string {
  const end = `the integrand is infinite at an end of ${namesOf(missing)}`;
  return missing.amount < Infinity
    ? `${end}, and what lies closer to that end than the last number may come to ${shown(missing.amount)}; make the distance from that end the variable, or substitute one that removes the singularity`
    : `${end}, towards which it grows so fast that its integral may not exist`;
}

function besideCut(missing: Missing): string {
  const place = `the integrand is infinite where ${namesOf(missing)} is cut`;
  return missing.amount < Infinity
    ? `${place}, and what lies closer to that place than the last number may come to ${shown(missing.amount)}; shift the variable so that the place is 0`
    : `${place}, towards which it grows so fast that its integral may not exist`;
}
