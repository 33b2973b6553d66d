/** Derivatives of functions of results, against differences and closed forms. */
import { describe, expect, test } from 'vitest';
import { DERIVATIVES, OP_DERIVATIVES } from '../../src/integrand/derivative-rules.ts';
import { differentiate } from '../../src/integrand/gradient.ts';
import { OPS, type Op } from '../../src/integrand/ir.ts';
import { arity } from '../../src/integrand/lower/globals.ts';
import { kit, library } from '../../src/integrand/math/index.ts';
import { Random } from './random.ts';

/** Where each function is smooth; (0.2, 0.8) unless listed. */
const RANGES: Record<string, [number, number]> = {
  acosh: [1.5, 3],
};

describe('rules', () => {
  test('every operation and every function of Math that compiles has one', () => {
    const ops = (Object.keys(OPS) as Op[]).filter(op => OPS[op].endsWith('f') && op !== 'select');
    expect(ops.filter(op => !OP_DERIVATIVES[op])).toEqual([]);
    const functions = Object.keys(library).filter(fn => arity(fn) > 0 && (fn in Math || fn === 'mod'));
    expect(functions.filter(fn => !DERIVATIVES[fn])).toEqual([]);
    expect(functions.length).toBeGreaterThan(25);
  });
  test.each(Object.keys(DERIVATIVES))('that of %s agrees with central differences to 1e-7', fn => {
    const r = new Random(5);
    const [low, high] = RANGES[fn] ?? [0.2, 0.8];
    const call = (kit as unknown as Record<string, (...a: number[]) => number>)[fn];
    for (let trial = 0; trial < 50; trial++) {
      const args = [0, 1].map(() => low + (high - low) * r.unit());
      if (fn === 'mod') args[1] += 1; // without a jump nearby
      if (fn === 'fround' || fn === 'round' || fn === 'clz32' || fn === 'imul' || fn === 'sign') continue;
      const rule = DERIVATIVES[fn](call(...args), args[0], args[1]);
      for (let k = 0; k < arity(fn); k++) {
        const at = (by: number) => call(...args.map((a, j) => (j === k ? a + by : a)));
        const difference = (at(1e-5) - at(-1e-5)) / 2e-5;
        expect(Math.abs((rule[k] ?? 0) - difference)).toBeLessThan(1e-7 * Math.max(1, Math.abs(difference)));
      }
    }
  });
});

