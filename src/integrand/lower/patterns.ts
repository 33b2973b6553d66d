/** Binds and assigns names, elements of arrays, members of objects, and patterns of them. */
import type { AnyNode } from 'acorn';
import { elementAt, makeArray, storeElement } from './arrays.ts';
import { lowerExpression, memberOf } from './expressions.ts';
import type { Env, Lowering } from './lowering.ts';
import { makeObject, membersOf, nameOf, storeMember } from './objects.ts';
import { describe, isArray, type Val } from './values.ts';

/** Declares the names of a pattern. A `var` was declared when its function was entered, so it is assigned. */
export function bindPattern(
  l: Lowering,
  pattern: AnyNode,
  value: Val,
  env: Env,
  constant: boolean,
  isVar = false,
): void {
  match(l, pattern, value, env, (leaf, v) => {
    if (leaf.type !== 'Identifier') return reference(l, leaf, env).set(v);
    if (isVar) return l.set(env.names.find(leaf.name)!.slot, v);
    env.names.declare(leaf.name, l.flow.slot(v), constant);
  });
}

export function assignPattern(l: Lowering, pattern: AnyNode, value: Val, env: Env): void {
  match(l, pattern, value, env, (leaf, v) => reference(l, leaf, env).set(v));
}

function match(
  l: Lowering,
  pattern: AnyNode,
  value: Val,
  env: Env,
  leaf: (node: AnyNode, v: Val) => void,
): void {
  switch (pattern.type) {
    case 'AssignmentPattern': {
      const name = pattern.left.type === 'Identifier' ? pattern.left.name : '';
      l.settled(value, env, pattern);
      if (value.kind === 'unsettled') l.misused(value, 'a value', env, pattern);
      const chosen = value.kind === 'undefined' ? lowerExpression(l, pattern.right, env, name) : value;
      return match(l, pattern.left, chosen, env, leaf);
    }
    case 'ArrayPattern':
      if (!isArray(value)) {
        return l.fail(
          env,
          pattern,
          `This is ${describe(value)}, where an array is needed.`,
          'Destructure the point, an array of params or a local array.',
        );
      }
      pattern.elements.forEach((e, i) => {
        if (!e) return;
        if (e.type !== 'RestElement') {
          const element = elementAt(l, value, l.literal(i), env, e);
          const isPoint = value.kind === 'point' || (value.kind === 'tuple' && value.fixed);
          if (isPoint && element.kind === 'undefined' && e.type !== 'AssignmentPattern') element.why?.();
          return match(l, e, element, env, leaf);
        }
        const rest = Array.from({ length: Math.max(0, value.length - i) }, (_, k) =>
          elementAt(l, value, l.literal(i + k), env, e),
        );
        match(l, e.argument, makeArray(l, rest, env, e), env, leaf);
      });
      return;
    case 'ObjectPattern':
      for (const p of pattern.properties) {
        if (p.type === 'RestElement') {
          const taken = pattern.properties.flatMap(q =>
            q.type === 'Property' && q.key.type === 'Identifier' ? [q.key.name] : [],
          );
          const rest = membersOf(l, value, env, p).filter(([name]) => !taken.includes(name));
          match(l, p.argument, makeObject(l, rest, p), env, leaf);
          continue;
        }
        if (p.computed || p.key.type !== 'Identifier') {
          return l.fail(
            env,
            p,
            'An object pattern in an integrand names its members.',
            'Write { a, b } or { a: name }.',
          );
        }
        match(l, p.value, memberOf(l, value, p.key.name, env, p.key, false), env, leaf);
      }
      return;
    default:
      return leaf(pattern, value);
  }
}

/** A variable, element or member that can be read and written; its object and its index are evaluated once. */
export interface Reference {
  get(): Val;
  set(value: Val): void;
}

export function reference(l: Lowering, node: AnyNode, env: Env): Reference {
  if (node.type === 'Identifier') {
    return {
      get: () => lowerExpression(l, node, env),
      set(value) {
        const found = env.names.find(node.name);
        if (!found) {
          return l.fail(
            env,
            node,
            `\`${node.name}\` is not declared inside the integrand.`,
            'Declare it with `let`: an integrand cannot change anything outside itself.',
          );
        }
        if (found.constant)
          l.fail(env, node, `\`${node.name}\` is a const and cannot be assigned.`, 'Declare it with `let`.');
        const old = l.get(found.slot);
        if (old.kind === 'unsettled' && old.early) l.misused(old, 'a variable', env, node);
        l.set(found.slot, value);
      },
    };
  }
  if (node.type !== 'MemberExpression') {
    return l.fail(env, node, 'This cannot be assigned to.', 'Assign to a variable, an element or a member.');
  }
  const target = lowerExpression(l, node.object, env);
  if (target.kind !== 'tuple' || target.fixed || (!target.keys && !node.computed)) {
    return l.fail(
      env,
      node,
      `An integrand cannot change ${describe(target)}.`,
      target.kind === 'tuple' && target.keys
        ? 'Copy it to a local object: const o = { ...r }.'
        : 'Copy what you need to a local array: const y = [...x].',
    );
  }
  const index = node.computed ? lowerExpression(l, node.property, env) : undefined;
  if (target.keys) {
    const property = node.property as { name: string };
    const name = index ? nameOf(l, index, env, node) : property.name;
    return {
      get: () => memberOf(l, target, name, env, node, false),
      set: value => storeMember(l, target, name, value, env, node),
    };
  }
  if (!index) throw new Error('unreachable: an array is changed at an index');
  return {
    get: () => elementAt(l, target, index, env, node),
    set: value => storeElement(l, target, index, value, env, node),
  };
}
