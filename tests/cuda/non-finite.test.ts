/** Values that are not finite in the last halving before a claim: looks that find nothing to look at report them no second time. */
import { expect, test } from 'vitest';
import { integrate } from '../../src/index.ts';
import { absent } from './emulated.ts';

test.skipIf(absent)(
  'a NaN at the centre of a half whose other values are 0 is reported, and the claim stands',
  async () => {
    const f = (x: number[]) => (x[0] > 0.5 ? 2 : x[0] === 0.25 ? NaN : 0);
    for (const dims of [1, 2, 3])
      for (const device of ['cuda', 'cpu']) {
        const options = { dims, device, relTol: 1e-3, check: false, onNonFinite: 'zero' } as const;
        const r = await integrate(f, { ...options, method: 'pagani' });
        expect(r.status, `${dims} dimensions, ${device}`).toBe('converged');
        // with several dimensions points of witnesses' models lie on that plane as well
        expect(r.warnings.join()).toMatch(
          dims === 1 ? /^1 value was not finite/ : /^\d+ values were not finite/,
        );
        expect(Math.abs(r.value - 1)).toBeLessThanOrEqual(Math.max(r.error, 1e-3));
      }
  },
);
