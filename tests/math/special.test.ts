/**
 * What needs no oracle: the special values, against JavaScript's Math; the exact functions, bit for bit; and
 * the functions that Math lacks, against values from mpmath.
 */
import { describe, expect, test } from 'vitest';
import { intrinsics, type Kit, kit, library } from '../../src/integrand/math/index.ts';
import { special } from '../../src/integrand/math/special.ts';
import { evaluators } from './evaluators.ts';
import { golden } from './golden.ts';
import { everyFloat, scatter, uniform } from './points.ts';

const { MAX_VALUE, MIN_VALUE } = Number;
const smallestNormal = 2.2250738585072014e-308;

/** One point a call, for the readable tests. */
const caller =
  (evaluate: (typeof evaluators)[string]) =>
  (name: string, ...args: number[]) =>
    evaluate(name, Float64Array.from(args), args.length as 1 | 2)[0];

const maths = Math as unknown as Record<string, (x: number, y?: number) => number>;
// biome-ignore format: a list
const unary = [
  'exp', 'expm1', 'log', 'log2', 'log10', 'log1p', 'sin', 'cos', 'tan', 'asin', 'acos', 'atan', 'sinh', 'cosh', 'tanh',
  'asinh', 'acosh', 'atanh', 'cbrt', 'round', 'sign', 'fround', 'clz32',
];
// biome-ignore format: a list
const edges = [
  0, 1, 0.5, 2, 3, 0.1, 1e-8, 1e-20, 0.49999999999999994, 708, 709.782712893384, 709.7827128933841, 745.1332191019411,
  745.1332191019412, 746, 1022, 1074, 1075, 8191.9, 8192, 4503599627370495.5, 4503599627370497, 9007199254740991,
  2 ** 31, 2 ** 32, 2 ** 53, 2 ** 1023, 3.4028235677973366e38, 3.4028235677973362e38, 1e-45, 7.1e-46, 1e300,
  MIN_VALUE, smallestNormal, smallestNormal - MIN_VALUE, MAX_VALUE, Infinity,
].flatMap(x => [x, -x]).concat(NaN);

/** Equal bits where the value is special or whole, within 2 ulp (3 where Math's own error may add) elsewhere. */
function expectAlike(got: number, want: number, call: string) {
  if (!Number.isFinite(want) || want === 0 || Math.abs(want) === 1) expect(got, call).toBe(want);
  else
    expect(Math.abs(got - want), call).toBeLessThanOrEqual(
      Math.max(3 * 2 ** -52 * Math.abs(want), MIN_VALUE),
    );
}

test('every function is its text alone: made again from it, with no name from outside, it gives the same values', () => {
  const again = { ...intrinsics } as Kit;
  for (const [name, f] of Object.entries(library)) {
    const made = new Function(`return (${f})`)() as (...args: unknown[]) => number;
    Object.assign(again, { [name]: (...args: number[]) => made(...args, again) });
  }
  const points = [...edges, ...uniform(-10, 10, 500)];
  for (const name of Object.keys(library) as (keyof Kit)[]) {
    const [one, two] = [kit[name], again[name]] as ((x: number, y: number) => number)[];
    const binary =
      ['pow', 'atan2', 'hypot', 'mod', 'imul'].includes(name) || /Pair|Upper|Back|Ratio/.test(name);
    const more = binary ? [0.75] : /Of$/.test(name) ? [0.25, 1e-20] : [];
    const call = (f: (...args: number[]) => number, x: number) => f(x, ...more);
    for (const x of points) expect(call(two, x), `${name}(${x})`).toEqual(call(one, x));
  }
});

