/** The fast form of Philox4x32-10 against the readable one, which Random123's known answers test. */
import { expect, test } from 'vitest';
import { keyOf, roundKeys, wordsOf, writeWords } from '../../src/random/philox.ts';

test('writeWords has the bits of wordsOf at 20,000 counters, also beyond 2^32 samples', () => {
  const words = new Uint32Array(4);
  for (const seed of [1n, 0x9e3779b97f4a7c15n, 2n ** 64n - 1n]) {
    const key = keyOf(seed);
    const keys = Uint32Array.from(roundKeys(key));
    for (let i = 0; i < 20_000 / 3; i++) {
      const sample = i % 2 ? i * 7919 : 2 ** 32 * (i % 100) + 4_294_967_295 - i;
      writeWords(words, sample, i % 250, i * 65537, i % 9, keys);
      expect([...words]).toEqual([...wordsOf(sample, i % 250, i * 65537, i % 9, key)]);
    }
  }
});
