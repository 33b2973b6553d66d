/** Knobs that make no sense are refused before any work, with the knob, the value and the remedy. */
import { describe, expect, test } from 'vitest';
import { integrate } from '../../src/index.ts';

const withKnobs = (zmc: unknown) => integrate(([x]) => x, { dims: 1, method: 'zmc', zmc: zmc as never });

describe('knobs', () => {
  const wrong: [string, unknown[], string][] = [
    ['blocks', [0, -1, 2.5, Number.NaN, Infinity, '3', null, true, [3], 3n], 'pass a whole number from 1 on'],
    ['samples', [0, 1, -1, 2.5, Number.NaN, Infinity, '3', null, true, 3n], 'pass a whole number from 2 on'],
    ['trials', [0, 1, 2.5, Number.NaN, Infinity, '3', null, true], 'pass a whole number from 2 on'],
    ['sigma', [-1, Number.NaN, Infinity, '3', null, true, [5], 5n], 'pass a number from 0 on'],
    ['depth', [0, -1, 1.5, Number.NaN, Infinity, '3', null, true], 'pass a whole number from 1 on'],
  ];
  test.each(wrong.flatMap(([name, values, remedy]) => values.map(v => [name, v, remedy] as const)))(
    'zmc.%s: %o is refused',
    async (name, value, remedy) => {
      const e: Error = await withKnobs({ [name]: value }).then(
        r => expect.fail(`${r}`),
        e => e,
      );
      expect(e).toBeInstanceOf(TypeError);
      expect(e.message).toContain(`\`zmc.${name}\` is `);
      expect(e.message).toContain(remedy);
    },
  );
  test('an unknown knob names those that are known', async () => {
    await expect(withKnobs({ block: 3 })).rejects.toThrow(
      /unknown option `zmc.block`; .*blocks, samples, trials, sigma, depth/,
    );
  });
  test.each([null, 3, 'deep'])('%o is no set of knobs', async knobs => {
    await expect(withKnobs(knobs)).rejects.toThrow(/`zmc` is .*pass an object with blocks, samples/);
  });
  test('a knob that is undefined is left to the method', async () => {
    const given = await withKnobs({
      blocks: undefined,
      samples: undefined,
      trials: undefined,
      sigma: undefined,
      depth: undefined,
    });
    const left = await withKnobs({});
    expect([given.value, given.error]).toEqual([left.value, left.error]);
  });
  test.each([
    { blocks: 1, samples: 2, trials: 2, sigma: 0, depth: 1 },
    { blocks: 1, samples: 2, trials: 2, sigma: 0, depth: 1000 },
    { sigma: 1e300 },
    { sigma: 0.5 },
  ])('%o is allowed, and true within 4.5 errors', async zmc => {
    const r = await integrate(([x]) => x, { dims: 1, method: 'zmc', zmc, relTol: 1e-2, maxEvaluations: 1e5 });
    expect(Math.abs(r.value - 0.5)).toBeLessThanOrEqual(4.5 * r.error);
  });
});
