/**
 * The eight test integrands of cuVegas, table 3, on the unit cube.
 *
 * The printed table lost the bars of |4x − 2|. The code its authors published differs from their table in two:
 * there Roos & Arnold is the mean of |4x − 2| and the exponential is exp(−Σx²). These follow the table.
 */
import { cube, type Entry, entry } from './entry.ts';

export const cuvegas: Entry[] = [
  entry({
    name: 'sine_exponential_2',
    paper: 'cuVegas table 3 (1)',
    dims: 2,
    domain: cube(2),
    f: ([x, y]) => Math.sin(x) + Math.exp(y),
    truth: 2.1779795225909053,
  }),
  entry({
    name: 'linear_10',
    paper: 'cuVegas table 3 (2)',
    dims: 10,
    domain: cube(10),
    f: x => {
      let sum = 0;
      for (let i = 0; i < x.length; i++) {
        sum += x[i];
      }
      return sum;
    },
    truth: 5,
  }),
  entry({
    name: 'cosine_10',
    paper: 'cuVegas table 3 (3)',
    dims: 10,
    domain: cube(10),
    f: x => x.reduce((product, xi) => product * Math.cos(xi), 1),
    truth: 0.17798829973240296,
  }),
  entry({
    name: 'exponential_10',
    paper: 'cuVegas table 3 (4)',
    dims: 10,
    domain: cube(10),
    f: x => Math.exp(x.map(xi => xi ** 2).reduce((a, b) => a + b, 0)),
    truth: 44.813548979094314,
    tolerance: 2e-14, // exp of up to 10, a sum of ten squares each of which may differ in its last bit
  }),
  entry({
    name: 'roos_arnold_10',
    paper: 'cuVegas table 3 (5)',
    dims: 10,
    domain: cube(10),
    f: x => {
      let product = 1;
      for (const xi of x) product *= Math.abs(4 * xi - 2);
      return product;
    },
    truth: 1,
  }),
  entry({
    name: 'morokoff_caflisch_8',
    paper: 'cuVegas table 3 (6)',
    dims: 8,
    domain: cube(8),
    f: x => {
      const d = x.length;
      // biome-ignore lint/style/useExponentiationOperator: people write both, both have to compile
      return (1 + 1 / d) ** d * x.reduce((product, xi) => product * Math.pow(xi, 1 / d), 1);
    },
    truth: 1,
  }),
  entry({
    name: 'gaussian_4',
    paper: 'cuVegas table 3 (7)',
    dims: 4,
    domain: cube(4),
    params: { mu: 0.5, sigma: 0.01 },
    f: (x, { mu, sigma }) => {
      const variance = sigma ** 2;
      let r2 = 0;
      for (let i = 0; i < x.length; i++) r2 += (x[i] - mu) ** 2;
      return Math.exp(-r2 / (2 * variance)) / (2 * Math.PI * variance) ** (x.length / 2);
    },
    truth: 1,
    focus: [0.45, 0.55],
    tolerance: 4e-13, // exp(-s) of s up to 745, whose squares may differ in their last bit
  }),
  entry({
    name: 'ridge_4',
    paper: 'cuVegas table 3 (8)',
    dims: 4,
    domain: cube(4),
    params: { N: 1000 },
    f: (x, { N }) => {
      let sum = 0;
      for (let i = 1; i <= N; i++) {
        let r2 = 0;
        for (let j = 0; j < x.length; j++) r2 += (x[j] - (i - 1) / (N - 1)) ** 2;
        sum += Math.exp(-100 * r2);
      }
      return (10000 / (Math.PI ** 2 * N)) * sum;
    },
    truth: 0.8513177582412979,
    tolerance: 4e-14, // far from the diagonal all terms are exp(-s) with s up to 150
  }),
];
