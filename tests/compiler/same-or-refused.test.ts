/**
 * Constructs outside the documented language that were once compiled into something else, silently. Each is either the
 * same as plain JavaScript or refused with a place and a remedy.
 */
import { describe, expect, test } from 'vitest';
import { compile } from '../../src/integrand/compile.ts';
import { IntegrandError } from '../../src/integrand/diagnostics.ts';
import type { Params } from '../../src/integrand/params.ts';
import { firstDifference, functionOf, threeWays } from './compare.ts';

const POINTS = [
  [0.3, 0.7],
  [0.5, 0.2],
  [0.9, 0.4],
];
const params: Params = { w: Float64Array.of(4, 5, 6), bytes: Uint8Array.of(1, 2, 3), a: 0.5 };

/** The numbers of the function are those of plain JavaScript, on every target. */
function expectSame(text: string): void {
  const { plain, javascript, wasm } = threeWays(functionOf(text), POINTS, params);
  expect(firstDifference(plain, javascript), `plain ${plain}, javascript ${javascript} for ${text}`).toBe(-1);
  expect(firstDifference(plain, wasm), `plain ${plain}, wasm ${wasm} for ${text}`).toBe(-1);
}

function expectRefused(text: string): void {
  let error: unknown;
  try {
    compile(functionOf(text), { dims: 2, params });
  } catch (e) {
    error = e;
  }
  expect(error, text).toBeInstanceOf(IntegrandError);
  expect((error as IntegrandError).line, text).toBeDefined();
  expect((error as IntegrandError).remedy, text).toMatch(/\w/);
}

describe('calls that keep names', () => {
  test.each([
    "([x]) => scale(x, 'log')",
    "([x]) => __name(x, 'log')",
    "([x]) => compose(t => t * t, 'log')(x)",
    "([x]) => f(Math.sin, 'log')(x)",
  ])('%s is a call of something from outside', expectRefused);
  test('a wrapper that keeps the name of a function is nothing', () => {
    const text = '([x]) => { const square = __name(t => t * t, "square"); return square(x); }';
    const [value] = compile(functionOf(text), { dims: 1 }).evaluate(Float64Array.of(3));
    expect(value).toBe(9);
  });
});

describe('comparisons', () => {
  test.each([
    "([x]) => { const mode = 'sq'; return mode === 'sq' ? x * x : x; }",
    "([x]) => { const mode = 'sq'; return mode !== 'cube' && 'a' != 'b' ? x * x : x; }",
    "([x]) => ('' ? x : 'no' ? 2 * x : 3 * x)",
    "([x]) => (x === '0.5' ? 1 : 2)",
    "([x]) => ('a' == null ? 1 : x)",
    '([x]) => ([1] === 1 ? 1 : x)',
    '([x]) => ([1] == null ? 1 : x)',
  ])('%s is as in JavaScript', expectSame);
  test.each([
    "([x]) => (x == '0.5' ? 1 : 2)",
    '([x]) => ([1] == 1 ? 1 : x)',
    '([x]) => ([x] == [x] ? 1 : x)',
    '([x]) => (Math === Math ? 1 : x)',
    '([x]) => (Math.sin === Math.sin ? 1 : x)',
    "([x]) => ((x > 0.5 ? 'a' : 'b') === 'a' ? 1 : 2)",
  ])('%s is refused', expectRefused);
});

describe('names that coverage tools use', () => {
  test('a local variable of such a name is a variable', () =>
    expectSame('([x]) => { let cov_n = x; cov_n++; return cov_n; }'));
  test('an element of such a name is an element', () =>
    expectSame('([x]) => { const cov_a = [x, 1]; cov_a[0]++; return cov_a[0]; }'));
  test('the value of a counter is refused', () => expectRefused('([x]) => x + cov_1a().s[0]++'));
});

describe('closures over variables of loops', () => {
  test.each([
    'let s = 0, f = () => 0; for (let i = 0; i < 3; i++) { s += f(); f = () => i * x[0]; } return s;',
    'let s = 0, f = () => 0; for (let i = 0; i < 5 * x[0]; i++, s += f()) { f = () => i; } return s;',
    'let s = 0, f = () => 0; for (let i = 0; i < 4; f = () => i, i++) { s += f(); i += x[0] > 0.4 ? 0 : 1; } return s;',
    'let s = 0, f = () => 0; for (let i = 0, g = () => i; i < 3; i++) { f = g; s += 10 * f() + i; } return s + x[0];',
    'let s = 0; const fs = [0, 0, 0]; for (let i = 0; i < 3; i++) { const k = i; fs[i] = () => k + i; i += 0; } for (const f of fs) s = 10 * s + f(); return s + x[0];',
  ])('%s', body => {
    const text = `x => { ${body} }`;
    try {
      compile(functionOf(text), { dims: 2 });
    } catch (e) {
      expect(e).toBeInstanceOf(IntegrandError);
      return;
    }
    expectSame(text);
  });
  test('a closure keeps the counter of its own turn', () =>
    expectSame(
      'x => { let s = 0, f = () => 0; for (let i = 0; i < 3; i++) { s += f(); f = () => i * x[0]; } return s; }',
    ));
});

