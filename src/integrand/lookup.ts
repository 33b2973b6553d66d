/**
 * How a table finds a value, in the integrand language: these functions run as they are in JavaScript, and the compiler
 * inlines them. They use nothing but their arguments; each other they get as `Pieces`, and the logarithm as the math kit.
 *
 * The cubic is PCHIP: F. N. Fritsch and J. Butland, "A method for constructing local monotone piecewise cubic interpolants",
 * SIAM J. Sci. Stat. Comput. 5 (1984) 300, with C. Moler's formula at both ends, as in SciPy. The derivative at a point is a
 * weighted harmonic mean of the secants beside it, and 0 where these have different signs. Along the last axis derivatives are
 * known beforehand. Along the others they depend on where the point lies on the last ones, and are computed from the values
 * in the four rows around it, so that all is what SciPy's RegularGridInterpolator gives with method 'pchip'.
 */
import type { Kit } from './math/kit.ts';

export type Numbers = ArrayLike<number>;

export interface Axis {
  /** The number of grid points. */
  length: number;
  /** Whether all cells are equally wide, in the logarithm where `log` is true. */
  uniform: boolean;
  /** Whether the table is interpolated in the logarithm of this coordinate. */
  log: boolean;
  /**
   * The grid points, or their logarithms; for a uniform axis its first point, its last point and the number of cells per
   * unit length.
   */
  data: Float64Array;
}

/** An axis as it is read here. Properties named `length` are those of arrays in the integrand language. */
export interface Grid {
  grid: Numbers;
  count: number;
  uniform: boolean;
  log: boolean;
}

export interface TableData {
  values: Numbers;
  /** Of a cubic table: the derivatives along the last axis; per cell where it is uniform. */
  slopes: Numbers | null;
  zero: boolean;
}

export interface Pieces {
  cellOf: typeof cellOf;
  isOutside: typeof isOutside;
  hermite: typeof hermite;
  across: typeof across;
  inner: typeof inner;
  edge: typeof edge;
}

/** [i, t]: x lies in cell i of the axis, at the fraction t of its width; for x outside, the nearest point of the axis does. */
export function cellOf(x: number, { grid, count, uniform, log }: Grid, m: Kit): [number, number] {
  const last = uniform ? grid[1] : grid[count - 1];
  const s = log ? m.log(Math.max(x, 0)) : x;
  const c = Math.min(Math.max(s, grid[0]), last); // keeps NaN
  let i = 0;
  let t = 0;
  if (uniform) {
    const u = (c - grid[0]) * grid[2];
    i = Math.min(Math.max(Math.floor(u), 0), count - 2);
    t = u - i;
  } else {
    let step = 1;
    while (step < count - 1) step *= 2;
    for (; step >= 1; step /= 2) {
      // finds the last cell whose left point is ≤ c; past its end `grid` reads NaN, which is never ≤ c
      if (i + step < count - 1 && grid[i + step] <= c) i += step;
    }
    t = (c - grid[i]) / (grid[i + 1] - grid[i]);
  }
  return [i, t];
}

export function isOutside(x: number, { grid, count, uniform, log }: Grid, m: Kit): boolean {
  const s = log ? m.log(Math.max(x, 0)) : x;
  return s < grid[0] || s > (uniform ? grid[1] : grid[count - 1]);
}

/** The cubic from a to b with the derivatives p and q, at the fraction t. */
export function hermite(a: number, b: number, p: number, q: number, t: number): number {
  const rise = b - a;
  return a + t * (p + t * (3 * rise - 2 * p - q + t * (p + q - 2 * rise)));
}

/**
 * The monotone cubic in cell i of an axis, at the fraction t. v1 and v2 are the values at its ends, v0 and v3 those at the
 * points before and behind; where the axis ends there, they do not matter.
 */
export function across(
  i: number,
  t: number,
  { grid, count, uniform }: Grid,
  v0: number,
  v1: number,
  v2: number,
  v3: number,
  { hermite, inner, edge }: Pieces,
): number {
  if (count === 2) return v1 + t * (v2 - v1);
  const width = (k: number) => (uniform ? 1 : grid[k + 1] - grid[k]);
  const h1 = width(i);
  const h0 = i > 0 ? width(i - 1) : h1;
  const h2 = i < count - 2 ? width(i + 1) : h1;
  const s0 = (v1 - v0) / h0;
  const s1 = (v2 - v1) / h1;
  const s2 = (v3 - v2) / h2;
  const p = i > 0 ? inner(h0, h1, s0, s1) : edge(h1, h2, s1, s2);
  const q = i < count - 2 ? inner(h1, h2, s1, s2) : edge(h1, h0, s1, s0);
  return hermite(v1, v2, h1 * p, h1 * q, t);
}

