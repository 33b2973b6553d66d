/** Integrals that are 0 because their halves cancel: no relative tolerance is met by 0, and no budget helps. */
import { expect, test } from 'vitest';
import { ball, integrate } from '../../src/index.ts';

const SQUARE = [
  [-1, 1],
  [-1, 1],
] as const;
const WARNING = '0 is within the error, and meets no relative tolerance: set absTol if the integral may be 0';
const product = ([x, y]: number[]) => x * y;

test.each([
  ['a square', SQUARE],
  ['a disk whose centre is on an axis', ball(2, 2, { centre: [1, 0] })],
])('xy over %s ends at the rounding error, not with the budget of 1e9, and says why', async (_, domain) => {
  const r = await integrate(product, { domain });
  expect(r.status).toBe('roundoff');
  expect(Math.abs(r.value)).toBeLessThanOrEqual(r.error);
  expect(r.error).toBeLessThan(1e-12);
  expect(r.evaluations).toBeLessThan(2e7);
  expect(r.warnings).toEqual([WARNING]);
});

test('absTol is the cure', async () => {
  const r = await integrate(product, { domain: SQUARE, absTol: 1e-9 });
  expect([r.status, r.warnings]).toEqual(['converged', []]);
});

test('a value that is small beside ∫ |f|, and not 0, is found', async () => {
  // xy has the integral 0, and 1e-9 is added
  const r = await integrate(([x, y]) => x * y + 2.5e-10, { domain: SQUARE, relTol: 1e-3 });
  expect(r.status).toBe('converged');
  expect(Math.abs(r.value - 1e-9)).toBeLessThanOrEqual(r.error);
});
