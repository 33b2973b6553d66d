/** No false `converged` of a deterministic method with two results: each truth is within max(error, tolerance). */
import { describe, expect, test } from 'vitest';
import { integrate } from '../../src/index.ts';
import { pairOf } from './several.ts';

/** Truths and sums are rounded: a difference of this part of the truth is no evidence. */
const ROUNDING = 1e-11;

/** Claims that are false and known to be, as those in check.ts. One that is true again has to be taken off the list. */
const KNOWN: readonly string[] = [];

describe.each(['pagani', 'cuhre', 'two-phase'] as const)('60 pairs of integrands with %s', method => {
  test('no claim on either of them is false', async () => {
    let claims = 0;
    const wrong: string[] = [];
    for (let number = 0; number < 60; number++) {
      const { name, f, params, truths, dims, relTol } = pairOf(method, number);
      const r = await integrate(f, { dims, params, method, relTol, maxEvaluations: 5e5, seed: number });
      if (!r.converged) continue;
      claims++;
      truths.forEach((truth, i) => {
        const off = Math.abs(r.value[i] - truth);
        const allowed = Math.max(r.error[i], relTol * Math.abs(r.value[i]), ROUNDING * Math.abs(truth));
        if (off > allowed) wrong.push(`${name}, result ${i}`);
      });
    }
    expect(wrong.toSorted()).toEqual(KNOWN.filter(name => name.startsWith(method)));
    expect(claims).toBeGreaterThanOrEqual(15); // a method that claims nothing lies about nothing
  }, 300_000);
});
