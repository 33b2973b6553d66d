/**
 * What tool-chains put into a function that is not the user's: compiled away here, so that an integrand
 * still compiles after esbuild, tsc, Babel, or under a coverage tool.
 */
import type { AnyNode } from 'acorn';

/** Calls that return their first argument: esbuild's keepNames, tsc's and Babel's destructuring of arrays. */
export const TRANSPARENT_CALLS = new Set(['__name', '__read', '_slicedToArray', '_sliced_to_array']);

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
