/**
 * Arrays and objects that change: assigned as a whole in branches and loops, changed by another name, sorted, filtered. Each
 * program gives the bits of plain JavaScript on both targets, or is refused because a copy would not be what JavaScript has.
 */
import { describe, expect, test } from 'vitest';
import { compile } from '../../src/integrand/compile.ts';
import { IntegrandError } from '../../src/integrand/diagnostics.ts';
import { firstDifference, functionOf, threeWays } from './compare.ts';

const POINTS = [
  [0.3, 0.7, 0.1],
  [0.9, -2, 3],
  [0, 1, 0.5],
  [0.62, 0.62, -0],
];
const params = { w: Float64Array.of(4, 5, 6), bytes: Uint8Array.of(1, 2, 3) };

function expectSame(body: string): void {
  const { plain, javascript, wasm } = threeWays(functionOf(`(x, p) => { ${body} }`), POINTS, params);
  expect(firstDifference(plain, javascript), `plain ${plain}, javascript ${javascript}`).toBe(-1);
  expect(firstDifference(javascript, wasm), `javascript ${javascript}, wasm ${wasm}`).toBe(-1);
}

function expectRefused(body: string, message: RegExp): void {
  const run = () => compile(functionOf(`(x, p) => { ${body} }`), { dims: 3, params });
  expect(run).toThrow(IntegrandError);
  expect(run).toThrow(message);
}

/** A loop whose number of turns is not known when compiling. */
const LOOP = 'for (let i = 0; i < x[0] * 9; i++)';

describe('assigned in loops', () => {
  test.each([
    `let z = [0, 0]; ${LOOP} z = [z[0] * z[0] - z[1] * z[1] + x[0], 2 * z[0] * z[1] + x[1]]; return z[0] - z[1];`,
    'let z = [0, 0]; for (let i = 0; i < 300; i++) { if (z[0] > 2) break; z = [z[0] + x[0], z[1] - z[0]]; } return z[1];',
    `let a = 0, b = 1; ${LOOP} [a, b] = [b, a + b]; return a;`,
    `let z = [x[0], x[1]], w = [x[1], 3]; ${LOOP} { [z, w] = [w, z]; if (z[0] > 0.5) z = [z[0] + 1, w[1]]; } return z[0] + 3 * w[0] - z[1];`,
    `let z = [[0, 1], 2]; ${LOOP} z = [[z[1], z[0][0]], z[0][1] + i]; return z[0][0] + 3 * z[0][1] + z[1];`,
    `let y = x; ${LOOP} y = [y[1], y[2], y[0]]; return y[0] + 3 * y[1];`,
    'let y = x; if (x[0] > 0.5) y = [y[2], y[0], y[1]]; return y[0] + 3 * y[1];',
    `let s = { re: 0, im: 1 }; ${LOOP} { s = { re: s.im, im: s.re + 1 }; s.re += 0.5; } return s.re + 2 * s.im;`,
    `let s = { re: 0, im: 1 }; ${LOOP} { if (i > 2) s = { re: s.im, im: 2 }; else continue; if (s.re > 5) break; } return s.re;`,
    // the array inside stays one and the same: a change of it is seen by both names
    `let z = [[0, 1], 2]; const inner = z[0]; ${LOOP} { inner[0]++; z = [z[0], z[1] + z[0][0]]; } return z[0][0] + z[1];`,
    `let z = [1, 2]; ${LOOP} for (let j = 0; j < x[2] * 2; j++) z = [z[1], z[0] + j]; return z[0];`,
  ])('%s', expectSame);
  test.each([
    // JavaScript has one array under two names here
    `const w = [0, 0]; let z = [1, 1], s = 0; ${LOOP} { w[0] += 1; s += z[0]; z = w; } return s;`,
    `const w = [0, 0]; let z = [1, 1], s = 0; ${LOOP} { w[0] += 1; s += z[0]; if (i > 2) z = w; } return s;`,
    `const w = [0, 0]; let z = w, s = 0; ${LOOP} { w[0] += 1; s += z[0]; z = [z[0], 1]; } return s;`,
    `const w = { v: 0 }; let z = w, s = 0; ${LOOP} { z.v += 1; s += w.v; z = { v: s }; } return s;`,
    'let o = { u: x[0] }; const q = o; if (x[0] > 0.5) o = { u: 3 }; o.u = 5; return q.u;',
  ])('%s is refused: a copy would not be the same', body =>
    expectRefused(body, /may be another one on another path or turn, so it cannot be changed/),
  );
  test('of another length in a later turn are refused', () =>
    expectRefused(
      `let z = [0, 1]; ${LOOP} z = i > 3 ? [1, 2, 3] : [z[1], z[0]]; return z[0];`,
      /of another kind/,
    ));
});

