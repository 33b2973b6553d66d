/**
 * Params: the named values that a user passes besides the function, in objects of any depth. Their shape (names, kinds,
 * lengths, tables, the texts of functions) is compiled into the program; their numbers are not, so that one program serves a
 * whole scan. A value inside an object is known to a program by its path: `constants.c`.
 */
import { type Captured, capturesIn, Refused } from './captures.ts';
import { checkParams } from './check-params.ts';
import type { ParamDeclaration } from './ir.ts';
import { isTable } from './is-table.ts';
import type { Table } from './tables.ts';

export type TypedArray =
  | Float64Array
  | Float32Array
  | Int8Array
  | Uint8Array
  | Uint8ClampedArray
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array;
/** A function in params, which is compiled from its own text as the integrand is. */
// biome-ignore lint/suspicious/noExplicitAny: what it takes and gives is between the integrand and it
export type ParamFunction = (...args: any[]) => any;
/** An object in params. */
export interface ParamObject {
  readonly [name: string]: Param;
}
export type Param = number | boolean | TypedArray | Table | ParamFunction | ParamObject;
/**
 * What an integrand reads as its second argument, by name: numbers, booleans, typed arrays, tables, functions, and objects of
 * these.
 */
export type Params = Record<string, Param>;

/** The values of a program's declared params, by path. */
export type Bindings = ReadonlyMap<string, number | boolean | TypedArray>;

/** What is inside objects: everything but objects. */
export type Leaf = Exclude<Param, ParamObject>;

export const isArrayParam = (value: unknown): value is TypedArray => ArrayBuffer.isView(value);
export const isObjectParam = (value: Param): value is ParamObject =>
  typeof value === 'object' && !isArrayParam(value);

/** All values inside params, by their paths. */
export const leavesOf = (params: Params): Iterable<[path: string, Leaf]> => leavesIn(params, '');

/** The same, and what functions have captured. */
export function* allLeaves(params: Params): Generator<[path: string, Leaf]> {
  yield* leavesOf(params);
  for (const names of capturesIn(params)?.values() ?? [])
    for (const { path, value } of names.values()) yield* leavesIn({ [path]: value as Param }, '');
}

function* leavesIn(object: ParamObject, prefix: string): Generator<[path: string, Leaf]> {
  for (const [name, value] of Object.entries(object)) {
    if (value instanceof Refused) continue;
    if (isObjectParam(value)) yield* leavesIn(value, `${prefix}${name}.`);
    else yield [prefix + name, value];
  }
}

/**
 * The declarations that reading the value at a path needs; a table has one for each axis, one for its values and, if it
 * is cubic, one for its slopes.
 */
export function declarations(path: string, value: Leaf): ParamDeclaration[] {
  if (typeof value === 'number') return [{ name: path, kind: 'number' }];
  if (typeof value === 'boolean') return [{ name: path, kind: 'boolean' }];
  const parts: [string, TypedArray][] = isTable(value)
    ? tableParts(path, value)
    : isArrayParam(value)
      ? [[path, value]]
      : [];
  return parts.map(([part, data]) => ({ name: part, kind: 'array', length: data.length }));
}

/** Everything about params that is compiled into a program: two sets of params with the same shape share one. */
export function shapeOf(params: Params): string {
  const captures = capturesIn(params);
  const numbers = new Map([...(captures?.keys() ?? [])].map((f, i) => [f, i]));
  const shape = (value: Captured): unknown => {
    if (typeof value === 'number') return 0;
    if (typeof value === 'boolean') return true;
    if (isTable(value)) return tableShape(value);
    if (typeof value === 'function')
      return ['function', Function.prototype.toString.call(value), numbers.get(value)];
    if (value instanceof Refused) return ['refused', value.what];
    // `map` and `slice` of other arrays than Float64Array are refused: lower.ts asks for the kind
    if (isArrayParam(value)) return ['array', value.length, roundsOf(value)];
    return Object.fromEntries(Object.entries(value).map(([name, v]) => [name, shape(v)]));
  };
  const own = shape(params);
  if (!captures) return JSON.stringify(own);
  const others = [...captures.values()].map(names => [...names].map(([n, { value }]) => [n, shape(value)]));
  return JSON.stringify([own, others]);
}

const tableShape = ({ outside, kind, axes, values }: Table): unknown => [
  'table',
  outside,
  kind,
  axes.map(a => [a.length, a.uniform, a.log]),
  values.length,
];

/** Whether it is an array that rounds what is put into it. */
export const roundsOf = (value: TypedArray): boolean => !(value instanceof Float64Array);

/** Values for the declared params of a program; throws when one is missing or has another shape than declared. */
export function bind(declared: readonly ParamDeclaration[], params: Params): Bindings {
  checkParams(params);
  const given = new Map<string, number | boolean | TypedArray>();
  for (const [path, value] of allLeaves(params)) {
    if (isTable(value)) for (const [part, data] of tableParts(path, value)) given.set(part, data);
    else if (typeof value !== 'function') given.set(path, value);
  }
  const bound = new Map<string, number | boolean | TypedArray>();
  for (const d of declared) {
    const value = given.get(d.name);
    const fits =
      d.kind === 'array' ? typeof value === 'object' && value.length === d.length : typeof value === d.kind;
    if (!fits) {
      const wanted = d.kind === 'array' ? `an array of ${d.length}` : `a ${d.kind}`;
      const found =
        value === undefined
          ? 'missing'
          : typeof value === 'object'
            ? `an array of ${value.length}`
            : `a ${typeof value}`;
      throw new TypeError(
        `params.${d.name} is ${found}, where the integrand was compiled for ${wanted}; compile it again.`,
      );
    }
    bound.set(d.name, value!);
  }
  return bound;
}

/** The arrays that a table consists of, by the names that lower/tables.ts gives them. */
function tableParts(path: string, t: Table): [string, Float64Array][] {
  return [
    ...t.axes.map((a, k): [string, Float64Array] => [`${path}.${k}`, a.data]),
    [`${path}.values`, t.values],
    ...(t.slopes ? [[`${path}.slopes`, t.slopes] as [string, Float64Array]] : []),
  ];
}
