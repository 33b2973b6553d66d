/**
 * The plugin for bundlers, one function for each. All of them pass the modules of a project through `capture`; packages in
 * node_modules stay as they are. Vite and webpack hand out JavaScript at this point. esbuild hands out TypeScript, of which it can
 * make JavaScript itself. Rollup hands out what plugins before this one have made; types that are left are stripped by Node.
 *
 * There is no framework for plugins underneath (unplugin): all four need but one hook, which takes ten lines in each.
 */
import { readFile } from 'node:fs/promises';
import { dirname, extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { capture } from './capture.ts';
import type { SourceMap } from './insertions.ts';
import { isOfProject, MODULE } from './project.ts';

const NAME = 'quadrille';

/** A plugin of Vite, Rollup or Rolldown, as far as this one goes. */
export interface RollupPlugin {
  /** The name in messages of the bundler. */
  name: string;
  /** Gives a module its captures. */
  transform(code: string, id: string): { code: string; map: SourceMap } | null;
}

/** The plugin for Vite: `plugins: [vite()]`. */
export function vite(): RollupPlugin {
  return { name: NAME, transform: (code, id) => (isOfProject(id) ? capture(code) : null) };
}

/** The plugin for Rollup and Rolldown. Before Node 22.13 it has its place behind the plugin that strips types. */
export function rollup(): RollupPlugin {
  return vite();
}

/** What the plugin needs of esbuild. */
interface EsbuildBuild {
  initialOptions: { jsx?: unknown; tsconfigRaw?: unknown };
  esbuild: {
    transform(text: string, options: object): Promise<{ code: string; map: string }>;
  };
  onLoad(
    options: { filter: RegExp; namespace: string },
    load: (args: {
      path: string;
    }) => Promise<{ contents: string; loader: 'js'; resolveDir: string } | undefined>,
  ): void;
}

/** A plugin of esbuild, as far as this one goes. */
export interface EsbuildPlugin {
  /** The name in messages of esbuild. */
  name: string;
  /** Registers the plugin. */
  // biome-ignore lint/suspicious/noExplicitAny: esbuild's PluginBuild, whose types a user may not have
  setup(build: any): void;
}

/** The plugin for esbuild: `plugins: [esbuild()]`. */
export function esbuild(): EsbuildPlugin {
  return {
    name: NAME,
    setup(build: EsbuildBuild) {
      build.onLoad({ filter: MODULE, namespace: 'file' }, async ({ path }) => {
        if (!isOfProject(path)) return undefined;
        const text = await readFile(path, 'utf8');
        const plain = await javascriptOf(build, path, text);
        const captured = plain && capture(plain.code, plain.map);
        if (!captured) return undefined;
        const sources = plain.map ? captured.map.sources : [path];
        const map = Buffer.from(JSON.stringify({ ...captured.map, sources })).toString('base64');
        const contents = `${captured.code}\n//# sourceMappingURL=data:application/json;base64,${map}`;
        return { contents, loader: 'js', resolveDir: dirname(path) };
      });
    },
  };
}

/** A module as JavaScript, with its map; undefined for a text that esbuild cannot read, which it will say itself. */
async function javascriptOf(
  { esbuild: tool, initialOptions: { jsx, tsconfigRaw } }: EsbuildBuild,
  path: string,
  text: string,
): Promise<{ code: string; map?: SourceMap } | undefined> {
  const extension = extname(path);
  const loader = /x$/.test(extension) ? extension.slice(1) : /ts$/.test(extension) ? 'ts' : 'js';
  if (loader === 'js') return { code: text };
  const options = { loader, sourcefile: path, sourcemap: true, logLevel: 'silent' };
  try {
    const { code, map } = await tool.transform(text, {
      ...options,
      ...(jsx !== undefined && { jsx }),
      ...(tsconfigRaw !== undefined && { tsconfigRaw }),
    });
    return { code, map: JSON.parse(map) };
  } catch {
    return undefined;
  }
}

/** A plugin of webpack, as far as this one goes. */
export interface WebpackPlugin {
  /** Registers the plugin. */
  // biome-ignore lint/suspicious/noExplicitAny: webpack's Compiler, whose types a user may not have
  apply(compiler: any): void;
}

/** The plugin for webpack: `plugins: [webpack()]`. */
export function webpack(): WebpackPlugin {
  return {
    apply({ options }: { options: { module: { rules: unknown[] } } }) {
      const loader = fileURLToPath(new URL(`./webpack-loader${extname(import.meta.url)}`, import.meta.url));
      // `post`: after the loaders that make JavaScript of TypeScript
      options.module.rules.push({ test: isOfProject, enforce: 'post', use: [{ loader }] });
    },
  };
}
