/** The scopes around a function in a module: which of the names that it uses are declared there, and which are global. */
import type { AnyNode, Program } from 'acorn';
import { hoistedVars, isFunction, lexical, namesIn, nodesOf } from '../integrand/free-names.ts';

/** Names in scope, innermost first. */
export interface Scope {
  names: ReadonlySet<string>;
  outer: Scope | null;
}

export function isBound(name: string, scope: Scope | null): boolean {
  for (let s = scope; s; s = s.outer) if (s.names.has(name)) return true;
  return false;
}

export function moduleScope(program: Program): Scope {
  const statements = program.body.map((s: AnyNode) =>
    s.type === 'ExportNamedDeclaration' || s.type === 'ExportDefaultDeclaration' ? (s.declaration ?? s) : s,
  );
  const imports = program.body.flatMap(s =>
    s.type === 'ImportDeclaration' ? s.specifiers.map(i => i.local.name) : [],
  );
  return { names: new Set([...lexical(statements), ...hoistedVars(program), ...imports]), outer: null };
}

/** The scope inside a node: that around it, with what the node declares. */
export function scopeIn(node: AnyNode, outer: Scope): Scope {
  const names = declaredBy(node);
  return names.length > 0 ? { names: new Set(names), outer } : outer;
}

function declaredBy(node: AnyNode): string[] {
  if (isFunction(node))
    return [...node.params.flatMap(namesIn), ...hoistedVars(node.body), ...(node.id ? [node.id.name] : [])];
  switch (node.type) {
    case 'BlockStatement':
    case 'StaticBlock':
      return [...lexical(node.body)];
    case 'SwitchStatement':
      return [...lexical(node.cases.flatMap(c => c.consequent))];
    case 'ForStatement':
      return [...lexical([node.init ?? null])];
    case 'ForInStatement':
    case 'ForOfStatement':
      return [...lexical([node.left])];
    case 'CatchClause':
      return namesIn(node.param ?? null);
    case 'ClassExpression':
    case 'ClassDeclaration':
      return node.id ? [node.id.name] : [];
    default:
      return [];
  }
}

/** Names that stand for a whole module: `import * as phys from './phys.js'`. */
export function namespaceImports(program: Program): Set<string> {
  const specifiers = program.body.flatMap(s => (s.type === 'ImportDeclaration' ? s.specifiers : []));
  return new Set(specifiers.flatMap(s => (s.type === 'ImportNamespaceSpecifier' ? [s.local.name] : [])));
}

/** The members of `object` that a function uses, as `object.member`; and `object` itself, where it is used otherwise. */
export function membersOf(f: AnyNode, object: string): string[] {
  const members = new Set<string>();
  let bare = 0;
  for (const node of nodesOf(f)) {
    if (node.type === 'Identifier' && node.name === object) bare++;
    if (node.type !== 'MemberExpression' || node.computed || node.property.type !== 'Identifier') continue;
    if (node.object.type !== 'Identifier' || node.object.name !== object) continue;
    bare--;
    members.add(`${object}.${node.property.name}`);
  }
  return bare > 0 ? [...members, object] : [...members];
}
