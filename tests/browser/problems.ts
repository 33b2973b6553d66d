/**
 * What the page and Node both integrate, and the form in which they compare. Knots and params are made with
 * + − × ÷ alone: engines differ in the last bits of `Math.exp` and its like.
 */
import { type Integrand, type IntegrateOptions, integrate, table } from 'quadrille';

export interface Problem {
  f: Integrand;
  options: IntegrateOptions;
}

const knots = Float64Array.from({ length: 33 }, (_, i) => i / 32);

/** Each takes more than a million evaluations, so that workers have something to do. */
export const problems: Record<string, Problem> = {
  'a peak in 8 dimensions': {
    f: (x: number[]) => {
      let sum = 0;
      for (let i = 0; i < 8; i++) sum += (x[i] - 0.5) ** 2;
      return Math.exp(-625 * sum);
    },
    options: { dims: 8, relTol: 2e-4, seed: 11 },
  },
  'params and tables, by m-Cubes': {
    f: ([x, y, z]: number[], p) => {
      let decay = 0;
      for (let k = 0; k < p.rates.length; k++) decay += Math.exp(-p.rates[k] * z) / (k + 1);
      return p.scale * p.spectrum(x) * p.response(x, y) * decay;
    },
    options: {
      dims: 3,
      method: 'mcubes',
      relTol: 2e-5,
      seed: 12n,
      params: {
        scale: 1.7,
        rates: Float64Array.of(0.5, 1.5, 4.5),
        spectrum: table(
          [knots],
          knots.map(x => x / (1 + 30 * x * x)),
        ),
        response: table(
          [knots, knots],
          Array.from(knots, x => knots.map(y => (1 + y) / (1 + 9 * (x - y) * (x - y)))),
        ),
      },
    },
  },
  'sin, pow and erf': {
    f: ([x, y, z, t]: number[], _: unknown, { erf }) =>
      (1.5 + Math.sin(9 * x * y)) * (0.1 + z) ** -1.3 * (1 + t) ** x * erf(3 * t - y),
    options: { domain: Array(4).fill([0, 1]), relTol: 6e-5, seed: 13 },
  },
  'an infinite range, and one given backwards': {
    f: ([x, y, z]: number[]) => (Math.exp(-x * x - y) * z) / (1 + x ** 4 + y * z),
    options: {
      domain: [
        [-Infinity, Infinity],
        [0.5, Infinity],
        [2, 1],
      ],
      relTol: 5e-5,
      seed: 14,
    },
  },
  // 500 ** 12 is no float64, and engines round it differently
  '500 bins in 12 dimensions': {
    f: (x: number[]) => x.reduce((product, v) => product * (1.5 - v * v), 1),
    options: { dims: 12, relTol: 1e-4, maxEvaluations: 2e6, seed: 16, vegas: { bins: 500 } },
  },
  // none of them large enough for a worker
  'two thousand small iterations': {
    f: ([x, y, z]: number[]) => Math.exp(-x * y) + z,
    options: { dims: 3, relTol: 0, seed: 17, vegas: { evaluations: 5000, iterations: 2000 } },
  },
};

/** Functions from text, where a code frame is shown: a bundler would rewrite what the frame shows. */
export const mistakes: Record<string, Problem> = {
  'what cannot be compiled': {
    f: new Function('x', 'const now = Date.now();\nreturn x[0] * now;') as Integrand,
    options: { dims: 2 },
  },
  'a native function': { f: Math.sin, options: { dims: 1 } },
  'a value that is not a number': {
    f: ([x, y]: number[]) => (x > 0.75 ? Math.log(x * y - 0.7) : 1),
    options: { dims: 2, seed: 15 },
  },
  'an option that makes no sense': { f: ([x]: number[]) => x, options: { dims: 1, relTol: -1 } },
};

/** Everything that a seed decides: the whole result but for where and how fast it ran; or the error. */
export async function outcome({ f, options }: Problem, device: string): Promise<object> {
  try {
    const { elapsed: _, device: __, ...same } = await integrate(f, { ...options, device });
    return same;
  } catch (error) {
    const { name, message } = error as Error;
    return { name, message };
  }
}
