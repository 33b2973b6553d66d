/**
 * What the numbers of a device cost, in the outcome of a run. A device in float32 measures how far its values are from those of float64
 * (`noise` of its session); the error of a result includes that, and where the tolerance asks for more, the run ends with `roundoff`.
 */
import { type MethodProblem, type Outcome, type Several, toleranceAt } from './methods/method.ts';
import { withErrors } from './methods/raised-errors.ts';

/**
 * A claim's error may be the tolerance itself, since methods stop there. Noise below this part of the tolerance does not take the claim
 * back: it would make the error larger by 5 % at most.
 */
const NEGLIGIBLE_NOISE = 1 / 3;

/** The outcome with the noise of each result as a part of its error. `ended`: the run was ended because of it (noise-watch.ts). */
export function withNoise(
  outcome: Outcome,
  noise: readonly number[],
  problem: Pick<MethodProblem, 'relTol' | 'absTol'>,
  several?: Several,
  ended = false,
): Outcome {
  const { values, errors } = outcome.several ?? { values: [outcome.value], errors: [outcome.error] };
  if (values.length > noise.length) return outcome;
  const larger = errors.map((error, r) => {
    const both = Math.hypot(error, noise[r]);
    const tolerance = toleranceAt(problem, values[r], r);
    return error <= tolerance && noise[r] <= NEGLIGIBLE_NOISE * tolerance ? Math.min(both, tolerance) : both;
  });
  const own: Outcome = outcome.several
    ? {
        ...outcome,
        error: larger[several?.goals[0] ?? 0],
        several: withErrors(outcome.several, larger),
      }
    : { ...outcome, error: larger[0] };
  const goals = several?.goals ?? [0];
  const missed = goals.find(g => larger[g] > toleranceAt(problem, values[g], g));
  const { status } = outcome;
  const atFloor = status === 'converged' || status === 'roundoff' || (ended && status === 'budget');
  if (!atFloor || missed === undefined) return own;
  const warning = `the device computes in float32, which leaves an error of ${noise[missed].toPrecision(2)}; use device: 'cpu', or a larger tolerance`;
  return { ...own, status: 'roundoff', warnings: [...outcome.warnings, warning] };
}
