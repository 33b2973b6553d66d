/** How far the float32 functions are from the float64 library, on SwiftShader. */
import { kit } from '../../src/integrand/math/index.ts';
import { mathText } from '../../src/integrand/math32/index.ts';
import { scatter } from '../math/points.ts';
import { evaluate, type Job } from './evaluate.ts';

/** ulp of float32 that the functions promise. */
export const PROMISES: Record<string, number> = {
  exp: 1,
  exp2: 1.1,
  expm1: 1.6,
  log: 1,
  log2: 1.8,
  log10: 2,
  log1p: 1,
  pow: 1.5,
  sin: 2,
  cos: 2,
  tan: 3,
  asin: 1,
  acos: 1.5,
  atan: 2.5,
  atan2: 2.5,
  sinh: 2,
  cosh: 2,
  tanh: 2,
  asinh: 2,
  acosh: 2.5,
  atanh: 1.5,
  sqrt: 1,
  cbrt: 1.5,
  hypot: 1.5,
  erf: 3,
  erfc: 4,
  erfinv: 4,
  lgamma: 4,
  j0: 4,
  j1: 4,
  mod: 0,
  imul: 0,
  min: 0,
  max: 0,
  round: 0,
  floor: 0,
  ceil: 0,
  trunc: 0,
  nearest: 0,
  sign: 0,
  clz32: 0,
};

const BINARY = new Set(['pow', 'atan2', 'hypot', 'mod', 'imul', 'min', 'max']);
/** Where an error counts in ulp of this size: zeros of these are reached by subtraction. */
const SIZES: Record<string, (x: number) => number> = {
  lgamma: x => (x < -0.5 ? Math.max(1, kit.lgamma(-x)) : 0),
  j0: x => (Math.abs(x) > 7.2 ? Math.sqrt(2 / Math.PI / Math.abs(x)) : 0),
  j1: x => (Math.abs(x) > 8.7 ? Math.sqrt(2 / Math.PI / Math.abs(x)) : 0),
};

const MIN = 2 ** -126;
const MAX = 3.4028234663852886e38;

// biome-ignore format: a list
const EDGES = [
  0, 1, 0.5, 2, 3, 0.1, 1.5, 2.5, 7, 20, 88.72283, 88.72284, 89.4, -87.33654, -103.98, 127, 128, -126, -150, 3200, 3201, 4096,
  8192, 1e5, 16777215, 8388607.5, 8388608, 4194303.5, 2 ** 31, 2 ** 32, MAX, MIN, 1e-20, 1e-8, 1e30, 0.99999994, 1.0000001,
  0.49999997, Infinity, NaN, Math.PI / 2, Math.PI, 2 * Math.PI, 2.4048254, 5.520078, 3.831706, 7.015587,
].flatMap(x => [Math.fround(x), Math.fround(-x)]);

/** Random bit patterns, small and large numbers, multiples of π/2, and the edges. */
function pointsOf(fn: string, count: number): Float32Array {
  const random = scatter(32);
  const words = new Uint32Array(1);
  const bits = new Float32Array(words.buffer);
  const pattern = () => {
    words[0] = random() * 2 ** 32;
    return bits[0];
  };
  const between = (low: number, high: number) => low + (high - low) * random();
  const kinds = [
    pattern,
    () => between(-110, 110),
    () => between(-2, 2),
    () => between(-10000, 10000),
    () => between(-12, 12),
    () => Math.round(between(-6000, 6000)) * (Math.PI / 2),
    () => between(0.9, 1.1),
  ];
  if (!BINARY.has(fn))
    return Float32Array.from({ length: count }, (_, i) => EDGES[i] ?? kinds[i % kinds.length]());
  const pairs: (() => [number, number])[] = [
    () => [pattern(), pattern()],
    () => [between(-10, 10), between(-10, 10)],
    () => [between(-1, 1) * 2 ** Math.round(between(-40, 40)), between(-1, 1)],
    () => [Math.exp(between(-3, 3)), between(-60, 60)],
    () => [between(0.5, 1.8), between(-1000, 1000)],
    () => [between(-20, 20), Math.round(between(-40, 40))],
  ];
  const edges = EDGES.flatMap(a => EDGES.map(b => [a, b]));
  return Float32Array.from(
    Array.from({ length: count }, (_, i) => edges[i] ?? pairs[i % pairs.length]()).flat(),
  );
}

export interface Measured {
  /** The largest error, in ulp, and where. */
  ulp: number;
  at: number[];
  /** Points with an infinity, a NaN or a 0 of another sign in place of what JavaScript has, as text. */
  wrong: string[];
}

/** `count` points for each function; those where the argument or the value is subnormal are left out. */
export async function measure(functions: readonly string[], count: number): Promise<Map<string, Measured>> {
  const jobs = functions.map((fn): Job => {
    const dims = BINARY.has(fn) ? 2 : 1;
    const call = `q_${fn}((*x)[0]${dims === 2 ? ', (*x)[1]' : ''})`;
    const text = `fn integrand(x: ptr<function, array<f32, ${dims}>>) -> f32 {
  q_zero = bitcast<u32>(params[0]);
  return ${call};
}`;
    const source = `${mathText(text)}\n${text}`;
    return { source, dims, results: 1, params: new Float32Array(1), points: pointsOf(fn, count) };
  });
  const outcomes = await evaluate(jobs);
  return new Map(
    functions.map((fn, k) => {
      if (outcomes[k].error) throw new Error(outcomes[k].error);
      return [fn, compared(fn, jobs[k].points, outcomes[k].values)];
    }),
  );
}

function compared(fn: string, points: Float32Array, values: Float32Array): Measured {
  const dims = points.length / values.length;
  const plain = Math as unknown as Record<string, (...x: number[]) => number>;
  const reference =
    fn === 'mod' ? (x: number, y: number) => x % y : ((kit as unknown as typeof plain)[fn] ?? plain[fn]);
  const measured: Measured = { ulp: 0, at: [], wrong: [] };
  const isSubnormal = (v: number) => v !== 0 && Math.abs(v) < MIN;
  values.forEach((value, i) => {
    const x = [...points.subarray(i * dims, (i + 1) * dims)];
    const exact = reference(...x);
    const single = Math.fround(exact);
    if (Object.is(single, value) || isSubnormal(exact) || x.some(isSubnormal)) return;
    // a function that is off by an ulp may overflow where another one does not
    const overflows = Math.abs(exact) > 0.999999 * MAX && Math.abs(value) > 0.999999 * MAX;
    if (overflows && Math.abs(exact) < 1.000001 * MAX) return;
    if (Number.isFinite(single) && Number.isFinite(value) && !(single === 0 && value === 0)) {
      const size = Math.max(Math.abs(exact), MIN, SIZES[fn]?.(x[0]) ?? 0);
      const ulp = Math.abs(value - exact) / 2 ** (Math.floor(Math.log2(size)) - 23);
      if (ulp > measured.ulp) Object.assign(measured, { ulp, at: x });
    } else measured.wrong.push(`${fn}(${x.join(', ')}) is ${value}, not ${single}`);
  });
  return measured;
}
