/** What depends on the order of coordinates or on distances between them: ordered times, simplices, extremes, tubes along the diagonal, |x − y|^q, Selberg's integral, kernels. */
import type { Integrand } from '../../../../src/index.ts';
import { kit } from '../../../../src/integrand/math/index.ts';
import { background, heightOn, integralOf } from '../../background.ts';
import { type Kind, upTo } from '../../kind.ts';
import { product, sum } from './shared.ts';

/** base + height·Π x^a where x₁ < x₂ < …: an integral over ordered times. */
const ordered: Kind = {
  name: 'ordered times',
  dims: upTo(6, 2),
  symmetric: false,
  draw(draw, dims) {
    const a = draw.chance(0.5) ? new Float64Array(dims) : draw.perAxis(dims, () => draw.between(-0.4, 3));
    let [own, powers] = [1, 0];
    for (const v of a) {
      powers += v + 1;
      own /= powers;
    }
    const base = draw.pick([0, 1]);
    const height = (draw.sign() * draw.size(0.01, 10)) / own;
    return { f: orderedOf, params: { a, base, height }, truth: base + height * own };
  },
};

const orderedOf: Integrand = (x: number[], p) => {
  let y = x[0] ** p.a[0];
  for (let i = 1; i < x.length; i++) y = x[i] > x[i - 1] ? y * x[i] ** p.a[i] : 0;
  return p.base + p.height * y;
};

/** Dirichlet's integral Π x^(a−1)·(1 − Σ x)^(b−1) over the simplex Σ x < 1. */
const simplex: Kind = {
  name: 'simplex',
  dims: upTo(6, 2),
  symmetric: false,
  draw(draw, dims) {
    const least = draw.tame ? 1 : 0.4;
    const a = draw.perAxis(dims, () => (draw.chance(0.4) ? 1 : draw.between(least, 4)));
    const b = draw.chance(0.4) ? 1 : draw.between(least, 4);
    const logs = sum(a.map(v => kit.lgamma(v))) + kit.lgamma(b) - kit.lgamma(sum(a) + b);
    const base = draw.pick([0, 1]);
    const height = draw.size(0.1, 10) / Math.exp(logs);
    return {
      f: simplexOf,
      params: { a, b, base, height },
      truth: base + height * Math.exp(logs),
    };
  },
};

const simplexOf: Integrand = (x: number[], p) => {
  let rest = 1;
  let y = p.height;
  for (let i = 0; i < x.length; i++) {
    rest -= x[i];
    y *= x[i] ** (p.a[i] - 1);
  }
  return p.base + (rest > 0 ? y * rest ** (p.b - 1) : 0);
};

/** base + high·max^p + low·min^q + bend·|max − c|. */
const extremes: Kind = {
  name: 'extremes',
  dims: upTo(8, 2),
  symmetric: false,
  draw(draw, dims) {
    const [p, q] = [draw.size(0.3, 30), draw.size(0.1, 3)];
    const c = draw.edge() ** (1 / dims);
    const mean = (power: number) => dims / (dims + power);
    const least = dims * Math.exp(kit.lgamma(q + 1) + kit.lgamma(dims) - kit.lgamma(q + 1 + dims));
    const bent = mean(1) - c + (2 * c ** (dims + 1)) / (dims + 1);
    const base = draw.pick([0, 1]);
    const high = draw.sign() * draw.size(0.1, 10);
    const low = draw.sign() * draw.size(0.1, 10);
    const bend = draw.pick([0, draw.size(0.1, 10)]);
    const truth = base + high * mean(p) + low * least + bend * bent;
    return { f: extremesOf, params: { base, high, p, low, q, bend, c }, truth };
  },
};

const extremesOf: Integrand = (x: number[], p) => {
  let most = x[0];
  let least = x[0];
  for (let i = 1; i < x.length; i++) {
    most = Math.max(most, x[i]);
    least = Math.min(least, x[i]);
  }
  return p.base + p.high * most ** p.p + p.low * least ** p.q + p.bend * Math.abs(most - p.c);
};

