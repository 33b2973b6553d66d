/** What kernels of lattices are told about the ends of ranges. */
import { expect, test } from 'vitest';
import { fitFor } from '../../src/devices/cuda/sample-layout.ts';
import { drawShifts, latticeWords } from '../../src/random/lattice.ts';
import { uniformMap } from '../../src/tasks/map.ts';
import type { SampleTask } from '../../src/tasks/sample.ts';
import { placeIn, slopesOf } from '../../src/tasks/smooth-map.ts';

function latticeTask(edges: Float64Array, bins: number): SampleTask {
  const words = latticeWords(1, drawShifts([1, 2], 0, 1, 0, 1), 10, 'whole');
  const lattice = { ...words, folded: false, slopes: slopesOf(edges, 1) };
  const task = { key: [1, 2] as [number, number], iteration: 0, stream: 0, unit: 1, adapt: null };
  return { ...task, bins, edges, strata: [1], counts: 1024, lattice };
}
const isGuarded = (edges: Float64Array, bins = edges.length - 1) =>
  fitFor(latticeTask(edges, bins), 2 ** 16).kernels.GUARDED;

test('points of lattices need no guard at the end of [0, 1]', () => {
  expect(isGuarded(uniformMap([[0, 1]], 64))).toBe(false);
  expect(isGuarded(uniformMap([[-1e-8, 0]], 64))).toBe(false);
});

test('they do where the range or the last bin is a few last digits wide, and where bins are no power of two', () => {
  expect(isGuarded(uniformMap([[1, 1 + 2 ** -45]], 64))).toBe(true);
  const narrow = uniformMap([[0, 1]], 64);
  narrow[63] = 1 - 2 ** -50;
  expect(isGuarded(narrow)).toBe(true);
  expect(isGuarded(uniformMap([[0, 1]], 60))).toBe(true);
});

test('where there is no guard the last point of random maps lies before the end', () => {
  for (let i = 0; i < 2000; i++) {
    const low = Math.tan(i);
    const edges = uniformMap([[low, low + 2 ** -(i % 50)]], 64);
    edges[63] = edges[64] - (edges[64] - edges[63]) * 2 ** -((7 * i) % 48);
    if (isGuarded(edges)) continue;
    const s = 1 - 32 * 2 ** -32;
    const slopes = slopesOf(edges, 1);
    const { x } = placeIn(edges.slice(0), slopes, 63, s);
    const [m, M, width] = [slopes[63], slopes[64], edges[64] - edges[63]];
    const a = m + M - 2 * width;
    const free = edges[63] + s * (m + s * (width - m - a + s * a));
    expect(x).toBeLessThan(edges[64]);
    expect(free).toBeLessThan(edges[64]);
  }
});
