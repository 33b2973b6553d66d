/**
 * The page of the README, bundled as people do it: nothing of CUDA is in its files, and what it loads for an integral on the CPU
 * is small. Files that a page loads only for another method or device are counted apart.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
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

async function byEsbuild(): Promise<Files> {
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

/** What a page has loaded once these modules are: their files, and all that these import at once. */
function loaded(chunks: ReadonlyMap<string, Chunk>, modules: readonly string[]): string {
  const seen = new Set<string>();
  const visit = (name: string) => {
    if (seen.has(name)) return;
    seen.add(name);
    for (const i of chunks.get(name)!.imports) visit(i);
  };
  for (const m of modules) visit([...chunks.keys()].find(name => chunks.get(name)!.begins?.endsWith(m))!);
  return [...seen].map(name => chunks.get(name)!.text).join('\n');
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

  test('loads less than 115 KB, gzipped, at once, and less than 140 in all for auto on the CPU', async () => {
    const chunks = await byVite();
    const first = kilobytes(loaded(chunks, ['index.html']));
    const auto = ['auto/auto.js', 'cubature/pagani.js', 'vegas/vegas.js'];
    const all = kilobytes(loaded(chunks, ['index.html', ...auto]));
    console.log(
      `a page loads ${first.toFixed(1)} KB at once, and ${all.toFixed(1)} KB with the methods of auto`,
    );
    expect(first).toBeLessThan(115); // the goal is 100
    expect(all).toBeLessThan(140);
  });

  test('prints the integral, minified and loaded file by file', async () => {
    const files = await byEsbuild();
    const out = join(installed.folder, 'out');
    mkdirSync(out, { recursive: true });
    for (const [name, text] of files) writeFileSync(join(installed.folder, name), text);
    const stub =
      'globalThis.document = { querySelector: () => ({ set textContent(r) { console.log(String(r)); } }) };';
    writeFileSync(join(out, 'run.mjs'), `${stub}\nawait import('./page.js');\n`);
    writeFileSync(join(out, 'package.json'), '{ "type": "module" }');
    const printed = execFileSync(process.execPath, [join(out, 'run.mjs')], { encoding: 'utf8' });
    // π²/12, the dilogarithm at −1 with its sign turned
    expect(Math.abs(Number.parseFloat(printed) - Math.PI ** 2 / 12)).toBeLessThan(1e-3);
  });
});
