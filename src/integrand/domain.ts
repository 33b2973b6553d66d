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
 * Both may have a scale, (x − a)/scale = z/(1 − z), and the second one a centre: an integrand that is 10 wide and lies at 1e6 has
 * a part of 1e-11 of z without them.
 *
 * A range given backwards turns the sign of the integral, an empty one makes it 0. Ranges whose bounds are functions are in
 * function-bounds.ts, cuts of an axis in cells.ts, balls and simplices in shapes.ts; lower/domain.ts makes instructions of all.
 */
import { type Cell, cellsOf } from './cells.ts';
import { type BoundsFunction, type FunctionBounds, functionBounds } from './function-bounds.ts';
import { nextDown, nextUp } from './inner-range.ts';
import type { Params } from './params.ts';
import { type DomainShape, isShape, SHAPE_MAPS, type ShapeMap, sampledBy, surfaceGap } from './shapes.ts';

/** The smallest 1 − z (or 1 − z²) that the maps divide by: z may round to 1, where they would divide by 0. */
const MIN_GAP = 2 ** -53;
/** From this |a| on, [a, ∞) is sampled in s = 1 − z. */
const LEAST_END = 2 ** -20;
/** s is at least 2^-250: methods halve an axis at most 250 times, and dx/ds = s^-2 must not overflow. */
export const MAX_REACH = 250;
/** dx/ds is a product over all axes; its exponents together are at most twice this. */
const MAX_TOTAL_REACH = 500;
/** Points at which functions of bounds are asked before the run. */
const ASKED_POINTS = 8;

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
}

/** The domain of checked parts. `params` is what functions of bounds are called with, `cuts` has those of each part. */
export function makeDomain(
  parts: readonly DomainPart[],
  params: Params = {},
  cuts: readonly (Cuts | undefined)[] = [],
): Domain {
  const infinite = parts.filter(
    part => typeof part === 'function' || endsOf(part)?.some(b => Math.abs(b) === Infinity),
  );
  const reach = Math.min(MAX_REACH, Math.floor(MAX_TOTAL_REACH / infinite.length));
  const axes: Axis[] = [];
  const partOf: number[] = [];
  let [sign, empty, coordinates] = [1 as 1 | -1, false, 0];
  for (const [d, given] of parts.entries()) {
    const part = onLine(given);
    const ends = endsOf(part);
    if (typeof part === 'function') {
      const before = askedPoints(axes);
      axes.push(boundedAxis(functionBounds(part, d, before, params), reach));
    } else if (isShape(part)) axes.push(...shapeAxes(part));
    else if (ends) {
      if (ends[0] > ends[1]) sign = -sign as 1 | -1;
      empty ||= ends[0] === ends[1];
      axes.push(cutAxis(rangeAxis(part as Range | RangeOptions, reach), cuts[d]));
    }
    while (partOf.length < axes.length) partOf.push(d);
    coordinates += isShape(part) ? part.dims : 1;
  }
  return { axes, ranges: axes.map(a => a.range), parts: partOf, coordinates, sign, empty };
}

/** A shape of one coordinate is a range. */
function onLine(part: DomainPart): DomainPart {
  if (!isShape(part) || part.dims > 1) return part;
  const { shape, size, centre } = part;
  return shape === 'ball' ? [centre[0] - size, centre[0] + size] : [0, size];
}

/** Whether points that are sampled are not the points of the domain. */
export const isMapped = (axes: readonly Axis[]): boolean =>
  axes.some(a => a.infinite || a.cells || a.bounds || a.map);

/** The ends of a range; undefined for a function or a shape. */
export function endsOf(part: DomainPart): Range | undefined {
  if (typeof part === 'function' || isShape(part)) return undefined;
  return 'from' in part ? [part.from, part.to] : part;
}

/** Points of the axes so far, spread over them: the golden ratio and its powers keep them apart. */
function askedPoints(axes: readonly Axis[]): number[][] {
  return Array.from({ length: ASKED_POINTS }, (_, i) => {
    const z = axes.map(({ range: [low, high] }, d) => {
      const part = ((i + 1) * 0.6180339887498949 ** (d + 1) + 0.37) % 1;
      return low + (high - low) * part;
    });
    return toDomain(axes, z).x;
  });
}

function rangeAxis(part: Range | RangeOptions, reach: number): Axis {
  const [from, to] = endsOf(part)!;
  const [a, b] = from > to ? [to, from] : [from, to];
  const { scale, centre } = 'from' in part ? part : {};
  const stretched = { ...(scale !== undefined && { scale }), ...(centre !== undefined && { centre }) };
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
        ...stretched,
      },
    };
  };
  if (a === -Infinity && b === Infinity)
    return { range: [-1, 1], infinite: { direction: 1, minGap: MIN_GAP, ...stretched } };
  if (b === Infinity) return half(a, 1);
  if (a === -Infinity) return half(b, -1);
  return { range: [a, b] };
}

function boundedAxis(bounds: FunctionBounds, reach: number): Axis {
  if (!bounds.open) return { range: [0, 1], bounds };
  const { direction } = bounds.open;
  if (direction === 0) return { range: [-1, 1], infinite: { direction: 1, minGap: MIN_GAP }, bounds };
  // the end is seldom 0: the axis is sampled in s = 1 − z, if that reaches farther
  const reversed = 2 ** -reach < MIN_GAP;
  const minGap = reversed ? 2 ** -reach : MIN_GAP;
  return { range: [0, 1], infinite: { end: 0, direction, ...(reversed && { reversed }), minGap }, bounds };
}

function shapeAxes(shape: DomainShape): Axis[] {
  const axes = sampledBy(shape);
  const call = SHAPE_MAPS[shape.shape];
  return Array.from(
    { length: axes },
    (_, i): Axis =>
      i === 0
        ? { range: [0, 1], map: { shape, axes, gap: surfaceGap(shape), call } }
        : { range: [0, 1], inShape: true },
  );
}

/** The axis with its cuts, which are given as coordinates. */
function cutAxis(axis: Axis, cuts: Cuts | undefined): Axis {
  if (!cuts || (cuts.breaks.length === 0 && cuts.peaks.length === 0)) return axis;
  const place = (z: number) => toDomain([axis], [z]).x[0];
  const known = new Set([...cuts.breaks, ...cuts.peaks, ...axis.range.map(place)]);
  const [breaks, peaks] = [cuts.breaks, cuts.peaks].map(list => list.map(x => sampledAt(axis, x)));
  return { ...axis, range: [0, 1], cells: cellsOf(axis.range, breaks, peaks, z => known.has(place(z))) };
}

/** The z at which the coordinate is x. */
function sampledAt({ infinite, range: [low, high] }: Axis, x: number): number {
  if (!infinite) return x;
  const { end, direction, reversed, scale = 1, centre = 0 } = infinite;
  if (end === undefined) {
    const y = (x - centre) / scale;
    return (2 * y) / (1 + Math.sqrt(1 + 4 * y * y));
  }
  const y = (direction * (x - end)) / scale;
  return Math.min(high, Math.max(low, reversed ? 1 / (1 + y) : y / (1 + y)));
}

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
