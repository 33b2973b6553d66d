/** The parser makes the trees of acorn: node for node, with the same places in the text, of everything that a function can hold. */
import { readFileSync } from 'node:fs';
import { parseExpressionAt } from 'acorn';
import { transformSync } from 'esbuild';
import { describe, expect, test } from 'vitest';
import { library } from '../../src/integrand/math/index.ts';
import { parseExpression } from '../../src/integrand/parse.ts';
import { catalogue } from '../integrands/catalogue.ts';
import { corpus } from './corpus.ts';
import { generate } from './generate.ts';

type Tree = Record<string, unknown>;

/** The first difference of two trees, as the way to it; null when they are the same. Not by recursion: sums are deep. */
function differenceOf(left: unknown, right: unknown): string | null {
  const waiting: [unknown, unknown, string][] = [[left, right, '']];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    const [a, b, path] = next;
    if (typeof a !== 'object' || a === null || typeof b !== 'object' || b === null) {
      if (!Object.is(a, b)) return `${path}: ${String(a)}, ${String(b)}`;
    } else if (a instanceof RegExp) {
      if (String(a) !== String(b)) return path;
    } else {
      const names = (o: object) => Object.keys(o).filter(k => (o as Tree)[k] !== undefined);
      const [own, other] = [names(a).sort().join(), names(b).sort().join()];
      if (own !== other) return `${path}: ${own} | ${other}`;
      for (const k of names(a)) waiting.push([(a as Tree)[k], (b as Tree)[k], `${path}.${k}`]);
    }
  }
  return null;
}

const byAcorn = (text: string) => parseExpressionAt(text, 0, { ecmaVersion: 'latest' });
const difference = (text: string) => differenceOf(byAcorn(text), parseExpression(text));

const EXPRESSIONS = `
1 + 2 * 3 ** (-x) ** 2 | (a, b) | ((a)) * (b + c) | a ? b : c ? d : e | a ?? (b || c && d) | (-a) ** 0 === 1 ? 0 : !a
a.b?.c[d]?.(e).f | a?.[b] | (a?.b).c | new A | new A.B(c).d | new (f())() | new a[b](c) | f\`x\${y}z\` | a.b\`\\n\`
\`a\${{ b: \`\${c}\` }.b}d\` | \`\\u{61}\` | x = y += z ??= w | [a, , b, ...c] | [, ] | { a, b: c, [d]: e, 'f': 1, 2: g, ...h }
{ get a() { return 1; }, set a(v) {}, async b() {}, *c() {}, async *d() {}, get: 1, set, async, static: 2, new: 3 }
() => 1 | x => x | (x, [y, { z = 1, ...w }], ...r) => { return x; } | async x => await x | async (x, y) => {} | async(x) | async
x => y => x + y | (x => x)(1) | (x => x) + 1 | (() => {}).call | a ? (b) : c => d | a ? (b, c) => d : e | ({ a = 1 } = b)
[a, b.c, ...d.e] = f | ([x = 1]) => x | function () {} | function f(a, { b } = {}, ...c) { return; } | function (a) { 'use strict'; return; } | async function* g() { yield* a; yield; yield b; await c; for await (const d of e); }
class {} | class A extends B.c { #x = 1; static y; static { this.z = 1; } constructor() { super(); } get a() { return this.#x; } static async *b() {} 'c' = 2; [d]() {} static = 1; get; set; async; has(o) { return #x in o; } }
typeof void delete a.b | ++a - --b | a++ + b-- | a / b / c | /[/\\]]+/giu.test(a) | a = /=/ | 'it\\'s\\x41\\u0042\\
' | "\\0\\101" | 0x1F + 0b11 + 0o17 + 010 + .5e-3 + 5. + 1_000 + 0.1e+2 | 12n * 0xffn | this | null | true
\\u0061b + ünï | import('x') | a in b instanceof c | a < b > c | a << 2 >>> 1 & 3 ^ 4 | yield + await + let + of + get`
  .split(/\s\|\s|\n(?=[^'])/)
  .filter(Boolean)
  .map(text => `(${text})`);

const STATEMENTS = `
var a = 1, b; let c; const { d, e: [f] } = g; | let [x] = y; | let\nz | if (a) b; else if (c) d; else { e } | for (;;) break; | for (var i = 0, n = ('a' in b); i < n; i++) continue;
for (const x of y) z(x) | for (x.y in z) {} | for (let in a) {} | for ([a, b] of c) ; | while (a) if (b) break; else continue | do a(); while (b) c()
a: for (;;) { b: { break b } continue a } | switch (a) { case 1: case 2: b(); break; default: c } | try { a } catch { b } | try { a } catch ({ b }) { c } finally { d } | throw new E('x') | return\na
return a,\nb | a\n++b | a\n(b) | ; | debugger | function g() {} function* h() {} async function k() {} class C {} | 'a'; 'b'; c | async\nfunction m() {} | if (a) function n() {} | {} /a/g | { a: 1 } | with (a) b
a = b / c / d; e = (f) / g | x = y => { return z }\n/re/.test(w) | var let = 1; let = 2 | /* c */ a // d\n; <!= b`
  .replace('; <!= b', '')
  .split(/\s\|\s|\n(?=[a-z]+ ?[([a-z:,=])/)
  .filter(Boolean)
  .map(text => `(function () { ${text}\n})`);

describe('the tree is that of acorn', () => {
  test.each(EXPRESSIONS)('%s', text => {
    expect(difference(text)).toBeNull();
  });
  test.each(STATEMENTS)('%s', text => {
    expect(difference(text)).toBeNull();
  });
  test('of the library, the integrands of the papers and the corpus', () => {
    const texts = [...Object.values(library), ...catalogue.map(e => e.f)].map(String);
    for (const ts of Object.values(corpus))
      texts.push(transformSync(`(${ts})`, { loader: 'ts' }).code.trim().replace(/;$/, ''));
    for (const text of texts) expect(difference(`(${text})`), text).toBeNull();
  });
  test('of 300 generated integrands', () => {
    for (let seed = 0; seed < 300; seed++) {
      const text = `(${generate(seed, 'exact').text})`;
      expect(difference(text), text).toBeNull();
    }
  });
  test('of acorn itself, as it is, minified and for older engines: 100,000 nodes', () => {
    const text = readFileSync('node_modules/acorn/dist/acorn.js', 'utf8');
    for (const code of [
      text,
      transformSync(text, { minify: true }).code,
      transformSync(text, { target: 'es2015' }).code,
    ])
      expect(difference(`(function () {${code}\n})`)).toBeNull();
  });
  test('of a sum of 10,000 terms, on a stack that acorn fills with 4,000', () => {
    const sum = Array.from({ length: 10_000 }, (_, i) => `x[0] ** ${i}`).join(' + ');
    let depth = 0;
    for (
      let n = parseExpression(`(x => ${sum})`) as { body?: object; left?: object };
      n;
      n = (n.left ?? n.body) as object
    )
      depth++;
    expect(depth).toBeGreaterThan(10_000);
  });
});

describe('what is no expression is refused, with its place', () => {
  test.each([
    ['(f(x) { return x; })', 6],
    ['(a b)', 3],
    ['(a, )', 5],
    ['()', 2],
    ['(1 +', 4],
    ['("a)', 1],
    ['(`a)', 2],
    ['(a = { b: })', 10],
    ['(get x() {})', 5],
    ['(async f(x) {})', 8],
    ['(a § b)', 3],
  ])('%s', (text, pos) => {
    expect(() => parseExpression(text)).toThrow(expect.objectContaining({ pos }));
    expect(() => byAcorn(text)).toThrow();
  });
});
