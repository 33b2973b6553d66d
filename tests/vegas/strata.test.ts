/** Strata: how many there are, by the papers' formulas, and how many samples each gets. */
import { describe, expect, test } from 'vitest';
import { KNOBS } from '../../src/methods/vegas/knobs.ts';
import { allocate, strataFor } from '../../src/tasks/strata.ts';

const dimensions = Array.from({ length: 32 }, (_, i) => i + 1);
const sizes = [4, 100, 1000, 4096, 65_536, 1e5, 1e6, 12_345_678, 1e7, 1e8, 2 ** 26, 1e9, 1e10];

/** The largest n with n^d ≤ N/perCube, in exact integers. */
function exactRoot(evaluations: number, perCube: number, dims: number): number {
  const most = BigInt(Math.floor(evaluations / perCube));
  let n = 1;
  while (BigInt(n + 1) ** BigInt(dims) <= most) n++;
  return n;
}

describe.each([
  ['VEGAS+: floor((N/4)^(1/d))', 4],
  ['m-Cubes: floor((N/2)^(1/d))', 2],
])('%s', (_, perCube) => {
  test.each(dimensions.slice(1))('in %s dimensions, for N from 4 to 1e10', dims => {
    for (const n of sizes) {
      const { perAxis, cubes } = strataFor(n, dims, perCube, Infinity);
      const root = exactRoot(n, perCube, dims);
      expect(perAxis, `N = ${n}`).toEqual(Array(dims).fill(root));
      expect(cubes).toBe(root ** dims);
    }
  });
  test('in 1 dimension, for N from 4 to 1e6', () => {
    for (const n of sizes.filter(s => s <= 1e6))
      expect(strataFor(n, 1, perCube, Infinity)).toEqual({
        perAxis: [Math.floor(n / perCube)],
        cubes: Math.floor(n / perCube),
      });
  });
  test('a root that is whole is not missed by rounding', () => {
    for (const dims of dimensions) {
      for (let n = 2; n ** dims <= 2 ** 40 && n < 200; n++) {
        expect(strataFor(perCube * n ** dims, dims, perCube, Infinity).perAxis[0], `${n}^${dims}`).toBe(n);
        const below = strataFor(perCube * n ** dims - 1, dims, perCube, Infinity).perAxis[0];
        expect(below, `just under ${n}^${dims}`).toBe(n - 1 || 1);
      }
    }
  });
});

test('maxStrata bounds the cubes, with as many along each axis as fit', () => {
  for (const dims of dimensions) {
    for (const most of [1, 2, 100, 1000, 2 ** 20]) {
      const { perAxis, cubes } = strataFor(1e10, dims, 4, most);
      expect(cubes).toBeLessThanOrEqual(most);
      if (perAxis[0] < 2 ** 19) expect((perAxis[0] + 1) ** dims).toBeGreaterThan(most); // all that a float64 can tell apart
    }
  }
});
test('fewer samples than a cube should have: one cube', () => {
  expect(strataFor(1, 3, 4, Infinity)).toEqual({ perAxis: [1, 1, 1], cubes: 1 });
  expect(strataFor(1e6, 3, Infinity, 1)).toEqual({ perAxis: [1, 1, 1], cubes: 1 });
});
test("the methods have the papers' samples a cube: 4 for VEGAS+, 2 for m-Cubes; plain has one cube", () => {
  expect([KNOBS['vegas+'].perCube, KNOBS.mcubes.perCube, KNOBS.mcubes1d.perCube]).toEqual([4, 2, 2]);
  expect(KNOBS.plain.maxStrata).toBe(1);
});

describe('allocate', () => {
  const variances = Float64Array.from({ length: 1000 }, (_, i) => Math.abs(Math.sin(i * i)) ** 6);
  const sum = (a: Uint32Array) => a.reduce((x, y) => x + y, 0);
  test.each([0, 0.25, 0.5, 0.75, 1, 2])(
    'beta %s: at least 2 each, in all at most N, and N but for rounding',
    beta => {
      for (const n of [2000, 2001, 5000, 1e5, 1e7]) {
        const counts = allocate(variances, beta, n);
        expect(Math.min(...counts)).toBeGreaterThanOrEqual(2);
        expect(sum(counts)).toBeLessThanOrEqual(n);
        expect(sum(counts)).toBeGreaterThan(n - 1001);
      }
    },
  );
  test.each([0.25, 0.5, 0.75, 1, 1.5])(
    'beta %s: a quarter for all alike, what is above goes as variance^(β/2), to one sample',
    beta => {
      const n = 1e6;
      const weights = variances.map(v => v ** (beta / 2));
      const total = weights.reduce((a, b) => a + b, 0);
      allocate(variances, beta, n).forEach((c, i) => {
        const share = (0.75 * n * weights[i]) / total;
        expect(c - 250).toBeGreaterThan(share - 1.000001);
        expect(c - 250).toBeLessThanOrEqual(share + 1e-6);
      });
    },
  );
  test('beta 0 gives every cube the same', () => {
    expect(new Set(allocate(Float64Array.of(1, 2, 3, 1e-9), 0, 1000))).toEqual(new Set([250]));
  });
  test('four times the variance at beta 1: twice the samples', () => {
    const [a, b] = allocate(Float64Array.of(1, 4), 1, 40_000);
    expect([a - 5000, b - 5000]).toEqual([10_000, 20_000]);
  });
  test('no variance anywhere: all cubes alike', () => {
    expect(allocate(new Float64Array(5), 0.75, 50)).toEqual(Uint32Array.of(10, 10, 10, 10, 10));
  });
  test('variance in one cube alone: all but a quarter of the samples are there', () => {
    expect(allocate(Float64Array.of(0, 0, 7, 0), 0.75, 1000)).toEqual(Uint32Array.of(62, 62, 814, 62));
    expect(allocate(Float64Array.of(0, 0, 7, 0), 0.75, 20)).toEqual(Uint32Array.of(2, 2, 14, 2));
  });
  test('fewer samples than 2 a cube: 2 each', () => {
    expect(allocate(Float64Array.of(1, 2, 3), 0.75, 4)).toEqual(Uint32Array.of(2, 2, 2));
  });
  test.each([1e-300, 1e-200, 1e200, 1e300])(
    'variances of about %s are divided like those of about 1',
    size => {
      const plain = allocate(variances, 0.75, 1e5);
      allocate(
        variances.map(v => v * size),
        0.75,
        1e5,
      ).forEach((c, i) => {
        expect(Math.abs(c - plain[i])).toBeLessThanOrEqual(1);
      });
    },
  );
});
