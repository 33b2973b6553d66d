/** Lowers methods of arrays: the functions of the prelude, with what JavaScript says of holes, typed arrays and wrong arguments. */
import type { AnyNode } from 'acorn';
import { checkWritable, makeArray, spread } from './arrays.ts';
import { inline, internalFunction } from './calls.ts';
import { memberOf } from './expressions.ts';
import type { Env, Lowering } from './lowering.ts';
import { arrayMethod, preludeFunction } from './prelude.ts';
import { rare } from './rarely-used.ts';
import { type ArrayLikeValue, describe, isArray, isScalar, type TupleValue, type Val } from './values.ts';

/** Methods that JavaScript calls a function with, and throws without one even where the array has no element for it. */
const TAKE_FUNCTION: ReadonlySet<string> = new Set(['map', 'reduce', 'every', 'some', 'forEach', 'filter']);
const NO_FUNCTION: ReadonlySet<Val['kind']> = new Set([
  'undefined',
  'null',
  'string',
  'tuple',
  'filtered',
  'iterator',
  'point',
  'data',
]);
/** Methods that pass over the holes of an array, or keep them. */
const SKIP_HOLES = new Set([
  ...TAKE_FUNCTION,
  'slice',
  'concat',
  'sort',
  'toSorted',
  'reverse',
  'toReversed',
]);
/** Methods that make an array of the kind that they were called of: a typed one of a typed one. */
const SAME_KIND = new Set(['map', 'slice', 'filter', 'toReversed', 'toSorted']);
/** Methods that change the array itself. */
const CHANGING = new Set(['fill', 'reverse', 'sort']);

export function lowerMethod(
  l: Lowering,
  array: ArrayLikeValue,
  name: string,
  args: Val[],
  node: AnyNode,
  env: Env,
): Val {
  if (SKIP_HOLES.has(name))
    for (const a of name === 'concat' ? [array, ...args] : [array]) checkHoles(l, a, name, env, node);
  if (name === 'concat') return concat(l, [array, ...args], node, env);
  if (name === 'entries' || name === 'keys' || name === 'values')
    return { kind: 'iterator', of: name, array, site: node };
  const first = name === 'reduce' && args.length < 2;
  const method = first ? preludeFunction('reduce1') : arrayMethod(name);
  const sorts = name === 'sort' || name === 'toSorted';
  if (!method && !sorts) return memberOf(l, array, name, env, node, false);
  if (TAKE_FUNCTION.has(name)) checkFunction(l, name, args[0], env, node);
  if (first && array.length === 0)
    l.fail(env, node, '`reduce` of an empty array needs a first value.', 'Give it one: reduce(f, 0).');
  if (array.kind === 'data' && array.rounds && SAME_KIND.has(name)) {
    const why = `\`${name}\` of ${array.called} would make an array of its kind, which rounds what is put into it.`;
    l.fail(
      env,
      node,
      why,
      `Make it an array of plain numbers first: [...${array.called.replace(/^params\b/, 'p')}].${name}(…).`,
    );
  }
  if (CHANGING.has(name)) {
    if (array.kind !== 'tuple' || array.fixed) {
      const remedy = 'Copy what you need to a local array: const y = [...x].';
      return l.fail(env, node, `An integrand cannot change ${describe(array)}.`, remedy);
    }
    checkWritable(l, array, env, node);
  }
  if (name === 'fill' && args.length === 1 && array.kind === 'tuple' && array.memory === undefined) {
    if (array.typed && args[0].kind !== 'number') l.misused(args[0], 'a number', env, node);
    for (const e of array.elements) l.set(e, args[0]);
    return array;
  }
  const result = sorts
    ? rare(l, env, node).lowerSort(l, array, name, args[0], node, env)
    : inline(l, internalFunction(method!, name), [array, ...args], node, env);
  if (result.kind !== 'tuple') return result;
  if (name === 'fill' && args.length === 1) return { ...result, holes: false };
  const made = name === 'filter' ? rare(l, env, node).madeByFilter(l, result, env, node) : result;
  if (made.kind !== 'tuple') return made;
  return isTyped(array) && SAME_KIND.has(name) ? typedCopy(l, made, env, node) : made;
}

function concat(l: Lowering, parts: Val[], node: AnyNode, env: Env): Val {
  const typed = parts.find(isTyped);
  if (typed) {
    const why = `\`concat\` does not join ${describe(typed)}, a typed array, to others.`;
    l.fail(env, node, why, 'Spread it: [...a, ...b].');
  }
  const unknown = parts.find(p => p.kind === 'filtered' || p.kind === 'unsettled');
  if (unknown) l.misused(unknown, 'an array', env, node);
  const elements = parts.flatMap(a => (isArray(a) ? spread(l, a, env, node) : [a]));
  return makeArray(l, elements, env, node);
}

/** Fails for what JavaScript cannot call. */
export function checkFunction(l: Lowering, name: string, f: Val | undefined, env: Env, node: AnyNode): void {
  if (f && !isScalar(f) && !NO_FUNCTION.has(f.kind)) return;
  const why = `\`${name}\` needs a function, and this is ${f ? describe(f) : 'nothing'}.`;
  l.fail(env, node, why, 'Give it one: a.map(v => 2 * v).');
}

function checkHoles(l: Lowering, array: Val, name: string, env: Env, node: AnyNode): void {
  if (array.kind !== 'tuple' || array.keys) return;
  const isHole = (v: Val) => v.kind === 'undefined' && v.hole === true;
  if (!array.holes && !array.elements.some(e => isHole(l.get(e)))) return;
  l.fail(
    env,
    node,
    `This array has elements that were never set, or may have: \`${name}\` skips them in JavaScript.`,
    'Fill it first, as Array(3).fill(0), or make it with Array.from({ length: 3 }, f).',
  );
}

const isTyped = (v: Val): boolean => v.kind === 'data' || (v.kind === 'tuple' && v.typed === true);

/** What `map` or `slice` of a Float64Array makes: another one, whose elements are numbers. */
function typedCopy(l: Lowering, copy: TupleValue, env: Env, node: AnyNode): TupleValue {
  for (const e of copy.elements) {
    const value = l.get(e);
    if (value.kind !== 'number') l.misused(value, 'a number', env, node);
  }
  return { ...copy, typed: true };
}
