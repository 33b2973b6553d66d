/** Oblique planes and quadrics: powers and logarithms at a plane, ridges, ellipsoids, cylinders, a box and a ball, radial profiles. */
import type { Integrand } from '../../../../src/index.ts';
import { kit } from '../../../../src/integrand/math/index.ts';
import { background, heightOn, integralOf } from '../../background.ts';
import { LEAST_FRACTION } from '../../draw.ts';
import { type Kind, upTo } from '../../kind.ts';
import {
  alongPlane,
  alongRidge,
  aspects,
  boxOf,
  extents,
  level,
  oblique,
  product,
  rotation,
  unitBall,
  until,
  volume,
} from './shared.ts';

/** base + height·|n·x − c|^q, singular, with a cusp or with a kink at a plane. */
const planePower: Kind = {
  name: 'power at a plane',
  dims: upTo(4),
  symmetric: false,
  draw(draw, dims) {
    const n = oblique(draw, dims);
    const c = level(draw, n);
    const q = draw.chance(0.5) && !draw.tame ? -draw.between(0.1, 0.8) : draw.between(0.2, 2.5);
    let [factor, sign] = [1, 1];
    for (let j = 1; j <= dims; j++) {
      factor /= q + j;
      sign = -sign;
    }
    const own = alongPlane(n, c, t => (t < 0 ? sign : 1) * Math.abs(t) ** (q + dims) * factor);
    const base = draw.pick([0, 1]);
    const height = (draw.sign() * draw.size(0.1, 10)) / own;
    return { f: planePowerOf, params: { n, c, q, base, height }, truth: base + height * own };
  },
};

const planePowerOf: Integrand = (x: number[], p) => {
  let s = -p.c;
  for (let i = 0; i < x.length; i++) s += p.n[i] * x[i];
  return p.base + p.height * Math.abs(s) ** p.q;
};

/** base + height·ln|n·x − c|. */
const planeLogarithm: Kind = {
  name: 'logarithm at a plane',
  dims: upTo(4),
  symmetric: false,
  draw(draw, dims) {
    const n = oblique(draw, dims);
    const c = level(draw, n);
    let [harmonic, factor] = [0, 1];
    for (let j = 1; j <= dims; j++) {
      harmonic += 1 / j;
      factor /= j;
    }
    const own = alongPlane(n, c, t =>
      t === 0 ? 0 : factor * t ** dims * (Math.log(Math.abs(t)) - harmonic),
    );
    const base = draw.pick([0, 0, 1, 10]);
    const height = draw.sign() * draw.size(0.1, 10);
    return { f: planeLogarithmOf, params: { n, c, base, height }, truth: base + height * own };
  },
};

const planeLogarithmOf: Integrand = (x: number[], p) => {
  let s = -p.c;
  for (let i = 0; i < x.length; i++) s += p.n[i] * x[i];
  return p.base + p.height * Math.log(Math.abs(s));
};

/** The profiles of ridges, as they are in the integrands below. */
const PROFILES = [
  (t: number) => Math.exp(-t * t),
  (t: number) => 1 / (1 + t * t),
  (t: number) => 1 / (1 + Math.exp(t)),
] as const;

/** base + height·g((n·x − c)/w): a Gaussian ridge, one of Lorentz, or a soft step. */
const ridge: Kind = {
  name: 'ridge',
  dims: upTo(4),
  symmetric: false,
  draw(draw, dims) {
    const n = oblique(draw, dims);
    const shape = draw.below(PROFILES.length);
    const { c, w, own } = until(
      () => {
        const place = level(draw, n);
        const width = draw.size(draw.tame ? 0.05 : 2e-4, 0.5);
        const mean = alongRidge(n, place, width, s => PROFILES[shape]((s - place) / width));
        return { c: place, w: width, own: mean };
      },
      drawn => drawn.own > (draw.tame ? 0.02 : LEAST_FRACTION),
    );
    const base = draw.pick([0, 1, 1]);
    const height = (draw.sign() * draw.size(0.01, 10)) / own;
    const truth = base + height * own;
    return { f: RIDGES[shape], params: { n, c, w, base, height }, truth, fraction: own };
  },
};

const RIDGES: readonly Integrand[] = [
  (x: number[], p) => {
    let s = -p.c;
    for (let i = 0; i < x.length; i++) s += p.n[i] * x[i];
    return p.base + p.height * Math.exp(-((s / p.w) ** 2));
  },
  (x: number[], p) => {
    let s = -p.c;
    for (let i = 0; i < x.length; i++) s += p.n[i] * x[i];
    return p.base + p.height / (1 + (s / p.w) ** 2);
  },
  (x: number[], p) => {
    let s = -p.c;
    for (let i = 0; i < x.length; i++) s += p.n[i] * x[i];
    return p.base + p.height / (1 + Math.exp(Math.min(700, s / p.w)));
  },
];

