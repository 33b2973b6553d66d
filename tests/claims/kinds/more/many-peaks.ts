/** Peaks: rings, oblique Gaussians, resonances, clusters and lattices of peaks, spikes on corners, orbitals. */
import type { Integrand } from '../../../../src/index.ts';
import type { Range } from '../../../../src/integrand/domain.ts';
import { LEAST_FRACTION } from '../../draw.ts';
import { type Kind, upTo } from '../../kind.ts';
import {
  around,
  aspects,
  everywhere,
  extents,
  farAndWide,
  gamma,
  peakOf,
  product,
  quadrature,
  ranges,
  rotation,
  unitBall,
  until,
} from './shared.ts';

/** A ring of Gaussian profile on [−1, 1]^d. */
const ring: Kind = {
  name: 'ring',
  dims: upTo(5, 2),
  symmetric: false,
  draw(draw, dims) {
    const { radius, w, own } = until(
      () => {
        const r = draw.between(0.1, 0.9);
        const width = r * draw.size(draw.tame ? 0.1 : 0.003, 0.3);
        const g = (t: number) =>
          dims * unitBall(dims) * t ** (dims - 1) * Math.exp(-(((t - r) / width) ** 2));
        const limits = [Math.max(0, r - 8 * width), r + 8 * width] as const;
        return { radius: r, w: width, own: quadrature(g, around(r, width, limits)) };
      },
      drawn => drawn.radius + 6 * drawn.w < 1 && drawn.own > 2 ** dims * (draw.tame ? 0.002 : LEAST_FRACTION),
    );
    const free = 1 - radius - 6 * w;
    const at = draw.perAxis(dims, () => free * draw.between(-1, 1));
    const base = draw.pick([0, 1]);
    const height = (draw.sign() * draw.size(0.1, 10)) / own;
    const truth = 2 ** dims * base + height * own;
    const params = { at, radius, w, base, height };
    return { f: ringOf, params, truth, fraction: own / 2 ** dims, domain: ranges(dims, [-1, 1]) };
  },
};

const ringOf: Integrand = (x: number[], p) => {
  let r = 0;
  for (let i = 0; i < x.length; i++) r += (x[i] - p.at[i]) ** 2;
  return p.base + p.height * Math.exp(-(((Math.sqrt(r) - p.radius) / p.w) ** 2));
};

/** An oblique Gaussian with a condition number of up to 1e3, in R^d or in a box that has all of it but 1e-13. */
const rotated: Kind = {
  name: 'oblique Gaussian',
  dims: upTo(5, 2),
  symmetric: false,
  draw(draw, dims) {
    const r = rotation(draw, dims);
    const ratios = aspects(draw, dims, draw.tame ? 3 : Math.sqrt(1000));
    const { at, width, fraction: mapped } = farAndWide(draw, dims);
    const size = product(width) ** (1 / dims) / Math.SQRT2;
    const s = ratios.map(v => v * size);
    const reach = extents(r, s).map(v => 7.6 * v);
    const truth = product(s) * (2 * Math.PI) ** (dims / 2);
    const boxed = truth / product(reach.map(v => 2 * v));
    const isBoxed = boxed > (draw.tame ? 0.01 : LEAST_FRACTION) && draw.chance(0.6);
    const domain = isBoxed
      ? Array.from(at, (c, i): Range => [c - reach[i] * draw.size(1, 1.3), c + reach[i] * draw.size(1, 1.3)])
      : ranges(dims, everywhere);
    const fraction = isBoxed ? boxed : mapped;
    return { f: rotatedOf, params: { r, s, at }, truth, fraction, domain };
  },
};

const rotatedOf: Integrand = (x: number[], p) => {
  let q = 0;
  for (let k = 0; k < x.length; k++) {
    let along = 0;
    for (let i = 0; i < x.length; i++) along += p.r[k * x.length + i] * (x[i] - p.at[i]);
    q += (along / p.s[k]) ** 2;
  }
  return Math.exp(-q / 2);
};

/** Products of resonances MΓ/π/((s − M²)² + M²Γ²) over squared energies, each axis with one or two of them. */
const resonances: Kind = {
  name: 'resonances',
  dims: upTo(4),
  symmetric: false,
  draw(draw, dims) {
    const drawn = until(
      () => {
        const mass = draw.perAxis(2 * dims, () => draw.size(1, 100));
        const width = mass.map(m => m * draw.size(draw.tame ? 0.1 : 1e-3, 0.3));
        const most = draw.perAxis(
          dims,
          axis => (draw.size(1.1, 3) * Math.max(mass[2 * axis], mass[2 * axis + 1])) ** 2,
        );
        const least = (i: number) => Math.min(mass[2 * i] * width[2 * i], mass[2 * i + 1] * width[2 * i + 1]);
        const fraction = most.reduce((t, e, i) => (t * Math.PI * least(i)) / e, 1);
        return { mass, width, most, fraction };
      },
      ({ fraction }) => fraction > (draw.tame ? 0.002 : LEAST_FRACTION),
    );
    const { mass, width, most, fraction } = drawn;
    const second = draw.pick([0, 1, draw.size(0.01, 1)]);
    const along = (i: number, e: number) =>
      (Math.atan((e - mass[i] ** 2) / (mass[i] * width[i])) + Math.atan(mass[i] / width[i])) / Math.PI;
    const truth = most.reduce((t, e, i) => t * (along(2 * i, e) + second * along(2 * i + 1, e)), 1);
    const domain = Array.from(most, (e): Range => [0, e]);
    return { f: resonancesOf, params: { mass, width, second }, truth, fraction, domain };
  },
};

