/** What is left of a budget after random points contradicted a claim is not spent on halving alone: the next ones need their part. */
import { expect, test } from 'vitest';
import { integrate } from '../../src/index.ts';

test.each([
  ['auto', 1e-3],
  ['pagani', 7e-4],
] as const)(
  '1/(x ln⁴ x) over [2, ∞) to 1e-3 is claimed by %s within 1e5 evaluations',
  async (method, relTol) => {
    const q = 3.9621431314153597;
    const r = await integrate(([x], { q }) => 1 / (x * Math.log(x) ** q), {
      params: { q },
      method,
      relTol,
      domain: [[2, Infinity]],
      maxEvaluations: 1e5,
    });
    const truth = Math.LN2 ** (1 - q) / (q - 1);
    expect(r.status).toBe('converged');
    expect(Math.abs(r.value / truth - 1)).toBeLessThan(1e-3);
  },
);
