/**
 * Weights with a heavy tail: most of the integral is in samples that are rarely seen, and a run that has not seen them finds
 * too little with too small an error, in every iteration alike. χ² says nothing; that few samples carry the variance does.
 * Path integrals in plain positions are so: neighbours hang together, and a map sees each axis apart.
 */
import { type Integrand, integrate, type Result } from 'quadrille';
import { describe, expect, test } from 'vitest';
import { applications } from '../integrands/applications.ts';
import { discretePropagator } from '../integrands/closed-forms.ts';
import { pullsOf } from './statistics.ts';

const SEEDS = 20;
const { f: path, params } = applications.find(e => e.name === 'path_integral_7')!;
const off = (r: Result, truth: number) => Math.abs(r.value - truth) / r.error;

describe.each(['vegas+', 'auto'] as const)('%s: path integrals', method => {
  test.each([
    [12, 5e-2],
    [14, 5e-2],
    [16, 5e-2],
    [16, 3e-1],
  ])('on %i steps to %d: no claim, and no error without a warning, is false', async (N, relTol) => {
    const truth = discretePropagator(params, N);
    const domain = Array.from({ length: N - 1 }, () => [-5, 5] as const);
    for (let seed = 1; seed <= SEEDS; seed++) {
      const options = { method, domain, params, relTol, maxEvaluations: 3e6, seed } as const;
      const r = await integrate(path as Integrand, options);
      if (r.converged || r.warnings.length === 0) expect(off(r, truth), `seed ${seed}`).toBeLessThan(5);
      if (r.converged) expect(Math.abs(r.value / truth - 1)).toBeLessThan(relTol);
    }
  });
});

test('plain: of a log-normal weight too, and it spends what it was given', async () => {
  const f: Integrand = (u, p, { erfinv }) =>
    Math.exp(p.s * Math.SQRT2 * erfinv(2 * u[0] - 1) - p.s ** 2 / 2) * (u[1] + 0.5);
  for (let seed = 1; seed <= SEEDS; seed++) {
    const options = { method: 'plain', dims: 2, params: { s: 4 }, maxEvaluations: 1e6, seed } as const;
    const r = await integrate(f, options);
    expect(r.converged).toBe(false);
    expect(r.evaluations).toBeGreaterThan(0.99e6);
    if (r.warnings.length === 0) expect(off(r, 1), `seed ${seed}`).toBeLessThan(5);
    else expect(r.warnings[0]).toMatch(/few samples carry most of the variance|iterations disagree/);
  }
});

// A run that has not met the tail looks like one of an integrand without, so claims are low; by −2.4 errors with half of the carriers.
test.each([
  ['mcubes', 8, 2e-2, -1],
  ['mcubes', 10, 5e-2, -1],
  ['vegas+', 10, 2e-2, -1],
] as const)(
  '%s on %i steps to %d: claims of 40 seeds have a mean pull above %d, none is off by 5 errors',
  async (method, N, relTol, least) => {
    const truth = discretePropagator(params, N);
    const domain = Array.from({ length: N - 1 }, () => [-5, 5] as const);
    const claims: Result[] = [];
    for (let seed = 1; seed <= 40; seed++) {
      const r = await integrate(path as Integrand, {
        method,
        domain,
        params,
        relTol,
        maxEvaluations: 3e6,
        seed,
      });
      if (r.converged) claims.push(r);
    }
    expect(claims.length).toBeGreaterThan(0);
    const { mean, worst } = pullsOf(claims, truth);
    expect(mean).toBeGreaterThan(least);
    expect(worst).toBeLessThan(5);
    for (const r of claims) expect(Math.abs(r.value / truth - 1)).toBeLessThan(3 * relTol);
  },
);
