/**
 * Objects of the integrand: a slot for each member. Two names of one object share its slots, so a change by one of them is seen
 * by the other, as in JavaScript. An object keeps the members that it was made with.
 */
import type { AnyNode, ObjectExpression } from 'acorn';
import { checkWritable, makeArray } from './arrays.ts';
import { lowerExpression } from './expressions.ts';
import type { Env, Lowering } from './lowering.ts';
import { describe, type TupleValue, type Val } from './values.ts';

export function makeObject(l: Lowering, members: Iterable<[string, Val]>, site: AnyNode): TupleValue {
  const fields = new Map(members);
  const elements = [...fields.values()].map(v => l.flow.slot(v));
  return { kind: 'tuple', length: elements.length, elements, keys: [...fields.keys()], site };
}

export function lowerObject(l: Lowering, node: ObjectExpression, env: Env): Val {
  const members: [string, Val][] = []; // a name that is repeated keeps its first place and its last value, as in a Map
  for (const p of node.properties) {
    if (p.type === 'SpreadElement') {
      members.push(...membersOf(l, lowerExpression(l, p.argument, env), env, p));
      continue;
    }
    if (p.computed || p.kind !== 'init' || p.key.type !== 'Identifier')
      return l.fail(env, p, 'An object in an integrand has plain members.', 'Write { a: 1, b: 2 }.');
    if (p.key.name === '__proto__')
      return l.fail(env, p, 'An object in an integrand has no prototype of its own.', 'Take another name.');
    members.push([p.key.name, lowerExpression(l, p.value, env, p.key.name)]);
  }
  return makeObject(l, members, node);
}

/** The names and values of an object, in their order. */
export function membersOf(l: Lowering, object: Val, env: Env, node: AnyNode): [string, Val][] {
  if (object.kind !== 'tuple' || !object.keys) {
    if (object.kind === 'unsettled') l.misused(object, 'an object', env, node);
    const why = `Members are taken from an object made in the integrand; this is ${describe(object)}.`;
    return l.fail(env, node, why, 'Write the object inside the integrand: { a: 1, b: 2 }.');
  }
  return object.keys.map((name, k) => [name, l.get(object.elements[k])]);
}

/** A new object with the members of all: what tool-chains make of `{ ...a, b }`. */
export function mergeObjects(l: Lowering, objects: readonly Val[], env: Env, node: AnyNode): Val {
  return makeObject(
    l,
    objects.flatMap(o => membersOf(l, o, env, node)),
    node,
  );
}

/** `Object.assign` to an object that is made in the call, as tsc compiles `{ ...a, b }`; any other would get members later. */
export function assignMembers(l: Lowering, objects: readonly Val[], env: Env, node: AnyNode): Val {
  const [target] = node.type === 'CallExpression' ? node.arguments : [];
  const own =
    target?.type === 'ObjectExpression' || (objects[0]?.kind === 'tuple' && objects[0].site === target);
  if (own) return mergeObjects(l, objects, env, node);
  const why =
    'Object.assign changes its first argument, which keeps the members it was made with in an integrand.';
  return l.fail(env, node, why, 'Make a new object: { ...a, ...b }.');
}

/** `Object.keys`, `Object.values` and `Object.entries`. */
export function listMembers(l: Lowering, of: string, object: Val, env: Env, node: AnyNode): Val {
  const list = membersOf(l, object, env, node).map(([name, value]): Val => {
    const key: Val = { kind: 'string', text: name };
    return of === 'keys' ? key : of === 'values' ? value : makeArray(l, [key, value], env, node);
  });
  return makeArray(l, list, env, node);
}

/** The name of a member that is given in brackets. */
export function nameOf(l: Lowering, index: Val, env: Env, node: AnyNode): string {
  if (index.kind === 'string') return index.text;
  const why = `A member of an object is named by a string that is known when compiling; this is ${describe(index)}.`;
  return l.fail(env, node, why, 'Write o.name, or use an array: a[i].');
}

export function storeMember(
  l: Lowering,
  object: TupleValue,
  name: string,
  value: Val,
  env: Env,
  node: AnyNode,
): void {
  checkWritable(l, object, env, node);
  const k = object.keys!.indexOf(name);
  if (k < 0) {
    const why = `This object has no member \`${name}\`: an object in an integrand keeps the members it was made with.`;
    l.fail(env, node, why, `Give it one where it is made: { …, ${name}: 0 }.`);
  }
  l.set(object.elements[k], value);
}
