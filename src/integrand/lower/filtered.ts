/**
 * What `filter` keeps. Where that is known when compiling, it is an array. Where it is not, all candidates stay, with a flag for
 * each, and the methods that make sense without knowing the length pass over those that were not kept.
 */
import type { AnyNode } from 'acorn';
import { elementAt, makeArray } from './arrays.ts';
import { inline, internalFunction } from './calls.ts';
import { memberOf } from './expressions.ts';
import { filteredMethod } from './filtered-prelude.ts';
import type { Env, Lowering } from './lowering.ts';
import { checkFunction } from './methods.ts';
import { preludeFunction } from './prelude.ts';
import type { FilteredValue, TupleValue, Val } from './values.ts';

/** The result of `filter` from the two arrays that the prelude's function returns. */
export function madeByFilter(
  l: Lowering,
  { elements }: TupleValue,
  env: Env,
  node: AnyNode,
): TupleValue | FilteredValue {
  const [values, kept] = elements.map(e => l.get(e)) as [TupleValue, TupleValue];
  return settle(l, values, kept, env, node);
}

function settle(
  l: Lowering,
  values: TupleValue,
  kept: TupleValue,
  env: Env,
  node: AnyNode,
): TupleValue | FilteredValue {
  const flags = kept.elements.map(e => l.known(l.get(e)));
  if (kept.memory !== undefined || flags.includes(undefined)) return { kind: 'filtered', values, kept };
  const left = flags.flatMap((f, i) => (f === 1 ? [elementAt(l, values, l.literal(i), env, node)] : []));
  return makeArray(l, left, env, node);
}

export function lowerFilteredMethod(
  l: Lowering,
  array: FilteredValue,
  name: string,
  args: Val[],
  node: AnyNode,
  env: Env,
): Val {
  const method = filteredMethod(name);
  if (!method) return memberOf(l, array, name, env, node, false);
  checkFunction(l, name, args[0], env, node);
  if (name === 'reduce' && args.length < 2) {
    const why = '`reduce` after `filter` needs a first value: there may be nothing left.';
    l.fail(env, node, why, 'Give it one: reduce(f, 0).');
  }
  const { values, kept } = array;
  const result = inline(l, internalFunction(method, name), [values, kept, array, ...args], node, env);
  if (result.kind !== 'tuple') return result;
  if (name === 'filter') return settle(l, values, result, env, node);
  if (name !== 'map') return result;
  for (const e of result.elements) {
    const value = l.get(e);
    if (value.kind !== 'number')
      l.fail(
        env,
        node,
        '`map` after `filter` makes numbers only.',
        'Filter what `map` made, or use `reduce`.',
      );
  }
  return { kind: 'filtered', values: result, kept };
}

/** How many were kept. */
export function lengthOf(l: Lowering, { kept }: FilteredValue, env: Env, node: AnyNode): Val {
  return inline(l, internalFunction(preludeFunction('count')!, 'length'), [kept], node, env);
}

/** Whether the i-th candidate was kept. */
export function isKept(l: Lowering, { kept }: FilteredValue, i: Val, env: Env, node: AnyNode): number {
  const flag = l.toNumber(elementAt(l, kept, i, env, node), env, node);
  return l.builder.op('lt', l.builder.constant(0), flag);
}