const resonancesOf: Integrand = (x: number[], p) => {
  let y = 1;
  for (let i = 0; i < x.length; i++) {
    const m1 = p.mass[2 * i];
    const m2 = p.mass[2 * i + 1];
    const g1 = m1 * p.width[2 * i];
    const g2 = m2 * p.width[2 * i + 1];
    const one = g1 / ((x[i] - m1 * m1) ** 2 + g1 * g1);
    const two = g2 / ((x[i] - m2 * m2) ** 2 + g2 * g2);
    y *= (one + p.second * two) / Math.PI;
  }
  return y;
};

/** Four to twelve Gaussian peaks of the same height. */
const cluster: Kind = {
  name: 'cluster of peaks',
  dims: upTo(6),
  symmetric: false,
  draw(draw, dims) {
    const count = 4 + draw.below(9);
    const drawn = Array.from({ length: count }, () => peakOf(draw, dims));
    const at = Float64Array.from(drawn.flatMap(d => [...d.at]));
    const width = Float64Array.from(drawn, d => d.width);
    const own = drawn.reduce((t, d) => t + d.fraction, 0);
    const base = draw.pick([0, 1]);
    const height = draw.size(0.1, 10) / own;
    const fraction = Math.min(...drawn.map(d => d.fraction));
    return { f: clusterOf, params: { at, width, base, height }, truth: base + height * own, fraction };
  },
};

const clusterOf: Integrand = (x: number[], p) => {
  let y = 0;
  for (let k = 0; k < p.width.length; k++) {
    let r = 0;
    for (let i = 0; i < x.length; i++) r += ((x[i] - p.at[k * x.length + i]) / p.width[k]) ** 2;
    y += Math.exp(-r);
  }
  return p.base + p.height * y;
};

/** base + height·Π exp(κ·(cos 2π(m·x − φ) − 1)): peaks on a lattice, of whole periods on each axis. */
const lattice: Kind = {
  name: 'lattice of peaks',
  dims: upTo(4),
  symmetric: false,
  draw(draw, dims) {
    const most = [0, 40, 12, 6, 4][dims];
    const m = draw.perAxis(dims, () =>
      draw.chance(0.4) ? 2 ** draw.below(1 + Math.log2(most)) : 1 + draw.below(most),
    );
    const phase = draw.perAxis(dims, () => (draw.chance(0.3) ? 0 : draw.edge()));
    const part = draw.factors(dims, Math.max(1e-3, draw.fraction()));
    const sharpness = part.map(v => 1 / (2 * Math.PI * v * v));
    const own = product(sharpness.map(k => vonMises(k)));
    const base = draw.pick([0, 1]);
    const height = (draw.sign() * draw.size(0.01, 10)) / own;
    const params = { m, phase, sharpness, base, height };
    return { f: latticeOf, params, truth: base + height * own, fraction: own };
  },
};

/** ∫ exp(k·(cos 2πx − 1)) over [0, 1], by a sum that has an error of rounding. */
function vonMises(k: number): number {
  const points = 2 ** 14;
  let total = 0;
  for (let i = 0; i < points; i++) total += Math.exp(-2 * k * Math.sin((Math.PI * i) / points) ** 2);
  return total / points;
}

const latticeOf: Integrand = (x: number[], p) => {
  let s = 0;
  for (let i = 0; i < x.length; i++)
    s += p.sharpness[i] * (Math.cos(2 * Math.PI * (p.m[i] * x[i] - p.phase[i])) - 1);
  return p.base + p.height * Math.exp(s);
};

/** A peak inside on a product of singularities at 0. */
const spikeOnSingular: Kind = {
  name: 'spike on a corner',
  dims: upTo(4),
  symmetric: false,
  draw(draw, dims) {
    const a = draw.perAxis(dims, () => (draw.tame ? draw.between(0.1, 0.4) : draw.between(0.1, 0.7)));
    const { at, width, fraction } = peakOf(draw, dims);
    const height = (draw.sign() * draw.size(0.01, 3)) / fraction;
    const params = { a, at, width, height };
    return { f: spikeOnSingularOf, params, truth: 1 + height * fraction, fraction };
  },
};

const spikeOnSingularOf: Integrand = (x: number[], p) => {
  let y = 1;
  let r = 0;
  for (let i = 0; i < x.length; i++) {
    y *= (1 - p.a[i]) * x[i] ** -p.a[i];
    r += ((x[i] - p.at[i]) / p.width) ** 2;
  }
  return y + p.height * Math.exp(-r);
};

/** exp(−a·|x − at|)/|x − at|^s over R^d: orbitals of Slater, and potentials of Yukawa. */
const orbital: Kind = {
  name: 'orbital',
  dims: upTo(5),
  symmetric: false,
  draw(draw, dims) {
    const { at, width, fraction } = farAndWide(draw, dims);
    const a = 2 / product(width) ** (1 / dims);
    const s = dims > 2 && draw.chance(0.5) ? 1 : 0;
    const truth = (dims * unitBall(dims) * gamma(dims - s)) / a ** (dims - s);
    return { f: orbitalOf, params: { a, s, at }, truth, fraction, domain: ranges(dims, everywhere) };
  },
};

const orbitalOf: Integrand = (x: number[], p) => {
  let r = 0;
  for (let i = 0; i < x.length; i++) r += (x[i] - p.at[i]) ** 2;
  return Math.exp(-p.a * Math.sqrt(r)) / (p.s > 0 ? Math.sqrt(r) : 1);
};

export const manyPeaks: readonly Kind[] = [
  ring,
  rotated,
  resonances,
  cluster,
  lattice,
  spikeOnSingular,
  orbital,
];
