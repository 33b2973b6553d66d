/**
 * Captures: what a function uses from outside its text. The text alone does not hold the values of these names; the plugin
 * (src/plugin/) therefore gives the function a member that does:
 *
 *     lorentz.quadrilleCaptures = () => [gamma, phys.width];
 *
 * The member is called at each run, so that a `let` which has changed since is seen. It is a list of values, not an object:
 * bundlers and minifiers that come later rename `gamma` in the function and in the list alike, so the text of the list says
 * what the text of the function calls its values. Functions among the values have captures of their own.
 *
 * From here on captures are params that nobody named. They are kept under a symbol of the params object, and a program knows
 * them by the paths `@0.0`, `@0.1` …: number of the function, number of the name.
 */
import type { AnyNode } from 'acorn';
import { copyOf, isNumeric, isPlainObject, kindOf } from './check-params.ts';
import { nodesOf } from './free-names.ts';
import { isTable } from './is-table.ts';
import type { Param, ParamObject, Params } from './params.ts';
import { parseExpression } from './parse.ts';
import { RecentCache } from './recent-cache.ts';

/** The member of a function that gives the list. */
export const CAPTURES = 'quadrilleCaptures';

/** A value of a kind that no integrand can use; it is refused where it is used. */
export class Refused {
  /** What it is: `a string`. */
  readonly what: string;

  constructor(what: string) {
    this.what = what;
  }
}

export type Captured = Param | Refused;
/** What a function calls a value, as `referenceText` has it, and the value. */
export type CapturedNames = ReadonlyMap<string, { path: string; value: Captured }>;
export type Captures = ReadonlyMap<object, CapturedNames>;

const KEY = Symbol('captures');
/** Objects inside each other that are looked into, at most. */
const MAX_DEPTH = 4;

/** The captures of an integrand and of all functions that it can reach, where there are any. */
export const capturesIn = (params: Params): Captures | undefined => (params as { [KEY]?: Captures })[KEY];

/** Params together with what the functions `fs`, and those in params, capture at this moment. */
export function withCaptures(fs: readonly unknown[], params: Params): Params {
  const waiting: object[] = fs.filter(f => typeof f === 'function');
  for (const value of Object.values(params)) functionsIn(value, waiting);
  if (!waiting.some(hasCaptures)) return params;
  const captures = new Map<object, CapturedNames>();
  for (const g of waiting) {
    // the list grows while it is walked
    if (!hasCaptures(g) || captures.has(g)) continue;
    const names = capturesOf(g, captures.size);
    captures.set(g, names);
    for (const { value } of names.values()) functionsIn(value, waiting);
  }
  return Object.defineProperty({ ...params }, KEY, { value: captures });
}

const hasCaptures = (f: object): f is { [CAPTURES]: () => unknown } =>
  typeof (f as { [CAPTURES]?: unknown })[CAPTURES] === 'function';

function functionsIn(value: Captured, found: object[]): void {
  if (typeof value === 'function' && !isTable(value)) found.push(value);
  else if (isPlainObject(value)) for (const v of Object.values(value)) functionsIn(v, found);
}

function capturesOf(f: { [CAPTURES]: () => unknown }, number: number): CapturedNames {
  const names = namesOf(Function.prototype.toString.call(f[CAPTURES]));
  let values: unknown;
  try {
    values = f[CAPTURES]();
  } catch {
    return new Map(); // one of them is declared, but not yet made: a function that reads it would throw as well
  }
  if (!Array.isArray(values)) return new Map();
  const all = values.map((value, i): [string, { path: string; value: Captured }] => [
    names[i],
    { path: `@${number}.${i}`, value: take(value, 0) },
  ]);
  return new Map(all.filter(([name]) => name !== undefined && name !== ''));
}

/** A value as params hold it; plain arrays of numbers are taken for Float64Arrays. */
function take(value: unknown, depth: number): Captured {
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'function')
    return value as Param;
  if (isNumeric(value) && value.length > 0) return copyOf(value);
  if (Array.isArray(value) && value.length > 0 && value.every(v => typeof v === 'number'))
    return Float64Array.from(value);
  if (!isPlainObject(value) || depth === MAX_DEPTH) return new Refused(kindOf(value));
  const members = Object.keys(value).map(name => [name, take(memberOf(value, name), depth + 1)]);
  return Object.fromEntries(members) as ParamObject;
}

/** A member of an object; that of a module may not be there yet. */
function memberOf(object: object, name: string): unknown {
  try {
    return (object as Record<string, unknown>)[name];
  } catch {
    return undefined;
  }
}

const known = new RecentCache<string[]>(2 ** 16);

/** What the elements of the list are called; '' for one that is no reference any more, because a minifier has put its value there. */
function namesOf(text: string): string[] {
  const found = known.get(text) ?? elementsOf(text).map(e => (e && referenceText(e)) ?? '');
  known.set(text, found, text.length);
  return found;
}

function elementsOf(text: string): readonly (AnyNode | null)[] {
  for (const wrapped of [`(${text})`, `({${text}})`]) {
    try {
      for (const node of nodesOf(parseExpression(wrapped)))
        if (node.type === 'ArrayExpression') return node.elements;
    } catch {
      // a method parses in braces only
    }
  }
  return [];
}

/**
 * The text of a reference to something outside, without spaces: `gamma`; `phys.width` of a module that is imported as a whole;
 * `_phys__WEBPACK_IMPORTED_MODULE_0__.gamma` or `lib_default().gamma`, as bundlers write imports. Undefined for anything else.
 */
export function referenceText(node: AnyNode): string | undefined {
  switch (node.type) {
    case 'Identifier':
      return node.name;
    case 'ParenthesizedExpression':
      return referenceText(node.expression);
    case 'SequenceExpression': // (0, phys.lorentz)(x) calls it without a `this`
      return node.expressions.length === 2 && node.expressions[0].type === 'Literal'
        ? referenceText(node.expressions[1])
        : undefined;
    case 'CallExpression':
      return node.arguments.length === 0 ? suffixed(node.callee, '()') : undefined;
    case 'MemberExpression':
      if (!node.computed && node.property.type === 'Identifier')
        return suffixed(node.object, `.${node.property.name}`);
      return node.property.type === 'Literal' && typeof node.property.value === 'string'
        ? suffixed(node.object, `.${node.property.value}`)
        : undefined;
    default:
      return undefined;
  }
}

function suffixed(node: AnyNode, suffix: string): string | undefined {
  const text = referenceText(node);
  return text === undefined ? undefined : text + suffix;
}
