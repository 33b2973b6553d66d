/** Regions and what is stored of them, their errors, and sums. */
import { describe, expect, test } from 'vitest';
import { Cubature } from '../../src/methods/cubature/cubature.ts';
import { Sum, twoLevelErrors } from '../../src/tasks/pool/errors.ts';
import { canSplit, emptyRegions, type Regions, uniformSplit } from '../../src/tasks/pool/regions.ts';
import { RegionStore } from '../../src/tasks/pool/store.ts';
import type { Ranges } from '../../src/tasks/region.ts';
import { loadRule } from '../../src/tasks/rules.ts';
import { Random } from '../compiler/random.ts';

/** A list as it comes back from an evaluation: value i + 1/2, error i, the axes in turn. */
function evaluated(regions: Regions, dims: number): Regions {
  const { count } = regions;
  regions.values = Float64Array.from({ length: count }, (_, i) => i + 0.5);
  regions.errors = Float64Array.from({ length: count }, (_, i) => i);
  regions.axes = Uint8Array.from({ length: count }, (_, i) => i % dims);
  return regions;
}

/** Borders of a region along an axis. */
function borders({ centres, levels, count }: Regions, ranges: Ranges, d: number, i: number) {
  const half = ((ranges[d][1] - ranges[d][0]) / 2) * 2 ** -levels[d * count + i];
  return [centres[d * count + i] - half, centres[d * count + i] + half];
}

describe('uniformSplit', () => {
  const dyadic: Ranges = [
    [-1, 3],
    [0.25, 0.75],
    [16, 17],
  ];
  test.each([0, 1, 2, 3])('level %i: 8^level regions meet exactly, from end to end', level => {
    const regions = uniformSplit(dyadic, level);
    const parts = 2 ** level;
    expect(regions.count).toBe(8 ** level);
    expect(regions.levels.every(l => l === level)).toBe(true);
    const seen = new Set<string>();
    for (let i = 0; i < regions.count; i++) {
      const box = dyadic.map((_, d) => borders(regions, dyadic, d, i));
      seen.add(`${box}`);
      dyadic.forEach(([low, high], d) => {
        // the first axis fastest
        const k = Math.floor(i / parts ** d) % parts;
        const width = (high - low) / parts;
        expect(box[d]).toEqual([low + k * width, low + (k + 1) * width]);
      });
    }
    expect(seen.size).toBe(regions.count);
  });
  test('ranges that are not dyadic: volumes add up to 1e-15, borders meet to two last bits, nothing sticks out', () => {
    const ranges: Ranges = [
      [0.1, 0.3],
      [-7.7, 1e-3],
    ];
    const regions = uniformSplit(ranges, 4);
    for (let d = 0; d < 2; d++) {
      const [low, high] = ranges[d];
      const edges = Array.from({ length: 16 }, (_, k) => borders(regions, ranges, d, k * 16 ** d));
      const size = Math.max(Math.abs(low), Math.abs(high)) * 2 ** -51;
      expect(Math.abs(edges[0][0] - low)).toBeLessThanOrEqual(size);
      expect(Math.abs(edges[15][1] - high)).toBeLessThanOrEqual(size);
      for (let k = 1; k < 16; k++) expect(Math.abs(edges[k][0] - edges[k - 1][1])).toBeLessThanOrEqual(size);
    }
  });
});

describe('halves', () => {
  test('along the region’s own axis alone; they share its border exactly and are neighbours in the list', () => {
    const ranges: Ranges = [
      [-1, 3],
      [0.25, 0.75],
      [16, 17],
    ];
    const list = evaluated(uniformSplit(ranges, 1), 3);
    const store = new RegionStore(3);
    for (let i = 0; i < list.count; i++) store.add(list, i);
    const which = [6, 0, 4, 3];
    const halves = store.halves(which, ranges);
    expect(halves.count).toBe(8);
    which.forEach((region, p) => {
      for (let d = 0; d < 3; d++) {
        const [low, high] = borders(list, ranges, d, region);
        const [left, right] = [0, 1].map(k => borders(halves, ranges, d, 2 * p + k));
        const middle = list.axes[region] === d ? (low + high) / 2 : null;
        expect(left).toEqual([low, middle ?? high]);
        expect(right).toEqual([middle ?? low, high]);
      }
    });
  });
  test('halved 40 times in turn, the half-width is the range’s times a power of two', () => {
    const ranges: Ranges = [[0.1, 0.7]];
    const store = new RegionStore(1);
    let list = evaluated(uniformSplit(ranges, 0), 1);
    store.add(list, 0);
    for (let level = 1; level <= 40; level++) {
      list = evaluated(store.halves([0], ranges), 1);
      const apart = list.centres[1] - list.centres[0];
      expect(Math.abs(apart - 0.6 * 2 ** -level)).toBeLessThanOrEqual(2 ** -52);
      store.put(0, list, level % 2);
    }
    expect(list.levels[0]).toBe(40);
  });
});

