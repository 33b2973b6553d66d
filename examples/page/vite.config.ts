/** `quadrille` is the source beside this page; in a project of your own it is the package, and no configuration is needed. */
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  resolve: { alias: { quadrille: fileURLToPath(new URL('../../src/index.ts', import.meta.url)) } },
});
