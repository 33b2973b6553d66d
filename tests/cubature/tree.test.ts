/** The region behind a face, by the tree of halvings, against a search through all regions. */
import { describe, expect, test } from 'vitest';
import { emptyRegions } from '../../src/tasks/pool/regions.ts';
import { RegionStore } from '../../src/tasks/pool/store.ts';
import { SplitTree } from '../../src/tasks/pool/tree.ts';
import type { Ranges } from '../../src/tasks/region.ts';
import { Random } from '../compiler/random.ts';

/** A store after so many halvings of random regions along random axes. */
function division(ranges: Ranges, halvings: number, seed: number) {
  const dims = ranges.length;
  const random = new Random(seed);
  const store = new RegionStore(dims);
  const tree = new SplitTree();
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
    const axis = store.axis(which);
    const first = tree.split(store.nodes[which], axis, store.centre(which, axis));
    store.put(which, halves, 0, first);
    store.add(halves, 1, first + 1);
  }
  return { store, tree };
}

describe.each([1, 2, 3, 5])('%i dimensions', dims => {
  test.each([
    ['the unit cube', [0, 1]],
    ['a box', [-3, 7.5]],
  ] as const)('in %s the leaf behind each face is the region with the point behind it', (_, range) => {
    const ranges: Ranges = Array(dims).fill(range);
    const { store, tree } = division(ranges, 40 * dims, dims);
    const all = Array.from({ length: store.count }, (_, i) => i);
    const half = (r: number, d: number) => ((range[1] - range[0]) / 2) * 2 ** -store.level(r, d);
    let inside = 0;
    for (const region of all) {
      const beside = Float64Array.from(ranges, (_, d) => store.centre(region, d) + 0.06 * half(region, d));
      const behind = new Int32Array(2 * dims);
      tree.behind(store.nodes[region], beside, behind);
      for (let axis = 0; axis < dims; axis++) {
        for (const side of [-1, 1] as const) {
          const point = beside.slice();
          point[axis] = store.centre(region, axis) + side * 1.000001 * half(region, axis);
          const home = all.find(r =>
            point.every((x, d) => Math.abs(x - store.centre(r, d)) < Math.abs(half(r, d))),
          );
          const leaf = behind[2 * axis + (side > 0 ? 1 : 0)];
          expect(leaf < 0 ? undefined : all.find(r => store.nodes[r] === leaf)).toBe(home);
          if (home !== undefined) inside++;
        }
      }
    }
    expect(inside).toBeGreaterThan(store.count / 2);
  });
});
