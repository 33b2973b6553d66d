/**
 * Recognises code that tool-chains add to a user's function, so that an integrand still compiles after esbuild, tsc or
 * Babel, or under a coverage tool.
 */
import type { AnyNode, CallExpression } from 'acorn';
import { CAPTURES } from '../captures.ts';
import type { Names } from './values.ts';

/** Helpers that tsc, Babel and SWC call to destructure or spread arrays, by what they return. */
export const ARRAY_HELPERS: Record<string, 'same' | 'copy' | 'concat'> = {
  __read: 'same',
  _slicedToArray: 'same',
  _sliced_to_array: 'same',
  _toConsumableArray: 'copy',
  _to_consumable_array: 'copy',
  _toArray: 'copy',
  _to_array: 'copy',
  __spreadArray: 'concat',
};

/** Helpers to which tsc, Babel, SWC and esbuild compile `{ ...a, b }`: the first argument is an object of its own. */
export const OBJECT_HELPERS: ReadonlySet<string> = new Set([
  '__assign',
  '__spreadValues',
  '__spreadProps',
  '_objectSpread',
  '_object_spread',
  '_object_spread_props',
  '_extends',
]);

/**
 * Whether the node is a counter of Istanbul: `cov_1a2b().s[3]++`, `cov_1a2b().b[3][0]++`, or `__cov_1a2b.s['3']++` in older
 * versions. The object must come from outside: a variable of the integrand may have any name.
 */
export function isCoverageCounter(node: AnyNode, names: Names): boolean {
  if (node.type !== 'UpdateExpression') return false;
  let inner: AnyNode = node.argument;
  while (inner.type === 'MemberExpression' && inner.computed && inner.property.type === 'Literal')
    inner = inner.object;
  if (inner === node.argument || inner.type !== 'MemberExpression' || inner.computed) return false;
  if (inner.property.type !== 'Identifier' || !/^[sfb]$/.test(inner.property.name)) return false;
  const { object } = inner;
  const name = object.type === 'CallExpression' && object.arguments.length === 0 ? object.callee : object;
  return name.type === 'Identifier' && /^_*cov_/.test(name.name) && !names.find(name.name);
}

/**
 * Whether a call of this name from outside, f(function, 'name'), may be esbuild's keepNames, which returns the function.
 * Minifiers rename `__name`, to at most a few letters in practice.
 */
export function mayKeepNames(callee: string, name: string): boolean {
  return (callee === '__name' || callee.length <= 3) && /^[\p{ID_Start}$_][\p{ID_Continue}$]*$/u.test(name);
}

/** Whether the name is that of a module object: test runners and bundlers turn imports into members of one. */
export function isModuleObject(name: string): boolean {
  return /^__vi_import|^__vite_ssr_import|_WEBPACK_IMPORTED_MODULE_|^import_/.test(name);
}

/** A reference to an import as a user wrote it: `gamma`, where a bundler made `phys__WEBPACK_IMPORTED_MODULE_0__.gamma` of it. */
export function writtenName(reference: string): string {
  const [object, ...members] = reference.split('.');
  return members.length > 0 && isModuleObject(object) ? members.join('.') : reference;
}

/** The function inside `Object.assign(function, { quadrilleCaptures: … })`, which the plugin writes; undefined for other calls. */
export function capturingFunction({ callee, arguments: [f, own] }: CallExpression): AnyNode | undefined {
  if (callee.type !== 'MemberExpression' || callee.object.type !== 'Identifier') return undefined;
  if (callee.object.name !== 'Object' || own?.type !== 'ObjectExpression') return undefined;
  const [member] = own.properties;
  const isList =
    member?.type === 'Property' && member.key.type === 'Identifier' && member.key.name === CAPTURES;
  return isList ? f : undefined;
}
