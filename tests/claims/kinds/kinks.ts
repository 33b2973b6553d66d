/** Continuous integrands with kinks or cusps: sums of |x − a|^q, and Genz' continuous family exp(−Σ c·|x − a|). */
import type { Integrand } from '../../../src/index.ts';
import { type Kind, upTo } from '../kind.ts';

const kink: Kind = {
  name: 'kink',
  dims: upTo(8),
  symmetric: true,
  draw(draw, dims) {
    const a = draw.perAxis(dims, () => draw.edge());
    const w = draw.perAxis(dims, () => draw.sign() * draw.size(0.1, 10));
    const q = draw.chance(0.5) ? 1 : draw.between(0.2, 2.5);
    const base = draw.pick([0, 1]);
    const truth = w.reduce(
      (t, weight, i) => t + (weight * (a[i] ** (q + 1) + (1 - a[i]) ** (q + 1))) / (q + 1),
      base,
    );
    return { f: kinkOf, params: { a, w, q, base }, truth };
  },
};

const kinkOf: Integrand = (x: number[], p) => {
  let y = p.base;
  for (let i = 0; i < x.length; i++) y += p.w[i] * Math.abs(x[i] - p.a[i]) ** p.q;
  return y;
};

/** A peak with a kink at its top (Genz 1984). */
const tent: Kind = {
  name: 'tent',
  dims: upTo(8),
  symmetric: true,
  draw(draw, dims) {
    const a = draw.perAxis(dims, () => draw.edge());
    const c = draw.perAxis(dims, () => draw.size(0.5, draw.tame ? 8 : 100 / dims));
    const truth = c.reduce((t, k, i) => (t * -(Math.expm1(-k * a[i]) + Math.expm1(-k * (1 - a[i])))) / k, 1);
    return { f: tentOf, params: { a, c }, truth };
  },
};

const tentOf: Integrand = (x: number[], p) => {
  let s = 0;
  for (let i = 0; i < x.length; i++) s += p.c[i] * Math.abs(x[i] - p.a[i]);
  return Math.exp(-s);
};

export const kinks: readonly Kind[] = [kink, tent];
