/** Runs a small program that imports `quadrille` in a process of its own, bundled like scripts/run.mjs does. */
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** How a process ended: `code` is null when it had to be killed, because it did not end by itself. */
export interface Ended {
  code: number | null;
  out: string;
  err: string;
}

/** Ends by itself, or is killed after `limit` milliseconds. `flags` are for node, `env` is its environment. */
export async function runScript(
  contents: string,
  limit = 30_000,
  flags: readonly string[] = [],
  env: NodeJS.ProcessEnv = process.env,
): Promise<Ended> {
  // inside the repository, where node finds the packages
  await mkdir(join(root, '.cache'), { recursive: true });
  const folder = await mkdtemp(join(root, '.cache', 'script-'));
  try {
    const outfile = join(folder, 'script.mjs');
    await build({
      stdin: { contents, resolveDir: root, loader: 'ts' },
      outfile,
      bundle: true,
      platform: 'node',
      format: 'esm',
      target: 'es2022',
      packages: 'external',
      alias: { quadrille: resolve(root, 'src/index.ts') },
      logLevel: 'silent',
    });
    return await ended(outfile, limit, flags, env);
  } finally {
    await rm(folder, { recursive: true });
  }
}

function ended(
  file: string,
  limit: number,
  flags: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<Ended> {
  return new Promise(done => {
    const child = spawn(process.execPath, [...flags, file], { env });
    const text = { out: '', err: '' };
    child.stdout.on('data', d => {
      text.out += d;
    });
    child.stderr.on('data', d => {
      text.err += d;
    });
    const timer = setTimeout(() => child.kill('SIGKILL'), limit);
    child.on('close', code => {
      clearTimeout(timer);
      done({ code, ...text });
    });
  });
}
