/**
 * An integrand that is called as a JavaScript function, not compiled. Workers can create it anew when its text uses no
 * name from outside or when it is the export of a module; otherwise only the thread that it comes from can call it.
 */
import type { AnyNode } from 'acorn';
import type { PlainProgram } from './bound.ts';
import type { Integrand } from './compile.ts';
import { type Axis, type Domain, isMapped, onSampled, toDomain } from './domain.ts';
import { flatCall } from './flat-call.ts';
import { freeNames, helpersCallHelpers } from './free-names.ts';
import * as rare from './lower/rare.ts';
import { rarelyUsed } from './lower/rarely-used.ts';
import { kit } from './math/index.ts';
import { type MovedParams, moveParams } from './moved-params.ts';
import type { Params } from './params.ts';
import { parseExpression } from './parse.ts';
import { cachedProgram } from './program-cache.ts';
import { type ResultShape, type Shape, shapeOfValue } from './shape.ts';
import { stopChecksOf } from './stop-checks.ts';

/** What a plain function gives: a number, or a list of several results. */
export type PlainValue = number | readonly number[];

/** A function that is called without being compiled. */
export interface PlainFunction {
  /** Gives a number; with a `shape`, a list of the results, in the order of `leaves(shape)`. */
  f: (x: number[]) => PlainValue | Promise<PlainValue>;
  /** @internal what `f` is made of: it gives what the function returns, whatever that is */
  raw?: (x: number[]) => unknown;
  /** Tells workers how to create it; absent if they cannot. */
  moved?: MovedFunction | undefined;
  /** Whether a call may take long, or never end: then workers make it, since they can be ended. */
  long?: boolean;
}

/** A function that a worker can create anew: from its text, or by importing `name` from the module at `url`. */
export interface MovedFunction {
  text?: string;
  url?: string;
  name?: string;
  params: MovedParams;
  /** The axes of the domain, if its points are not those that are sampled. */
  axes?: readonly Axis[];
  /** The shape of what it returns, if that is no number. */
  shape?: Shape;
}

type Plain = (x: number[], p: Params, m: typeof kit) => number | Promise<number>;

export function plainProgram(
  f: Plain,
  module: URL | null,
  domain: Domain,
  params: Params,
  deadline = Infinity,
): PlainProgram {
  rarelyUsed.provide(rare); // what is compiled below must not depend on what is loaded
  const axes = isMapped(domain.axes) ? domain.axes : undefined;
  const text = String(f);
  const { free, simple, repeats } = inspect(text);
  let moved: MovedFunction | undefined;
  // workers do not have the third argument: it holds functions, which cannot be sent
  const sent = simple ? moveParams(params, closedText) : undefined;
  if (sent && module) moved = { url: module.href.split('#')[0], name: exportName(module), params: sent };
  else if (sent && free.length === 0) moved = { text, params: sent };
  if (moved && axes) {
    const there = sentAxes(axes);
    if (there) moved.axes = there;
    else moved = undefined;
  }
  const raw = onSampled((x: number[]) => f(x, params, kit), axes, toDomain);
  const dims = domain.axes.length;
  const endsSoon = (): boolean => {
    try {
      const program = cachedProgram(f as Integrand, dims, params, domain.axes, deadline);
      return stopChecksOf(program).checked.size === 0;
    } catch {
      return false; // it does not compile
    }
  };
  const mayRepeat = () => repeats || (moved?.params.functions ?? []).some(([, own]) => inspect(own).repeats);
  const long = moved !== undefined && (free.length > 0 || (mayRepeat() && !endsSoon()));
  return { kind: 'plain', dims, call: { f: flatCall(raw, 'number'), raw, moved, long } };
}

/** Axes that a worker can take: without functions, whose texts are there; undefined where a text does not say all. */
function sentAxes(axes: readonly Axis[]): Axis[] | undefined {
  const texts = axes.flatMap(({ bounds }) => (bounds ? [inspect(bounds.text)] : []));
  if (texts.some(({ free, simple }) => free.length > 0 || !simple)) return undefined;
  return axes.map(({ bounds, map, ...axis }) => ({
    ...axis,
    ...(bounds && { bounds: { ...bounds, f: undefined, call: undefined } as unknown as typeof bounds }),
    ...(map && { map: { shape: map.shape, axes: map.axes, gap: map.gap, text: String(map.call) } }),
  }));
}

