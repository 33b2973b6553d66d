/** `toDomain` (../domain.ts) as instructions of a program: from the sampled point to the point of the domain, and dx/dz. */
import type { AnyNode } from 'acorn';
import type { Cell } from '../cells.ts';
import { IntegrandError } from '../diagnostics.ts';
import type { Axis, InfiniteAxis } from '../domain.ts';
import type { FunctionBounds } from '../function-bounds.ts';
import type { Id } from '../ir.ts';
import { readBounds, readInternal } from '../read.ts';
import { elementAt, makeArray } from './arrays.ts';
import { inline, internalFunction } from './calls.ts';
import type { Env, Lowering } from './lowering.ts';
import { describe, type FunctionValue, isArray, Names, type Outside, type Val } from './values.ts';

/** What the changes of variables are made for: the integrand, whose params functions of bounds see as well. */
interface Integrand {
  node: AnyNode;
  env: Env;
  /** The second and the third argument. */
  rest: readonly Val[];
  /** What a function finds under names that it does not declare. */
  outside(f: unknown): Outside | undefined;
}

export interface Mapped {
  x: Id[];
  jacobian: Id;
  /** Whether the Jacobian may be 0, where the integrand may be infinite. */
  mayVanish: boolean;
}

/** `z` holds the ids of the sampled coordinates. */
export function lowerDomain(l: Lowering, axes: readonly Axis[], z: readonly Id[], f: Integrand): Mapped {
  const b = l.builder;
  const x: Id[] = [];
  let jacobian = b.constant(1);
  const times = (factor: Id) => {
    jacobian = b.op('mul', jacobian, factor);
  };
  for (const [d, { infinite, cells, bounds, map, inShape }] of axes.entries()) {
    if (inShape) continue;
    if (map) {
      const numbers = (ids: readonly Id[]) => makeArray(l, ids.map(l.number), f.env, f.node);
      const { size, centre } = map.shape;
      const fn = internalFunction(readInternal(map.call!), map.shape.shape);
      const args = [
        numbers(z.slice(d, d + map.axes)),
        l.literal(size),
        numbers(centre.map(c => b.constant(c))),
        l.literal(1 - map.gap),
      ];
      const made = elementsOf(l, inline(l, fn, args, f.node, f.env), f.env, f.node);
      times(made.pop()!);
      x.push(...made);
      continue;
    }
    let at = z[d];
    if (cells) {
      const cell = inCell(l, cells, at);
      at = cell.at;
      times(cell.jacobian);
    }
    const ends = bounds && lowerBounds(l, bounds, x, f);
    if (ends && !infinite) {
      times(b.op('sub', ends[1], ends[0]));
      x.push(between(l, ends, at));
    } else if (infinite) {
      const own = unbounded(l, infinite, at, bounds?.open && { ...bounds.open, ends: ends! });
      times(own.jacobian);
      x.push(own.x);
    } else x.push(at);
  }
  return { x, jacobian, mayVanish: axes.some(a => a.cells || a.bounds || a.map) };
}

/** The place in a cell, and its Jacobian. */
function inCell(l: Lowering, cells: readonly Cell[], u: Id): { at: Id; jacobian: Id } {
  const b = l.builder;
  const count = b.constant(cells.length);
  const place = b.op('mul', u, count);
  const chosen = (of: (cell: Cell) => number): Id =>
    cells.reduce((before, cell, k) => {
      const own = b.constant(of(cell));
      return k === 0 || own === before ? own : b.op('select', b.op('le', b.constant(k), place), own, before);
    }, -1);
  const t = b.op(
    'sub',
    place,
    chosen(c => c.shift),
  );
  const square = b.op('mul', t, t);
  const fourth = b.op('mul', square, square);
  const isPeak = b.op(
    'ne',
    chosen(c => (c.peak ? 1 : 0)),
    b.constant(0),
  );
  const width = chosen(c => c.width);
  const part = b.op('select', isPeak, b.op('mul', fourth, t), t);
  const z = b.op(
    'add',
    chosen(c => c.anchor),
    b.op('mul', width, part),
  );
  const slope = b.op('select', isPeak, b.op('mul', b.constant(5), fourth), b.constant(1));
  return {
    at: b.op(
      'max',
      b.op(
        'min',
        z,
        chosen(c => c.last),
      ),
      chosen(c => c.first),
    ),
    jacobian: b.op('mul', b.op('mul', count, width), slope),
  };
}

