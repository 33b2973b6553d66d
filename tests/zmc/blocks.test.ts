/** Blocks tile their box: borders meet exactly, numbers run with the first axis fastest, on the host as on the device. */
import { afterAll, describe, expect, test } from 'vitest';
import { CpuDevice } from '../../src/devices/cpu/cpu.ts';
import { type Box, blockOf, slabsOf, uncutGrids } from '../../src/methods/zmc/blocks.ts';
import { keyOf, STREAM } from '../../src/random/philox.ts';
import { lowerFor } from '../devices/program.ts';
import { sampled } from '../devices/whole.ts';

/** Ranges whose parts are no round numbers. */
const ranges: Box = [
  [0.1, 0.7],
  [-3, 5.3],
  [1e-3, 1e3],
  [-0.3, -0.1],
  [7e15, 7e15 + 1e6],
];
const boxOf = (dims: number): Box => Array.from({ length: dims }, (_, d) => ranges[d % ranges.length]);

const cases = [
  [1, 1],
  [1, 7],
  [2, 3],
  [3, 5],
  [4, 4],
  [5, 3],
  [10, 2],
  [2, 513],
  [3, 100],
  [4, 40],
] as const;

describe.each(cases)('%i dimensions, %i parts an axis', (dims, perAxis) => {
  const box = boxOf(dims);
  const slabs = [...slabsOf(box, perAxis)];

  test('slabs have every block once, in order, at most 262,144 at a time', () => {
    let next = 0;
    for (const { first, blocks, strata } of slabs) {
      expect(first).toBe(next);
      expect(strata.reduce((a, b) => a * b)).toBe(blocks);
      expect(blocks).toBeLessThanOrEqual(2 ** 18);
      next += blocks;
    }
    expect(next).toBe(perAxis ** dims);
  });

  test('the first and the last block end where the box ends, to the bit', () => {
    const [first, last] = [blockOf(box, perAxis, 0), blockOf(box, perAxis, perAxis ** dims - 1)];
    expect(first.map(r => r[0])).toEqual(box.map(r => r[0]));
    expect(last.map(r => r[1])).toEqual(box.map(r => r[1]));
    expect(slabs[0].box.map(r => r[0])).toEqual(box.map(r => r[0]));
    expect(slabs.at(-1)!.box.map(r => r[1])).toEqual(box.map(r => r[1]));
  });

  test('a block ends where the next one along the axis begins, to the bit', () => {
    for (let d = 0; d < dims; d++) {
      for (let k = 1; k < Math.min(perAxis, 50); k++) {
        const [before, after] = [k - 1, k].map(n => blockOf(box, perAxis, n * perAxis ** d)[d]);
        expect(before[1]).toBe(after[0]);
        expect(after[1]).toBeGreaterThan(after[0]);
      }
    }
  });

  test('block n is at the digits of n, the first axis having the last digit', () => {
    const total = perAxis ** dims;
    for (let i = 0; i < 40; i++) {
      const n = Math.floor((i * total) / 40);
      blockOf(box, perAxis, n).forEach(([low, high], d) => {
        const digit = Math.floor(n / perAxis ** d) % perAxis;
        const width = (box[d][1] - box[d][0]) / perAxis;
        expect((low - box[d][0]) / width).toBeCloseTo(digit, 5);
        expect((high - box[d][0]) / width).toBeCloseTo(digit + 1, 5);
      });
    }
  });

  test('the blocks of a slab are those that its strata make', () => {
    for (const slab of [slabs[0], slabs[slabs.length >> 1], slabs.at(-1)!]) {
      for (let i = 0; i < 20; i++) {
        const inside = Math.floor((i * slab.blocks) / 20);
        let rest = inside;
        const own = blockOf(box, perAxis, slab.first + inside);
        slab.strata.forEach((n, d) => {
          const [low, high] = slab.box[d];
          const k = rest % n;
          rest = Math.floor(rest / n);
          const width = (high - low) / n;
          expect((own[d][0] - low) / width).toBeCloseTo(k, 5);
          expect((own[d][1] - low) / width).toBeCloseTo(k + 1, 5);
        });
      }
    }
  });
});

