/** Functions at usual arguments: which calls targets take for them. */
import { expect, test } from 'vitest';
import { compile, type Integrand } from '../../src/integrand/compile.ts';
import { toCuda } from '../../src/integrand/targets/cuda.ts';
import { usualCalls } from '../../src/integrand/targets/usual.ts';
import { toWgsl } from '../../src/integrand/targets/wgsl.ts';

const programOf = (f: Integrand, dims: number) =>
  compile(f, { dims, params: {}, target: 'javascript' }).program;
const count = (f: Integrand, dims = 2, roots = true) => usualCalls(programOf(f, dims), roots).size;

test('angles that are near 0 for coordinates between 0 and 1, two at least', () => {
  expect(count(([x, y]) => Math.cos(x) * Math.cos(y))).toBe(2);
  expect(count(([x, y]) => Math.cos(x - y) * Math.sin((x * y) / 2 + 0.5))).toBe(2);
  expect(count(([x, y]) => Math.cos(x) * y)).toBe(0);
  expect(count(([x, y]) => Math.cos(2 * x) * Math.cos(2 * y))).toBe(0);
  expect(count(([x, y]) => Math.cos(x + y) * Math.cos(y) * Math.sin(x))).toBe(2);
});

test('the sine and the cosine of one angle stay together', () => {
  expect(count(([x, y]) => Math.cos(x) * Math.sin(x) * Math.cos(y))).toBe(0);
});

test('roots, where a target has a short path for them', () => {
  expect(count(([x, y]) => Math.sqrt(x) + Math.sqrt(y))).toBe(2);
  expect(count(([x, y]) => Math.sqrt(x) + Math.sqrt(y), 2, false)).toBe(0);
});

test('not in programs with branches, loops, or several results', () => {
  expect(count(([x, y]) => (x > y ? Math.exp(Math.cos(x) * Math.cos(y)) : 1))).toBe(0);
  expect(
    count(([x, y]) => {
      let sum = Math.cos(x) + Math.cos(y);
      for (let t = x; t < 3; t += y) sum += t;
      return sum;
    }),
  ).toBe(0);
  expect(count((([x, y]: number[]) => [Math.cos(x), Math.cos(y)]) as never)).toBe(0);
});

const f: Integrand = ([x, y]) => Math.cos(x) * Math.sqrt(Math.sqrt(y)) - Math.sin(y);

test('CUDA: the integrand in full is a function of its own', () => {
  const text = toCuda(programOf(f, 2)).source;
  expect(text.slice(text.indexOf('__device__ __noinline__'))).toMatchInlineSnapshot(`
    "__device__ __noinline__ double rare_integrand(double x0, double x1, const double* __restrict__ params) {
      const double x[] = {x0, x1};
      unsigned turns = 0;
      const double v0 = near_cos(x[0]);
      const double v1 = sqrt(x[1]);
      const double v2 = sqrt(v1);
      const double v3 = v0 * v2;
      const double v4 = near_sin(x[1]);
      const double v5 = v3 - v4;
      return v5;
    }
    __device__ __forceinline__ double integrand(const double* x, const double* __restrict__ params, unsigned& turns) {
      bool rare = false, known = false;
      const double v0 = usual_cos(x[0], rare);
      const double v1 = usual_sqrt(x[1], rare);
      const double v2 = usual_sqrt(v1, known);
      const double v3 = v0 * v2;
      const double v4 = usual_sin(x[1], rare);
      const double v5 = v3 - v4;
      if (!rare) return v5;
      return rare_integrand(x[0], x[1], params);
    }
    __device__ __forceinline__ double integrand(const double* x, const double* __restrict__ params) {
      unsigned turns = 0;
      return integrand(x, params, turns);
    }
    "
  `);
});

test('WGSL: likewise', () => {
  const text = toWgsl(programOf(f, 2)).source;
  expect(text.slice(text.indexOf('fn q_rareintegrand'))).toMatchInlineSnapshot(`
    "fn q_rareintegrand(x: ptr<function, array<f32, 2>>) -> f32 {
      q_zero = bitcast<u32>(params[0]);
      let v0 = q_cos((*x)[0]);
      let v1 = q_sqrt((*x)[1]);
      let v2 = q_sqrt(v1);
      let v3 = v0 * v2;
      let v4 = q_sin((*x)[1]);
      let v5 = v3 - v4;
      return v5;
    }
    fn integrand(x: ptr<function, array<f32, 2>>) -> f32 {
      q_zero = bitcast<u32>(params[0]);
      var rare = false;
      rare = rare | q_rarecos((*x)[0]);
      let v0 = q_usualcos((*x)[0]);
      let v1 = q_sqrt((*x)[1]);
      let v2 = q_sqrt(v1);
      let v3 = v0 * v2;
      rare = rare | q_raresin((*x)[1]);
      let v4 = q_usualsin((*x)[1]);
      let v5 = v3 - v4;
      var value = v5;
      if (rare) { value = q_rareintegrand(x); }
      return value;
    }
    "
  `);
});
