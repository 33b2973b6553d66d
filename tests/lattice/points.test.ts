/** Points of lattices: the words, their halves, the fold, the map. */
import { describe, expect, test } from 'vitest';
import { component, drawShifts, latticeWord, latticeWords } from '../../src/random/lattice.ts';
import { curveOf, placeIn, slopesOf } from '../../src/tasks/smooth-map.ts';

const shifts = drawShifts([1, 2], 0, 3, 0, 2);

/** All words of an axis of a shift. */
function wordsOf(log2: number, half: 'whole' | 'new half', shift: number, axis: number): number[] {
  const words = { ...latticeWords(3, shifts, log2, half), folded: false };
  return Array.from({ length: 2 ** log2 }, (_, i) => latticeWord(words, shift, axis, shift * 2 ** log2 + i));
}

describe('lattices', () => {
  test('point k of n has the coordinates k·z/n + shift', () => {
    for (const axis of [0, 1, 2])
      wordsOf(6, 'whole', 1, axis).forEach((word, k) => {
        const turn = (BigInt(k) * BigInt(component(axis)) * 2n ** 26n + BigInt(shifts[3 + axis])) % 2n ** 32n;
        expect(word).toBe(Number(turn));
      });
  });

  test('n points and the new half are the lattice of 2n points, in every shift', () => {
    for (const shift of [0, 1]) {
      const both = [...wordsOf(8, 'whole', shift, 2), ...wordsOf(8, 'new half', shift, 2)].sort(
        (a, b) => a - b,
      );
      expect(both).toEqual(wordsOf(9, 'whole', shift, 2).sort((a, b) => a - b));
      expect(new Set(both).size).toBe(512);
    }
  });

  test('the fold takes every word once: those of a half, and their complements', () => {
    const steps = Uint32Array.of(1);
    const folded = (word: number) =>
      latticeWord({ steps, shifts: Uint32Array.of(word), folded: true }, 0, 0, 0);
    expect([0, 1, 2 ** 31 - 1, 2 ** 31, 2 ** 32 - 1].map(folded)).toEqual([
      0,
      2,
      2 ** 32 - 2,
      2 ** 32 - 1,
      1,
    ]);
  });

  test('all components are odd, also behind the table: every axis has n different places', () => {
    for (let axis = 0; axis < 100; axis++) expect(component(axis) % 2).toBe(1);
  });
});

describe('the smooth map', () => {
  const edges = Float64Array.of(-1, -0.2, 0, 0.05, 0.06, 2, 5);
  const slopes = slopesOf(edges, 1);

  test('meets the edges, rises everywhere, and has a continuous derivative', () => {
    for (let bin = 0; bin < 6; bin++) {
      const [start, end] = [placeIn(edges, slopes, bin, 0), placeIn(edges, slopes, bin, 1)];
      expect(start.x).toBe(edges[bin]);
      expect(end.x).toBeCloseTo(edges[bin + 1], 14);
      expect(start.width).toBe(slopes[bin]);
      expect(end.width).toBeCloseTo(slopes[bin + 1], 13);
      for (let s = 0; s < 1; s += 1 / 64)
        expect(placeIn(edges, slopes, bin, s).width).toBeGreaterThanOrEqual(-1e-15);
    }
  });

  test('the Jacobian is the derivative', () => {
    for (let bin = 0; bin < 6; bin++)
      for (const s of [0.2, 0.5, 0.9]) {
        const at = (t: number) => placeIn(edges, slopes, bin, t);
        expect((at(s + 1e-6).x - at(s - 1e-6).x) / 2e-6).toBeCloseTo(at(s).width, 8);
      }
  });

  test('a uniform map stays uniform, and one bin is a line', () => {
    const even = Float64Array.of(0, 0.25, 0.5, 0.75, 1);
    expect([...slopesOf(even, 1)]).toEqual([0.25, 0.25, 0.25, 0.25, 0.25]);
    expect(curveOf(Float64Array.of(2, 5), slopesOf(Float64Array.of(2, 5), 1), 0)).toEqual([2, 3, 0, 0]);
  });
});
