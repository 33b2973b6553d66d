/**
 * What a step hides in one dimension. A stratum that a step crosses beside all of its k samples looks constant: its variance
 * is 0, and the integral is off by up to about J/(C·k), with J the height of the step in the weights and C the number of
 * strata. Where the integrand is smooth elsewhere the error is far smaller, ∝ (C·k)^(−3/2): cut exponentials were up to 1e5
 * errors off. In more dimensions a step crosses many strata, and does not pass beside the samples of all of them.
 *
 * The step shows in the means of strata: those to its left differ from those to its right by J, and less among each other.
 * With k samples a step hides more than x·J/(C·k) with a probability of (2/k)·e^(−x): 5 errors of STEP·J/(C·k) are exceeded
 * once in 10,000 runs that have a step, for k = 10.
 */
const STEP = 1.5;

/** The height of the largest step: the part of a difference of neighbours that exceeds twice the differences beside it. */
export function largestJump(means: Float64Array): number {
  let most = 0;
  let [before, here] = [0, 0];
  for (let i = 0; i + 1 < means.length; i++) {
    const after = Math.abs(means[i + 1] - means[i]);
    // `here` is between the strata i − 1 and i, `before` and `after` are the differences on both sides of it
    most = Math.max(most, here - 2 * (before + after));
    [before, here] = [here, after];
  }
  return Math.max(most, here - 2 * before);
}

/** What a step may hide, in the unit of the means, if every stratum has at least `samples` samples. */
export const hiddenBy = (means: Float64Array, samples: number): number =>
  (STEP * largestJump(means)) / (means.length * samples);
