/** The command line as a program of its own: bundled to a folder that looks like the package, and started with Node. */
import { type ChildProcess, spawn } from 'node:child_process';
import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('../..', import.meta.url));

export interface Ended {
  /** Null when it had to be killed. */
  code: number | null;
  out: string;
  err: string;
}

export interface Built {
  /** The executable. */
  main: string;
  /** An empty folder to work in, outside the repository. */
  folder: string;
  /** Writes a file into the folder. */
  put(name: string, text: string): Promise<void>;
  start(args: string[], env?: Record<string, string>): ChildProcess;
  run(args: string[], env?: Record<string, string>): Promise<Ended>;
  /** A command line for bash, in which `quadrille` is the executable. */
  shell(command: string, env?: Record<string, string>): Promise<Ended>;
  remove(): Promise<void>;
}

export async function buildCli(): Promise<Built> {
  // inside the repository, where node finds the packages
  await mkdir(join(root, '.cache'), { recursive: true });
  const home = await mkdtemp(join(root, '.cache', 'cli-'));
  const folder = await mkdtemp(join(tmpdir(), 'cli-'));
  await copyFile(join(root, 'package.json'), join(home, 'package.json'));
  await build({
    entryPoints: [
      join(root, 'src/cli/main.ts'),
      join(root, 'src/index.ts'),
      join(root, 'src/plugin/capture.ts'),
    ],
    outdir: join(home, 'dist'),
    outbase: join(root, 'src'),
    chunkNames: 'cli/[name]-[hash]', // a folder deep, as the modules they come from
    bundle: true,
    splitting: true,
    platform: 'node',
    format: 'esm',
    target: 'es2022',
    packages: 'external',
    logLevel: 'silent',
  });
  const main = join(home, 'dist/cli/main.js');
  const bin = join(home, 'bin');
  await mkdir(bin);
  await writeFile(join(bin, 'quadrille'), `#!/bin/sh\nexec "${process.execPath}" "${main}" "$@"\n`, {
    mode: 0o755,
  });
  // Windows lets few users make links, and its shells find node anyway
  if (process.platform !== 'win32') await symlink(process.execPath, join(bin, 'node'));
  const launch = (file: string, args: string[], env: Record<string, string> = {}) =>
    spawn(file, args, {
      cwd: folder,
      env: { ...process.env, NO_COLOR: '', ...env, PATH: `${bin}${delimiter}${process.env.PATH}` },
    });
  return {
    main,
    folder,
    put: (name, text) => writeFile(join(folder, name), text),
    start: (args, env) => launch(process.execPath, [main, ...args], env),
    run: (args, env) => ended(launch(process.execPath, [main, ...args], env)),
    // bash reads .bashrc when its input is a socket, as pipes of Node are
    shell: (command, env) => ended(launch('bash', ['--norc', '-c', command], env)),
    async remove() {
      await rm(home, { recursive: true });
      await rm(folder, { recursive: true });
    },
  };
}

/** What a process printed and how it ended; killed after `limit` milliseconds. */
export function ended(child: ChildProcess, limit = 60_000): Promise<Ended> {
  return new Promise(done => {
    const text = { out: '', err: '' };
    child.stdout!.on('data', d => {
      text.out += d;
    });
    child.stderr!.on('data', d => {
      text.err += d;
    });
    const timer = setTimeout(() => child.kill('SIGKILL'), limit);
    child.on('close', code => {
      clearTimeout(timer);
      done({ code, ...text });
    });
  });
}
