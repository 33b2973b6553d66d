/** What the WGSL target makes of small integrands, beside their source, and what becomes of numbers that float32 lacks. */
import { describe, expect, test } from 'vitest';
import { compile, type Integrand } from '../../src/integrand/compile.ts';
import { bind, type Params } from '../../src/integrand/params.ts';
import { toWgsl, unheldNumbers, wgslParams } from '../../src/integrand/targets/wgsl.ts';

const programOf = (f: Integrand, dims: number, params: Params = {}) => compile(f, { dims, params }).program;

/** The function `integrand` alone, without the functions that it calls. */
function code(f: Integrand, dims: number, params: Params = {}): string {
  const { source } = toWgsl(programOf(f, dims, params));
  return source.slice(source.indexOf('fn integrand(')).trimEnd();
}

describe('generated WGSL', () => {
  test('a sum of squares', () => {
    expect(code(([x, y]) => (x - 0.1) ** 2 + y * 3, 2)).toMatchInlineSnapshot(`
      "fn integrand(x: ptr<function, array<f32, 2>>) -> f32 {
        q_zero = bitcast<u32>(params[0]);
        let v0 = (*x)[0] - 0.1f;
        let v1 = v0 * v0;
        let v2 = (*x)[1] * 3.0f;
        let v3 = v1 + v2;
        return v3;
      }"
    `);
  });
  test('only the functions that are called come along', () => {
    const { source } = toWgsl(programOf(([x]) => Math.exp(x), 1));
    expect([...source.matchAll(/fn (\w+)/g)].map(m => m[1])).toMatchInlineSnapshot(`
      [
        "q_keep",
        "q_nearby",
        "q_rounded",
        "q_exponential",
        "q_scale",
        "q_expsmall",
        "q_integer",
        "q_size",
        "q_isnan",
        "q_expsum",
        "q_exp",
        "integrand",
      ]
    `);
  });
  test('the sine and cosine of one angle are one call', () => {
    expect(code(([x, y]) => Math.sin(x * y) - Math.cos(x * y), 2)).toMatchInlineSnapshot(`
      "fn integrand(x: ptr<function, array<f32, 2>>) -> f32 {
        q_zero = bitcast<u32>(params[0]);
        let v0 = (*x)[0] * (*x)[1];
        let t0 = q_sincos(v0);
        let v1 = t0.x - t0.y;
        return v1;
      }"
    `);
  });
  test('a return from a loop is a flag and two breaks; turns are counted', () => {
    const f: Integrand = ([x], p) => {
      for (let i = 0; i < p.n; i++) if (x * i > 1) return i;
      return -1;
    };
    expect(code(f, 1, { n: 5 })).toMatchInlineSnapshot(`
      "fn integrand(x: ptr<function, array<f32, 1>>) -> f32 {
        q_zero = bitcast<u32>(params[0]);
        var turns = 0u;
        var v0: f32;
        var leave0 = false;
        loop {
          var v1: f32 = 0.0f;
          loop {
            turns += 1u;
            if (turns > 1048576u) { break; }
            let v2 = q_lt(v1, params[1]);
            let v3 = !v2;
            if (v3) {
              break;
            }
            let v4 = (*x)[0] * v1;
            let v5 = q_lt(1.0f, v4);
            if (v5) {
              v0 = v1;
              leave0 = true;
              break;
            }
            let v6 = v1 + 1.0f;
            v1 = v6;
          }
          if (leave0 | (turns > 1048576u)) { break; }
          v0 = (-1.0f);
          break;
        }
        q_overruns += select(0u, 1u, (turns > 1048576u));
        return select(v0, q_bits(0x7fc00000u), (turns > 1048576u));
      }"
    `);
  });
  test('several results', () => {
    expect(code((([x]: number[]) => [x, 2 * x]) as unknown as Integrand, 1)).toMatchInlineSnapshot(`
      "fn integrand(x: ptr<function, array<f32, 1>>, out: ptr<function, array<f32, 2>>) {
        q_zero = bitcast<u32>(params[0]);
        let v0 = 2.0f * (*x)[0];
        (*out)[0] = (*x)[0];
        (*out)[1] = v0;
      }"
    `);
  });
  test('what may be NaN is compared with its bits, and infinity as an integer', () => {
    expect(code(([x]) => (1 / x < 3 ? 1 : Number.isFinite(1 / x) ? 2 : 3), 1)).toMatchInlineSnapshot(`
      "fn integrand(x: ptr<function, array<f32, 1>>) -> f32 {
        q_zero = bitcast<u32>(params[0]);
        let v0 = q_bits(0x7f800000u);
        let v1 = 1.0f / (*x)[0];
        let v2 = q_lt(v1, 3.0f);
        let v3 = abs(v1);
        let v4 = q_ltbits(v3, v0);
        let v5 = select(3.0f, 2.0f, v4);
        let v6 = select(v5, 1.0f, v2);
        return v6;
      }"
    `);
  });
});

describe('numbers that float32 cannot hold', () => {
  const f: Integrand = ([x], p) => x * p.tiny + p.list[0] + 1e300 * x + p.fine;
  const params = { tiny: 1e-60, list: Float64Array.of(2, -1e200), fine: 0.1 };
  const program = programOf(f, 1, params);
  const bindings = bind(program.params, params);
  test('are the ends of its range in the buffer, never 0 or Infinity', () => {
    const [zero, ...numbers] = wgslParams(program, bindings);
    expect(zero).toBe(0);
    expect(new Set(numbers)).toEqual(new Set([2 ** -126, 2, -3.4028234663852886e38, Math.fround(0.1)]));
  });
  test('are listed by name', () => {
    expect(unheldNumbers(program, bindings)).toEqual([
      { param: 'tiny', value: 1e-60, as: 2 ** -126 },
      { param: 'list[1]', value: -1e200, as: -3.4028234663852886e38 },
      { value: 1e300, as: 3.4028234663852886e38 },
    ]);
  });
});
