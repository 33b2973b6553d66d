/**
 * Cubic tables, logarithmic axes and three axes. What they have to give was computed by SciPy 1.17: `PchipInterpolator`, of
 * logarithms for a logarithmic axis, and `RegularGridInterpolator(…, method='pchip')` for several axes.
 */
import { describe, expect, test } from 'vitest';
import { type Table, type TableOptions, table } from '../../src/integrand/tables.ts';
import { firstDifference, threeWays } from './compare.ts';
import { Random } from './random.ts';

/** The table at the points, after checking that all ways of calling it give the same bits. */
function valuesOf(t: Table, points: number[][]): number[] {
  const calls = [
    (x: number[], p: { t: Table }) => p.t(x[0]),
    (x: number[], p: { t: Table }) => p.t(x[0], x[1]),
    (x: number[], p: { t: Table }) => p.t(x[0], x[1], x[2]),
  ];
  const ways = threeWays(calls[points[0].length - 1] as never, points, { t });
  const direct = points.map(([x, y, z]) => t(x, y, z));
  expect(firstDifference(ways.plain, direct)).toBe(-1);
  expect(firstDifference(ways.plain, ways.javascript)).toBe(-1);
  expect(firstDifference(ways.plain, ways.wasm)).toBe(-1);
  return direct;
}

const columnOf = (xs: readonly number[]) => xs.map(x => [x]);
const closeTo = (found: readonly number[], expected: readonly number[], size: number) =>
  expected.forEach((e, i) => {
    expect(Math.abs(found[i] - e), `${i}: ${found[i]} for ${e}`).toBeLessThanOrEqual(4e-15 * size);
  });

const UNEVEN = [-1, -0.9, -0.25, 0, 1e-3, 0.5, 0.75, 1];
const HEIGHTS = [0, 0.5, 0.4, 2, 2, -1, -1.5, 3];
const FIFTHS = [0, 0.2, 0.4, 0.6, 0.8, 1];
const X = [0, 1, 2.5, 3, 5];
const Y = [-1, 0, 0.25, 2];
const Z = [0, 1, 2, 3.5];
const POINTS = [
  [0.3, -0.7, 0.2],
  [1.7, 0.1, 1.9],
  [2.6, 1, 0.5],
  [4.9, 1.9, 1.1],
  [2.5, 0.25, 1],
  [0.01, -0.99, 1.99],
];
const CUBIC: TableOptions = { kind: 'cubic' };

describe('a cubic table has the values of SciPy, within 4e-15 of its largest', () => {
  test('on an uneven axis', () => {
    const at = [-1, -0.95, -0.6, -0.1, -0.001, 0.0004, 0.3, 0.6, 0.9, 1];
    closeTo(
      valuesOf(table([UNEVEN], HEIGHTS, CUBIC), columnOf(at)),
      [
        0, 0.3210897435897439, 0.45575785161583976, 1.4368, 1.9999234048000014, 2, 0.26366395129971687,
        -1.2783732957716534, 0.4080000000000006, 3,
      ],
      3,
    );
  });
  test('on a uniform axis', () => {
    const at = [0, 0.05, 0.31, 0.5, 0.77, 0.99, 1];
    closeTo(
      valuesOf(table([FIFTHS], [1, 1.5, 1.2, 0.2, 0.9, 4], CUBIC), columnOf(at)),
      [1, 1.2046875, 1.3904019230769231, 0.6423076923076927, 0.7336993421052629, 3.7862, 4],
      4,
    );
  });
  test('on a logarithmic axis', () => {
    const t = table([[0.01, 0.1, 2, 30, 1000]], [5, 3, 3.5, 1, 0], { kind: 'cubic', log: true });
    closeTo(
      valuesOf(t, columnOf([0.01, 0.02, 0.5, 7, 300, 1000])),
      [5, 4.118866147376979, 3.2778810203033815, 2.5288120806262993, 0.15169114732438113, 0],
      5,
    );
  });
  test('on two axes', () => {
    const rows = X.map(x => Y.map(y => (x - 2) ** 2 * (y + 0.5) - (3 - x) * (y * y - 1)));
    closeTo(
      valuesOf(
        table([X, Y], rows, CUBIC),
        POINTS.map(p => p.slice(0, 2)),
      ),
      [
        0.7942091363636365, 1.3650074027550314, 0.44386680121089817, 25.14789428671011, 0.65625,
        -1.880906421699559,
      ],
      28.5,
    );
  });
  test('on three axes', () => {
    const planes = X.map(x => Y.map(y => Z.map(z => (x - 2) ** 2 * (y + 0.5) - z * (3 - x) * (y * y - 1))));
    closeTo(
      valuesOf(table([X, Y, Z], planes, CUBIC), POINTS),
      [
        -0.28956764418604636, 2.5149876562949562, 0.41544875424965966, 25.644096324359253, 0.65625,
        -1.8219436770944517,
      ],
      43.5,
    );
  });
});

/** Random values on an uneven axis. */
const random = (n: number, seed: number) => {
  const r = new Random(seed);
  const xs = [0];
  for (let i = 1; i < n; i++) xs.push(xs[i - 1] + 0.05 + r.unit());
  return { xs, ys: xs.map(() => 4 * r.unit() - 2) };
};

