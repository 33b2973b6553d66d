/**
 * The truths of the generator against plain Monte Carlo in JavaScript, with 1e5 samples per draw. Draws are tame: features
 * fill at least 2 % of the domain and squares are integrable, so that the deviation of the samples says how far off the
 * mean may be. The formulas are the same for all draws.
 */
import { describe, expect, test } from 'vitest';
import type { Range } from '../../src/integrand/domain.ts';
import { kit } from '../../src/integrand/math/index.ts';
import { uniform } from '../integrands/points.ts';
import { Draw } from './draw.ts';
import { between, cutOff, onGrid, quantile } from './half-spaces.ts';
import { type Example, exampleOf } from './kind.ts';
import { ends } from './kinds/ends.ts';
import { kinds } from './kinds/index.ts';
import { moreKinds } from './kinds/more/index.ts';

const SAMPLES = 1e5;
const DRAWS = 3;

/**
 * A sample u in (0, 1) becomes a coordinate and dx/du. Finite ranges are sampled evenly, or by x ∝ u²(3 − 2u), which is
 * dense at the ends, where integrands may be singular; infinite ones by |x| = exp(t) − 1 with t = v/(1 − v), which serves
 * logarithmic tails too.
 */
function place([from, to]: Range, u: number, singular: boolean): { x: number; slope: number } {
  const width = to - from;
  if (Number.isFinite(width))
    return singular
      ? { x: from + width * u * u * (3 - 2 * u), slope: 6 * u * (1 - u) * width }
      : { x: from + width * u, slope: width };
  const both = from === -Infinity && to === Infinity;
  const v = both ? Math.abs(2 * u - 1) : u;
  const t = v / (1 - v);
  const away = Math.expm1(t);
  const slope = ((both ? 2 : 1) * (away + 1)) / (1 - v) ** 2;
  if (both) return { x: u < 0.5 ? -away : away, slope };
  return { x: to === Infinity ? from + away : to - away, slope };
}

function monteCarlo({ kind, f, domain, params }: Example, seed: number): { value: number; error: number } {
  const next = uniform(seed);
  const x = domain.map(() => 0);
  const singular = ends.some(e => e.name === kind);
  let [sum, squares] = [0, 0];
  for (let i = 0; i < SAMPLES; i++) {
    let weight = 1;
    for (let d = 0; d < x.length; d++) {
      const at = place(domain[d], next(), singular);
      x[d] = at.x;
      weight *= at.slope;
    }
    const y = f(x, params, kit);
    // beyond exp(709) the slope is infinite and the integrand 0
    const value = y === 0 || !Number.isFinite(weight) ? 0 : y * weight;
    sum += value;
    squares += value * value;
  }
  const mean = sum / SAMPLES;
  return { value: mean, error: Math.sqrt((squares / SAMPLES - mean * mean) / (SAMPLES - 1)) };
}

/** Densities over infinite ranges take too many samples in more dimensions. */
const FURTHER_DIMS = 4;
const further = moreKinds.map(k => ({ ...k, dims: k.dims.filter(d => d <= FURTHER_DIMS) }));

describe.each([...kinds, ...further].map(k => [k.name, k] as const))('%s', (_, kind) => {
  test.each(kind.dims)(`in %i dimensions: ${DRAWS} truths are within 5 errors of 1e5 samples`, dims => {
    for (let seed = 1; seed <= DRAWS; seed++) {
      const symmetric = kind.symmetric && seed === DRAWS;
      const example = exampleOf(kind, new Draw(100 * dims + seed, { tame: true, symmetric }), dims);
      const { value, error } = monteCarlo(example, seed);
      const pull = (value - example.truth) / error;
      expect(Math.abs(pull), `${value} ± ${error}, truth ${example.truth}`).toBeLessThan(5);
    }
  });
});

describe('a symmetric draw', () => {
  test.each(kinds.filter(k => k.symmetric).map(k => [k.name, k] as const))(
    '%s is the same when coordinates change places',
    (_, kind) => {
      const dims = Math.min(3, Math.max(...kind.dims));
      const next = uniform(5);
      for (let seed = 1; seed <= 20; seed++) {
        const { f, params, domain } = exampleOf(kind, new Draw(seed, { symmetric: true }), dims);
        const x = domain.map(range => place(range, 0.01 + 0.8 * next(), false).x);
        const [one, two] = [f(x, params, kit), f([...x].reverse(), params, kit)];
        expect(Math.abs(one - two)).toBeLessThanOrEqual(1e-9 * Math.abs(one));
      }
    },
  );
});

describe('volumes that planes cut off', () => {
  test('x + y + z < 1 is a sixth, < 1.5 a half; the hinge 1 − x − y has 1/6', () => {
    expect(cutOff([1, 1, 1], 1)).toBeCloseTo(1 / 6, 15);
    expect(cutOff([1, 1, 1], 1.5)).toBe(0.5);
    expect(cutOff([1, 1], 1, 1)).toBeCloseTo(1 / 6, 15);
  });
  test('in 8 dimensions: thin slabs add up to the whole, and a quantile is one to 1e-5', () => {
    const draw = new Draw(4);
    const n = Array.from({ length: 8 }, () => onGrid(draw.between(-1, 1)));
    const cuts = Array.from({ length: 101 }, (_, i) => onGrid(-8 + (16 * i) / 100));
    const sum = cuts.slice(1).reduce((s, c, i) => s + between(n, cuts[i], c), 0);
    expect(Math.abs(sum - 1)).toBeLessThan(1e-14);
    for (const part of [1e-4, 0.3, 0.999]) expect(cutOff(n, quantile(n, part))).toBeCloseTo(part, 5);
  });
});
