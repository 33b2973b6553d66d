/**
 * Whether errors and covariances of several results are true: pulls of all results and of functions of them over 200 seeds, and
 * covariances against the scatter of 500 runs. Truths are closed forms.
 */
import { describe, expect, test } from 'vitest';
import { type CommonOptions, integrate } from '../../src/index.ts';
import { kit } from '../../src/integrand/math/index.ts';

/** Mean and standard deviation. */
function moments(list: readonly number[]): { mean: number; deviation: number } {
  const mean = list.reduce((a, b) => a + b, 0) / list.length;
  return { mean, deviation: Math.sqrt(list.reduce((s, v) => s + (v - mean) ** 2, 0) / (list.length - 1)) };
}

const covarianceOf = (a: readonly number[], b: readonly number[]): number => {
  const [ma, mb] = [moments(a).mean, moments(b).mean];
  return a.reduce((s, v, i) => s + (v - ma) * (b[i] - mb), 0) / (a.length - 1);
};

/** A Gaussian of width 1/√10 in the corner: its norm and the first two moments of x. */
const peak = ([x, y]: number[]) => {
  const g = Math.exp(-10 * (x * x + y * y));
  return { norm: g, moment: { first: x * g, second: x * x * g } };
};
const half = (Math.sqrt(Math.PI / 10) / 2) * kit.erf(Math.sqrt(10));
const first = (1 - Math.exp(-10)) / 20;
const second = (half - Math.exp(-10)) / 20;
const PEAK = { norm: half * half, moment: { first: first * half, second: second * half } };

/** The sine and cosine of one angle: with weights of both signs. */
const waves = ([x, y, z]: number[]) => [Math.cos(2 * x + y * z), Math.sin(2 * x + y * z) ** 2, x * y * z];
const WAVES = [wave(a => Math.cos(a)), wave(a => Math.sin(a) ** 2), 1 / 8];

/** ∫∫∫ f(2x + yz) by Gauss–Legendre with 20 points per axis, which for these is exact to 1e-15. */
function wave(f: (angle: number) => number): number {
  const { nodes, weights } = gauss(20);
  let sum = 0;
  for (const [i, x] of nodes.entries())
    for (const [j, y] of nodes.entries())
      for (const [k, z] of nodes.entries()) sum += weights[i] * weights[j] * weights[k] * f(2 * x + y * z);
  return sum;
}

/** Nodes and weights on [0, 1], by Newton's method on Legendre polynomials. */
function gauss(n: number): { nodes: number[]; weights: number[] } {
  const nodes: number[] = [];
  const weights: number[] = [];
  for (let i = 1; i <= n; i++) {
    let x = Math.cos((Math.PI * (i - 0.25)) / (n + 0.5));
    let slope = 0;
    for (let turn = 0; turn < 100; turn++) {
      let [p0, p1] = [1, x];
      for (let k = 2; k <= n; k++) [p0, p1] = [p1, ((2 * k - 1) * x * p1 - (k - 1) * p0) / k];
      slope = (n * (x * p1 - p0)) / (x * x - 1);
      x -= p1 / slope;
    }
    nodes.push((1 + x) / 2);
    weights.push(1 / ((1 - x * x) * slope * slope));
  }
  return { nodes, weights };
}

const SEEDS = 200;

describe.each(['vegas+', 'mcubes'] as const)('%s', method => {
  const run = async <S>(
    f: (x: number[]) => S,
    dims: number,
    seed: number,
    more: Partial<CommonOptions> = {},
  ) => integrate(f, { dims, method, seed, relTol: 1e-2, maxEvaluations: 1e5, device: 'cpu:1', ...more });

  test(`pulls of three results and of their ratios over ${SEEDS} seeds: mean 0 ± 0.2, deviation 0.85 to 1.2`, async () => {
    const pulls: Record<string, number[]> = {};
    const note = (name: string, value: number, error: number, truth: number) => {
      pulls[name] ??= [];
      pulls[name].push((value - truth) / error);
    };
    for (let seed = 1; seed <= SEEDS; seed++) {
      const r = await run(peak, 2, seed);
      note('norm', r.value.norm, r.error.norm, PEAK.norm);
      note('first', r.value.moment.first, r.error.moment.first, PEAK.moment.first);
      note('second', r.value.moment.second, r.error.moment.second, PEAK.moment.second);
      const mean = r.of(v => v.moment.first / v.norm);
      note('mean', mean.value, mean.error, PEAK.moment.first / PEAK.norm);
      const variance = r.of(v => v.moment.second / v.norm - (v.moment.first / v.norm) ** 2);
      note(
        'variance',
        variance.value,
        variance.error,
        PEAK.moment.second / PEAK.norm - (PEAK.moment.first / PEAK.norm) ** 2,
      );
      const w = await run(waves, 3, seed);
      WAVES.forEach((truth, i) => {
        note(`wave ${i}`, w.value[i], w.error[i], truth);
      });
      const ratio = w.of(v => v[0] / v[2]);
      note('ratio of waves', ratio.value, ratio.error, WAVES[0] / WAVES[2]);
    }
    for (const [name, list] of Object.entries(pulls)) {
      const { mean, deviation } = moments(list);
      expect(Math.abs(mean), `${name}: mean ${mean}`).toBeLessThan(0.2);
      expect(deviation, name).toBeGreaterThan(0.85);
      expect(deviation, name).toBeLessThan(1.2);
    }
  });

  test('covariances are those of the scatter of 500 runs, within 4 standard deviations', async () => {
    const runs = 500;
    const values: number[][] = [[], [], []];
    const reported = Array.from({ length: 3 }, () => [0, 0, 0]);
    for (let seed = 1; seed <= runs; seed++) {
      const vegas = { evaluations: 1000, iterations: 8, adapt: 4 };
      const r = await run(peak, 2, seed, { vegas, relTol: 0, absTol: 0 });
      [r.value.norm, r.value.moment.first, r.value.moment.second].forEach((v, i) => {
        values[i].push(v);
        for (let j = 0; j < 3; j++) reported[i][j] += r.covariance(i, j) / runs;
      });
    }
    for (let i = 0; i < 3; i++)
      for (let j = 0; j <= i; j++) {
        const own = covarianceOf(values[i], values[j]);
        const [vi, vj] = [covarianceOf(values[i], values[i]), covarianceOf(values[j], values[j])];
        // the variance of a sample covariance of normal numbers is (vi·vj + cov²)/(n − 1)
        const margin = 4 * Math.sqrt((vi * vj + own * own) / (runs - 1));
        expect(Math.abs(reported[i][j] - own), `${i}, ${j}: ${reported[i][j]} is ${own}`).toBeLessThan(
          margin,
        );
      }
    expect(reported[1][0] / Math.sqrt(reported[0][0] * reported[1][1])).toBeGreaterThan(0.3); // far from 0: it matters
  });
});
