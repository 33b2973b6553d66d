/** Features whose faces are parallel to the axes: steps, shelves, boxes, frames, and Genz' discontinuous family. */
import type { Integrand } from '../../../src/index.ts';
import { background, exponential, heightOn, integralOf } from '../background.ts';
import { type Draw, LEAST_FRACTION } from '../draw.ts';
import { type Kind, upTo } from '../kind.ts';

/** base·exp(Σ slope·x), and `height` more where from < x < to on every axis. */
const raisedBox: Integrand = (x: number[], p) => {
  let s = 0;
  let inside = true;
  for (let i = 0; i < x.length; i++) {
    s += p.slope[i] * x[i];
    inside = inside && p.from[i] < x[i] && x[i] < p.to[i];
  }
  return p.base * Math.exp(s) + (inside ? p.height : 0);
};

/** Intervals on all axes with the given widths, as two arrays. */
export function placed(draw: Draw, widths: Float64Array): { from: Float64Array; to: Float64Array } {
  const to = new Float64Array(widths.length);
  const from = draw.perAxis(widths.length, axis => draw.interval(widths[axis])[0]);
  widths.forEach((w, axis) => {
    to[axis] = from[axis] + w;
  });
  return { from, to };
}

/** Limits of one axis; the others have none, since −1 < x < 2 everywhere. */
function onOneAxis(draw: Draw, dims: number, [low, high]: readonly [number, number]) {
  const axis = draw.below(dims);
  const from = new Float64Array(dims).fill(-1);
  const to = new Float64Array(dims).fill(2);
  from[axis] = low;
  to[axis] = high;
  return { from, to };
}

const step: Kind = {
  name: 'step',
  dims: upTo(8),
  symmetric: false,
  draw(draw, dims) {
    const under = background(draw, dims);
    const edge = draw.edge();
    const left = draw.chance(0.5);
    const fraction = left ? edge : 1 - edge;
    const height = heightOn(under, Math.max(LEAST_FRACTION, fraction), draw);
    const limits = onOneAxis(draw, dims, left ? [-1, edge] : [edge, 2]);
    const truth = integralOf(under) + height * fraction;
    return { f: raisedBox, params: { ...under, height, ...limits }, truth, fraction };
  },
};

const shelf: Kind = {
  name: 'shelf',
  dims: upTo(8),
  symmetric: false,
  draw(draw, dims) {
    const [from, to] = draw.interval(draw.fraction());
    const fraction = to - from;
    const height = (draw.sign() * draw.size(0.01, 10)) / fraction;
    const params = { height, ...onOneAxis(draw, dims, [from, to]) };
    return { f: shelfOf, params, truth: 1 + height * fraction, fraction };
  },
};

/** 1, and `height` more where from < x < to: constant on both sides, so that rules are exact in all regions but few. */
const shelfOf: Integrand = (x: number[], p) => {
  let inside = true;
  for (let i = 0; i < x.length; i++) inside = inside && p.from[i] < x[i] && x[i] < p.to[i];
  return 1 + (inside ? p.height : 0);
};

const box: Kind = {
  name: 'box',
  dims: upTo(8),
  symmetric: true,
  draw(draw, dims) {
    const under = background(draw, dims);
    const fraction = draw.fraction();
    const limits = placed(draw, draw.factors(dims, fraction));
    const height = heightOn(under, fraction, draw);
    const truth = integralOf(under) + height * volume(limits.from, limits.to);
    return { f: raisedBox, params: { ...under, height, ...limits }, truth, fraction };
  },
};

const volume = (from: Float64Array, to: Float64Array) => from.reduce((v, a, i) => v * (to[i] - a), 1);

const frame: Kind = {
  name: 'frame',
  dims: upTo(8),
  symmetric: true,
  draw(draw, dims) {
    const hole = draw.between(0.1, 0.97); // the part of the outer box that the inner one takes away
    const outer = Math.min(0.95, draw.fraction() / (1 - hole));
    const fraction = outer * (1 - hole);
    const { from, to } = placed(draw, draw.factors(dims, outer));
    const shrink = draw.factors(dims, hole);
    const shift = draw.perAxis(dims, () => draw.unit());
    const innerFrom = from.map((a, i) => a + shift[i] * (1 - shrink[i]) * (to[i] - a));
    const innerTo = innerFrom.map((a, i) => a + shrink[i] * (to[i] - from[i]));
    const base = draw.pick([0, 1]);
    const height = heightOn({ base, slope: new Float64Array(dims) }, fraction, draw);
    const truth = base + height * (volume(from, to) - volume(innerFrom, innerTo));
    return { f: frameOf, params: { base, height, from, to, innerFrom, innerTo }, truth, fraction };
  },
};

const frameOf: Integrand = (x: number[], p) => {
  let outer = true;
  let inner = true;
  for (let i = 0; i < x.length; i++) {
    outer = outer && p.from[i] < x[i] && x[i] < p.to[i];
    inner = inner && p.innerFrom[i] < x[i] && x[i] < p.innerTo[i];
  }
  return p.base + (outer && !inner ? p.height : 0);
};

/** exp(Σ a·x) below u on every axis and 0 beyond (Genz, "Testing multidimensional integration routines", 1984). */
const cut: Kind = {
  name: 'cut exponential',
  dims: upTo(8),
  symmetric: true,
  draw(draw, dims) {
    const fraction = draw.fraction();
    const u = draw.factors(dims, fraction);
    const a = draw.perAxis(dims, () => draw.between(-4, 4));
    const truth = a.reduce((t, s, i) => t * u[i] * exponential(s * u[i]), 1);
    return { f: cutOf, params: { a, u }, truth, fraction };
  },
};

const cutOf: Integrand = (x: number[], p) => {
  let s = 0;
  for (let i = 0; i < x.length; i++) {
    if (x[i] > p.u[i]) return 0;
    s += p.a[i] * x[i];
  }
  return Math.exp(s);
};

export const steps: readonly Kind[] = [step, shelf, box, frame, cut];
