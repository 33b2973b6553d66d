import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { LongestFirst } from './tests/order.ts';

export default defineConfig({
  resolve: { alias: { quadrille: fileURLToPath(new URL('src/index.ts', import.meta.url)) } },
  test: {
    include: ['tests/**/*.test.ts'],
    testTimeout: 120_000,
    // the default leaves a core to the main process, which is half of a machine with two and idle while tests run
    maxWorkers: '100%',
    sequence: { sequencer: LongestFirst },
  },
});
