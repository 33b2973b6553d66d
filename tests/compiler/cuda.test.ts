/**
 * The CUDA text: what it looks like, that it compiles, and that it computes what JavaScript does. No GPU is needed: the
 * text is C++ but for a few words, so g++ makes host code of it. nvcc has the last word on whether it compiles.
 */
import { beforeAll, describe, expect, test } from 'vitest';
import { compile, type Integrand } from '../../src/integrand/compile.ts';
import type { Program } from '../../src/integrand/ir.ts';
import { bind, type Params } from '../../src/integrand/params.ts';
import { table } from '../../src/integrand/tables.ts';
import { cudaParams, toCuda } from '../../src/integrand/targets/cuda.ts';
import { absent, onHost, ptx, withNvcc } from './cuda/build.ts';
import {
  exactPrograms,
  fromLibrary,
  integrands,
  type Subject,
  smoothPrograms,
  specialValues,
  written,
} from './cuda/subjects.ts';

const programOf = (f: Integrand, dims: number, params: Params = {}): Program =>
  compile(f, { dims, params, target: 'javascript' }).program;
const text = (f: Integrand, dims: number, params: Params = {}) => toCuda(programOf(f, dims, params)).source;
/** The body of `integrand` alone. */
const body = (f: Integrand, dims: number, params: Params = {}) =>
  /double integrand\(.*, unsigned& turns\) \{\n([\s\S]*?)^\}/m.exec(text(f, dims, params))![1];

