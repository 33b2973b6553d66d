/** Features between oblique planes: half-spaces, slabs, and hinges max(0, n·x − c), which bend at a plane. */
import type { Integrand } from '../../../src/index.ts';
import { background, heightOn, integralOf } from '../background.ts';
import type { Draw } from '../draw.ts';
import { between, cutOff, onGrid, quantile } from '../half-spaces.ts';
import { type Kind, upTo } from '../kind.ts';

/** base·exp(Σ slope·x), and `height` more where from < n·x < to. */
const raisedSlab: Integrand = (x: number[], p) => {
  let s = 0;
  let along = 0;
  for (let i = 0; i < x.length; i++) {
    s += p.slope[i] * x[i];
    along += p.n[i] * x[i];
  }
  return p.base * Math.exp(s) + (p.from < along && along < p.to ? p.height : 0);
};

/** More than n·x is anywhere in the unit cube. */
const BEYOND = 16;

/** A direction: oblique, on the diagonal, or in a plane of few axes. */
function direction(draw: Draw, dims: number): Float64Array {
  const diagonal = draw.chance(0.2);
  const kept = draw.below(dims);
  const sparse = !draw.symmetric && draw.chance(0.3);
  return draw.perAxis(dims, axis => {
    if (sparse && axis !== kept && draw.chance(0.6)) return 0;
    return diagonal ? 1 : onGrid((draw.chance(0.5) ? 1 : -1) * draw.between(0.2, 1));
  });
}

const halfSpace: Kind = {
  name: 'half-space',
  dims: upTo(8),
  symmetric: true,
  draw(draw, dims) {
    const under = background(draw, dims);
    const n = direction(draw, dims);
    const part = draw.fraction();
    const from = quantile([...n], draw.chance(0.1) ? 0.5 : 1 - part); // 0.5: through the middle of the domain
    const fraction = between([...n], from, BEYOND);
    const height = heightOn(under, fraction, draw);
    const params = { ...under, n, from, to: BEYOND, height };
    return { f: raisedSlab, params, truth: integralOf(under) + height * fraction, fraction };
  },
};

const slab: Kind = {
  name: 'slab',
  dims: upTo(8),
  symmetric: true,
  draw(draw, dims) {
    const under = background(draw, dims);
    const n = direction(draw, dims);
    const [low, high] = draw.interval(draw.fraction());
    const [from, to] = [quantile([...n], low), quantile([...n], high)];
    const fraction = between([...n], from, to);
    const height = heightOn(under, fraction, draw);
    const truth = integralOf(under) + height * fraction;
    return { f: raisedSlab, params: { ...under, n, from, to, height }, truth, fraction };
  },
};

const hinge: Kind = {
  name: 'hinge',
  dims: upTo(8),
  symmetric: true,
  draw(draw, dims) {
    const n = direction(draw, dims);
    const c = quantile([...n], draw.chance(0.3) ? draw.unit() : draw.fraction());
    const fraction = cutOff([...n], c);
    const hinged = cutOff([...n], c, 1);
    const base = draw.pick([0, 0, 1]);
    const height = (draw.sign() * draw.size(0.01, 10)) / hinged;
    return { f: hingeOf, params: { n, c, base, height }, truth: base + height * hinged, fraction };
  },
};

const hingeOf: Integrand = (x: number[], p) => {
  let along = 0;
  for (let i = 0; i < x.length; i++) along += p.n[i] * x[i];
  return p.base + p.height * Math.max(0, p.c - along);
};

export const planes: readonly Kind[] = [halfSpace, slab, hinge];
