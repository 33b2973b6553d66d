/**
 * An integrand that is called as a JavaScript function, not compiled. Workers can create it anew when its text uses no
 * name from outside or when it is the export of a module; otherwise only the thread that it comes from can call it.
 */
import { type AnyNode, parseExpressionAt } from 'acorn';
import type { PlainProgram } from './bound.ts';
import { type Axis, type Domain, onSampled, toDomain } from './domain.ts';
import { freeNames } from './free-names.ts';
import { kit } from './math/index.ts';
import type { Params } from './params.ts';
import { isTable } from './tables.ts';

/** A function that is called without being compiled. `moved` tells workers how to create it; absent if they cannot. */
export interface PlainFunction {
  f: (x: number[]) => number | Promise<number>;
  moved?: MovedFunction | undefined;
}

/** A function that a worker can create anew: from its text, or by importing `name` from the module at `url`. */
export interface MovedFunction {
  text?: string;
  url?: string;
  name?: string;
  params: unknown;
  /** The axes of the domain, if one of them is infinite. */
  axes?: readonly Axis[];
}

type Plain = (x: number[], p: Params, m: typeof kit) => number | Promise<number>;

export function plainProgram(f: Plain, module: URL | null, domain: Domain, params: Params): PlainProgram {
  const axes = domain.axes.some(a => a.infinite) ? domain.axes : undefined;
  const text = String(f);
  const { free, simple } = inspect(text);
  let moved: MovedFunction | undefined;
  // workers have neither tables nor the third argument: both hold functions, which cannot be sent
  if (simple && !Object.values(params).some(isTable)) {
    if (module) moved = { url: module.href.split('#')[0], name: exportName(module), params };
    else if (free.length === 0) moved = { text, params };
  }
  if (moved && axes) moved.axes = axes;
  const call = onSampled((x: number[]) => f(x, params, kit), axes, toDomain);
  return { kind: 'plain', dims: domain.axes.length, call: { f: call, moved } };
}

/** The name of the export that a URL gives after its #. */
export const exportName = (url: URL): string => decodeURIComponent(url.hash.slice(1)) || 'default';

/** The names that a function uses from outside, without those that are the same in a worker; and its number of arguments. */
function inspect(text: string): { free: string[]; simple: boolean } {
  let tree: AnyNode;
  try {
    tree = parseExpressionAt(`(${text})`, 0, { ecmaVersion: 'latest' });
  } catch {
    return { free: [text], simple: false }; // a method, or nothing that can be read
  }
  const free = [...freeNames(tree)].filter(name => !EVERYWHERE.has(name));
  const params = 'params' in tree ? (tree.params as AnyNode[]) : [];
  return { free, simple: params.length < 3 && params.every(p => p.type !== 'RestElement') };
}

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
