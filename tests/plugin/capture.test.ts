/** Which functions of a module get their captures, and what the library makes of them. */
import { SourceMap } from 'node:module';
import * as esbuild from 'esbuild';
import { describe, expect, test } from 'vitest';
import * as quadrille from '../../src/index.ts';
import { capture } from '../../src/plugin/capture.ts';

/** What a CommonJS module exports once functions have their captures; `quadrille` is this library. */
function load(text: string, packages: Record<string, unknown> = {}): Record<string, never> {
  const { code } = capture(text) ?? expect.fail(`nothing was captured: ${text}`);
  const module = { exports: {} };
  const require = (name: string) => (name === 'quadrille' ? quadrille : packages[name]);
  new Function('require', 'exports', code)(require, module.exports);
  return module.exports;
}

const HEAD = "const { compile, integrate, scan, sample } = require('quadrille');\n";
const POINTS = Float64Array.of(0.125, 0.5, 0.75);

/** The values of an integrand at POINTS, of a module whose last expression it is. */
function values(statements: string, integrand: string, packages?: Record<string, unknown>): number[] {
  const text = `${HEAD}${statements}\nexports.found = compile(${integrand}, { dims: 1 });`;
  const { found } = load(text, packages) as unknown as { found: quadrille.Compiled };
  return [...found.evaluate(POINTS)];
}

const scaled = (k: number) => [...POINTS].map(x => k * x);

describe('the text', () => {
  test('of calls and of functions with a name', () => {
    const text = `import { integrate } from 'quadrille';
import { gamma } from './phys.js';
'no directive';
const twice = x => 2 * x * gamma;
integrate(([x]) => helper(x) * twice(x), { dims: 1, onProgress: p => console.log(p, gamma) });
function helper(x) {
  const inner = u => u * gamma;
  return inner(x);
}
`;
    expect(capture(text)!.code).toMatchInlineSnapshot(`
      "helper.quadrilleCaptures = () => [gamma]; import { integrate } from 'quadrille';
      import { gamma } from './phys.js';
      'no directive';
      const twice = x => 2 * x * gamma; twice.quadrilleCaptures = () => [gamma];
      integrate(Object.assign(([x]) => helper(x) * twice(x), { quadrilleCaptures: () => [helper, twice] }), { dims: 1, onProgress: p => console.log(p, gamma) });
      function helper(x) {
        const inner = u => u * gamma;
        return inner(x);
      }
      "
    `);
  });
  test.each([
    [
      'nothing from outside',
      "import { integrate } from 'quadrille';\nintegrate(([x]) => Math.exp(x), { dims: 1 });",
    ],
    [
      'functions that could not compile',
      'const k = 2;\nexport function say(x) { console.log(x * k); }\nexport const text = n => [new Date(n), n * k];\nexport const name = n => n > k ? "a" : "b";',
    ],
    ['no functions', 'export const a = 3;'],
    [
      'members that may be no functions',
      'const k = 2;\nconst a = { f: x => k * x, ...b };\nconst c = { f: x => k * x, f: 3 };',
    ],
    ['a sum of 20,000 terms', `const k = 2;\nconst f = x => k * x${' + x'.repeat(20_000)};`],
    ['what is no JavaScript', 'const a = <div>=> function</div>;'],
    [
      'calls of other libraries',
      "import { integrate } from 'other';\nconst k = 3;\nintegrate(([x]) => k * x, { dims: 1 });",
    ],
  ])('stays as it is: %s', (_, text) => expect(capture(text)).toBeNull());
  test('has as many lines as before, and a map that leads to the same words', () => {
    const text = `const a = 2, b = 3;\nexport const f = x => a * x, g = x => b * x\nexport const marked = f(a) + g(b);\n`;
    const { code, map } = capture(text)!;
    expect(code.split('\n')).toHaveLength(text.split('\n').length);
    for (const word of ['const f', 'g = x', 'marked', '+ g(b)']) {
      const [line, column] = placeOf(code, word);
      const { originalLine, originalColumn } = new SourceMap(map as never).findEntry(line, column) as never;
      expect([word, originalLine, originalColumn]).toEqual([word, ...placeOf(text, word)]);
    }
  });
  test('of TypeScript as esbuild strips it keeps its map', async () => {
    const text = `const a: number = 2;\ninterface Unused {\n  b: number;\n}\nexport const f = (x: number): number => a * x; export const marked: number = f(a);\n`;
    const plain = await esbuild.transform(text, { loader: 'ts', sourcemap: true });
    const { code, map } = capture(plain.code, JSON.parse(plain.map))!;
    const [line, column] = placeOf(code, 'marked');
    const { originalLine, originalColumn } = new SourceMap(map as never).findEntry(line, column) as never;
    expect([originalLine, originalColumn]).toEqual(placeOf(text, 'marked'));
  });
});