describe('arrays', () => {
  test.each([
    'x => { const a = [1, 2, 3]; a[x[0] > 0.4 ? 1 : 0] = 7; a.fill(x[1], 1); return a[0] + 10 * a[1] + 100 * a[2]; }',
    'x => { const a = [1, 2, 3]; a.fill(x[1], -2, 2); return a[0] + 10 * a[1] + 100 * a[2]; }',
    'x => Array(3, 1).length + x[0]',
    'x => Array(3, x[0])[1]',
    'x => Array().length + x[0]',
    'x => [1, 2, 3].at(1.5) + x[0]',
    'x => [1, 2, 3].slice(0.5, 2.5).length + x[0]',
    'x => [...Array(3)].map((_, i) => i * x[0]).reduce((a, b) => a + b)',
    'x => { let n = 0; for (const v of Array(3)) n += v === undefined ? x[0] : 0; return n; }',
    'x => x.map(Math.sqrt)[1]',
    'x => { const a = [x[0], 1, 2]; return Array.from(a, v => ((a[1] = 5), v))[1]; }',
    'x => Math.max.apply(null, x, 5)',
  ])('%s is as in JavaScript', expectSame);
  test.each([
    'x => Array(3).map(() => 1)[0] ?? x[0]',
    'x => { let n = x[0]; Array(3).forEach(() => n++); return n; }',
    'x => (Array(3).every(() => false) ? x[0] : 2)',
    'x => (Array(3).some(() => true) ? x[0] : 2)',
    'x => Array(3).reduce((s, v) => s + 1, x[0])',
    'x => [1, , 3].map(() => x[0])[1] ?? 9',
    'x => Array(3).slice(1).map(() => 1)[0] ?? x[0]',
    'x => { const a = Array(3); a[x[0] > 0.4 ? 1 : 0] = 1; return a.reduce((s, v) => s + 1, 0); }',
    '(x, p) => [1].concat(p.w).length + x[0]',
    '(x, p) => p.w.concat([1]).length + x[0]',
    '(x, p) => [1].concat(p.w.map(v => v)).length + x[0]',
    '(x, p) => (p.w.map(v => v > 1)[0] === true ? x[0] : 2)',
    'x => [].reduce((a, b) => a + b) ?? x[0]',
    'x => ({}).constructor ?? x[0]',
    '(x, p) => p.toString ?? x[0]',
    'x => ({ __proto__: { a: 1 } }).a ?? x[0]',
  ])('%s is refused', expectRefused);
});

describe('an element at a run-time index may be undefined, wherever it has gone', () => {
  test.each([
    '(x, p) => { const v = x[0] > 0.4 ? p.w[Math.floor(9 * x[0])] : 1; return v ?? 7; }',
    '(x, p) => { let v = 0; for (let i = 0; i < 9 * x[0]; i++) v = p.w[i]; return v ?? 7; }',
    '(x, p) => { const f = (v = 7) => v; return f(p.w[Math.floor(9 * x[0])]); }',
    '(x, p) => { const [v = 7] = [p.w[Math.floor(9 * x[0])]]; return v; }',
    '(x, p) => { const v = x[0] > 0.4 ? p.w[Math.floor(9 * x[0])] : 1; return Number.isNaN(v) ? 1 : 2; }',
  ])('%s is refused', expectRefused);
  test('and is not NaN for Number.isNaN', () =>
    expectSame('(x, p) => (Number.isNaN(p.w[Math.floor(9 * x[0])]) ? 1 : 2)'));
});

describe('a variable before its declaration', () => {
  test.each([
    'x => { let a = 1; { const b = a + x[0]; let a = 2; return b; } }',
    'x => { let y = 1; { let y = y + 1; return y + x[0]; } }',
    'x => { s = 1; let s; s = 2; return s + x[0]; }',
  ])('%s is refused', expectRefused);
  test('a closure may name what is declared later', () =>
    expectSame('x => { let y = 1; { const f = () => y; let y = x[0]; return f(); } }'));
});

describe('params', () => {
  test('an array that only a dropped branch reads is written nowhere', () =>
    expectSame('([x], p) => (Math.sin(p.w[0]) > 0 ? x - 1 : x - 1)'));
});
