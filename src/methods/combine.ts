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
  let evaluations = 0;
  for (const e of estimates) evaluations += e.evaluations;
  let value = 0;
  let rounding = 0; // iterations round alike: their rounding errors do not cancel as independent ones would
  let hidden = 0; // samples of all iterations together hide less than those of one: a jump divided by all samples
  let largest = -Infinity;
  for (const e of estimates) {
    const part = e.evaluations / evaluations;
    value += e.value * part;
    rounding += (e.rounding ?? 0) * part;
    hidden = Math.max(hidden, (e.hidden ?? 0) * part);
    largest = Math.max(largest, e.error);
  }
  // errors are divided by the largest one, since the square of 1e-200 underflows to 0
  const scale = Math.min(Number.MAX_VALUE, largest || 1);
  let variance = 0;
  let concentration = 0;
  for (const e of estimates) {
    const own = ((e.error / scale) * (e.evaluations / evaluations)) ** 2;
    variance += own;
    concentration += own ** 2 / (e.carriers ?? Infinity);
  }
  const error = Math.max(scale * Math.sqrt(variance), rounding);
  const carriers = concentration === 0 ? Infinity : variance ** 2 / concentration;
  const dof = Math.max(0, estimates.length - 1);
  const chi2 = chi2About(bestFit(estimates, value), estimates);
  const q = dof > 0 ? upperGamma(dof / 2, chi2 / 2) : 1;
  const combined: Combined = { value, error, evaluations, carriers, hidden, rounding, chi2, dof, q };
  // lattices are one estimate, whose points are added to (lattice/lattice.ts)
  const { randomError } = estimates.length === 1 ? estimates[0] : {};
  if (randomError !== undefined) combined.randomError = randomError;
  return combined;
}

/** The same for estimates of one result or several; `first` is the result whose members the average has itself. */
export function combineAll(estimates: readonly Estimate[], first: number): Combined {
  const count = estimates[0].results?.each.length;
  if (count === undefined) return combine(estimates);
  const each: Combined[] = [];
  for (let r = 0; r < count; r++) each.push(combine(estimates.map(e => e.results!.each[r])));
  return { ...each[first], results: { each, correlations: averageCorrelations(estimates, count) } };
}

/**
 * Correlations of the averages. Iterations are independent, so covariances add as variances do: with weight n/N,
 * cov = Σ (n/N)²·ρ·eᵣ·eₛ. Errors are divided by the largest one of their result, since squares of 1e-200 underflow.
 */
function averageCorrelations(estimates: readonly Estimate[], count: number): number[][] {
  let all = 0;
  for (const e of estimates) all += e.evaluations;
  const scaled: number[][] = [];
  for (let r = 0; r < count; r++) scaled.push(scaledErrors(estimates, r, all));
  return blocksIn(estimates[0].results!.correlations, count).map((block, b) => {
    const lists = estimates.map(e => e.results!.correlations[b]);
    const triangle: number[] = [];
    for (let i = 0; i < block.length; i++) {
      for (let j = 0; j < i; j++) {
        const own = scaled[block[i]];
        const other = scaled[block[j]];
        const at = packedIndex(i, j);
        let sum = 0;
        for (let n = 0; n < lists.length; n++) sum += lists[n][at] * own[n] * other[n];
        triangle.push(sum);
      }
      triangle.push(1);
    }
    return triangle;
  });
}

/** The errors of one result with the weights of their iterations, of `all` evaluations; their squares add up to 1. */
function scaledErrors(estimates: readonly Estimate[], result: number, all: number): number[] {
  const errors: number[] = [];
  let largest = -Infinity;
  for (const { results, evaluations } of estimates) {
    const error = results!.each[result].error * (evaluations / all);
    errors.push(error);
    largest = Math.max(largest, error);
  }
  largest ||= 1;
  let squares = 0;
  for (let n = 0; n < errors.length; n++) {
    errors[n] /= largest;
    squares += errors[n] * errors[n];
  }
  const norm = Math.sqrt(squares) || 1;
  for (let n = 0; n < errors.length; n++) errors[n] /= norm;
  return errors;
}

/** χ² is taken about the best fit, the mean by inverse variance, not about the average: only there it has dof degrees. */
function chi2About(fit: number, estimates: readonly Estimate[]): number {
  let chi2 = 0;
  for (const { value, error } of estimates) {
    const off = Math.abs(value - fit);
    // where they agree to rounding the error may be smaller than that, or 0
    if (!(off <= 1e-14 * Math.abs(fit))) chi2 += (off / error) ** 2;
  }
  return chi2;
}

/** The mean weighted by inverse variance; `otherwise` when an error is 0 or all are infinite. */
function bestFit(estimates: readonly Estimate[], otherwise: number): number {
  let smallest = Infinity;
  for (const { error } of estimates) smallest = Math.min(smallest, error);
  if (!(smallest > 0 && smallest < Infinity)) return otherwise;
  let total = 0;
  for (const { error } of estimates) total += (smallest / error) ** 2;
  let fit = 0;
  for (const { value, error } of estimates) fit += value * ((smallest / error) ** 2 / total);
  return fit;
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