describe('canSplit', () => {
  /** How often the region at an end can be halved. */
  function depth(range: [number, number], side: 0 | 1): number {
    const store = new RegionStore(1);
    let list = evaluated(uniformSplit([range], 0), 1);
    store.add(list, 0);
    for (let n = 0; n < 1000; n++) {
      if (!canSplit(list, n === 0 ? 0 : side, [range])) return n;
      list = evaluated(store.halves([0], [range]), 1);
      expect(list.centres[0]).toBeLessThan(list.centres[1]);
      store.put(0, list, side);
    }
    return Infinity;
  }
  test.each<[[number, number], 0 | 1, number, number]>([
    [[0, 1], 0, 249, 249],
    [[0, 1], 1, 49, 53],
    [[-1e-300, 1e-300], 0, 40, 60],
    [[1e16, 1e16 + 2], 0, 0, 0],
    [[0.1, 0.1 + 1e-15], 0, 1, 6],
    [[1, 1 + 2 ** -52], 0, 0, 0],
    [[-8e307, 8e307], 1, 49, 53],
  ])('%j, side %i: halves are apart each time, %i to %i times', (range, side, least, most) => {
    const n = depth(range, side);
    expect(n).toBeGreaterThanOrEqual(least);
    expect(n).toBeLessThanOrEqual(most);
  });
});

describe('RegionStore', () => {
  const ranges: Ranges = [
    [0, 1],
    [0, 1],
  ];
  /** 1024 regions, each of which is known by its value. */
  function full(): { store: RegionStore; list: Regions } {
    const list = evaluated(uniformSplit(ranges, 5), 2);
    const store = new RegionStore(2, 1, 16); // has to grow
    for (let i = 0; i < list.count; i++) expect(store.add(list, i)).toBe(i);
    return { store, list };
  }
  /** That what is stored at a place is a region of the list, whole. */
  function expectWhole(store: RegionStore, place: number, list: Regions) {
    const i = store.values[place] - 0.5;
    expect(store.errors[place]).toBe(i);
    const halves = store.halves([place], ranges);
    for (let d = 0; d < 2; d++) {
      const at = d * list.count + i;
      expect((halves.centres[2 * d] + halves.centres[2 * d + 1]) / 2).toBe(list.centres[at]);
      expect(halves.levels[2 * d] - list.levels[at]).toBe(list.axes[i] === d ? 1 : 0);
    }
  }
  test('keeps 1024 regions whole while it grows', () => {
    const { store, list } = full();
    for (let i = 0; i < 1024; i++) {
      expect(store.values[i]).toBe(i + 0.5);
      expectWhole(store, i, list);
    }
  });
  test('remove takes those named and keeps all others, whole: 60 random choices of 1024', () => {
    const random = new Random(6);
    for (let n = 0; n < 60; n++) {
      const { store, list } = full();
      const chance = random.pick([0, 0.01, 0.5, 0.99, 1]);
      const gaps = Array.from({ length: 1024 }, (_, i) => i).filter(() => random.chance(chance));
      store.remove(gaps);
      expect(store.count).toBe(1024 - gaps.length);
      const left = [...store.values.slice(0, store.count)].map(v => v - 0.5).sort((a, b) => a - b);
      expect(left).toEqual(Array.from({ length: 1024 }, (_, i) => i).filter(i => !gaps.includes(i)));
      for (let k = 0; k < Math.min(50, store.count); k++) expectWhole(store, random.below(store.count), list);
    }
  });
  test('a list without regions changes nothing', () => {
    const { store } = full();
    store.remove([]);
    expect(store.count).toBe(1024);
    expect(store.halves([], ranges).count).toBe(0);
    expect(emptyRegions(2, 0).centres).toHaveLength(0);
  });
});

