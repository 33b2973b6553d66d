/**
 * The applications of cuVegas: an Asian option (section 4.5.1) and a path integral (section 4.6).
 *
 * The option. Eq. 11, taken as printed, is no average of prices: it is one log-normal price of variance n·σ²T,
 * and has a closed form. `asian_printed` is that. The option that the paper means and its reference
 * (Glasserman, Monte Carlo Methods in Financial Engineering) defines, the mean price at n dates, is
 * `asian_arithmetic`; with the geometric mean, `asian_geometric`, it has a closed form again. The paper gives no
 * parameters: here S0 = K = 100, r = 0.05, σ = 0.2, T = 1, n = 16.
 *
 * The path integral. Eq. 12 and 13 for the harmonic oscillator, with the choices of the paper's reference (Lepage,
 * Lattice QCD for novices): m = 1, T = 4, N = 8, A = (m/2πa)^(N/2), x_j within [−5, 5]. The truth is the exact
 * propagator of the discretised action over all x_j; what the range cuts off is less than 1e-11 of it. The
 * entry `path_integral_infinite` has the infinite ranges of eq. 12.
 */

import type { SpecialFunctions } from '../../src/integrand/compile.ts';
import { asianGeometric, asianPrinted, discretePropagator } from './closed-forms.ts';
import { cube, type Entry, entry } from './entry.ts';

const n = 16;
const market = { S0: 100, K: 100, r: 0.05, sigma: 0.2, T: 1 };
type Market = typeof market;

const oscillator = { x0: 0.5, m: 1, T: 4 };
const N = 8;

/** exp(-S_lat) times A; the N - 1 coordinates are the path between its fixed ends. */
function path(x: number[], { x0, m, T }: typeof oscillator) {
  const N = x.length + 1;
  const a = T / N;
  const V = (q: number) => q ** 2 / 2;
  let S = 0;
  let from = x0;
  for (let j = 0; j < N; j++) {
    const to = j < N - 1 ? x[j] : x0;
    S += (m / (2 * a)) * (to - from) ** 2 + a * V(from);
    from = to;
  }
  return (m / (2 * Math.PI * a)) ** (N / 2) * Math.exp(-S);
}

export const applications: Entry[] = [
  entry({
    name: `asian_printed_${n}`,
    paper: 'cuVegas eq. 10, 11 as printed',
    dims: n,
    domain: cube(n),
    params: market,
    f: (x, p, { erfinv }) => {
      const z = x.reduce((s, xi) => s + erfinv(2 * xi - 1) * Math.SQRT2, 0);
      const S = p.S0 * Math.exp((p.r - p.sigma ** 2 / 2) * p.T + p.sigma * Math.sqrt(p.T) * z);
      return Math.exp(-p.r * p.T) * Math.max(S - p.K, 0);
    },
    truth: asianPrinted(market, n),
    scale: market.S0, // price less strike
  }),
  entry({
    name: `asian_arithmetic_${n}`,
    paper: 'cuVegas section 4.5.1',
    dims: n,
    domain: cube(n),
    params: market,
    f: (x: number[], { S0, K, r, sigma, T }: Market, m: SpecialFunctions) => {
      const dt = T / x.length;
      let S = S0;
      let sum = 0;
      for (let i = 0; i < x.length; i++) {
        const z = Math.SQRT2 * m.erfinv(2 * x[i] - 1);
        S *= Math.exp((r - (sigma * sigma) / 2) * dt + sigma * Math.sqrt(dt) * z);
        sum += S;
      }
      const average = sum / x.length;
      return average > K ? Math.exp(-r * T) * (average - K) : 0;
    },
    truth: 6.05789702594, // by quadrature, one step at a time: W = R·(1 + W′) from the last date to the first
    scale: market.S0,
  }),
  entry({
    name: `asian_geometric_${n}`,
    paper: 'cuVegas section 4.5.1, geometric mean',
    dims: n,
    domain: cube(n),
    params: market,
    f: (x, p, m) => {
      const dt = p.T / x.length;
      let logS = Math.log(p.S0);
      let sum = 0;
      for (const xi of x) {
        logS += (p.r - p.sigma ** 2 / 2) * dt + p.sigma * Math.sqrt(2 * dt) * m.erfinv(2 * xi - 1);
        sum += logS;
      }
      const average = Math.exp(sum / x.length);
      return Math.exp(-p.r * p.T) * Math.max(average - p.K, 0);
    },
    truth: asianGeometric(market, n),
    scale: market.S0,
  }),
  entry({
    name: `path_integral_${N - 1}`,
    paper: 'cuVegas eq. 12, 13',
    dims: N - 1,
    domain: cube(N - 1, -5, 5),
    params: oscillator,
    f: path,
    truth: discretePropagator(oscillator, N),
    focus: [-1, 2],
    tolerance: 4e-13, // exp(-S) of S up to 745, a sum of squares that may differ in their last bit
  }),
  entry({
    name: `path_integral_infinite_${N - 1}`,
    paper: 'cuVegas eq. 12, 13',
    dims: N - 1,
    domain: cube(N - 1, -Infinity, Infinity),
    params: oscillator,
    f: path,
    truth: discretePropagator(oscillator, N),
    focus: [-1, 2],
    tolerance: 4e-13,
  }),
];
