/** Integrands with several results: every shape on every target, what is narrowed, sent, checked and shown. */
import { describe, expect, expectTypeOf, test } from 'vitest';
import { irText } from '../../src/cli/show/ir.ts';
import { compile, type Integrand } from '../../src/integrand/compile.ts';
import { onSampled, toDomain } from '../../src/integrand/domain.ts';
import { makeDomain } from '../../src/integrand/make-domain.ts';
import { kit } from '../../src/integrand/math/index.ts';
import { loading } from '../../src/integrand/on-demand.ts';
import { withResults } from '../../src/integrand/optimise.ts';
import { bind, type Params } from '../../src/integrand/params.ts';
import { plainProgram, shapeOfPlain } from '../../src/integrand/plain.ts';
import { cachedProgram } from '../../src/integrand/program-cache.ts';
import {
  build,
  flatten,
  indexOf,
  leaves,
  type ResultShape,
  type ResultValue,
  shapeOfValue,
} from '../../src/integrand/shape.ts';
import { cudaParams, toCuda } from '../../src/integrand/targets/cuda.ts';
import { javascriptTarget } from '../../src/integrand/targets/javascript.ts';
import { decodeProgram, encodeProgram, ProgramError } from '../../src/integrand/verify.ts';
import { selfCheck } from '../../src/self-check.ts';
import { byResult, columns, firstDifference } from './compare.ts';
import { absent, severalOnHost } from './cuda/build.ts';

const params: Params = { a: 1.5, w: Float64Array.of(4, 5, 6) };
const POINTS = Array.from({ length: 301 }, (_, i) => [(i * 0.618) % 1, (i * 0.414) % 1, i / 301]);

const SHAPES: [names: string, f: Integrand<ResultShape>][] = [
  ['[0] [1]', x => [x[0] * x[1], 2]],
  ['[0]', x => [x[0]]],
  ['re im', ([x, y]) => ({ re: x * y, im: x - y })],
  ['norm z.re z.im', ([x, y, z]) => ({ norm: x, z: { re: y * z, im: y + z } })],
  ['a[0] a[1] b', ([x, y]) => ({ a: [x, y], b: x < y ? 1 : 0 })],
  ['[0][0] [0][1] [1][0] [1][1]', ([x, y]) => [[x, y], [y, x]].map(r => r.map(v => v * 2))],
  ['[0].v [1].v', ([x, y]) => [{ v: x }, { v: y }]],
  ['[0] [1] [2]', x => x],
  ['[0] [1] [2]', (_, p) => p.w],
  ['s s2 same', ([x], p) => ({ s: p.a * x, s2: x * x, same: p.a * x })],
  // paths whose members have another order, and arrays of another origin
  ['u v', ([x, y]) => { if (x > y) return { u: x / y, v: 1 }; return { v: y / x, u: 2 }; }],
  ['[0] [1] [2]', x => { const bins = [0, 0, 0]; bins[Math.floor(3 * x[0])] = x[1]; if (x[2] > 0.5) return x; return bins; }],
  // early ends, loops, and a store that may be outside
  ['n sum', ([x, y]) => { let n = 0; let sum = 0; while (sum < 3 * y) { if (n > 40) return { n, sum }; sum += x; n++; } return { n: -n, sum }; }],
  ['[0] [1]', x => { const a = [1, 2]; a[Math.floor(3 * x[0])] = 7; return a; }],
]; // biome-ignore format: one integrand per line

const compiled = (f: Integrand<ResultShape>, target: 'javascript' | 'wasm') =>
  compile(f, { dims: 3, params, target });

