/**
 * Tables: called plainly and in a compiled integrand they give the same bits, and those are textbook linear
 * interpolation to rounding, at knots exactly the values given.
 */
import { describe, expect, test } from 'vitest';
import { type Table, table } from '../../src/integrand/tables.ts';
import { firstDifference, threeWays } from './compare.ts';
import { Random } from './random.ts';

const UNIFORM = Array.from({ length: 9 }, (_, i) => -1 + 0.25 * i);
const TENTHS = Array.from({ length: 11 }, (_, i) => i / 10); // uniform only to rounding
const UNEVEN = [-1, -0.9, -0.25, 0, 1e-3, 0.5, 0.75, 1];
const SHORT = [2, 5];
const AXES = { UNIFORM, TENTHS, UNEVEN, SHORT };

const wave = (x: number) => 3 * Math.sin(5 * x) + x * x;
const hill = (x: number, y: number) => Math.cos(2 * x) * (y + 2) ** 2;

/** The cell of c on an axis, and where in it c lies. */
function cell(xs: number[], c: number): [i: number, t: number] {
  let i = 0;
  while (i < xs.length - 2 && xs[i + 1] <= c) i++;
  return [i, (c - xs[i]) / (xs[i + 1] - xs[i])];
}
const clamp = (xs: number[], c: number) => Math.min(Math.max(c, xs[0]), xs[xs.length - 1]);

function textbook1(xs: number[], ys: number[], x: number): number {
  const [i, t] = cell(xs, clamp(xs, x));
  return (1 - t) * ys[i] + t * ys[i + 1];
}

function textbook2(xs: number[], ys: number[], zs: number[][], x: number, y: number): number {
  const [i, t] = cell(xs, clamp(xs, x));
  const row = (k: number) => textbook1(ys, zs[k], y);
  return (1 - t) * row(i) + t * row(i + 1);
}

/** Points inside, at knots, outside on both sides, far outside. */
function samples(xs: number[]): number[] {
  const r = new Random(xs.length);
  const [first, last] = [xs[0], xs[xs.length - 1]];
  const inside = Array.from({ length: 40 }, () => first + r.unit() * (last - first));
  return [
    ...xs,
    ...inside,
    first - 1e-9,
    last + 1e-9,
    first - 3,
    last + 3,
    -1e300,
    1e300,
    -Infinity,
    Infinity,
    0,
    -0,
  ];
}

/** The table at the points, after checking that all ways of calling it agree. */
function valuesOf(t: Table, points: number[][]): Float64Array {
  const ways =
    points[0].length === 1
      ? threeWays((x, p) => p.t(x[0]), points, { t })
      : threeWays((x, p) => p.t(x[0], x[1]), points, { t });
  const direct = points.map(x => t(x[0], x[1]));
  expect(firstDifference(ways.plain, direct)).toBe(-1);
  expect(firstDifference(ways.plain, ways.javascript)).toBe(-1);
  expect(firstDifference(ways.plain, ways.wasm)).toBe(-1);
  return ways.wasm;
}

describe.each(Object.entries(AXES))('a table over %s points', (_, xs) => {
  const ys = xs.map(wave);
  const size = Math.max(...ys.map(Math.abs));
  const given = samples(xs);

  test('is linear between knots and constant outside, within 4e-15 of its largest value', () => {
    const values = valuesOf(
      table([xs], ys),
      given.map(x => [x]),
    );
    given.forEach((x, i) => {
      expect(Math.abs(values[i] - textbook1(xs, ys, x)), `at ${x}`).toBeLessThanOrEqual(4e-15 * size);
    });
  });
  test('gives the value of a knot at the knot, within 1e-15 of its largest value', () => {
    const values = valuesOf(
      table([xs], ys),
      xs.map(x => [x]),
    );
    ys.forEach((y, i) => {
      expect(Math.abs(values[i] - y)).toBeLessThanOrEqual(1e-15 * size);
    });
  });
  test('is 0 outside when asked to be, the borders included inside', () => {
    const values = valuesOf(
      table([xs], ys, { outside: 'zero' }),
      given.map(x => [x]),
    );
    const [first, last] = [xs[0], xs[xs.length - 1]];
    given.forEach((x, i) => {
      const expected = x < first || x > last ? 0 : textbook1(xs, ys, x);
      expect(Math.abs(values[i] - expected), `at ${x}`).toBeLessThanOrEqual(4e-15 * size);
    });
  });
  test.each(['clamp', 'zero'] as const)('is NaN at NaN (%s)', outside => {
    expect([...valuesOf(table([xs], ys, { outside }), [[NaN], [xs[0]], [NaN]])].map(Number.isNaN)).toEqual([
      true,
      false,
      true,
    ]);
  });
});

