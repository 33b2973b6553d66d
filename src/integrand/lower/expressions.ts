/** Lowers expressions of the integrand language, by a table with the names of acorn's nodes. */
import type { AnyNode } from 'acorn';
import { Refused } from '../captures.ts';
import type { Id, Op } from '../ir.ts';
import { elementAt, makeArray, spread } from './arrays.ts';
import { lowerCall } from './calls.ts';
import { globalValue } from './globals.ts';
import { type Env, type Lowering, remedyFor } from './lowering.ts';
import { lowerObject } from './objects.ts';
import { capturedValue, freeVariable, refuseCaptured } from './outside.ts';
import { assignPattern, reference } from './patterns.ts';
import { rare } from './rarely-used.ts';
import { isCoverageCounter, isModuleObject } from './toolchains.ts';
import { describe, type FunctionNode, isArray, isScalar, type Val } from './values.ts';

type Of<T extends AnyNode['type']> = Extract<AnyNode, { type: T }>;
type Handlers = { [T in AnyNode['type']]?: (l: Lowering, node: Of<T>, env: Env, name: string) => Val };

const ARITHMETIC: Record<string, Op> = { '+': 'add', '-': 'sub', '*': 'mul', '/': 'div' };
const COMPARISON: Record<string, [Op, swap: boolean]> = {
  '<': ['lt', false],
  '<=': ['le', false],
  '>': ['lt', true],
  '>=': ['le', true],
};

const EXPRESSIONS: Handlers = {
  Literal(l, node, env) {
    const { value } = node;
    if (typeof value === 'number' || typeof value === 'boolean') return l.literal(value);
    if (typeof value === 'string') return { kind: 'string', text: value };
    if (value === null && node.raw === 'null') return { kind: 'null' };
    const what = 'regex' in node && node.regex ? 'a regular expression' : 'a BigInt';
    return l.fail(
      env,
      node,
      `An integrand cannot use ${what}.`,
      'An integrand computes with numbers and booleans only.',
    );
  },
  TemplateLiteral(l, node, env) {
    const [{ value }] = node.quasis; // minifiers write 'a' as `a`
    if (node.expressions.length === 0 && typeof value.cooked === 'string')
      return { kind: 'string', text: value.cooked };
    return l.fail(
      env,
      node,
      'An integrand cannot use a string with values in it.',
      'An integrand computes with numbers and booleans only.',
    );
  },
  Identifier(l, node, env) {
    const found = env.names.find(node.name);
    if (found) {
      const value = l.get(found.slot);
      // JavaScript throws when it is read, whether the value is used or not
      if (value.kind === 'unsettled' && value.early) l.misused(value, 'a value', env, node);
      return value;
    }
    const captured = capturedValue(l, node, env);
    return captured ?? globalValue(l, node.name) ?? freeVariable(l, node, node.name, env);
  },
  UnaryExpression(l, node, env) {
    if (node.operator === '!') return l.bool(l.builder.op('not', condition(l, node.argument, env)));
    const value = lowerExpression(l, node.argument, env);
    switch (node.operator) {
      case '-':
        return l.number(l.builder.op('neg', l.toNumber(value, env, node.argument)));
      case '+':
        return l.number(l.toNumber(value, env, node.argument));
      case 'void':
        return { kind: 'undefined' };
      default:
        return rare(l, env, node).refuseOperator(l, node, node.operator, env);
    }
  },
  BinaryExpression(l, node, env) {
    // a loop, not recursion, over the operators of a chain: a sum may have thousands of terms
    const chain = [node];
    for (let { left } = node; left.type === 'BinaryExpression'; { left } = left) chain.push(left);
    const { left, operator } = chain.at(-1)!;
    if (left.type === 'PrivateIdentifier')
      return rare(l, env, node).refuseOperator(l, chain.at(-1)!, operator, env);
    let value = lowerExpression(l, left, env);
    for (const n of chain.reverse())
      value = binary(l, n.operator, value, lowerExpression(l, n.right, env), env, n);
    return value;
  },
  LogicalExpression(l, node, env) {
    const left = lowerExpression(l, node.left, env);
    if (node.operator === '??') {
      if (left.kind === 'unsettled') l.toBool(left, env, node.left);
      return isNullish(l, left, env, node.left) ? lowerExpression(l, node.right, env) : left;
    }
    const cond = l.toBool(left, env, node.left);
    const right = () => lowerExpression(l, node.right, env);
    return node.operator === '&&' ? choice(l, cond, right, () => left) : choice(l, cond, () => left, right);
  },
  ConditionalExpression(l, node, env) {
    const cond = condition(l, node.test, env);
    return choice(
      l,
      cond,
      () => lowerExpression(l, node.consequent, env),
      () => lowerExpression(l, node.alternate, env),
    );
  },
  SequenceExpression(l, node, env) {
    for (const e of node.expressions.slice(0, -1))
      if (!isCoverageCounter(e, env.names)) lowerExpression(l, e, env);
    return lowerExpression(l, node.expressions.at(-1)!, env);
  },
  AssignmentExpression(l, node, env) {
    const { operator, left, right } = node;
    const name = left.type === 'Identifier' ? left.name : '';
    if (left.type === 'ArrayPattern' || left.type === 'ObjectPattern') {
      const value = lowerExpression(l, right, env);
      assignPattern(l, left, value, env);
      return value;
    }
    const place = reference(l, left, env);
    const assign = () => {
      const value = lowerExpression(l, right, env, name);
      place.set(value);
      return value;
    };
    if (operator === '=') return assign();
    const old = place.get();
    const op = operator.slice(0, -1);
    if (op === '??') return isNullish(l, old, env, left) ? assign() : old;
    if (op === '&&' || op === '||') {
      const cond = l.toBool(old, env, left);
      return op === '&&' ? choice(l, cond, assign, () => old) : choice(l, cond, () => old, assign);
    }
    const value = binary(l, op, old, lowerExpression(l, right, env), env, node);
    place.set(value);
    return value;
  },
  UpdateExpression(l, node, env) {
    const place = reference(l, node.argument, env);
    const old = l.toNumber(place.get(), env, node.argument);
    const value = l.number(l.builder.op(node.operator === '++' ? 'add' : 'sub', old, l.builder.constant(1)));
    place.set(value);
    return node.prefix ? value : l.number(old);
  },
  MemberExpression(l, node, env) {
    if (node.object.type === 'Super' || node.property.type === 'PrivateIdentifier')
      return lowerExpression(l, node.object, env);
    const captured = capturedValue(l, node, env);
    if (captured) return captured;
    if (
      node.object.type === 'Identifier' &&
      !env.names.find(node.object.name) &&
      isModuleObject(node.object.name) &&
      node.property.type === 'Identifier'
    ) {
      return freeVariable(l, node, node.property.name, env); // an import, as a bundler rewrote it
    }
    const object = lowerExpression(l, node.object, env);
    if (!node.computed)
      return memberOf(l, object, (node.property as Of<'Identifier'>).name, env, node, node.optional ?? false);
    if (node.property.type === 'Literal' && typeof node.property.value === 'string')
      return memberOf(l, object, node.property.value, env, node, false);
    const index = lowerExpression(l, node.property, env);
    if (index.kind === 'string') return memberOf(l, object, index.text, env, node, false);
    return elementAt(l, object, index, env, node);
  },
  ChainExpression(l, node, env) {
    return lowerExpression(l, node.expression, env);
  },
  CallExpression(l, node, env) {
    return lowerCall(l, node, env);
  },
  ParenthesizedExpression(l, node, env) {
    return lowerExpression(l, node.expression, env);
  },
  ArrayExpression(l, node, env) {
    const values: Val[] = [];
    for (const e of node.elements) {
      if (e?.type === 'SpreadElement') values.push(...spread(l, lowerExpression(l, e.argument, env), env, e));
      else values.push(e ? lowerExpression(l, e, env) : { kind: 'undefined', hole: true });
    }
    return makeArray(l, values, env, node);
  },
  ObjectExpression(l, node, env) {
    return lowerObject(l, node, env);
  },
  ArrowFunctionExpression(l, node, env, name) {
    return closure(l, node, env, name);
  },
  FunctionExpression(l, node, env, name) {
    return closure(l, node, env, name);
  },
};

