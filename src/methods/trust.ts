/**
 * Decides when a Monte Carlo estimate is not trusted, and words the warning; for the VEGAS family, lattices and ZMC.
 *
 * χ² detects iterations that disagree. It does not detect weights with a heavy tail, where every iteration finds too
 * small a value with too small an error. Then a few pieces carry the variance, and more samples would raise it. So the
 * effective number of pieces that carry the variance, (Σ vᵢ)² / Σ vᵢ² (see combine.ts), has to be large enough for a
 * claim. Path integrals on 14 and 16 steps have 1 to 50 carriers however many samples they get
 * (tests/truth/tails.test.ts). Without a limit most claims on them were low by 3 to 12 errors; with a limit of 100, 3 of 240
 * were made, by 7 to 20 errors; with 200, none. The other integrands of the papers have at least 200 carriers when they claim.
 */
import { PIECE } from '../tasks/pieces.ts';
import { type Combined, type Estimate, ratio } from './combine.ts';
import type { Ledger } from './ledger.ts';
import { goalsOf, type MethodProblem, type Nearest } from './method.ts';
import { ofResult } from './several-estimates.ts';

/**
 * An estimate whose χ² would be exceeded with a smaller probability than this is not trusted. One of many results has a small Q by
 * chance: the limit is for all goals together.
 */
const SMALLEST_Q = 1e-3;
export const smallestQ = (problem: MethodProblem): number => SMALLEST_Q / goalsOf(problem).length;

/** Pieces that should carry the variance of a claim. */
const CARRIERS = 200;
/**
 * Small runs have few pieces; for them this part of the pieces is enough. Pieces, not samples, are counted: 4,370 samples in
 * cubes of two are 2,185 pieces, and m-Cubes on path integrals of 10 steps with 20 carriers in each of five such iterations
 * was low by 3 errors.
 */
const CARRYING_PART = 1 / 4;
/** An estimate with less than this part of the carriers that it should have is not trusted. */
const MIN_CARRIED = 0.3;

/** The number of carriers divided by the number that there should be; `now` is what the estimates combine to. */
function carried(estimates: readonly Estimate[], now: Combined): number {
  const pieces = estimates.reduce((n, e) => n + (e.pieces ?? e.evaluations / PIECE), 0);
  const most = Math.max(estimates.length, CARRYING_PART * pieces);
  return now.carriers / Math.min(CARRIERS, most);
}

/**
 * The error of a claim: with only a part c < 1 of the carriers that there should be, error/c². Under a heavy tail an estimate
 * that is low by chance has a small error as well, and a run that waits for a small error waits for that chance. Of 200 seeds,
 * m-Cubes on path integrals of 10 steps claims 5 % for 20, with a mean pull of −0.7 and a deviation of 1.2; with a limit of 100
 * carriers, one per 1,024 samples in small runs, these were −1.6 and 2 over 60 seeds (_trial_).
 */
export function claimedError(estimates: readonly Estimate[], now: Combined): number {
  return now.error / Math.min(1, carried(estimates, now)) ** 2;
}

/**
 * How many times the samples a claim takes, if carriers grow with the samples: error/√t/(c·t)² reaches the tolerance, or error/√t
 * does once there are enough carriers.
 */
export function samplesFor(estimates: readonly Estimate[], now: Combined, tolerance: number): number {
  const c = Math.min(1, carried(estimates, now));
  const times = (now.error / tolerance) ** 2;
  return times >= 1 / c ? times : (now.error / tolerance / c ** 2) ** 0.4;
}

/** Whether the estimates of all goals agree (χ²) and enough pieces carry their variance; `now` is what they combine to. */
export function believable(problem: MethodProblem, estimates: readonly Estimate[], now: Combined): boolean {
  const least = smallestQ(problem);
  return goalsOf(problem).every(g => {
    const own = ofResult(now, g);
    const each = estimates.map(e => ofResult(e, g));
    return own.q >= least && carried(each, own) >= MIN_CARRIED;
  });
}

/** The warning for estimates of a goal that disagree; null when those of all goals agree. It opens with the words `who`. */
export function disagreement(problem: MethodProblem, now: Combined, who: string): string | null {
  const goal = goalsOf(problem).find(g => ofResult(now, g).q < smallestQ(problem));
  if (goal === undefined) return null;
  const { chi2, dof } = ofResult(now, goal);
  const { several } = problem;
  return `${several ? `${several.names[goal]}: ` : ''}${who} ${ratio(chi2, dof)}): the error is larger than it says; raise maxEvaluations`;
}

/**
 * With an absTol, 0 is claimed after this many samples, evenly spread, all of which were 0. Without one there is no
 * tolerance that 0 could meet, and the search goes on. What is missed lies in less than 3/2^16 of the domain in 95 % of all
 * runs.
 */
export const ZERO_SAMPLES = 2 ** 16;

/** Without a single value other than 0 after this many samples, the search for one ends. */
export const MAX_ZERO_SAMPLES = 2 ** 24;

