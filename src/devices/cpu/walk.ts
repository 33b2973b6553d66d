/** A cubature rule in the form that the evaluator takes: a walk through its points, and weights by slot. */
import { nullCombinations, pointsOf, type Rule } from '../../tasks/rules.ts';

export interface Walk {
  slots: number;
  /** The slot of each point. */
  slot: Uint16Array;
  /** Changes of coordinates on the way to point i have the numbers from starts[i] to starts[i + 1] − 1 in `axis` and `value`. */
  starts: Uint32Array;
  axis: Uint8Array;
  value: Float64Array;
  /** The weights of the rule and of its null rules, by slot. */
  weights: Float64Array;
  nulls: Float64Array[];
  /** The candidates in the plane of each two successive null rules; see nullCombinations. */
  pairs: { scale: number[]; norm: number[] }[];
  coefficients: readonly [number, number, number] | null;
  /** The first slots of the two orbits with one slot per axis, and (outer generator / inner generator)². */
  inner: number;
  outer: number;
  ratio: number;
}

const walks = new Map<Rule, Walk>();

export function walkOf(rule: Rule): Walk {
  const walk = walks.get(rule) ?? makeWalk(rule);
  walks.set(rule, walk);
  return walk;
}

function makeWalk(rule: Rule): Walk {
  const { dims, orbits, differences } = rule;
  const slot: number[] = [];
  const starts = [0];
  const axis: number[] = [];
  const value: number[] = [];
  const weightOf: { weight: number; nulls: readonly number[] }[] = [];
  const first = orbits.map(orbit => {
    const own = weightOf.length;
    const split = differences.includes(orbits.indexOf(orbit));
    for (let n = split ? dims : 1; n > 0; n--) weightOf.push(orbit);
    return own;
  });
  let at: number[] = Array(dims).fill(0);
  orbits.forEach((orbit, o) => {
    const split = differences.includes(o);
    for (const point of pointsOf(orbit, dims)) {
      point.forEach((g, d) => {
        if (g === at[d]) return;
        axis.push(d);
        value.push(g);
      });
      at = point;
      starts.push(axis.length);
      slot.push(first[o] + (split ? point.findIndex(g => g !== 0) : 0));
    }
  });
  const [inner, outer] = differences;
  return {
    slots: weightOf.length,
    slot: Uint16Array.from(slot),
    starts: Uint32Array.from(starts),
    axis: Uint8Array.from(axis),
    value: Float64Array.from(value),
    weights: Float64Array.from(weightOf, w => w.weight),
    nulls: orbits[0].nulls.map((_, r) => Float64Array.from(weightOf, w => w.nulls[r])),
    pairs: nullCombinations(rule),
    coefficients: rule.error,
    inner: first[inner],
    outer: first[outer],
    ratio: (orbits[outer].generator[0] / orbits[inner].generator[0]) ** 2,
  };
}
