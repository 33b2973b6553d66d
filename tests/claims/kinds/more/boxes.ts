/** Boxes of either sign, boxes and spikes on domains of any place and size, and boxes on tails over infinite ranges. */
import type { Integrand } from '../../../../src/index.ts';
import type { Range } from '../../../../src/integrand/domain.ts';
import { background, heightOn, integralOf } from '../../background.ts';
import type { Draw } from '../../draw.ts';
import { type Kind, upTo } from '../../kind.ts';
import { bell, boxOf, everywhere, peakOf, product, ranges, volume } from './shared.ts';

/** Two to six boxes of either sign on a background. */
const boxes: Kind = {
  name: 'boxes',
  dims: upTo(6),
  symmetric: false,
  draw(draw, dims) {
    const count = 2 + draw.below(5);
    const under = background(draw, dims);
    const all = Array.from({ length: count }, () => boxOf(draw, dims, draw.fraction()));
    const heights = Float64Array.from(
      all,
      ({ from, to }) => (heightOn(under, volume(from, to), draw) / count) * draw.pick([1, -1]),
    );
    const from = Float64Array.from(all.flatMap(b => [...b.from]));
    const to = Float64Array.from(all.flatMap(b => [...b.to]));
    const truth = all.reduce((t, b, i) => t + heights[i] * volume(b.from, b.to), integralOf(under));
    const fraction = Math.min(...all.map(b => volume(b.from, b.to)));
    return { f: boxesOf, params: { ...under, heights, from, to }, truth, fraction };
  },
};

const boxesOf: Integrand = (x: number[], p) => {
  let s = 0;
  for (let i = 0; i < x.length; i++) s += p.slope[i] * x[i];
  let y = p.base * Math.exp(s);
  for (let k = 0; k < p.heights.length; k++) {
    let inside = true;
    for (let i = 0; i < x.length; i++)
      inside = inside && p.from[k * x.length + i] < x[i] && x[i] < p.to[k * x.length + i];
    if (inside) y += p.heights[k];
  }
  return y;
};

/** A box on a domain that is tiny or huge, and far from 0. */
const boxAnywhere: Kind = {
  name: 'box on any domain',
  dims: upTo(6),
  symmetric: false,
  draw(draw, dims) {
    const { domain, lengths } = anyDomain(draw, dims);
    const fraction = draw.fraction();
    const unit = boxOf(draw, dims, fraction);
    const from = unit.from.map((v, i) => domain[i][0] + v * lengths[i]);
    const to = unit.to.map((v, i) => domain[i][0] + v * lengths[i]);
    const height = (draw.sign() * draw.size(0.01, 10)) / fraction;
    const truth = product(lengths) + height * volume(from, to);
    return { f: boxOn, params: { from, to, height }, truth, fraction, domain };
  },
};

const boxOn: Integrand = (x: number[], p) => {
  let inside = true;
  for (let i = 0; i < x.length; i++) inside = inside && p.from[i] < x[i] && x[i] < p.to[i];
  return 1 + (inside ? p.height : 0);
};

function anyDomain(draw: Draw, dims: number): { domain: Range[]; lengths: Float64Array } {
  const domain = Array.from({ length: dims }, (): Range => {
    const length = draw.size(1e-6, 1e6);
    const from = draw.chance(0.3) ? 0 : (draw.chance(0.5) ? 1 : -1) * length * draw.size(0.01, 1e3);
    return [from, from + length];
  });
  return { domain, lengths: Float64Array.from(domain, ([a, b]) => b - a) };
}

/** A Gaussian peak on a domain that is tiny or huge, and far from 0. */
const spikeAnywhere: Kind = {
  name: 'spike on any domain',
  dims: upTo(6),
  symmetric: false,
  draw(draw, dims) {
    const { domain, lengths } = anyDomain(draw, dims);
    const { at: place, width: w, fraction } = peakOf(draw, dims);
    const at = place.map((v, i) => domain[i][0] + v * lengths[i]);
    const width = lengths.map(v => v * w);
    const height = (draw.sign() * draw.size(0.01, 10)) / fraction;
    const own = at.map((v, i) => bell((v - domain[i][0]) / lengths[i], w));
    const truth = product(lengths) * (1 + height * product(own));
    return { f: spikeOn, params: { at, width, height }, truth, fraction, domain };
  },
};

const spikeOn: Integrand = (x: number[], p) => {
  let r = 0;
  for (let i = 0; i < x.length; i++) r += ((x[i] - p.at[i]) / p.width[i]) ** 2;
  return 1 + p.height * Math.exp(-r);
};

/** A box in R^d, with densities of Cauchy under it. */
const boxOnTails: Kind = {
  name: 'box on tails',
  dims: upTo(5),
  symmetric: false,
  draw(draw, dims) {
    const fraction = draw.fraction();
    const unit = boxOf(draw, dims, fraction);
    const far = (t: number) => {
      const u = 1.4 * t - 0.7; // further out a box has most of its volume in few of its points
      return u / (1 - Math.abs(u));
    };
    const [from, to] = [unit.from.map(far), unit.to.map(far)];
    const height = (draw.sign() * draw.size(0.01, 10)) / volume(from, to);
    const truth = 1 + height * volume(from, to);
    return {
      f: boxOnTailsOf,
      params: { from, to, height },
      truth,
      fraction,
      domain: ranges(dims, everywhere),
    };
  },
};

const boxOnTailsOf: Integrand = (x: number[], p) => {
  let y = 1;
  let inside = true;
  for (let i = 0; i < x.length; i++) {
    y /= Math.PI * (1 + x[i] * x[i]);
    inside = inside && p.from[i] < x[i] && x[i] < p.to[i];
  }
  return y + (inside ? p.height : 0);
};

export const manyBoxes: readonly Kind[] = [boxes, boxAnywhere, spikeAnywhere, boxOnTails];
