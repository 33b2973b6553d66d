/** How samples are cut into pieces and groups, against a list of all pieces. */
import { describe, expect, test } from 'vitest';
import { groupsOf, PIECE, type Place, pieceFrom, piecesOf, placeFinder } from '../../src/tasks/pieces.ts';
import { listed, plan } from '../../src/tasks/sample.ts';
import { Random } from '../compiler/random.ts';

/** Samples of the pieces of a cube: 256 each, unless that leaves one or none for the last. */
function sizesOf(n: number): number[] {
  const sizes: number[] = [];
  for (let left = n; left > 0; left -= sizes.at(-1)!)
    sizes.push(left <= PIECE ? left : left === PIECE + 1 ? PIECE - 2 : PIECE);
  return sizes;
}

/** Where each piece of all cubes begins, and the end of all. */
function everyPiece(counts: ArrayLike<number>): Place[] {
  const places: Place[] = [];
  let sample = 0;
  for (let cube = 0; cube < counts.length; cube++) {
    let offset = 0;
    for (const size of sizesOf(counts[cube])) {
      places.push({ cube, offset, sample: sample + offset, piece: places.length });
      offset += size;
    }
    sample += counts[cube];
  }
  return [...places, { cube: counts.length, offset: 0, sample, piece: places.length }];
}

const EDGES = [2, 3, 254, 255, 256, 257, 258, 259, 511, 512, 513, 514, 515, 767, 769, 4097, 70_001];

/** Samples of so many cubes: small ones, and some around multiples of a piece. */
function randomCounts(cubes: number, seed: number): Uint32Array {
  const random = new Random(seed);
  return Uint32Array.from({ length: cubes }, () =>
    random.chance(0.3) ? EDGES[random.below(EDGES.length)] : 2 + random.below(600),
  );
}

const LISTS = [
  ...EDGES.map(n => Uint32Array.of(n)),
  Uint32Array.from(EDGES),
  Uint32Array.from(EDGES).reverse(),
  ...Array.from({ length: 20 }, (_, i) => randomCounts(1 + 3 * i, i)),
];
const UNIFORM = EDGES.map(n => new Uint32Array(n > 4096 ? 3 : 40).fill(n));

/** Finders of the places of cubes: with a number for all of them where they are alike, and with a list. */
const CASES = [
  ...LISTS.map(each => ({ each, counts: listed(each) as { each: Uint32Array } })),
  ...UNIFORM.flatMap(each => [
    { each, counts: each[0] },
    { each, counts: { each } },
  ]),
];

describe('a cube', () => {
  test('no piece has a single sample or more than 256, from 2 to 2000 samples', () => {
    for (let n = 2; n <= 2000; n++) {
      const starts = [0];
      while (starts.at(-1)! < n) starts.push(pieceFrom(n, starts.at(-1)! + 1));
      const sizes = starts.slice(1).map((s, i) => s - starts[i]);
      expect(sizes, `${n} samples`).toEqual(sizesOf(n));
      expect(sizes).toHaveLength(piecesOf(n));
      expect(Math.min(...sizes)).toBeGreaterThan(1);
      expect(Math.max(...sizes)).toBeLessThanOrEqual(PIECE);
    }
  });
});

describe('placeFinder', () => {
  test('finds the first piece that does not begin before a sample, or the end of all', () => {
    for (const { each, counts } of CASES) {
      const pieces = everyPiece(each);
      const total = pieces.at(-1)!.sample;
      const random = new Random(total);
      const asked = [
        ...pieces.flatMap(p => [p.sample - 1, p.sample, p.sample + 1]),
        ...Array.from({ length: 50 }, () => random.below(total + 1)),
        total + 5000,
      ]
        .filter(s => s >= 0)
        .sort((a, b) => a - b);
      const find = placeFinder(counts, each.length);
      for (const sample of asked) {
        const want = pieces.find(p => p.sample >= sample) ?? pieces.at(-1);
        expect(find(sample), `${each}: sample ${sample}`).toEqual(want);
      }
    }
  });
  test('cubes that are alike may be asked for in any order', () => {
    for (const each of UNIFORM) {
      const pieces = everyPiece(each);
      const find = placeFinder(each[0], each.length);
      for (const p of pieces.toReversed()) expect(find(p.sample)).toEqual(p);
    }
  });
});

describe('groups', () => {
  test('every piece belongs to exactly one group: that in which its first sample is', () => {
    for (const { each, counts } of CASES) {
      const pieces = everyPiece(each);
      const { groups, size } = plan({
        strata: [each.length],
        counts: typeof counts === 'number' ? counts : listed(each),
      });
      const find = placeFinder(counts, each.length);
      const borders = Array.from({ length: groups + 1 }, (_, g) => find(g * size));
      expect([borders[0].piece, borders[groups]]).toEqual([0, pieces.at(-1)]);
      for (let g = 0; g < groups; g++)
        for (let p = borders[g].piece; p < borders[g + 1].piece; p++)
          expect(Math.floor(pieces[p].sample / size)).toBe(g);
    }
  });
  test('their size is a power of two between 4096 and 65536, about a 64th of all', () => {
    let before = 0;
    for (let samples = 2; samples < 1e13; samples = Math.ceil(1.07 * samples)) {
      const size = groupsOf(samples).size;
      expect(Number.isInteger(Math.log2(size))).toBe(true);
      expect(size).toBeGreaterThanOrEqual(Math.max(4096, before));
      expect(size).toBeLessThanOrEqual(65_536);
      if (size > 4096 && size < 65_536) {
        expect(samples / size).toBeGreaterThan(64 / Math.SQRT2);
        expect(samples / size).toBeLessThan(65 * Math.SQRT2);
      }
      before = size;
    }
    expect(before).toBe(65_536);
  });
});