describe('generated text', () => {
  test('a sum over the coordinates reads each at a constant index', () => {
    const f: Integrand = x => {
      let s = 0;
      for (const v of x) s += (v - 0.5) ** 2;
      return Math.exp(-625 * s);
    };
    expect(text(f, 3)).toMatchInlineSnapshot(`
      "__device__ __forceinline__ bool stopped(const double* params) {
        const volatile unsigned* flag = (const volatile unsigned*)__double_as_longlong(params[0]);
        return flag && *flag;
      }
      __device__ __forceinline__ double integrand(const double* x, const double* __restrict__ params, unsigned& turns) {
        const double v0 = x[0] - 0.5;
        const double v1 = v0 * v0;
        const double v2 = x[1] - 0.5;
        const double v3 = v2 * v2;
        const double v4 = v1 + v3;
        const double v5 = x[2] - 0.5;
        const double v6 = v5 * v5;
        const double v7 = v4 + v6;
        const double v8 = (-625.0) * v7;
        const double v9 = exp(v8);
        return v9;
      }
      __device__ __forceinline__ double integrand(const double* x, const double* __restrict__ params) {
        unsigned turns = 0;
        return integrand(x, params, turns);
      }
      "
    `);
  });
  test('functions that differ from C bring a helper, and only then', () => {
    const f: Integrand = (x, p) => Math.round(x[0] ** p.n) + Math.max(x[0], 0) + Math.abs(x[1]);
    expect(text(f, 2, { n: 3 })).toMatchInlineSnapshot(`
      "__device__ __forceinline__ bool stopped(const double* params) {
        const volatile unsigned* flag = (const volatile unsigned*)__double_as_longlong(params[0]);
        return flag && *flag;
      }
      __device__ __forceinline__ double js_pow(double x, double y) {
        return !(fabs(y) < __longlong_as_double(0x7ff0000000000000LL)) && fabs(x) == 1.0 ? __longlong_as_double(0x7ff8000000000000LL) : pow(x, y);
      }
      __device__ __forceinline__ double js_round(double x) {
        const double down = floor(x);
        return copysign(x - down >= 0.5 ? down + 1.0 : down, x);
      }
      __device__ __forceinline__ double integrand(const double* x, const double* __restrict__ params, unsigned& turns) {
        const double v0 = js_pow(x[0], params[1]);
        const double v1 = js_round(v0);
        const double v2 = x[0] <= 0.0 ? 0.0 : x[0];
        const double v3 = v1 + v2;
        const double v4 = fabs(x[1]);
        const double v5 = v3 + v4;
        return v5;
      }
      __device__ __forceinline__ double integrand(const double* x, const double* __restrict__ params) {
        unsigned turns = 0;
        return integrand(x, params, turns);
      }
      "
    `);
  });
  test('the sine and cosine of one angle share its reduction', () => {
    const f: Integrand = ([r, phi]) => Math.cos(phi) * r + Math.sin(phi) * r * r;
    expect(body(f, 2)).toMatchInlineSnapshot(`
      "  double v0, v1;
        sincos(x[1], &v0, &v1);
        const double v2 = v1 * x[0];
        const double v3 = v0 * x[0];
        const double v4 = v3 * x[0];
        const double v5 = v2 + v4;
        return v5;
      "
    `);
  });
  test('a loop cannot be dropped, values that trade places go through a third', () => {
    const f: Integrand = x => {
      let [a, b] = [x[0], x[1]];
      for (let t = x[0]; t < 10; t *= 2) [a, b] = [b, a];
      return a - b;
    };
    expect(body(f, 2)).toMatchInlineSnapshot(`
      "  double v0;
        double v1;
        double v2 = x[0];
        double v3 = x[1];
        double v4 = x[0];
        for (;;) {
          if ((turns += 1u) >= 4096u && (turns = 0u, stopped(params))) return __longlong_as_double(0x7ff8000000000000LL);
          const bool v5 = v4 < 10.0;
          const bool v6 = !v5;
          if (v6) {
            v0 = v2;
            v1 = v3;
            break;
          }
          const double v7 = v4 * 2.0;
          v4 = v7;
          const double t0 = v2;
          v2 = v3;
          v3 = t0;
        }
        const double v8 = v0 - v1;
        return v8;
      "
    `);
  });
  test('a loop that may be long looks at the stop flag, by the work of a turn; a short one does not', () => {
    const f: Integrand = (x, p) => {
      let s = 0;
      for (let k = 0; k < p.n; k++) for (let j = 0; j < 100; j++) s += x[0] / (k + j + 1);
      return s;
    };
    expect(body(f, 1, { n: 3 })).toMatchInlineSnapshot(`
      "  double v0;
        double v1 = 0.0;
        double v2 = 0.0;
        for (;;) {
          if ((turns += 101u) >= 4096u && (turns = 0u, stopped(params))) return __longlong_as_double(0x7ff8000000000000LL);
          const bool v3 = v2 < params[1];
          const bool v4 = !v3;
          if (v4) {
            v0 = v1;
            break;
          }
          double v5;
          double v6 = v1;
          double v7 = 0.0;
          for (;;) {
            asm volatile("");
            const bool v8 = v7 < 100.0;
            const bool v9 = !v8;
            if (v9) {
              v5 = v6;
              break;
            }
            const double v10 = v2 + v7;
            const double v11 = v10 + 1.0;
            const double v12 = x[0] / v11;
            const double v13 = v6 + v12;
            const double v14 = v7 + 1.0;
            v6 = v13;
            v7 = v14;
          }
          const double v15 = v2 + 1.0;
          v1 = v5;
          v2 = v15;
        }
        return v0;
      "
    `);
  });
  test.each([
    ['for (let k = 0; k < 4000; k++)', 0],
    ['for (let k = 0; k < 5000; k++)', 1],
    ['for (let k = 9999; k >= 8000; k--)', 0],
    ['for (let k = 0; !(k >= 1000); k += 2)', 0],
    ['for (let k = 1; k < 1e30; k *= 2)', 0],
    ['for (let k = 0; k !== 50.5; k++)', 1],
    ['for (let k = 0; k < 1e9 && s < 10; k++)', 1],
    ['for (let j = 0; j < 90; j++) for (let k = 0; k < 90; k++)', 1],
    ['for (let j = 0; j < 60; j++) for (let k = 0; k < 60; k++)', 0],
    ['for (let j = 0; j < 1e5; j++) for (let k = 0; k < 1e5; k++)', 2],
  ])('loops that ask: %s has %i', (loop, asking) => {
    const f = new Function('x', `let s = 0; ${loop} s += x[0] * k; return s;`) as Integrand;
    expect(text(f, 1).match(/stopped\(params\)\)/g) ?? []).toHaveLength(asking);
  });
  test('leaving two loops at once is a goto', () => {
    const f: Integrand = (x, p) => {
      for (let t = x[0]; t < 10; t += 1) {
        for (let u = t; u < p.most; u *= 2) if (u > 5 * x[1]) return u;
      }
      return p.flag ? 1 : 0;
    };
    expect(body(f, 2, { most: 8, flag: true })).toMatchInlineSnapshot(`
      "  double v0;
        {
          const double v1 = 5.0 * x[1];
          double v2 = x[0];
          for (;;) {
            if ((turns += 1u) >= 4096u && (turns = 0u, stopped(params))) return __longlong_as_double(0x7ff8000000000000LL);
            const bool v3 = v2 < 10.0;
            const bool v4 = !v3;
            if (v4) {
              break;
            }
            double v5 = v2;
            for (;;) {
              if ((turns += 1u) >= 4096u && (turns = 0u, stopped(params))) return __longlong_as_double(0x7ff8000000000000LL);
              const bool v6 = v5 < params[1];
              const bool v7 = !v6;
              if (v7) {
                break;
              }
              const bool v8 = v1 < v5;
              if (v8) {
                v0 = v5;
                goto L0;
              }
              const double v9 = v5 * 2.0;
              v5 = v9;
            }
            const double v10 = v2 + 1.0;
            v2 = v10;
          }
          const double v11 = (params[2] != 0.0) ? 1.0 : 0.0;
          v0 = v11;
        }
        L0:;
        return v0;
      "
    `);
  });
  test('arrays: of params, of constants, local; an index is checked unless it is known', () => {
    const f: Integrand = (x, p) => {
      const k = Math.floor(4 * x[0]);
      const a = [0, 0, x[1]];
      a[k] = p.data[k];
      return a[1] + [2, 3, 5, 7][k] + p.data[2];
    };
    expect(text(f, 2, { scale: 1, data: new Float64Array(4) })).toMatchInlineSnapshot(`
      "__device__ __forceinline__ bool stopped(const double* params) {
        const volatile unsigned* flag = (const volatile unsigned*)__double_as_longlong(params[0]);
        return flag && *flag;
      }
      __device__ __forceinline__ double array_get(const double* a, int n, double i) {
        const int k = (int)i;
        return k == i && (unsigned)k < (unsigned)n ? a[k] : __longlong_as_double(0x7ff8000000000000LL);
      }
      __device__ __forceinline__ bool array_set(double* a, int n, double i, double v) {
        const int k = (int)i;
        const bool inside = k == i && (unsigned)k < (unsigned)n;
        if (inside) a[k] = v;
        return inside;
      }
      __device__ const double c0[] = {2.0, 3.0, 5.0, 7.0};
      __device__ __forceinline__ double integrand(const double* x, const double* __restrict__ params, unsigned& turns) {
        double a0[3];
        bool stray = false;
        const double v0 = 4.0 * x[0];
        const double v1 = floor(v0);
        a0[0] = 0.0;
        a0[1] = 0.0;
        a0[2] = x[1];
        const double v2 = array_get(params + 1, 4, v1);
        if (!array_set(a0, 3, v1, v2)) stray = true;
        const double v3 = a0[1];
        const double v4 = array_get(c0, 4, v1);
        const double v5 = v3 + v4;
        const double v6 = v5 + params[3];
        return stray ? __longlong_as_double(0x7ff8000000000000LL) : v6;
      }
      __device__ __forceinline__ double integrand(const double* x, const double* __restrict__ params) {
        unsigned turns = 0;
        return integrand(x, params, turns);
      }
      "
    `);
  });
  test('numbers keep every digit, and those that are none come as bits', () => {
    const f: Integrand = x => (x[0] < 0.1 ? -0 : x[0] > 1e21 ? Infinity : x[0] === 3 ? NaN : 5e-324);
    expect(body(f, 1)).toMatchInlineSnapshot(`
      "  const bool v0 = x[0] < 0.1;
        const bool v1 = 1e+21 < x[0];
        const bool v2 = x[0] == 3.0;
        const double v3 = v2 ? __longlong_as_double(0x7ff8000000000000LL) : 5e-324;
        const double v4 = v1 ? __longlong_as_double(0x7ff0000000000000LL) : v3;
        const double v5 = v0 ? (-0.0) : v4;
        return v5;
      "
    `);
  });
});

