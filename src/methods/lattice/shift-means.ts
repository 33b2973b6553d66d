/**
 * What lattices with random shifts have found: the mean of each shift, and the estimate that these make together.
 *
 * Shifts are independent and each mean is unbiased, so the value is their average, and its error s/√R, with s² the variance of R
 * means (with R − 1). The mean of R normal numbers over that error has Student's distribution with R − 1 degrees of freedom; the
 * error is multiplied by the number below which 68.27 % of it lie, as of a normal distribution below 1.
 *
 * The points of a shift are also a sample of the integrand, though not a random one. What random points would have for an error
 * is known as well, and with it how many pieces carry the variance: heavy tails show there, and not in a few shifts.
 */
import { blocksIn } from '../../tasks/correlation.ts';
import { PIECE } from '../../tasks/pieces.ts';
import { combineAll, type Estimate } from '../combine.ts';

export interface ShiftMeans {
  /** The iteration that the shifts are drawn in; log2 of the points of each shift. */
  iteration: number;
  log2: number;
  folded: boolean;
  /** The means of all shifts, for each result. */
  means: readonly (readonly number[])[];
  /** The estimate that the same points would be if they were random. */
  random: Estimate;
}

/**
 * Where one or two shifts have most of the variance, means have a heavy tail (a pole, a corner that few points meet), and further
 * shifts would have more of it: the error is multiplied by (kurtosis/MOST_KURTOSIS)². Of 32 normal numbers, 1.5 % have a larger one
 * than that; 32 shifts of which one carries everything have 31.
 */
const MOST_KURTOSIS = 5;

/** The factor by which the error of R means is multiplied: Cornish and Fisher's expansion; 4e-5 off for R = 8. */
export function studentFactor(shifts: number): number {
  const dof = shifts - 1;
  return 1 + 1 / (2 * dof) + 1 / (4 * dof ** 2) + 1 / (16 * dof ** 3);
}

/** The same shifts with as many points again, whose means are `more`. */
export function extended(now: ShiftMeans, more: ShiftMeans): ShiftMeans {
  return {
    ...now,
    log2: now.log2 + 1,
    means: now.means.map((own, r) => own.map((mean, i) => (mean + more.means[r][i]) / 2)),
    random: combineAll([now.random, more.random], 0),
  };
}

/** More shifts of as many points. */
export function withShifts(now: ShiftMeans, more: ShiftMeans): ShiftMeans {
  return {
    ...now,
    means: now.means.map((own, r) => [...own, ...more.means[r]]),
    random: combineAll([now.random, more.random], 0),
  };
}

/** The estimate of all results; `first` is the one whose members it has itself. */
export function estimateOf({ means, random }: ShiftMeans, first: number): Estimate {
  const each = means.map((own, r) => one(own, random.results?.each[r] ?? random));
  if (!random.results) return each[0];
  // means of all results are known, so all pairs cost nothing; results have one list for all where they were asked for
  const correlations = blocksIn(random.results.correlations, means.length).map(block =>
    block.flatMap((r, i) => block.slice(0, i + 1).map(s => (r === s ? 1 : correlation(means[r], means[s])))),
  );
  return { ...each[first], results: { each, correlations } };
}

function one(means: readonly number[], random: Estimate): Estimate {
  const value = meanOf(means);
  const { deviations, size } = deviationsOf(means);
  const squares = deviations.reduce((s, d) => s + d * d, 0);
  const square = squares / (means.length - 1) / means.length;
  const kurtosis =
    squares > 0 ? (means.length * deviations.reduce((s, d) => s + d ** 4, 0)) / squares ** 2 : 0;
  const rounding = random.rounding ?? 0;
  const factor = studentFactor(means.length) * Math.max(1, kurtosis / MOST_KURTOSIS) ** 2;
  const error = Math.max(factor * size * Math.sqrt(square), rounding);
  const { evaluations, carriers } = random;
  // trust.ts wants a quarter of the pieces as carriers, or 200. Here all points are spread alike, and half of the pieces have to carry
  // the variance: with a quarter, path integrals, whose tails are heavy, were low by 1.3 errors on average in 11 claims of 40 runs.
  const pieces = (2 * evaluations) / PIECE;
  return {
    value,
    error,
    evaluations,
    rounding,
    pieces,
    randomError: random.error,
    ...(carriers && { carriers }),
  };
}

const meanOf = (means: readonly number[]): number => means.reduce((s, m) => s + m / means.length, 0);

/** Deviations from the mean in units of the largest, since squares of 1e-200 underflow; and the largest. */
function deviationsOf(means: readonly number[]): { deviations: number[]; size: number } {
  const mean = meanOf(means);
  const size = means.reduce((m, v) => Math.max(m, Math.abs(v - mean)), 0);
  return { deviations: means.map(m => (size > 0 ? (m - mean) / size : 0)), size };
}

function correlation(a: readonly number[], b: readonly number[]): number {
  const [x, y] = [deviationsOf(a).deviations, deviationsOf(b).deviations];
  const product = (p: number[], q: number[]) => p.reduce((s, v, i) => s + v * q[i], 0);
  const norm = Math.sqrt(product(x, x) * product(y, y));
  return norm > 0 ? Math.max(-1, Math.min(1, product(x, y) / norm)) : 0;
}
