/** What tool-chains make of a function still compiles, and gives the same bits as the function it was made from. */
import { Session } from 'node:inspector/promises';
import * as esbuild from 'esbuild';
import ts from 'typescript';
import { build } from 'vite';
import { beforeAll, describe, expect, test } from 'vitest';
import { compile, type Integrand } from '../../src/integrand/compile.ts';
import { columns, firstDifference, functionOf } from './compare.ts';
import { corpus, DIMS, params } from './corpus.ts';
import { Random } from './random.ts';

type Functions = Record<string, Integrand>;
const NAMES = Object.keys(corpus);
const MODULE = NAMES.map(name => `export const ${name} = ${corpus[name]};`).join('\n');

const r = new Random(11);
const POINTS = columns(Array.from({ length: 65 }, () => Array.from({ length: DIMS }, () => r.unit())));
const values = (f: Integrand) => compile(f, { dims: DIMS, params }).evaluate(POINTS);

/** What a CommonJS module exports. */
function load(text: string): Functions {
  const module = { exports: {} as Functions };
  new Function('module', 'exports', text)(module, module.exports);
  return module.exports;
}

const typescript = (text: string, target: ts.ScriptTarget, more: ts.CompilerOptions = {}) =>
  ts.transpileModule(text, { compilerOptions: { target, module: ts.ModuleKind.CommonJS, ...more } })
    .outputText;

const bundled = async (options: esbuild.TransformOptions) =>
  (await esbuild.transform(MODULE, { loader: 'ts', format: 'cjs', ...options })).code;

/** One chunk by Vite's own build, minified as it does by default. */
async function vite(lib: boolean, target?: string): Promise<string> {
  const id = 'virtual:corpus';
  const output = await build({
    configFile: false,
    logLevel: 'silent',
    plugins: [
      {
        name: 'corpus',
        resolveId: source => (source === id ? '\0corpus.ts' : null),
        load: source => (source === '\0corpus.ts' ? MODULE : null),
      },
    ],
    build: {
      write: false,
      minify: lib ? 'oxc' : true,
      ...(target && { target }),
      ...(lib && { lib: { entry: id, formats: ['cjs'] } }),
      rolldownOptions: { input: id, preserveEntrySignatures: 'strict', output: { format: 'cjs' } },
    },
  });
  const [{ output: chunks }] = [output].flat() as { output: { code?: string }[] }[];
  return chunks[0].code!;
}

/** The instrumenter inside Vitest's istanbul provider. */
async function istanbul(): Promise<string> {
  const { default: module } = await import('@vitest/coverage-istanbul');
  const provider = (await module.getProvider()) as unknown as {
    options: object;
    _initialize(): void;
    initialize(context: object): void;
    instrumenter: { instrumentSync(text: string, id: string): string };
  };
  provider._initialize = () => {
    provider.options = {};
  };
  provider.initialize({});
  const plain = typescript(MODULE, ts.ScriptTarget.ES2022, { module: ts.ModuleKind.ESNext });
  return typescript(provider.instrumenter.instrumentSync(plain, 'corpus.js'), ts.ScriptTarget.ES2022);
}

const CHAINS: Record<string, () => string | Promise<string>> = {
  'esbuild, minified': () => bundled({ minify: true }),
  'esbuild, minified, names kept': () => bundled({ minify: true, keepNames: true }),
  'esbuild, names kept': () => bundled({ keepNames: true }),
  'esbuild, syntax only': () => bundled({ minifySyntax: true }),
  'esbuild, for ES2015': () => bundled({ target: 'es2015' }),
  'Vite, an app': () => vite(false),
  'Vite, a library': () => vite(true),
  'Vite, for ES2015': () => vite(false, 'es2015'),
  'tsc, ES2022': () => typescript(MODULE, ts.ScriptTarget.ES2022),
  'tsc, ES2015': () => typescript(MODULE, ts.ScriptTarget.ES2015),
  'tsc, ES5': () => typescript(MODULE, ts.ScriptTarget.ES5),
  'tsc, ES5, then esbuild minified': async () =>
    (await esbuild.transform(typescript(MODULE, ts.ScriptTarget.ES5), { minify: true })).code,
  istanbul,
};

