/**
 * An integrand that is 0 everywhere, or wherever samples fall. With an `absTol`, 0 is claimed after 2^16 samples that were all
 * 0; without one nothing is claimed.
 */
import { type Integrand, integrate } from 'quadrille';
import { describe, expect, test } from 'vitest';

const zero: Integrand = () => 0;
const FEW = 4 * 2 ** 16;

describe.each(['plain', 'vegas+', 'mcubes', 'mcubes1d', 'zmc'] as const)('%s', method => {
  test.each([1, 3, 10])('0 in %i dimensions to an absTol of 1e-9: claimed', async dims => {
    const r = await integrate(zero, { dims, method, absTol: 1e-9 });
    expect([r.value, r.error, r.status, r.warnings]).toEqual([0, 1e-9, 'converged', []]);
    expect(r.evaluations).toBeGreaterThanOrEqual(2 ** 16);
    // zmc makes its trials before anything else: 32 samples in each of up to 2^14 blocks, five times
    expect(r.evaluations).toBeLessThan(method === 'zmc' ? 4e6 : FEW);
  });
  test('with relTol 0 as well', async () => {
    const r = await integrate(zero, { dims: 2, method, absTol: 1e-9, relTol: 0 });
    expect([r.value, r.status]).toEqual([0, 'converged']);
  });
  test('without an absTol: not claimed, with a warning', async () => {
    const r = await integrate(zero, { dims: 2, method, maxEvaluations: 1e6 });
    expect([r.value, r.error, r.converged]).toEqual([0, 0, false]);
    expect(r.warnings.join()).toMatch(/was 0/);
  });
  test('a budget of less than 2^16: not claimed', async () => {
    const r = await integrate(zero, { dims: 2, method, absTol: 1e-9, maxEvaluations: 2 ** 16 - 1 });
    expect([r.value, r.converged]).toEqual([0, false]);
    expect(r.warnings.join()).toMatch(/was 0/);
  });
  test('values that are not finite and count as 0: not claimed', async () => {
    const nan: Integrand = ([x]) => (x > 0.5 ? Math.sqrt(-x) : 0);
    const r = await integrate(nan, {
      dims: 2,
      method,
      absTol: 1e-9,
      onNonFinite: 'zero',
      maxEvaluations: 3e5,
    });
    expect([r.value, r.converged]).toEqual([0, false]);
  });
  test('a ball of a 2000th of the domain is found, 20 seeds of 20', async () => {
    const ball: Integrand = ([x, y]) => ((x - 0.3) ** 2 + (y - 0.6) ** 2 < 1.6e-4 ? 1 : 0);
    for (let seed = 1; seed <= 20; seed++) {
      const r = await integrate(ball, {
        dims: 2,
        method,
        absTol: 1e-5,
        relTol: 0,
        maxEvaluations: 4e5,
        seed,
      });
      expect(Math.abs(r.value - Math.PI * 1.6e-4), `seed ${seed}`).toBeLessThan(4.5 * r.error);
      expect(r.value).toBeGreaterThan(0);
    }
  });
});
