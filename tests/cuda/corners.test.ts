/** The look along all axes on a card: corners where an integrand is singular, as tests/claims/corners.test.ts has them for the host. */
import { expect, test } from 'vitest';
import { integrate } from '../../src/index.ts';
import { cornerTruth } from '../claims/corner-truth.ts';
import { absent } from './emulated.ts';

test.skipIf(absent)(
  '(x₁ + … + x₅)^−p is claimed truly, with as many evaluations as on the host within a third',
  async () => {
    const corner = (x: number[], p: { p: number }) => {
      let s = 0;
      for (const xi of x) s += xi;
      return s ** -p.p;
    };
    for (const p of [1.2, 1.5, 1.7, 1.9]) {
      const truth = cornerTruth(5, p);
      for (const relTol of [1e-3, 3e-4, 1e-4]) {
        const run = (device: string) =>
          integrate(corner, { dims: 5, params: { p }, method: 'pagani', relTol, device });
        const [card, host] = [await run('cuda:0'), await run('cpu')];
        expect(card.status).toBe('converged');
        expect(Math.abs(card.value - truth), `p ${p}, relTol ${relTol}`).toBeLessThanOrEqual(
          Math.max(card.error, relTol * truth),
        );
        expect(Math.abs(card.evaluations / host.evaluations - 1)).toBeLessThan(1 / 3);
      }
    }
  },
);
