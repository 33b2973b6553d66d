/**
 * The page of the README, bundled as people do it: nothing of CUDA is in its files, and what it loads for an integral on the CPU
 * is small. Files that a page loads only for another method or device are counted apart.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build as esbuild, type Metafile } from 'esbuild';
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

async function byVite(): Promise<Files> {
  const made = await vite({
    configFile: false,
    logLevel: 'silent',
    root: installed.folder,
    build: { write: false },
  });
  const { output } = made as Extract<typeof made, { output: unknown }>;
  return new Map(output.map(f => [f.fileName, f.type === 'chunk' ? f.code : String(f.source)]));
}

interface Bundled {
  files: Files;
  outputs: Metafile['outputs'];
}

async function byEsbuild(): Promise<Bundled> {
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
    metafile: true,
  });
  const files = new Map(made.outputFiles.map(f => [f.path.slice(installed.folder.length + 1), f.text]));
  return { files, outputs: made.metafile.outputs };
}

/** What a page has loaded once these modules have run: their files, and all that these import at once. */
function loaded({ files, outputs }: Bundled, modules: readonly string[]): string {
  const seen = new Set<string>();
  const visit = (path: string) => {
    if (seen.has(path)) return;
    seen.add(path);
    for (const i of outputs[path].imports) if (i.kind === 'import-statement') visit(i.path);
  };
  for (const m of modules) visit(Object.keys(outputs).find(o => outputs[o].entryPoint?.endsWith(m))!);
  return [...seen].map(path => files.get(path)!).join('\n');
}

const kilobytes = (text: string) => gzipSync(text).length / 1000;

describe('the page of the README', () => {
  test('has nothing of CUDA in its files, bundled by Vite or esbuild', async () => {
    for (const files of [await byVite(), (await byEsbuild()).files]) {
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

  test('loads less than 140 KB, gzipped, before it integrates, and less than 165 for auto on the CPU', async () => {
    const bundled = await byEsbuild();
    const first = kilobytes(loaded(bundled, ['page.js']));
    const auto = ['auto/auto.js', 'cubature/pagani.js', 'vegas/vegas.js'];
    const all = kilobytes(loaded(bundled, ['page.js', ...auto]));
    console.log(`a page loads ${first.toFixed(1)} KB, and ${all.toFixed(1)} KB with the methods of auto`);
    expect(first).toBeLessThan(140);
    expect(all).toBeLessThan(165);
  });

  test('prints the integral, minified and loaded file by file', async () => {
    const { files } = await byEsbuild();
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
