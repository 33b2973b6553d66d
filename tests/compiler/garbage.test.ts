/**
 * Random garbage gives a diagnostic or the right numbers: never a crash, never a wrong number. Most mutated texts are
 * no JavaScript any more; those that are get compiled, and run where they compile. Texts with loops that may
 * never end are left out, since plain JavaScript would hang on them as well.
 */
import { describe, expect, test } from 'vitest';
import type { Integrand } from '../../src/integrand/compile.ts';
import { mutate, pieces, soup } from './mutate.ts';
import { outcome } from './outcome.ts';
import { Random } from './random.ts';

const SEEDS = [
  '(x, p, m) => { let s = 0; for (const v of x) { if (v < 0) return p.a; s += v * v; } return Math.exp(-s) + m.erf(s); }',
  '(x, p) => { const a = [0, 1, 2]; a[1] += x[0]; const [u, ...w] = x; return a[1] * u + w[0] + p.curve(x[1]); }',
  'function f(x, p) { const g = (y, k = 2) => { if (y > k) return y; return k * y; }; var h = g(x[0]); h += g(x[1], 1); return h > 1 ? h : -h; }',
  '(x, p) => x.map((v, i) => v * p.data[i]).reduce((a, b) => a + b, 0) / (x.every(v => v > 0) ? 1 : 2)',
  '([u, v], { a, on }) => { let t = on ? u : v; if (u < v && a > 1 || !on) { t **= 2; } else t -= 1; return t % 3; }',
  '(x, p) => { let o = { q: x[0], w: 2 }; const { q, w: z } = o; let b = q > z; b = !b; return b ? q : p.data[Math.floor(z)]; }',
  '(x) => { let [a, b] = [x[0], x[1]]; [a, b] = [b, a + 1]; a ||= 3; b &&= a; return (a, b) + +(a > b) + Math.max(...x); }',
];

/** The function a text stands for; undefined when it stands for none. */
function read(text: string): Integrand | undefined {
  try {
    const f = new Function(`return (${text}\n);`)();
    return typeof f === 'function' ? f : undefined;
  } catch {
    return undefined;
  }
}

/** Whatever runs user text here must not reach outside, and must end. */
const harmless = (text: string) =>
  !/\b(eval|import|while|do|globalThis|window|console|for *\( *[^)]*;)/.test(text);

