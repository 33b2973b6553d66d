/**
 * Domains. A finite range is sampled directly; an infinite range is the image of a finite one under the rational maps
 * that QuadGK uses:
 *
 *     [a, ∞):   x = a + z/(1 − z),  z in (0, 1)        dx = dz/(1 − z)²
 *     (−∞, ∞):  x = z/(1 − z²),     z in (−1, 1)       dx = (1 + z²)/(1 − z²)² dz
 *
 * Numbers near z = 1 are 2^-53 apart, so these maps end at x − a = 2^53 = 9e15, while ∫ x^-1.05 from there on is 3.2 of 20.
 * Numbers near 0 are as dense as one likes, so [a, ∞) is sampled in s = 1 − z instead, which reaches x = 2^250 = 2e75. That
 * has its price at the other end, where x − a is at least 2^-53. It is paid where x near a cannot be much finer anyway:
 * where |a| is at least 2^-20. For [0, ∞) the variable stays z, since an integrand such as x^-0.9·e^-x needs it.
 *
 * A range given backwards turns the sign of the integral, an empty one makes it 0.
 */
import type { Builder } from './builder.ts';
import { nextDown, nextUp } from './inner-range.ts';
import type { Id } from './ir.ts';

/** The smallest 1 − z (or 1 − z²) that the maps divide by: z may round to 1, where they would divide by 0. */
const MIN_GAP = 2 ** -53;
/** From this |a| on, [a, ∞) is sampled in s = 1 − z. */
const LEAST_END = 2 ** -20;
/** s is at least 2^-250: methods halve an axis at most 250 times, and dx/ds = s^-2 must not overflow. */
export const MAX_REACH = 250;
/** dx/ds is a product over all axes; its exponents together are at most twice this. */
const MAX_TOTAL_REACH = 500;

export type Range = readonly [number, number];

/** One axis: the range in which z is sampled, and how z becomes the coordinate x. */
export interface Axis {
  range: [number, number];
  infinite?: InfiniteAxis;
}

export interface InfiniteAxis {
  /** The finite end; absent if both ends are infinite. */
  end?: number;
  /** The direction of the infinite end: 1 for ∞, −1 for −∞. */
  direction: 1 | -1;
  /** The number beside the finite end, inside the range, unless that end is 0: x must not round to the end. */
  first?: number;
  /** The axis is sampled in s = 1 − z: its infinite end is at 0. */
  reversed?: boolean;
  /** The smallest 1 − z, or 1 − z². */
  minGap: number;
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
  const isInfinite = (range: Range) => range.some(bound => Math.abs(bound) === Infinity);
  const reach = Math.min(MAX_REACH, Math.floor(MAX_TOTAL_REACH / ranges.filter(isInfinite).length));
  const half = (end: number, direction: 1 | -1): Axis => {
    const reversed = Math.abs(end) >= LEAST_END && 2 ** -reach < MIN_GAP;
    const first = direction > 0 ? nextUp(end) : nextDown(end);
    return {
      range: [0, 1],
      infinite: {
        end,
        direction,
        ...(end !== 0 && { first }),
        ...(reversed && { reversed }),
        minGap: reversed ? 2 ** -reach : MIN_GAP,
      },
    };
  };
  const axes = ranges.map(([from, to]): Axis => {
    if (from > to) sign = -sign as 1 | -1;
    const [a, b] = from > to ? [to, from] : [from, to];
    if (a === -Infinity && b === Infinity)
      return { range: [-1, 1], infinite: { direction: 1, minGap: MIN_GAP } };
    if (b === Infinity) return half(a, 1);
    if (a === -Infinity) return half(b, -1);
    return { range: [a, b] };
  });
  return { axes, ranges: axes.map(a => a.range), sign, empty: ranges.some(([a, b]) => a === b) };
}

/** Maps a point z of the sampled box to x in the domain; `jacobian` is dx/dz. Self-contained: workers run its text. */
export function toDomain(axes: readonly Axis[], z: readonly number[]): { x: number[]; jacobian: number } {
  let jacobian = 1;
  const x = axes.map(({ infinite }, d) => {
    if (!infinite) return z[d];
    const { end, direction, first, reversed, minGap } = infinite;
    if (end === undefined) {
      const r = Math.max(1 - z[d] * z[d], minGap);
      jacobian *= (1 + z[d] * z[d]) / (r * r);
      return z[d] / r;
    }
    const r = Math.max(reversed ? z[d] : 1 - z[d], minGap);
    jacobian *= 1 / (r * r);
    const place = end + direction * ((reversed ? 1 - z[d] : z[d]) / r);
    if (first === undefined) return place;
    return direction > 0 ? Math.max(place, first) : Math.min(place, first);
  });
  return { x, jacobian };
}

/**
 * Turns a function f on the domain into f(x(z))·dx/dz on the sampled box; `place` is `toDomain`. Of an array or object of numbers,
 * or of these, each number gets the factor. Self-contained: workers run its text.
 */
export function onSampled<T>(
  f: (x: number[]) => T,
  axes: readonly Axis[] | undefined,
  place: typeof toDomain,
): (z: number[]) => T {
  if (!axes) return f;
  return z => {
    const { x, jacobian } = place(axes, z);
    const times = (v: unknown): unknown => {
      if (typeof v !== 'object' || v === null) {
        const y = (v as number) * jacobian;
        return Number.isNaN(y) ? v : y; // undefined or a text stays what it is: messages tell it from NaN (src/non-finite.ts)
      }
      if (Array.isArray(v) || ArrayBuffer.isView(v)) return Array.from(v as ArrayLike<unknown>, times);
      return Object.fromEntries(Object.entries(v).map(([name, member]) => [name, times(member)]));
    };
    const y = f(x);
    return (
      typeof (y as Promise<unknown> | undefined)?.then === 'function'
        ? (y as Promise<unknown>).then(times)
        : times(y)
    ) as T;
  };
}

/** `toDomain` as instructions of a program; `z` holds the ids of the sampled coordinates. */
export function buildDomain(b: Builder, axes: readonly Axis[], z: Id[]): { x: Id[]; jacobian: Id } {
  const one = b.constant(1);
  let jacobian = one;
  const x = axes.map(({ infinite }, d) => {
    if (!infinite) return z[d];
    const { end, direction, first, reversed } = infinite;
    const minGap = b.constant(infinite.minGap);
    if (end === undefined) {
      const square = b.op('mul', z[d], z[d]);
      const r = b.op('max', b.op('sub', one, square), minGap);
      jacobian = b.op('mul', jacobian, b.op('div', b.op('add', one, square), b.op('mul', r, r)));
      return b.op('div', z[d], r);
    }
    const rest = b.op('sub', one, z[d]);
    const r = b.op('max', reversed ? z[d] : rest, minGap);
    jacobian = b.op('mul', jacobian, b.op('div', one, b.op('mul', r, r)));
    const distance = b.op('mul', b.constant(direction), b.op('div', reversed ? rest : z[d], r));
    const place = b.op('add', b.constant(end), distance);
    if (first === undefined) return place;
    return b.op(direction > 0 ? 'max' : 'min', place, b.constant(first));
  });
  return { x, jacobian };
}
