/**
 * When a Monte Carlo estimate is not to be believed, and how a result says so; for the VEGAS family and ZMC.
 *
 * χ² sees iterations that disagree. It does not see weights with a heavy tail, where every iteration finds too little with
 * too small an error: there a few pieces of cubes carry the variance, and more samples would raise it. Path integrals on
 * 14 and 16 steps have 1 to 50 carriers however many samples (tests/truth/tails.test.ts); without a limit most of their
 * claims were low by 3 to 12 errors, with 30 half of those on 14 steps, with 100 none. Other integrands of the papers have
 * 200 or more when they claim.
 */
import type { Combined, Estimate } from './combine.ts';

/** An estimate whose χ² would be exceeded this rarely is not believed. */
export const SMALLEST_Q = 1e-3;
/** Pieces that should carry the variance of a claim. Small samples are a piece for 256: there a quarter of them must do. */
const CARRIERS = 100;
const SAMPLES_A_CARRIER = 4 * 256;
/** The part of these without which an estimate is not believed. */
const FEWEST = 0.3;

/** Pieces that carry the variance, over those that should; `now` is what the estimates combine to. */
export function carried(estimates: readonly Estimate[], now: Combined): number {
  const most = estimates.reduce((n, e) => n + Math.max(1, e.evaluations / SAMPLES_A_CARRIER), 0);
  return now.carriers / Math.min(CARRIERS, most);
}

/** Estimates that agree, with a variance that enough pieces carry. */
export function believable(estimates: readonly Estimate[], now: Combined): boolean {
  return now.q >= SMALLEST_Q && carried(estimates, now) >= FEWEST;
}

export const FEW_SAMPLES =
  'a few samples carry most of the variance: a peak may be missed; raise maxEvaluations or narrow the domain';

/** `seen`: something was, before what the estimate is made of. */
export function nothingSeen(seen: boolean, evaluations: number): string {
  const samples = seen ? 'measured sample' : `one of ${evaluations} samples`;
  return `every ${samples} was 0: either the integrand is 0, or it is not where the samples were; narrow the domain or raise maxEvaluations`;
}
