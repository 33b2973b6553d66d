/**
 * The test suite that m-Cubes (eq. 1–6) and PAGANI (eq. 1–8) share: Genz' families with fixed parameters, and
 * two box integrals. Each is written once, for any number of dimensions, in a different style.
 *
 * Truths: closed forms, rounded to float64.
 */
import { cube, type Entry } from './entry.ts';

type F = (x: number[]) => number;

/** Oscillatory. */
const f1: F = x => {
  let s = 0;
  for (let i = 1; i <= x.length; i++) s += i * x[i - 1];
  return Math.cos(s);
};

/** Product peak. */
const f2: F = x => x.map(xi => 1 / (1 / 50 ** 2 + (xi - 1 / 2) ** 2)).reduce((a, b) => a * b);

/** Corner peak. */
const f3: F = x => {
  const d = x.length;
  const s = x.reduce((sum, xi, i) => sum + (i + 1) * xi, 1);
  // biome-ignore lint/style/useExponentiationOperator: people write both, both have to compile
  return Math.pow(s, -d - 1);
};

/** Gaussian. */
const f4: F = x => {
  const square = (t: number) => t * t;
  let s = 0;
  for (const xi of x) s += square(xi - 0.5);
  return Math.exp(-625 * s);
};

/** Continuous, not differentiable: C0. */
const f5: F = x => Math.exp(-10 * x.reduce((s, xi) => s + Math.abs(xi - 1 / 2), 0));

/** Discontinuous. The papers' condition is meant for every i. */
function f6(x: number[]) {
  if (!x.every((xi, i) => xi < (4 + i) / 10)) return 0;
  let s = 0;
  for (let i = 0; i < x.length; ++i) {
    s += (i + 5) * x[i];
  }
  return Math.exp(s);
}

/** Box integral, a polynomial. */
const f7: F = ([a, b, c, d, e, f, g, h]) =>
  (a * a + b * b + c * c + d * d + e * e + f * f + g * g + h * h) ** 11;

/** Box integral with a half-integer power. */
const f8: F = x => {
  let s = 0;
  let i = 0;
  while (i < x.length) {
    s += x[i] ** 2;
    i++;
  }
  // biome-ignore lint/style/useExponentiationOperator: people write both, both have to compile
  return Math.pow(s, 15 / 2);
};

const both = (equation: number) => `m-Cubes eq. ${equation}; PAGANI eq. ${equation}`;
const of = (
  name: string,
  paper: string,
  f: F,
  dims: number,
  truth: number,
  more: Partial<Entry> = {},
): Entry => ({
  name: `${name}_${dims}`,
  paper,
  dims,
  domain: cube(dims),
  f,
  truth,
  ...more,
});

const peak: Partial<Entry> = { focus: [0.4, 0.6] };

export const suite: Entry[] = [
  of('f1', both(1), f1, 5, 0.020242422119901897),
  of('f1', both(1), f1, 6, -0.0013062949651908022),
  of('f1', both(1), f1, 8, 3.439557952183252e-5),
  of('f2', both(2), f2, 3, 3587322.1072423756, peak),
  of('f2', both(2), f2, 6, 12868879901109.879, peak),
  of('f3', both(3), f3, 3, 0.010846560846560847),
  of('f3', both(3), f3, 5, 2.602538279621613e-5),
  of('f3', both(3), f3, 8, 2.2751965817917756e-10),
  of('f4', both(4), f4, 3, 0.0003563729917972293, peak),
  of('f4', both(4), f4, 5, 1.791326036748786e-6, peak),
  of('f4', both(4), f4, 8, 6.383802190004384e-10, peak),
  of('f5', both(5), f5, 5, 0.00030936358898267925),
  of('f5', both(5), f5, 8, 2.4252176256418858e-6),
  of('f6', both(6), f6, 6, 154773678.85091206),
  of('f7', 'PAGANI eq. 7', f7, 8, 1495369.283757978),
  of('f8', 'PAGANI eq. 8', f8, 8, 8879.851175414276),
];
