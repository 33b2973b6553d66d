/**
 * Infinite ranges. Algebraic tails whose power is close to 1 have a part of their integral beyond 2^53, where the maps of
 * domain.ts have no points: x^−1.05 from 1 on has 16 % of it there. A claim about such an integral has to be earned, or
 * not made. Peaks far from 0 are narrow in the mapped coordinate.
 */
import type { Integrand } from '../../../src/index.ts';
import type { Range } from '../../../src/integrand/domain.ts';
import { kit } from '../../../src/integrand/math/index.ts';
import { exponential } from '../background.ts';
import type { Draw } from '../draw.ts';
import { type Kind, upTo } from '../kind.ts';

const ranges = (dims: number, range: Range): Range[] => Array.from({ length: dims }, () => range);
const everywhere: Range = [-Infinity, Infinity];

/** Π x^−p − less·Π x^−q on [1, ∞)^d. */
const powerTail: Kind = {
  name: 'power tail',
  dims: upTo(4),
  symmetric: true,
  draw(draw, dims) {
    const p = draw.perAxis(dims, () => draw.tailPower());
    const q = draw.perAxis(dims, () => draw.tailPower());
    const less = draw.chance(0.3) ? draw.size(0.1, 2) : 0;
    const of = (powers: Float64Array) => powers.reduce((t, power) => t / (power - 1), 1);
    const params = { p, q, less };
    return { f: powerTailOf, params, truth: of(p) - less * of(q), domain: ranges(dims, [1, Infinity]) };
  },
};

const powerTailOf: Integrand = (x: number[], p) => {
  let [one, two] = [1, p.less];
  for (let i = 0; i < x.length; i++) {
    one *= x[i] ** -p.p[i];
    two *= x[i] ** -p.q[i];
  }
  return one - two;
};

/** One infinite axis, the others finite with exp(slope·x); `along` is the integral over the infinite one. */
function withFinite(draw: Draw, dims: number, infinite: Range, along: number) {
  const slope = draw.perAxis(dims, axis => (axis === 0 ? 0 : draw.between(-2, 2)));
  const domain: Range[] = [infinite, ...ranges(dims - 1, [0, 1])];
  const truth = slope.reduce((t, s) => t * exponential(s), along);
  return { slope, domain, truth };
}

/** (1 + c·|x|)^−p on [0, ∞), (−∞, 0] or (−∞, ∞). */
const shiftedTail: Kind = {
  name: 'shifted tail',
  dims: upTo(4),
  symmetric: false,
  draw(draw, dims) {
    const p = draw.tailPower();
    const c = draw.size(0.01, 100);
    const range = draw.pick<Range>([[0, Infinity], [0, Infinity], [-Infinity, 0], everywhere]);
    const sides = range === everywhere ? 2 : 1;
    const { slope, domain, truth } = withFinite(draw, dims, range, sides / (c * (p - 1)));
    return { f: shiftedTailOf, params: { p, c, slope }, truth, domain };
  },
};

const shiftedTailOf: Integrand = (x: number[], p) => {
  let s = 0;
  for (let i = 1; i < x.length; i++) s += p.slope[i] * x[i];
  return (1 + p.c * Math.abs(x[0])) ** -p.p * Math.exp(s);
};

/** 1/(x·ln(x)^q) on [2, ∞): beyond 2^53 lies 1/53 of the integral for q = 2. */
const logTail: Kind = {
  name: 'logarithmic tail',
  dims: upTo(3),
  symmetric: false,
  draw(draw, dims) {
    const q = draw.tame ? 3.5 : draw.chance(0.5) ? 2 : draw.between(1.5, 4);
    const along = Math.LN2 ** (1 - q) / (q - 1);
    const { slope, domain, truth } = withFinite(draw, dims, [2, Infinity], along);
    return { f: logTailOf, params: { q, slope }, truth, domain };
  },
};

const logTailOf: Integrand = (x: number[], p) => {
  let s = 0;
  for (let i = 1; i < x.length; i++) s += p.slope[i] * x[i];
  return Math.exp(s) / (x[0] * Math.log(x[0]) ** p.q);
};

/** Π 1/(1 + |x|^p) on R^d; ∫ over R = 2π/(p·sin(π/p)). */
const rational: Kind = {
  name: 'rational',
  dims: upTo(4),
  symmetric: true,
  draw(draw, dims) {
    const p = draw.perAxis(dims, () => draw.tailPower());
    const truth = p.reduce((t, power) => (t * 2 * Math.PI) / (power * Math.sin(Math.PI / power)), 1);
    return { f: rationalOf, params: { p }, truth, domain: ranges(dims, everywhere) };
  },
};

const rationalOf: Integrand = (x: number[], p) => {
  let y = 1;
  for (let i = 0; i < x.length; i++) y *= 1 + Math.abs(x[i]) ** p.p[i];
  return 1 / y;
};

/** (1 + |x|²)^−q on R^d or [0, ∞)^d, with q > d/2; ∫ over R^d = π^(d/2)·Γ(q − d/2)/Γ(q). */
const radial: Kind = {
  name: 'radial tail',
  dims: upTo(5),
  symmetric: true,
  draw(draw, dims) {
    const q = dims / 2 + (draw.tailPower() - 1) / 2;
    const whole = Math.PI ** (dims / 2) * Math.exp(kit.lgamma(q - dims / 2) - kit.lgamma(q));
    const [range, truth] = draw.pick<[Range, number]>([
      [everywhere, whole],
      [[0, Infinity], whole / 2 ** dims],
    ]);
    return { f: radialOf, params: { q }, truth, domain: ranges(dims, range) };
  },
};

const radialOf: Integrand = (x: number[], p) => {
  let s = 1;
  for (let i = 0; i < x.length; i++) s += x[i] * x[i];
  return s ** -p.q;
};

/** A Gaussian on R^d, away from 0; z = x/(1 + |x|) is about what the map makes of x, so that dz = dx/(1 + |x|)². */
const farPeak: Kind = {
  name: 'far peak',
  dims: upTo(5),
  symmetric: true,
  draw(draw, dims) {
    const fraction = draw.fraction();
    const part = fraction ** (1 / dims);
    const at = draw.perAxis(
      dims,
      () => (draw.chance(0.5) ? 1 : -1) * (draw.size(1, draw.tame ? 2 : 100) - 1),
    );
    const width = at.map(v => (2 * part * (1 + Math.abs(v)) ** 2) / Math.sqrt(Math.PI));
    const truth = width.reduce((t, w) => t * Math.sqrt(Math.PI) * w, 1);
    return { f: farPeakOf, params: { at, width }, truth, fraction, domain: ranges(dims, everywhere) };
  },
};

const farPeakOf: Integrand = (x: number[], p) => {
  let s = 0;
  for (let i = 0; i < x.length; i++) s += ((x[i] - p.at[i]) / p.width[i]) ** 2;
  return Math.exp(-s);
};

export const tails: readonly Kind[] = [powerTail, shiftedTail, logTail, rational, radial, farPeak];
