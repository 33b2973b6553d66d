/** Calls of this library in a module, whatever names its functions were imported under. */
import type { AnyNode, CallExpression, Program } from 'acorn';
import { nodesOf } from '../integrand/free-names.ts';

/** Functions that take an integrand. */
const FUNCTIONS: ReadonlySet<string> = new Set(['integrate', 'scan', 'sample', 'compile']);

export interface LibraryNames {
  /** What its functions are called. */
  functions: ReadonlySet<string>;
  /** What the library as a whole is called. */
  objects: ReadonlySet<string>;
  /** Whether the module imports the library at all. */
  any: boolean;
}

/** The names of the library in a module: those of imports, and of `require` or `await import` with a fixed name. */
export function libraryNames(program: Program): LibraryNames {
  const [functions, objects] = [new Set<string>(), new Set<string>()];
  const isOurs = (source: AnyNode) => source.type === 'Literal' && source.value === 'quadrille';
  const nameOf = (key: AnyNode) => (key.type === 'Identifier' ? key.name : '');
  let any = false;
  for (const node of nodesOf(program)) {
    if (node.type === 'ImportDeclaration' && isOurs(node.source)) {
      any = true;
      for (const s of node.specifiers) {
        if (s.type !== 'ImportSpecifier') objects.add(s.local.name);
        else if (FUNCTIONS.has(nameOf(s.imported))) functions.add(s.local.name);
      }
    }
    if (node.type !== 'VariableDeclarator' || !node.init || !isOurs(loaded(node.init))) continue;
    any = true;
    if (node.id.type === 'Identifier') objects.add(node.id.name);
    if (node.id.type !== 'ObjectPattern') continue;
    for (const p of node.id.properties)
      if (p.type === 'Property' && p.value.type === 'Identifier' && FUNCTIONS.has(nameOf(p.key)))
        functions.add(p.value.name);
  }
  return { functions, objects, any };
}

/** What `require(…)` or `await import(…)` loads; the node itself for anything else. */
function loaded(node: AnyNode): AnyNode {
  if (node.type === 'AwaitExpression' && node.argument.type === 'ImportExpression')
    return node.argument.source;
  const isRequire =
    node.type === 'CallExpression' && node.callee.type === 'Identifier' && node.callee.name === 'require';
  return isRequire ? (node.arguments[0] ?? node) : node;
}

export function isLibraryCall({ callee }: CallExpression, { functions, objects }: LibraryNames): boolean {
  if (callee.type === 'Identifier') return functions.has(callee.name);
  if (callee.type !== 'MemberExpression' || callee.computed) return false;
  const { object, property } = callee;
  return (
    object.type === 'Identifier' &&
    objects.has(object.name) &&
    property.type === 'Identifier' &&
    FUNCTIONS.has(property.name)
  );
}
