/** Functions of one coordinate, multiplied or added: steps, signs, splines, sigmoids, stairs. */
import type { Integrand } from '../../../../src/index.ts';
import { LEAST_FRACTION } from '../../draw.ts';
import { cutOff, onGrid } from '../../half-spaces.ts';
import { type Kind, upTo } from '../../kind.ts';
import { product, sum, until } from './shared.ts';

/** Π (1 + h·[x > c]). */
const stepProduct: Kind = {
  name: 'product of steps',
  dims: upTo(8),
  symmetric: false,
  draw(draw, dims) {
    const c = draw.perAxis(dims, () => draw.edge());
    const h = draw.perAxis(dims, () => (draw.chance(0.25) ? -draw.between(0.1, 0.95) : draw.size(0.1, 10)));
    return { f: stepProductOf, params: { c, h }, truth: h.reduce((t, v, i) => t * (1 + v * (1 - c[i])), 1) };
  },
};

const stepProductOf: Integrand = (x: number[], p) => {
  let y = 1;
  for (let i = 0; i < x.length; i++) if (x[i] > p.c[i]) y *= 1 + p.h[i];
  return y;
};

/** base + Σ h·[x > c]. */
const stepSum: Kind = {
  name: 'sum of steps',
  dims: upTo(8, 2),
  symmetric: false,
  draw(draw, dims) {
    const c = draw.perAxis(dims, () => draw.edge());
    const h = draw.perAxis(dims, () => draw.sign() * draw.size(0.01, 10));
    const base = draw.pick([0, 1, 10]);
    return { f: stepSumOf, params: { c, h, base }, truth: h.reduce((t, v, i) => t + v * (1 - c[i]), base) };
  },
};

const stepSumOf: Integrand = (x: number[], p) => {
  let y = p.base;
  for (let i = 0; i < x.length; i++) if (x[i] > p.c[i]) y += p.h[i];
  return y;
};

/** base + height·Π sign(x − c). */
const signs: Kind = {
  name: 'signs',
  dims: upTo(8),
  symmetric: false,
  draw(draw, dims) {
    const c = draw.perAxis(dims, () => draw.edge());
    const height = draw.size(0.01, 10);
    const truth = 1 + height * product(c.map(v => 1 - 2 * v));
    return { f: signsOf, params: { c, height }, truth };
  },
};

const signsOf: Integrand = (x: number[], p) => {
  let y = p.height;
  for (let i = 0; i < x.length; i++) if (x[i] < p.c[i]) y = -y;
  return 1 + y;
};

/** Π (1 + h·max(0, x − c)^k): splines with knots of their own on each axis. */
const spline: Kind = {
  name: 'spline',
  dims: upTo(8),
  symmetric: false,
  draw(draw, dims) {
    const c = draw.perAxis(dims, () => draw.edge());
    const k = draw.perAxis(dims, () => draw.pick([0.5, 1, 1, 2, 3, 7]));
    const h = draw.perAxis(dims, axis => (draw.size(0.1, 10) * (k[axis] + 1)) / (1 - c[axis]) ** k[axis]);
    const truth = h.reduce((t, v, i) => t * (1 + (v * (1 - c[i]) ** (k[i] + 1)) / (k[i] + 1)), 1);
    return { f: splineOf, params: { c, k, h }, truth };
  },
};

const splineOf: Integrand = (x: number[], p) => {
  let y = 1;
  for (let i = 0; i < x.length; i++) y *= 1 + p.h[i] * Math.max(0, x[i] - p.c[i]) ** p.k[i];
  return y;
};

/** Π 1/(1 + exp((c − x)/w)): steps with a width, down to 1e-5. */
const sigmoids: Kind = {
  name: 'sigmoids',
  dims: upTo(8),
  symmetric: false,
  draw(draw, dims) {
    const plus = (t: number) => Math.max(0, t) + Math.log1p(Math.exp(-Math.abs(t)));
    const { c, w, along } = until(
      () => {
        const place = draw.perAxis(dims, () => draw.edge());
        const width = draw.perAxis(dims, () => draw.size(draw.tame ? 0.01 : 1e-5, 0.3));
        const own = place.map((v, i) => width[i] * (plus((1 - v) / width[i]) - plus(-v / width[i])));
        return { c: place, w: width, along: own };
      },
      drawn => product(drawn.along) > (draw.tame ? 0.01 : LEAST_FRACTION),
    );
    const fraction = product(along);
    const base = draw.pick([0, 1]);
    const height = draw.size(0.01, 10) / fraction;
    const params = { c, w, base, height };
    return { f: sigmoidsOf, params, truth: base + height * fraction, fraction };
  },
};

const sigmoidsOf: Integrand = (x: number[], p) => {
  let y = 1;
  for (let i = 0; i < x.length; i++) y /= 1 + Math.exp(Math.min(700, (p.c[i] - x[i]) / p.w[i]));
  return p.base + p.height * y;
};

/** 1 + height·⌊k·x⌋, with oblique stairs in more than one dimension. */
const stairs: Kind = {
  name: 'stairs',
  dims: upTo(4),
  symmetric: false,
  draw(draw, dims) {
    const most = [0, 100, 20, 10, 6][dims];
    const k = draw.perAxis(dims, () =>
      draw.chance(0.3) ? draw.pick([1, 2, 4]) : onGrid(draw.size(0.3, most)),
    );
    const height = draw.sign() * draw.size(0.01, 1);
    let mean = 0;
    for (let m = 1; m < sum(k); m++) mean += 1 - cutOff([...k], m);
    return { f: stairsOf, params: { k, height }, truth: 1 + height * mean };
  },
};

const stairsOf: Integrand = (x: number[], p) => {
  let s = 0;
  for (let i = 0; i < x.length; i++) s += p.k[i] * x[i];
  return 1 + p.height * Math.floor(s);
};

/** Π (1 + ⌊k·x⌋). */
const stairProduct: Kind = {
  name: 'product of stairs',
  dims: upTo(6),
  symmetric: false,
  draw(draw, dims) {
    const most = [0, 60, 20, 9, 6, 4, 3][dims];
    const k = draw.perAxis(dims, () => (draw.chance(0.3) ? 1 + draw.below(most) : draw.between(0.8, most)));
    const truth = k.reduce((t, v) => {
      const whole = Math.floor(v);
      return t * (1 + ((whole * (whole - 1)) / 2 + whole * (v - whole)) / v);
    }, 1);
    return { f: stairProductOf, params: { k }, truth };
  },
};

const stairProductOf: Integrand = (x: number[], p) => {
  let y = 1;
  for (let i = 0; i < x.length; i++) y *= 1 + Math.floor(p.k[i] * x[i]);
  return y;
};

export const axisByAxis: readonly Kind[] = [
  stepProduct,
  stepSum,
  signs,
  spline,
  sigmoids,
  stairs,
  stairProduct,
];
