/**
 * What tool-chains put into a function that is not the user's: compiled away here, so that an integrand
 * still compiles after esbuild, tsc, Babel, or under a coverage tool.
 */
import type { AnyNode } from 'acorn';

/** What tsc, Babel and SWC call instead of destructuring and spreading arrays: the array itself, a copy, or two in one. */
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

/** Istanbul's counters: `cov_1a2b().s[3]++`, or `__cov_1a2b.s['3']++` in older ones. */
export function isCoverageCounter(node: AnyNode): boolean {
  if (node.type !== 'UpdateExpression') return false;
  let inner: AnyNode = node.argument;
  while (inner.type === 'MemberExpression') inner = inner.object;
  if (inner.type === 'CallExpression') inner = inner.callee;
  return inner.type === 'Identifier' && /^_*cov_/.test(inner.name);
}

/** A name as a user knows it: test runners and bundlers rename imports to members of a module object. */
export function isModuleObject(name: string): boolean {
  return /^__vi_import|^__vite_ssr_import|_WEBPACK_IMPORTED_MODULE_|^import_/.test(name);
}