function placeOf(text: string, word: string): [line: number, column: number] {
  const before = text.slice(0, text.indexOf(word));
  return [before.split('\n').length - 1, before.length - before.lastIndexOf('\n') - 1];
}

describe('what integrands may use', () => {
  test.each<[string, string, string, number]>([
    ['a constant', 'const k = 3;', '([x]) => k * x', 3],
    ['a function of the module', 'const k = 3; function g(x) { return k * x; }', '([x]) => g(x)', 3],
    [
      'functions that use each other',
      'const a = x => 3 * x; const b = x => a(x); const c = x => b(x);',
      '([x]) => c(x)',
      3,
    ],
    ['a named integrand', 'const k = 3; const f = ([x]) => k * x;', 'f', 3],
    [
      'objects and functions in them',
      'const k = 3; const o = { c: { d: k }, f: x => x * o.c.d, g(x) { return x * k; } };',
      '([x]) => o.f(x) * o.g(1) / o.c.d',
      3,
    ],
    ['functions of Math by name', 'const { sqrt, PI } = Math;', '([x]) => sqrt(9) * x * (PI / Math.PI)', 3],
    ['a list of numbers', 'const w = [1, 2];', '([x]) => (w[0] + w[1]) * x', 3],
    ['a typed array', 'const w = Float32Array.of(1, 2);', '([x]) => w.reduce((s, v) => s + v, 0) * x', 3],
    ['a table', 'const t = require("quadrille").table([[0, 1]], [0, 3]);', '([x]) => t(x)', 3],
    ['what a function made', 'const times = k => x => k * x; const g = times(3);', '([x]) => g(x)', 3],
    ['a function that makes functions', 'const times = k => x => k * x;', '([x]) => times(3)(x)', 3],
    [
      'a helper inside that uses what is outside',
      'const k = 3;',
      '([x]) => { const h = u => k * u; return h(x); }',
      3,
    ],
    ['a name of JavaScript that is another here', 'const isNaN = x => 3 * x;', '([x]) => isNaN(x)', 3],
  ])('%s', (_, statements, integrand, k) => expect(values(statements, integrand)).toEqual(scaled(k)));
  test('a function that is declared below', () => {
    const text = 'const k = 3;\nexports.found = compile(f, { dims: 1 });\nfunction f([x]) { return k * x; }';
    const { found } = load(HEAD + text) as unknown as { found: quadrille.Compiled };
    expect([...found.evaluate(POINTS)]).toEqual(scaled(3));
  });
  test('a function of a package whose text is in the language', () => {
    const packages = { numbers: { triple: (x: number) => 3 * x } };
    expect(values('const { triple } = require("numbers");', '([x]) => triple(x)', packages)).toEqual(
      scaled(3),
    );
    expect(values('const numbers = require("numbers");', '([x]) => numbers.triple(x)', packages)).toEqual(
      scaled(3),
    );
  });
});