function check(text: string): 'refused' | 'agrees' | 'nothing' {
  const f = harmless(text) ? read(text) : undefined;
  if (!f) return 'nothing';
  const result = outcome(f);
  if (result.kind === 'crash' || result.kind === 'differs')
    expect.fail(`${result.kind}: ${result.why}\n${text}`);
  if (result.kind === 'refused') {
    const { reason, remedy } = result.error;
    expect(reason, text).toMatch(/\w.*\.$/s);
    expect(remedy, text).toMatch(/\w/);
    expect(reason + remedy, text).not.toMatch(/undefined is not|Cannot read|of of|\[object/);
  }
  return result.kind as 'refused' | 'agrees';
}

describe('mutated programs', () => {
  test.each(SEEDS)('%s', text => {
    const r = new Random(text.length);
    const tokens = pieces(text)!;
    expect(check(text)).toBe('agrees');
    const counts = { refused: 0, agrees: 0, nothing: 0 };
    for (let k = 0; k < 30000; k++) counts[check(mutate(tokens, r))]++;
    expect(counts.refused).toBeGreaterThan(20); // the mutations reach what is tested
  });
});

describe('syntax that the language does not have is refused, wherever it stands', () => {
  const EXPRESSIONS = [
    'this',
    'this.a',
    'new Map()',
    'new Float64Array(3)',
    '/a/',
    '/a/.test(1)',
    '"s"',
    '`t`',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: source text of an integrand
    '`t${x[0]}`',
    'f`t`',
    '7n',
    'class {}',
    'typeof x',
    'delete x[0]',
    '"a" in x',
    'x instanceof Array',
    '~x[0]',
    'x[0] | 0',
    'x[0] & 1',
    'x[0] ^ 1',
    'x[0] << 1',
    'x[0] >> 1',
    'x[0] >>> 1',
    'async () => 1',
    'function* () {}',
    'new.target',
    'arguments[0]',
    'eval("1")',
    'Math.random()',
    'Date.now()',
    'JSON.parse("1")',
    'x.push(1)',
    'x.sort()',
    'x.concat(x)',
    'Object.keys(x)',
    'Symbol()',
    'parseInt("1")',
    'x.filter(v => v > 0)',
    'x.foo',
    'Math.foo(1)',
    'm.foo(1)',
    'q',
    'q.r',
    'q()',
    'globalThis',
    'window.x',
    'process.env',
    'x.constructor',
    '({}).a.b',
    'null.a',
    'undefined.a',
    'undefined + 1',
    'null + 1',
    'x + 1',
    'p + 1',
    'Math + 1',
    '(() => 1) + 1',
    '({ a: 1 }) + 1',
    '[1] + 1',
    'x[0]()',
    'x()',
    'p()',
    '(1)(2)',
    '[...1]',
    'Math.max(...1)',
    '({ ...p })',
    '({ ["a"]: 1 }).a',
    '({ get a() { return 1; } }).a',
    'x[1.5]',
    'x[-1]',
    'x[3]',
    'x[NaN]',
    'x["a"]',
    'x[x]',
    'p.data[9]',
    'p.data[-1]',
    'p.nothing',
    'p.nothing + 1',
    'p.nothing[0]',
    'p.nothing(1)',
    'p.nothing.a',
    'p[x[0]]',
    'Array(x[0])',
    'Array(-1)',
    'Array(1.5)',
    'Array(1e9)',
    'Array.from(3)',
    'Array.of(1)',
    'p.curve',
    'p.curve()',
    'p.curve(1, 2)',
    'p.curve(x)',
    'p.a()',
    'x[0] = 1',
    'x = [1]',
    'p.a = 2',
    'p = 1',
    'm = 1',
    'Math.PI = 3',
    'q = 1',
    'q++',
    'x[0]++',
    'undefined',
    'null',
    'true',
    'x',
    'p',
    'm',
    'Math',
    'Math.sin',
    '[1, 2]',
    '({ a: 1 })',
    '() => 1',
    'void 0',
    '"1"',
    'x[0] > 0',
    'x[0] > 0 ? 1 : true',
    'x[0] > 0 ? 1 : undefined',
    'x[0] > 0 ? [1] : 1',
    'x[0] > 0 && 1',
    'x[0] || undefined',
    '[].reduce((a, b) => a)',
    'x.map()',
    'x.map(1)',
    'x.reduce()',
    'x.every()',
    'Math.sin()',
    'Math.pow(2)',
    'x.at(7)',
    'x.at(-7)',
    'x.slice(x[0])',
    'x.fill(0)',
    'p.data.fill(0)',
    'p?.a.b',
    'x?.foo',
  ];
  test.each(EXPRESSIONS)('%s', text => {
    check(`(x, p, m) => ${text.startsWith('{') ? `(${text})` : text}`);
    check(`(x, p, m) => { const y = ${text}; return y; }`);
    check(
      `(x, p, m) => { ${text.startsWith('class') || text.startsWith('function') || text.startsWith('async') ? `(${text})` : text}; return x[0]; }`,
    );
    check(
      `(x, p, m) => { const f = () => (${text}); let s = 0; for (let i = 0; i < x[0]; i++) s += f(); return s; }`,
    );
    check(`(x, p, m) => { if (x[0] > 0.5) return ${text}; return 1; }`);
    check(`(x, p, m) => { let a = 1; a += ${text}; return a; }`);
    check(`(x, p, m) => { if (${text}) return 1; return 2; }`);
    check(`(x, p, m) => { const [a] = ${text.startsWith('async') ? 'x' : text}; return a; }`);
    check(`(x, p, m) => { const { a } = ${text.startsWith('async') ? 'x' : text}; return a; }`);
    check(
      `(x, p, m) => { let s = 0; for (const v of ${text.startsWith('async') ? 'x' : text}) s += v; return s; }`,
    );
    check(`(x, p, m) => Math.sin(${text})`);
    check(`(x, p, m) => [1, 2, 3][${text}]`);
    check(`(x, p, m) => x.map(v => ${text.startsWith('{') ? 'v' : text})[0]`);
  });
  const STATEMENTS = [
    'try { return 1; } catch { return 2; }',
    'throw 1;',
    'switch (x[0]) { case 0: return 1; default: return 2; }',
    'for (const k in x) return 1;',
    'debugger;',
    'class A {}',
    'function* g() { yield 1; }',
    'async function g() {}',
    'var x = 1;',
    'var p;',
    'let a = a;',
    'const f = () => f();  f();',
    'function f() { return g(); } function g() { return f(); } f();',
    'const f = h => h(h); f(f);',
    'let { a, ...r } = p;',
    'let [[a]] = [x];',
    'let [a] = 1;',
    'let { a } = null;',
    'let a; a.b = 1;',
    'const a = [1]; a.length = 0;',
    'const a = [1]; a[5] = 1;',
    'const a = {}; a.b = 1;',
    'const a = [1]; a.b = 2;',
    'const a = 1; a = 2;',
    'const a = [x]; a[0][0] = 1;',
    'x.length = 1;',
    'let f; f();',
    'let a; a[0];',
    'let a; for (const v of a) ;',
    'if (x[0] > 0) var q = 1; return q;',
    'label: { break label; }',
    'let o = x[0] > 0 ? x : p.data; return o[0];',
    'let o = x[0] > 0 ? Math : p; return o.a;',
    'let f = x[0] > 0 ? Math.sin : Math.cos; return f(1);',
    'const f = x[0] > 0 ? v => v : v => 2 * v; return f(1);',
    'let o = [1, 2]; if (x[0] > 0) o = [1]; return o[0];',
    'let o = 1; if (x[0] > 0) o = true; return o;',
    'let i = 0; for (const v of x) { i = v > 0; } return i;',
    'function f(a, a2 = f) { return a2; } return f(1);',
    'return;',
    'return x[0], undefined;',
    '"use strict"; return 1;',
    'let [a = b, b] = [undefined, 1]; return a;',
    'const { a: { b } } = { a: { b: x[0] } }; return b;',
    'const a = [, 1]; return a[0];',
    'const a = [1, , 2]; return a[1] + 1;',
    'const a = Array(3); return a[0];',
    'const a = Array(3); return a[Math.floor(x[0])];',
    'let s = 0; x.forEach((v, i, a) => { s += a[i]; }); return s;',
    'return x.map(Math.abs)[0];',
    'return x.map((v, i, a) => a.length)[0];',
    'return x.map(p.curve)[0];',
    'return [x, x].map(v => v[0])[1];',
    'const a = [[1, 2], [3, 4]]; return a[Math.floor(Math.abs(x[0])) % 2][1];',
    'const a = [true, false]; return a[Math.floor(Math.abs(x[0])) % 2] ? 1 : 2;',
    'const a = [1, 2]; a[0] = a; return 1;',
    'const a = [1, 2]; a[0] = x[0] > 0; return a[0] ? 1 : 2;',
  ];
  test.each(STATEMENTS)('%s', text => {
    check(`(x, p, m) => { ${text} }`);
    check(`(x, p, m) => { ${text} ; return x[0]; }`);
    check(`(x, p, m) => { if (x[0] > 0.4) { ${text} } return x[0]; }`);
    check(`(x, p, m) => { for (let i = 0; i < 2; i++) { ${text} } return x[0]; }`);
    check(
      `(x, p, m) => { let s = 0; for (let i = 0; i < x[0] && i < 3; i++) { ${text} s += i; } return s; }`,
    );
    check(`(x, p, m) => { const h = () => { ${text} }; const r = h(); return x[0]; }`);
    check(`(x, p, m) => { const h = () => { ${text} return 1; }; return h() + h(); }`);
  });
});

describe('token soup', () => {
  test.each(['return (', '', 'let t = ', 'return x[0] + ('])(
    'as the body of a function, after `%s`',
    head => {
      const r = new Random(head.length + 77);
      const close = head.endsWith('(') ? ')' : '';
      for (let k = 0; k < 3000; k++) check(`function (x, p, m) { ${head}${soup(r)}${close}; return x[0]; }`);
    },
  );
  test('as the parameters of a function', () => {
    const r = new Random(5);
    for (let k = 0; k < 3000; k++) check(`(${soup(r)}) => 1`);
  });
});
