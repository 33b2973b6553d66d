/** `auto` with several results: judged by all goals. */
import { expect, test } from 'vitest';
import { integrate } from '../../src/index.ts';

/** A quarter of a disc of radius √0.7. */
const DISC = (Math.PI * 0.7) / 4;

test('two smooth results in three dimensions: the pilot of pagani reaches the tolerance of both', async () => {
  const r = await integrate(([x, y, z]) => ({ re: Math.cos(x + y + z), im: Math.sin(x + y + z) }), {
    dims: 3,
    relTol: 1e-9,
  });
  expect([r.status, r.choice]).toEqual(['converged', 'pagani: its pilot reached the tolerance']);
  const [c, s] = [Math.sin(1), 1 - Math.cos(1)]; // (e^i − 1)/i = c + i·s, to the third power
  expect(Math.abs(r.value.re - (c ** 3 - 3 * c * s * s))).toBeLessThan(1e-9);
  expect(Math.abs(r.value.im - (3 * c * c * s - s ** 3))).toBeLessThan(1e-9);
});

test('many dimensions: vegas+ takes both results, with their correlation', async () => {
  const f = (x: number[]) => {
    let s = 0;
    for (let i = 0; i < 16; i++) s += x[i];
    return [s, s * s];
  };
  const r = await integrate(f, { dims: 16, relTol: 1e-3 });
  expect([r.converged, r.method]).toEqual([true, 'vegas+']);
  expect(Math.abs(r.value[0] - 8)).toBeLessThan(5 * r.error[0]);
  expect(Math.abs(r.value[1] - (64 + 16 / 12))).toBeLessThan(5 * r.error[1]);
});

test('one smooth result and one that is hard: the hard one decides how long it takes, and both are true', async () => {
  const f = ([x, y]: number[]) => ({ smooth: Math.exp(x + y), disc: x * x + y * y < 0.7 ? 1 : 0 });
  const r = await integrate(f, { dims: 2, relTol: 1e-3 });
  expect(r.converged).toBe(true);
  expect(Math.abs(r.value.disc - DISC)).toBeLessThan(Math.max(5 * r.error.disc, 1e-3 * DISC));
  expect(Math.abs(r.value.smooth - (Math.E - 1) ** 2)).toBeLessThan(Math.max(5 * r.error.smooth, 1e-3));
  const goal = await integrate(f, { dims: 2, relTol: 1e-3, goals: 'smooth' });
  expect(goal.converged).toBe(true);
  expect(goal.evaluations).toBeLessThan(r.evaluations);
});

test('not within the budget: both errors are reported, and cover the truth', async () => {
  const f = ([x, y, z]: number[]) => [x * y * z < 0.05 ? 1 : 0, x + y * z < 0.6 ? 1 : 0];
  const r = await integrate(f, { dims: 3, relTol: 1e-7, maxEvaluations: 3e5 });
  expect(r.converged).toBe(false);
  // ∫∫ min(1, 0.05/(xy)) = t·(1 + L + L²/2) with L = −ln t
  const [t, L] = [0.05, -Math.log(0.05)];
  expect(Math.abs(r.value[0] - t * (1 + L + (L * L) / 2))).toBeLessThan(5 * r.error[0]);
  // ∫₀^0.6 a·(1 − ln a) da with a = 0.6 − x is [a²/2·(3/2 − ln a)] at 0.6
  expect(Math.abs(r.value[1] - 0.18 * (1.5 - Math.log(0.6)))).toBeLessThan(5 * r.error[1]);
  expect(r.evaluations).toBeLessThanOrEqual(3e5);
});
