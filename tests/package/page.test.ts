/**
 * The page of the README, bundled as people do it: nothing of CUDA is in its files, and what it loads for an integral on the CPU
 * is small. It is run, so that files are counted which it loads on its way, and those are not which it does not need.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build as esbuild } from 'esbuild';
import { build as vite } from 'vite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Installed, install } from './installed.ts';

const [, page] = /```html\n([\s\S]*?)```/.exec(readFileSync('README.md', 'utf8'))!;
const [, script] = /<script type="module">([\s\S]*)<\/script>/.exec(page)!;

let installed: Installed;
beforeAll(() => {
  installed = install();
  writeFileSync(join(installed.folder, 'index.html'), page);
  writeFileSync(join(installed.folder, 'page.js'), script);
}, 60_000);
afterAll(() => installed.remove());

/** Words that only the CUDA device has. */
const CUDA = /nvrtc|cuLaunchKernel|__global__|koffi|\.cu\b/i;

/** As much of a document as the page and what Vite adds to it use. */
const DOCUMENT = `globalThis.document = {
  querySelector: what => what === 'output' ? { set textContent(r) { console.log(String(r)); } } : null,
  createElement: () => ({ relList: { supports: () => true }, setAttribute() {} }),
  getElementsByTagName: () => [],
  head: { appendChild() {} },
};`;

/** Put before the text of a file: says that the file was loaded, and at the end which ones were. */
const COUNT = (name: string) =>
  `(globalThis.loadedFiles ??= []).push(${JSON.stringify(name)}), globalThis.atEnd = () => console.log('loaded ' + loadedFiles.join(' '));\n`;

/** Arguments of `integrate` that need more than a page loads at once, and the integral. */
const RARE: [string, string, number][] = [
  [
    'less common functions of Math',
    '([x]) => Math.atan(x) + x ** x, { dims: 1 }',
    Math.PI / 4 - Math.LN2 / 2 + 0.783431,
  ],
  [
    'sorted and filtered arrays',
    '(x) => x.toSorted((a, b) => a - b)[0] + x.filter(v => v > 0.5).length, { dims: 2 }',
    4 / 3,
  ],
  ['sines', '([x]) => Math.sin(x), { dims: 1 }', 1 - Math.cos(1)],
  ['the rule for three dimensions', '([x, y, z]) => x * y * z, { dims: 3 }', 1 / 8],
  ['the rule for five dimensions', '([x, y]) => x * y, { dims: 5 }', 1 / 4],
  [
    'another rule',
    "([x, y]) => x * y, { dims: 2, method: 'cuhre', cubature: { rule: 'genz-malik' } }",
    1 / 4,
  ],
  ['goals', "([x]) => ({ a: x, b: x * x }), { dims: 1, goals: 'b' }", 1 / 3],
  [
    'words for a value that is not finite',
    '([x]) => Math.sqrt(x - 2), { dims: 1 }).catch(e => ({ value: Number(/is NaN at \\[/.test(e.message)) })',
    1,
  ],
  ['samples', "([x, y]) => x * y, { dims: 2, method: 'vegas+' }", 1 / 4],
  ['a special function', '([x], p, { erf }) => erf(x), { dims: 1 }', 0.486065],
  ['an infinite range', '([x]) => Math.exp(-x * x), { domain: [[0, Infinity]] }', Math.sqrt(Math.PI) / 2],
  ['a bound that is a function', '([x, y]) => x * y, { domain: [[0, 1], ([x]) => [0, x]] }', 1 / 8],
  ['a shape', '() => 1, { domain: ball(2, 0.5) }', Math.PI / 4],
  ['points', '([x]) => 1 / (1e-6 + (x - 0.3) ** 2), { dims: 1, points: [[0.3]] }', 3136.83],
  ['a function as it is', "([x]) => x * x, { dims: 1, device: 'js:1', maxTime: 2e4 }", 1 / 3],
];

/** The files that a bundler made, by name. */
type Files = Map<string, string>;

interface Chunk {
  text: string;
  /** Files that are loaded with it. */
  imports: readonly string[];
  /** The module that it begins with, where that is the page or one that is loaded later. */
  begins: string | null;
}

async function byVite(): Promise<Map<string, Chunk>> {
  const made = await vite({
    configFile: false,
    logLevel: 'silent',
    root: installed.folder,
    build: { write: false },
  });
  const { output } = made as Extract<typeof made, { output: unknown }>;
  return new Map(
    output.map(f =>
      f.type === 'chunk'
        ? [f.fileName, { text: f.code, imports: f.imports, begins: f.facadeModuleId }]
        : [f.fileName, { text: String(f.source), imports: [], begins: null }],
    ),
  );
}

