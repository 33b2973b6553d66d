/**
 * What the page and Node both integrate, and the form in which they compare. Knots and params are made with
 * + − × ÷ alone: engines differ in the last bits of `Math.exp` and its like.
 */
import {
  type Integrand,
  type IntegrateOptions,
  integrate,
  type Result,
  type ScanOptions,
  scan,
  table,
} from 'quadrille';

export interface Problem {
  f: Integrand;
  options: IntegrateOptions;
}

export interface Scan {
  f: Integrand;
  options: ScanOptions;
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
    options: { domain: Array(4).fill([0, 1]), method: 'vegas+', relTol: 6e-5, seed: 13 },
  },
  'an infinite range, and one given backwards': {
    f: ([x, y, z]: number[]) => (Math.exp(-x * x - y) * z) / (1 + x ** 4 + y * z),
    options: {
      domain: [
        [-Infinity, Infinity],
        [0.5, Infinity],
        [2, 1],
      ],
      method: 'vegas+',
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
  'a ridge with an edge, by pagani': {
    f: ([x, y, z, t]: number[]) => Math.exp(-8 * Math.abs(x + y - 0.9)) / (0.1 + z * t),
    options: { dims: 4, method: 'pagani', relTol: 2e-4, maxEvaluations: 4e6 },
  },
  'a corner on an infinite range, by two-phase': {
    f: ([x, y, z]: number[]) => Math.exp(-x) * Math.sqrt(y * z) * (1 + Math.abs(x - y)) ** -2.5,
    options: {
      domain: [
        [0, Infinity],
        [0, 1],
        [1, 0],
      ],
      method: 'two-phase',
      relTol: 1e-9,
      maxEvaluations: 3e6,
    },
  },
  'a root, by cuhre': {
    f: ([x, y, z]: number[]) => Math.sqrt(Math.abs(x * y - 0.3 * z)),
    options: { dims: 3, method: 'cuhre', relTol: 1e-7, maxEvaluations: 1.5e6 },
  },
  'a narrow peak, by zmc': {
    f: ([x, y, z]: number[]) =>
      Math.exp(-900 * ((x - 0.31) ** 2 + (y - 0.72) ** 2 + (z - 0.55) ** 2)) + x ** 1.7 * 1e-4,
    options: { dims: 3, method: 'zmc', relTol: 2e-3, maxEvaluations: 4e6, seed: 18 },
  },
  // a seventh is no float64: what blocks count with rounds
  'values of 1e-170 in 7 blocks an axis, by zmc': {
    f: ([x, y, z, t]: number[]) => 1e-170 * Math.exp(-30 * (x * x + y * y)) * (z + t),
    options: {
      dims: 4,
      method: 'zmc',
      relTol: 1e-3,
      maxEvaluations: 3e6,
      seed: 19,
      zmc: { blocks: 7, samples: 9, trials: 3, sigma: 2, depth: 3 },
    },
  },
  'an edge in 6 dimensions, where auto takes turns': {
    f: (x: number[]) => {
      if (!x.every((xi, i) => xi < (4 + i) / 10)) return 0;
      return Math.exp(x.reduce((s, xi, i) => s + (i + 5) * xi, 0));
    },
    options: { dims: 6, relTol: 3e-4, seed: 20 },
  },
  'a peak in 5 dimensions, where auto takes turns': {
    f: (x: number[]) => Math.exp(-625 * x.reduce((s, xi) => s + (xi - 0.5) ** 2, 0)),
    options: { dims: 5, relTol: 1e-4, maxEvaluations: 5e6, seed: 21 },
  },
};

/** As many integrals as there are sets of params; together more than a million evaluations. */
export const scans: Record<string, Scan> = {
  '40 peaks by auto, in params of three shapes': {
    f: ([x, y, z]: number[], p) => {
      let s = 0;
      for (let k = 0; k < p.at.length; k++)
        s += Math.exp(-p.width * ((x - p.at[k]) ** 2 + (y - p.at[k]) ** 2));
      return s * (1 + z ** p.power);
    },
    options: {
      dims: 3,
      relTol: 1e-5,
      params: Array.from({ length: 40 }, (_, i) => ({
        at: Float64Array.from({ length: 1 + (i % 3) }, (_, k) => (i + 7 * k) / 60),
        width: 10 + 8 * i,
        power: 0.5 + i / 16,
      })),
    },
  },
  // each in memories of its own would be more than a page can have
  '60 integrals in params of 20 shapes': {
    f: ([x, y]: number[], p) => {
      let s = 0;
      for (let k = 0; k < p.c.length; k++) s += p.c[k] / (1 + k * x + y);
      return s;
    },
    options: {
      dims: 2,
      method: 'vegas+',
      relTol: 1e-3,
      params: Array.from({ length: 60 }, (_, i) => ({ c: new Float64Array(1 + (i % 20)).fill(1 + i / 8) })),
    },
  },
  // two engines each: more than the sessions that are kept
  '300 integrals in params of 100 shapes, by auto': {
    f: ([x, y]: number[], p) => p.c[p.c.length - 1] * Math.sqrt(Math.abs(x - y + p.c.length / 100)),
    options: {
      dims: 2,
      relTol: 1e-4,
      maxEvaluations: 3e5,
      params: Array.from({ length: 300 }, (_, i) => ({
        c: new Float64Array(1 + (i % 100)).fill(1 + i / 8),
      })),
    },
  },
  '12 ridges by vegas+, one of which is not a number': {
    f: ([x, y]: number[], p) => Math.sqrt(x + y - p.a) + 1 / (0.02 + (x - y) ** 2),
    options: {
      dims: 2,
      method: 'vegas+',
      relTol: 2e-4,
      seed: 22,
      params: Array.from({ length: 12 }, (_, i) => ({ a: i === 7 ? 0.5 : -i })),
    },
  },
};

/** Integrals one after the other, large enough for workers. */
export const series: Record<string, Problem[]> = {
  '40 integrals of 20 programs': Array.from({ length: 40 }, (_, i) => ({
    f: ([x, y]: number[], p) => p.c[p.c.length - 1] / (1 + p.c.length * x + y),
    options: {
      dims: 2,
      relTol: 0,
      vegas: { evaluations: 70_000, iterations: 2 },
      params: { c: new Float64Array(1 + (i % 20)).fill(1 + i / 8) },
    },
  })),
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
    return seedDecides(await integrate(f, { ...options, device }));
  } catch (error) {
    const { name, message } = error as Error;
    return { name, message };
  }
}

export const outcomes = async ({ f, options }: Scan, device: string): Promise<object[]> =>
  (await scan(f, { ...options, device })).map(seedDecides);

export async function inTurn(problems: readonly Problem[], device: string): Promise<object[]> {
  const found: object[] = [];
  for (const p of problems) found.push(await outcome(p, device));
  return found;
}

function seedDecides({ elapsed: _, device: __, ...same }: Result): object {
  return same;
}