describe.each([2, 3, 4, 9, 40])('a cubic table of %s random values', n => {
  const { xs, ys } = random(n, n);
  const t = table([xs], ys, CUBIC);
  const fine = xs
    .slice(1)
    .flatMap((b, i) => Array.from({ length: 64 }, (_, k) => xs[i] + ((b - xs[i]) * k) / 64));

  test('has the values that were given, at their points', () => {
    closeTo(valuesOf(t, columnOf(xs)), ys, 2);
  });
  test('goes straight up or down from each point to the next', () => {
    const found = valuesOf(t, columnOf(fine));
    found.slice(1).forEach((v, i) => {
      const cell = Math.floor(i / 64);
      const rises = Math.sign(ys[cell + 1] - ys[cell]);
      expect((v - found[i]) * rises, `after ${fine[i]}`).toBeGreaterThanOrEqual(-1e-14);
    });
  });
  test('has one derivative at each inner point: differences from both sides agree to 1e-3', () => {
    const h = 1e-7;
    xs.slice(1, -1).forEach((x, i) => {
      const [left, right] = [(t(x) - t(x - h)) / h, (t(x + h) - t(x)) / h];
      expect(Math.abs(left - right), `at point ${i + 1}`).toBeLessThan(1e-3 * (1 + Math.abs(left)));
    });
  });
});

describe('a table', () => {
  const cube = (x: number, y: number, z: number) => 1 + 2 * x - y + 3 * z + x * y * z;
  const planes = X.map(x => Y.map(y => Z.map(z => cube(x, y, z))));

  test('linear on three axes is exact for what is linear in each', () => {
    closeTo(
      valuesOf(table([X, Y, Z], planes), POINTS),
      POINTS.map(([x, y, z]) => cube(x, y, z)),
      60,
    );
  });
  test('of two points per axis is linear, cubic or not', () => {
    const corners = [1, 2, 4, 0, -1, 3, 5, 2];
    const axes: [number[], number[], number[]] = [
      [0, 1],
      [0, 2],
      [1, 3],
    ];
    const inside = [
      [0.25, 0.5, 1.25],
      [0.9, 1.9, 2.9],
    ];
    const [linear, cubic] = [table(axes, corners), table(axes, corners, CUBIC)];
    closeTo(valuesOf(cubic, inside), valuesOf(linear, inside), 5);
  });
  test('with a logarithmic axis is linear in the logarithm, on an even grid of decades and on an uneven one', () => {
    const decades = [1e-3, 1e-2, 0.1, 1, 10, 100];
    for (const xs of [decades, [...decades, 200]]) {
      const t = table(
        [xs],
        xs.map(x => Math.log10(x)),
        { log: true },
      );
      expect(t.axes[0].uniform).toBe(xs === decades);
      const at = [1e-3, 2e-3, 0.5, 7, 55, 100];
      closeTo(
        valuesOf(t, columnOf(at)),
        at.map(x => Math.log10(x)),
        3,
      );
    }
  });
  test.each([
    ['clamp', [1, 1, 1, 3, 3]],
    ['zero', [0, 0, 0, 0, 0]],
  ] as const)('with a logarithmic axis takes what has no logarithm as outside (%s)', (outside, expected) => {
    const t = table([[1, 10, 100]], [1, 2, 3], { log: true, outside });
    expect(valuesOf(t, columnOf([0, -5, -Infinity, 101, Infinity]))).toEqual(expected);
    expect(valuesOf(t, columnOf([1, 100]))).toEqual([1, 3]);
    expect(t(NaN)).toBeNaN();
  });
  test.each(['linear', 'cubic'] as const)(
    'on three axes is 0 outside each, or the value at the border (%s)',
    kind => {
      const beyond = [
        [-1, 0.3, 0.4],
        [1.2, 3, 0.4],
        [1.2, 0.3, 9],
      ];
      const border = [
        [0, 0.3, 0.4],
        [1.2, 2, 0.4],
        [1.2, 0.3, 3.5],
      ];
      expect(valuesOf(table([X, Y, Z], planes, { kind, outside: 'zero' }), beyond)).toEqual([0, 0, 0]);
      const t = table([X, Y, Z], planes, { kind });
      expect(valuesOf(t, beyond)).toEqual(valuesOf(t, border));
    },
  );
  test('of another kind, or with other logarithmic axes, is another program', () => {
    const f = (x: number[], p: { t: Table }) => p.t(x[0]);
    const of = (options: TableOptions) =>
      threeWays(f as never, [[2]], { t: table([[1, 4, 16]], [0, 1, 4], options) }).wasm[0];
    expect(
      new Set([of({}), of({ kind: 'cubic' }), of({ log: true }), of({ log: true, kind: 'cubic' })]).size,
    ).toBe(4);
  });
});

describe('what makes no sense is refused', () => {
  test.each([
    [[[1, 2]], [1, 2], { kind: 'spline' }, "`kind` is 'spline'; use 'linear' or 'cubic'"],
    [[[0, 2]], [1, 2], { log: true }, '`axes[0]` begins with 0, which has no logarithm'],
    [[[1, 2]], [1, 2], { log: 'x' }, "`log` is 'x'; pass true, false, or a list"],
    [[[1, 2]], [1, 2], { log: [true, true] }, '`log` is an array of 2; pass true, false, or a list'],
    [[[1e300, 1e300 * (1 + 2 ** -52)]], [1, 2], { log: true }, 'whose logarithms are equal'],
    [
      [
        [1, 2],
        [1, 2],
        [1, 2],
      ],
      [
        [
          [1, 2],
          [1, 2],
        ],
        [[1, 2], [1]],
      ],
      {},
      'row 1 of `values[1]` has 1 numbers for 2 points of axes[2]',
    ],
    [
      [
        [1, 2],
        [1, 2],
        [1, 2],
      ],
      [[[1, 2], 3], []],
      {},
      'row 1 of `values[0]` is 3; pass an array of numbers',
    ],
    [
      [
        [1, 2],
        [1, 2],
        [1, 2],
        [1, 2],
      ],
      [],
      {},
      'pass one, two or three arrays of grid points',
    ],
  ])('%j, %j, %j', (axes, values, options, message) => {
    expect(() => table(axes as never, values as never, options as never)).toThrow(message);
  });
});