async function byEsbuild(text = script): Promise<Files> {
  writeFileSync(join(installed.folder, 'page.js'), text);
  const made = await esbuild({
    absWorkingDir: installed.folder,
    entryPoints: ['page.js'],
    bundle: true,
    splitting: true,
    minify: true,
    format: 'esm',
    platform: 'browser',
    outdir: 'out',
    write: false,
  });
  return new Map(made.outputFiles.map(f => [f.path.slice(installed.folder.length + 1), f.text]));
}

/** A file, and all that it imports at once. */
function withImports(
  chunks: ReadonlyMap<string, Chunk>,
  file: string,
  seen = new Set<string>(),
): Set<string> {
  if (!seen.has(file)) {
    seen.add(file);
    for (const i of chunks.get(file)!.imports) withImports(chunks, i, seen);
  }
  return seen;
}

/** Runs a page's script from files in a folder; what it printed. */
function run(folder: string, files: Files, first: string): string {
  const out = join(installed.folder, folder);
  for (const [name, text] of files) {
    mkdirSync(dirname(join(out, name)), { recursive: true });
    writeFileSync(join(out, name), text);
  }
  writeFileSync(join(out, 'run.mjs'), `${DOCUMENT}\nawait import('./${first}');\nglobalThis.atEnd?.();\n`);
  writeFileSync(join(out, 'package.json'), '{ "type": "module" }');
  return execFileSync(process.execPath, [join(out, 'run.mjs')], { encoding: 'utf8' });
}

const kilobytes = (text: string) => gzipSync(text).length / 1000;

describe('the page of the README', () => {
  test('has nothing of CUDA in its files, bundled by Vite or esbuild', async () => {
    const made = new Map([...(await byVite())].map(([name, { text }]) => [name, text]));
    for (const files of [made, await byEsbuild()]) {
      expect(files.size).toBeGreaterThan(4);
      for (const [name, text] of files) {
        expect(name).not.toMatch(/\.cu$/);
        expect(text.match(CUDA)?.[0], name).toBeUndefined();
      }
    }
  });

  test('a bundle for Node has it', async () => {
    const made = await esbuild({
      absWorkingDir: installed.folder,
      entryPoints: ['page.js'],
      bundle: true,
      format: 'esm',
      platform: 'node',
      outdir: 'out',
      write: false,
      packages: 'bundle',
      external: ['koffi'],
    });
    expect(made.outputFiles[0].text).toMatch(CUDA);
  });

  test.each([
    ['its integral', '1 / (1 + x * y)', 85, 100],
    ['one with functions of Math', 'Math.exp(-x * x) * Math.cos(y)', 85, 100],
  ])(
    'for %s it loads %s: less than %i KB, gzipped, at once, and less than %i in all',
    async (_, f, most, inAll) => {
      writeFileSync(join(installed.folder, 'index.html'), page.replace('1 / (1 + x * y)', f));
      const chunks = await byVite();
      const [own] = [...chunks].find(([, { begins }]) => begins?.endsWith('index.html'))!;
      const counted = [...chunks]
        .filter(([name]) => name.endsWith('.js'))
        .map(([name, { text }]): [string, string] => [name, `${COUNT(name)}${text}`]);
      const printed = run('counted', new Map(counted), own);
      const loaded = /^loaded (.*)$/m.exec(printed)![1].split(' ');
      const size = (names: Iterable<string>) =>
        kilobytes([...names].map(name => chunks.get(name)!.text).join('\n'));
      const first = size(withImports(chunks, own));
      const all = size(loaded);
      console.log(
        `a page loads ${first.toFixed(1)} KB at once, and ${all.toFixed(1)} KB in all for the integral of ${f}`,
      );
      expect(first).toBeLessThan(most);
      expect(all).toBeLessThan(inAll);
    },
  );

  test('prints the integral, minified and loaded file by file', async () => {
    const printed = run('.', await byEsbuild(), 'out/page.js');
    // π²/12, the dilogarithm at −1 with its sign turned
    expect(Math.abs(Number.parseFloat(printed) - Math.PI ** 2 / 12)).toBeLessThan(1e-3);
  });

  test.each(RARE)('loads what an integral needs that is not loaded at once: %s', async (_, call, truth) => {
    const text = `import { integrate, ball, simplex } from 'quadrille';
const r = await integrate(${call});
console.log(r.value.b ?? r.value);\n`;
    const printed = run('.', await byEsbuild(text), 'out/page.js');
    expect(Number(printed)).toBeGreaterThan(truth - 2e-3);
    expect(Number(printed)).toBeLessThan(truth + 2e-3);
  });
});