export function lowerExpression(l: Lowering, node: AnyNode, env: Env, name = ''): Val {
  l.step(env, node);
  const lower = EXPRESSIONS[node.type] as
    | ((l: Lowering, node: AnyNode, env: Env, name: string) => Val)
    | undefined;
  if (lower) return lower(l, node, env, name);
  return rare(l, env, node).refuseNode(l, node, env);
}

export function closure(l: Lowering, node: FunctionNode, env: Env, name = ''): Val {
  if (node.async || node.generator)
    l.fail(env, node, 'A helper function cannot be async or a generator.', 'Make it a plain function.');
  return { kind: 'function', node, names: env.names, source: env.source, name: node.id?.name ?? name };
}

/** An expression as a condition; unlike in an expression, the sides of `&&` and `||` may be of different kinds. */
export function condition(l: Lowering, node: AnyNode, env: Env): Id {
  if (node.type === 'ParenthesizedExpression') return condition(l, node.expression, env);
  if (node.type !== 'LogicalExpression' || node.operator === '??')
    return l.toBool(lowerExpression(l, node, env), env, node);
  const left = condition(l, node.left, env);
  const right = () => l.bool(condition(l, node.right, env));
  const known = () => l.bool(left);
  const both = node.operator === '&&' ? choice(l, left, right, known) : choice(l, left, known, right);
  return l.toBool(both, env, node);
}

