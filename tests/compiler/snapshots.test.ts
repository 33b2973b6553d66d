/** What the compiler makes of small integrands, beside their source: one glance shows what it does. */
import { describe, expect, test } from 'vitest';
import { compile, type Integrand } from '../../src/integrand/compile.ts';
import type { Params } from '../../src/integrand/params.ts';
import { toJavaScript } from '../../src/integrand/targets/javascript.ts';

/** The program as JavaScript, its values and labels numbered in the order they appear. */
function code(f: Integrand, dims: number, params: Params = {}): string {
  const seen = { v: new Map<string, string>(), L: new Map<string, string>() };
  return toJavaScript(compile(f, { dims, params }).program).replace(
    /\b(v|L)\d+\b/g,
    (name, kind: 'v' | 'L') => {
      const names = seen[kind];
      if (!names.has(name)) names.set(name, `${kind}${names.size}`);
      return names.get(name)!;
    },
  );
}

describe('generated code', () => {
  test('a sum over the coordinates is unrolled, and squares are products', () => {
    const f: Integrand = x => {
      let s = 0;
      for (let i = 0; i < x.length; i++) s += (x[i] - 0.5) ** 2;
      return s;
    };
    expect(code(f, 3)).toMatchInlineSnapshot(`
      "const v0 = points[0 * n + i];
      const v1 = v0 - 0.5;
      const v2 = v1 * v1;
      const v3 = points[1 * n + i];
      const v4 = v3 - 0.5;
      const v5 = v4 * v4;
      const v6 = v2 + v5;
      const v7 = points[2 * n + i];
      const v8 = v7 - 0.5;
      const v9 = v8 * v8;
      const v10 = v6 + v9;
      out[i] = v10;"
    `);
  });
  test('a power of 2.5 is two products and a root', () => {
    expect(code(x => x[0] ** 2.5, 1)).toMatchInlineSnapshot(`
      "const v0 = points[0 * n + i];
      const v1 = v0 * v0;
      const v2 = Math.abs(v1);
      const v3 = v0 === (-Infinity);
      const v4 = v0 + 0;
      const v5 = v3 ? Infinity : v4;
      const v6 = Math.sqrt(v5);
      const v7 = v2 * v6;
      out[i] = v7;"
    `);
  });
  test('a power that is not known stays a call', () => {
    expect(code((x, p) => x[0] ** p.n, 1, { n: 3 })).toMatchInlineSnapshot(`
      "const v0 = data["n"];
      const v1 = points[0 * n + i];
      const v2 = kit.pow(v1, v0);
      out[i] = v2;"
    `);
  });
  test('what occurs twice is computed once', () => {
    expect(code(x => Math.sqrt(x[0] * x[1]) + 1 / Math.sqrt(x[1] * x[0]), 2)).toMatchInlineSnapshot(`
      "const v0 = points[0 * n + i];
      const v1 = points[1 * n + i];
      const v2 = v0 * v1;
      const v3 = Math.sqrt(v2);
      const v4 = 1 / v3;
      const v5 = v3 + v4;
      out[i] = v5;"
    `);
  });
  test('constants are folded', () => {
    expect(code(x => (x[0] / 4) * (2 * Math.PI - 1) + 0 * 3, 1)).toMatchInlineSnapshot(`
      "const v0 = points[0 * n + i];
      const v1 = v0 * 0.25;
      const v2 = v1 * 5.283185307179586;
      const v3 = v2 + 0;
      out[i] = v3;"
    `);
  });
  test('a cheap branch is a choice between two values', () => {
    expect(code(x => (x[0] < 0.5 ? x[0] : 1 - x[0]), 1)).toMatchInlineSnapshot(`
      "const v0 = points[0 * n + i];
      const v1 = v0 < 0.5;
      const v2 = 1 - v0;
      const v3 = v1 ? v0 : v2;
      out[i] = v3;"
    `);
  });
  test('a dear branch stays a branch', () => {
    expect(code(x => (x[0] < 0.5 ? Math.exp(x[0]) : 0), 1)).toMatchInlineSnapshot(`
      "const v0 = points[0 * n + i];
      const v1 = v0 < 0.5;
      let v2;
      if (v1) {
        const v3 = kit.exp(v0);
        v2 = v3;
      } else {
        v2 = 0;
      }
      out[i] = v2;"
    `);
  });
  test('a loop whose end depends on the point stays a loop', () => {
    const f: Integrand = x => {
      let n = 0;
      for (let t = x[0]; t < 10; t *= 2) n++;
      return n;
    };
    expect(code(f, 1)).toMatchInlineSnapshot(`
      "const v0 = points[0 * n + i];
      let v1;
      let v2, v3;
      [v2, v3] = [0, v0];
      L0: for (;;) {
        const v4 = v3 < 10;
        const v5 = !v4;
        if (v5) {
          v1 = v2;
          break L0;
        }
        const v6 = v2 + 1;
        const v7 = v3 * 2;
        [v2, v3] = [v6, v7];
      }
      out[i] = v1;"
    `);
  });
  test('an early return past something dear is a branch', () => {
    const f: Integrand = x => {
      if (x[0] < 0) return 0;
      return Math.log(x[0]) * Math.exp(x[1]);
    };
    expect(code(f, 2)).toMatchInlineSnapshot(`
      "const v0 = points[0 * n + i];
      const v1 = v0 < 0;
      let v2;
      if (v1) {
        v2 = 0;
      } else {
        const v3 = kit.log(v0);
        const v4 = points[1 * n + i];
        const v5 = kit.exp(v4);
        const v6 = v3 * v5;
        v2 = v6;
      }
      out[i] = v2;"
    `);
  });
  test('an early return inside a loop leaves both', () => {
    const f: Integrand = x => {
      for (let t = x[0]; t < 10; t += 1) if (t > 5) return t;
      return 0;
    };
    expect(code(f, 1)).toMatchInlineSnapshot(`
      "let v0;
      L0: {
        const v1 = points[0 * n + i];
        let v2;
        v2 = v1;
        L1: for (;;) {
          const v3 = v2 < 10;
          const v4 = !v3;
          if (v4) {
            break L1;
          }
          const v5 = 5 < v2;
          if (v5) {
            v0 = v2;
            break L0;
          }
          const v6 = v2 + 1;
          v2 = v6;
        }
        v0 = 0;
        break L0;
      }
      out[i] = v0;"
    `);
  });
  test('every is a chain of comparisons', () => {
    expect(code(x => (x.every((v: number) => v < 0.5) ? 1 : 0), 3)).toMatchInlineSnapshot(`
      "const v0 = points[0 * n + i];
      const v1 = v0 < 0.5;
      const v2 = points[1 * n + i];
      const v3 = v2 < 0.5;
      const v4 = points[2 * n + i];
      const v5 = v4 < 0.5;
      const v6 = v3 && v5;
      const v7 = v1 && v6;
      const v8 = v7 ? 1 : 0;
      out[i] = v8;"
    `);
  });
  test('helpers, destructuring and arrays leave no trace', () => {
    const f: Integrand = ([a, b]) => {
      const swap = ([u, v]: number[]) => [v, u];
      const [c, d] = swap([a, b]);
      return c - d;
    };
    expect(code(f, 2)).toMatchInlineSnapshot(`
      "const v0 = points[0 * n + i];
      const v1 = points[1 * n + i];
      const v2 = v1 - v0;
      out[i] = v2;"
    `);
  });
  test('an index that is known at run time only reads memory', () => {
    expect(
      code((x, p) => p.data[Math.floor(4 * x[0])], 1, { data: new Float64Array(4) }),
    ).toMatchInlineSnapshot(`
      "const v0 = points[0 * n + i];
      const v1 = 4 * v0;
      const v2 = Math.floor(v1);
      const v3 = (v2 >= 0 && v2 < 4 && v2 === Math.trunc(v2) ? data["data"][v2] : NaN);
      out[i] = v3;"
    `);
  });
});
