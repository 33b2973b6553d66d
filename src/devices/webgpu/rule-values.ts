/** Integrals over regions by a cubature rule, in float64 on the calling thread: what values of the GPU are compared with. */
import { innerRange } from '../../integrand/inner-range.ts';
import { ruleFor } from '../../tasks/every-rule.ts';
import type { RegionTask } from '../../tasks/region.ts';
import { pointsOf, type Rule } from '../../tasks/rules.ts';

/** A rule as lists of numbers: all first coordinates of its points in half-widths, then all second ones; and their weights. */
interface RuleLists {
  offsets: Float64Array;
  weights: Float64Array;
}

const lists = new WeakMap<Rule, RuleLists>();

/** The lists of a rule, which are kept: making them took as long as evaluating 8 regions. */
function listsOf(rule: Rule): RuleLists {
  const known = lists.get(rule);
  if (known) return known;
  const { orbits, points: n, dims } = rule;
  const made = { offsets: new Float64Array(dims * n), weights: new Float64Array(n) };
  let p = 0;
  for (const orbit of orbits)
    for (const point of pointsOf(orbit, dims)) {
      for (let d = 0; d < dims; d++) made.offsets[d * n + p] = point[d];
      made.weights[p++] = orbit.weight;
    }
  lists.set(rule, made);
  return made;
}

/** Errors of the rule are not computed: they would take most of the time. Values that are not finite count as 0. */
export function ruleValues(
  { rule: name, ranges, count, centres, levels }: RegionTask,
  regions: readonly number[],
  evaluate: (points: Float64Array, n: number) => Float64Array,
): number[] {
  const rule = ruleFor(ranges.length, name);
  const { points: n, dims } = rule;
  const { offsets, weights } = listsOf(rule);
  const all = regions.length * n;
  const points = new Float64Array(dims * all);
  const volumes = new Float64Array(regions.length).fill(1);
  for (let d = 0; d < dims; d++) {
    const [low, high] = ranges[d];
    const [first, last] = innerRange(ranges[d]);
    for (let i = 0; i < regions.length; i++) {
      const at = d * count + regions[i];
      const centre = centres[at];
      const half = ((high - low) / 2) * 2 ** -levels[at];
      volumes[i] *= 2 * half;
      const [from, to] = [d * n, d * all + i * n];
      for (let p = 0; p < n; p++) {
        const x = centre + offsets[from + p] * half;
        points[to + p] = x < first ? first : x > last ? last : x;
      }
    }
  }
  const values = evaluate(points, all);
  return regions.map((_, i) => {
    let sum = 0;
    for (let p = 0; p < n; p++) {
      const value = values[i * n + p];
      if (Math.abs(value) < Infinity) sum += weights[p] * value;
    }
    return volumes[i] * sum;
  });
}
