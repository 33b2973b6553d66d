/** Gaussian peaks: one on a background, and two of different width and weight. Genz' product peak is the easy one of them. */
import type { Integrand } from '../../../src/index.ts';
import { kit } from '../../../src/integrand/math/index.ts';
import { background, heightOn, integralOf } from '../background.ts';
import { type Draw, LEAST_FRACTION } from '../draw.ts';
import { type Kind, upTo } from '../kind.ts';

/** ∫ exp(−((x − at)/width)²) over the unit cube. */
const peakIntegral = (at: Float64Array, width: number): number =>
  at.reduce(
    (t, c) => ((t * Math.sqrt(Math.PI) * width) / 2) * (kit.erf((1 - c) / width) + kit.erf(c / width)),
    1,
  );

/** A peak whose integral over all space is a drawn fraction; wider where too much of that would be outside of the cube. */
function peak(draw: Draw, dims: number): { at: Float64Array; width: number; integral: number } {
  const at = draw.perAxis(dims, () => draw.edge());
  let width = draw.fraction() ** (1 / dims) / Math.sqrt(Math.PI);
  while (peakIntegral(at, width) < LEAST_FRACTION) width *= 1.1;
  return { at, width, integral: peakIntegral(at, width) };
}

const spike: Kind = {
  name: 'spike',
  dims: upTo(8),
  symmetric: true,
  draw(draw, dims) {
    const under = background(draw, dims);
    const { at, width, integral: fraction } = peak(draw, dims);
    const height = heightOn(under, fraction, draw);
    const truth = integralOf(under) + height * fraction;
    return { f: spikeOf, params: { ...under, at, width, height }, truth, fraction };
  },
};

const spikeOf: Integrand = (x: number[], p) => {
  let s = 0;
  let r = 0;
  for (let i = 0; i < x.length; i++) {
    s += p.slope[i] * x[i];
    r += ((x[i] - p.at[i]) / p.width) ** 2;
  }
  return p.base * Math.exp(s) + p.height * Math.exp(-r);
};

const twoPeaks: Kind = {
  name: 'two peaks',
  dims: upTo(8),
  symmetric: true,
  draw(draw, dims) {
    const [one, two] = [peak(draw, dims), peak(draw, dims)];
    const base = draw.pick([0, 0, 1]);
    const first = (draw.size(0.1, 10) * (base || 1)) / one.integral;
    const second = (draw.sign() * draw.size(0.02, 1) * first * one.integral) / two.integral;
    const params = { base, at1: one.at, width1: one.width, first, at2: two.at, width2: two.width, second };
    const truth = base + first * one.integral + second * two.integral;
    return { f: twoPeaksOf, params, truth, fraction: Math.min(one.integral, two.integral) };
  },
};

const twoPeaksOf: Integrand = (x: number[], p) => {
  let r1 = 0;
  let r2 = 0;
  for (let i = 0; i < x.length; i++) {
    r1 += ((x[i] - p.at1[i]) / p.width1) ** 2;
    r2 += ((x[i] - p.at2[i]) / p.width2) ** 2;
  }
  return p.base + p.first * Math.exp(-r1) + p.second * Math.exp(-r2);
};

/** Π 1/(1 + (a·(x − u))²) (Genz 1984). */
const productPeak: Kind = {
  name: 'product peak',
  dims: upTo(8),
  symmetric: true,
  draw(draw: Draw, dims) {
    const a = draw.perAxis(dims, () => draw.size(1, draw.tame ? 6 : 30 / Math.sqrt(dims)));
    const u = draw.perAxis(dims, () => draw.unit());
    const truth = a.reduce((t, k, i) => (t / k) * (Math.atan(k * (1 - u[i])) + Math.atan(k * u[i])), 1);
    return { f: productPeakOf, params: { a, u }, truth };
  },
};

const productPeakOf: Integrand = (x: number[], p) => {
  let y = 1;
  for (let i = 0; i < x.length; i++) y *= 1 + (p.a[i] * (x[i] - p.u[i])) ** 2;
  return 1 / y;
};

export const peaks: readonly Kind[] = [spike, twoPeaks, productPeak];
