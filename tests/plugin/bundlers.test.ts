/**
 * The plugin in real bundlers, plain and minified: an integrand uses constants and functions of its module, of another module and
 * of a package, and gives what plain JavaScript gives. Rollup and webpack are skipped where they are not installed. Rollup is none of this
 * repository's packages, since Vite no longer brings it; Rolldown, which it brings instead, takes the plugins of Rollup.
 */
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import * as esbuildTool from 'esbuild';
import { createServer, build as viteBuild } from 'vite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as quadrille from '../../src/index.ts';
import { esbuild, rollup, vite, webpack } from '../../src/plugin/plugin.ts';

const PHYS = `const scale: number = 2 / 2;
export const width = 0.5 * scale;
export function lorentz(x: number, gamma: number): number {
  return norm(gamma) / (x * x + gamma * gamma);
}
function norm(g: number): number {
  return (g / Math.PI) * scale;
}
export const shapes = { twice: (x: number) => 2 * scale * x };
export const unused = (x: number) => x * scale * 12345;
`;
const MAIN = `import { compile as compiled } from 'quadrille';
import * as q from 'quadrille';
import { half } from 'halves';
import { lorentz, width } from './phys.ts';
import * as phys from './phys.ts';

const { sqrt } = Math;
let gamma = 1;
const f = ([x]: number[]) => lorentz(x, gamma) * sqrt(4);
export function make(factor: number) {
  gamma = 0.5;
  return [
    compiled(([x]: number[]) => lorentz(x, width) * factor, { dims: 1 }),
    compiled(f, { dims: 1 }),
    q.compile(([x]: number[]) => phys.shapes.twice(x) + phys.lorentz(x, phys.width) + half(x), { dims: 1 }),
  ];
}
`;
const POINT = 0.3;
const peak = 0.5 / Math.PI / (POINT * POINT + 0.25);
const TRUTH = [3 * peak, 2 * peak, 2 * POINT + peak + POINT / 2];

let folder: string;
const path = (name: string) => join(folder, name);

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'plugin-'));
  mkdirSync(path('node_modules/halves'), { recursive: true });
  writeFileSync(
    path('node_modules/halves/package.json'),
    '{ "name": "halves", "type": "module", "main": "index.js" }',
  );
  writeFileSync(path('node_modules/halves/index.js'), 'export const half = x => x / 2;');
  writeFileSync(path('package.json'), '{ "type": "module" }');
  writeFileSync(path('phys.ts'), PHYS);
  writeFileSync(path('main.ts'), MAIN);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The values of the integrands of a bundle, in which the library is left out: it is the one of this test. */
