/** A TypeScript file of the tests as one JavaScript file, which a process of its own can run. */
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

export async function bundled(name: string): Promise<string> {
  mkdirSync(here('../../.cache/webgpu'), { recursive: true });
  const outfile = here(`../../.cache/webgpu/${name}.mjs`);
  await build({
    entryPoints: [here(`${name}.ts`)],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    external: ['webgpu', 'koffi', '@nats-io/*'],
    logLevel: 'silent',
  });
  return outfile;
}