describe('on the device', () => {
  const device = new CpuDevice(2);
  afterAll(() => device.close());

  // the mean of a coordinate over a block lies in the block, if both number blocks alike
  test.each([
    [1, 7],
    [2, 5],
    [3, 4],
    [5, 3],
    [2, 600],
    [3, 90],
  ] as const)('%i dimensions, %i parts an axis: block n is sampled in block n', async (dims, perAxis) => {
    const box = Array.from({ length: dims }, (_, d) => [d - 0.5, 2 * d + 1.3] as const);
    const volume = box.reduce((v, [a, b]) => v * (b - a), 1);
    const axes = [0, dims - 1];
    for (const d of axes) {
      const f = d === 0 ? ([x]: number[]) => x : (x: number[]) => x[x.length - 1];
      const session = await device.open(lowerFor(f, dims));
      const slabs = [...slabsOf(box, perAxis)];
      for (const slab of [slabs[0], slabs[1] ?? slabs[0], slabs.at(-1)!]) {
        const { means } = await sampled(session, {
          key: keyOf(1),
          iteration: 0,
          stream: STREAM.search,
          bins: 1,
          edges: Float64Array.from(slab.box.flat()),
          strata: slab.strata,
          counts: 2,
          unit: 1,
          adapt: null,
          cubes: true,
        });
        const part = slab.box.reduce((v, [a, b]) => v * (b - a), 1);
        expect(part * (slabs.length || 1)).toBeCloseTo(volume, 8);
        expect(means).toHaveLength(slab.blocks);
        let wrong = 0;
        means!.forEach((mean, i) => {
          const [low, high] = blockOf(box, perAxis, slab.first + i)[d];
          const x = mean / part;
          if (!(x >= low - 1e-12 && x <= high + 1e-12)) wrong++;
        });
        expect(wrong).toBe(0);
      }
      session.close();
    }
  });
});

describe('grids without the blocks that are cut', () => {
  /** The numbers of the blocks of a grid, by the middles of its parts. */
  const numbersIn = (box: Box, perAxis: number, grid: { box: Box; strata: number[] }): number[] => {
    let numbers = [0];
    box.forEach(([low, high], d) => {
      const [from, to] = grid.box[d];
      const places = Array.from({ length: grid.strata[d] }, (_, k) => {
        const middle = from + ((k + 0.5) / grid.strata[d]) * (to - from);
        return Math.floor(((middle - low) / (high - low)) * perAxis);
      });
      numbers = numbers.flatMap(n => places.map(place => n + place * perAxis ** d));
    });
    return numbers;
  };
  test.each([
    [1, 7, [3]],
    [1, 7, [0, 1, 2, 3, 4, 5, 6]],
    [2, 9, []],
    [2, 9, [0, 80]],
    [2, 9, [10, 11, 19, 20, 40, 42, 44]],
    [3, 5, Array.from({ length: 124 }, (_, i) => i)],
    [3, 5, [0, 31, 62, 93, 124]],
    [4, 3, Array.from({ length: 40 }, (_, i) => 2 * i)],
    [5, 3, [121]],
  ])('%i dimensions, %i parts per axis, without %j: every other block once', (dims, perAxis, cut) => {
    const box = boxOf(dims);
    const grids = [...uncutGrids(box, perAxis, cut, 30)];
    for (const { strata, blocks } of grids) {
      expect(strata.reduce((a, b) => a * b)).toBe(blocks);
      expect(blocks).toBeLessThanOrEqual(30);
    }
    const found = grids.flatMap(grid => numbersIn(box, perAxis, grid)).sort((a, b) => a - b);
    const all = Array.from({ length: perAxis ** dims }, (_, i) => i);
    expect(found).toEqual(all.filter(i => !cut.includes(i)));
  });
  test('one block that is cut leaves at most two grids per axis', () => {
    for (let dims = 1; dims <= 5; dims++)
      expect([...uncutGrids(boxOf(dims), 5, [Math.floor(5 ** dims / 2)])]).toHaveLength(2 * dims);
  });
});
