/**
 * Lowers `sort` and `toSorted`. With a comparator that orders the elements, JavaScript's result does not depend on the engine:
 * sorting is stable. How often the comparator is called does depend on it, so a comparator may not change anything. What a
 * comparator makes of elements that it does not order is the engine's choice as well: the integrand is NaN there.
 */
import type { AnyNode } from 'acorn';
import { walk } from '../ir.ts';
import { elementAt, makeArray, spread } from './arrays.ts';
import { inline, internalFunction, invoke } from './calls.ts';
import { same } from './flow.ts';
import type { Env, Lowering } from './lowering.ts';
import { checkFunction } from './methods.ts';
import { preludeFunction } from './prelude.ts';
import { type ArrayLikeValue, describe, type Val } from './values.ts';

export function lowerSort(
  l: Lowering,
  array: ArrayLikeValue,
  name: string,
  comparator: Val | undefined,
  node: AnyNode,
  env: Env,
): Val {
  if (!comparator || comparator.kind === 'undefined') {
    const why = `\`${name}\` without a function orders by text in JavaScript: 10 comes before 9.`;
    l.fail(env, node, why, `Give it one: a.${name}((a, b) => a - b).`);
  }
  checkFunction(l, name, comparator, env, node);
  if (array.kind === 'data' || (array.kind === 'tuple' && array.typed)) {
    const why = `\`${name}\` of a typed array has rules of its own in JavaScript.`;
    l.fail(env, node, why, 'Make it a plain array first: [...a].sort((a, b) => a - b).');
  }
  const sorted = name === 'sort' ? array : makeArray(l, spread(l, array, env, node), env, node);
  const kinds = Array.from(
    { length: sorted.length },
    (_, i) => elementAt(l, sorted, l.literal(i), env, node).kind,
  );
  if (kinds.includes('undefined'))
    l.fail(env, node, `\`${name}\` puts undefined last in JavaScript.`, 'Give every element a value first.');
  const numbers = l.literal(kinds.every(k => k === 'number'));
  const tests = ['order', 'contradicts', 'demand'].map((fn): Val => ({ kind: 'builtin', name: fn, fn }));
  const sort = internalFunction(preludeFunction('sort')!, name);
  return inline(l, sort, [sorted, comparator, ...tests, numbers], node, env);
}

/** Makes the integrand's result NaN unless what is sorted has an order: by a store outside an array, which does just that. */
export function demand(l: Lowering, [condition]: Val[], node: AnyNode, env: Env): Val {
  const { builder } = l;
  const ok = l.toBool(condition, env, node);
  const known = builder.constantOf(ok);
  if (known === false) {
    const why =
      'What is sorted here has no order: NaN is in it, or the comparator puts each of two before the other.';
    l.fail(env, node, why, 'Sort numbers by (a, b) => a - b.');
  }
  if (known === undefined) {
    const index = builder.op('select', ok, builder.constant(0), builder.constant(-1));
    builder.emit({ kind: 'store', array: l.arrays.push(1) - 1, index, value: builder.constant(0) });
  }
  return { kind: 'undefined' };
}

/** Whether the comparator puts each of two elements before the other. */
export function contradicts(l: Lowering, [comparator, a, b]: Val[], node: AnyNode, env: Env): Val {
  if (isDifference(comparator)) return l.literal(false);
  const [one, other] = [
    comesBefore(l, [comparator, a, b], node, env),
    comesBefore(l, [comparator, b, a], node, env),
  ];
  return l.bool(l.builder.op('and', l.toBool(one, env, node), l.toBool(other, env, node)));
}

/** Whether a comparator is (a, b) => E(a) - E(b) by its text: then it never contradicts itself. */
function isDifference(f: Val): boolean {
  if (f.kind !== 'function' || f.node.params.length !== 2) return false;
  const names = f.node.params.map(p => (p.type === 'Identifier' && /^\w+$/.test(p.name) ? p.name : ''));
  const { body } = f.node;
  if (names.includes('') || body.type !== 'BinaryExpression' || body.operator !== '-') return false;
  const [left, right] = [body.left, body.right].map(n => f.source.text.slice(n.start, n.end));
  const swapped = left.replace(/\w+/g, word =>
    names.includes(word) ? names[1 - names.indexOf(word)] : word,
  );
  return swapped === right;
}

/** Whether the comparator puts the later of two elements before the earlier: args are the comparator and the two. */
export function comesBefore(l: Lowering, [comparator, later, earlier]: Val[], node: AnyNode, env: Env): Val {
  const { flow, builder } = l;
  const [before, arrays] = [flow.state.copy(), l.arrays.length];
  builder.open();
  const result = invoke(l, comparator, [later, earlier], node, env);
  const closed = builder.close();
  const assigns = flow.state
    .differences(before)
    .some(s => before.has(s) && !same(flow.state.get(s) ?? { kind: 'undefined' }, before.get(s)!));
  let stores = false;
  walk(closed.body, s => {
    stores ||= s.kind === 'store' && s.array < arrays;
  });
  if (assigns || stores) {
    const why = 'This comparator changes something, and how often it is called depends on the engine.';
    l.fail(env, node, why, 'Let it only compare: (a, b) => a - b.');
  }
  builder.splice(closed);
  builder.scope.dead ||= closed.dead;
  if (result.kind !== 'number') {
    if (result.kind === 'unsettled') l.misused(result, 'a number', env, node);
    const why = `This comparator returns ${describe(result)}, where a number is needed.`;
    l.fail(env, node, why, 'Return a number below 0 where a comes first: (a, b) => a - b.');
  }
  return l.bool(builder.op('lt', result.id, builder.constant(0)));
}
