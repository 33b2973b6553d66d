/**
 * Params: the named values that a user passes besides the function. Their shape (names, kinds, lengths, tables) is
 * compiled into the program; their numbers are not, so that one program serves a whole scan.
 */
import { OptionError } from '../options/option-error.ts';
import type { ParamDeclaration } from './ir.ts';
import { isTable, type Table } from './tables.ts';

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
export type Param = number | boolean | TypedArray | Table;
/** What an integrand reads as its second argument, by name: numbers, booleans, typed arrays and tables. */
export type Params = Record<string, Param>;

/** The values of a program's declared params, by name. */
export type Bindings = ReadonlyMap<string, number | boolean | TypedArray>;

const IDENTIFIER = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;

/** Throws unless every param is of a kind that an integrand can use. `where` begins the message. */
export function checkParams(params: unknown, where = ''): asserts params is Params {
  const refuse = (option: string, value: unknown, what: string, remedy: string): never => {
    throw new OptionError(option, value, remedy, `${option} ${what}`, where);
  };
  if (typeof params !== 'object' || params === null || Array.isArray(params))
    return refuse('params', params, `is ${kindOf(params)}`, 'pass an object of named values: { a: 3.5 }');
  if (params instanceof Map)
    return refuse('params', params, 'is a Map', 'pass an object: Object.fromEntries(params)');
  for (const [name, value] of Object.entries(params)) {
    if (!IDENTIFIER.test(name) || name === '__proto__')
      // JavaScript gives __proto__ a meaning of its own
      refuse(
        'params',
        params,
        `has the name '${name}', which no integrand can read`,
        'use a name such as a, x1 or alpha',
      );
    if (typeof value === 'number' || typeof value === 'boolean' || isTable(value)) continue;
    const option = `params.${name}`;
    if (
      ArrayBuffer.isView(value) &&
      !(value instanceof DataView) &&
      typeof (value as unknown as Numeric)[0] !== 'bigint'
    ) {
      if ((value as unknown as Numeric).length > 0) continue;
      refuse(option, value, 'is an empty array', 'leave it out or give it elements');
    }
    if (Array.isArray(value))
      refuse(option, value, 'is a plain array', `pass a typed array: Float64Array.from(${name})`);
    if (typeof value === 'function')
      refuse(
        option,
        value,
        'is a function',
        'write it inside the integrand, or tabulate it: table([xs], ys)',
      );
    refuse(option, value, `is ${kindOf(value)}`, 'pass a number, a boolean, a typed array or a table');
  }
}

function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return 'an array';
  if (ArrayBuffer.isView(value)) return `a ${Object.prototype.toString.call(value).slice(8, -1)}`;
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

type Numeric = { length: number; [i: number]: number | bigint };

/**
 * The declarations that reading the param `name` needs; a table has one for each axis, one for its values and, if it
 * is cubic, one for its slopes.
 */
export function declarations(name: string, value: Param): ParamDeclaration[] {
  if (typeof value === 'number') return [{ name, kind: 'number' }];
  if (typeof value === 'boolean') return [{ name, kind: 'boolean' }];
  const parts: [string, TypedArray][] = isTable(value) ? tableParts(name, value) : [[name, value]];
  return parts.map(([part, data]) => ({ name: part, kind: 'array', length: data.length }));
}

/** Everything about params that is compiled into a program: two sets of params with the same shape share one. */
export function shapeOf(params: Params): string {
  const shapes = Object.entries(params).map(([name, value]) => {
    // `map` and `slice` of other arrays than Float64Array are refused: lower.ts asks for the kind
    if (!isTable(value)) return [...declarations(name, value), roundsOf(value)];
    const { outside, kind, axes, values } = value;
    return [name, outside, kind, axes.map(a => [a.length, a.uniform, a.log]), values.length];
  });
  return JSON.stringify(shapes);
}

/** Whether it is an array that rounds what is put into it. */
export const roundsOf = (value: Param): boolean =>
  typeof value === 'object' && !(value instanceof Float64Array);

/**
 * The params as they are now, checked: a caller may write to its arrays, or to the object, while the run goes on. Members are
 * read once, since getters may give something else the second time. Tables copied their numbers when they were made.
 */
export function copyParams(params: unknown, where = ''): Params {
  const copy = (value: Param): Param => {
    if (typeof value !== 'object') return value;
    // not value.slice(): that of a Buffer shares its memory, and that of a subclass is the subclass's own
    const kind = value[Symbol.toStringTag] as 'Float64Array';
    return new globalThis[kind](value);
  };
  const isRecord = typeof params === 'object' && params && !Array.isArray(params) && !(params instanceof Map);
  const own: unknown = isRecord ? Object.fromEntries(Object.entries(params)) : params;
  checkParams(own, where);
  return Object.fromEntries(Object.entries(own).map(([name, value]) => [name, copy(value)]));
}

/** Values for the declared params of a program; throws when one is missing or has another shape than declared. */
export function bind(declared: readonly ParamDeclaration[], params: Params): Bindings {
  checkParams(params);
  const given = new Map<string, number | boolean | TypedArray>();
  for (const [name, value] of Object.entries(params)) {
    if (isTable(value)) for (const [part, data] of tableParts(name, value)) given.set(part, data);
    else given.set(name, value);
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
function tableParts(name: string, t: Table): [string, Float64Array][] {
  return [
    ...t.axes.map((a, k): [string, Float64Array] => [`${name}.${k}`, a.data]),
    [`${name}.values`, t.values],
    ...(t.slopes ? [[`${name}.slopes`, t.slopes] as [string, Float64Array]] : []),
  ];
}
