// Runs a TypeScript file of this repository: node scripts/run.mjs FILE [ARGUMENTS]. `quadrille` means src/.
import { spawnSync } from 'node:child_process';
import { cpSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { build } from 'esbuild';

const [file, ...args] = process.argv.slice(2);
const outfile = `.cache/run/${basename(file, '.ts')}.mjs`;
await build({
  entryPoints: [file],
  outfile,
  bundle: true,
  platform: 'node',
  format: 'esm',
  target: 'es2022',
  packages: 'external',
  alias: { quadrille: resolve('src/index.ts') },
  logLevel: 'warning',
});
// where the CUDA device looks for them
cpSync('src/devices/cuda/kernels', '.cache/run/kernels', { recursive: true });
process.exitCode = spawnSync(process.execPath, [outfile, ...args], { stdio: 'inherit' }).status ?? 1;