describe('the params buffer', () => {
  test('holds the stop flag, then scalars, booleans and arrays one after another, in the order of declaration', () => {
    const params = { a: 2.5, on: true, bytes: Uint8Array.of(7, 8), t: table([[0, 1, 3]], [4, 5, 6]) };
    const program = programOf((x, p) => p.t(x[0]) * p.a + p.bytes[0] + (p.on ? x[0] : 0), 1, params);
    const buffer = cudaParams(program, bind(program.params, params));
    const expected = program.params.flatMap(({ name }) => {
      const value = bind(program.params, params).get(name)!;
      return typeof value === 'object' ? [...value] : [Number(value)];
    });
    expect([...buffer]).toEqual([0, ...expected]);
    expect(toCuda(program).length).toBe(buffer.length);
  });
  test('ends with the constant arrays that C++ cannot write down', () => {
    const program = programOf((x, p) => p.a * [1, NaN, -Infinity][Math.floor(3 * x[0])], 1, { a: 2 });
    expect([...cudaParams(program, bind(program.params, { a: 2 }))]).toEqual([0, 2, 1, NaN, -Infinity]);
    expect(toCuda(program).source).toContain('array_get(params + 2, 3, v');
  });
  test('begins with the address of the stop flag, as bits; without params there is nothing else', () => {
    const program = programOf(x => x[0], 1);
    const buffer = cudaParams(program, new Map(), 0x7f00_1234_5678);
    expect([...new BigUint64Array(buffer.buffer)]).toEqual([0x7f00_1234_5678n]);
    expect(toCuda(program).length).toBe(1);
  });
});

