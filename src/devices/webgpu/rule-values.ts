/** Integrals over regions by a cubature rule, in float64 on the calling thread: what values of the GPU are compared with. */
import { innerRange } from '../../integrand/inner-range.ts';
import type { EvaluatePoints } from '../../tasks/evaluate.ts';
import { ruleFor } from '../../tasks/every-rule.ts';
import type { RegionTask } from '../../tasks/region.ts';
import { pointsOf } from '../../tasks/rules.ts';

/** Errors of the rule are not computed: they would take most of the time. Values that are not finite count as 0. */
export async function ruleValues(
  { rule: name, ranges, count, centres, levels }: RegionTask,
  regions: readonly number[],
  evaluate: EvaluatePoints,
): Promise<number[]> {
  const { orbits, points: n } = ruleFor(ranges.length, name);
  const offsets = orbits.map(orbit => pointsOf(orbit, ranges.length));
  const weights = Float64Array.from(offsets.flatMap((own, o) => own.map(() => orbits[o].weight)));
  const all = offsets.flat();
  const inner = ranges.map(innerRange);
  const points = new Float64Array(ranges.length * n);
  const found: number[] = [];
  for (const region of regions) {
    let volume = 1;
    ranges.forEach(([low, high], d) => {
      const centre = centres[d * count + region];
      const half = ((high - low) / 2) * 2 ** -levels[d * count + region];
      const [first, last] = inner[d];
      volume *= 2 * half;
      for (let p = 0; p < n; p++)
        points[d * n + p] = Math.max(first, Math.min(last, centre + all[p][d] * half));
    });
    const values = await evaluate(points, n);
    let sum = 0;
    for (let p = 0; p < n; p++) if (Math.abs(values[p]) < Infinity) sum += weights[p] * values[p];
    found.push(volume * sum);
  }
  return found;
}
