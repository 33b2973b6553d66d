/** Lowers calls: inlines helpers and table look-ups; turns `Math` into operations and library calls. */
import type { AnyNode, CallExpression } from 'acorn';
import { hoistedVars } from '../free-names.ts';
import type { Id } from '../ir.ts';
import { libraryFunction } from '../math/common.ts';
import { intrinsics } from '../math/kit.ts';
import { type ParsedFunction, readInternal } from '../read.ts';
import { makeArray, spread } from './arrays.ts';
import { lowerExpression, memberOf } from './expressions.ts';
import { arity, DIRECT, mathKit } from './globals.ts';
import type { Env, Lowering } from './lowering.ts';
import { lowerMethod } from './methods.ts';
import { assignMembers, listMembers, mergeObjects } from './objects.ts';
import { capturedValue } from './outside.ts';
import { bindPattern } from './patterns.ts';
import { preludeFunction } from './prelude.ts';
import { rare } from './rarely-used.ts';
import { returned } from './results.ts';
import { lowerStatements } from './statements.ts';
import { tableLookup } from './tables.ts';
import {
  ARRAY_HELPERS,
  capturingFunction,
  isModuleObject,
  mayKeepNames,
  OBJECT_HELPERS,
} from './toolchains.ts';
import { describe, type FunctionValue, isArray, Names, type Val } from './values.ts';

/** The most calls that are inlined in one integrand: n helpers that each call the next one twice make 2^n calls. */
const MAX_INLINED_CALLS = 20_000;
/** A function that is inlined this many levels deep inside itself is taken for mutual recursion. */
const MAX_SELF_NESTING = 16;

export function lowerCall(l: Lowering, node: CallExpression, env: Env): Val {
  const rewritten = lowerToolchainCall(l, node, env);
  if (rewritten) return rewritten;
  const fn = lowerCallee(l, node, env);
  return 'method' in fn ? fn.method() : invoke(l, fn, lowerArguments(l, node.arguments, env), node, env);
}

/** A call that a tool-chain put around an array or a function; undefined for any other call. */
function lowerToolchainCall(l: Lowering, node: CallExpression, env: Env): Val | undefined {
  const capturing = capturingFunction(node);
  if (capturing) return lowerExpression(l, capturing, env);
  const { callee } = node;
  if (callee.type !== 'Identifier' || env.names.find(callee.name) || env.names.outside?.(callee.name)) return;
  const [first, second] = node.arguments;
  if (OBJECT_HELPERS.has(callee.name))
    return mergeObjects(l, lowerArguments(l, node.arguments, env), env, node);
  if (node.arguments.length === 2 && second.type === 'Literal' && typeof second.value === 'string') {
    // esbuild's keepNames makes f(function, "name") of a function
    if (!mayKeepNames(callee.name, second.value)) return;
    const isFunction =
      /^(ArrowFunction|Function)Expression$/.test(first.type) ||
      (first.type === 'Identifier' && lowerExpression(l, first, env).kind === 'function');
    return isFunction ? lowerExpression(l, first, env, second.value) : undefined;
  }
  const kind = Object.hasOwn(ARRAY_HELPERS, callee.name) && ARRAY_HELPERS[callee.name];
  if (!kind || !first || (kind === 'concat' && !second)) return;
  if (kind === 'same') {
    const value = lowerExpression(l, first, env);
    return isArray(value) ? value : l.misused(value, 'an array', env, first);
  }
  const arrays = kind === 'copy' ? [first] : [first, second];
  return makeArray(
    l,
    arrays.flatMap(a => spread(l, lowerExpression(l, a, env), env, a)),
    env,
    node,
  );
}

/** The value that is called; for a method of an array or function, a closure that lowers the whole call. */
function lowerCallee(l: Lowering, node: CallExpression, env: Env): Val | { method: () => Val } {
  const { callee } = node;
  if (callee.type !== 'MemberExpression' || callee.computed || callee.property.type !== 'Identifier') {
    return lowerExpression(l, callee, env);
  }
  if (
    callee.object.type === 'Super' ||
    (callee.object.type === 'Identifier' && isModuleObject(callee.object.name)) ||
    capturedValue(l, callee, env)
  ) {
    return lowerExpression(l, callee, env);
  }
  const object = lowerExpression(l, callee.object, env);
  const { name } = callee.property;
  const args = () => lowerArguments(l, node.arguments, env);
  if (isArray(object)) return { method: () => lowerMethod(l, object, name, args(), node, env) };
  if (object.kind === 'filtered' && name !== 'length')
    return { method: () => rare(l, env, node).lowerFilteredMethod(l, object, name, args(), node, env) };
  if ((object.kind === 'function' || object.kind === 'builtin') && (name === 'apply' || name === 'call')) {
    // tsc compiles f(...a) to f.apply(void 0, a)
    return {
      method: () => {
        const [, ...given] = args();
        return invoke(
          l,
          object,
          name === 'call' ? given : given.slice(0, 1).flatMap(a => spread(l, a, env, node)),
          node,
          env,
        );
      },
    };
  }
  return memberOf(l, object, name, env, callee, callee.optional ?? false);
}

