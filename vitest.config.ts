import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: { alias: { quadrille: fileURLToPath(new URL('src/index.ts', import.meta.url)) } },
  test: { include: ['tests/**/*.test.ts'], testTimeout: 120_000 },
});
