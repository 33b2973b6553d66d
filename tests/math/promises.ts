/**
 * What the library promises: for each function the largest error in ulp, and the points where it is measured.
 * Where `amplitude` is given, an error is counted in ulp of max(|value|, amplitude).
 */
import { everyFloat, logUniform, near, nearQuarterTurns, pairs, uniform } from './points.ts';

export interface Promised {
  ulp: number;
  where: string;
  arity?: 2;
  /** The function, where the key is not its name. */
  name?: string;
  points(): number[];
  amplitude?(x: number): number;
}

const rotations = () => [
  ...everyFloat(20_000),
  ...uniform(-10, 10, 20_000),
  ...uniform(-9000, 9000, 20_000),
  ...nearQuarterTurns(5215, 20_000),
  ...nearQuarterTurns(2 ** 60, 10_000),
  ...uniform(-1e300, 1e300, 5_000),
  6381956970095103 * 2 ** 797, // of all float64 the closest to a multiple of π/2
  ...[1.6e308, Number.MAX_VALUE, 8191.999999999999, 8192],
];

const logarithms = () => [
  ...everyFloat(40_000, false),
  ...uniform(0.4, 2.5, 30_000),
  ...near(1, 20_000),
  ...near(Math.SQRT2, 2_000),
  ...near(Math.SQRT1_2, 2_000),
  ...uniform(0, 100, 10_000),
];

const arcs = () => [
  ...logUniform(5e-324, 1, 20_000, true),
  ...uniform(-1, 1, 60_000),
  ...near(0.5, 10_000, 0.1),
  ...near(1, 10_000).map(x => Math.min(x, 2 - x)),
];

const hyperbolas = () => [
  ...uniform(-711, 711, 20_000),
  ...uniform(-2, 2, 50_000),
  ...uniform(-25, 25, 20_000),
  ...everyFloat(10_000),
  ...near(710.4758600739439, 1_000, 0.01),
];

/** log Γ(x) to a few digits, by Stirling, and at least 1: the size of what lgamma subtracts at −x. */
const lgammaSize = (x: number) => Math.max(1, (x - 0.5) * Math.log(x) - x + 0.92 + 1 / (12 * x));

