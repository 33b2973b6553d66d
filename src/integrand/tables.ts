/**
 * Tables: functions known at grid points, linear or cubic in between. A table is called like a function, in plain
 * JavaScript and in a compiled integrand; both run the functions of lookup.ts, so both give the same bits.
 */
import { gridOf } from './is-table.ts';
import {
  type Axis,
  across,
  cellOf,
  edge,
  hermite,
  inner,
  isOutside,
  lookup1,
  lookup2,
  lookup3,
  type Numbers,
} from './lookup.ts';
import { kit } from './math/common.ts';

/** Options of `table`. */
export interface TableOptions {
  /**
   * How values between grid points are found: `linear` (the default), or `cubic`, which has a continuous derivative and
   * overshoots nowhere: it is monotone wherever the values are (PCHIP, as in SciPy).
   */
  kind?: 'linear' | 'cubic';
  /**
   * Interpolates in the logarithm of the coordinate: of all axes (`true`), or of those that have `true` in a list. The grid
   * points of such an axis are positive.
   */
  log?: boolean | readonly boolean[];
  /** What a table gives outside its axes: the value at the border (`clamp`, the default) or 0 (`zero`). */
  outside?: 'clamp' | 'zero';
}

/** A table, which an integrand calls as a function with one coordinate per axis. */
export interface Table {
  (x: number, y?: number, z?: number): number;
  /** The axes: the number of grid points of each, and their positions. */
  readonly axes: readonly Axis[];
  /** The values at the grid points, row by row. */
  readonly values: Float64Array;
  /** How values between grid points are found: see `TableOptions`. */
  readonly kind: 'linear' | 'cubic';
  /** What the table gives outside its axes: see `TableOptions`. */
  readonly outside: 'clamp' | 'zero';
  /** @internal the function that looks up a value, and the functions that it calls: lookup.ts is loaded with the first table */
  readonly lookup: { readonly fn: object; readonly pieces: Readonly<Record<string, object>> };
  /** @internal of a cubic one: the derivatives along the last axis at the grid points */
  readonly slopes: Float64Array | null;
}

/** The functions that look up a value, by the number of axes; and their pieces, which they get as an argument. */
const LOOKUPS = [lookup1, lookup2, lookup3] as const;
const PIECES = { cellOf, isOutside, hermite, across, inner, edge };

const MAX_AXES = LOOKUPS.length;

type Rows = Numbers | readonly Rows[];

/**
 * A function given by its values on a grid, for use in `params`; linear between the grid points unless `kind` says otherwise.
 *
 * `table([xs], values)` has one axis, `table([xs, ys], values)` two, `table([xs, ys, zs], values)` three, with the values row
 * by row: `values[i * ys.length + j]` belongs to `(xs[i], ys[j])`; `values` may be an array of rows as well.
 */
export function table(axes: [Numbers], values: Numbers, options?: TableOptions): Table;
export function table(
  axes: [Numbers, Numbers],
  values: Numbers | readonly Numbers[],
  options?: TableOptions,
): Table;
export function table(
  axes: [Numbers, Numbers, Numbers],
  values: Numbers | readonly (readonly Numbers[])[],
  options?: TableOptions,
): Table;
export function table(axes: Numbers[], values: Rows, options: TableOptions = {}): Table {
  if (!Array.isArray(axes) || axes.length < 1 || axes.length > MAX_AXES) {
    throw new TypeError(
      `table: \`axes\` is ${preview(axes)}; pass one, two or three arrays of grid points: table([xs], values) or table([xs, ys], values).`,
    );
  }
  const { outside = 'clamp', kind = 'linear', log = false } = options;
  if (outside !== 'clamp' && outside !== 'zero') {
    throw new TypeError(`table: \`outside\` is ${preview(outside)}; use 'clamp' or 'zero'.`);
  }
  if (kind !== 'linear' && kind !== 'cubic') {
    throw new TypeError(`table: \`kind\` is ${preview(kind)}; use 'linear' or 'cubic'.`);
  }
  const logs = logarithmic(log, axes.length);
  const checked = axes.map((a, k) => makeAxis(a, logs[k], `axes[${k}]`));
  const flat = flatten(
    values,
    checked.map(a => a.length),
  );
  const slopes = kind === 'cubic' ? slopesAlong(checked.at(-1)!, flat) : null;
  const lookup = LOOKUPS[axes.length - 1] as (...args: unknown[]) => number;
  const rest = [...checked.map(gridOf), { values: flat, slopes, zero: outside === 'zero' }, PIECES, kit];
  const call = (...point: number[]) => lookup(...point.slice(0, axes.length), ...rest);
  const own = { fn: lookup, pieces: PIECES };
  return Object.assign(call, { axes: checked, values: flat, kind, outside, lookup: own, slopes }) as Table;
}

function logarithmic(log: unknown, axes: number): boolean[] {
  const list = Array.isArray(log) ? log : Array(axes).fill(log);
  const wrong = list.find(v => typeof v !== 'boolean');
  if (wrong !== undefined || list.length > axes) {
    throw new TypeError(
      `table: \`log\` is ${preview(log)}; pass true, false, or a list of these with at most one per axis.`,
    );
  }
  return Array.from({ length: axes }, (_, k) => list[k] ?? false);
}

