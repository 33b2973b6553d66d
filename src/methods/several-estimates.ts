/** Estimates of several results, for methods that treat one result and several alike: one of them, all of them as data, warnings. */
import type { Combined, Estimate } from './combine.ts';
import {
  goalsOf,
  type IterationRecord,
  type MethodProblem,
  type Outcome,
  type Running,
  type SeveralEstimates,
  toleranceAt,
} from './method.ts';
import { withErrors } from './raised-errors.ts';

/** The estimate of one of several results; an estimate of a single number is that of result 0. */
export function ofResult(estimate: Combined, result: number): Combined;
export function ofResult(estimate: Estimate, result: number): Estimate;
export function ofResult(estimate: Estimate, result: number): Estimate {
  return estimate.results?.each[result] ?? estimate;
}

/** Whether no sample other than 0 was met; results that were not sampled are NaN. */
export const isZeroEstimate = (e: Estimate): boolean =>
  e.results
    ? e.results.each.every(own => Number.isNaN(own.value) || isZeroEstimate(own))
    : e.value === 0 && e.error === 0;

/** The tolerance of one of several results. */
export const toleranceOf = (problem: MethodProblem, estimate: Estimate, result: number): number =>
  toleranceAt(problem, ofResult(estimate, result).value, result);

/** The error of the goal that is farthest from its tolerance, in units of the tolerance. */
export const inTolerances = (problem: MethodProblem, estimate: Estimate): number =>
  Math.max(...goalsOf(problem).map(g => ofResult(estimate, g).error / toleranceOf(problem, estimate, g)));

type Several = NonNullable<Estimate['results']>;

const valuesOf = ({ each }: Several): number[] => each.map(e => e.value);
const errorsOf = ({ each }: Several): number[] => each.map(e => e.error);

/** An iteration as results have it. */
export function recordOf(estimate: Estimate, adapting: boolean): IterationRecord {
  const { value, error, evaluations, results } = estimate;
  if (!results) return { value, error, evaluations, adapting };
  return { value, error, evaluations, adapting, values: valuesOf(results), errors: errorsOf(results) };
}

/** The estimate that a run has come to, as those are told who drive it. */
export function runningOf(estimate: Estimate | Combined): Running {
  const { value, error, results } = estimate;
  const running: Running = { value, error };
  if (results) running.several = estimatesOf(results);
  if ('chi2' in estimate) {
    running.chi2 = estimate.chi2;
    running.dof = estimate.dof;
    running.q = estimate.q;
  }
  return running;
}

/** What a run has come to, with errors that allow for what samples do not show. */
export function estimatedOutcome(
  problem: MethodProblem,
  now: Combined,
  errorOf: (result: number) => number,
  { status, evaluations, warnings }: Pick<Outcome, 'status' | 'evaluations' | 'warnings'>,
): Outcome {
  const { value, chi2, dof, q } = now;
  const { results } = now;
  const several = results && {
    several: withErrors(
      estimatesOf(results),
      results.each.map((_, r) => errorOf(r)),
    ),
  };
  const error = errorOf(goalsOf(problem)[0]);
  return { value, error, ...several, status, evaluations, chi2, dof, q, warnings };
}

/** Estimates of several results as methods hand them on. */
export function estimatesOf(results: Several): SeveralEstimates {
  const values = valuesOf(results);
  const errors = errorsOf(results);
  const { each, correlations } = results;
  if (!('chi2' in each[0])) return { values, errors, correlations };
  const all = each as readonly Combined[];
  return { values, errors, correlations, chi2: all.map(e => e.chi2), q: all.map(e => e.q) };
}

/** The warning for goals that are 0 within their errors while others are not: they alone keep the run from ending. */
export function hopelessGoals({ several, absTol, relTol }: MethodProblem, now: Combined): string[] {
  if (!several || !now.results || absTol > 0 || relTol === 0) return [];
  const isZero = (g: number) => {
    const { value, error } = ofResult(now, g);
    return Math.abs(value) < 3 * error && error > 0;
  };
  const zeros = several.goals.filter(isZero).map(g => several.names[g]);
  if (zeros.length === 0 || zeros.length === several.goals.length) return [];
  const shown =
    zeros.length > 4 ? `${zeros.slice(0, 3).join(', ')} and ${zeros.length - 3} more` : zeros.join(', ');
  return [`${shown}: 0 within the error, which meets no relative tolerance; set absTol, or name the goals`];
}
