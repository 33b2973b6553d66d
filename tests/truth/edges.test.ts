/**
 * Steps that cut cubes at their corners: such a cube may look constant while the strata are learned, and must not keep its
 * few samples, and its error with them, when a measurement has many more (tasks/strata.ts).
 */
import { type Integrand, integrate } from 'quadrille';
import { expect, test } from 'vitest';
import { pullsOf } from './statistics.ts';

const ball: Integrand = (x: number[]) => (x.reduce((s, v) => s + (v - 0.5) ** 2, 0) < 0.16 ? 1 : 0);
const truth = ((8 * Math.PI ** 2) / 15) * 0.4 ** 5;

test.each([
  [3e-3, 4e5],
  [1e-3, 4e6],
])('vegas+: a ball in 5 dimensions to %d within %d evaluations, and true', async (relTol, maxEvaluations) => {
  const all = [];
  for (let seed = 1; seed <= 30; seed++)
    all.push(await integrate(ball, { dims: 5, method: 'vegas+', relTol, maxEvaluations, seed }));
  expect(all.filter(r => r.converged).length).toBeGreaterThanOrEqual(28);
  const { mean, deviation, worst } = pullsOf(all, truth);
  expect(Math.abs(mean)).toBeLessThan(0.6);
  expect(deviation).toBeLessThan(1.4);
  expect(worst).toBeLessThan(4.5);
});