describe('every shape on every target', () => {
  test.each(SHAPES)('%s', (names, f) => {
    const { shape, program, evaluate } = compiled(f, 'javascript');
    expect(leaves(shape).join(' ')).toBe(names);
    const given = evaluate(columns(POINTS));
    const own = byResult(
      POINTS.map(x => f([...x], params, kit)),
      shape,
    );
    const stray = /a\[Math/.test(String(f));
    own.forEach((v, i) => {
      if (!(stray && Number.isNaN(given[i]))) expect(given[i]).toBe(v);
    });
    expect(firstDifference(given, compiled(f, 'wasm').evaluate(columns(POINTS)))).toBe(-1);
    const sent = decodeProgram(encodeProgram(program));
    expect(sent.shape).toEqual(program.shape);
    const out = new Float64Array(given.length);
    javascriptTarget(sent, bind(sent.params, params))(columns(POINTS), out);
    expect(firstDifference(given, out)).toBe(-1);
    // each result alone, and all in reverse order
    const orders = [...program.results.map((_, r) => [r]), program.results.map((_, r) => r).reverse()];
    for (const order of orders) {
      const part = withResults(program, order);
      expect(withResults(program, order)).toBe(part);
      const some = new Float64Array(order.length * POINTS.length);
      javascriptTarget(part, bind(part.params, params))(columns(POINTS), some);
      const wanted = order.flatMap(r => [...given.subarray(r * POINTS.length, (r + 1) * POINTS.length)]);
      expect(firstDifference(some, wanted)).toBe(-1);
    }
    selfCheck(
      f,
      { kind: 'compiled', dims: 3, program, params: bind(program.params, params) },
      problem(params),
    );
  });
  test.skipIf(absent('g++'))('the CUDA text gives the same bits, also where a result is one of many', () => {
    const programs = SHAPES.map(([, f]) => compiled(f, 'javascript')).filter(
      c => c.program.results.length > 1,
    );
    const found = severalOnHost(
      programs.map(({ program }) => ({ program, params: cudaParams(program, bind(program.params, params)) })),
      POINTS,
    );
    programs.forEach(({ evaluate }, k) => {
      expect(firstDifference(found[k], evaluate(columns(POINTS)))).toBe(-1);
    });
  });
  test('a pass of 16 of 1,024 results computes no others', () => {
    const f: Integrand<ResultShape> = x =>
      Array.from({ length: 32 }, (_, k) => Array.from({ length: 32 }, (_, j) => x[0] + k * x[1] + j));
    const { program } = compiled(f, 'javascript');
    expect(program.results).toHaveLength(1024);
    const pass = withResults(
      program,
      Array.from({ length: 16 }, (_, k) => 1008 + k),
    );
    expect(pass.body.length).toBeLessThan(80);
  });
  test('1,024 results are computed', () => {
    const f: Integrand<ResultShape> = x => Array.from({ length: 1024 }, (_, k) => x[0] ** 2 + k * x[1]);
    const { program, evaluate } = compiled(f, 'wasm');
    const given = evaluate(columns(POINTS.slice(0, 3)));
    expect(given[3 * 1023 + 1]).toBe(POINTS[1][0] ** 2 + 1023 * POINTS[1][1]);
    expect(decodeProgram(encodeProgram(program)).results).toHaveLength(1024);
  });
});

const problem = (p: Params) => ({
  dims: 3,
  params: p,
  domain: makeDomain([
    [0, 1],
    [0, 1],
    [0, 1],
  ]),
});

describe('generated code', () => {
  const f: Integrand<ResultShape> = ([x]) => ({ re: Math.cos(3 * x), im: Math.sin(3 * x) });
  const { program } = compile(f, { dims: 1 });
  test('the cosine and the sine of one angle share it', () => {
    expect(irText(program)).toMatchInlineSnapshot(`
      "v0 = coord 0
      v1 = mul 3 v0
      v2 = call cos v1
      v3 = call sin v1
      result re = v2
      result im = v3"
    `);
    expect(toCuda(program).source).toMatchInlineSnapshot(`
      "__device__ __forceinline__ bool stopped(const double* params) {
        const volatile unsigned* flag = (const volatile unsigned*)__double_as_longlong(params[0]);
        return flag && *flag;
      }
      __device__ __forceinline__ void integrand(const double* x, const double* __restrict__ params, unsigned& turns, double* __restrict__ out) {
        const double v0 = 3.0 * x[0];
        double v1, v2;
        sincos(v0, &v1, &v2);
        out[0] = v2;
        out[1] = v1;
      }
      __device__ __forceinline__ void integrand(const double* x, const double* __restrict__ params, double* __restrict__ out) {
        unsigned turns = 0;
        return integrand(x, params, turns, out);
      }
      "
    `);
  });
  test('a program narrowed to the sine has no cosine', () => {
    expect(irText(withResults(program, [1]))).toMatchInlineSnapshot(`
      "v0 = coord 0
      v1 = mul 3 v0
      v2 = call sin v1
      result v2"
    `);
  });
  test('on an infinite range each result gets the factor of the map', () => {
    const { axes } = makeDomain([[0, Infinity]]);
    const made = cachedProgram(x => ({ a: Math.exp(-x[0]), b: [x[0]] }), 1, {}, axes);
    const out = new Float64Array(2);
    javascriptTarget(made, new Map())(Float64Array.of(0.5), out);
    expect([...out]).toEqual([4 * kit.exp(-1), 4]);
    const plain = onSampled(x => ({ a: kit.exp(-x[0]), b: [x[0]] }), axes, toDomain);
    expect(plain([0.5])).toEqual({ a: 4 * kit.exp(-1), b: [4] });
  });
});

describe('what is refused', () => {
  test('the self-check names the result that differs', async () => {
    // a call such as k(f, 'name') is taken for esbuild's keepNames (tests/integrate/self-check.test.ts)
    const text = "([x, y]) => ({ a: x, b: [y, k(t => t * t, 'square')(y)] })";
    const plus = (f: (t: number) => number) => (t: number) => f(t) + 1;
    const made = (k: unknown): Integrand<ResultShape> => new Function('k', `return ${text}`)(k);
    const { program } = compiled(made(plus), 'javascript');
    const bound = { kind: 'compiled', dims: 3, program, params: new Map() } as const;
    await expect(loading(() => selfCheck(made(plus), bound, problem({})))).rejects.toThrow(
      /the function gives b\[1\] = 1\.\d+, but compiled it is 0\./,
    );
    const other = Object.assign((x: number[]) => x, { toString: () => text });
    await expect(loading(() => selfCheck(other, bound, problem({})))).rejects.toThrow(
      /the function throws "the function returns an array of 3 elements at one point and \{ a, b/,
    );
  });
  test.each<[string, (p: Record<string, unknown>) => void, RegExp]>([
    ['a shape with fewer numbers than results', p => { p.shape = ['number']; }, /its shape has 1 numbers, and there are 2/],
    ['a shape that is one number', p => { p.shape = 'number'; }, /an object is needed/],
    ['a shape three deep', p => { p.shape = [[['number', 'number']]]; }, /a number is needed in a shape/],
    ['a name that no member has', p => { p.shape = { 'a"b': 'number', c: 'number' }; }, /a name that no member can have/],
    ['no results', p => { p.results = []; }, /it has no results/],
    ['more than 1,024 results', p => { p.results = Array(1025).fill((p.results as number[])[0]); }, /1025 items/],
  ])('a program from elsewhere with %s', (_, change, reason) => {
    const sent = structuredClone(compiled(x => [x[0], x[1]], 'javascript').program) as never;
    change(sent);
    expect(() => decodeProgram(encodeProgram(sent))).toThrow(ProgramError);
    expect(() => decodeProgram(encodeProgram(sent))).toThrow(reason);
  });
}); // biome-ignore format: one case per line

describe('shapes', () => {
  const shape = { norm: 'number', z: ['number', 'number'], 'odd name': 'number' } as const;
  test('values are built, taken apart and looked up', () => {
    const value = { norm: 1, z: [2, 3], 'odd name': 4 };
    expect(leaves(shape)).toEqual(['norm', 'z[0]', 'z[1]', '["odd name"]']);
    expect(build(shape, [1, 2, 3, 4])).toEqual(value);
    expect(flatten(value, shape)).toEqual([1, 2, 3, 4]);
    expect(shapeOfValue({ ...value, z: Float64Array.of(2, 3) })).toEqual(shape);
    expect([indexOf(shape, 'z[1]'), indexOf(shape, 3)]).toEqual([2, 3]);
    expect(() => indexOf(shape, 'mean')).toThrow(/no result 'mean'; the results are norm, z\[0\], z\[1\]/);
    expect(() => indexOf('number', 1)).toThrow(/one number, number 0/);
    expect(() => flatten({ norm: 1, z: [2], 'odd name': 4 }, shape)).toThrow(/the same array or object/);
    expect(() => shapeOfValue([[[1]]])).toThrow(/an array or object of these/);
  });
  test('a plain function has the shape of its program, or of its value', async () => {
    const { domain } = problem({});
    const shapeAt = (f: Integrand<ResultShape>) =>
      shapeOfPlain(f, plainProgram(f as never, null, domain, {}), domain.axes, {}, [0.5, 0.5, 0.5]);
    const outside = 2;
    expect(await shapeAt(([x]) => ({ a: x, b: 1 }))).toEqual({ a: 'number', b: 'number' });
    expect(await shapeAt(([x]) => [x * outside, 1])).toEqual(['number', 'number']);
    expect(await shapeAt((async ([x]: number[]) => ({ a: x })) as never)).toEqual({ a: 'number' });
    expect(await shapeAt(([x]) => x)).toBe('number');
  });
  test('types follow what the function returns', () => {
    expectTypeOf<ResultValue<number>>().toEqualTypeOf<number>();
    expectTypeOf<ResultValue<1 | 2>>().toEqualTypeOf<number>();
    expectTypeOf<ResultValue<readonly number[]>>().toEqualTypeOf<number[]>();
    expectTypeOf<ResultValue<[number, number]>>().toEqualTypeOf<[number, number]>();
    expectTypeOf<ResultValue<{ readonly re: number; z: number[] }>>().toEqualTypeOf<{
      re: number;
      z: number[];
    }>();
    expectTypeOf<ResultValue<Promise<{ a: 1 }>>>().toEqualTypeOf<{ a: number }>();
    expectTypeOf<ResultValue<Float64Array>>().toEqualTypeOf<number[]>();
    // biome-ignore lint/suspicious/noExplicitAny: what x[0] is
    expectTypeOf<ResultValue<{ a: any }>>().toEqualTypeOf<{ a: number }>();
    // @ts-expect-error a string is no result
    const refused: Integrand<ResultShape> = () => ({ a: 'text' });
    expect(() => compile(refused, { dims: 1 })).toThrow(/a string as a/);
  });
});
