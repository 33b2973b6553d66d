/** The float32 math library keeps its promises; `MANY=1048576 npx vitest run tests/wgsl/accuracy` measures at more points. */
import { describe, expect, test } from 'vitest';
import { absent } from '../webgpu/swiftshader.ts';
import { measure, PROMISES } from './accuracy.ts';

describe.skipIf(absent)('float32 functions on SwiftShader', async () => {
  const count = Number(process.env.MANY ?? 20_000);
  const measured = absent ? new Map() : await measure(Object.keys(PROMISES), count);
  if (process.env.MANY)
    for (const [fn, { ulp, at }] of measured) console.log(fn, ulp.toFixed(2), `at ${at.join(', ')}`);
  test.each(Object.entries(PROMISES))(
    '%s is within %s ulp, with the special values of JavaScript',
    (fn, ulp) => {
      const { ulp: worst, at, wrong } = measured.get(fn)!;
      expect(wrong).toEqual([]);
      expect(worst, `at ${at.join(', ')}`).toBeLessThanOrEqual(ulp);
    },
  );
});
