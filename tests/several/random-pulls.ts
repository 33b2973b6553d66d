/**
 * Pulls of several results with random parameters: two or three integrands of the generator of claims (tests/claims) as one with as
 * many results, by a random method, from a random seed. If errors and covariances C are true, then of the deviations δ from the truths
 *
 *     δᵢ/errorᵢ       the pull of a result has mean 0 and deviation 1;
 *     δ(a/b)/error    so has that of a ratio, whose error comes from the covariance through `of`;
 *     δᵀ C⁻¹ δ / n    is 1 in the mean for n results: the scatter is that of the covariance, in all directions.
 *
 * Runs with a warning claim nothing: they are counted and left out. In one of four trials map or tree learn from one result. Results
 * that a map does not learn from may have weights with heavy tails, and small runs do not know their errors: they are
 * counted apart.
 */
import type { Integrand, IntegrateOptions, Result } from '../../src/index.ts';
import { integrate } from '../../src/index.ts';
import type { Params } from '../../src/integrand/params.ts';
import { Draw } from '../claims/draw.ts';
import { exampleOf } from '../claims/kind.ts';
import { joined, PAIRED } from '../claims/several.ts';

export const PULLED = ['plain', 'mcubes', 'vegas+', 'zmc'] as const;
export type Pulled = (typeof PULLED)[number];

/** Methods with a map that learns. */
const MAPPED: readonly Pulled[] = ['mcubes', 'vegas+'];
const MAX_DIMS = 4;
const BUDGETS = [1e4, 3e4, 1e5];

export interface PullTrial {
  name: string;
  f: Integrand<number[]>;
  truths: readonly number[];
  options: IntegrateOptions & { dims: number; params: Params };
}

/** Trial `number` of a method. Features fill at least 2 % of the domain, so that 1e4 samples know their variance. */
export function pullTrial(method: Pulled, number: number): PullTrial {
  const draw = new Draw(
    Math.imul(number + 1, 0x27d4eb2f) ^ Math.imul(PULLED.indexOf(method) + 1, 0x9e3779b1),
    {
      tame: true,
    },
  );
  const dims = 1 + draw.below(MAX_DIMS);
  const kinds = PAIRED.filter(k => k.dims.includes(dims));
  const examples = Array.from({ length: 2 + draw.below(2) }, () => exampleOf(draw.pick(kinds), draw, dims));
  const { f, params } = joined(examples);
  return {
    name: `${method}, ${examples.map(e => e.kind).join(' and ')} in ${dims}, trial ${number}`,
    f,
    truths: examples.map(e => e.truth),
    options: {
      dims,
      params,
      method,
      seed: number,
      relTol: draw.pick([0, 1e-2, 1e-3]),
      maxEvaluations: draw.pick(BUDGETS),
      device: 'cpu:1',
      ...(draw.chance(0.25) && { learnFrom: draw.below(examples.length) }),
    },
  };
}

export interface PullSums {
  runs: number;
  warned: number;
  pulls: number[];
  ratios: number[];
  /** Pulls of results that the map does not learn from. */
  unled: number[];
  /** δᵀ C⁻¹ δ / n of each run whose C is not singular, and the n. */
  distances: { own: number; results: number }[];
  /** Results that are off by more than 5 errors. */
  wrong: string[];
}

/** Trials first … first + count − 1 of a method. */
export async function pullsOf(method: Pulled, first: number, count: number): Promise<PullSums> {
  const all: PullSums = { runs: 0, warned: 0, pulls: [], ratios: [], unled: [], distances: [], wrong: [] };
  for (let number = first; number < first + count; number++) {
    const { name, f, truths, options } = pullTrial(method, number);
    const r = await integrate(f, options);
    all.runs++;
    if (r.warnings.length > 0) {
      all.warned++;
      continue;
    }
    const deltas = truths.map((truth, i) => r.value[i] - truth);
    if (!r.error.every(e => e > 0)) continue;
    const pulls = deltas.map((d, i) => d / r.error[i]);
    const led = (i: number) => !MAPPED.includes(method) || (options.learnFrom ?? i) === i;
    pulls.forEach((pull, i) => {
      (led(i) ? all.pulls : all.unled).push(pull);
      if (Math.abs(pull) > 5 && led(i)) all.wrong.push(`${name}, result ${i}: ${pull.toFixed(1)} errors`);
    });
    if (!pulls.every((_, i) => led(i))) continue;
    // where the denominator is 0 within a few errors, a ratio has no error to first order
    if (Math.abs(r.value[1]) > 20 * r.error[1]) {
      const ratio = r.of(v => v[0] / v[1]);
      all.ratios.push((ratio.value - truths[0] / truths[1]) / ratio.error);
    }
    const distance = distanceOf(pulls, r);
    if (distance !== null) all.distances.push({ own: distance / truths.length, results: truths.length });
  }
  return all;
}

/** pᵀ R⁻¹ p with R the correlations, by their Cholesky factors; null where R is nearly singular. */
function distanceOf(pulls: readonly number[], r: Result<number[]>): number | null {
  const correlations = r.correlation();
  const lower: number[][] = [];
  const solved: number[] = [];
  for (const [i, pull] of pulls.entries()) {
    lower.push([]);
    let rest = pull;
    for (let j = 0; j < i; j++) {
      let c = correlations[i][j];
      for (let k = 0; k < j; k++) c -= lower[i][k] * lower[j][k];
      lower[i].push(c / lower[j][j]);
      rest -= lower[i][j] * solved[j];
    }
    const pivot = 1 - lower[i].reduce((s, l) => s + l * l, 0);
    if (pivot < 1e-6) return null;
    lower[i].push(Math.sqrt(pivot));
    solved.push(rest / Math.sqrt(pivot));
  }
  return solved.reduce((s, v) => s + v * v, 0);
}

export function moments(list: readonly number[]): { mean: number; deviation: number } {
  const mean = list.reduce((a, b) => a + b, 0) / list.length;
  return { mean, deviation: Math.sqrt(list.reduce((s, v) => s + (v - mean) ** 2, 0) / (list.length - 1)) };
}