export const promises: Record<string, Promised> = {
  exp: {
    ulp: 1,
    where: 'over its whole range',
    points: () => [
      ...uniform(-746, 710, 50_000),
      ...uniform(-2, 2, 30_000),
      ...everyFloat(10_000),
      ...uniform(-746, -707, 10_000),
      ...near(709.782712893384, 1_000),
    ],
  },
  exp2: {
    ulp: 2,
    where: 'over its whole range',
    points: () => [
      ...uniform(-1076, 1024, 50_000),
      ...uniform(-2, 2, 30_000),
      ...everyFloat(10_000),
      ...uniform(-1076, -1020, 10_000),
    ],
  },
  expm1: {
    ulp: 2,
    where: 'over its whole range',
    points: () => [...uniform(-40, 710, 20_000), ...uniform(-2, 2, 60_000), ...everyFloat(20_000)],
  },
  log: { ulp: 1, where: 'over its whole range, subnormals included', points: logarithms },
  log2: { ulp: 2, where: 'over its whole range, subnormals included', points: logarithms },
  log10: { ulp: 2, where: 'over its whole range, subnormals included', points: logarithms },
  log1p: {
    ulp: 2,
    where: 'over its whole range',
    points: () => [
      ...everyFloat(30_000, false),
      ...everyFloat(10_000).map(x => Math.max(x, -1)),
      ...uniform(-1, 3, 60_000),
    ],
  },
  pow: {
    ulp: 2,
    where: 'over its whole range, subnormal bases and results included',
    arity: 2,
    points: () => {
      const bases = [...everyFloat(50_000, false), ...near(1, 20_000), ...uniform(0, 4, 30_000)];
      const exponents = uniform(-750, 710, 70_000).map((e, i) =>
        Math.max(Math.min(e / Math.log(bases[i]), 1e300), -1e300),
      ); // fills the range
      return [
        ...pairs(bases, [...exponents, ...uniform(-20, 20, 30_000)]),
        ...pairs(
          uniform(-50, 50, 5_000),
          uniform(-200, 200, 5_000).map(y => Math.round(y)),
        ),
      ];
    },
  },
  sin: { ulp: 1, where: 'for every finite argument', points: rotations },
  cos: { ulp: 1, where: 'for every finite argument', points: rotations },
  tan: { ulp: 2, where: 'for every finite argument', points: rotations },
  hypot: {
    ulp: 2,
    where: 'over its whole range',
    arity: 2,
    points: () => [
      ...pairs(everyFloat(20_000), everyFloat(20_000)),
      ...pairs(uniform(-1, 1, 40_000), uniform(-1, 1, 40_000)),
      ...pairs(logUniform(1e-320, 1e-300, 10_000), logUniform(1e-320, 1e-300, 10_000)),
      ...pairs(logUniform(1e300, 1.7e308, 10_000), logUniform(1e300, 1.7e308, 10_000)),
    ],
  },
  asin: { ulp: 2, where: 'on [-1, 1]', points: arcs },
  acos: { ulp: 2, where: 'on [-1, 1]', points: arcs },
  atan: {
    ulp: 2,
    where: 'for every argument',
    points: () => [
      ...everyFloat(40_000),
      ...uniform(-4, 4, 50_000),
      ...near(Math.SQRT2 - 1, 5_000, 0.1),
      ...near(Math.SQRT2 + 1, 5_000, 0.1),
    ],
  },
  atan2: {
    ulp: 2,
    where: 'for every pair of arguments',
    arity: 2,
    points: () => [
      ...pairs(everyFloat(30_000), everyFloat(30_000)),
      ...pairs(uniform(-1, 1, 50_000), uniform(-1, 1, 50_000)),
      ...pairs(logUniform(1e307, 1.7e308, 5_000, true), logUniform(1e307, 1.7e308, 5_000, true)),
      ...pairs(logUniform(5e-324, 1e-305, 5_000, true), logUniform(5e-324, 1e-305, 5_000, true)),
    ],
  },
  sinh: { ulp: 2, where: 'over its whole range', points: hyperbolas },
  cosh: { ulp: 2, where: 'over its whole range', points: hyperbolas },
  tanh: {
    ulp: 2,
    where: 'for every argument',
    points: () => [...everyFloat(20_000), ...uniform(-1, 1, 50_000), ...uniform(-20, 20, 30_000)],
  },
  asinh: {
    ulp: 2,
    where: 'for every argument',
    points: () => [
      ...everyFloat(30_000),
      ...uniform(-4, 4, 50_000),
      ...uniform(-100, 100, 10_000),
      ...near(1e8, 5_000, 0.1),
    ],
  },
  acosh: {
    ulp: 2,
    where: 'for every argument from 1 on',
    points: () => [
      ...logUniform(1, Number.MAX_VALUE, 30_000),
      ...uniform(1, 4, 40_000),
      ...near(1, 20_000).map(x => Math.max(x, 1)),
      ...uniform(1, 100, 10_000),
    ],
  },
  atanh: {
    ulp: 2,
    where: 'on (-1, 1)',
    points: () => [
      ...logUniform(5e-324, 1, 30_000, true).map(x => Math.min(x, 1 - 2 ** -53)),
      ...uniform(-1, 1, 50_000),
      ...near(1, 20_000)
        .map(x => Math.min(x, 2 - x))
        .filter(x => x < 1),
    ],
  },
  cbrt: {
    ulp: 2,
    where: 'for every argument',
    points: () => [...everyFloat(60_000), ...uniform(-10, 10, 40_000)],
  },
  erf: {
    ulp: 8,
    where: 'for every argument',
    points: () => [...everyFloat(20_000), ...uniform(-6, 6, 40_000), ...uniform(-1, 1, 40_000)],
  },
  erfc: {
    ulp: 8,
    where: 'for every argument, down to where it underflows', // fewer points: MPFR takes half a millisecond for one
    points: () => [
      ...everyFloat(10_000),
      ...uniform(-6, 28, 5_000),
      ...uniform(-1, 1, 20_000),
      ...uniform(25.5, 27.3, 2_000),
    ],
  },
  erfinv: {
    ulp: 8,
    where: 'on [-1, 1]',
    points: () => [
      ...uniform(-1, 1, 10_000),
      ...logUniform(5e-324, 1, 5_000, true),
      ...near(1, 5_000).map(x => Math.min(x, 2 - x)),
      ...near(Math.sqrt(0.75), 2_000, 0.1),
    ],
  },
  lgamma: {
    ulp: 8,
    where: 'for every positive argument, its zeros at 1 and 2 included',
    points: () => [
      ...logUniform(5e-324, 2.5e305, 10_000),
      ...uniform(0, 12, 40_000),
      ...uniform(10, 200, 10_000),
      ...near(1, 10_000),
      ...near(2, 10_000),
      ...uniform(-0.5, 0, 5_000),
    ],
  },
  'lgamma on the negative axis': {
    name: 'lgamma',
    ulp: 8,
    where: 'of max(|value|, log Γ(-x), 1)',
    points: () => [
      ...uniform(-30, -0.5, 30_000),
      ...logUniform(0.5, 1e15, 10_000).map(x => -x),
      ...near(-2.457024738220801, 2_000),
    ],
    amplitude: x => lgammaSize(-x),
  },
  j0: {
    ulp: 8,
    where: 'of max(|value|, amplitude √(2/πx)) beyond 7.2, and relative below, its zeros included',
    points: () => [
      ...uniform(-7.2, 7.2, 40_000),
      ...near(2.404825557695773, 5_000, 0.1),
      ...near(5.520078110286311, 5_000, 0.1),
      ...uniform(7, 100, 30_000),
      ...everyFloat(10_000),
    ],
    amplitude: x => (Math.abs(x) < 7.2 ? 0 : Math.sqrt(2 / (Math.PI * Math.abs(x)))),
  },
  j1: {
    ulp: 8,
    where: 'of max(|value|, amplitude √(2/πx)) beyond 8.7, and relative below, its zeros included',
    points: () => [
      ...uniform(-8.7, 8.7, 40_000),
      ...near(3.8317059702075125, 5_000, 0.1),
      ...near(7.015586669815619, 5_000, 0.1),
      ...uniform(8, 100, 30_000),
      ...everyFloat(10_000),
    ],
    amplitude: x => (Math.abs(x) < 8.7 ? 0 : Math.sqrt(2 / (Math.PI * Math.abs(x)))),
  },
};