const original = load(typescript(MODULE, ts.ScriptTarget.ESNext));

describe.each(Object.keys(CHAINS))('%s', chain => {
  let made: Functions;
  beforeAll(async () => {
    made = load(await CHAINS[chain]());
    if (chain === 'istanbul') expect(String(made.gaussian)).toContain('cov_');
  });
  test.each(NAMES)('%s', name => {
    if (chain.startsWith('tsc, ES5') && name === 'rest') {
      // it collects them from `arguments`, into an array that grows
      expect(() => values(made[name])).toThrow('Name the arguments');
      return;
    }
    const [a, b] = [values(original[name]), values(made[name])];
    const i = firstDifference(a, b);
    if (i >= 0) expect.fail(`${a[i]} became ${b[i]} with\n${made[name]}`);
  });
});

describe('V8 coverage', () => {
  test('counts while the same functions compile', async () => {
    const session = new Session();
    session.connect();
    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
    const covered = load(typescript(MODULE, ts.ScriptTarget.ESNext));
    for (const name of NAMES) expect(firstDifference(values(original[name]), values(covered[name]))).toBe(-1);
    await session.post('Profiler.stopPreciseCoverage');
    session.disconnect();
  });
});

describe('inside Vitest', () => {
  test('a function of a test file compiles as it stands', () => {
    const inline = (x: number[], { width }: { width: number }): number => {
      const squares = x.map(v => v ** 2);
      let s: number = 0;
      for (const q of squares) s += q;
      return Math.exp(-s / width);
    };
    const plain = (x: number[]) => Math.exp(-(x[0] ** 2 + x[1] ** 2 + x[2] ** 2) / 0.4);
    expect(firstDifference(values(inline), values(plain))).toBe(-1);
  });
});

describe('helpers by the names that Babel, SWC and older tools give them', () => {
  const expected = () => values(functionOf('x => { const [a, b] = x; return a * 2 + b; }'));
  test.each([
    'function (x) { var _x = _slicedToArray(x, 2), a = _x[0], b = _x[1]; return a * 2 + b; }',
    'function (x) { var _x = _sliced_to_array(x, 2), a = _x[0], b = _x[1]; return a * 2 + b; }',
    'function (x) { var _a = __read(x, 2), a = _a[0], b = _a[1]; return a * 2 + b; }',
    'function (_ref) { var _ref2 = _slicedToArray(_ref, 2), a = _ref2[0], b = _ref2[1]; return a * 2 + b; }',
    'function (_a) { var a = _a[0], b = _a[1]; return a * 2 + b; }',
    'function (x) { var _x = _toArray(x), a = _x[0], b = _x[1]; return a * 2 + b; }',
    'function (x) { var y = _toConsumableArray(x); return y[0] * 2 + y[1]; }',
    'function (x) { var y = _to_consumable_array(x); return y[0] * 2 + y[1]; }',
    'function (x) { var y = __spreadArray([], __read(x), false); return y[0] * 2 + y[1]; }',
    'function (x) { var y = __spreadArray([], x, true); return y[0] * 2 + y[1]; }',
    'function (x) { var y = [].concat(x); return y[0] * 2 + y[1]; }',
    'function (x) { var f = /* @__PURE__ */ __name(function (a, b) { return a * 2 + b; }, "f"); return f(x[0], x[1]); }',
    'function (x) { /* istanbul ignore next */ cov_1a2b3c().f[0]++; cov_1a2b3c().s[0]++; return x[0] * 2 + x[1]; }',
    "function (x) { __cov_abc.f['1']++; __cov_abc.s['1']++; return x[0] * 2 + x[1]; }",
    'x => (cov_1a2b().f[0]++, cov_1a2b().s[0]++, x[0] > 9 ? (cov_1a2b().b[0][0]++, 0) : (cov_1a2b().b[0][1]++, x[0] * 2 + x[1]))',
    '"use strict", function (x) { "use strict"; return x[0] * 2 + x[1]; }',
  ])('%s', text => {
    expect(firstDifference(expected(), values(functionOf(text)))).toBe(-1);
  });
});
