/**
 * The catalogue against itself, in plain JavaScript: each function integrates to its truth, and has the values it
 * should at points worked out by hand, so that a slip of the pen in either cannot survive.
 */
import { describe, expect, it } from 'vitest';
import { kit } from '../../src/integrand/math/index.ts';
import { catalogue } from './catalogue.ts';
import type { Entry } from './entry.ts';
import { hard } from './hard.ts';
import {
  crowded,
  gauss,
  monteCarlo,
  piecewise,
  product,
  separable,
  symmetric,
  trapezoidal,
} from './quadrature.ts';

const all = [...catalogue, ...hard];
const find = (name: string): Entry => all.find(e => e.name === name)!;
const plain = (e: Entry) => (x: number[]) => e.f(x, e.params, kit);
const same = <T>(dims: number, rule: T): T[] => Array.from({ length: dims }, () => rule);

/** A way to integrate each function, and the relative error that it leaves. */
type Check = { within: number; by: (f: (x: number[]) => number, e: Entry) => number };
const along = (within: number, n: number, knots: number[], at = 0.45): Check => ({
  within,
  by: (f, e) => separable(f, same(e.dims, at), same(e.dims, piecewise(n, knots))),
});
const unit = gauss(12, [0, 1]);
const peak = [0, 0.4, 0.48, 0.5, 0.52, 0.6, 1];

const checks: Record<string, Check> = {
  f1_5: { within: 1e-10, by: f => product(f, same(5, gauss(9, [0, 1]))) },
  f1_6: { within: 1e-6, by: f => product(f, same(6, gauss(8, [0, 1]))) },
  // a wave of i radians needs the more nodes the larger i is
  f1_8: {
    within: 1e-3,
    by: f =>
      product(
        f,
        [3, 4, 5, 5, 6, 6, 7, 7].map(n => gauss(n, [0, 1])),
      ),
  },
  f2_3: along(1e-10, 20, peak),
  f2_6: along(1e-10, 20, peak),
  f3_3: { within: 1e-10, by: f => product(f, same(3, crowded(20))) },
  f3_5: { within: 1e-6, by: f => product(f, same(5, crowded(12))) },
  f3_8: { within: 5e-3, by: f => product(f, same(8, crowded(6))) },
  f4_3: along(1e-10, 20, peak),
  f4_5: along(1e-10, 20, peak),
  f4_8: along(1e-10, 20, peak),
  f5_5: along(1e-10, 12, [0, 0.5, 1]),
  f5_8: along(1e-10, 12, [0, 0.5, 1]),
  f6_6: along(1e-10, 12, [0, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1], 0.25),
  f7_8: { within: 1e-10, by: f => symmetric(f, 8, unit) },
  f8_8: { within: 1e-6, by: f => symmetric(f, 8, unit) },
  sine_exponential_2: { within: 1e-12, by: f => product(f, same(2, unit)) },
  linear_10: { within: 1e-12, by: f => symmetric(f, 10, gauss(3, [0, 1])) },
  cosine_10: along(1e-12, 12, [0, 1]),
  exponential_10: along(1e-12, 16, [0, 1]),
  roos_arnold_10: along(1e-12, 2, [0, 0.5, 1]),
  morokoff_caflisch_8: along(1e-4, 20, [0, 1e-8, 1e-6, 1e-4, 1e-2, 1]),
  gaussian_4: along(1e-10, 20, [0.3, 0.45, 0.5, 0.55, 0.7]),
  ridge_4: { within: 1e-3, by: f => symmetric(f, 4, gauss(20, [0, 1])) },
  // exact once the spacing resolves the narrowest direction of the Gaussian, of variance a/(2m + a²)
  path_integral_7: { within: 1e-2, by: f => product(f, same(7, trapezoidal(9, [-3, 3.3]))) },
  path_integral_infinite_7: { within: 1e-2, by: f => product(f, same(7, trapezoidal(9, [-3, 3.3]))) },
  fA_6: { within: 1e-3, by: f => symmetric(f, 6, gauss(12, [0, 10])) },
  fB_9: along(1e-10, 20, [-0.1, 0, 0.1], 0),
  special_4: { within: 1e-10, by: f => product(f, same(4, gauss(16, [0, 1]))) },
  skipping_1: { within: 1e-12, by: f => product(f, [piecewise(20, [0, 0.5, 0.9, 0.98])]) },
};

