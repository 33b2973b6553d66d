// Bundles bench/gpu/suite.ts with the kernels it reads into a folder that runs with Node and koffi alone:
//   node scripts/gpu.mjs FOLDER
import { cpSync } from 'node:fs';
import { build } from 'esbuild';

const folder = process.argv[2] ?? 'dist/gpu';
await build({
  entryPoints: ['bench/gpu/suite.ts'],
  bundle: true,
  platform: 'node',
  format: 'esm',
  outfile: `${folder}/suite.mjs`,
  external: ['acorn', 'koffi'],
});
cpSync('src/devices/cuda/kernels', `${folder}/kernels`, { recursive: true });
