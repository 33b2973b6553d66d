/** What a small run costs besides arithmetic: each submission and each wait is a way to the GPU and back, 0.2 ms and more. On SwiftShader. */
import { expect, test } from 'vitest';
import { bundled } from './bundled.ts';
import { absent, runOnSwiftShader } from './swiftshader.ts';

test.skipIf(absent)(
  '20 iterations of which 10 adapt are 13 submissions: pilot, each that adapts, all that measure, the noise; a second run makes no buffers',
  async () => {
    const printed = await runOnSwiftShader(await bundled('waits-main'));
    const [first, second] = printed
      .trim()
      .split('\n')
      .map(line => JSON.parse(line));
    expect(first).toMatchObject({ iterations: 20, submissions: 13, waits: 13 });
    expect(second).toMatchObject({
      iterations: 20,
      submissions: 13,
      waits: 13,
      buffers: 0,
      bindGroups: 0,
      evaluations: first.evaluations,
    });
  },
  600_000,
);
