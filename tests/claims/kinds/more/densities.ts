/** Densities and options, mostly over infinite ranges: Student's t, calls, digital and exchange options, gamma and beta densities, Planck's law. */
import type { Integrand } from '../../../../src/index.ts';
import type { Range } from '../../../../src/integrand/domain.ts';
import { kit } from '../../../../src/integrand/math/index.ts';
import { type Draw, LEAST_FRACTION } from '../../draw.ts';
import { type Kind, upTo } from '../../kind.ts';
import { everywhere, farAndWide, gamma, normal, product, ranges, sum, until } from './shared.ts';

/** Densities of Student's t, away from 0. */
const student: Kind = {
  name: 'Student',
  dims: upTo(4),
  symmetric: false,
  draw(draw, dims) {
    const { at, width, fraction } = farAndWide(draw, dims);
    const nu = draw.perAxis(dims, () => (draw.tame ? draw.between(2, 6) : draw.size(0.8, 30)));
    const scale = nu.map(
      (v, i) => Math.exp(kit.lgamma((v + 1) / 2) - kit.lgamma(v / 2)) / (Math.sqrt(v * Math.PI) * width[i]),
    );
    const params = { at, width, nu, scale: product(scale) };
    return { f: studentOf, params, truth: 1, fraction, domain: ranges(dims, everywhere) };
  },
};

const studentOf: Integrand = (x: number[], p) => {
  let y = p.scale;
  for (let i = 0; i < x.length; i++)
    y *= (1 + ((x[i] - p.at[i]) / p.width[i]) ** 2 / p.nu[i]) ** (-(p.nu[i] + 1) / 2);
  return y;
};

/** Black and Scholes: the mean of max(0, spot·e^(σz − σ²/2) − strike). */
function call(spot: number, strike: number, sigma: number): number {
  const d1 = Math.log(spot / strike) / sigma + sigma / 2;
  return spot * normal(d1) - strike * normal(d1 - sigma);
}

/** R^d, or a part of it that has all of the standard normal density but 1e-19. */
const normalDomain = (draw: Draw, dims: number): Range[] =>
  ranges(dims, draw.pick<Range>([everywhere, everywhere, [-10, 10], [-9, 11]]));

/** A call on a price that many normal factors move. */
const callOption: Kind = {
  name: 'call option',
  dims: upTo(6),
  symmetric: false,
  draw(draw, dims) {
    const weights = draw.perAxis(dims, () => draw.sign() * draw.between(0.1, 1));
    const sigma = draw.size(0.05, 1);
    const s = weights.map(w => (w * sigma) / Math.hypot(...weights));
    const strike = until(
      () => draw.size(0.3, draw.tame ? 1 : 3),
      k => call(1, k, sigma) > 1e-4,
    );
    const params = { s, drift: -sigma * sigma * 0.5, strike };
    return { f: callOptionOf, params, truth: call(1, strike, sigma), domain: normalDomain(draw, dims) };
  },
};

const callOptionOf: Integrand = (x: number[], p) => {
  let y = 1;
  let along = p.drift;
  for (let i = 0; i < x.length; i++) {
    along += p.s[i] * x[i];
    y *= Math.exp(-0.5 * x[i] * x[i]) / Math.sqrt(2 * Math.PI);
  }
  return y * Math.max(0, Math.exp(Math.min(along, 700)) - p.strike);
};

/** The normal density where from < n·z < to: a digital option on a basket. */
const digital: Kind = {
  name: 'digital option',
  dims: upTo(6),
  symmetric: false,
  draw(draw, dims) {
    const weights = draw.perAxis(dims, axis =>
      axis > 0 && draw.chance(0.2) ? 0 : draw.sign() * draw.between(0.1, 1),
    );
    const n = weights.map(w => w / Math.hypot(...weights));
    const { from, to, truth } = until(
      () => {
        const low = draw.between(-2, draw.tame ? 1 : 3.7);
        const high = draw.chance(0.5) ? 100 : low + draw.size(1e-3, 1);
        return { from: low, to: high, truth: normal(-low) - normal(-high) };
      },
      drawn => drawn.truth > (draw.tame ? 0.05 : LEAST_FRACTION),
    );
    return { f: digitalOf, params: { n, from, to }, truth, domain: normalDomain(draw, dims) };
  },
};

const digitalOf: Integrand = (x: number[], p) => {
  let y = 1;
  let along = 0;
  for (let i = 0; i < x.length; i++) {
    along += p.n[i] * x[i];
    y *= Math.exp(-0.5 * x[i] * x[i]) / Math.sqrt(2 * Math.PI);
  }
  return p.from < along && along < p.to ? y : 0;
};

/** Margrabe's option to exchange one asset for another, and smooth factors beside it. */
const exchange: Kind = {
  name: 'exchange option',
  dims: [2, 3, 4],
  symmetric: false,
  draw(draw, dims) {
    const { s1, s2, rho, ratio, truth } = until(
      () => {
        const [a, b] = [draw.size(0.05, 0.8), draw.size(0.05, 0.8)];
        const [correlation, spot] = [draw.between(-0.95, 0.95), draw.size(0.5, 2)];
        const sigma = Math.sqrt(a * a + b * b - 2 * correlation * a * b);
        return { s1: a, s2: b, rho: correlation, ratio: spot, truth: call(spot, 1, sigma) };
      },
      drawn => drawn.truth > 1e-3,
    );
    const params = { s1, s2, rho, rest: Math.sqrt(1 - rho * rho), ratio };
    return { f: exchangeOf, params, truth, domain: normalDomain(draw, dims) };
  },
};