describe('refused by name', () => {
  const hidden = 3;
  test.each<[string, string, string, RegExp]>([
    [
      'a function of a package that uses its module',
      'const { f } = require("p");',
      '([x]) => f(x)',
      /^`hidden` is not defined inside f, /,
    ],
    [
      'a function of a package that is not in the language',
      'const { g } = require("p");',
      '([x]) => g(x)',
      /^In g: An integrand cannot use `new`\./,
    ],
    ['a string', 'const s = "a";', '([x]) => s * x', /^`s` is a string, which an integrand cannot use\./],
    ['an instance of a class', 'const m = new Map();', '([x]) => m.size * x', /^`m` is an instance of Map/],
    ['a member of an object', 'const o = { s: "a", k: 3 };', '([x]) => o.s * x', /^`o\.s` is a string/],
    ['a missing member', 'const o = { k: 3 };', '([x]) => o.m * x', /^There is no `m` in o\./],
    [
      'recursion',
      'const fact = n => n < 2 ? 1 : n * fact(n - 1);',
      '([x]) => fact(3) * x',
      /^In fact: `fact` calls itself/,
    ],
    [
      'what changes something outside',
      'let n = 0;',
      '([x]) => { n = x; return n; }',
      /^`n` is not declared inside the integrand\./,
    ],
  ])('%s', (_, statements, integrand, reason) => {
    const packages = { p: { f: (x: number) => hidden * x, g: (x: number) => new Array(3).length * x } };
    expect(() => values(statements, integrand, packages)).toThrow(
      expect.objectContaining({ name: 'IntegrandError', reason: expect.stringMatching(reason) }),
    );
  });
});

describe('runs', () => {
  const run = (statements: string) =>
    (load(`${HEAD}${statements}`) as unknown as { run: () => Promise<unknown> }).run() as Promise<never>;
  const OPTIONS = "{ dims: 1, relTol: 1e-6, method: 'cuhre' }";
  test('see what a variable is when they begin, and so does each integral of a scan', async () => {
    const found: quadrille.Result[][] = await run(`let k = 1;
      exports.run = async () => {
        const found = [];
        for (k = 1; k <= 3; k++) found.push([await integrate(([x]) => k * x, ${OPTIONS})]);
        found.push(await scan(([x], p) => k * p.a * x, { ...${OPTIONS}, params: [{ a: 1 }, { a: 2 }] }));
        return found;
      };`);
    expect(found.flat().map(r => Number(r.value.toFixed(9)))).toEqual([0.5, 1, 1.5, 2, 4]);
  });
  test('sample, histograms and functions of params capture as well', async () => {
    const [samples, result]: [quadrille.Samples, quadrille.Result] = await run(`const k = 2;
      exports.run = async () => [
        await sample(([x]) => k * x, { dims: 1, count: 100, relTol: 1e-2 }),
        await integrate(([x], p) => p.f(x), {
          dims: 1, relTol: 1e-2, params: { f(x) { return k * x; } },
          histograms: { h: { of: ([x]) => k * x, bins: 2, range: [0, k] } },
        }),
      ];`);
    expect(samples.value).toBeCloseTo(1, 1);
    expect(result.histograms!.h.values.map(v => Math.round(v * 4))).toEqual([1, 3]);
  });
  test("device: 'js' calls the function as it is", async () => {
    const found: quadrille.Result = await run(
      `const k = 2;\nexports.run = () => integrate(([x]) => k * x, { ...${OPTIONS}, device: 'js' });`,
    );
    expect(found.value).toBeCloseTo(1, 9);
  });
  test('functions of bounds capture, and so do the functions that they call', async () => {
    const found: quadrille.Result[] = await run(`let k = 0.5;
      const edge = x => k * x;
      exports.run = async () => {
        const given = { relTol: 1e-6, method: 'cuhre', domain: [[0, 1], ([x]) => [0, edge(x)]] };
        const found = [await integrate(([x, y]) => 1, given)];
        k = 2;
        found.push(await integrate(([x, y]) => k, given));
        found.push(...await scan(() => 1, {
          relTol: 1e-6, method: 'cuhre', params: [{ a: 1 }, { a: 3 }],
          domain: p => [[0, 1], ([x]) => [0, edge(x) * p.a]],
        }));
        const { value } = await sample(() => 1, { count: 1e4, relTol: 1e-2, domain: [[0, 1], ([x]) => [0, edge(x)]] });
        return [...found, { value }];
      };`);
    const drawn = found.pop()!;
    expect(found.map(r => Number(r.value.toFixed(6)))).toEqual([0.25, 2, 1, 3]);
    expect(drawn.value).toBeCloseTo(1, 1);
  });
});
