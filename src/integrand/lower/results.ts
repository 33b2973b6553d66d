/**
 * What the integrand returns. Each `return` of the integrand itself makes a tuple of separate numbers of the array or object
 * that it is given, whether that is the point, an array in memory or one of params: paths that return arrays of different
 * origin then meet as any two arrays of one length do (flow.ts). The shape of each is kept, so that a path with another shape is
 * refused with its place.
 */
import type { AnyNode } from 'acorn';
import { IntegrandError } from '../diagnostics.ts';
import type { Id } from '../ir.ts';
import { countOf, MAX_DEPTH, MAX_RESULTS, type Shape, shapeText } from '../shape.ts';
import { elementAt } from './arrays.ts';
import type { Env, Lowering } from './lowering.ts';
import {
  type ArrayLikeValue,
  describe,
  type FunctionValue,
  isScalar,
  type TupleValue,
  type Val,
} from './values.ts';

const REMEDY =
  'Return a number, an array or object of numbers such as { re, im }, or an array or object of these.';

/** The value of a `return` at `node` as it goes to the result of the integrand. */
export function returned(l: Lowering, value: Val, env: Env, node: AnyNode): Val {
  if (isScalar(value)) l.returns.push({ shape: 'number', env, node });
  if (!hasParts(value)) return value; // resultsOf refuses what is no number
  const fail = (reason: string, remedy: string): never => l.fail(env, node, reason, remedy);
  /** Copies a value whose name in the result is `name`; `model` is the shape that another path returns there. */
  const copy = (v: Val, depth: number, name: string, model?: Shape): { value: Val; shape: Shape } => {
    if (v.kind === 'number') return { value: v, shape: 'number' };
    if (!hasParts(v)) {
      if (v.kind === 'undefined' && v.why) return v.why();
      const remedy = v.kind === 'bool' ? 'Return numbers: condition ? 1 : 0.' : REMEDY;
      return fail(`The integrand returns ${describe(v)} as ${name}.`, remedy);
    }
    if (depth === MAX_DEPTH)
      return fail(`The integrand returns ${describe(v)} as ${name}, inside of ${MAX_DEPTH} others.`, REMEDY);
    if (v.length === 0)
      fail(`The integrand returns ${describe(v)} without numbers${name && ` as ${name}`}.`, REMEDY);
    tooMany(v.length, fail);
    const own = v.kind === 'tuple' && v.keys ? { keys: v.keys, elements: v.elements } : undefined;
    // { im, re } on one path is { re, im } on another
    const keys = own && model && sameNames(own.keys, Object.keys(model)) ? Object.keys(model) : own?.keys;
    const parts = Array.from({ length: v.length }, (_, i) => {
      const key = keys?.[i] ?? i;
      const part = own
        ? l.get(own.elements[own.keys.indexOf(key as string)])
        : elementAt(l, v, l.literal(i), env, node);
      const full = own ? `${name && `${name}.`}${key}` : `${name}[${i}]`;
      return copy(part, depth + 1, full, (model as Record<string, Shape> | undefined)?.[key]);
    });
    const shapes = parts.map(p => p.shape);
    return {
      value: {
        kind: 'tuple',
        length: v.length,
        elements: parts.map(p => l.flow.slot(p.value)),
        ...(keys && { keys }),
        site: node,
      },
      shape: keys ? Object.fromEntries(keys.map((key, i) => [key, shapes[i]])) : shapes,
    };
  };
  const made = copy(value, 0, '', l.returns[0]?.shape);
  tooMany(countOf(made.shape), fail);
  l.returns.push({ shape: made.shape, env, node });
  return made.value;
}

function tooMany(count: number, fail: (reason: string, remedy: string) => never): void {
  if (count > MAX_RESULTS)
    fail(
      `The integrand returns ${count} numbers, and ${MAX_RESULTS} is the most.`,
      'Integrate them in several calls.',
    );
}

/** The ids of the results, in the order of `leaves` of the shape; fails where paths return different shapes, or nothing. */
export function resultsOf(l: Lowering, value: Val, { node, source }: FunctionValue): Id[] {
  if (value.kind === 'number') return [value.id];
  const ids = value.kind === 'tuple' ? leafIds(l, value) : undefined;
  if (ids) return ids;
  const [first, ...others] = l.returns;
  const other = first && others.find(o => JSON.stringify(o.shape) !== JSON.stringify(first.shape));
  if (other && value.kind !== 'undefined') {
    l.fail(
      other.env,
      other.node,
      `The integrand returns ${shapeText(other.shape)} here, and ${shapeText(first.shape)} before.`,
      'Return the same names and lengths on every path.',
    );
  }
  const fail = (reason: string, remedy: string, runsAsItIs = true): never => {
    throw new IntegrandError(reason, remedy, { source, span: node }, runsAsItIs);
  };
  if (value.kind === 'bool')
    return fail('The integrand returns a boolean.', 'Return a number: condition ? 1 : 0.');
  if (value.kind === 'undefined' && value.why) return value.why();
  if (value.kind === 'undefined')
    return fail('The integrand returns nothing.', 'Return a number on every path.', false);
  return fail(
    `The integrand returns ${describe(value)}.`,
    first?.shape === 'number'
      ? 'Return a number on every path.'
      : `${REMEDY.slice(0, -1)}, the same on every path.`,
  );
}

/** The ids of a tuple that `returned` made; undefined if one of its parts differs in kind from path to path. */
function leafIds(l: Lowering, tuple: TupleValue): Id[] | undefined {
  const parts = tuple.elements.map(slot => {
    const v = l.get(slot);
    return v.kind === 'number' ? [v.id] : v.kind === 'tuple' ? leafIds(l, v) : undefined;
  });
  return parts.every(p => p !== undefined) ? parts.flat() : undefined;
}

const hasParts = (v: Val): v is ArrayLikeValue =>
  v.kind === 'tuple' || v.kind === 'point' || v.kind === 'data';

const sameNames = (a: readonly string[], b: readonly string[]) =>
  a.length === b.length && a.every(name => b.includes(name));
