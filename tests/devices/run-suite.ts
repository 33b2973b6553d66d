/** The device suite as tests. Each device has a file of its own, so that they run side by side. */
import { afterAll, describe, test } from 'vitest';
import { SUITE, type Tried } from './suite.ts';

/** Runs all checks on a device; `absent` says why there is none. */
export function runSuite(name: string, open: () => Tried, absent?: string): void {
  describe(name, () => {
    let tried: Tried | null = null;
    afterAll(() => tried?.device.close());
    test.skipIf(absent).each(SUITE.map(c => [c.name, c] as const))('%s', async (_, check) => {
      tried ??= open();
      await check.run(tried);
    });
  });
}
