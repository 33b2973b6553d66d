/** Differences that nearly cancel, high powers, and singularities inside of the domain. */
import type { Integrand } from '../../../../src/index.ts';
import { type Kind, upTo } from '../../kind.ts';
import { alongPlane, boxOf, peakOf, sum, volume } from './shared.ts';

/** 1 + size·(peak/mean − 1), where the mean is that of the peak: what is left is the smaller the larger the size. */
const cancellingPeak: Kind = {
  name: 'cancelling peak',
  dims: upTo(6),
  symmetric: false,
  draw(draw, dims) {
    const { at, width, fraction } = peakOf(draw, dims);
    const size = draw.sign() * draw.size(0.5, draw.tame ? 5 : 300);
    return { f: cancellingPeakOf, params: { at, width, mean: fraction, size }, truth: 1, fraction };
  },
};

const cancellingPeakOf: Integrand = (x: number[], p) => {
  let r = 0;
  for (let i = 0; i < x.length; i++) r += ((x[i] - p.at[i]) / p.width) ** 2;
  return 1 + p.size * (Math.exp(-r) / p.mean - 1);
};

/** 1 + size·([x in a box]/volume − 1). */
const cancellingBox: Kind = {
  name: 'cancelling box',
  dims: upTo(6),
  symmetric: false,
  draw(draw, dims) {
    const { from, to } = boxOf(draw, dims, draw.fraction());
    const own = volume(from, to);
    const size = draw.sign() * draw.size(0.5, draw.tame ? 5 : 300);
    return { f: cancellingBoxOf, params: { from, to, own, size }, truth: 1, fraction: own };
  },
};

const cancellingBoxOf: Integrand = (x: number[], p) => {
  let inside = true;
  for (let i = 0; i < x.length; i++) inside = inside && p.from[i] < x[i] && x[i] < p.to[i];
  return 1 + p.size * ((inside ? 1 / p.own : 0) - 1);
};

/** ((c + n·x)/(c + Σ n))^k: for a large k all of it is in one corner. */
const powerOfSum: Kind = {
  name: 'power of a sum',
  dims: upTo(6),
  symmetric: false,
  draw(draw, dims) {
    const n = draw.perAxis(dims, () => draw.between(0.3, 1));
    const c = draw.pick([0, draw.size(0.01, 1)]);
    const k = draw.chance(0.5)
      ? 2 + draw.below(draw.tame ? 8 : 60)
      : draw.between(dims + 0.5, draw.tame ? 9 : 60);
    const scale = c + sum(n);
    let factor = 1;
    for (let j = 1; j <= dims; j++) factor *= scale / (k + j);
    const own = alongPlane(n, -c, t => (t / scale) ** (k + dims)) * factor;
    const base = draw.pick([0, 0, 1]);
    const height = draw.size(0.1, 10) / own;
    return { f: powerOfSumOf, params: { n, c, k, scale, base, height }, truth: base + height * own };
  },
};

const powerOfSumOf: Integrand = (x: number[], p) => {
  let s = p.c;
  for (let i = 0; i < x.length; i++) s += p.n[i] * x[i];
  return p.base + p.height * (s / p.scale) ** p.k;
};

/** 1/(1 − a·Π x) = Σ a^j·Π x^j; ∫ = Σ a^j/(j + 1)^d. */
const polylogarithm: Kind = {
  name: 'polylogarithm',
  dims: upTo(6, 2),
  symmetric: false,
  draw(draw, dims) {
    const a = draw.chance(0.2) ? -draw.between(0.1, 0.99) : 1 - draw.size(1e-3, 0.9);
    let [truth, term] = [0, 1];
    for (let j = 1; Math.abs(term) > 1e-20; j++, term *= a) truth += term / j ** dims;
    return { f: polylogarithmOf, params: { a }, truth };
  },
};

const polylogarithmOf: Integrand = (x: number[], p) => {
  let y = p.a;
  for (let i = 0; i < x.length; i++) y *= x[i];
  return 1 / (1 - y);
};

/** Π −ln|x − c|. */
const logarithmInside: Kind = {
  name: 'logarithm inside',
  dims: upTo(4),
  symmetric: false,
  draw(draw, dims) {
    const c = draw.perAxis(dims, () => draw.edge());
    const truth = c.reduce((t, v) => t * (1 - v * Math.log(v) - (1 - v) * Math.log1p(-v)), 1);
    return { f: logarithmInsideOf, params: { c }, truth };
  },
};

const logarithmInsideOf: Integrand = (x: number[], p) => {
  let y = 1;
  for (let i = 0; i < x.length; i++) y *= -Math.log(Math.abs(x[i] - p.c[i]));
  return y;
};

/** base + Σ w·|x − c|^−a. */
const polesSum: Kind = {
  name: 'sum of poles',
  dims: upTo(6),
  symmetric: false,
  draw(draw, dims) {
    const c = draw.perAxis(dims, () => draw.edge());
    const a = draw.perAxis(dims, () => draw.between(0.1, draw.tame ? 0.4 : 0.7));
    const w = draw.perAxis(dims, () => draw.sign() * draw.size(0.1, 10));
    const base = draw.pick([0, 1]);
    const truth = a.reduce(
      (t, v, i) => t + (w[i] * (c[i] ** (1 - v) + (1 - c[i]) ** (1 - v))) / (1 - v),
      base,
    );
    return { f: polesSumOf, params: { c, a, w, base }, truth };
  },
};

const polesSumOf: Integrand = (x: number[], p) => {
  let y = p.base;
  for (let i = 0; i < x.length; i++) y += p.w[i] * Math.abs(x[i] - p.c[i]) ** -p.a[i];
  return y;
};

export const differences: readonly Kind[] = [
  cancellingPeak,
  cancellingBox,
  powerOfSum,
  polylogarithm,
  logarithmInside,
  polesSum,
];
