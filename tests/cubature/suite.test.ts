/** PAGANI's eight integrands at 1e-3/5^k, while 2e6 evaluations suffice: what is claimed is true. */
import { describe, expect, test } from 'vitest';
import { integrate } from '../../src/index.ts';
import { suite } from '../integrands/suite.ts';

const methods = ['cuhre', 'two-phase', 'pagani'] as const;

/** How many tolerances each method reaches within 2e6 evaluations, in the order of `methods`. */
const REACHED: Record<string, [number, number, number]> = {
  f1_5: [7, 2, 7],
  f1_6: [2, 0, 2],
  f1_8: [0, 0, 0],
  f2_3: [9, 8, 8],
  f2_6: [0, 0, 0],
  f3_3: [9, 9, 9],
  f3_5: [7, 6, 7],
  f3_8: [0, 0, 0],
  f4_3: [9, 3, 9],
  f4_5: [1, 0, 1],
  f4_8: [0, 0, 0],
  f5_5: [3, 2, 3],
  f5_8: [0, 0, 0],
  f6_6: [0, 0, 0],
  f7_8: [2, 2, 2],
  f8_8: [4, 4, 4],
};

describe.each(suite)('$name', ({ name, dims, f, truth }) => {
  test.each(methods.map((m, i) => [m, REACHED[name][i]] as const))(
    '%s: %i tolerances or more are reached, the true error within each; past them it is within the reported one',
    async (method, reached) => {
      let k = 0;
      for (; k < 9; k++) {
        const relTol = 1e-3 / 5 ** k;
        const r = await integrate(f as never, {
          dims,
          method,
          relTol,
          maxEvaluations: 2e6,
          cubature: { witnesses: 0 },
        });
        const off = Math.abs(r.value - truth!);
        expect(r.evaluations).toBeLessThanOrEqual(2e6);
        if (r.converged) {
          expect(r.error).toBeLessThanOrEqual(relTol * Math.abs(r.value));
          expect(off, `${method} at ${relTol}`).toBeLessThanOrEqual(relTol * Math.abs(truth!));
        } else {
          expect(['budget', 'memory', 'roundoff']).toContain(r.status);
          expect(r.error).toBeGreaterThan(relTol * Math.abs(r.value));
          expect(off, `${method} at ${relTol}`).toBeLessThanOrEqual(r.error);
          break;
        }
      }
      expect(k).toBeGreaterThanOrEqual(reached);
    },
  );
});

test.each([
  ['cuhre', 17479911],
  ['pagani', 27760000],
] as const)('f6 at 1e-3 with %s: %i evaluations at most, and true', async (method, most) => {
  const { f, dims, truth } = suite.find(e => e.name === 'f6_6')!;
  const r = await integrate(f as never, {
    dims,
    method,
    relTol: 1e-3,
    maxEvaluations: most,
    cubature: { witnesses: 0 },
  });
  expect(r.status).toBe('converged');
  expect(Math.abs(r.value / truth! - 1)).toBeLessThanOrEqual(1e-3);
});
