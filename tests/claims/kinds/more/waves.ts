/** Damped waves, ripples and chirps. */
import type { Integrand } from '../../../../src/index.ts';
import { background, integralOf } from '../../background.ts';
import { type Kind, upTo } from '../../kind.ts';
import { quadrature, ranges } from './shared.ts';

/** Π e^(−a·x)·cos(b·x + φ) on [0, ∞)^d. */
const damped: Kind = {
  name: 'damped waves',
  dims: upTo(4),
  symmetric: false,
  draw(draw, dims) {
    const a = draw.perAxis(dims, () => draw.size(0.1, 10));
    const b = a.map(v => v * draw.size(0.1, 30 / dims ** 2));
    const phase = draw.perAxis(dims, () => draw.between(-0.5, 0.5));
    const truth = a.reduce(
      (t, v, i) => (t * (v * Math.cos(phase[i]) - b[i] * Math.sin(phase[i]))) / (v * v + b[i] * b[i]),
      1,
    );
    return { f: dampedOf, params: { a, b, phase }, truth, domain: ranges(dims, [0, Infinity]) };
  },
};

const dampedOf: Integrand = (x: number[], p) => {
  let s = 0;
  let y = 1;
  for (let i = 0; i < x.length; i++) {
    s += p.a[i] * x[i];
    y *= Math.cos(p.b[i] * x[i] + p.phase[i]);
  }
  return Math.exp(-s) * y;
};

/** base·exp(slope·x) + height·Π cos(k·x + φ). */
const ripple: Kind = {
  name: 'ripple',
  dims: upTo(6),
  symmetric: false,
  draw(draw, dims) {
    const under = background(draw, dims);
    const most = under.base === 0 ? 20 / dims : draw.tame ? 20 : 400 / dims;
    const k = draw.perAxis(dims, () =>
      draw.chance(0.2) ? 2 * Math.PI * 2 ** draw.below(Math.log2(most)) : draw.size(0.5, most),
    );
    const phase = draw.perAxis(dims, () => draw.between(0, 2 * Math.PI));
    const height = draw.size(0.01, 3) * (integralOf(under) || 1);
    const own = k.reduce((t, v, i) => (t * 2 * Math.cos(phase[i] + v / 2) * Math.sin(v / 2)) / v, height);
    return { f: rippleOf, params: { ...under, k, phase, height }, truth: integralOf(under) + own };
  },
};

const rippleOf: Integrand = (x: number[], p) => {
  let s = 0;
  let y = p.height;
  for (let i = 0; i < x.length; i++) {
    s += p.slope[i] * x[i];
    y *= Math.cos(p.k[i] * x[i] + p.phase[i]);
  }
  return p.base * Math.exp(s) + y;
};

/** base + Π cos(k·x² + φ). */
const chirp: Kind = {
  name: 'chirp',
  dims: upTo(4),
  symmetric: false,
  draw(draw, dims) {
    const k = draw.perAxis(dims, () => draw.size(0.5, draw.tame ? 10 : 400 / dims));
    const phase = draw.perAxis(dims, () => draw.between(0, 2 * Math.PI));
    const base = draw.pick([0, 1, 1]);
    const truth = k.reduce((t, v, i) => {
      const panels = 4 + Math.ceil(v / 3);
      const places = Array.from({ length: panels + 1 }, (_, j) => j / panels);
      return t * quadrature(x => Math.cos(v * x * x + phase[i]), places);
    }, 1);
    return { f: chirpOf, params: { k, phase, base }, truth: base + truth };
  },
};

const chirpOf: Integrand = (x: number[], p) => {
  let y = 1;
  for (let i = 0; i < x.length; i++) y *= Math.cos(p.k[i] * x[i] * x[i] + p.phase[i]);
  return p.base + y;
};

export const waves: readonly Kind[] = [damped, ripple, chirp];