const exchangeOf: Integrand = (x: number[], p) => {
  let y = 1;
  for (let i = 0; i < x.length; i++) y *= Math.exp(-0.5 * x[i] * x[i]) / Math.sqrt(2 * Math.PI);
  const one = p.ratio * Math.exp(Math.min(700, p.s1 * x[0] - 0.5 * p.s1 * p.s1));
  const two = Math.exp(Math.min(700, p.s2 * (p.rho * x[0] + p.rest * x[1]) - 0.5 * p.s2 * p.s2));
  return y * Math.max(0, one - two);
};

/** A call on x₁ with densities of logarithmic normal variables on [0, ∞)^d. */
const lognormal: Kind = {
  name: 'lognormal call',
  dims: upTo(4),
  symmetric: false,
  draw(draw, dims) {
    const sigma = draw.perAxis(dims, () => draw.size(draw.tame ? 0.3 : 0.1, 1));
    const spot = draw.perAxis(dims, () => draw.size(0.2, 5));
    const strike = until(
      () => spot[0] * draw.size(0.3, draw.tame ? 1 : 3),
      k => call(spot[0], k, sigma[0]) > 1e-3 * spot[0],
    );
    const mu = spot.map((v, i) => Math.log(v) - (sigma[i] * sigma[i]) / 2);
    const truth = call(spot[0], strike, sigma[0]);
    return { f: lognormalOf, params: { sigma, mu, strike }, truth, domain: ranges(dims, [0, Infinity]) };
  },
};

const lognormalOf: Integrand = (x: number[], p) => {
  let y = Math.max(0, x[0] - p.strike);
  for (let i = 0; i < x.length; i++) {
    const z = (Math.log(x[i]) - p.mu[i]) / p.sigma[i];
    y *= Math.exp(-0.5 * z * z) / (x[i] * p.sigma[i] * Math.sqrt(2 * Math.PI));
  }
  return y;
};

/** Gamma densities on [0, ∞)^d. */
const gammas: Kind = {
  name: 'gamma densities',
  dims: upTo(4),
  symmetric: false,
  draw(draw, dims) {
    const { a, scale } = until(
      () => ({
        a: draw.perAxis(dims, () => draw.size(draw.tame ? 1 : 0.2, draw.tame ? 5 : 20)),
        scale: draw.perAxis(dims, () => draw.size(0.02, draw.tame ? 2 : 30)),
      }),
      drawn =>
        product(
          drawn.a.map((v, i) => (2.5 * Math.sqrt(v) * drawn.scale[i]) / (1 + v * drawn.scale[i]) ** 2),
        ) > (draw.tame ? 0.005 : LEAST_FRACTION),
    );
    const norm = -sum(a.map((v, i) => kit.lgamma(v) + v * Math.log(scale[i])));
    return { f: gammasOf, params: { a, scale, norm }, truth: 1, domain: ranges(dims, [0, Infinity]) };
  },
};

const gammasOf: Integrand = (x: number[], p) => {
  let s = p.norm;
  for (let i = 0; i < x.length; i++) s += (p.a[i] - 1) * Math.log(x[i]) - x[i] / p.scale[i];
  return Math.exp(s);
};

/** Beta densities. */
const betas: Kind = {
  name: 'beta densities',
  dims: upTo(6),
  symmetric: false,
  draw(draw, dims) {
    const one = () => draw.size(draw.tame ? 1 : 0.25, 60);
    const { a, b } = until(
      () => ({ a: draw.perAxis(dims, one), b: draw.perAxis(dims, one) }),
      drawn =>
        product(
          drawn.a.map((v, i) => {
            const whole = v + drawn.b[i];
            return Math.min(1, 3.5 * Math.sqrt((v * drawn.b[i]) / (whole * whole * (whole + 1))));
          }),
        ) > (draw.tame ? 0.02 : LEAST_FRACTION),
    );
    const norm = sum(a.map((v, i) => kit.lgamma(v + b[i]) - kit.lgamma(v) - kit.lgamma(b[i])));
    return { f: betasOf, params: { a, b, norm }, truth: 1 };
  },
};

const betasOf: Integrand = (x: number[], p) => {
  let s = p.norm;
  for (let i = 0; i < x.length; i++) s += (p.a[i] - 1) * Math.log(x[i]) + (p.b[i] - 1) * Math.log(1 - x[i]);
  return Math.exp(s);
};

/** Π x^(s−1)/(exp(x/t) − 1) on [0, ∞)^d; ∫ = Γ(s)·ζ(s)·t^s. */
const planck: Kind = {
  name: 'Planck',
  dims: upTo(4),
  symmetric: false,
  draw(draw, dims) {
    const zeta: Record<number, number> = {
      1.5: 2.612375348685488,
      2: 1.6449340668482264,
      3: 1.2020569031595942,
      4: 1.0823232337111381,
    };
    const s = draw.perAxis(dims, () => draw.pick(draw.tame ? [2, 3, 4] : [1.5, 2, 3, 4]));
    const t = draw.perAxis(dims, () => draw.size(0.1, 10));
    const truth = s.reduce((y, v, i) => y * gamma(v) * zeta[v] * t[i] ** v, 1);
    return { f: planckOf, params: { s, t }, truth, domain: ranges(dims, [0, Infinity]) };
  },
};

const planckOf: Integrand = (x: number[], p) => {
  let y = 1;
  for (let i = 0; i < x.length; i++)
    y *= Math.exp((p.s[i] - 1) * Math.log(x[i]) - x[i] / p.t[i]) / -Math.expm1(-x[i] / p.t[i]);
  return y;
};

export const densities: readonly Kind[] = [
  student,
  callOption,
  digital,
  exchange,
  lognormal,
  gammas,
  betas,
  planck,
];