describe('functions of results', () => {
  test('a ratio', () => {
    const g = differentiate((v: { mean: number; norm: number }) => v.mean / v.norm, {
      mean: 'number',
      norm: 'number',
    });
    expect(g([3, 4])).toEqual({
      shape: 'number',
      values: [0.75],
      derivatives: [[0.25, -0.1875]],
      exact: true,
    });
  });
  test('values are those of the function itself, whatever of the math library is loaded', () => {
    const f = ([a, b]: number[]) => Math.atan2(a, b) + Math.sinh(a) ** b + (7 % b) + Math.cbrt(a);
    const { values, exact } = differentiate(f, ['number', 'number'])([0.3, 2.7]);
    expect([values[0], exact]).toEqual([f([0.3, 2.7]), true]);
  });
  test('several values, by nested results', () => {
    const shape = { z: { re: 'number', im: 'number' }, w: ['number', 'number'] } as const;
    const f = ({ z, w }: { z: { re: number; im: number }; w: number[] }) => ({
      size: Math.hypot(z.re, z.im),
      w: w.map(v => v ** 3),
    });
    const { shape: own, values, derivatives } = differentiate(f, shape)([3, 4, 2, 5]);
    expect(own).toEqual({ size: 'number', w: ['number', 'number'] });
    expect(values).toEqual([5, 8, 125]);
    expect(derivatives).toEqual([
      [0.6, 0.8, 0, 0],
      [0, 0, 12, 0],
      [0, 0, 0, 75],
    ]);
  });
  test('branches, loops and arrays follow the values', () => {
    const f = ([a, b]: number[]) => {
      const kept = [0, 0, 0];
      let [s, n] = [a, 0];
      while (s < 10) {
        kept[n % 3] = s * b;
        s *= 1 + b;
        n++;
      }
      if (s > 1e9) return 0;
      return kept[0] + kept[1] * kept[2] + (a > b ? s : -s);
    };
    const given = differentiate(f, ['number', 'number'])([1.3, 0.4]);
    const h = 1e-6;
    expect(given.values[0]).toBeCloseTo(f([1.3, 0.4]), 12);
    const expected = [
      (f([1.3 + h, 0.4]) - f([1.3 - h, 0.4])) / (2 * h),
      (f([1.3, 0.4 + h]) - f([1.3, 0.4 - h])) / (2 * h),
    ];
    given.derivatives[0].forEach((d, i) => expect(d / expected[i]).toBeCloseTo(1, 6));
  });
  test('300 random formulas agree with central differences to 1e-5', () => {
    const text = (r: Random, depth: number): string => {
      if (depth === 0) return r.pick(['v.a', 'v.b', 'v.c', '1.5', '0.3']);
      const part = () => text(r, depth - 1);
      const one = ['exp', 'sin', 'cos', 'tanh', 'atan', 'asinh', 'erf', 'log1p', 'sqrt', 'abs', 'cbrt'];
      return r.pick([
        () => `(${part()} + ${part()})`,
        () => `(${part()} - ${part()})`,
        () => `(${part()} * ${part()})`,
        () => `(${part()} / (2 + Math.abs(${part()})))`,
        () => `Math.${r.pick(one.filter(n => n !== 'erf'))}(0.5 + Math.abs(${part()}))`,
        () => `Math.max(${part()}, ${part()})`,
        () => `(${part()} > 0.5 ? ${part()} : 2 * ${part()})`,
        () => `(1 + Math.abs(${part()})) ** ${part()}`,
      ])();
    };
    let compared = 0;
    for (let seed = 0; seed < 300; seed++) {
      const r = new Random(seed);
      const f = new Function('v', `return ${text(r, 3)};`) as (v: never) => number;
      const at = [r.unit() + 0.1, r.unit() + 0.1, -r.unit()];
      const shape = { a: 'number', b: 'number', c: 'number' } as const;
      const g = differentiate(f, shape)(at);
      const value = (h: number, i: number) => {
        const [a, b, c] = at.map((v, j) => (j === i ? v + h : v));
        return f({ a, b, c } as never);
      };
      expect(g.exact).toBe(true);
      for (let i = 0; i < 3; i++) {
        const [wide, narrow] = [1e-5, 1e-6].map(h => (value(h, i) - value(-h, i)) / (2 * h));
        if (!(Math.abs(wide - narrow) < 1e-6 * Math.max(1, Math.abs(wide)))) continue; // a kink or a jump is near
        compared++;
        expect(Math.abs(g.derivatives[0][i] - wide) / Math.max(1, Math.abs(wide)), String(f)).toBeLessThan(
          1e-5,
        );
      }
    }
    expect(compared).toBeGreaterThan(700);
  });
  test('a function with names from outside is differentiated numerically', () => {
    const scale = 7;
    const f = (v: { a: number; b: number }) => [scale * v.a * v.b, Math.exp(v.b)];
    const { values, derivatives, exact, shape } = differentiate(f, { a: 'number', b: 'number' })(
      [2, 0],
      [1, 1e-3],
    );
    expect([exact, shape, values]).toEqual([false, ['number', 'number'], [0, 1]]);
    [
      [0, 14],
      [0, 1],
    ].forEach((row, k) => row.forEach((d, i) => expect(derivatives[k][i]).toBeCloseTo(d, 8)));
  });
  test('a root at 0 has no influence where its argument does not depend on a result', () => {
    const g = differentiate((v: number[]) => v[0] + Math.sqrt(0) * v[1] + 0 ** 0.5, ['number', 'number']);
    expect(g([1, 2]).derivatives).toEqual([[1, 0]]);
  });
});