describe('twoLevelErrors', () => {
  test.each([
    [1, 1],
    [2, 1],
    [6, 1],
    [7, 7 / 4],
    [8, 2],
    [15, 15 / 4],
  ])('%i dimensions: a quarter of the difference, times %d, enlarges both and is added', (dims, times) => {
    const values = Float64Array.of(1, 2, -3, 0.5);
    const errors = Float64Array.of(0.25, 0.5, 0.125, 0);
    twoLevelErrors(values, errors, Float64Array.of(2.5, -2.25), dims);
    const [a, b] = [0.125 * times, 0.0625 * times];
    const wanted = [
      0.25 * (1 + (2 * a) / 0.75) + a,
      0.5 * (1 + (2 * a) / 0.75) + a,
      0.125 * (1 + (2 * b) / 0.125) + b,
      b,
    ];
    errors.forEach((e, i) => expect(Math.abs(e - wanted[i])).toBeLessThan(1e-15));
    expect([...values]).toEqual([1, 2, -3, 0.5]);
  });
  test('halves that agree with the whole keep their errors; without any, the difference alone is left', () => {
    const errors = Float64Array.of(0.25, 0.5, 0, 0);
    twoLevelErrors(Float64Array.of(1, 2, 1, 1), errors, Float64Array.of(3, 3), 3);
    expect([...errors]).toEqual([0.25, 0.5, 0.25, 0.25]);
  });
  test('an error grows, and by no more than a half of the difference each, for 500 random pairs', () => {
    const random = new Random(7);
    for (let n = 0; n < 500; n++) {
      const values = Float64Array.of(random.unit(), -random.unit());
      const before = [random.unit() ** 9, random.unit() ** 9];
      const parent = Float64Array.of(2 * random.unit() - 1);
      const errors = Float64Array.from(before);
      twoLevelErrors(values, errors, parent, 4);
      const difference = Math.abs(values[0] + values[1] - parent[0]);
      expect(errors[0] + errors[1] - before[0] - before[1]).toBeCloseTo(difference, 12);
      expect(errors[0] >= before[0] && errors[1] >= before[1]).toBe(true);
    }
  });
});

describe('Sum', () => {
  const added = (xs: Iterable<number>) => {
    const s = new Sum();
    for (const x of xs) s.add(x);
    return s.value;
  };
  test('keeps what a plain sum loses: 1e16 + 1 + 1 − 1e16, 1e300 among ones, a million tenths', () => {
    expect(added([1e16, 1, 1, -1e16])).toBe(2);
    expect([1e16, 1, 1, -1e16].reduce((a, b) => a + b)).not.toBe(2);
    expect(added([1, 1e300, 1, -1e300])).toBe(2);
    const tenths = new Float64Array(1e6).fill(0.1);
    expect(added(tenths)).toBe(1e5);
    expect(tenths.reduce((a, b) => a + b)).not.toBe(1e5);
  });
  test('of 1e5 numbers that come and go, what stays is right to 1e-12', () => {
    const random = new Random(8);
    const s = new Sum();
    const here: number[] = [];
    for (let n = 0; n < 1e5; n++) {
      if (here.length > 0 && random.chance(0.49)) s.add(-here.splice(random.below(here.length), 1)[0]);
      else {
        here.push(10 ** (12 * random.unit() - 6));
        s.add(here.at(-1)!);
      }
    }
    // in units of 2^-30, added exactly
    const exact = here.reduce((t, x) => t + BigInt(Math.round(x * 2 ** 30)), 0n);
    expect(Math.abs(s.value / (Number(exact) / 2 ** 30) - 1)).toBeLessThan(1e-12);
    for (const x of here) s.add(-x);
    expect(Math.abs(s.value)).toBeLessThan(1e-9);
  });
  test('nothing added is 0', () => {
    expect(new Sum().value).toBe(0);
  });
});

test.each([
  ['float64', 2 ** -53, 4 * 2 ** -52],
  ['float32', 2 ** -24, 4 * 2 ** -23],
])('the noise of a sum of %s is four last bits of 1', async (_, epsilon, noise) => {
  await loadRule(1);
  const problem = { epsilon, ranges: [[0, 1]], maxEvaluations: 1e6, maxIterations: 10, deadline: Infinity };
  expect(new Cubature(problem as never, {}).noise).toBe(noise);
});
