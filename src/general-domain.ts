/** Domains of any kind, checked with all that may be wrong about them, and made. */
import type { DomainOptions } from './domain-options.ts';
import { type Cuts, type Domain, type DomainPart, MAX_DIMS } from './integrand/domain.ts';
import { MAX_CELLS } from './integrand/make-cells.ts';
import { endsOf, makeDomain } from './integrand/make-domain.ts';
import type { Params } from './integrand/params.ts';
import { isShape, sampledBy } from './integrand/shapes.ts';
import { OptionError } from './options/option-error.ts';
import type { Text } from './options/wording.ts';

/** Methods whose regions start around points, and the dimensions from which on they do. In fewer, stretched axes take no more evaluations. */
const NESTING: ReadonlySet<string> = new Set(['pagani']);
const MIN_NESTED_DIMS = 4;

export function generalDomainOf(options: DomainOptions, params: Params): Domain {
  const parts = partsOf(options);
  const nests =
    options.method !== undefined && NESTING.has(options.method) && parts.length >= MIN_NESTED_DIMS;
  return makeDomain(parts, params, cutsOf(options, parts), nests);
}

function partsOf({ domain, dims }: DomainOptions): DomainPart[] {
  if ((domain === undefined) === (dims === undefined)) {
    refuse(
      'domain',
      domain,
      domain === undefined
        ? 'give `domain` (a range an axis) or `dims` (the unit cube)'
        : 'give `domain` or `dims`, not both',
    );
  }
  if (dims !== undefined) return Array.from({ length: dims }, () => [0, 1]);
  if (isShape(domain)) return [domain];
  if (!Array.isArray(domain) || domain.length < 1 || domain.length > MAX_DIMS)
    refuse('domain', domain, `pass a range an axis, such as [[0, 1], [-1, 1]], at most ${MAX_DIMS}`);
  // Array.from, not map: map would skip the holes of a sparse list
  const parts = Array.from(domain as unknown[], partOf);
  const sampled = parts.reduce<number>((n, part) => n + (isShape(part) ? sampledBy(part) : 1), 0);
  if (sampled > MAX_DIMS)
    refuse('domain', domain, `it has ${sampled} dimensions, and ${MAX_DIMS} is the most`);
  return parts;
}

function partOf(part: unknown, d: number): DomainPart {
  if (typeof part === 'function' || isShape(part)) return part as DomainPart;
  const name = `domain[${d}]`;
  const no = (remedy: Text) => refuse(name, part, remedy);
  const isObject = typeof part === 'object' && part !== null && 'from' in part && 'to' in part;
  const bounds =
    Array.isArray(part) && part.length === 2
      ? (part as unknown[])
      : isObject
        ? [part.from, part.to]
        : no('pass two bounds, such as [0, 1]');
  for (const b of bounds) if (typeof b !== 'number' || Number.isNaN(b)) no('bounds are numbers or ±Infinity');
  const [a, b] = bounds as [number, number];
  if (a === b && !Number.isFinite(a)) no('a range from an infinity to itself has no points');
  if (Number.isFinite(a) && Number.isFinite(b) && !Number.isFinite(b - a))
    no('this range is wider than a number can say: use ±Infinity');
  return isObject ? rangeOf(part, [a, b], name) : [a, b];
}

function rangeOf(part: object, [from, to]: [number, number], name: string): DomainPart {
  const known = ['from', 'to', 'scale', 'centre'];
  for (const key of Object.keys(part))
    if (!known.includes(key))
      refuse(`${name}.${key}`, (part as Record<string, unknown>)[key], `a range has ${known.join(', ')}`);
  const { scale, centre } = part as { scale?: unknown; centre?: unknown };
  const infinities = [from, to].filter(b => !Number.isFinite(b)).length;
  if (scale !== undefined && !(typeof scale === 'number' && scale > 0 && scale < Infinity))
    refuse(`${name}.scale`, scale, 'pass a number above 0');
  if (scale !== undefined && infinities === 0)
    refuse(`${name}.scale`, scale, 'leave it out: it is for ranges that are infinite');
  if (centre !== undefined && !(typeof centre === 'number' && Number.isFinite(centre)))
    refuse(`${name}.centre`, centre, 'pass a number');
  if (centre !== undefined && infinities < 2)
    refuse(`${name}.centre`, centre, 'leave it out: it is for ranges that are infinite at both ends');
  return {
    from,
    to,
    ...(scale !== undefined && { scale: scale as number }),
    ...(centre !== undefined && { centre: centre as number }),
  };
}

/** The cuts of each part. */
function cutsOf({ breaks, points }: DomainOptions, parts: readonly DomainPart[]): (Cuts | undefined)[] {
  if (breaks === undefined && points === undefined) return [];
  const lists = listsOf('breaks', breaks, 'pass a list of numbers per axis, such as [[0.3], []]');
  const first: number[] = []; // the number of the first coordinate of each part
  let coordinates = 0;
  for (const part of parts) {
    first.push(coordinates);
    coordinates += isShape(part) ? part.dims : 1;
  }
  if (lists.length > coordinates)
    refuse('breaks', breaks, `pass at most ${coordinates} lists, one for each coordinate`);
  const peaks = listsOf('points', points, 'pass a list of points, such as [[0.3, 0.7]]');
  for (const [i, point] of peaks.entries())
    if (point.length !== coordinates)
      refuse(
        `points[${i}]`,
        point,
        `pass ${coordinates} ${coordinates === 1 ? 'coordinate' : 'coordinates'} for each point`,
      );
  return parts.map((part, d): Cuts | undefined => {
    const at = first[d];
    const end = first[d + 1] ?? coordinates;
    const own = { breaks: lists.slice(at, end).flat(), peaks: peaks.map(point => point[at]) };
    if (own.breaks.length === 0 && own.peaks.length === 0) return undefined;
    const name = own.breaks.length > 0 ? `breaks[${at}]` : 'points';
    const ends = endsOf(part);
    if (!ends)
      refuse(
        name,
        own.breaks.length > 0 ? own.breaks : points,
        `leave it out: domain[${d}] is no range with fixed ends, and cannot be cut`,
      );
    const [low, high] = ends[0] < ends[1] ? ends : [ends[1], ends[0]];
    for (const x of own.breaks)
      if (!(x >= low && x <= high)) refuse(`breaks[${at}]`, own.breaks, `${x} is outside of domain[${d}]`);
    for (const [i, x] of own.peaks.entries())
      if (!(x >= low && x <= high)) refuse(`points[${i}]`, peaks[i], `${x} is outside of domain[${d}]`);
    // a peak makes two cells, and the cells are made a power of two
    if (own.breaks.length + 2 * new Set(own.peaks).size > MAX_CELLS - 1)
      refuse(
        name,
        own.breaks.length > 0 ? own.breaks : points,
        `an axis takes ${MAX_CELLS - 1} breaks, or half as many points`,
      );
    return own;
  });
}

function listsOf(name: string, lists: unknown, remedy: string): number[][] {
  if (lists === undefined) return [];
  if (!Array.isArray(lists)) refuse(name, lists, remedy);
  return Array.from(lists as unknown[], (list, i) => {
    if (list === undefined && name === 'breaks') return [];
    if (!Array.isArray(list)) refuse(`${name}[${i}]`, list, remedy);
    for (const x of list as unknown[])
      if (typeof x !== 'number' || !Number.isFinite(x)) refuse(`${name}[${i}]`, list, 'pass finite numbers');
    return [...(list as number[])];
  });
}

function refuse(option: string, value: unknown, remedy: Text): never {
  throw new OptionError(option, value, remedy);
}