/** An oblique ellipsoid on a background. */
const ellipsoid: Kind = {
  name: 'ellipsoid',
  dims: upTo(6, 2),
  symmetric: false,
  draw(draw, dims) {
    const r = rotation(draw, dims);
    const { axes, reach } = until(
      () => {
        const scale = (draw.fraction() / unitBall(dims)) ** (1 / dims);
        const own = aspects(draw, dims, draw.tame ? 2 : 10).map(v => v * scale);
        return { axes: own, reach: extents(r, own) };
      },
      drawn => Math.max(...drawn.reach) < 0.5,
    );
    const at = reach.map(e => Math.min(1 - e, Math.max(e, draw.edge() + draw.pick([0, e, -e]))));
    const fraction = unitBall(dims) * product(axes);
    const under = background(draw, dims);
    const height = heightOn(under, fraction, draw);
    const params = { ...under, r, axes, at, height };
    return { f: ellipsoidOf, params, truth: integralOf(under) + height * fraction, fraction };
  },
};

const ellipsoidOf: Integrand = (x: number[], p) => {
  let s = 0;
  let q = 0;
  for (let k = 0; k < x.length; k++) {
    s += p.slope[k] * x[k];
    let along = 0;
    for (let i = 0; i < x.length; i++) along += p.r[k * x.length + i] * (x[i] - p.at[i]);
    q += (along / p.axes[k]) ** 2;
  }
  return p.base * Math.exp(s) + (q < 1 ? p.height : 0);
};

/** A cylinder along all axes but the first two. */
const cylinder: Kind = {
  name: 'cylinder',
  dims: upTo(6, 3),
  symmetric: false,
  draw(draw, dims) {
    const radius = Math.min(0.5, Math.sqrt(draw.fraction() / Math.PI));
    const at = draw.perAxis(2, () =>
      Math.min(1 - radius, Math.max(radius, draw.edge() + draw.pick([0, radius, -radius]))),
    );
    const fraction = Math.PI * radius * radius;
    const under = background(draw, dims);
    const height = heightOn(under, fraction, draw);
    const params = { ...under, at, radius, height };
    return { f: cylinderOf, params, truth: integralOf(under) + height * fraction, fraction };
  },
};

const cylinderOf: Integrand = (x: number[], p) => {
  let s = 0;
  for (let i = 0; i < x.length; i++) s += p.slope[i] * x[i];
  const inside = (x[0] - p.at[0]) ** 2 + (x[1] - p.at[1]) ** 2 < p.radius * p.radius;
  return p.base * Math.exp(s) + (inside ? p.height : 0);
};

/** A box and a ball on one background, which may overlap. */
const boxAndBall: Kind = {
  name: 'box and ball',
  dims: upTo(6, 2),
  symmetric: false,
  draw(draw, dims) {
    const { from, to } = boxOf(draw, dims, draw.fraction());
    const radius = Math.min(0.5, (draw.between(0.02, 0.9) / unitBall(dims)) ** (1 / dims));
    const at = draw.perAxis(dims, () => draw.between(radius, 1 - radius));
    const [box, ball] = [volume(from, to), unitBall(dims) * radius ** dims];
    const low = draw.pick([0, 0, 1]);
    const high = draw.size(0.1, 10) / ball;
    const height = (draw.sign() * draw.size(0.01, 10)) / box;
    const params = { from, to, at, radius, low, high, height };
    const truth = low + high * ball + height * box;
    return { f: boxAndBallOf, params, truth, fraction: Math.min(box, ball) };
  },
};

const boxAndBallOf: Integrand = (x: number[], p) => {
  let r = 0;
  let inside = true;
  for (let i = 0; i < x.length; i++) {
    r += (x[i] - p.at[i]) ** 2;
    inside = inside && p.from[i] < x[i] && x[i] < p.to[i];
  }
  return p.low + (r < p.radius * p.radius ? p.high : 0) + (inside ? p.height : 0);
};

/** base + height·(1 − |x − at|²/r²)^q inside of a ball: Barenblatt's profile; singular at the sphere for q < 0. */
const profile: Kind = {
  name: 'ball profile',
  dims: upTo(6),
  symmetric: false,
  draw(draw, dims) {
    const q = draw.pick([0.5, 1, draw.tame ? 0.3 : -draw.between(0.1, 0.6), draw.between(0.1, 2.5)]);
    const unit = Math.PI ** (dims / 2) * Math.exp(kit.lgamma(q + 1) - kit.lgamma(q + 1 + dims / 2));
    const radius = Math.min(0.5, (draw.fraction() / unitBall(dims)) ** (1 / dims));
    const at = draw.perAxis(dims, () =>
      Math.min(1 - radius, Math.max(radius, draw.edge() + draw.pick([0, radius, -radius]))),
    );
    const own = unit * radius ** dims;
    const base = draw.pick([0, 1]);
    const height = (draw.sign() * draw.size(0.1, 10)) / own;
    const fraction = unitBall(dims) * radius ** dims;
    return {
      f: profileOf,
      params: { q, radius, at, base, height },
      truth: base + height * own,
      fraction,
    };
  },
};

const profileOf: Integrand = (x: number[], p) => {
  let rest = 1;
  for (let i = 0; i < x.length; i++) rest -= ((x[i] - p.at[i]) / p.radius) ** 2;
  return p.base + (rest > 0 ? p.height * rest ** p.q : 0);
};

export const obliquePlanes: readonly Kind[] = [
  planePower,
  planeLogarithm,
  ridge,
  ellipsoid,
  cylinder,
  boxAndBall,
  profile,
];
