/**
 * Combines iterations into one estimate. The weight of an iteration is its number of evaluations, which does not depend
 * on what it found. Weights by inverse variance would favour iterations that came out low by chance, since those report
 * small variances, and bias the result (vegas is low by up to 30 errors on f6 that way).
 */
import { kit } from '../integrand/math/common.ts';
import { blocksIn, packedIndex } from '../tasks/correlation.ts';

export interface Estimate {
  value: number;
  error: number;
  evaluations: number;
  /**
   * The effective number of pieces that carry the variance: (Σ vᵢ)² / Σ vᵢ², with vᵢ the variance that piece i
   * contributes; n when n pieces contribute the same. Infinity when it is not given.
   */
  carriers?: number;
  /** A lower bound of the number of pieces; evaluations/256 when it is not given. */
  pieces?: number;
  /** What a step may hide that crosses a stratum beside all of its samples (jumps.ts). 0 when it is not given. */
  hidden?: number;
  /** The part of the error that is rounding, which further iterations do not make smaller. 0 when it is not given. */
  rounding?: number;
  /** Lattices: the error that as many random points would have. The same as `error` when it is not given. */
  randomError?: number;
  /** Several results: the estimate of each. `value` and the other members are those of the first goal. */
  results?: { each: readonly Estimate[]; correlations: readonly (readonly number[])[] };
}

export interface Combined extends Estimate {
  results?: { each: readonly Combined[]; correlations: readonly (readonly number[])[] };
  carriers: number;
  hidden: number;
  chi2: number;
  dof: number;
  /** The probability of a larger χ² if all iterations estimate the same value. */
  q: number;
}

export function combine(estimates: readonly Estimate[]): Combined {
  const evaluations = estimates.reduce((n, e) => n + e.evaluations, 0);
  const value = estimates.reduce((s, e) => s + e.value * (e.evaluations / evaluations), 0);
  // errors are divided by the largest one, since the square of 1e-200 underflows to 0
  const largest = Math.min(Number.MAX_VALUE, Math.max(...estimates.map(e => e.error)) || 1);
  const variances = estimates.map(e => ((e.error / largest) * (e.evaluations / evaluations)) ** 2);
  const variance = variances.reduce((a, b) => a + b, 0);
  // iterations round alike: their rounding errors do not cancel as independent ones would
  const rounding = estimates.reduce((s, e) => s + (e.rounding ?? 0) * (e.evaluations / evaluations), 0);
  const error = Math.max(largest * Math.sqrt(variance), rounding);
  const concentration = estimates.reduce((s, e, i) => s + variances[i] ** 2 / (e.carriers ?? Infinity), 0);
  const carriers = concentration === 0 ? Infinity : variance ** 2 / concentration;
  // samples of all iterations together hide less than those of one: a jump divided by all samples
  const hidden = estimates.reduce((m, e) => Math.max(m, (e.hidden ?? 0) * (e.evaluations / evaluations)), 0);
  const dof = Math.max(0, estimates.length - 1);
  // χ² is taken about the best fit, the mean by inverse variance, not about `value`: only there it has dof degrees
  const fit = bestFit(estimates, value);
  const chi2 = estimates.reduce((s, e) => {
    const off = Math.abs(e.value - fit);
    if (off <= 1e-14 * Math.abs(fit)) return s; // they agree to rounding; the error may be smaller than that, or 0
    return s + (off / e.error) ** 2;
  }, 0);
  const q = dof > 0 ? upperGamma(dof / 2, chi2 / 2) : 1;
  // lattices are one estimate, whose points are added to (lattice/lattice.ts)
  const { randomError } = estimates.length === 1 ? estimates[0] : {};
  const random = randomError !== undefined && { randomError };
  return { value, error, evaluations, carriers, hidden, rounding, chi2, dof, q, ...random };
}

/** The same for estimates of one result or several; `first` is the result whose members the average has itself. */
export function combineAll(estimates: readonly Estimate[], first: number): Combined {
  const count = estimates[0].results?.each.length;
  if (count === undefined) return combine(estimates);
  const each = Array.from({ length: count }, (_, r) => combine(estimates.map(e => e.results!.each[r])));
  return { ...each[first], results: { each, correlations: averageCorrelations(estimates, count) } };
}

/**
 * Correlations of the averages. Iterations are independent, so covariances add as variances do: with weight n/N,
 * cov = Σ (n/N)²·ρ·eᵣ·eₛ. Errors are divided by the largest one of their result, since squares of 1e-200 underflow.
 */
function averageCorrelations(estimates: readonly Estimate[], count: number): number[][] {
  const all = estimates.reduce((n, e) => n + e.evaluations, 0);
  const scaled = Array.from({ length: count }, (_, r) => {
    const errors = estimates.map(e => e.results!.each[r].error * (e.evaluations / all));
    const largest = Math.max(...errors) || 1;
    const own = errors.map(e => e / largest);
    const norm = Math.sqrt(own.reduce((s, e) => s + e * e, 0)) || 1;
    return own.map(e => e / norm);
  });
  return blocksIn(estimates[0].results!.correlations, count).map((block, b) =>
    block.flatMap((r, i) =>
      block.slice(0, i + 1).map((s, j) => {
        if (r === s) return 1;
        const at = packedIndex(i, j);
        return estimates.reduce(
          (sum, e, n) => sum + e.results!.correlations[b][at] * scaled[r][n] * scaled[s][n],
          0,
        );
      }),
    ),
  );
}

/** The mean weighted by inverse variance; `otherwise` when an error is 0 or all are infinite. */
function bestFit(estimates: readonly Estimate[], otherwise: number): number {
  const smallest = Math.min(...estimates.map(e => e.error));
  if (!(smallest > 0 && smallest < Infinity)) return otherwise;
  const weights = estimates.map(e => (smallest / e.error) ** 2);
  const total = weights.reduce((a, b) => a + b, 0);
  return estimates.reduce((s, e, i) => s + e.value * (weights[i] / total), 0);
}

/** ln Γ(a) where 2a is a whole number: Γ(a) = (a − 1)·Γ(a − 1) down to Γ(1) = 1 or Γ(½) = √π. */
function logGamma(a: number): number {
  let sum = 0;
  for (; a > 1; a--) sum += kit.log(a - 1);
  return a < 1 ? sum + kit.log(Math.PI) / 2 : sum;
}

/**
 * Q(a, x) = Γ(a, x)/Γ(a), where 2a is a whole number: by its series for x < a + 1, by its continued fraction for larger x.
 */
export function upperGamma(a: number, x: number): number {
  if (x <= 0) return 1;
  if (!(x < Infinity)) return 0;
  const front = kit.exp(a * kit.log(x) - x - logGamma(a));
  if (x < a + 1) {
    let term = 1 / a;
    let sum = term;
    for (let n = 1; term > sum * 1e-16; n++) sum += term *= x / (a + n);
    return Math.max(0, 1 - front * sum);
  }
  let b = x + 1 - a;
  let c = 1e300;
  let d = 1 / b;
  let h = d;
  for (let i = 1; i < 10000; i++) {
    const an = -i * (i - a);
    b += 2;
    d = 1 / (an * d + b);
    c = b + an / c;
    h *= d * c;
    if (Math.abs(d * c - 1) < 1e-15) break;
  }
  return front * h;
}

/** χ² per degree of freedom as text; from 1e6 on with an exponent. */
export function ratio(chi2: number, dof: number): string {
  const r = chi2 / dof;
  return r < 1e6 ? r.toFixed(2) : r.toExponential(1);
}
