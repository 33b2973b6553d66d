/** Params as a caller gives them: checked, with the path of what cannot be used, and copied. */
import { OptionError } from '../options/option-error.ts';
import type { Param, Params, TypedArray } from './params.ts';

const IDENTIFIER = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;
/** Objects inside each other, at most; one that contains itself has no end. */
const MAX_DEPTH = 8;
const KINDS = 'a number, a boolean, a typed array, a table, a function, or an object of these';

/** Throws unless every param is of a kind that an integrand can use. `where` begins the message. */
export function checkParams(params: unknown, where = ''): asserts params is Params {
  const refuse = (option: string, value: unknown, what: string, remedy: string): never => {
    throw new OptionError(option, value, remedy, `${option} ${what}`, where);
  };
  if (typeof params !== 'object' || params === null || Array.isArray(params))
    return refuse('params', params, `is ${kindOf(params)}`, 'pass an object of named values: { a: 3.5 }');
  if (params instanceof Map)
    return refuse('params', params, 'is a Map', 'pass an object: Object.fromEntries(params)');
  const check = (object: object, option: string, depth: number): void => {
    for (const [name, value] of Object.entries(object)) {
      if (!IDENTIFIER.test(name) || name === '__proto__')
        // JavaScript gives __proto__ a meaning of its own
        refuse(
          option,
          object,
          `has the name '${name}', which no integrand can read`,
          'use a name such as a, x1 or alpha',
        );
      checkOne(value, `${option}.${name}`, name, depth);
    }
  };
  const checkOne = (value: unknown, option: string, name: string, depth: number): void => {
    if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'function') return;
    if (isNumeric(value)) {
      if (value.length > 0) return;
      refuse(option, value, 'is an empty array', 'leave it out or give it elements');
    }
    if (Array.isArray(value))
      refuse(option, value, 'is a plain array', `pass a typed array: Float64Array.from(${name})`);
    if (value instanceof Map) refuse(option, value, 'is a Map', `pass Object.fromEntries(${name})`);
    if (!isPlainObject(value)) return refuse(option, value, `is ${kindOf(value)}`, `pass ${KINDS}`);
    if (Object.keys(value).length === 0)
      refuse(option, value, 'is an empty object', 'leave it out or give it members');
    if (depth === MAX_DEPTH)
      refuse(
        option,
        value,
        `is inside of ${MAX_DEPTH} other objects`,
        'pass flatter ones, none of which contains itself',
      );
    check(value, option, depth + 1);
  };
  check(params, 'params', 0);
}

/**
 * The params as they are now, checked: a caller may write to its arrays, or to the objects, while the run goes on. Members are
 * read once, since getters may give something else the second time. Tables copied their numbers when they were made.
 */
export function copyParams(params: unknown, where = ''): Params {
  const isRecord = typeof params === 'object' && params && !Array.isArray(params) && !(params instanceof Map);
  const own: unknown = isRecord ? membersOf(params, 0) : params;
  checkParams(own, where);
  return copyOf(own) as Params;
}

/** A copy of an object and of the plain objects inside it, arrays and functions as they are. */
function membersOf(object: object, depth: number): object {
  const copy = (value: unknown) =>
    isPlainObject(value) && depth <= MAX_DEPTH ? membersOf(value, depth + 1) : value;
  return Object.fromEntries(Object.entries(object).map(([name, value]) => [name, copy(value)]));
}

/** A checked param with arrays of its own. */
export function copyOf(value: Param): Param {
  if (typeof value !== 'object') return value;
  if (!ArrayBuffer.isView(value))
    return Object.fromEntries(Object.entries(value).map(([name, v]) => [name, copyOf(v)]));
  // not value.slice(): that of a Buffer shares its memory, and that of a subclass is the subclass's own
  const kind = (value as TypedArray)[Symbol.toStringTag] as 'Float64Array';
  return new globalThis[kind](value as Float64Array);
}

/** Whether it is a typed array of numbers. */
export function isNumeric(value: unknown): value is TypedArray {
  if (!ArrayBuffer.isView(value) || value instanceof DataView) return false;
  return typeof (value as unknown as ArrayLike<unknown>)[0] !== 'bigint';
}

/** Whether it is an object literal, of this realm or another, or a module; not an instance of some class. */
export function isPlainObject(value: unknown): value is object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

export function kindOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (Array.isArray(value)) return 'an array';
  if (ArrayBuffer.isView(value)) return `a ${Object.prototype.toString.call(value).slice(8, -1)}`;
  if (typeof value !== 'object') return `a ${typeof value}`;
  const made: unknown = value.constructor?.name;
  return isPlainObject(value) ? 'an object' : `an instance of ${made || 'a class'}`;
}
