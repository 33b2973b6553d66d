/** Maps that kernels hold in workgroup memory as float32 edges: the sums are those of the CPU, and maps with bins too narrow for it are not held. */
import { describe, expect, test } from 'vitest';
import { bundled } from './bundled.ts';
import { absent, runOnSwiftShader } from './swiftshader.ts';

describe.skipIf(absent)('on SwiftShader', () => {
  test('the sums of the CPU to 1e-5; a map is held where its bins are wider than 2^-13 of its largest edge', async () => {
    const printed = await runOnSwiftShader(await bundled('held-main'));
    const found = printed
      .trim()
      .split('\n')
      .map(line => JSON.parse(line));
    expect(found.map(({ held }) => held)).toEqual([1001, 2 * 641, 3 * 1025, 4 * 501, 6 * 65, 0, 3 * 8]);
    for (const { task, sum, variance, evaluations } of found) {
      expect(sum, `${task}: sum`).toBeLessThan(1e-5);
      expect(variance, `${task}: variance`).toBeLessThan(1e-4);
      expect(evaluations, task).toBe(0);
    }
  }, 600_000);
});
