/**
 * Recognises code that tool-chains add to a user's function, so that an integrand still compiles after esbuild, tsc or
 * Babel, or under a coverage tool.
 */
import type { AnyNode } from 'acorn';

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

/** Whether the node is a counter of Istanbul: `cov_1a2b().s[3]++`, or `__cov_1a2b.s['3']++` in older versions. */
export function isCoverageCounter(node: AnyNode): boolean {
  if (node.type !== 'UpdateExpression') return false;
  let inner: AnyNode = node.argument;
  while (inner.type === 'MemberExpression') inner = inner.object;
  if (inner.type === 'CallExpression') inner = inner.callee;
  return inner.type === 'Identifier' && /^_*cov_/.test(inner.name);
}

/** Whether the name is that of a module object: test runners and bundlers turn imports into members of one. */
export function isModuleObject(name: string): boolean {
  return /^__vi_import|^__vite_ssr_import|_WEBPACK_IMPORTED_MODULE_|^import_/.test(name);
}
