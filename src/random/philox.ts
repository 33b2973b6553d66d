/**
 * Philox4x32-10 (Salmon, Moraes, Dror, Shaw, "Parallel random numbers: as easy as 1, 2, 3", SC11): a counter
 * and a key go in, four random 32-bit words come out. There is no state, so the same seed gives the same numbers on
 * every device, in whatever order they are computed.
 *
 * The key is the seed. The counter is
 *
 *     (sample mod 2^32, group of four coordinates + 256·⌊sample / 2^32⌋, iteration, stream),
 *
 * and word j of group g belongs to coordinate 4g + j. Streams keep draws for different purposes apart.
 */
export const MULTIPLIERS = [0xd2511f53, 0xcd9e8d57] as const;
export const WEYL = [0x9e3779b9, 0xbb67ae85] as const;
export const ROUNDS = 10;

/** The stream of the counter, by the purpose of the draw. */
export const STREAM = {
  sample: 0,
  pilot: 1,
  search: 2,
  blocks: 3,
  witness: 4,
  ends: 5,
  probe: 6,
  check: 7,
  events: 8,
  shifts: 9,
} as const;

export type Key = readonly [number, number];
export type Counter = readonly [number, number, number, number];

/** The four random words that belong to a counter. */
export const philox = (counter: Counter, key: Key): Counter => philoxRounds(counter, roundKeys(key));

/** The same with the keys of all rounds. Self-contained: workers run its text. */
export function philoxRounds(counter: Counter, keys: ArrayLike<number>): Counter {
  const [first, second] = [0xd2511f53, 0xcd9e8d57]; // MULTIPLIERS
  /** The upper word of the 64-bit product of two words: products with half a word have 48 bits, which are exact. */
  const highProduct = (a: number, b: number): number =>
    Math.floor((a * (b >>> 16) + Math.floor((a * (b & 0xffff)) / 65536)) / 65536);
  let [c0, c1, c2, c3] = counter;
  for (let k = 0; k < keys.length; k += 2) {
    const [high0, high1] = [highProduct(first, c0), highProduct(second, c2)];
    const [low0, low1] = [Math.imul(first, c0) >>> 0, Math.imul(second, c2) >>> 0];
    c0 = (high1 ^ c1 ^ keys[k]) >>> 0;
    c1 = low1;
    c2 = (high0 ^ c3 ^ keys[k + 1]) >>> 0;
    c3 = low0;
  }
  return [c0, c1, c2, c3];
}

/** The round keys of the last key: many numbers are drawn with one key, and each iteration tells a device its keys. */
let last: { key: Key; keys: number[] } | null = null;

/** The keys of all rounds, two words per round, in a list that nobody changes. */
export function roundKeys(key: Key): number[] {
  if (last?.key[0] !== key[0] || last.key[1] !== key[1])
    last = {
      key,
      keys: Array.from({ length: 2 * ROUNDS }, (_, i) => (key[i % 2] + Math.imul(WEYL[i % 2], i >> 1)) >>> 0),
    };
  return last.keys;
}

/** The key of a seed: its lowest 64 bits. */
export function keyOf(seed: number | bigint): Key {
  const n = BigInt.asUintN(64, BigInt(seed));
  return [Number(n & 0xffffffffn), Number(n >> 32n)];
}

/** The random words for coordinates 4·group to 4·group + 3 of a sample. */
export function wordsOf(sample: number, group: number, iteration: number, stream: number, key: Key): Counter {
  const high = Math.floor(sample / 2 ** 32);
  return philox([sample >>> 0, (group + 256 * high) >>> 0, iteration >>> 0, stream], key);
}

/**
 * The random words for coordinates 4·group to 4·group + 3 of a sample, written into `words`: those of `wordsOf`, several times
 * as fast where many are drawn, since it works on integers of 32 bits and creates no arrays. `keys` are those of all rounds.
 */
export function writeWords(
  words: Uint32Array,
  sample: number,
  group: number,
  iteration: number,
  stream: number,
  keys: ArrayLike<number>,
): void {
  const [multiplier0, multiplier1] = MULTIPLIERS;
  const [a0, b0, a1, b1] = [
    multiplier0 >>> 16,
    multiplier0 & 0xffff,
    multiplier1 >>> 16,
    multiplier1 & 0xffff,
  ];
  let c0 = sample | 0;
  let c1 = (group + 256 * Math.floor(sample / 2 ** 32)) | 0;
  let c2 = iteration | 0;
  let c3 = stream | 0;
  for (let k = 0; k < 2 * ROUNDS; k += 2) {
    // the upper words of the products, by halves: no partial sum exceeds 32 bits
    let high = c0 >>> 16;
    let low = c0 & 0xffff;
    let middle = (Math.imul(a0, low) + (Math.imul(b0, low) >>> 16)) | 0;
    let carry = (Math.imul(b0, high) + (middle & 0xffff)) | 0;
    const high0 = (Math.imul(a0, high) + (middle >>> 16) + (carry >>> 16)) | 0;
    high = c2 >>> 16;
    low = c2 & 0xffff;
    middle = (Math.imul(a1, low) + (Math.imul(b1, low) >>> 16)) | 0;
    carry = (Math.imul(b1, high) + (middle & 0xffff)) | 0;
    const high1 = (Math.imul(a1, high) + (middle >>> 16) + (carry >>> 16)) | 0;
    const low0 = Math.imul(multiplier0, c0);
    const low1 = Math.imul(multiplier1, c2);
    c0 = high1 ^ c1 ^ keys[k];
    c1 = low1;
    c2 = high0 ^ c3 ^ keys[k + 1];
    c3 = low0;
  }
  words[0] = c0;
  words[1] = c1;
  words[2] = c2;
  words[3] = c3;
}