/** Lowers the call of a value whose arguments are lowered already. */
export function invoke(l: Lowering, fn: Val, args: Val[], node: AnyNode, env: Env): Val {
  switch (fn.kind) {
    case 'function':
      return inline(l, fn, args, node, env);
    case 'builtin':
      return lowerBuiltin(l, fn.name, fn.fn, args, node, env);
    case 'table': {
      const { axes } = fn.table;
      if (args.length !== axes.length) {
        l.fail(
          env,
          node,
          `The table ${fn.called} has ${axes.length} axes and is called with ${args.length}.`,
          'Give one coordinate an axis.',
        );
      }
      const numbers = args.map(a => l.number(l.toNumber(a, env, node)));
      const lookup = tableLookup(l, fn);
      return inline(l, lookup.fn, [...numbers, ...lookup.args], node, env);
    }
    case 'namespace':
      if (fn.what === 'Array') {
        if (args.length !== 1) return makeArray(l, args, env, node);
        const hole: Val = { kind: 'undefined', hole: true };
        return makeArray(l, Array(constantLength(l, args[0], node, env)).fill(hole), env, node);
      }
      if (fn.what === 'Number') return l.number(l.toNumber(args[0] ?? l.literal(0), env, node));
      break;
    case 'undefined':
      if (fn.why) return l.misused(fn, 'a function', env, node);
  }
  return l.fail(
    env,
    node,
    `This is ${describe(fn)}, not a function.`,
    'Call a function of Math, a helper inside the integrand, a function of params, or a table.',
  );
}

function lowerArguments(l: Lowering, nodes: CallExpression['arguments'], env: Env): Val[] {
  return nodes.flatMap(a =>
    a.type === 'SpreadElement'
      ? spread(l, lowerExpression(l, a.argument, env), env, a)
      : [lowerExpression(l, a, env)],
  );
}

function lowerBuiltin(l: Lowering, name: string, fn: string, args: Val[], node: AnyNode, env: Env): Val {
  const { builder } = l;
  const number = (i: number): Id => l.toNumber(args[i] ?? { kind: 'undefined' }, env, node);
  const numbers = () => args.map((_, i) => number(i));
  if (fn === 'from') return arrayFrom(l, args, node, env);
  if (fn === 'order') return rare(l, env, node).comesBefore(l, args, node, env);
  if (fn === 'contradicts') return rare(l, env, node).contradicts(l, args, node, env);
  if (fn === 'demand') return rare(l, env, node).demand(l, args, node, env);
  if (name === 'Object.assign') return assignMembers(l, args, env, node);
  if (name.startsWith('Object.')) return listMembers(l, fn, args[0] ?? { kind: 'undefined' }, env, node);
  if (fn === 'Boolean') return l.bool(l.toBool(args[0] ?? { kind: 'undefined' }, env, node));
  if ((DIRECT as readonly string[]).includes(fn))
    return l.number(builder.op(fn as (typeof DIRECT)[number], number(0)));
  if (fn in intrinsics) return l.number(builder.op(fn as keyof typeof intrinsics, ...numbers()));
  if (fn === 'min' || fn === 'max') {
    return l.number(
      numbers().reduce((a, b) => builder.op(fn, a, b), builder.constant(fn === 'min' ? Infinity : -Infinity)),
    );
  }
  if (fn === 'hypot' && args.length !== 2) {
    const ids = numbers();
    if (ids.length < 2) return l.number(ids.length ? builder.op('abs', ids[0]) : builder.constant(0));
    const all = makeArray(
      l,
      ids.map(id => l.number(id)),
      env,
      node,
    );
    return inline(l, internalFunction(preludeFunction('hypot')!, name), [all], node, env);
  }
  if (name.startsWith('Number.') && args[0]?.kind === 'bool') return l.literal(false); // Number.isFinite(true) is false
  const prelude = preludeFunction(fn);
  if (prelude && fn !== 'hypot') {
    const answer = inline(l, internalFunction(prelude, name), [l.number(number(0))], node, env);
    return name === 'Number.isNaN' ? isInsideToo(l, answer, args[0], env, node) : answer;
  }
  const wanted = arity(fn);
  if (wanted === 0) {
    // a helper of the math library, which may return several numbers
    const helper = internalFunction(readInternal(libraryFunction(fn)), fn);
    return inline(l, helper, [...args, mathKit()], node, env);
  }
  return l.number(builder.call(fn, ...Array.from({ length: wanted }, (_, i) => number(i))));
}

