/**
 * What a step hides. A stratum that a step crosses beside all of its k samples looks constant: its variance is 0, and the
 * integral is off by up to about J/(C·k), with J the height of the step in the weights and C the number of strata. In one
 * dimension the error is far smaller than that where the integrand is smooth elsewhere, ∝ (C·k)^(−3/2): cut exponentials were up
 * to 1e5 errors off. In more dimensions a step crosses many strata. It passes beside the samples of all of them where it is
 * parallel to a face, and J/(C·k) is the same, since C·k is the number of all samples.
 *
 * The step shows in the means of strata: those to its left differ from those to its right by J, and less among each other.
 * With k samples a step in one dimension hides more than x·J/(C·k) with a probability of (2/k)·e^(−x): 5 errors of STEP·J/(C·k)
 * are exceeded once in 10,000 runs that have a step, for k = 10.
 */
import type { SampleTask } from '../tasks/sample.ts';
import type { Estimate } from './combine.ts';
import { inPass, passOf } from './result-passes.ts';
import type { SampleRunner } from './vegas/sample-runner.ts';

const STEP = 1.5;

/**
 * The height of the largest step: the part of a difference of neighbours that exceeds twice the differences beside it. Plain loops: with a
 * function per line, passes of ZMC in 9 dimensions took as long for this as a card for their samples.
 */
export function largestJump(means: Float64Array, perAxis = means.length): number {
  let most = 0;
  for (let stride = 1; stride < means.length; stride *= perAxis) {
    const next = perAxis * stride;
    for (let first = 0; first < means.length; first += next)
      for (let line = first; line < first + stride; line++) {
        let before = 0;
        let here = 0;
        for (let at = line + stride; at < line + next; at += stride) {
          const after = Math.abs(means[at] - means[at - stride]);
          const jump = here - 2 * (before + after);
          if (jump > most) most = jump;
          before = here;
          here = after;
        }
        if (here - 2 * before > most) most = here - 2 * before;
      }
  }
  return most;
}

/** What a step may hide, in the unit of the means, if every one of perAxis^dims strata has at least `samples` samples. */
export const hiddenBy = (means: Float64Array, samples: number, perAxis?: number): number =>
  (STEP * largestJump(means, perAxis)) / (means.length * samples);

/**
 * The same in one dimension for means of f·J with J the Jacobian of a map, `jacobians` its mean in each stratum. The Jacobian has steps at
 * the edges of bins, so steps are looked for in means of f: mean/J. A constant beside other results, for which the map has
 * learned, has none.
 */
export function hiddenByDensity(means: Float64Array, jacobians: Float64Array, samples: number): number {
  const densities = means.map((m, i) => m / jacobians[i]);
  const step = (i: number) => (i > 0 && i < densities.length ? Math.abs(densities[i] - densities[i - 1]) : 0);
  let most = 0;
  for (let i = 1; i < densities.length; i++) {
    const height = step(i) - 2 * (step(i - 1) + step(i + 1));
    most = Math.max(most, height * Math.max(jacobians[i - 1], jacobians[i]));
  }
  return (STEP * most) / (means.length * samples);
}

/**
 * The same for several results: an estimate with what steps may hide of each goal. The means of strata that a task returns are those of
 * one result, so each goal is sampled once more in a pass of its own, over the same points. `task` is what the estimate comes from.
 */
export async function withSteps(
  estimate: Estimate,
  goals: readonly number[],
  runner: SampleRunner,
  task: SampleTask,
  edges: Float64Array,
  least: number,
): Promise<Estimate> {
  const units = runner.units.state.units!;
  const each = [...estimate.results!.each];
  const jacobians = meanJacobians(edges, task.strata[0]);
  for (const g of goals) {
    const { means } = await runner.sumsOf(inPass({ ...task, cubes: true }, passOf([g], units, [g])));
    each[g] = { ...each[g], hidden: hiddenByDensity(means!, jacobians, least) * units[g] };
  }
  return { ...estimate, results: { ...estimate.results!, each } };
}

/** The mean Jacobian of the map of one axis in each of so many strata. */
function meanJacobians(edges: Float64Array, strata: number): Float64Array {
  const bins = edges.length - 1;
  const at = (stratum: number) => {
    const t = (stratum / strata) * bins;
    const bin = Math.min(bins - 1, Math.floor(t));
    return edges[bin] + (t - bin) * (edges[bin + 1] - edges[bin]);
  };
  return Float64Array.from({ length: strata }, (_, i) => strata * (at(i + 1) - at(i)));
}
