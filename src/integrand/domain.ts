/**
 * Domains. A finite range is sampled directly; an infinite range is the image of a finite one under the rational maps
 * that QuadGK uses:
 *
 *     [a, ∞):   x = a + z/(1 − z),  z in [0, 1)        dx = dz/(1 − z)²
 *     (−∞, ∞):  x = z/(1 − z²),     z in (−1, 1)       dx = (1 + z²)/(1 − z²)² dz
 *
 * A range given backwards turns the sign of the integral, an empty one makes it 0.
 */
import type { Builder } from './builder.ts';
import type { Id } from './ir.ts';

/** The smallest 1 − z (or 1 − z²) that the maps divide by: z may round to 1, where they would divide by 0. */
const MIN_GAP = 2 ** -53;

export type Range = readonly [number, number];

/** One axis: the range in which z is sampled, and how z becomes the coordinate x. */
export interface Axis {
  range: [number, number];
  /** An infinite axis has its finite end (absent if both ends are infinite) and the direction of its infinite one. */
  infinite?: { end?: number; direction: 1 | -1 };
}

export interface Domain {
  axes: Axis[];
  /** The box that is sampled: the ranges of the axes. */
  ranges: readonly (readonly [number, number])[];
  sign: 1 | -1;
  empty: boolean;
}

export function makeDomain(ranges: readonly Range[]): Domain {
  let sign: 1 | -1 = 1;
  const axes = ranges.map(([from, to]): Axis => {
    if (from > to) sign = -sign as 1 | -1;
    const [a, b] = from > to ? [to, from] : [from, to];
    if (a === -Infinity && b === Infinity) return { range: [-1, 1], infinite: { direction: 1 } };
    if (b === Infinity) return { range: [0, 1], infinite: { end: a, direction: 1 } };
    if (a === -Infinity) return { range: [0, 1], infinite: { end: b, direction: -1 } };
    return { range: [a, b] };
  });
  return { axes, ranges: axes.map(a => a.range), sign, empty: ranges.some(([a, b]) => a === b) };
}

/** Maps a point z of the sampled box to x in the domain; `jacobian` is dx/dz. Self-contained: workers run its text. */
export function toDomain(axes: readonly Axis[], z: readonly number[]): { x: number[]; jacobian: number } {
  const minGap = 2 ** -53; // MIN_GAP
  let jacobian = 1;
  const x = axes.map(({ infinite }, d) => {
    if (!infinite) return z[d];
    const { end, direction } = infinite;
    if (end === undefined) {
      const r = Math.max(1 - z[d] * z[d], minGap);
      jacobian *= (1 + z[d] * z[d]) / (r * r);
      return z[d] / r;
    }
    const r = Math.max(1 - z[d], minGap);
    jacobian *= 1 / (r * r);
    return end + direction * (z[d] / r);
  });
  return { x, jacobian };
}

/**
 * Turns a function f on the domain into f(x(z))·dx/dz on the sampled box; `place` is `toDomain`. Self-contained:
 * workers run its text.
 */
export function onSampled<T>(
  f: (x: number[]) => T,
  axes: readonly Axis[] | undefined,
  place: typeof toDomain,
): (z: number[]) => number | Promise<number> {
  type Value = number | Promise<number>;
  if (!axes) return f as (z: number[]) => Value;
  return z => {
    const { x, jacobian } = place(axes, z);
    const y = f(x) as Value;
    return typeof (y as Promise<number> | undefined)?.then === 'function'
      ? (y as Promise<number>).then(v => v * jacobian)
      : (y as number) * jacobian;
  };
}

/** `toDomain` as instructions of a program; `z` holds the ids of the sampled coordinates. */
export function buildDomain(b: Builder, axes: readonly Axis[], z: Id[]): { x: Id[]; jacobian: Id } {
  const one = b.constant(1);
  const minGap = b.constant(MIN_GAP);
  let jacobian = one;
  const x = axes.map(({ infinite }, d) => {
    if (!infinite) return z[d];
    const { end, direction } = infinite;
    if (end === undefined) {
      const square = b.op('mul', z[d], z[d]);
      const r = b.op('max', b.op('sub', one, square), minGap);
      jacobian = b.op('mul', jacobian, b.op('div', b.op('add', one, square), b.op('mul', r, r)));
      return b.op('div', z[d], r);
    }
    const r = b.op('max', b.op('sub', one, z[d]), minGap);
    jacobian = b.op('mul', jacobian, b.op('div', one, b.op('mul', r, r)));
    return b.op('add', b.constant(end), b.op('mul', b.constant(direction), b.op('div', z[d], r)));
  });
  return { x, jacobian };
}
