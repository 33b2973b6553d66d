/**
 * Domains: how points that are sampled become points where the integrand is evaluated. An axis is sampled from one number to another;
 * what else may be known of it makes a change of variables. make-domain.ts makes domains, lower/domain.ts instructions.
 */
import type { Cell } from './cells.ts';
import type { BoundsFunction, FunctionBounds } from './function-bounds.ts';
import type { DomainShape, ShapeMap } from './shapes.ts';

/** s is at least 2^-250: methods halve an axis at most 250 times, and dx/ds = s^-2 must not overflow. */
export const MAX_REACH = 250;
/** Dimensions, at most. */
export const MAX_DIMS = 1000;

/** A range: where it begins, and where it ends. */
export type Range = readonly [number, number];

/** A range with more to say about it than its ends. */
export interface RangeOptions {
  /** Where it begins. */
  from: number;
  /** Where it ends. */
  to: number;
  /** Of an infinite range, how far from its finite end or its centre the integrand reaches. Default 1. */
  scale?: number;
  /** Of a range that is infinite at both ends, where the integrand lies. Default 0. */
  centre?: number;
}

/** A part of a domain: a range, a range whose bounds depend on the coordinates before it, or a shape of several coordinates. */
export type DomainPart = Range | RangeOptions | BoundsFunction | DomainShape;

/** Places that an axis is cut at: `breaks`, where the integrand has kinks or steps, and `peaks`. */
export interface Cuts {
  breaks: readonly number[];
  peaks: readonly number[];
}

/** One axis: the range in which z is sampled, and how z becomes the coordinate x. */
export interface Axis {
  range: [number, number];
  infinite?: InfiniteAxis;
  /** z is made of u from 0 to 1 first. */
  cells?: readonly Cell[];
  bounds?: FunctionBounds;
  /** The first axis of a shape has its map, the `rest` others make no coordinates of their own. */
  map?: ShapeAxis;
  inShape?: true;
}

export interface ShapeAxis {
  shape: DomainShape;
  /** The number of axes. */
  axes: number;
  /** How close points come to its surface, as a part of its size. */
  gap: number;
  /** The map; on the way to a worker, its text. */
  call?: ShapeMap;
  text?: string;
}

export interface InfiniteAxis {
  /** The finite end; absent if both ends are infinite. With `bounds` it is what the function says. */
  end?: number;
  /** The direction of the infinite end: 1 for ∞, −1 for −∞. */
  direction: 1 | -1;
  /** The number beside the finite end, inside the range, unless that end is 0: x must not round to the end. */
  first?: number;
  /** The axis is sampled in s = 1 − z: its infinite end is at 0. */
  reversed?: boolean;
  /** The smallest 1 − z, or 1 − z². */
  minGap: number;
  /** Absent: 1 and 0. */
  scale?: number;
  centre?: number;
}

export interface Domain {
  axes: Axis[];
  /** The box that is sampled: the ranges of the axes. */
  ranges: readonly (readonly [number, number])[];
  /** For each axis, the part of the domain that it belongs to. */
  parts: readonly number[];
  /** The number of coordinates of a point: more than axes where there is a sphere. */
  coordinates: number;
  sign: 1 | -1;
  empty: boolean;
  /** Points of the box where the integrand peaks, if the axes are not stretched around them. */
  points?: readonly (readonly number[])[];
}

/** The domain of finite ranges. */
export function boxOf(ranges: readonly Range[]): Domain {
  const axes = ranges.map(([a, b]): Axis => ({ range: a > b ? [b, a] : [a, b] }));
  return {
    axes,
    ranges: axes.map(a => a.range),
    parts: axes.map((_, d) => d),
    coordinates: axes.length,
    sign: ranges.filter(([a, b]) => a > b).length % 2 === 1 ? -1 : 1,
    empty: ranges.some(([a, b]) => a === b),
  };
}

/** Whether points that are sampled are not the points of the domain. */
export const isMapped = (axes: readonly Axis[]): boolean =>
  axes.some(a => a.infinite || a.cells || a.bounds || a.map);

/**
 * Maps a point z of the sampled box to x in the domain; `jacobian` is dx/dz. Bounds that are not as they were before the run make
 * it NaN. Self-contained: workers run its text.
 */