describe('objects', () => {
  test.each([
    "const o = { u: x[0], w: 2 }, q = o; q.u += 3; o.w *= o.u; o['u']++; return o.u + 10 * q.w;",
    `const o = { v: { re: x[0] }, w: 2 }, q = o.v; q.re = 5 * x[1]; ${LOOP} { q.re += o.w; o.w -= 0.5; } return o.v.re;`,
    'const o = { u: x[0] }, q = { ...o, k: 4 }; q.u = 7; const { k, ...r } = q; r.u += k; return o.u + 3 * r.u + q.u;',
    'const g = q => { q.u += 1; return q; }; const o = { u: x[0] }; return g(g(o)).u + o.u;',
    'const o = { u: x[0], w: 2 }; if (x[1] > 0.5) o.u = 3; else o.w = x[2]; return o.u - o.w;',
    "const o = { u: x[0], w: 2 }; let s = 0; for (const [k, v] of Object.entries(o)) s = 3 * s + (k === 'w' ? 7 * v : v); return s;",
    'const o = { u: x[0], w: 2 }; for (const k of Object.keys(o)) o[k] += 1; return Object.values(o).reduce((a, b) => a * b);',
    'const o = { u: x[0], w: 2 }, q = Object.assign({ w: 1, k: 3 }, o); q.u = 9; return o.u + q.w + q.k + q.u;',
    'const o = { u: x[0] }; return o[`u`] + (`u` === Object.keys(o)[0] ? 1 : 2);',
  ])('%s', expectSame);
  test('as tool-chains write { ...o, w: 1 }', () => {
    for (const merged of [
      '__assign(__assign({}, o), { w: 1 })',
      '__spreadProps(__spreadValues({}, o), { w: 1 })',
    ]) {
      const f = functionOf(
        `x => { const o = { u: x[0], w: 2 }; const q = ${merged}; q.u += 1; return q.u - o.u + q.w + 5 * o.w; }`,
      );
      expect([...compile(f, { dims: 1 }).evaluate(Float64Array.of(0.5))]).toEqual([12]);
    }
  });
  test('an object that was made before is not assigned to', () =>
    expectRefused('const o = { u: 1 }; Object.assign(o, { w: 2 }); return o.u;', /\{ \.\.\.a, \.\.\.b \}/));
  test('get no members later', () =>
    expectRefused('const o = { u: 1 }; o.z = 3; return o.z;', /no member `z`/));
  test('of params stay as they are', () => expectRefused('p.w = 3; return x[0];', /cannot change params/));
});

