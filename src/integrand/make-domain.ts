/**
 * Makes domains. A finite range is sampled directly; an infinite range is the image of a finite one under the rational maps
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

import {
  type Axis,
  type Cuts,
  type Domain,
  type DomainPart,
  MAX_REACH,
  type Range,
  type RangeOptions,
  toDomain,
} from './domain.ts';
import { type FunctionBounds, functionBounds } from './function-bounds.ts';
import { nextDown, nextUp } from './inner-range.ts';
import * as domainLowering from './lower/domain.ts';
import { loweringOfDomains } from './lower/lower.ts';
import { cellsOf } from './make-cells.ts';
import type { Params } from './params.ts';
import { type DomainShape, isShape, SHAPE_MAPS, sampledBy, surfaceGap } from './shapes.ts';

/** The smallest 1 − z (or 1 − z²) that the maps divide by: z may round to 1, where they would divide by 0. */
const MIN_GAP = 2 ** -53;
/** From this |a| on, [a, ∞) is sampled in s = 1 − z. */
const LEAST_END = 2 ** -20;
/** dx/ds is a product over all axes; its exponents together are at most twice this. */
const MAX_TOTAL_REACH = 500;
/** Points at which functions of bounds are asked before the run. */
const ASKED_POINTS = 8;

/**
 * The domain of checked parts. `params` is what functions of bounds are called with, `cuts` has those of each part. `nests`: peaks are
 * points of the domain, and its axes are not stretched around them.
 */
export function makeDomain(
  parts: readonly DomainPart[],
  params: Params = {},
  cuts: readonly (Cuts | undefined)[] = [],
  nests = false,
): Domain {
  loweringOfDomains.provide(domainLowering);
  const infinite = parts.filter(
    part => typeof part === 'function' || endsOf(part)?.some(b => Math.abs(b) === Infinity),
  );
  const reach = Math.min(MAX_REACH, Math.floor(MAX_TOTAL_REACH / infinite.length));
  const axes: Axis[] = [];
  const partOf: number[] = [];
  /** For each part, where on its axis the peaks are. */
  const places: number[][] = [];
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
      const axis = rangeAxis(part as Range | RangeOptions, reach);
      const own = cuts[d];
      axes.push(cutAxis(axis, nests && own ? { ...own, peaks: [] } : own));
      places.push((own?.peaks ?? []).map(x => placeOn(axes[axes.length - 1], sampledAt(axis, x))));
    }
    while (partOf.length < axes.length) partOf.push(d);
    coordinates += isShape(part) ? part.dims : 1;
  }
  const points = (places[0] ?? []).map((_, i) => places.map(own => own[i]));
  return {
    axes,
    ranges: axes.map(a => a.range),
    parts: partOf,
    coordinates,
    sign,
    empty,
    ...(nests && points.length > 0 && { points }),
  };
}

/** A shape of one coordinate is a range. */
function onLine(part: DomainPart): DomainPart {
  if (!isShape(part) || part.dims > 1) return part;
  const { shape, size, centre } = part;
  return shape === 'ball' ? [centre[0] - size, centre[0] + size] : [0, size];
}

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

/** The place of z on an axis that may be cut at breaks. */
function placeOn({ cells }: Axis, z: number): number {
  if (!cells) return z;
  const { anchor, width, shift } = cells.findLast(c => c.first <= z) ?? cells[0];
  return Math.min(1, Math.max(0, ((z - anchor) / width + shift) / cells.length));
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