const PAIRS = Object.keys(AXES).flatMap(a =>
  Object.keys(AXES).map(b => [a, b] as [keyof typeof AXES, keyof typeof AXES]),
);

describe.each(PAIRS)('a table over %s × %s points', (a, b) => {
  const [xs, ys] = [AXES[a], AXES[b]];
  const zs = xs.map(x => ys.map(y => hill(x, y)));
  const size = Math.max(...zs.flat().map(Math.abs));
  const r = new Random(3);
  const points = Array.from({ length: 121 }, () => [r.pick(samples(xs)), r.pick(samples(ys))]);

  test('is bilinear between knots and constant outside, within 8e-15 of its largest value', () => {
    const values = valuesOf(table([xs, ys], zs), points);
    points.forEach(([x, y], i) => {
      expect(Math.abs(values[i] - textbook2(xs, ys, zs, x, y)), `at ${x}, ${y}`).toBeLessThanOrEqual(
        8e-15 * size,
      );
    });
  });
  test('is 0 outside when asked to be', () => {
    const values = valuesOf(table([xs, ys], zs, { outside: 'zero' }), points);
    const out = (grid: number[], c: number) => c < grid[0] || c > grid[grid.length - 1];
    points.forEach(([x, y], i) => {
      const expected = out(xs, x) || out(ys, y) ? 0 : textbook2(xs, ys, zs, x, y);
      expect(Math.abs(values[i] - expected), `at ${x}, ${y}`).toBeLessThanOrEqual(8e-15 * size);
    });
  });
  test('is NaN when a coordinate is', () => {
    const values = valuesOf(table([xs, ys], zs), [
      [NaN, ys[0]],
      [xs[0], NaN],
      [NaN, NaN],
    ]);
    expect([...values].every(Number.isNaN)).toBe(true);
  });
});

describe('values', () => {
  test('may be rows, or one list row by row, or typed arrays', () => {
    const axes: [number[], number[]] = [SHORT, UNEVEN];
    const rows = SHORT.map(x => UNEVEN.map(y => hill(x, y)));
    const points = [
      [3, 0.1],
      [4.5, -0.5],
    ];
    const expected = valuesOf(table(axes, rows), points);
    expect(valuesOf(table(axes, rows.flat()), points)).toEqual(expected);
    expect(valuesOf(table(axes, Float64Array.from(rows.flat())), points)).toEqual(expected);
    expect(
      valuesOf(
        table(
          axes,
          rows.map(row => Float64Array.from(row)),
        ),
        points,
      ),
    ).toEqual(expected);
  });
  test('are copied: changing the arrays afterwards changes nothing', () => {
    const ys = [1, 2, 4];
    const t = table([[0, 1, 2]], ys);
    ys[1] = 100;
    expect([...valuesOf(t, [[1], [0.5]])]).toEqual([2, 1.5]);
  });
  test('belong to the run, not to the program: two tables of one shape share it', () => {
    const f = (x: number[], p: { t: Table }) => p.t(x[0]);
    const one = threeWays(f, [[0.5]], { t: table([[0, 1, 2]], [1, 2, 4]) });
    const two = threeWays(f, [[0.5]], { t: table([[0, 1, 2]], [3, 5, 4]) });
    expect([one.wasm[0], two.wasm[0]]).toEqual([1.5, 4]);
  });
  test('two tables in one integrand do not mix', () => {
    const ways = threeWays((x, p) => p.a(x[0]) * 10 + p.b(x[0], x[0]), [[0.5], [0.25]], {
      a: table([[0, 1]], [1, 2]),
      b: table(
        [
          [0, 1],
          [0, 0.1, 1],
        ],
        [0, 0, 0, 3, 3, 3],
      ),
    });
    expect(firstDifference(ways.plain, ways.wasm)).toBe(-1);
    expect([...ways.wasm]).toEqual([16.5, 13.25]);
  });
});
