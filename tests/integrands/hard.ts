/**
 * Integrands that are hard on a compiler: hundreds of terms, tables and arrays, loops whose length differs from
 * point to point, returns from nested branches, every special function, values that are no numbers.
 */
import type { SpecialFunctions } from '../../src/integrand/compile.ts';
import { cube, type Entry, entry } from './entry.ts';
import { oscillating } from './oscillating.ts';
import { tabulated } from './tabulated.ts';

/** Σ tⁿ⁺¹/(n²(n + 1)) over the n that 3 does not divide. */
function skippingTruth(t: number): number {
  let sum = 0;
  for (let n = 3000; n > 0; n--) if (n % 3 !== 0) sum += t ** (n + 1) / (n * n * (n + 1));
  return sum;
}

export const hard: Entry[] = [
  oscillating,
  tabulated,
  entry({
    name: 'escape_2',
    paper: 'made here: escape count of the Mandelbrot set',
    dims: 2,
    domain: [
      [-2, 0.5],
      [-1.2, 1.2],
    ],
    params: { most: 200 },
    f: ([re, im], p) => {
      let x = 0;
      let y = 0;
      let n = 0;
      while (n < p.most && x * x + y * y <= 4) {
        const t = x * x - y * y + re;
        y = 2 * x * y + im;
        x = t;
        n++;
      }
      return n;
    },
    tolerance: 0, // a count, from arithmetic alone: every operation has to round as JavaScript's
  }),
  entry({
    name: 'incomplete_gamma_2',
    paper: 'made here: P(a, x), a series below x = a + 1 and a continued fraction above',
    dims: 2,
    domain: [
      [0.5, 6],
      [0, 15],
    ],
    f: (point: number[], _: unknown, { lgamma }: SpecialFunctions) => {
      const [a, x] = point;
      if (x <= 0) return 0;
      const front = Math.exp(a * Math.log(x) - x - lgamma(a));
      if (x < a + 1) {
        let term = 1 / a;
        let sum = term;
        for (let n = 1; n < 1000; n++) {
          term *= x / (a + n);
          sum += term;
          if (term < sum * 1e-17) break;
        }
        return front * sum;
      }
      // Lentz' way to evaluate a continued fraction from its front
      let b = x + 1 - a;
      let c = 1e300;
      let d = 1 / b;
      let h = d;
      for (let n = 1; n < 1000; n++) {
        const an = -n * (n - a);
        b += 2;
        d = 1 / (an * d + b);
        c = b + an / c;
        const step = c * d;
        h *= step;
        if (Math.abs(step - 1) < 3e-16) break;
      }
      return 1 - front * h;
    },
    tolerance: 3e-14, // exp of up to 17, from a log and an lgamma that may each differ in their last bits
  }),
  entry({
    name: 'skipping_1',
    paper: 'made here: a power series without every third term',
    dims: 1,
    domain: [[0, 0.98]],
    params: { smallest: 1e-17 },
    f: ([x], { smallest }) => {
      let power = 1;
      let sum = 0;
      for (let n = 1; ; n++) {
        power *= x;
        if (n % 3 === 0) continue;
        const term = power / (n * n);
        if (term <= smallest) break;
        sum += term;
      }
      return sum;
    },
    truth: skippingTruth(0.98),
  }),
  entry({
    name: 'branches_3',
    paper: 'made here: returns from nested branches',
    dims: 3,
    domain: cube(3, -1, 1),
    params: { inside: true, edge: 0.25 },
    f: ([x, y, z], p) => {
      const r2 = x * x + y * y + z * z;
      if (r2 > 1) {
        if (x > 0 && y > 0) return 0;
        return z > 0 || x < -0.5 ? Math.log(r2) : -1;
      }
      if (p.inside) {
        if (r2 < p.edge * p.edge) {
          return 1 / (p.edge + r2);
        } else if (x < y) {
          if (y < z) return Math.sin(x + 2 * y);
          if (x < z) return Math.sin(2 * x + z);
        } else {
          for (let i = 0; i < 3; i++) {
            if (i * x > z) return Math.exp(-i * r2);
          }
        }
      }
      return Math.sqrt(1 - r2);
    },
  }),
  entry({
    name: 'special_4',
    paper: 'made here: every function that Math lacks',
    dims: 4,
    domain: cube(4),
    f: ([a, b, c, d], _, { erf, erfc, erfinv, lgamma, j0, j1 }) =>
      erf(3 * a - 1) * erfc(b) + erfinv(0.9 * c) * lgamma(0.5 + 4 * d) + j0(10 * a) * j1(7 * c),
    truth: 0.4771534345330211, // 1-D integrals, by mpmath to 30 digits
    scale: 1, // three terms of both signs, each of order 1
  }),
  entry({
    name: 'nonfinite_2',
    paper: 'made here: NaN, both infinities and finite values',
    dims: 2,
    domain: cube(2, -1, 1),
    f: ([x, y]) => {
      if (Math.abs(y) < 0.5) return 1 / Math.trunc(3 * y) - Math.log(Math.max(x, 0)); // ±Infinity + Infinity
      return y > 0 ? Math.sqrt(x) + Math.log(x + 0.5) : Math.exp(1000 * x) * Math.floor(2 * y + 2);
    },
    scale: 1, // the root and the logarithm cancel near x = 0.17
  }),
];
