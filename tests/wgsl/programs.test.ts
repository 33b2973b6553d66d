/** WGSL programs on SwiftShader give what float32 gives on the CPU, whatever their control flow, and end. */
import { describe, expect, test } from 'vitest';
import { compile, type Integrand } from '../../src/integrand/compile.ts';
import { bind, type Params } from '../../src/integrand/params.ts';
import { toWgsl } from '../../src/integrand/targets/wgsl.ts';
import { integrands, specialValues, written } from '../compiler/cuda/subjects.ts';
import { absent } from '../webgpu/swiftshader.ts';
import { evaluate, jobOf } from './evaluate.ts';
import { compareWithReference, randomProgram, type Subject } from './programs.ts';

const seeds = (first: number, count: number) => Array.from({ length: count }, (_, i) => first + i);

function subject(f: Integrand, dims: number, points: number[][], params: Params = {}): Subject {
  const { program } = compile(f, { dims, params, target: 'javascript' });
  return { name: String(f), program, bindings: bind(program.params, params), points };
}

const line = (n: number) => Array.from({ length: n }, (_, i) => [(i + 0.5) / n, 1 - i / n]);

describe.skipIf(absent)('WGSL on SwiftShader', () => {
  test('has the special values of JavaScript for every function and operator, −0 included', async () => {
    const { compared, wrong } = await compareWithReference(specialValues(), true);
    expect(wrong).toEqual([]);
    expect(compared).toBeGreaterThan(100_000);
  });
  test('integrands as people write them, and of the papers, agree with float32 on the CPU', async () => {
    // one of the papers' makes 395 calls of sin and cos, which SwiftShader compiles for a minute
    const small = (s: Subject) => toWgsl(s.program).source.length < 30_000;
    const subjects = [...integrands(), ...written()].filter(small);
    for (const s of subjects) s.points = s.points.slice(0, 50);
    const { compared, wrong } = await compareWithReference(subjects);
    expect(wrong).toEqual([]);
    expect(compared).toBeGreaterThan(1000);
  });
  test('random programs agree with float32 on the CPU', async () => {
    const subjects = [
      ...seeds(0, 8).map(seed => randomProgram(seed, 'exact')),
      ...seeds(46, 8).map(seed => randomProgram(seed, 'smooth')), // 50 multiplies an infinity by 0
    ];
    const { compared, wrong } = await compareWithReference(subjects);
    expect(wrong).toEqual([]);
    expect(compared).toBeGreaterThan(400);
  });
  test('breaks and returns out of nested loops leave the right loop', async () => {
    const f: Integrand = x => {
      let s = 0;
      outer: for (let i = 0; i < 20 * x[1]; i++) {
        for (let j = 0; j < 10; j++) {
          if (j > 10 * x[0]) continue outer;
          if (i * j > 30) break outer;
          for (let k = 0; k < 5; k++) {
            s += k * x[0];
            if (s > 90) return -s;
            if (k > i) break;
          }
        }
      }
      return s;
    };
    const { wrong } = await compareWithReference([subject(f, 2, line(40))]);
    expect(wrong).toEqual([]);
  });
  test('arrays, tables of params and several results', async () => {
    const f = ((x: number[], p: { list: number[]; on: boolean }) => {
      const a = [0, 0, 0, 0];
      for (let i = 0; i < 4; i++) a[i] = x[0] * p.list[i];
      const at = Math.floor(4 * x[1]);
      return [a[at], p.on ? x[Math.round(x[0])] : 0, p.list[at + 2]];
    }) as unknown as Integrand;
    const params = { list: Float64Array.of(1, 10, 100, 1000), on: true };
    const { compared, wrong } = await compareWithReference([subject(f, 2, line(40), params)]);
    expect(wrong).toEqual([]);
    expect(compared).toBe(120);
  });
  test('a loop without an end gives NaN where it is entered, and says so', async () => {
    const f: Integrand = x => {
      let t = x[0];
      while (t !== 0.25) t = x[0] < 0.5 ? 0.25 : t + 1;
      return t;
    };
    const { program, bindings } = subject(f, 1, []);
    const [{ values, overruns, error }] = await evaluate([
      jobOf(program, bindings, Float32Array.of(0.1, 0.9, 0.2)),
    ]);
    expect(error).toBeUndefined();
    expect([...values]).toEqual([0.25, NaN, 0.25]);
    expect([...overruns]).toEqual([0, 1, 0]);
  });
  test('constants that overflow when folded are no errors, and the product is infinite', async () => {
    const f: Integrand = (x, p) => (p.on ? 1e30 : 2e30) * 1e30 * x[0];
    const { program, bindings } = subject(f, 1, [], { on: true });
    const [{ values, error }] = await evaluate([jobOf(program, bindings, Float32Array.of(1, 1e-30))]);
    expect(error).toBeUndefined();
    expect(values[0]).toBe(Infinity);
  });
});
