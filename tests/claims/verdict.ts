/**
 * Runs a trial and judges it. `converged` is a claim. It is false
 *
 * - of a deterministic method, when |value − truth| > max(error, relTol·|value|): its error is a bound;
 * - of a Monte Carlo method, when |value − truth| > 5·error: its error is one standard deviation, and 5 of them are
 *   exceeded by chance once in 1.7 million claims.
 *
 * Which family `auto` used is in the result. A run that throws because of the integrand's values claims nothing.
 */
import { type Device, integrate, type Result } from '../../src/index.ts';
import { IntegrationError } from '../../src/options/integration-error.ts';
import { isSampled, type Trial } from './trials.ts';

/** Truths and sums are rounded: a difference of this part of the truth is no evidence. */
const ROUNDING = 1e-11;
const SAMPLED_LIMIT = 5;

export interface Verdict {
  trial: Trial;
  claim: 'none' | 'true' | 'false';
  /** The result; null if the run threw. */
  result: Result | null;
  /** What was thrown. */
  thrown: string | null;
  /** Whether the value is one of samples. */
  sampled: boolean;
  /** (value − truth) in errors for samples, in max(error, tolerance) for deterministic methods. */
  off: number;
  /** |value − truth| in tolerances. */
  missed: number;
}

export async function judge(trial: Trial, device: string | Device = 'cpu'): Promise<Verdict> {
  const { example, method, relTol, maxEvaluations, number } = trial;
  const { f, domain, params, truth } = example;
  const options = { domain, params, method, relTol, maxEvaluations, device, seed: number };
  const result = await integrate(f, options).catch((e: unknown) => {
    if (e instanceof IntegrationError) return e;
    throw e;
  });
  if (result instanceof Error)
    return { trial, claim: 'none', result: null, thrown: result.message, sampled: false, off: 0, missed: 0 };
  const sampled = isSampled(result.method);
  const tolerance = relTol * Math.abs(result.value);
  const unit = sampled ? result.error : Math.max(result.error, tolerance);
  const difference = result.value - truth;
  const off = Math.abs(difference) <= ROUNDING * Math.abs(truth) ? 0 : difference / unit;
  const limit = sampled ? SAMPLED_LIMIT : 1;
  const claim = result.converged ? (Math.abs(off) <= limit ? 'true' : 'false') : 'none';
  return { trial, claim, result, thrown: null, sampled, off, missed: Math.abs(difference) / tolerance };
}

/** A verdict in a line: enough to repeat the run by hand. */
export function textOf({ trial, result, off, sampled, missed }: Verdict): string {
  const { example, method, relTol, maxEvaluations, seed, number } = trial;
  const { kind, dims, params, truth, fraction, domain } = example;
  const plain = Object.entries(params).map(([name, v]) => [
    name,
    typeof v === 'object' ? [...(v as Float64Array)] : v,
  ]);
  const infinite = domain.some(([a, b]) => !Number.isFinite(b - a))
    ? ` on ${domain.map(String).join(' × ')}`
    : '';
  const used = result && result.method !== method ? ` (${result.method})` : '';
  const errors = sampled ? `${Math.abs(off).toPrecision(3)} errors, ` : '';
  const distance = `${errors}${missed.toPrecision(3)} tolerances`;
  return [
    `trial ${number} of seed ${seed}: ${kind} in ${dims}${infinite}, ${method}${used}, relTol ${relTol}, maxEvaluations ${maxEvaluations}`,
    `  ${result?.value} ± ${result?.error}, truth ${truth}: off by ${distance}`,
    `  ${result?.evaluations} evaluations; the feature fills ${fraction.toPrecision(3)} of the domain`,
    `  params ${JSON.stringify(Object.fromEntries(plain))}`,
  ].join('\n');
}