describe('sort', () => {
  test.each([
    'const s = x.toSorted((a, b) => a - b); return s[0] + 10 * s[1] + 100 * s[2];',
    'const s = [x[2], 3, x[0], x[1], 0.2]; s.sort((a, b) => b - a); return s[0] + 3 * s[1] - s[2] + 7 * s[3] - 5 * s[4];',
    'return 1 / [0, x[2], -x[2], x[0]].sort((a, b) => a - b)[1];', // equal zeros keep their order
    'return [x[0], x[1]].sort((a, b) => (a < b ? -1 : 1))[0];',
    'return [x[0], Infinity, x[1], Infinity, -Infinity].sort((a, b) => a - b)[1];',
    'const s = x.map((v, i) => ({ v, i })).sort((a, b) => a.v - b.v); return s[0].i + 10 * s[1].i + 100 * s[2].i;',
    'const a = Array.from({ length: 80 }, (_, i) => (i * i * 7 + 10 * x[0]) % 31); a.sort((a, b) => a - b); return a[0] + 3 * a[40];',
    'return x.toReversed()[0] + 7 * [x[0], x[1], 3].reverse()[1];',
  ])('%s', expectSame);
  test.each([
    [
      'return [3, x[0]].sort()[0];',
      /orders by text in JavaScript: 10 comes before 9[\s\S]*\(a, b\) => a - b/,
    ],
    ['return x.sort((a, b) => a - b)[0];', /cannot change the point/],
    ['return p.w.toSorted((a, b) => a - b)[0];', /typed array has rules of its own[\s\S]*\[\.\.\.a\]/],
    [
      'let n = 0; [1, x[0]].sort((a, b) => { n++; return a - b; }); return n;',
      /comparator changes something/,
    ],
    ['return [1, x[0]].sort((a, b) => a > b)[0];', /comparator returns a boolean/],
    ['return [1, x[0]].sort(() => -1)[0];', /has no order/],
  ])('%s is refused', expectRefused);
  test('what has no order makes the result NaN: a NaN among numbers, a comparator that contradicts itself', () => {
    for (const body of [
      'return Number.isNaN([x[0], (x[0] - x[0]) / 0, 1].sort((a, b) => a - b)[2]) ? 1 : 2;',
      'return Math.imul(1, [x[0], 1, 2].sort(() => -1 - x[0] * x[0])[0]);',
    ]) {
      const { javascript, wasm } = threeWays(functionOf(`x => { ${body} }`), POINTS, params);
      expect([...javascript, ...wasm]).toEqual(Array(8).fill(NaN));
    }
  });
});

describe('filter', () => {
  test.each([
    'const f = x.filter(v => v > 0.2); return f.length + 10 * f.reduce((a, b, i) => a + b * (i + 1), 0);',
    'return x.filter(v => v > 0).map((v, i) => v * i).filter(v => v > 0.1).reduce((a, b) => a + b, 0);',
    'const f = x.filter(v => v > 0); return (f.some(v => v > 0.8) ? 5 : 0) + (f.every(v => v < 0.9) ? 50 : 0);',
    'let s = 0; for (const v of x.filter(v => v > 0)) { if (v > 2) break; if (v > 0.8) continue; s += v; } return s;',
    'let s = 0; x.filter(v => v < 0.7).forEach((v, i, a) => { s += v * i + a.length; }); return s;',
    'const f = [x[0], x[1], x[2]].filter((_, i) => i !== 1); return f[0] + 3 * f[1] + f.length;', // known when compiling
    'const a = [x[0], 2, 3]; return a.filter(v => { a[2] = 9; return v > x[1]; }).reduce((s, v) => s + v, 0);',
    'const a = Array.from({ length: 80 }, (_, i) => (i * i * 7 + 10 * x[0]) % 31); const f = a.filter(v => v > 20); let s = f.length; for (const v of f) s += v; return s;',
    'return [[x[0], 1], [x[1], 2]].filter(v => v[0] > 0.5).reduce((s, v) => s + v[1], 0);',
  ])('%s', expectSame);
  test.each([
    ['return x.filter(v => v > 0)[0];', /whose length is known at run time only/],
    [
      'return Math.max(...x.filter(v => v > 0));',
      /Only an array can be spread[\s\S]*reduce\(\(a, b\) => Math\.max/,
    ],
    [
      'return x.filter(v => v > 0).reduce((a, b) => a + b);',
      /needs a first value: there may be nothing left/,
    ],
    ['return [1].concat(x.filter(v => v > 0)).length;', /whose length is known at run time only/],
    ['return p.bytes.filter(v => v > x[0]).length;', /rounds what is put into it/],
  ])('%s is refused', expectRefused);
});

describe('entries', () => {
  test.each([
    'let s = 0; for (const [i, v] of x.entries()) s += i * v; for (const i of x.keys()) s += i; return s;',
    'const a = [x[0], 2, 3]; let s = 0; for (const [i, v] of a.entries()) { a[2] = 9; s += i * v; } return s;',
    'let s = 0; for (const [i, v] of p.w.entries()) s += i * v * x[0]; return s + [...x.values()][1] + Array.from(x.entries())[2][0];',
  ])('%s', expectSame);
  test('an iterator that is kept is refused: JavaScript uses it up', () =>
    expectRefused(
      'const it = x.entries(); let s = 0; for (const [, v] of it) s += v; return s;',
      /used where it is made/,
    ));
});