/** The value of the arm that `cond` selects; assignments to variables in the arms take effect. */
function choice(l: Lowering, cond: Id, then: () => Val, otherwise: () => Val): Val {
  const slot = l.flow.slot({ kind: 'undefined' });
  const into = (arm: () => Val) => () => {
    l.set(slot, arm());
  };
  l.flow.if(cond, into(then), into(otherwise));
  const value = l.get(slot);
  l.flow.state.delete(slot);
  return value;
}

function binary(l: Lowering, operator: string, a: Val, b: Val, env: Env, node: AnyNode): Val {
  const { builder } = l;
  const numbers = (): [Id, Id] => [l.toNumber(a, env, node), l.toNumber(b, env, node)];
  if (operator in ARITHMETIC) return l.number(builder.op(ARITHMETIC[operator], ...numbers()));
  if (operator === '**') return l.number(builder.call('pow', ...numbers()));
  if (operator === '%') return l.number(builder.call('mod', ...numbers()));
  if (operator in COMPARISON) {
    const [op, swap] = COMPARISON[operator];
    const [x, y] = numbers();
    return l.bool(swap ? builder.op(op, y, x) : builder.op(op, x, y));
  }
  if (/^[=!]==?$/.test(operator)) {
    const equal = equality(l, a, b, operator.length === 3, env, node);
    return l.bool(operator[0] === '!' ? builder.op('not', equal) : equal);
  }
  return rare(l, env, node).refuseOperator(l, node, operator, env);
}

/** Whether a value is undefined or null, which is always known when the integrand is compiled. */
function isNullish(l: Lowering, v: Val, env: Env, node: AnyNode): boolean {
  l.settled(v, env, node);
  return v.kind === 'undefined' || v.kind === 'null';
}

function equality(l: Lowering, a: Val, b: Val, strict: boolean, env: Env, node: AnyNode): Id {
  const { builder } = l;
  if (a.kind === 'unsettled' || b.kind === 'unsettled') l.toBool(a.kind === 'unsettled' ? a : b, env, node);
  if (!isScalar(a) || !isScalar(b)) {
    const [none, other] = [a, b].map(v => isNullish(l, v, env, node));
    if (none || other) return builder.constant(none && other && (!strict || a.kind === b.kind));
    if (a.kind === 'string' && b.kind === 'string') return builder.constant(a.text === b.text);
    const [left, right] = [a, b].map(v => (isScalar(v) || v.kind === 'string' ? v.kind : 'object'));
    if (strict && left !== right) return builder.constant(false);
    return l.fail(
      env,
      node,
      `An integrand cannot compare ${describe(a)} with ${describe(b)}.`,
      'Compare numbers with numbers: the elements of arrays, one by one; strings with strings.',
    );
  }
  if (a.kind === 'bool' && b.kind === 'bool') {
    const either = builder.op('or', a.id, b.id);
    return builder.op('or', builder.op('not', either), builder.op('and', a.id, b.id));
  }
  if (strict && a.kind !== b.kind) return builder.constant(false);
  return builder.op('eq', l.toNumber(a, env, node), l.toNumber(b, env, node));
}

const ARRAY_METHODS =
  'map, filter, reduce, every, some, forEach, fill, slice, concat, at, sort, reverse, entries, keys and values';

export function memberOf(
  l: Lowering,
  object: Val,
  name: string,
  env: Env,
  node: AnyNode,
  optional: boolean,
): Val {
  if (isArray(object) && name === 'length') return l.literal(object.length);
  if (object.kind === 'filtered' && name === 'length')
    return rare(l, env, node).lengthOf(l, object, env, node);
  if (object.kind === 'namespace') {
    const found = object.fields.get(name);
    if (found instanceof Refused) return refuseCaptured(l, found, `${object.what}.${name}`, env, node);
    if (found) return found;
    const missing = (): never => rare(l, env, node).refuseMember(l, object, name, env, node);
    return object.given && !(name in Object.prototype) ? { kind: 'undefined', why: missing } : missing();
  }
  if (object.kind === 'tuple' && object.keys) {
    const k = object.keys.indexOf(name);
    if (k < 0 && name in Object.prototype) {
      l.fail(
        env,
        node,
        `An integrand cannot use \`.${name}\`, which JavaScript gives every object.`,
        'Read members of its own.',
      );
    }
    return k < 0 ? { kind: 'undefined' } : l.get(object.elements[k]);
  }
  if (optional && isNullish(l, object, env, node)) return { kind: 'undefined' };
  if (object.kind === 'unsettled' || (object.kind === 'undefined' && object.why)) {
    return l.misused(object, 'a value', env, node);
  }
  return l.fail(
    env,
    node,
    `An integrand cannot use \`.${name}\` of ${describe(object)}.`,
    isArray(object)
      ? `Arrays have length, ${ARRAY_METHODS}.`
      : object.kind === 'filtered' || object.kind === 'iterator'
        ? remedyFor(object)
        : 'Use a number, an array element or a function.',
  );
}