/** Number.isNaN is false for what is read outside an array: that is NaN here, but undefined in JavaScript. */
function isInsideToo(l: Lowering, answer: Val, v: Val, env: Env, node: AnyNode): Val {
  if (v.kind !== 'number' || !v.element) return answer;
  if (!v.at) l.settled(v, env, node);
  const { builder } = l;
  const { index, length } = v.at!;
  const within = builder.op(
    'and',
    builder.op('le', builder.constant(0), index),
    builder.op('lt', index, builder.constant(length)),
  );
  const inside = builder.op('and', within, builder.op('eq', builder.op('trunc', index), index));
  return l.bool(builder.op('and', inside, l.toBool(answer, env, node)));
}

function arrayFrom(l: Lowering, args: Val[], node: AnyNode, env: Env): Val {
  const [from = { kind: 'undefined' } as Val, fn] = args;
  if (from.kind === 'iterator' && !fn && node.type === 'CallExpression')
    return makeArray(l, spread(l, from, env, node.arguments[0]), env, node);
  if (isArray(from)) {
    if (!fn) return makeArray(l, spread(l, from, env, node), env, node);
    const map = internalFunction(preludeFunction('fromArray')!, 'Array.from');
    return inline(l, map, [from, fn], node, env); // element by element: `fn` may change the array
  }
  const length = (from as Val).kind === 'tuple' ? memberOf(l, from, 'length', env, node, false) : undefined;
  const n = constantLength(l, length, node, env);
  if (!fn) return makeArray(l, Array(n).fill({ kind: 'undefined' }), env, node);
  return inline(l, internalFunction(preludeFunction('from')!, 'Array.from'), [l.literal(n), fn], node, env);
}

function constantLength(l: Lowering, length: Val | undefined, node: AnyNode, env: Env): number {
  const n = length && l.known(length);
  if (typeof n === 'number' && Number.isInteger(n) && n >= 0 && n <= 1e6) return n;
  return l.fail(
    env,
    node,
    'The length of an array must be known when the integrand is compiled.',
    'Use a number, x.length, or the length of an array in params.',
  );
}

/** A function of this library as a value to call. */
export function internalFunction(
  { node, source }: Pick<ParsedFunction, 'node' | 'source'>,
  name: string,
): FunctionValue {
  return { kind: 'function', node, source, names: new Names(null), name };
}

/** Lowers the body of a function in place of its call. */
export function inline(l: Lowering, fn: FunctionValue, args: Val[], at: AnyNode, caller: Env): Val {
  // a callback may call the helper it was passed to; a function that calls itself in its own text would never end
  const own = caller.source === fn.source && at.start >= fn.node.start && at.end <= fn.node.end;
  if (own || l.calls.filter(c => c.fn === fn.node).length >= MAX_SELF_NESTING) {
    l.fail(
      caller,
      at,
      `${fn.name ? `\`${fn.name}\`` : 'This function'} calls itself: an integrand cannot use recursion.`,
      'Write it as a loop.',
    );
  }
  if (++l.inlined > MAX_INLINED_CALLS) {
    l.fail(
      caller,
      at,
      `The helpers of this integrand unfold to more than ${MAX_INLINED_CALLS} calls.`,
      'Write the repetition as a loop, or call each helper from fewer places.',
    );
  }
  l.calls.push({ fn: fn.node, at, source: caller.source });
  const slot = l.flow.slot({ kind: 'undefined' });
  lowerFunction(l, fn, args, slot, at);
  l.calls.pop();
  const value = l.get(slot);
  l.flow.state.delete(slot);
  return value;
}

/** Lowers a function's body; its result goes to `slot`. */
export function lowerFunction(l: Lowering, fn: FunctionValue, args: Val[], slot: number, at: AnyNode): void {
  const { node, source } = fn;
  l.flow.block(target => {
    const env: Env = { names: new Names(fn.names), source, result: { target, slot }, loops: null };
    if (node.type === 'FunctionExpression' && node.id) env.names.declare(node.id.name, l.flow.slot(fn), true);
    node.params.forEach((p, i) => {
      if (p.type === 'RestElement') {
        const rest = args.slice(i);
        bindPattern(l, p.argument, makeArray(l, rest, env, at), env, false);
      } else bindPattern(l, p, args[i] ?? { kind: 'undefined' }, env, false);
    });
    if (node.body.type !== 'BlockStatement') {
      const value = lowerExpression(l, node.body, env);
      l.set(slot, l.calls.length > 0 ? value : returned(l, value, env, node.body));
      return;
    }
    const inner: Env = { ...env, names: new Names(env.names) };
    for (const name of hoistedVars(node.body)) {
      if (!env.names.find(name) || ![...env.names.own()].some(([n]) => n === name))
        inner.names.declare(name, l.flow.slot({ kind: 'undefined' }));
    }
    lowerStatements(l, node.body.body, inner);
  });
}