/**
 * low + (high − low)·u, moved inside of the range: 2^-52 of an end is at least the distance to the number beside it. Where a
 * range has no numbers inside it is its middle.
 */
function between(l: Lowering, [from, to]: readonly [Id, Id], u: Id): Id {
  const b = l.builder;
  const [low, high] = [b.op('min', from, to), b.op('max', from, to)];
  const width = b.op('sub', high, low);
  const middle = b.op('add', low, b.op('mul', b.constant(0.5), width));
  const beside = (end: Id) => b.op('mul', b.constant(2 ** -52), b.op('abs', end));
  const least = b.op('min', b.op('add', low, beside(low)), middle);
  const most = b.op('max', b.op('sub', high, beside(high)), middle);
  return b.op('min', b.op('max', b.op('add', low, b.op('mul', width, u)), least), most);
}

/** A coordinate of an infinite range; `open` is set where its finite end is what a function says. */
function unbounded(
  l: Lowering,
  { end, direction, first, reversed, minGap, scale, centre }: InfiniteAxis,
  z: Id,
  open: (NonNullable<FunctionBounds['open']> & { ends: readonly [Id, Id] }) | undefined,
): { x: Id; jacobian: Id } {
  const b = l.builder;
  const one = b.constant(1);
  const gap = b.constant(minGap);
  const scaled = (id: Id) => (scale === undefined ? id : b.op('mul', b.constant(scale), id));
  const signed = (id: Id) => (open && open.sign < 0 ? b.op('neg', id) : id);
  if (end === undefined) {
    const square = b.op('mul', z, z);
    const r = b.op('max', b.op('sub', one, square), gap);
    const jacobian = b.op('div', b.op('add', one, square), b.op('mul', r, r));
    const x = scaled(b.op('div', z, r));
    return {
      x: centre === undefined ? x : b.op('add', b.constant(centre), x),
      jacobian: signed(scaled(jacobian)),
    };
  }
  const rest = b.op('sub', one, z);
  const r = b.op('max', reversed ? z : rest, gap);
  const jacobian = b.op('div', one, b.op('mul', r, r));
  const distance = b.op('mul', b.constant(direction), scaled(b.op('div', reversed ? rest : z, r)));
  const from = open ? open.ends[open.bounds[0] === undefined ? 0 : 1] : b.constant(end);
  const place = b.op('add', from, distance);
  const beside = open
    ? b.op(
        'add',
        from,
        b.op('mul', b.constant(direction), b.op('mul', b.constant(2 ** -52), b.op('abs', from))),
      )
    : first === undefined
      ? undefined
      : b.constant(first);
  return {
    x: beside === undefined ? place : b.op(direction > 0 ? 'max' : 'min', place, beside),
    jacobian: signed(scaled(jacobian)),
  };
}

/** The bounds that a function gives for the coordinates so far. */
function lowerBounds(l: Lowering, bounds: FunctionBounds, x: readonly Id[], f: Integrand): [Id, Id] {
  const fail = (why: string, remedy: string): never => {
    throw new IntegrandError(`${bounds.name} ${why}.`, remedy, { source, span: node });
  };
  const { node, source } = readBounds(bounds.f!, bounds.name);
  const point = makeArray(l, x.map(l.number), f.env, node);
  const args: Val[] = [{ ...point, fixed: 'the coordinates before it' }, ...f.rest];
  const env = { ...f.env, source };
  const names = new Names(null, f.outside(bounds.f));
  const fn: FunctionValue = { kind: 'function', node, source, names, name: bounds.name };
  const found = inline(l, fn, args, f.node, f.env);
  const ids = isArray(found) && found.length === 2 ? elementsOf(l, found, env, node) : undefined;
  if (ids?.length !== 2)
    return fail(`returns ${describe(found)}`, 'Return two bounds, such as ([x]) => [0, x].');
  for (const [i, wanted] of (bounds.open?.bounds ?? []).entries())
    if (wanted !== undefined && l.builder.constantOf(ids[i]) !== wanted)
      fail('returns an infinite bound that is computed', 'Write Infinity, or -Infinity, as it is.');
  return [ids[0], ids[1]];
}

/** The elements of an array as numbers. */
function elementsOf(l: Lowering, array: Val, env: Env, node: AnyNode): Id[] {
  const { length } = array as { length: number };
  return Array.from({ length }, (_, i) =>
    l.toNumber(elementAt(l, array, l.literal(i), env, node), env, node),
  );
}