/** The derivative between two cells of the widths h0 and h1, with the secants s0 and s1. */
export function inner(h0: number, h1: number, s0: number, s1: number): number {
  const turns = s0 > 0 ? s1 <= 0 : s1 >= 0;
  if (turns || s0 === 0) return 0;
  const w0 = 2 * h1 + h0;
  const w1 = h1 + 2 * h0;
  return (w0 + w1) / (w0 / s0 + w1 / s1);
}

/** The derivative at the end of the axis; h0 and s0 are of the cell there, h1 and s1 of the one beside it. */
export function edge(h0: number, h1: number, s0: number, s1: number): number {
  const d = ((2 * h0 + h1) * s0 - h0 * s1) / (h0 + h1);
  if (s0 > 0 ? d <= 0 : d >= 0) return 0;
  const turns = s0 > 0 ? s1 <= 0 : s1 >= 0;
  return turns && Math.abs(d) > 3 * Math.abs(s0) ? 3 * s0 : d;
}

export function lookup1(
  x: number,
  a: Grid,
  { values, slopes, zero }: TableData,
  { cellOf, isOutside, hermite }: Pieces,
  m: Kit,
): number {
  if (zero && isOutside(x, a, m)) return 0;
  const [i, t] = cellOf(x, a, m);
  const v = values[i];
  if (slopes === null) return v + t * (values[i + 1] - v);
  const h = a.uniform ? 1 : a.grid[i + 1] - a.grid[i];
  return hermite(v, values[i + 1], h * slopes[i], h * slopes[i + 1], t);
}

export function lookup2(
  x: number,
  y: number,
  a: Grid,
  b: Grid,
  { values, slopes, zero }: TableData,
  pieces: Pieces,
  m: Kit,
): number {
  const { cellOf, isOutside, hermite, across } = pieces;
  if (zero && (isOutside(x, a, m) || isOutside(y, b, m))) return 0;
  const [i, t] = cellOf(x, a, m);
  const [j, u] = cellOf(y, b, m);
  const h = b.uniform ? 1 : b.grid[j + 1] - b.grid[j];
  const row = (r: number) => {
    const k = r * b.count + j;
    const v = values[k];
    if (slopes === null) return v + u * (values[k + 1] - v);
    return hermite(v, values[k + 1], h * slopes[k], h * slopes[k + 1], u);
  };
  if (slopes === null) {
    const v = row(i);
    return v + t * (row(i + 1) - v);
  }
  return across(
    i,
    t,
    a,
    row(Math.max(i - 1, 0)),
    row(i),
    row(i + 1),
    row(Math.min(i + 2, a.count - 1)),
    pieces,
  );
}

export function lookup3(
  x: number,
  y: number,
  z: number,
  a: Grid,
  b: Grid,
  c: Grid,
  { values, slopes, zero }: TableData,
  pieces: Pieces,
  m: Kit,
): number {
  const { cellOf, isOutside, hermite, across } = pieces;
  if (zero && (isOutside(x, a, m) || isOutside(y, b, m) || isOutside(z, c, m))) return 0;
  const [i, t] = cellOf(x, a, m);
  const [j, u] = cellOf(y, b, m);
  const [k, w] = cellOf(z, c, m);
  const h = c.uniform ? 1 : c.grid[k + 1] - c.grid[k];
  const row = (r: number, s: number) => {
    const at = (r * b.count + s) * c.count + k;
    const v = values[at];
    if (slopes === null) return v + w * (values[at + 1] - v);
    return hermite(v, values[at + 1], h * slopes[at], h * slopes[at + 1], w);
  };
  const plane = (r: number) => {
    const v = row(r, j);
    if (slopes === null) return v + u * (row(r, j + 1) - v);
    return across(
      j,
      u,
      b,
      row(r, Math.max(j - 1, 0)),
      v,
      row(r, j + 1),
      row(r, Math.min(j + 2, b.count - 1)),
      pieces,
    );
  };
  const v = plane(i);
  if (slopes === null) return v + t * (plane(i + 1) - v);
  return across(
    i,
    t,
    a,
    plane(Math.max(i - 1, 0)),
    v,
    plane(i + 1),
    plane(Math.min(i + 2, a.count - 1)),
    pieces,
  );
}
