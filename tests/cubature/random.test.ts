/** Genz' smooth families with random parameters, from fixed seeds: every claim is true. */
import { describe, expect, test } from 'vitest';
import { integrate } from '../../src/index.ts';
import { kit } from '../../src/integrand/math/index.ts';
import { Random } from '../compiler/random.ts';

interface Params {
  a: Float64Array;
  u: Float64Array;
}
interface Family {
  /** Σa of a problem in one dimension: how hard it is. */
  hard: number;
  f: (x: number[], p: Params) => number;
  truth: (p: Params) => number;
}
const product = (p: Params, of: (a: number, u: number) => number) =>
  p.a.reduce((t, a, i) => t * of(a, p.u[i]), 1);

const families: Record<string, Family> = {
  oscillatory: {
    hard: 9,
    f: (x, p) => {
      let s = 2 * Math.PI * p.u[0];
      for (let i = 0; i < x.length; i++) s += p.a[i] * x[i];
      return Math.cos(s);
    },
    truth: p => {
      let [re, im] = [Math.cos(2 * Math.PI * p.u[0]), Math.sin(2 * Math.PI * p.u[0])];
      for (const k of p.a) {
        const [c, s] = [Math.sin(k) / k, (1 - Math.cos(k)) / k];
        [re, im] = [re * c - im * s, re * s + im * c];
      }
      return re;
    },
  },
  'product peak': {
    hard: 20,
    f: (x, p) => {
      let y = 1;
      for (let i = 0; i < x.length; i++) y /= 1 / p.a[i] ** 2 + (x[i] - p.u[i]) ** 2;
      return y;
    },
    truth: p => product(p, (a, u) => a * (Math.atan(a * (1 - u)) + Math.atan(a * u))),
  },
  Gaussian: {
    hard: 15,
    f: (x, p) => {
      let s = 0;
      for (let i = 0; i < x.length; i++) s += (p.a[i] * (x[i] - p.u[i])) ** 2;
      return Math.exp(-s);
    },
    truth: p => product(p, (a, u) => (Math.sqrt(Math.PI) / 2 / a) * (kit.erf(a * (1 - u)) + kit.erf(a * u))),
  },
};

describe.each(Object.entries(families))('%s', (_, { hard, f, truth }) => {
  test.each(['cuhre', 'two-phase', 'pagani'] as const)(
    '%s: 40 problems in 1 to 8 dimensions to 1e-3 and 1e-5: no claim is off by more, no value by more than two errors',
    async method => {
      const random = new Random(11);
      let claims = 0;
      for (let n = 0; n < 40; n++) {
        const dims = 1 + (n % 8);
        const raw = Float64Array.from({ length: dims }, () => 0.1 + random.unit());
        const scale = (hard * Math.sqrt(dims)) / raw.reduce((s, v) => s + v);
        const params = { a: raw.map(v => v * scale), u: raw.map(() => random.unit()) };
        const wanted = truth(params);
        for (const relTol of [1e-3, 1e-5]) {
          const r = await integrate(f as never, { dims, method, relTol, params, maxEvaluations: 2e5 });
          const off = Math.abs(r.value - wanted);
          expect(off, `${n}: ${r.value} ± ${r.error} is ${wanted}`).toBeLessThanOrEqual(
            2 * r.error + 1e-14 * Math.abs(wanted),
          );
          if (!r.converged) continue;
          claims++;
          expect(off).toBeLessThanOrEqual(relTol * Math.abs(wanted));
        }
      }
      expect(claims).toBeGreaterThan(20);
    },
  );
});