function makeAxis(points: Numbers, log: boolean, name: string): Axis {
  const given = numbers(points, name);
  const { length } = given;
  if (length < 2) throw new TypeError(`table: \`${name}\` has ${length} points; an axis needs at least 2.`);
  for (let i = 1; i < length; i++) {
    if (!(given[i] > given[i - 1])) {
      throw new TypeError(
        `table: \`${name}\` does not increase at index ${i} (${given[i - 1]}, then ${given[i]}); sort the grid points and their values.`,
      );
    }
  }
  if (log && !(given[0] > 0)) {
    throw new TypeError(
      `table: \`${name}\` begins with ${given[0]}, which has no logarithm; leave \`log\` out for this axis, or begin above 0.`,
    );
  }
  const data = log ? given.map(kit.log) : given;
  const same = log ? data.findIndex((x, i) => i > 0 && x <= data[i - 1]) : -1;
  if (same > 0) {
    throw new TypeError(
      `table: \`${name}\` has ${given[same - 1]} and ${given[same]}, whose logarithms are equal; leave one of them out.`,
    );
  }
  const [first, last] = [data[0], data[length - 1]];
  const step = (last - first) / (length - 1);
  // a logarithm is off by as much as its number is relatively, which is 1e-16 however small the logarithm
  const size = Math.max(Math.abs(first), Math.abs(last), log ? 1 : 0);
  // where the steps are equal up to rounding, a product finds the cell; a search takes log2(length) steps
  const uniform = data.every((x, i) => Math.abs(x - (first + i * step)) <= 4e-16 * size);
  return {
    length,
    uniform,
    log,
    data: uniform ? Float64Array.of(first, last, (length - 1) / (last - first)) : data,
  };
}

/** The derivatives of the monotone cubics along the last axis, at all grid points; per cell where the axis is uniform. */
function slopesAlong({ length, uniform, data }: Axis, values: Float64Array): Float64Array {
  const slopes = new Float64Array(values.length);
  const width = (i: number) => (uniform ? 1 : data[i + 1] - data[i]);
  for (let row = 0; row < values.length; row += length) {
    const secant = (i: number) => (values[row + i + 1] - values[row + i]) / width(i);
    const last = length - 2;
    for (let i = 1; i <= last; i++) slopes[row + i] = inner(width(i - 1), width(i), secant(i - 1), secant(i));
    const second = Math.min(1, last); // an axis of two points has one cell, and a straight line
    slopes[row] = edge(width(0), width(second), secant(0), secant(second));
    slopes[row + last + 1] = edge(width(last), width(last - second), secant(last), secant(last - second));
  }
  return slopes;
}

function flatten(values: Rows, shape: number[]): Float64Array {
  const flat = numbers(
    isNested(values) && shape.length > 1 ? (joined(values, shape, '') as Numbers) : (values as Numbers),
    'values',
  );
  const wanted = shape.reduce((a, b) => a * b);
  if (flat.length !== wanted) {
    throw new TypeError(
      `table: \`values\` has ${flat.length} numbers for ${shape.join(' × ')} grid points; give ${wanted}.`,
    );
  }
  return flat;
}

const isNested = (values: unknown): values is readonly Rows[] =>
  Array.isArray(values) && typeof values[0] === 'object';

/** The numbers of nested rows, as one list; `at` are the indices on the way to them. */
function joined(rows: readonly Rows[], shape: number[], at: string): number[] {
  const axis = at.split('[').length; // the axis along which the members of a row lie
  return rows.flatMap((row, i) => {
    const name = `row ${i} of \`values${at}\``;
    if (row === null || typeof row !== 'object' || typeof row.length !== 'number')
      throw new TypeError(`table: ${name} is ${preview(row)}; pass an array of numbers.`);
    if (row.length !== shape[axis]) {
      throw new TypeError(
        `table: ${name} has ${row.length} numbers for ${shape[axis]} points of axes[${axis}].`,
      );
    }
    return axis < shape.length - 1 && isNested(row)
      ? joined(row, shape, `${at}[${i}]`)
      : Array.from(row as Numbers);
  });
}

function numbers(list: Numbers, name: string): Float64Array {
  if (list === null || typeof list !== 'object' || typeof list.length !== 'number') {
    throw new TypeError(`table: \`${name}\` is ${preview(list)}; pass an array of numbers.`);
  }
  const wrong = Array.prototype.findIndex.call(list, v => typeof v !== 'number' || !Number.isFinite(v));
  if (wrong >= 0) {
    throw new TypeError(
      `table: \`${name}\`[${wrong}] is ${preview(list[wrong])}; every entry must be a finite number.`,
    );
  }
  return Float64Array.from(list);
}

const preview = (v: unknown) =>
  typeof v === 'string' ? `'${v}'` : Array.isArray(v) ? `an array of ${v.length}` : String(v);