export function toDomain(axes: readonly Axis[], z: readonly number[]): { x: number[]; jacobian: number } {
  let jacobian = 1;
  const x: number[] = [];
  for (let d = 0; d < axes.length; d++) {
    const { infinite, cells, bounds, map, inShape } = axes[d];
    if (inShape) continue;
    if (map) {
      const made = map.call!(z.slice(d, d + map.axes), map.shape.size, map.shape.centre, 1 - map.gap);
      jacobian *= made.pop()!;
      x.push(...made);
      continue;
    }
    let at = z[d];
    if (cells) {
      const place = at * cells.length;
      const { anchor, width, shift, peak, first, last } =
        cells[Math.min(Math.floor(place), cells.length - 1)];
      const t = place - shift;
      const square = t * t;
      at = anchor + width * (peak ? square * square * t : t);
      at = Math.max(first, Math.min(last, at));
      jacobian *= cells.length * width * (peak ? 5 * (square * square) : 1);
    }
    const [from, to] = bounds ? bounds.call!(x) : [0, 0];
    if (bounds && !infinite) {
      const [low, high] = [Math.min(from, to), Math.max(from, to)];
      const width = high - low;
      const middle = low + 0.5 * width;
      jacobian *= to - from;
      // inside of the range, where it has numbers: see lower/domain.ts
      const least = Math.min(low + 2 ** -52 * Math.abs(low), middle);
      const most = Math.max(high - 2 ** -52 * Math.abs(high), middle);
      x.push(Math.min(Math.max(low + width * at, least), most));
      continue;
    }
    if (!infinite) {
      x.push(at);
      continue;
    }
    const { direction, reversed, minGap, scale = 1, centre = 0 } = infinite;
    let { end, first } = infinite;
    if (bounds?.open) {
      const [a, b] = bounds.open.bounds;
      const asBefore = (a === undefined || a === from) && (b === undefined || b === to);
      jacobian *= asBefore ? bounds.open.sign : Number.NaN;
      if (end !== undefined) {
        end = a === undefined ? from : to;
        first = end + direction * (2 ** -52 * Math.abs(end));
      }
    }
    if (end === undefined) {
      const r = Math.max(1 - at * at, minGap);
      jacobian *= scale * ((1 + at * at) / (r * r));
      x.push(centre + scale * (at / r));
      continue;
    }
    const r = Math.max(reversed ? at : 1 - at, minGap);
    jacobian *= scale * (1 / (r * r));
    const place = end + direction * (scale * ((reversed ? 1 - at : at) / r));
    x.push(first === undefined ? place : direction > 0 ? Math.max(place, first) : Math.min(place, first));
  }
  return { x, jacobian };
}

/** An axis whose functions were lost on the way to a worker gets them back. Self-contained: workers run its text. */
export function revived(axes: readonly Axis[] | undefined, params: unknown): Axis[] | undefined {
  const make = (text: string) => new Function(`return (${text})`)();
  return axes?.map(axis => {
    if (axis.bounds) {
      const f = make(axis.bounds.text);
      return { ...axis, bounds: { ...axis.bounds, call: (x: readonly number[]) => f([...x], params) } };
    }
    return axis.map ? { ...axis, map: { ...axis.map, call: make(axis.map.text!) } } : axis;
  });
}

/** The first bounds at a sampled point that are not finite, or not as infinite as they were before the run. */
export function badBounds(
  axes: readonly Axis[],
  z: readonly number[],
): { name: string; bounds: readonly [number, number]; before: number[] } | undefined {
  for (const [d, { bounds }] of axes.entries()) {
    if (!bounds) continue;
    const before = toDomain(axes.slice(0, d), z).x;
    const found = bounds.call!(before);
    const wanted = bounds.open?.bounds ?? [undefined, undefined];
    if (!wanted.every((b, i) => (b === undefined ? Number.isFinite(found[i]) : b === found[i])))
      return { name: bounds.name, bounds: found, before };
  }
  return undefined;
}

/**
 * Turns a function f on the domain into f(x(z))·dx/dz on the sampled box; `place` is `toDomain`. Of an array or object of numbers,
 * or of these, each number gets the factor. Where the factor is 0 the range is empty there, and f may be anything. Self-contained:
 * workers run its text.
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
        if (jacobian === 0) return 0;
        const y = (v as number) * jacobian;
        return Number.isNaN(y) && typeof v !== 'number' ? v : y; // undefined or a text stays what it is: messages tell it from NaN (src/non-finite.ts)
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
