/**
 * The shape of what an integrand returns: a number, an array or an object of numbers, or an array or object of these. A shape
 * looks like the value itself, with the word 'number' in the place of each number, so it is plain data:
 *
 *     { norm: 'number', z: { re: 'number', im: 'number' } }        ['number', 'number']
 *
 * Its numbers, in the order in which a walk meets them, are the results of a program: the shape above has the results
 * norm, z.re and z.im. Everything between the integrand and the person works on that list; the functions here go from one to
 * the other.
 */

/** The shape of what an integrand returns, as data: 'number', or an array or object of shapes. */
export type Shape = 'number' | readonly Shape[] | { readonly [name: string]: Shape };

/** Results of an integrand, at most. */
export const MAX_RESULTS = 1024;
/** Arrays and objects inside each other, at most: `{ z: { re, im } }` has two. */
export const MAX_DEPTH = 2;

type Numbers = number | readonly number[] | { readonly [name: string]: number } | ArrayLike<number>;
/** What an integrand may return, as a type. */
export type ResultShape = Numbers | readonly Numbers[] | { readonly [name: string]: Numbers };

/** A value of the shape that a function returns, with a number for each of its numbers; what is `any` stays so. */
// biome-ignore lint/suspicious/noExplicitAny: `any` is what the caller gave
export type ResultValue<S> = 0 extends 1 & S ? any : Rebuilt<Awaited<S>>;
type Rebuilt<S> = 0 extends 1 & S
  ? number
  : S extends number | boolean
    ? number
    : S extends { readonly BYTES_PER_ELEMENT: number }
      ? number[]
      : { -readonly [K in keyof S]: Rebuilt<S[K]> };

const isList = (shape: Shape): shape is readonly Shape[] => Array.isArray(shape);
const IDENTIFIER = /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u;

/** The names of the results in their order, as one would write them: `mean`, `z.re`, `[0]`, `z[1]`; '' for a single number. */
export function leaves(shape: Shape, name = ''): string[] {
  if (shape === 'number') return [name];
  if (isList(shape)) return shape.flatMap((s, i) => leaves(s, `${name}[${i}]`));
  return Object.entries(shape).flatMap(([key, s]) => {
    if (!IDENTIFIER.test(key)) return leaves(s, `${name}[${JSON.stringify(key)}]`);
    return leaves(s, name ? `${name}.${key}` : key);
  });
}

/** The number of results. */
export function countOf(shape: Shape): number {
  if (shape === 'number') return 1;
  return Object.values(shape).reduce((sum: number, s: Shape) => sum + countOf(s), 0);
}

/** The value of this shape with these numbers. */
export function build(shape: Shape, numbers: ArrayLike<number>): unknown {
  let next = 0;
  const make = (s: Shape): unknown => {
    if (s === 'number') return numbers[next++];
    if (isList(s)) return s.map(make);
    return Object.fromEntries(Object.entries(s).map(([key, member]) => [key, make(member)]));
  };
  return make(shape);
}

/** The numbers of a value of this shape, where `undefined` is NaN and booleans are 0 and 1; throws for one of another shape. */
export function flatten(value: unknown, shape: Shape): number[] {
  const numbers: number[] = [];
  const take = (v: unknown, s: Shape): boolean => {
    if (s === 'number') {
      if (typeof v !== 'number' && typeof v !== 'boolean' && v !== undefined) return false;
      return numbers.push(Number(v)) > 0;
    }
    if (isList(s)) return isArrayLike(v) && v.length === s.length && s.every((m, i) => take(v[i], m));
    if (typeof v !== 'object' || v === null || isArrayLike(v)) return false;
    const members = Object.entries(s);
    if (Object.keys(v).length !== members.length) return false;
    return members.every(([key, m]) => Object.hasOwn(v, key) && take((v as Record<string, unknown>)[key], m));
  };
  if (take(value, shape)) return numbers;
  throw new TypeError(
    `the function returns ${wordsOf(value)} at one point and ${shapeText(shape)} at another; return the same array or object of numbers on every path.`,
  );
}

/** The shape of a value that a function returned; throws for what no integrand may return. */
export function shapeOfValue(value: unknown): Shape {
  const walk = (v: unknown, depth: number): Shape => {
    if (typeof v === 'number' || typeof v === 'boolean' || v === undefined) return 'number';
    const deeper = typeof v === 'object' && v !== null && depth < MAX_DEPTH;
    if (deeper && isArrayLike(v)) return Array.from(v, e => walk(e, depth + 1));
    if (deeper) return Object.fromEntries(Object.entries(v).map(([key, m]) => [key, walk(m, depth + 1)]));
    throw new TypeError(
      `the function returns ${wordsOf(value)}; return a number, an array or object of numbers, or an array or object of these.`,
    );
  };
  const shape = walk(value, 0);
  const count = countOf(shape);
  if (count < 1 || count > MAX_RESULTS)
    throw new TypeError(
      `the function returns ${count} numbers; return at least 1 and at most ${MAX_RESULTS}.`,
    );
  return shape;
}

/** The place of a result in the list, by its name (`z.re`) or by that place; throws if there is none. */
export function indexOf(shape: Shape, result: string | number): number {
  const names = leaves(shape);
  if (typeof result === 'number' && Number.isInteger(result) && result >= 0 && result < names.length)
    return result;
  const index = names.indexOf(String(result));
  if (typeof result === 'string' && index >= 0) return index;
  const known =
    names.length === 1 && names[0] === ''
      ? 'the integrand returns one number, number 0'
      : `the results are ${listed(names)}`;
  throw new RangeError(
    `there is no result ${typeof result === 'string' ? `'${result}'` : result}; ${known}.`,
  );
}

/** A shape as one would write it: `{ norm, z: { re, im } }`, `an array of 3 numbers`. */
export function shapeText(shape: Shape): string {
  if (shape === 'number') return 'a number';
  const inner = (s: Shape): string => {
    if (s === 'number') return 'number';
    if (isList(s)) return s.length > 4 ? `[${s.length} of them]` : `[${s.map(inner).join(', ')}]`;
    const members = Object.entries(s).map(([key, m]) => (m === 'number' ? key : `${key}: ${inner(m)}`));
    return `{ ${members.length > 6 ? [...members.slice(0, 5), '…'].join(', ') : members.join(', ')} }`;
  };
  if (isList(shape) && shape.every(s => s === 'number')) return `an array of ${shape.length} numbers`;
  return inner(shape);
}

const isArrayLike = (v: unknown): v is ArrayLike<unknown> =>
  Array.isArray(v) || (ArrayBuffer.isView(v) && !(v instanceof DataView));

/** What messages call a value that a function returned. */
export function wordsOf(value: unknown): string {
  if (value === null || value === undefined) return String(value);
  if (isArrayLike(value)) return `an array of ${value.length} elements`;
  if (typeof value === 'object')
    return `an object with the members ${listed(Object.keys(value)) || '(none)'}`;
  return `a ${typeof value}`;
}

const listed = (names: readonly string[]): string =>
  names.length > 8 ? `${names.slice(0, 7).join(', ')}, … ${names.at(-1)}` : names.join(', ');
