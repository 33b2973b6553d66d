/**
 * Whether a function looks like one of the integrand language. Every module of a project is searched for helpers; most of its
 * functions are none, and shall be left as they are.
 */
import type { AnyNode } from 'acorn';
import { type FunctionLike, freeNames, nodesOf } from '../integrand/free-names.ts';
import { REFUSED } from '../integrand/lower/refused.ts';
import { isBound, type Scope } from './scopes.ts';

/** Globals of the language. */
const GLOBALS = new Set([
  'Math',
  'Number',
  'Array',
  'Boolean',
  'NaN',
  'Infinity',
  'undefined',
  'isNaN',
  'isFinite',
]);

export function couldCompile(f: FunctionLike, scope: Scope): boolean {
  if (f.async || f.generator) return false;
  for (const name of freeNames(f)) if (!GLOBALS.has(name) && !isBound(name, scope)) return false;
  let strings = 0;
  for (const node of nodesOf(f)) {
    if (node.type !== 'ObjectPattern' && Object.hasOwn(REFUSED, node.type)) return false;
    if (isString(node)) strings++;
    // strings are compared with each other, and nothing else
    if (node.type === 'BinaryExpression' && /^[=!]==?$/.test(node.operator))
      strings -= [node.left, node.right].filter(isString).length;
  }
  return strings === 0;
}

const isString = (node: AnyNode): boolean => node.type === 'Literal' && typeof node.value === 'string';
