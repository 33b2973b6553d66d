/** A table as the functions of lookup.ts take it: its numbers are params, its shape is known when compiling. */

import { gridOf } from '../is-table.ts';
import { readInternal } from '../read.ts';
import { mathKit } from './globals.ts';
import type { Lowering } from './lowering.ts';
import { type FunctionValue, Names, type NamespaceValue, type TableValue, type Val } from './values.ts';

/** The function that looks up a value of the table, and its arguments after the coordinates. */
export function tableLookup(
  l: Lowering,
  { name, called, table }: TableValue,
): { fn: FunctionValue; args: Val[] } {
  const data = (part: string | number, { length }: Float64Array): Val => ({
    kind: 'data',
    name: `${name}.${part}`,
    called,
    length,
  });
  const grids = table.axes.map((axis, k) => {
    const { count, uniform, log } = gridOf(axis);
    return record({
      grid: data(k, axis.data),
      count: l.literal(count),
      uniform: l.literal(uniform),
      log: l.literal(log),
    });
  });
  const content = record({
    values: data('values', table.values),
    slopes: table.slopes ? data('slopes', table.slopes) : { kind: 'null' },
    zero: l.literal(table.outside === 'zero'),
  });
  const pieces = Object.entries(table.lookup.pieces).map(([piece, f]) => [piece, internal(f, piece)]);
  const fn = internal(table.lookup.fn, name);
  return { fn, args: [...grids, content, record(Object.fromEntries(pieces)), mathKit()] };
}

const record = (fields: Record<string, Val>): NamespaceValue => ({
  kind: 'namespace',
  what: 'the table',
  fields: new Map(Object.entries(fields)),
});

const internal = (f: object, name: string): FunctionValue => ({
  kind: 'function',
  ...readInternal(f),
  names: new Names(null),
  name,
});