describe('plain JavaScript reproduces the truth', () => {
  for (const [name, { within, by }] of Object.entries(checks)) {
    it(`of ${name} to ${within}`, () => {
      const e = find(name);
      expect(Math.abs(by(plain(e), e) / e.truth! - 1)).toBeLessThan(within);
    });
  }

  for (const [name, n, most] of [
    ['asian_printed_16', 200_000, 0.02],
    ['asian_arithmetic_16', 200_000, 0.01],
    ['asian_geometric_16', 200_000, 0.01],
    ['oscillating_10', 10_000, 0.05],
    ['tabulated_6', 300_000, 0.01],
  ] as const) {
    it(`of ${name} within five standard errors, each under ${most}`, () => {
      const e = find(name);
      const { value, error } = monteCarlo(plain(e), e.domain, n);
      expect(error / Math.abs(e.truth!)).toBeLessThan(most);
      expect(Math.abs(value - e.truth!) / error).toBeLessThan(5);
    });
  }

  it('and no truth goes unchecked', () => {
    const unchecked = all.filter(e => e.truth !== undefined && !(e.name in checks)).map(e => e.name);
    expect(unchecked).toEqual([
      'asian_printed_16',
      'asian_arithmetic_16',
      'asian_geometric_16',
      'oscillating_10',
      'tabulated_6',
    ]);
  });
});

describe('plain JavaScript has the values worked out by hand', () => {
  const { PI, SQRT2, exp, sin, sqrt, log } = Math;
  const spots: [name: string, x: number[], value: number][] = [
    ['f2_3', same(3, 0.5), 2500 ** 3],
    ['f2_6', same(6, 0.52), 1250 ** 6],
    ['f4_8', same(8, 0.5), 1],
    ['f4_5', [0.5, 0.5, 0.54, 0.5, 0.5], exp(-1)],
    ['f6_6', same(6, 0.3), exp(13.5)],
    ['f6_6', [0.3, 0.3, 0.3, 0.7, 0.3, 0.3], 0],
    ['f6_6', [0.39, 0.49, 0.59, 0.69, 0.79, 0.89], exp(30.55)],
    ['f7_8', [1, 0, 0, 1, 0, 0, 0, 0], 2048],
    ['f8_8', [0, 0, 2, 0, 0, 0, 0, 0], 32768],
    ['roos_arnold_10', same(10, 1), 1024],
    ['gaussian_4', same(4, 0.5), (5000 / PI) ** 2],
    ['gaussian_4', [0.5, 0.51, 0.5, 0.49], (5000 / PI) ** 2 / exp(1)],
    ['fA_6', [1, 2, 3, 4, 5, 6], sin(21)],
    ['fB_9', same(9, 0), (100 / sqrt(2 * PI)) ** 9],
    ['fB_9', [0, 0, 0.01 * SQRT2, 0, 0, 0, 0, 0, 0], (100 / sqrt(2 * PI)) ** 9 / exp(1)],
    ['asian_printed_16', same(16, 0.5), 100 * exp(-0.05) * (exp(0.03) - 1)],
    ['asian_geometric_16', same(16, 0.5), 100 * exp(-0.05) * (exp((0.03 * 17) / 32) - 1)],
    ['path_integral_7', same(7, 0.5), PI ** -4 * exp(-0.5)],
    ['path_integral_7', [0.5, 0.5, 1.5, 0.5, 0.5, 0.5, 0.5], PI ** -4 * exp(-0.5 - 2 - 0.5)],
    ['escape_2', [0, 0], 200],
    ['escape_2', [1, 1], 2],
    ['incomplete_gamma_2', [1, 0.5], 1 - exp(-0.5)],
    ['incomplete_gamma_2', [2, 10], 1 - 11 * exp(-10)],
    ['skipping_1', [0.5], 0.5678916531194621], // Li2(1/2) − Li2(1/8)/9
    ['branches_3', [1, 1, 1], 0],
    ['branches_3', [-1, 1, 1], log(3)],
    ['branches_3', [0.5, -1, -1], -1],
    ['branches_3', [0.1, 0.1, 0.1], 1 / 0.28],
    ['branches_3', [-0.5, 0, 0.5], sin(-0.5)],
    ['branches_3', [-0.5, 0.5, 0], sin(-1)],
    ['branches_3', [0.5, 0, 0.6], exp(-1.22)],
    ['branches_3', [0.1, 0, 0.6], sqrt(0.63)],
    ['special_4', [0.25, 0.5, 0.75, 0.125], -0.11580545863115822], // by mpmath
  ];
  for (const [name, x, value] of spots) {
    it(`of ${name} at (${x.map(xi => Number(xi.toPrecision(3))).join(', ')})`, () => {
      expect(Math.abs(plain(find(name))(x) - value)).toBeLessThanOrEqual(1e-13 * Math.abs(value));
    });
  }
});
