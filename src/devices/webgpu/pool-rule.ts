/** A cubature rule and a box as the kernel of a pool takes them (kernels/pool-regions.ts). */
import type { Ranges } from '../../tasks/region.ts';
import { nullCombinations, pointsOf, type Rule } from '../../tasks/rules.ts';
import { exponentOf, innerRange32, toFloat32 } from './float32.ts';
import { AXIS, POOL_THREADS, type PoolVariant, ruleLayout } from './kernels/pool-regions.ts';

/** Rules with more points have a workgroup per region: one thread would take a millisecond for it on a fast GPU. */
const MAX_POINTS_ALONE = 3000;

export interface PoolRule {
  variant: PoolVariant;
  /** The points in the kernel's order, in half-widths. */
  points: readonly (readonly number[])[];
  /** The rule's buffer for a box. */
  table(ranges: Ranges): Uint32Array;
  /** Coordinates of points: numbers where a thread is alone, else the number of each coordinate in a list, one byte per axis. */
  offsets: Float32Array | Uint32Array;
}

const made = new WeakMap<Rule, [PoolRule | null, PoolRule | null]>();

/** `loops`: the integrand has loops, so that a single point may take long. */
export function poolRule(rule: Rule, loops: boolean): PoolRule {
  const known = made.get(rule) ?? [null, null];
  made.set(rule, known);
  const alone = !loops && rule.points <= MAX_POINTS_ALONE;
  known[Number(alone)] ??= lay(rule, alone);
  return known[Number(alone)]!;
}

function lay(rule: Rule, alone: boolean): PoolRule {
  const { dims, orbits, differences } = rule;
  const [near, far] = differences;
  const byOrbit = orbits.map(o => pointsOf(o, dims));
  const others = orbits.map((_, i) => i).filter(i => i > 0 && i !== near && i !== far);
  const onAxes = Array.from({ length: dims }, (_, d) =>
    [near, far].flatMap(o => byOrbit[o].slice(2 * d, 2 * d + 2)),
  ).flat();
  const points = [...byOrbit[0], ...onAxes, ...others.flatMap(i => byOrbit[i])];
  let end = 1 + onAxes.length;
  const combinations = rule.error ? nullCombinations(rule) : [];
  const variant: PoolVariant = {
    dims,
    lanes: alone ? 1 : POOL_THREADS,
    farthest: points.reduce((most, point) => Math.max(most, ...point), 0),
    ends: others.map(i => {
      end += byOrbit[i].length;
      return end;
    }),
    nulls: orbits[0].nulls.length,
    ratio: (orbits[far].generator[0] / orbits[near].generator[0]) ** 2,
    candidates: combinations.map(c => c.scale.length),
    grades: rule.error,
    rounding: Math.sqrt(orbits.reduce((sum, o) => sum + o.points * o.weight ** 2, 0)),
  };
  const coordinates = alone ? [] : [...new Set([0, ...points.flat()])];
  const rows = Math.ceil(dims / 4);
  const offsets = alone ? new Float32Array(4 * rows * points.length) : new Uint32Array(rows * points.length);
  points.forEach((point, p) => {
    point.forEach((x, d) => {
      if (alone) offsets[4 * rows * p + d] = x;
      else offsets[rows * p + (d >> 2)] |= coordinates.indexOf(x) << (8 * (d & 3));
    });
  });
  const weights = [near, far, ...others].flatMap(i => {
    const { weight, nulls } = orbits[i];
    return [weight, ...nulls, Math.abs(weight)];
  });
  const pairs = combinations.flatMap(({ scale, norm }) => scale.flatMap((s, j) => [s, norm[j]]));
  const at = ruleLayout(variant);
  return {
    variant,
    points,
    offsets,
    table(ranges) {
      const words = new Uint32Array(at.coordinates + coordinates.length);
      const floats = new Float32Array(words.buffer);
      ranges.forEach(([low, high], d) => words.set(axisWords(low, high), AXIS.WORDS * d));
      floats.set(weights, at.weights);
      floats.set(pairs, at.pairs);
      floats.set(coordinates, at.coordinates);
      return words;
    },
  };
}

/** An axis of the box. Its ends are integers of 62 bits in units of the power of 2 that neither exceeds. */
function axisWords(low: number, high: number): Uint32Array {
  const power = exponentOf(Math.max(Math.abs(low), Math.abs(high))) + 1;
  const integer = (x: number) => BigInt.asUintN(64, BigInt(Math.round(x * 2 ** -power * 2 ** 62)));
  const words = new Uint32Array(AXIS.WORDS);
  const floats = new Float32Array(words.buffer);
  const [first, last] = innerRange32(low, high);
  floats[AXIS.FIRST] = first;
  floats[AXIS.LAST] = last;
  floats[AXIS.RANGE] = toFloat32(high - low);
  for (const [at, x] of [
    [AXIS.LOW, integer(low)],
    [AXIS.WIDTH, integer(high - low)],
  ] as const) {
    words[at] = Number(x & 0xffffffffn);
    words[at + 1] = Number(x >> 32n);
  }
  words[AXIS.POWER] = power;
  return words;
}
