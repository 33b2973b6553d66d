/** What a region comes to, in plain JavaScript: the formulas of src/tasks/rules.ts, point by point. */
import { innerRange } from '../../src/integrand/inner-range.ts';
import { ruleFor } from '../../src/tasks/every-rule.ts';
import type { RegionTask } from '../../src/tasks/region.ts';

/** Every point of an orbit: all orders of the coordinates with all signs, each once. */
export function orbitOf(generator: readonly number[], dims: number): number[][] {
  const padded = [...generator, ...new Array<number>(dims - generator.length).fill(0)];
  const place = (left: number[]): number[][] =>
    left.length === 0
      ? [[]]
      : [...new Set(left)].flatMap(v =>
          place(left.toSpliced(left.indexOf(v), 1)).flatMap(rest =>
            v === 0
              ? [[0, ...rest]]
              : [
                  [v, ...rest],
                  [-v, ...rest],
                ],
          ),
        );
  return place(padded);
}

export interface RegionReference {
  value: number;
  error: number;
  /** The largest |f|, and that times the volume. */
  largest: number;
  size: number;
  /** How much it bends along each axis. */
  bends: number[];
  /** Rounding decides which of the two errors is taken. */
  shaky: boolean;
}

/** One region of a task. */
export function regionReference(
  task: RegionTask,
  region: number,
  f: (x: number[]) => number,
): RegionReference {
  const { ranges, count } = task;
  const rule = ruleFor(ranges.length, task.rule);
  const { dims, orbits, differences } = rule;
  const centre = ranges.map((_, d) => task.centres[d * count + region]);
  const half = ranges.map(([low, high], d) => ((high - low) / 2) * 2 ** -task.levels[d * count + region]);
  const volume = half.reduce((v, h) => v * 2 * h, 1);
  const innerRanges = ranges.map(innerRange);
  const known = new Map<string, number>(); // each point is evaluated once
  const at = (g: number[]) => {
    const x = g.map((gd, d) =>
      Math.max(innerRanges[d][0], Math.min(innerRanges[d][1], centre[d] + gd * half[d])),
    );
    const y = known.get(`${g}`) ?? f(x);
    known.set(`${g}`, y);
    return y;
  };
  const sums = orbits.map(o => orbitOf(o.generator, dims).reduce((s, g) => s + at(g), 0));
  const total = (weights: number[]) => sums.reduce((t, s, o) => t + weights[o] * s, 0);
  const value = total(orbits.map(o => o.weight));
  const nulls = orbits[0].nulls.map((_, r) => total(orbits.map(o => o.nulls[r])));
  const size = Math.max(...[...known.values()].map(Math.abs));
  let error = Math.abs(nulls[0]);
  let shaky = false;
  if (rule.error) {
    const most = nulls.slice(1).map((next, r) =>
      Math.max(
        ...orbits.map(({ nulls: own }) => {
          const scale = own[r] === 0 ? 100 : -own[r + 1] / own[r];
          const length = orbits.reduce(
            (t, o) => t + o.points * Math.abs(o.nulls[r + 1] + scale * o.nulls[r]),
            0,
          );
          return Math.abs(next + scale * nulls[r]) / length;
        }),
      ),
    );
    const [fall, calm, wild] = rule.error;
    const gaps = [most[1] - fall * most[0], most[2] - fall * most[1]];
    shaky = gaps.some(g => Math.abs(g) < 1e-13 * size);
    error = Math.min(...gaps) >= 0 ? calm * most[0] : wild * Math.max(...most);
  }
  const [inner, outer] = differences.map(o => orbits[o].generator[0]);
  const ratio = (outer / inner) ** 2;
  const bends = ranges.map((_, d) => {
    const pair = (a: number) => {
      const on = (v: number) => at(ranges.map((_, e) => (e === d ? v : 0)));
      return on(a) - 2 * on(0) + on(-a);
    };
    return Math.abs(ratio * pair(inner) - pair(outer));
  });
  return { value: volume * value, error: volume * error, largest: size, size: volume * size, bends, shaky };
}