/** Whether enough samples were 0, and no other was seen, to claim 0. */
export const isZeroClaim = (
  { absTol }: MethodProblem,
  { evaluations }: Ledger,
  { seen, nonFinite }: { seen: boolean; nonFinite: boolean },
): boolean => !seen && !nonFinite && absTol > 0 && evaluations >= ZERO_SAMPLES;

/** The same for one of several results, which may be 0 everywhere, and for an integrand that is constant as far as samples tell. */
export const zeroSamplesOfOne = ({ maxEvaluations }: MethodProblem): number =>
  Math.min(ZERO_SAMPLES, maxEvaluations / 4);

/**
 * Whether the samples of a goal were all equal, so that its error is rounding: nothing but their number says what they may have missed. A shelf
 * on 1.4e-4 of [0, 1] was missed by 29,435 samples, and 1.0000000000000(2) was claimed.
 */
export const isConstant = (problem: MethodProblem, now: Combined): boolean =>
  goalsOf(problem).some(g => {
    const { error, rounding = 0 } = ofResult(now, g);
    return error > 0 && error <= rounding;
  });

/**
 * The least error of a claim, for what steps may hide. Where f is constant in parts, samples of a stratum agree, and its
 * variance is 0, also when a step crosses the stratum beside all of its samples. Such a step hides about spread/N of the
 * integral. Where f is smooth the error is about smooth = spread/(strata per axis·√(12·N)); with an error below SUSPICIOUS of
 * that, a claim has an error of HIDDEN·spread/N at least. A map may have made weights constant on both sides of a step: where the
 * error is next to nothing, below FLAT·largest/N, the largest spread that was ever met counts. In one dimension the estimates say
 * how much a step may hide between parts where f is not constant (jumps.ts).
 */
export function hiddenError(
  now: Combined,
  { spread, largest, perAxis }: { spread: number; largest: number; perAxis: number },
): number {
  const smooth = spread / (perAxis * Math.sqrt(12 * now.evaluations));
  const constant = now.error <= SUSPICIOUS * smooth ? (HIDDEN * spread) / now.evaluations : 0;
  const flat = now.error <= (FLAT * largest) / now.evaluations ? largest / now.evaluations : 0;
  const step = now.hidden > FAR_ABOVE * now.error ? now.hidden : 0;
  return Math.max(step, constant, flat);
}
const SUSPICIOUS = 0.02;
const HIDDEN = 15;
const FLAT = 1e-4;
/** The Jacobian of a map has steps too, at the edges of its bins: an error that is not far below them has seen them. */
const FAR_ABOVE = 3;

/**
 * The same for lattices: a few times spread/N, with spread the standard deviation of the weights, √N times the error of N random points.
 * A step of height J hides up to about 3J/N, and J is many times the spread where it is the side of a narrow shelf (a shelf on
 * 0.4 % of [0, 1]: 6.8 errors off with once spread/N). In more than two dimensions such a shelf has corners, which points of some shifts
 * meet and those of others miss.
 */
export const hiddenBetweenPoints = (randomError: number, evaluations: number, dims: number): number =>
  ((dims <= 2 ? STEPS_ON_PLANES : STEPS) * randomError) / Math.sqrt(evaluations);
const STEPS_ON_PLANES = 15;
const STEPS = 3;

/**
 * For each goal, the least error of a claim for what lies closer to singular ends than samples come (ends/end-excess.ts). Where |f|
 * grows as s^−a with a > 1/2 towards an end, the variance is infinite: the error that is measured says nothing, and the mean of N
 * samples deviates by about what lies beyond the last of them, N^−(1 − a), as sums of variables with heavy tails do.
 * `endPart`: the part of the samples beside an end that have the density of the nearest.
 */
export async function unseenAtEnds(
  problem: MethodProblem,
  nearest: Nearest,
  samples: number,
  endPart: number,
): Promise<number[]> {
  const unseen: number[] = [];
  for (const g of goalsOf(problem))
    unseen[g] = UNSEEN * ((await problem.unseen?.(nearest, samples, g, endPart)) ?? 0);
  return unseen;
}
const UNSEEN = 2;

export const FEW_SAMPLES =
  'a few samples carry most of the variance: a peak may be missed; raise maxEvaluations or narrow the domain';

export const HIDDEN_STEP =
  'the integrand is constant in parts or has a step: what lies beside all samples near a step may exceed the tolerance; raise maxEvaluations, or cut the range at the step';

export const BETWEEN_POINTS =
  'the error is below what a step may hide between the points of all shifts, and is not claimed; raise maxEvaluations, or use another method';

export const STEEP_ENDS =
  'the integrand grows so fast towards an end of its range that what lies closer to it than samples come may exceed the tolerance; substitute a variable that removes the singularity, or raise maxEvaluations';

export const MISSED =
  'samples spread evenly over the domain met values that the measurement had missed: there is another peak; raise maxEvaluations or cut the domain';

/** The warning for an estimate of 0 with error 0. `seen`: a sample other than 0 was met before the measurement. */
export function nothingSeen(seen: boolean, evaluations: number): string {
  const samples = seen ? 'measured sample' : `one of ${evaluations} samples`;
  return `every ${samples} was 0: either the integrand is 0, or it is not where the samples were; narrow the domain or raise maxEvaluations`;
}
