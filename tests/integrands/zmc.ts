/**
 * The two integrands of ZMCintegral (eq. 1, 2), which m-Cubes calls fA and fB (eq. 7, 8).
 *
 * m-Cubes prints the normalisation of fB as √(2π·0.01), but its table 1 gives the true value 1, which is that
 * of ZMCintegral's √(2π)·σ with σ = 0.01: that is what is here.
 */
import { cube, type Entry, entry } from './entry.ts';

export const zmc: Entry[] = [
  entry({
    name: 'fA_6',
    paper: 'ZMCintegral eq. 1; m-Cubes eq. 7',
    dims: 6,
    domain: cube(6, 0, 10),
    f: ([a, b, c, d, e, f]) => Math.sin(a + b + c + d + e + f),
    truth: -49.16507381641946,
  }),
  entry({
    name: 'fB_9',
    paper: 'ZMCintegral eq. 2; m-Cubes eq. 8',
    dims: 9,
    domain: cube(9, -1, 1),
    params: { sigma: 0.01 },
    f: (x, p) => {
      const norm = 1 / (Math.sqrt(2 * Math.PI) * p.sigma) ** x.length;
      const r2 = x.reduce((s, xi) => s + xi * xi, 0);
      return norm * Math.exp((-1 / (2 * p.sigma * p.sigma)) * r2);
    },
    truth: 1,
    focus: [-0.05, 0.05], // elsewhere it is 0 to the last point
  }),
];
