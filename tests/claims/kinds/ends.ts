/**
 * Integrable singularities: at the lower or upper end of a range, at both, as a logarithm, or inside. Near an upper end
 * of 1 numbers are 2^-53 apart: with a power of 0.9, 2.5 % of the integral lies between the last of them and 1.
 */
import type { Integrand } from '../../../src/index.ts';
import type { Range } from '../../../src/integrand/domain.ts';
import { type Kind, upTo } from '../kind.ts';

/** base + height·Π x^−a. */
const lowerEnd: Kind = {
  name: 'lower end',
  dims: upTo(4),
  symmetric: true,
  draw(draw, dims) {
    const a = draw.perAxis(dims, () => draw.endPower());
    const base = draw.pick([0, 0, 1]);
    const height = draw.sign() * draw.size(0.1, 10);
    return {
      f: lowerEndOf,
      params: { a, base, height },
      truth: a.reduce((t, v) => t / (1 - v), height) + base,
    };
  },
};

const lowerEndOf: Integrand = (x: number[], p) => {
  let y = p.height;
  for (let i = 0; i < x.length; i++) y *= x[i] ** -p.a[i];
  return p.base + y;
};

/** Π (1 − x)^−a. */
const upperEnd: Kind = {
  name: 'upper end',
  dims: upTo(4),
  symmetric: true,
  draw(draw, dims) {
    const a = draw.perAxis(dims, () => draw.endPower());
    return { f: upperEndOf, params: { a }, truth: a.reduce((t, v) => t / (1 - v), 1) };
  },
};

const upperEndOf: Integrand = (x: number[], p) => {
  let y = 1;
  for (let i = 0; i < x.length; i++) y *= (1 - x[i]) ** -p.a[i];
  return y;
};

/** Π (1 + b·x²)/√(1 − x²) on [−1, 1]^d or [0, 1]^d. */
const arcsine: Kind = {
  name: 'arcsine',
  dims: upTo(4),
  symmetric: true,
  draw(draw, dims) {
    const b = draw.perAxis(dims, () => draw.between(-4, 4));
    const [low, whole] = draw.pick([
      [-1, Math.PI],
      [0, Math.PI / 2],
    ]);
    const truth = b.reduce((t, v) => t * whole * (1 + v / 2), 1);
    const domain = Array.from({ length: dims }, (): Range => [low, 1]);
    return { f: arcsineOf, params: { b }, truth, domain };
  },
};

const arcsineOf: Integrand = (x: number[], p) => {
  let y = 1;
  for (let i = 0; i < x.length; i++) y *= (1 + p.b[i] * x[i] * x[i]) / Math.sqrt(1 - x[i] * x[i]);
  return y;
};

/** Π −ln(x)·x^−a; ∫ over [0, 1] = 1/(1 − a)². */
const logarithm: Kind = {
  name: 'logarithm',
  dims: upTo(4),
  symmetric: true,
  draw(draw, dims) {
    const plain = draw.chance(0.5);
    const a = draw.perAxis(dims, () =>
      plain ? 0 : draw.tame ? draw.between(-1, 0.3) : draw.between(-1, 0.9),
    );
    return { f: logarithmOf, params: { a }, truth: a.reduce((t, v) => t / (1 - v) ** 2, 1) };
  },
};

const logarithmOf: Integrand = (x: number[], p) => {
  let y = 1;
  for (let i = 0; i < x.length; i++) y *= -Math.log(x[i]) * x[i] ** -p.a[i];
  return y;
};

/** Σ w·ln(s·x), of both signs; ∫ over [0, 1] = w·(ln s − 1). */
const logarithms: Kind = {
  name: 'sum of logarithms',
  dims: upTo(8),
  symmetric: true,
  draw(draw, dims) {
    const s = draw.perAxis(dims, () => draw.size(0.1, 20));
    const w = draw.perAxis(dims, () => draw.sign() * draw.size(0.1, 10));
    return {
      f: logarithmsOf,
      params: { s, w },
      truth: w.reduce((t, v, i) => t + v * (Math.log(s[i]) - 1), 0),
    };
  },
};

const logarithmsOf: Integrand = (x: number[], p) => {
  let y = 0;
  for (let i = 0; i < x.length; i++) y += p.w[i] * Math.log(p.s[i] * x[i]);
  return y;
};

/** Π |x − c|^−a. */
const pole: Kind = {
  name: 'pole',
  dims: upTo(3),
  symmetric: true,
  draw(draw, dims) {
    const a = draw.perAxis(dims, () => 0.8 * draw.endPower());
    const c = draw.perAxis(dims, () => draw.edge());
    const truth = a.reduce((t, v, i) => (t * (c[i] ** (1 - v) + (1 - c[i]) ** (1 - v))) / (1 - v), 1);
    return { f: poleOf, params: { a, c }, truth };
  },
};

const poleOf: Integrand = (x: number[], p) => {
  let y = 1;
  for (let i = 0; i < x.length; i++) y *= Math.abs(x[i] - p.c[i]) ** -p.a[i];
  return y;
};

export const ends: readonly Kind[] = [lowerEnd, upperEnd, arcsine, logarithm, logarithms, pole];
