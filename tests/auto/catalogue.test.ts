/**
 * Over every integrand with a known truth: what `auto` claims is true, at 1e-2, 1e-3 and 1e-4. A deterministic method must
 * be within the tolerance, Monte Carlo within 4.5 of its errors. It keeps to its budget and says what it chose and why.
 */
import { describe, expect, test } from 'vitest';
import { integrate, type Progress } from '../../src/index.ts';
import { catalogue } from '../integrands/catalogue.ts';
import { hard } from '../integrands/hard.ts';

/** Where 3e6 evaluations would take too long. */
const FEWER: Record<string, number> = {
  ridge_4: 3e4,
  oscillating_10: 2e5,
  asian_printed_16: 5e5,
  asian_arithmetic_16: 5e5,
  asian_geometric_16: 5e5,
};
const known = [...catalogue, ...hard].filter(e => e.truth !== undefined);

describe.each(known.map(e => [e.name, e] as const))('%s', (name, e) => {
  test.each([1e-2, 1e-3, 1e-4])(
    'at %d: no false claim, within the budget, progress never goes back',
    async relTol => {
      const { f, domain, params = {}, truth } = e;
      const maxEvaluations = FEWER[name] ?? 3e6;
      const seen: Progress[] = [];
      const r = await integrate(
        f as never,
        { domain, params, relTol, maxEvaluations, onProgress: (p: Progress) => seen.push(p) } as never,
      );
      const off = Math.abs(r.value - truth!);
      expect(['pagani', 'vegas+', 'lattice']).toContain(r.method);
      if (r.converged) {
        expect(off, `${r}`).toBeLessThanOrEqual(
          r.method === 'pagani' ? relTol * Math.abs(truth!) : 4.5 * r.error,
        );
        expect(r.error).toBeLessThanOrEqual(relTol * Math.abs(r.value));
        expect(r.warnings).toEqual([]);
      } else {
        expect(r.status).toBe('budget');
        if (r.warnings.length === 0) expect(off, `${r}`).toBeLessThanOrEqual(4.5 * r.error);
      }
      expect(r.evaluations).toBeLessThanOrEqual(maxEvaluations);
      expect(r.choice!.startsWith(`${r.method}: `)).toBe(true);
      expect(`${r}`).toContain(`${r.method} (auto) on `);
      for (let i = 1; i < seen.length; i++)
        expect(seen[i].evaluations).toBeGreaterThanOrEqual(seen[i - 1].evaluations);
      expect(seen.at(-1)!.evaluations).toBe(r.evaluations);
      expect(seen.map(p => p.iteration)).toEqual(seen.map((_, i) => i + 1));
    },
  );
});
