/**
 * What steps may hide of several results in one dimension (jumps.ts). The means of strata, in which steps show, are those of a single
 * result; so each goal is sampled once more in a pass of its own, over the same points.
 */
import type { SampleTask } from '../../tasks/sample.ts';
import type { Estimate } from '../combine.ts';
import { hiddenByDensity } from '../jumps.ts';
import { inPass, passOf } from '../result-passes.ts';
import type { SampleRunner } from './sample-runner.ts';

/** An estimate with what steps may hide of each goal. `task` is what it comes from, `least` the samples that each stratum has at least. */
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
