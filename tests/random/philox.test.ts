/** Known answers from Random123's kat_vectors (philox4x32, 10 rounds), the authors' own test file. */
import { describe, expect, test } from 'vitest';
import { type Counter, type Key, keyOf, philox } from '../../src/random/philox.ts';

const known: [Counter, Key, Counter][] = [
  [
    [0, 0, 0, 0],
    [0, 0],
    [0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8],
  ],
  [
    [0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff],
    [0xffffffff, 0xffffffff],
    [0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd],
  ],
  [
    [0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344],
    [0xa4093822, 0x299f31d0],
    [0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1],
  ],
];

describe('philox4x32-10', () => {
  test.each(known)('gives the known answer for counter %j', (counter, key, words) => {
    expect(philox(counter, key)).toEqual(words);
  });

  test('the key of a seed is its lowest 64 bits, negative and bigint ones too', () => {
    expect(keyOf(5)).toEqual([5, 0]);
    expect(keyOf(2n ** 40n + 3n)).toEqual([3, 256]);
    expect(keyOf(-1)).toEqual([0xffffffff, 0xffffffff]);
  });
});
