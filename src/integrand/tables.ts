/**
 * Tables: functions known at grid points, linear in between. A table is called like a function, in plain
 * JavaScript and in a compiled integrand; both run the `lookup` functions below, which are written in the
 * integrand language (nothing outside their arguments), so both give the same bits.
 */

/** Options of `table`. */
export interface TableOptions {
  /** What a table gives outside its axes: the value at the border (`clamp`, the default) or 0 (`zero`). */
  outside?: 'clamp' | 'zero';
}

interface Axis {
  length: number;
  uniform: boolean;
  /** The grid points; for a uniform axis its first point, its last point and the number of cells per unit length. */
  data: Float64Array;
}

type Numbers = ArrayLike<number>;

/** A table, which an integrand calls as a function with one coordinate per axis. */
export interface Table {
  (x: number, y?: number): number;
  /** The axes: the number of grid points of each, and their positions. */
  readonly axes: readonly Axis[];
  /** The values at the grid points, row by row. */
  readonly values: Float64Array;
  /** What the table gives outside its axes: see `TableOptions`. */
  readonly outside: 'clamp' | 'zero';
  /** @internal the function that interpolates, in the integrand language */
  readonly lookup: (...args: never[]) => number;
}

/**
 * A function given by its values on a grid, interpolated linearly, for use in `params`.
 *
 * `table([xs], values)` has one axis, `table([xs, ys], values)` two, with the values row by row:
 * `values[i * ys.length + j]` belongs to `(xs[i], ys[j])`; `values` may be an array of rows as well.
 */
export function table(axes: [Numbers], values: Numbers, options?: TableOptions): Table;
export function table(
  axes: [Numbers, Numbers],
  values: Numbers | readonly Numbers[],
  options?: TableOptions,
): Table;
export function table(
  axes: Numbers[],
  values: Numbers | readonly Numbers[],
  options: TableOptions = {},
): Table {
  if (!Array.isArray(axes) || axes.length < 1 || axes.length > 2) {
    throw new TypeError(
      `table: \`axes\` is ${preview(axes)}; pass one or two arrays of grid points: table([xs], values) or table([xs, ys], values).`,
    );
  }
  const { outside = 'clamp' } = options;
  if (outside !== 'clamp' && outside !== 'zero') {
    throw new TypeError(`table: \`outside\` is ${preview(outside)}; use 'clamp' or 'zero'.`);
  }
  const checked = axes.map((a, k) => makeAxis(a, `axes[${k}]`));
  const flat = flatten(
    values,
    checked.map(a => a.length),
  );
  const lookup = (axes.length === 1 ? lookup1 : lookup2) as (...args: unknown[]) => number;
  const call = (...point: number[]) => {
    const shape = checked.flatMap(a => [a.length, a.uniform]);
    return lookup(
      ...point.slice(0, axes.length),
      ...checked.map(a => a.data),
      flat,
      ...shape,
      outside === 'zero',
    );
  };
  return Object.assign(call, { axes: checked, values: flat, outside, lookup }) as Table;
}

export function isTable(v: unknown): v is Table {
  return typeof v === 'function' && 'lookup' in v && 'axes' in v;
}

function makeAxis(points: Numbers, name: string): Axis {
  const data = numbers(points, name);
  const { length } = data;
  if (length < 2) throw new TypeError(`table: \`${name}\` has ${length} points; an axis needs at least 2.`);
  for (let i = 1; i < length; i++) {
    if (!(data[i] > data[i - 1])) {
      throw new TypeError(
        `table: \`${name}\` does not increase at index ${i} (${data[i - 1]}, then ${data[i]}); sort the grid points and their values.`,
      );
    }
  }
  const [first, last] = [data[0], data[length - 1]];
  const step = (last - first) / (length - 1);
  // where the steps are equal up to rounding, a product finds the cell; a search takes log2(length) steps
  const uniform = data.every(
    (x, i) => Math.abs(x - (first + i * step)) <= 4e-16 * Math.max(Math.abs(first), Math.abs(last)),
  );
  return {
    length,
    uniform,
    data: uniform ? Float64Array.of(first, last, (length - 1) / (last - first)) : data,
  };
}