/** Made when first needed: compiling and running them all takes seconds. */
const once = <T>(make: () => T) => {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
};
const groups: Record<string, () => Subject[]> = {
  'the integrands of the papers and the hard ones, within 1e-13 or their own tolerance': once(integrands),
  'integrands as people write them, within 1e-13': once(written),
  'special values of every function and operator: as in JavaScript': once(specialValues),
  'every library function as compiled from the library, within 8 ulp': once(fromLibrary),
  '120 random programs with exact operations: the same bits': once(() => exactPrograms(120)),
  '80 random programs with transcendental functions, within 1e-13 of the sum of all terms': once(() =>
    smoothPrograms(80),
  ),
};
const allSubjects = () => Object.values(groups).flatMap(make => make());

test('no small power is left to pow', () => {
  for (const { name, program } of allSubjects()) {
    const powers = toCuda(program).source.matchAll(/pow\([^,]+, \(?(-?[\d.e+-]+)\)?\)/g);
    for (const [, y] of powers)
      expect(Math.abs(Number(y)) > 16 || !Number.isInteger(8 * Number(y)), `${name}: ${y}`).toBe(true);
  }
});

const noHost = absent('g++');
if (noHost) console.warn(`the CUDA text is not run: ${noHost}`);
describe.skipIf(noHost)(`run as host C++${noHost ? `, skipped: ${noHost}` : ''}`, () => {
  let values: Map<Subject, Float64Array>;
  beforeAll(() => {
    const subjects = allSubjects();
    const results = onHost(subjects);
    values = new Map(subjects.map((s, k) => [s, results[k]]));
  }, 120_000);
  test.each(Object.entries(groups))('%s', (_, subjects) => {
    for (const s of subjects()) {
      const got = values.get(s)!;
      expect(got.length).toBe(s.expected.length);
      s.expected.forEach((plain, i) => {
        const within = s.within[i] > 0 && Math.abs(got[i] - plain) <= s.within[i];
        if (Object.is(got[i], plain) || within || s.within[i] === Infinity) return;
        expect.fail(`${s.name}: plain ${plain}, compiled ${got[i]} at [${s.points[i].join(', ')}]`);
      });
    }
  });
});

const noNvcc = absent('nvcc');
if (noNvcc) console.warn(`the CUDA text is not compiled by nvcc: ${noNvcc}`);
describe.skipIf(noNvcc)(`compiled by nvcc${noNvcc ? `, skipped: ${noNvcc}` : ''}`, () => {
  test('every integrand, function and operator makes a kernel, and the point of f4_8 and of Roos & Arnold is in registers', () => {
    const subjects = allSubjects().filter(s => !/^(exact|smooth)_\d\d/.test(s.name)); // ten of each kind are enough
    const costs = withNvcc(subjects, '-arch=sm_90', '-cubin');
    expect([...costs.keys()].sort()).toEqual(subjects.map(s => s.name).sort());
    for (const name of ['f4_8', 'roos_arnold_10', 'asian_arithmetic_16']) {
      expect(costs.get(name), name).toMatchObject({ stack: 0 });
      expect(costs.get(name)!.registers, name).toBeLessThanOrEqual(64);
    }
  });
  test('for compute 7.5 too, and beside what the C headers declare', () => {
    const source = text((x, _, m) => m.j0(9 * x[0]) + Math.clz32(x[0]) + Math.hypot(x[0], x[1]), 2);
    expect(ptx(2, source)).toContain('.target sm_75');
  });
  test('products and sums may fuse in an integrand, not in a function compiled from the library', () => {
    const fused = /fma\.rn\.f64/;
    expect(
      ptx(
        3,
        text(x => x[0] * x[1] + x[2], 3),
      ),
    ).toMatch(fused);
    const f: Integrand = (x, _, m) => m.j0(x[0] % x[1]) / Math.hypot(x[0], x[1]) / Math.imul(x[0], x[1]);
    expect(ptx(2, text(f, 2))).not.toMatch(fused);
  });
  test('a loop that never ends, and whose values nothing needs, is still a loop', () => {
    const endless: Program = {
      ...programOf(() => 3, 1),
      body: [
        { kind: 'let', id: 0, type: 'f64', op: 'const', value: 3 },
        {
          kind: 'loop',
          label: 0,
          init: [0],
          carried: [{ id: 1, type: 'f64' }],
          body: [
            { kind: 'let', id: 2, type: 'f64', op: 'mul', args: [1, 1] },
            { kind: 'let', id: 3, type: 'bool', op: 'lt', args: [2, 0] },
            {
              kind: 'if',
              cond: 3,
              then: [{ kind: 'break', label: 0, args: [] }],
              else: [{ kind: 'yield', args: [] }],
              out: [],
            },
            { kind: 'continue', args: [2] },
          ],
          out: [],
        },
      ],
      results: [0],
    };
    expect(ptx(1, toCuda(endless).source)).toMatch(/(\$L__BB\d+_\d+):[\s\S]*bra\S*\s+\1;/);
  });
});
