/**
 * Turns a function into a syntax tree: parse.ts parses the text that `Function.prototype.toString` gives.
 * Functions without a text (native or bound ones), classes, async functions and generators are refused here.
 */

import type { AnyNode, Expression } from 'acorn';
import { IntegrandError, isStackOverflow, type Source, withinDepth } from './diagnostics.ts';
import { nodesOf } from './free-names.ts';
import type { FunctionNode } from './lower/values.ts';
import { parseExpression } from './parse.ts';

export interface ParsedFunction {
  source: Source;
  node: FunctionNode;
  /** The function itself. */
  f: object;
}

/** `called` is what messages call a function that is not the integrand itself. */
export function read(f: unknown, internal = false, called = ''): ParsedFunction {
  const subject = called || 'The integrand';
  if (typeof f !== 'function') {
    throw new IntegrandError(
      `The integrand is ${f === null ? 'null' : `of type ${typeof f}`}, not a function.`,
      'Pass a function of the point, such as ([x, y]) => x * y.',
    );
  }
  const text = Function.prototype.toString.call(f);
  if (/\{\s*\[native code\]\s*\}\s*$/.test(text)) {
    throw new IntegrandError(
      `${subject}${f.name && !called ? ` '${f.name}'` : ''} is a native or bound function: it has no source to compile.`,
      'Wrap it in a plain function, such as x => Math.sin(x[0]); pass what it was bound to in `params`.',
    );
  }
  const source: Source = { text, internal, ...(called && { called }) };
  const node = withinDepth(source, () => parse(source));
  const fail = (reason: string, remedy: string, runsAsItIs = true): never => {
    const span = { start: 0, end: text.split('\n')[0].length };
    throw new IntegrandError(reason, remedy, { source, span }, runsAsItIs);
  };
  if (!isFunction(node)) {
    return fail(
      `${subject} is a class, not a function.`,
      `Pass a plain function${called ? '' : ' of the point'}.`,
      false,
    );
  }
  if (node.async) {
    fail(`${subject} is an async function, which cannot be compiled.`, 'Make it a plain function.');
  }
  if (node.generator) {
    fail(
      `${subject} is a generator function.`,
      'Return the value with `return` from a plain function.',
      false,
    );
  }
  return { source, node, f };
}

const known = new WeakMap<object, ParsedFunction>();

/** Parses a function of this library, once. */
export function readInternal(f: object): ParsedFunction {
  const found = known.get(f) ?? read(f, true);
  known.set(f, found);
  return found;
}

const [params, bounds] = [0, 1].map(() => new WeakMap<object, ParsedFunction>());

/** Parses a function of params, once: lowering remembers what it learns by nodes, and may start again. */
export function readParam(f: object, called: string): ParsedFunction {
  const found = params.get(f) ?? read(f, false, called);
  params.set(f, found);
  return found;
}

/** The same for a function of bounds, which gets params as its second argument. */
export function readBounds(f: object, called: string): ParsedFunction {
  const found = bounds.get(f) ?? read(f, false, called);
  found.source.takesParams = true;
  bounds.set(f, found);
  return found;
}

const isFunction = (node: AnyNode): node is FunctionNode =>
  node.type === 'ArrowFunctionExpression' || node.type === 'FunctionExpression';

/** Parses the text as an expression; a method such as `f(x) { … }` parses as a member of an object. */
function parse(source: Source): Expression {
  const wrap = (prefix: string, suffix: string) => parseExpression(prefix + source.text + suffix);
  try {
    return shift(wrap('(', ')'), 1);
  } catch (first) {
    if (isStackOverflow(first)) throw first;
    try {
      const object = wrap('({', '})');
      if (object.type === 'ObjectExpression' && object.properties[0]?.type === 'Property') {
        return shift(object.properties[0].value, 2);
      }
    } catch {
      // the first error is about the text as the user wrote it
    }
    const { pos, message } = first as { pos?: number; message: string };
    const at = Math.max(0, (pos ?? 1) - 1);
    throw new IntegrandError(
      `The text of ${source.called ?? 'the integrand'} cannot be parsed: ${message.replace(/ \(\d+:\d+\)$/, '')}.`,
      'Pass a plain function or arrow function.',
      { source, span: { start: at, end: at + 1 } },
    );
  }
}

/** Moves all offsets back by the length of the prefix, so that they point into the text of the function. */
function shift<T extends AnyNode>(root: T, by: number): T {
  for (const node of nodesOf(root)) {
    node.start -= by;
    node.end -= by;
  }
  return root;
}