function flatten(values: Numbers | readonly Numbers[], shape: number[]): Float64Array {
  const rows = Array.isArray(values) && typeof values[0] === 'object' ? (values as Numbers[]) : undefined;
  if (rows && shape.length === 2) {
    const odd = rows.findIndex(r => r === null || typeof r !== 'object' || typeof r.length !== 'number');
    if (odd >= 0) {
      throw new TypeError(
        `table: row ${odd} of \`values\` is ${preview(rows[odd])}; pass an array of numbers.`,
      );
    }
    const wrong = rows.findIndex(r => r.length !== shape[1]);
    if (wrong >= 0)
      throw new TypeError(
        `table: row ${wrong} of \`values\` has ${rows[wrong].length} numbers for ${shape[1]} points of axes[1].`,
      );
  }
  const flat = numbers(rows ? rows.flatMap(r => Array.from(r)) : (values as Numbers), 'values');
  const wanted = shape.reduce((a, b) => a * b);
  if (flat.length !== wanted) {
    throw new TypeError(
      `table: \`values\` has ${flat.length} numbers for ${shape.join(' × ')} grid points; give ${wanted}.`,
    );
  }
  return flat;
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

function lookup1(
  x: number,
  xs: Numbers,
  values: Numbers,
  n: number,
  uniform: boolean,
  zero: boolean,
): number {
  const last = uniform ? xs[1] : xs[n - 1];
  if (zero && (x < xs[0] || x > last)) return 0;
  const c = Math.min(Math.max(x, xs[0]), last); // keeps NaN
  let i = 0;
  let t = 0;
  if (uniform) {
    const u = (c - xs[0]) * xs[2];
    i = Math.min(Math.max(Math.floor(u), 0), n - 2);
    t = u - i;
  } else {
    let step = 1;
    while (step < n - 1) step *= 2;
    for (; step >= 1; step /= 2) {
      // finds the last cell whose left point is ≤ c; past its end `xs` reads NaN, which is never ≤ c
      if (i + step < n - 1 && xs[i + step] <= c) i += step;
    }
    t = (c - xs[i]) / (xs[i + 1] - xs[i]);
  }
  const a = values[i];
  return a + t * (values[i + 1] - a);
}

function lookup2(
  x: number,
  y: number,
  xs: Numbers,
  ys: Numbers,
  values: Numbers,
  nx: number,
  uniformX: boolean,
  ny: number,
  uniformY: boolean,
  zero: boolean,
): number {
  const lastX = uniformX ? xs[1] : xs[nx - 1];
  const lastY = uniformY ? ys[1] : ys[ny - 1];
  if (zero && (x < xs[0] || x > lastX || y < ys[0] || y > lastY)) return 0;
  /** [i, t]: c lies in cell i of the axis, at the fraction t of its width. */
  const find = (c: number, grid: Numbers, n: number, uniform: boolean) => {
    let i = 0;
    let t = 0;
    if (uniform) {
      const u = (c - grid[0]) * grid[2];
      i = Math.min(Math.max(Math.floor(u), 0), n - 2);
      t = u - i;
    } else {
      let step = 1;
      while (step < n - 1) step *= 2;
      for (; step >= 1; step /= 2) if (i + step < n - 1 && grid[i + step] <= c) i += step;
      t = (c - grid[i]) / (grid[i + 1] - grid[i]);
    }
    return [i, t];
  };
  const [i, t] = find(Math.min(Math.max(x, xs[0]), lastX), xs, nx, uniformX);
  const [j, u] = find(Math.min(Math.max(y, ys[0]), lastY), ys, ny, uniformY);
  const k = i * ny + j;
  const a = values[k] + u * (values[k + 1] - values[k]);
  const b = values[k + ny] + u * (values[k + ny + 1] - values[k + ny]);
  return a + t * (b - a);
}
