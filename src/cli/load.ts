/** Loads an integrand from a file. The default export is a function of the point, or a problem with an integrand and options. */
import { statSync } from 'node:fs';
import * as nodeModule from 'node:module';
import { extname, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Integrand } from '../integrand/compile.ts';
import { OptionError } from '../options/option-error.ts';
import { checkOptions } from '../options/table.ts';
import { type AllOptions, INTEGRATE_OPTIONS } from '../problem.ts';
import { captureWhileLoading } from './capture-hooks.ts';
import { thrown } from './messages.ts';
import { importTypeScript } from './typescript.ts';
import { UsageError } from './usage-error.ts';

export interface Loaded {
  integrand: Integrand;
  /** The options that the file gives beside the integrand. */
  options: AllOptions;
  /** The module from which workers can import the function. */
  url: URL | undefined;
}

const JAVASCRIPT = ['.js', '.mjs', '.cjs'];
const TYPESCRIPT = ['.ts', '.mts', '.cts'];

export const isFile = (text: string): boolean => [...JAVASCRIPT, ...TYPESCRIPT].includes(extname(text));

export async function load(name: string): Promise<Loaded> {
  const file = resolve(name);
  if (!isFile(name))
    throw new UsageError(
      `'${name}' is no TypeScript or JavaScript file.`,
      `Its name should end in ${[...TYPESCRIPT, ...JAVASCRIPT].join(', ')}.`,
    );
  const found = statSync(file, { throwIfNoEntry: false });
  if (!found) throw new UsageError(`There is no file ${name}.`, `Looked for ${file}.`);
  if (!found.isFile()) throw new UsageError(`${name} is no file.`, `Looked at ${file}.`);
  const url = pathToFileURL(file);
  const library = new URL('../index.js', import.meta.url);
  findOurselves(file, library);
  captureWhileLoading();
  const plain = JAVASCRIPT.includes(extname(file));
  const exports = (await (plain ? import(url.href) : importTypeScript(file, library)).catch((e: unknown) => {
    throw failedToLoad(name, url, e);
  })) as Record<string, unknown>;
  const problem = exports.default;
  if (typeof problem === 'function')
    return { integrand: problem as Integrand, options: {}, url: plain ? url : undefined };
  if (problem !== null && typeof problem === 'object' && 'integrand' in problem) {
    const { integrand, ...options } = problem as { integrand: Integrand } & AllOptions;
    if (typeof integrand === 'function') {
      checkTheirs(name, options);
      return { integrand, options, url: undefined };
    }
  }
  const names = Object.keys(exports).filter(k => k !== 'default');
  throw new UsageError(
    problem === undefined
      ? `${name} has no default export${names.length > 0 ? `, only ${names.join(', ')}` : ''}.`
      : `${name} exports something that is no integrand.`,
    'Write export default ([x, y]) => x * y, or export default { integrand, dims: 2 }.',
  );
}

/** Checks options where they are written: errors of the run would name them as they are typed, --rel-tol. */
function checkTheirs(name: string, options: object): void {
  try {
    checkOptions(INTEGRATE_OPTIONS, options);
  } catch (e) {
    throw e instanceof OptionError ? new UsageError(`${name}: ${e.reason}; ${e.remedy}.`) : e;
  }
}

/** The error that a file raised while it was loaded, with its line where the stack has it. */
function failedToLoad(name: string, url: URL, error: unknown): Error {
  if (error instanceof UsageError) return error;
  if (!(error instanceof Error)) return new UsageError(`${name} threw ${thrown(error)} while it was loaded.`);
  const { stack = '' } = error;
  const behind = stack.split(url.href)[1] ?? stack.split(fileURLToPath(url))[1] ?? '';
  const [, line] = /^:(\d+)/.exec(behind) ?? [];
  const where = line === undefined ? name : `${name}:${line}`;
  return new UsageError(`${where} could not be loaded: ${error.name}: ${error.message}`);
}

/** A file may import `quadrille` where that is not installed: the import then gives the package that is running. */
function findOurselves(file: string, library: URL): void {
  try {
    nodeModule.createRequire(file).resolve('quadrille');
    return;
  } catch {
    // it is not installed where the file is
  }
  type Next = (name: string, context: object) => unknown;
  const { registerHooks } = nodeModule as {
    registerHooks?: (hooks: { resolve(name: string, context: object, next: Next): unknown }) => void;
  };
  const found = { url: library.href, shortCircuit: true };
  if (registerHooks) {
    registerHooks({
      resolve: (name, context, next) => (name === 'quadrille' ? found : next(name, context)),
    });
    return;
  }
  // before Node 22.15 hooks run in a thread of their own and have to be a module
  const hook = `export const resolve = (name, context, next) =>
    name === 'quadrille' ? ${JSON.stringify(found)} : next(name, context);`;
  nodeModule.register(`data:text/javascript,${encodeURIComponent(hook)}`);
}