describe.each(Object.entries(evaluators))('%s', (_, evaluate) => {
  const call = caller(evaluate);

  test.each(unary)("%s has Math's values at the edges: ±0, ±Infinity, NaN, subnormals, overflow", name => {
    for (const x of edges) expectAlike(call(name, x), maths[name](x), `${name}(${x})`);
  });

  test.each(['pow', 'atan2', 'hypot'])("%s has Math's values for every pair of edges", name => {
    for (const x of edges)
      for (const y of edges) expectAlike(call(name, x, y), maths[name](x, y), `${name}(${x}, ${y})`);
  });

  test('exp2 has the values of 2 ** x, exact at integers', () => {
    for (const x of edges) expectAlike(call('exp2', x), 2 ** x, `exp2(${x})`);
    for (let k = -1074; k <= 1023; k++) expect(call('exp2', k)).toBe(2 ** k);
  });

  test('log2 is exact at powers of two, log10 at powers of ten, cbrt at cubes', () => {
    for (let k = -1074; k <= 1023; k++) expect(call('log2', 2 ** k)).toBe(k);
    for (let k = 0; k <= 22; k++) expect(call('log10', 10 ** k)).toBe(k);
    for (let n = -100; n <= 100; n++) expect(call('cbrt', n ** 3)).toBe(n);
  });

  test('pow of small integers is exact', () => {
    for (let x = -20; x <= 20; x++)
      for (let y = 0; y <= 12; y++) {
        let exact = 1;
        for (let i = 0; i < y; i++) exact *= x;
        if (Math.abs(exact) < 2 ** 53) expect(call('pow', x, y), `pow(${x}, ${y})`).toBe(exact);
      }
  });

  test.each(['round', 'fround', 'clz32', 'sign'])('%s is the one of Math, bit for bit', name => {
    const points = [...everyFloat(20_000), ...uniform(-1e10, 1e10, 20_000), ...uniform(-4, 4, 20_000)];
    const halves = Array.from({ length: 400 }, (_, i) => i / 4 - 50);
    const at = Float64Array.from([...points, ...halves, ...edges]);
    const got = evaluate(name, at, 1);
    expect(at.findIndex((x, i) => !Object.is(got[i], maths[name](x)))).toBe(-1);
  });

  test('mod is x % y and imul is Math.imul, bit for bit', () => {
    const random = scatter(7);
    const points = [...everyFloat(40_000), ...uniform(-100, 100, 20_000), ...uniform(-5e9, 5e9, 20_000)];
    for (const x of edges) for (const y of edges) points.push(x, y);
    for (let i = 0; i < 20_000; i++)
      points.push(Math.round(random() * 1e6) / 8, Math.round(random() * 1e3) / 8);
    const at = Float64Array.from(points);
    const pairs = Array.from({ length: at.length / 2 }, (_, i) => [at[2 * i], at[2 * i + 1]]);
    const mod = evaluate('mod', at, 2);
    expect(pairs.find(([x, y], i) => !Object.is(mod[i], x % y))).toBe(undefined);
    const imul = evaluate('imul', at, 2);
    expect(pairs.find(([x, y], i) => !Object.is(imul[i], Math.imul(x, y)))).toBe(undefined);
  });

  test.each(Object.entries(golden))("%s has mpmath's values, to 8 ulp", (name, values) => {
    for (const [x, want] of values)
      expect(Math.abs(call(name, x) - want) / Math.abs(want), `${name}(${x})`).toBeLessThanOrEqual(
        8 * 2 ** -52,
      );
  });

  test.each([
    ['erf', [0, -0, Infinity, -Infinity, NaN], [0, -0, 1, -1, NaN]],
    ['erfc', [0, -0, Infinity, -Infinity, NaN, 30, MAX_VALUE, -30], [1, 1, 0, 2, NaN, 0, 0, 2]],
    ['erfinv', [0, -0, 1, -1, 1.5, -1.5, Infinity, NaN], [0, -0, Infinity, -Infinity, NaN, NaN, NaN, NaN]],
    [
      'lgamma',
      [0, -0, 1, 2, -1, -2, -1e17, Infinity, -Infinity, NaN, MAX_VALUE, -MAX_VALUE],
      [Infinity, Infinity, 0, 0, Infinity, Infinity, Infinity, Infinity, Infinity, NaN, Infinity, Infinity],
    ],
    ['j0', [0, -0, Infinity, -Infinity, NaN], [1, 1, 0, 0, NaN]],
    ['j1', [0, -0, Infinity, -Infinity, NaN], [0, -0, 0, -0, NaN]],
  ] as [string, number[], number[]][])('%s at 0, ±Infinity, NaN and its poles', (name, at, want) => {
    at.forEach((x, i) => {
      expect(call(name, x), `${name}(${x})`).toBe(want[i]);
    });
  });

  test('erf, tanh, sin and cos never leave [-1, 1]', () => {
    for (const name of ['erf', 'tanh', 'sin', 'cos'])
      expect(evaluate(name, Float64Array.from(uniform(-7, 7, 100_000)), 1).every(y => Math.abs(y) <= 1)).toBe(
        true,
      );
  });
});

test('no other function calls one of those that are loaded on demand', () => {
  const late = Object.keys({ ...special.unary, ...special.binary });
  const calls = new RegExp(`\\.(${late.join('|')})\\(|\\b(${late.join('|')})\\b[^(]*\\} = `);
  const others = Object.entries(library).filter(([name]) => !late.includes(name));
  expect(others.length).toBeGreaterThan(40);
  for (const [name, f] of others) expect(String(f), name).not.toMatch(calls);
});
