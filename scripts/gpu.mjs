// Bundles bench/gpu/suite.ts, bench/gpu/fresh.ts, bench/claims.ts and bench/cluster.ts with the kernels they read into a folder that
// runs with Node, koffi and webgpu alone:
//   node scripts/gpu.mjs FOLDER
import { cpSync } from 'node:fs';
import { build } from 'esbuild';

const folder = process.argv[2] ?? 'dist/gpu';
await build({
  entryPoints: {
    suite: 'bench/gpu/suite.ts',
    fresh: 'bench/gpu/fresh.ts',
    claims: 'bench/claims.ts',
    cluster: 'bench/cluster.ts',
  },
  bundle: true,
  platform: 'node',
  format: 'esm',
  outdir: folder,
  outExtension: { '.js': '.mjs' },
  external: ['koffi', 'webgpu'],
  // the packages of NATS are CommonJS, and ask for modules of Node
  banner: {
    js: "import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url);",
  },
});
cpSync('src/devices/cuda/kernels', `${folder}/kernels`, { recursive: true });
