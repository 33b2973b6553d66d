/** Runs snippets as a user would: as modules and commands of a package that has `quadrille`. One process for all of a page. */
import { spawn } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import ts from 'typescript';
import { type Built, buildCli, ended } from '../cli/built.ts';
import { type Block, has } from './blocks.ts';

export interface Printed {
  out: string;
  /** `TypeError: …`, when it threw. */
  error: string | null;
}

/** Imports modules one after the other; what each printed and threw goes to the standard output, as JSON. */
const RUNNER = `
import { format } from 'node:util';
import { pathToFileURL } from 'node:url';
const results = [];
for (const file of process.argv.slice(2)) {
  const lines = [];
  console.log = (...args) => lines.push(format(...args));
  let error = null;
  try {
    await import(pathToFileURL(file));
  } catch (e) {
    error = e instanceof Error ? \`\${e.name}: \${e.message}\` : String(e);
  }
  results.push({ out: lines.join('\\n'), error });
}
process.stdout.write(JSON.stringify(results));
`;

export class Workshop {
  readonly #built: Built;
  readonly #folder: string;

  private constructor(built: Built) {
    this.#built = built;
    const dist = dirname(dirname(built.main));
    // beside dist: there, a package finds itself by its name
    this.#folder = join(dirname(dist), 'snippets');
    mkdirSync(this.#folder);
    writeFileSync(join(this.#folder, 'runner.mjs'), RUNNER);
    cpSync('src/devices/cuda/kernels', join(dist, 'cli/kernels'), { recursive: true });
  }

  static async open(): Promise<Workshop> {
    return new Workshop(await buildCli());
  }

  /** All of these `ts` blocks, in one process. */
  async modules(blocks: readonly Block[], env: Record<string, string> = {}): Promise<Printed[]> {
    if (blocks.length === 0) return [];
    const files = blocks.map(block => {
      const file = join(this.#folder, `${basename(block.page, '.md')}-${block.line}.mjs`);
      writeFileSync(file, toJavaScript(block.body));
      return file;
    });
    const child = spawn(process.execPath, [join(this.#folder, 'runner.mjs'), ...files], {
      env: environment(env),
    });
    const { out, err } = await ended(child);
    try {
      return JSON.parse(out);
    } catch {
      throw new Error(`the snippets of ${blocks[0].page} did not come to an end:\n${out}${err}`);
    }
  }

  /** A `sh` block. Files that `ts` blocks name in their first line are there. */
  async command({ body }: Block, env: Record<string, string> = {}): Promise<Printed> {
    const { code, out, err } = await this.#built.shell(body, environment(env));
    return { out: out + err, error: code === 0 ? null : `exit code ${code}` };
  }

  async keep({ body }: Block): Promise<void> {
    const name = /^\/\/ (\S+\.ts)\n/.exec(body)?.[1];
    if (name) await this.#built.put(name, body);
  }

  close(): Promise<void> {
    return this.#built.remove();
  }
}

/** Without what an emulator of this process has set. */
function environment(more: Record<string, string>): Record<string, string> {
  const { QUADRILLE_LIBCUDA, QUADRILLE_NVRTC, XDG_CACHE_HOME, ...others } = process.env;
  return { ...(others as Record<string, string>), ...more };
}

/** Types removed; lines stay as they are written, since messages show them. */
function toJavaScript(text: string): string {
  const compilerOptions = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ESNext };
  const { outputText } = ts.transpileModule(text, { compilerOptions });
  return outputText.replace(/^(?: {4})+/gm, indent => ' '.repeat(indent.length / 2)); // as in the page
}

/** What TypeScript says of snippets, with the settings of this repository; those that show an error may have any. */
export function typeErrors(blocks: readonly Block[]): string[] {
  const { config } = ts.readConfigFile('tsconfig.json', ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent({ ...config, include: [] }, ts.sys, process.cwd());
  const texts = new Map(
    blocks
      .filter(b => b.language === 'ts' && !has(b, 'throws'))
      // beside the tests, where packages are found; nothing is written there
      .map(b => [join(process.cwd(), 'tests/docs', `${basename(b.page, '.md')}-${b.line}.ts`), b.body]),
  );
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists, readFile } = host;
  host.fileExists = file => texts.has(file) || fileExists.call(host, file);
  host.readFile = file => texts.get(file) ?? readFile.call(host, file);
  host.getSourceFile = (file, ...more) => {
    const text = texts.get(file);
    return text === undefined
      ? getSourceFile.call(host, file, ...more)
      : ts.createSourceFile(file, `${text}\nexport {};`, ts.ScriptTarget.ES2022, true);
  };
  const program = ts.createProgram([...texts.keys()], options, host);
  return [...texts.keys()].flatMap(file => {
    const source = program.getSourceFile(file)!;
    const found = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)];
    return found.map(d => {
      const { line } = source.getLineAndCharacterOfPosition(d.start ?? 0);
      return `${basename(file, '.ts')}, line ${line + 1}: ${ts.flattenDiagnosticMessageText(d.messageText, '\n')}`;
    });
  });
}
