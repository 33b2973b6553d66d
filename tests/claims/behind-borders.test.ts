import { describe, expect, test } from 'vitest';
import { integrate } from '../../src/index.ts';
import { absent } from '../cuda/emulated.ts';
import { CUT_BEHIND, cutBehind, cutOff } from './behind-borders.ts';

describe.each([
  ['pagani', 'cpu', false],
  ['cuhre', 'cpu', false],
  ['pagani', 'cuda:0', absent],
] as const)(
  '%s on %s: a claim is true where the integrand ends just behind a border',
  (method, device, skipped) => {
    test.skipIf(skipped).each(CUT_BEHIND.flatMap(off => [1e-3, 1e-4].map(relTol => [off, relTol])))(
      '%d behind it, to %d',
      async (off, relTol) => {
        const { params, truth } = cutBehind(off);
        const r = await integrate(cutOff, { dims: 4, params, method, device, relTol, maxEvaluations: 3e6 });
        expect(r.status).toBe('converged');
        expect(Math.abs(r.value / truth - 1)).toBeLessThanOrEqual(relTol);
      },
    );
  },
);
