/** Neighbours of regions, against a search through all of them; and what a look across borders finds. */
import { describe, expect, test } from 'vitest';
import { Neighbours } from '../../src/methods/cubature/neighbours.ts';
import { emptyRegions, type Ranges } from '../../src/methods/cubature/regions.ts';
import { RegionStore } from '../../src/methods/cubature/store.ts';
import { Random } from '../compiler/random.ts';

/** A store after so many halvings of random regions along random axes. */
function division(ranges: Ranges, halvings: number, seed: number): RegionStore {
  const dims = ranges.length;
  const random = new Random(seed);
  const store = new RegionStore(dims);
  const whole = emptyRegions(dims, 1);
  ranges.forEach(([low, high], d) => {
    whole.centres[d] = low + (high - low) / 2;
  });
  const filled = (list: typeof whole) => ({
    ...list,
    values: new Float64Array(list.count).fill(1),
    errors: new Float64Array(list.count),
    axes: Uint8Array.from({ length: list.count }, () => random.below(dims)),
  });
  store.add(filled(whole), 0);
  for (let i = 0; i < halvings; i++) {
    // mostly the last ones, so that some become deep
    const which = random.below(4) ? store.count - 1 : random.below(store.count);
    const halves = filled(store.halves([which], ranges));
    store.put(which, halves, 0);
    store.add(halves, 1);
  }
  return store;
}

describe.each([1, 2, 3, 5])('%i dimensions', dims => {
  test.each([
    ['the unit cube', [0, 1]],
    ['a box', [-3, 7.5]],
    ['backwards', [2, -1]],
  ] as const)('in %s the region behind each face contains the point behind it', (_, range) => {
    const ranges: Ranges = Array(dims).fill(range);
    const store = division(ranges, 40 * dims, dims);
    const all = Uint32Array.from({ length: store.count }, (_, i) => i);
    const around = new Neighbours(store, ranges, all);
    const half = (r: number, d: number) => ((range[1] - range[0]) / 2) * 2 ** -store.level(r, d);
    let inside = 0;
    for (let face = 0; face < around.faces; face++) {
      const region = around.region(face);
      const point = ranges.map((_, d) => {
        const sign = around.sign(face, d);
        return store.centre(region, d) + (sign === 0 ? 0.06 : sign * (1 + 0.06)) * half(region, d);
      });
      const homes = [...all].filter(r =>
        point.every((x, d) => Math.abs(x - store.centre(r, d)) < Math.abs(half(r, d))),
      );
      expect(homes.length).toBeLessThanOrEqual(1);
      expect(around.homes[face]).toBe(homes[0] ?? -1);
      if (homes.length > 0) inside++;
    }
    expect(inside).toBeGreaterThan(store.count / 2);
  });
});