async function valuesOf(code: string): Promise<number[]> {
  const name = '__quadrilleOfTest';
  (globalThis as Record<string, unknown>)[name] = quadrille;
  const own = code
    .replace(/import\s*\*\s*as\s+([\w$]+)\s*from\s*["']quadrille["'];?/g, `const $1 = globalThis.${name};`)
    .replace(
      /import\s*\{([^}]*)\}\s*from\s*["']quadrille["'];?/g,
      (_, names: string) => `const {${names.replace(/\bas\b/g, ':')}} = globalThis.${name};`,
    );
  const file = path(`bundle-${Math.random().toString(36).slice(2)}.mjs`);
  writeFileSync(file, own);
  const { make } = await import(/* @vite-ignore */ pathToFileURL(file).href);
  return (make(3) as quadrille.Compiled[]).map(c => c.evaluate(Float64Array.of(POINT))[0]);
}

const expectTruth = (found: readonly number[]) =>
  found.forEach((v, i) => expect(v, `integrand ${i}`).toBeCloseTo(TRUTH[i], 14));

/** A package of the repository, if it is installed. */
// biome-ignore lint/suspicious/noExplicitAny: its types are not installed either
async function installed(name: string): Promise<any> {
  try {
    return await import(/* @vite-ignore */ pathToFileURL(createRequire(import.meta.url).resolve(name)).href);
  } catch {
    return undefined;
  }
}
const [rollupTool, rolldownTool, webpackTool] = await Promise.all(
  ['rollup', 'rolldown', 'webpack'].map(installed),
);
const rollups = [
  { name: 'rollup', make: rollupTool?.rollup, output: (minify: boolean) => ({ compact: minify }) },
  { name: 'rolldown', make: rolldownTool?.rolldown, output: (minify: boolean) => ({ minify }) },
];

describe.each([false, true])('minified: %s', minify => {
  test('esbuild', async () => {
    const { outputFiles } = await esbuildTool.build({
      entryPoints: [path('main.ts')],
      bundle: true,
      write: false,
      format: 'esm',
      minify,
      external: ['quadrille'],
      plugins: [esbuild()],
    });
    expectTruth(await valuesOf(outputFiles[0].text));
  });
  test('vite', async () => {
    const output = await viteBuild({
      configFile: false,
      root: folder,
      logLevel: 'silent',
      plugins: [vite()],
      build: {
        write: false,
        minify: minify ? 'oxc' : false,
        lib: { entry: path('main.ts'), formats: ['es'] },
        rolldownOptions: { external: ['quadrille'] },
      },
    });
    const [{ output: chunks }] = [output].flat() as { output: { code: string }[] }[];
    expectTruth(await valuesOf(chunks[0].code));
    if (minify) expect(chunks[0].code).not.toContain('12345');
  });
  for (const { name, make, output: settings } of rollups)
    test.skipIf(!make)(name, async () => {
      const types = {
        name: 'types',
        resolveId: (id: string) => (id === 'halves' ? path('node_modules/halves/index.js') : null),
        async transform(code: string, id: string) {
          if (!id.endsWith('.ts')) return null;
          const { code: plain, map } = await esbuildTool.transform(code, { loader: 'ts', sourcemap: true });
          return { code: plain, map };
        },
      };
      const bundle = await make({
        input: path('main.ts'),
        external: ['quadrille'],
        plugins: [types, rollup()],
      });
      const { output } = await bundle.generate({ format: 'es', ...settings(minify) });
      expectTruth(await valuesOf(output[0].code));
      // captures do not keep a function that nobody uses; Rolldown removes assignments to it only when it minifies
      if (minify || name === 'rollup') expect(output[0].code).not.toContain('12345');
    });
  test.skipIf(!webpackTool)('webpack', async () => {
    const loader = path('types.cjs');
    const tool = JSON.stringify(pathToFileURL(createRequire(import.meta.url).resolve('esbuild')).href);
    writeFileSync(
      loader,
      `module.exports = function (code) { const done = this.async(); import(${tool}).then(e => (e.default ?? e).transform(code, { loader: 'ts' })).then(r => done(null, r.code), done); };`,
    );
    const own = webpack();
    // this repository is TypeScript, which webpack's own loaders cannot be: the loader is bundled first
    const built = path('webpack-loader.mjs');
    await esbuildTool.build({
      entryPoints: [fileURLToPath(new URL('../../src/plugin/webpack-loader.ts', import.meta.url))],
      outfile: built,
      bundle: true,
      platform: 'node',
      format: 'esm',
    });
    const bundled = {
      apply(compiler: { options: { module: { rules: { use?: { loader: string }[] }[] } } }) {
        own.apply(compiler);
        compiler.options.module.rules.at(-1)!.use![0].loader = built;
      },
    };
    const config = {
      mode: minify ? 'production' : 'development',
      context: folder,
      entry: path('main.ts'),
      devtool: false,
      experiments: { outputModule: true },
      output: { path: folder, filename: `webpack-${minify}.mjs`, library: { type: 'module' } },
      externals: { quadrille: 'module quadrille' },
      module: { rules: [{ test: /\.ts$/, loader }] },
      plugins: [bundled],
    };
    await new Promise<void>((done, fail) =>
      (webpackTool.default ?? webpackTool)(config, (e: Error | null, s: { hasErrors(): boolean }) =>
        e || s.hasErrors() ? fail(e ?? new Error(String(s))) : done(),
      ),
    );
    const { readFileSync } = await import('node:fs');
    expectTruth(await valuesOf(readFileSync(path(`webpack-${minify}.mjs`), 'utf8')));
  });
});

test('the development server of vite, and modules as it runs them in Node', async () => {
  symlinkSync(fileURLToPath(new URL('../..', import.meta.url)), path('node_modules/quadrille'));
  const server = await createServer({
    configFile: false,
    root: folder,
    logLevel: 'silent',
    plugins: [vite()],
    resolve: { alias: { quadrille: fileURLToPath(new URL('../../src/index.ts', import.meta.url)) } },
    server: { middlewareMode: true, ws: false },
    appType: 'custom',
    optimizeDeps: { noDiscovery: true },
  });
  try {
    const { make } = (await server.ssrLoadModule('/main.ts')) as { make(k: number): quadrille.Compiled[] };
    expectTruth(make(3).map(c => c.evaluate(Float64Array.of(POINT))[0]));
    expect((await server.transformRequest('/main.ts'))!.code).toContain(
      'quadrilleCaptures: () => [lorentz, width, factor]',
    );
  } finally {
    await server.close();
  }
});
