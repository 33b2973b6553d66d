/** The package as it is installed: a folder node_modules/quadrille with its modules, not bundled, and its package.json. */
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import ts from 'typescript';

const compilerOptions: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2022,
  module: ts.ModuleKind.ESNext,
  verbatimModuleSyntax: true,
  rewriteRelativeImportExtensions: true,
};

export interface Installed {
  /** A folder whose programs find `quadrille`. */
  folder: string;
  remove(): void;
}

/** Types are removed file by file, in a second; scripts/build.mjs also checks them, which takes ten. */
export function install(): Installed {
  const folder = mkdtempSync(join(tmpdir(), 'installed-'));
  const home = join(folder, 'node_modules/quadrille');
  for (const file of readdirSync('src', { recursive: true, encoding: 'utf8' }).filter(f =>
    f.endsWith('.ts'),
  )) {
    const { outputText } = ts.transpileModule(readFileSync(join('src', file), 'utf8'), {
      compilerOptions,
      fileName: file,
    });
    const to = join(home, 'dist', file.replace(/\.ts$/, '.js'));
    mkdirSync(dirname(to), { recursive: true });
    writeFileSync(to, outputText);
  }
  cpSync('src/devices/cuda/kernels', join(home, 'dist/devices/cuda/kernels'), { recursive: true });
  cpSync('package.json', join(home, 'package.json'));
  for (const name of Object.keys(JSON.parse(readFileSync('package.json', 'utf8')).dependencies))
    symlinkSync(resolve('node_modules', name), join(folder, 'node_modules', name), 'junction');
  return { folder, remove: () => rmSync(folder, { recursive: true }) };
}
