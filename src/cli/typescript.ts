/**
 * Imports a TypeScript file. esbuild bundles it with the files that it imports, which works on every Node and with every
 * form of import that TypeScript projects use; functions get what they use from outside (plugin/capture.ts) on the way. Without esbuild, a Node that strips types by itself (22.18 and later)
 * imports the file as it is. esbuild is no dependency of this package: it has 11 MB, most users never run a .ts file from
 * the command line, and those who do have it from their own tools, or have a new Node.
 */
import { builtinModules, createRequire } from 'node:module';
import { dirname, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { BuildFailure, Plugin } from 'esbuild';
import { esbuild as capturing } from '../plugin/plugin.ts';
import { UsageError } from './usage-error.ts';

type Esbuild = typeof import('esbuild');

export async function importTypeScript(file: string, library: URL): Promise<unknown> {
  const esbuild = await findEsbuild(file);
  if (esbuild) return importBuilt(esbuild, file, library);
  if ((process.features as { typescript?: unknown }).typescript) return import(pathToFileURL(file).href);
  throw new UsageError(
    `${file} is TypeScript, which Node ${process.versions.node} does not run by itself.`,
    'Install esbuild (npm install esbuild), use Node 22.18 or later, or write the file in JavaScript.',
  );
}

/** Finds the esbuild of the file's own project, otherwise the one that this package can load. */
async function findEsbuild(file: string): Promise<Esbuild | undefined> {
  for (const from of [pathToFileURL(file).href, import.meta.url]) {
    try {
      const found = (await import(pathToFileURL(createRequire(from).resolve('esbuild')).href)) as {
        default?: Esbuild;
      } & Esbuild;
      return found.default ?? found;
    } catch {
      // it is not installed, or not for this platform; the next one may be
    }
  }
  return undefined;
}

async function importBuilt(esbuild: Esbuild, file: string, library: URL): Promise<unknown> {
  const url = JSON.stringify(pathToFileURL(file).href);
  const built = await esbuild
    .build({
      entryPoints: [file],
      bundle: true,
      write: false,
      platform: 'node',
      format: 'esm',
      target: 'es2022',
      logLevel: 'silent',
      // the file may read data beside it
      define: {
        'import.meta.url': url,
        'import.meta.filename': JSON.stringify(file),
        'import.meta.dirname': JSON.stringify(dirname(file)),
      },
      plugins: [packagesStay(library), capturing()],
    })
    .catch((e: BuildFailure) => {
      throw mistakeIn(e);
    });
  // In a URL, not in a file: nobody else can read or change it, no full disk is in its way, and nothing is left behind
  // however the process ends. Stack traces name the file instead of the URL; their lines are those of the bundle, since Node
  // reads no source map of such a URL.
  const text = `${built.outputFiles[0].text}\n//# sourceURL=${pathToFileURL(file).href}?bundled`;
  return import(`data:text/javascript;base64,${Buffer.from(text).toString('base64')}`);
}

/** Packages are not bundled but imported from where they are installed; `quadrille` is this package. */
const packagesStay = (library: URL): Plugin => ({
  name: 'packages-stay',
  setup(build) {
    build.onResolve({ filter: /^[^./]/ }, async args => {
      if (args.pluginData === 'asked' || args.kind === 'entry-point') return undefined;
      if (args.path === 'quadrille') return { path: library.href, external: true };
      if (args.path.startsWith('node:') || builtinModules.includes(args.path)) return { external: true };
      const { path, errors } = await build.resolve(args.path, {
        kind: args.kind,
        resolveDir: args.resolveDir,
        importer: args.importer,
        pluginData: 'asked',
      });
      if (errors.length > 0) return { errors };
      // a path outside node_modules comes from `paths` in tsconfig.json, and is bundled
      return path.includes('node_modules') ? { path: pathToFileURL(path).href, external: true } : { path };
    });
  },
});

function mistakeIn({ errors, message }: BuildFailure): UsageError {
  const [{ text = message, location = null } = {}] = errors ?? [];
  if (!location) return new UsageError(text);
  const { file, line, column, length, lineText } = location;
  const where = relative(process.cwd(), file) || file;
  return new UsageError(`${where}:${line}:${column + 1}: ${text}.`, undefined, {
    text: lineText,
    start: column,
    end: column + length,
  });
}