/** base + height where the largest and the smallest coordinate differ by less than w: a tube around the diagonal. */
const tube: Kind = {
  name: 'diagonal tube',
  dims: upTo(6, 2),
  symmetric: false,
  draw(draw, dims) {
    const wanted = draw.fraction();
    const filled = (w: number) => dims * w ** (dims - 1) - (dims - 1) * w ** dims;
    let [low, high] = [0, 1];
    for (let i = 0; i < 50; i++) {
      const w = (low + high) / 2;
      if (filled(w) < wanted) low = w;
      else high = w;
    }
    const under = background(draw, dims);
    const fraction = filled(low);
    const height = heightOn(under, fraction, draw);
    const truth = integralOf(under) + height * fraction;
    return { f: tubeOf, params: { ...under, w: low, height }, truth, fraction };
  },
};

const tubeOf: Integrand = (x: number[], p) => {
  let s = 0;
  let most = x[0];
  let least = x[0];
  for (let i = 0; i < x.length; i++) {
    s += p.slope[i] * x[i];
    most = Math.max(most, x[i]);
    least = Math.min(least, x[i]);
  }
  return p.base * Math.exp(s) + (most - least < p.w ? p.height : 0);
};

/** base + Σ w·|xᵢ − xⱼ|^q over neighbours. */
const distances: Kind = {
  name: 'distances',
  dims: upTo(6, 2),
  symmetric: false,
  draw(draw, dims) {
    const q = draw.pick([1, 1, draw.tame ? 0.5 : -draw.between(0.1, 0.8), draw.between(0.1, 3)]);
    const w = draw.perAxis(dims - 1, () => draw.sign() * draw.size(0.1, 10));
    const base = draw.pick([0, 1]);
    return { f: distancesOf, params: { q, w, base }, truth: base + (2 * sum(w)) / ((q + 1) * (q + 2)) };
  },
};

const distancesOf: Integrand = (x: number[], p) => {
  let y = p.base;
  for (let i = 1; i < x.length; i++) y += p.w[i - 1] * Math.abs(x[i] - x[i - 1]) ** p.q;
  return y;
};

/** Selberg's integral Π x^(a−1)·(1 − x)^(b−1)·Π |xᵢ − xⱼ|^(2c), relative to itself. */
const selberg: Kind = {
  name: 'Selberg',
  dims: upTo(5, 2),
  symmetric: false,
  draw(draw, dims) {
    const least = draw.tame ? 1 : 0.4;
    const [a, b] = [1, 2].map(() => (draw.chance(0.4) ? 1 : draw.between(least, 4)));
    const c = draw.pick([0.5, 1, draw.between(0.1, 1.5), draw.tame ? 0.3 : -draw.between(0.05, 0.9) / dims]);
    let logs = 0;
    for (let j = 0; j < dims; j++) {
      logs += kit.lgamma(a + j * c) + kit.lgamma(b + j * c) + kit.lgamma(1 + (j + 1) * c);
      logs -= kit.lgamma(a + b + (dims + j - 1) * c) + kit.lgamma(1 + c);
    }
    return { f: selbergOf, params: { a, b, c, scale: Math.exp(-logs) }, truth: 1 };
  },
};

const selbergOf: Integrand = (x: number[], p) => {
  let y = p.scale;
  for (let i = 0; i < x.length; i++) {
    y *= x[i] ** (p.a - 1) * (1 - x[i]) ** (p.b - 1);
    for (let j = 0; j < i; j++) y *= Math.abs(x[i] - x[j]) ** (2 * p.c);
  }
  return y;
};

/** base + height·Π exp(−|x − y|/w) over pairs of coordinates. */
const kernels: Kind = {
  name: 'kernels',
  dims: [2, 4, 6],
  symmetric: false,
  draw(draw, dims) {
    const least = draw.tame ? 0.1 : [0, 0, 1e-3, 0, 0.02, 0, 0.05][dims];
    const w = draw.perAxis(dims / 2, () => draw.size(least, 1));
    const own = product(w.map(v => 2 * v * (1 + v * Math.expm1(-1 / v))));
    const base = draw.pick([0, 1]);
    const height = (draw.sign() * draw.size(0.1, 10)) / own;
    return { f: kernelsOf, params: { w, base, height }, truth: base + height * own, fraction: own };
  },
};

const kernelsOf: Integrand = (x: number[], p) => {
  let s = 0;
  for (let i = 0; i < p.w.length; i++) s += Math.abs(x[2 * i] - x[2 * i + 1]) / p.w[i];
  return p.base + p.height * Math.exp(-s);
};

export const order: readonly Kind[] = [ordered, simplex, extremes, tube, distances, selberg, kernels];