/**
 * The shape of what a plain function returns: that of its program where it compiles, which costs no call; otherwise that of its
 * value at `z`, a point of the sampled box. Functions that may take long and do not compile are taken for numbers.
 */
export async function shapeOfPlain(
  f: Integrand<ResultShape>,
  { call, dims }: PlainProgram,
  axes: readonly Axis[],
  params: Params,
  z: number[],
): Promise<Shape> {
  try {
    rarelyUsed.provide(rare);
    return cachedProgram(f, dims, params, axes).shape ?? 'number';
  } catch {
    if (call.long) return 'number';
  }
  const value = await (call.raw ?? call.f)(z);
  try {
    return shapeOfValue(value);
  } catch {
    return 'number'; // the run will say what is wrong with it
  }
}

/** The program with the shape of what it returns: from here on `call.f` gives lists where that is no number. */
export function withShape(plain: PlainProgram, shape: Shape): PlainProgram {
  if (shape === 'number') return plain;
  const { f, raw = f, moved } = plain.call;
  const call = { ...plain.call, f: flatCall(raw, shape), moved: moved && { ...moved, shape } };
  return { ...plain, shape, call };
}

/** The name of the export that a URL gives after its #. */
const exportName = (url: URL): string => decodeURIComponent(url.hash.slice(1)) || 'default';

/**
 * - `free`: the names that a function uses from outside, without those that are the same in a worker;
 * - `simple`: it has at most two arguments;
 * - `repeats`: it has loops, or helpers that may call themselves or each other.
 */
function inspect(text: string): { free: string[]; simple: boolean; repeats: boolean } {
  let tree: AnyNode;
  try {
    tree = parseExpression(`(${text})`);
  } catch {
    return { free: [text], simple: false, repeats: true }; // a method, or nothing that can be read
  }
  const names = [...freeNames(tree)];
  const free = names.filter(name => !EVERYWHERE.has(name) || (name === 'Math' && changesMath(text)));
  const params = 'params' in tree ? (tree.params as AnyNode[]) : [];
  const simple = params.length < 3 && params.every(p => p.type !== 'RestElement');
  return { free, simple, repeats: /\b(for|while|do)\b/.test(text) || helpersCallHelpers(tree) };
}

/** The text of a function of params from which a worker can make it: it uses no name from outside. A method is one of an object. */
function closedText(f: object): string | undefined {
  const own = Function.prototype.toString.call(f);
  return [own, `Object.values({${own}})[0]`].find(text => inspect(text).free.length === 0);
}

/** Whether a word of the text is a function that the program has put into `Math`: workers have another there, or none. */
const changesMath = (text: string): boolean =>
  (text.match(/\w+/g) ?? []).some(word => {
    const { value } = Object.getOwnPropertyDescriptor(Math, word) ?? {};
    return typeof value === 'function' && !Function.prototype.toString.call(value).includes('[native code]');
  });

/**
 * Globals that a worker has as well. Others were put there by the program, or are of one thread. A module may have a name of
 * its own that hides one of these; src/self-check.ts looks for that.
 */
// biome-ignore format: one family per line
const EVERYWHERE = new Set([
  'undefined', 'NaN', 'Infinity', 'isNaN', 'isFinite', 'parseFloat', 'parseInt',
  'Math', 'Number', 'Boolean', 'String', 'BigInt', 'Symbol', 'Object', 'Array', 'Map', 'Set', 'WeakMap', 'WeakSet', 'JSON', 'Date', 'RegExp', 'Promise',
  'Error', 'TypeError', 'RangeError',
  'Float64Array', 'Float32Array', 'Int8Array', 'Uint8Array', 'Uint8ClampedArray', 'Int16Array', 'Uint16Array', 'Int32Array', 'Uint32Array', 'BigInt64Array', 'BigUint64Array', 'ArrayBuffer', 'DataView',
  'setTimeout', 'clearTimeout', 'setImmediate', 'queueMicrotask', 'console', 'process',
]);
