/**
 * Names in a syntax tree: which ones a declaration declares, which ones a function uses from outside. The scopes are those
 * of JavaScript; where its rules are looser than in strict code (a function declared in a block is visible around it), a name
 * counts as one from outside.
 */
import type { AnyNode, VariableDeclaration } from 'acorn';

/** Names declared by the patterns of a declaration. */
export function declaredNames(node: VariableDeclaration): string[] {
  return node.declarations.flatMap(d => namesIn(d.id));
}

/** The names that a pattern binds. */
export function namesIn(pattern: AnyNode | null): string[] {
  switch (pattern?.type) {
    case 'Identifier':
      return [pattern.name];
    case 'ArrayPattern':
      return pattern.elements.flatMap(namesIn);
    case 'ObjectPattern':
      return pattern.properties.flatMap(p => namesIn(p.type === 'Property' ? p.value : p.argument));
    case 'AssignmentPattern':
      return namesIn(pattern.left);
    case 'RestElement':
      return namesIn(pattern.argument);
    default:
      return [];
  }
}

/** The nodes of a tree, parents first, without those that `enter` keeps out and what is inside them. */
export function* nodesOf(root: AnyNode, enter: (node: AnyNode) => boolean = () => true): Generator<AnyNode> {
  const waiting: unknown[] = [root]; // a list, not recursion: the tree of a long sum is as deep as the sum has terms
  while (waiting.length > 0) {
    const node = waiting.pop();
    if (!node || typeof node !== 'object' || !enter(node as AnyNode)) continue;
    if ('type' in node) yield node as AnyNode;
    for (const child of Object.values(node).reverse()) waiting.push(child);
  }
}

const hoisted = new WeakMap<AnyNode, ReadonlySet<string>>();

/** Names declared by `var` anywhere in a function's body, except in functions inside it. */
export function hoistedVars(body: AnyNode): ReadonlySet<string> {
  const known = hoisted.get(body);
  if (known) return known; // a helper is inlined many times
  const names = new Set<string>();
  for (const n of nodesOf(body, node => !isFunction(node)))
    if (n.type === 'VariableDeclaration' && n.kind === 'var')
      for (const name of declaredNames(n)) names.add(name);
  hoisted.set(body, names);
  return names;
}

export type FunctionLike = Extract<AnyNode, { params: unknown }>;
export const isFunction = (n: AnyNode): n is FunctionLike =>
  n.type === 'FunctionDeclaration' || n.type === 'FunctionExpression' || n.type === 'ArrowFunctionExpression';

/** Names in scope, innermost first. */
type Scope = { names: ReadonlySet<string>; outer: Scope } | null;

/**
 * The names that a function uses and does not declare. Its own name is one of them: whatever that is bound to outside may have
 * properties, or be another function by now. So are `arguments`, and `this`, which stands for `super` and `import` as well.
 */
export function freeNames(root: AnyNode): Set<string> {
  const free = new Set<string>();
  const use = (name: string, scope: Scope): void => {
    for (let s = scope; s; s = s.outer) if (s.names.has(name)) return;
    free.add(name);
  };
  const children = (node: AnyNode, scope: Scope, but: readonly string[] = []): void => {
    for (const [key, child] of Object.entries(node)) {
      if (but.includes(key)) continue;
      for (const c of Array.isArray(child) ? child : [child])
        if (c && typeof c === 'object' && typeof c.type === 'string') visit(c, scope);
    }
  };
  const visit = (node: AnyNode, scope: Scope): void => {
    switch (node.type) {
      case 'Identifier':
        return use(node.name, scope);
      case 'ThisExpression':
      case 'Super':
      case 'MetaProperty':
      case 'ImportExpression':
        free.add('this');
        return children(node, scope);
      case 'MemberExpression':
        return children(node, scope, node.computed ? [] : ['property']);
      case 'Property':
      case 'MethodDefinition':
      case 'PropertyDefinition':
        return children(node, scope, node.computed ? [] : ['key']);
      case 'LabeledStatement':
      case 'BreakStatement':
      case 'ContinueStatement':
        return children(node, scope, ['label']);
      case 'ClassDeclaration':
      case 'ClassExpression':
        return children(node, { names: new Set(node.id ? [node.id.name] : []), outer: scope });
      case 'FunctionDeclaration':
      case 'FunctionExpression':
      case 'ArrowFunctionExpression': {
        const own = new Set(node.params.flatMap(namesIn));
        if (node !== root && node.id) own.add(node.id.name);
        if (node !== root && node.type !== 'ArrowFunctionExpression') own.add('arguments');
        for (const name of hoistedVars(node.body)) own.add(name);
        return children(node, { names: own, outer: scope }, ['id']);
      }
      case 'CatchClause':
        return children(node, { names: new Set(namesIn(node.param ?? null)), outer: scope });
      case 'BlockStatement':
      case 'StaticBlock':
        return children(node, { names: lexical(node.body), outer: scope });
      case 'SwitchStatement':
        return children(node, { names: lexical(node.cases.flatMap(c => c.consequent)), outer: scope });
      case 'ForStatement':
        return children(node, { names: lexical([node.init ?? null]), outer: scope });
      case 'ForInStatement':
      case 'ForOfStatement':
        return children(node, { names: lexical([node.left]), outer: scope });
      case 'BinaryExpression':
      case 'LogicalExpression': {
        // a loop, not recursion, over the operators of a chain: a sum may have thousands of terms
        const rights: AnyNode[] = [];
        let left: AnyNode = node;
        for (; left.type === 'BinaryExpression' || left.type === 'LogicalExpression'; left = left.left)
          rights.push(left.right);
        visit(left, scope);
        for (const right of rights.reverse()) visit(right, scope);
        return;
      }
      default:
        return children(node, scope);
    }
  };
  visit(root, null);
  return free;
}

/** Whether a function inside `root` uses the name of a function inside `root`: it may call itself. */
export function helpersCallHelpers(root: AnyNode): boolean {
  const nodes = [...nodesOf(root)];
  const inner = nodes.filter(n => n !== root && isFunction(n));
  const isHelper = (n: AnyNode | null | undefined) => !!n && isFunction(n);
  const names = nodes.flatMap(n => {
    if (n.type === 'VariableDeclarator' && isHelper(n.init)) return namesIn(n.id);
    if (n.type === 'AssignmentExpression' && isHelper(n.right)) return namesIn(n.left);
    return n !== root && isFunction(n) ? namesIn(n.id ?? null) : [];
  });
  return inner.some(f => [...freeNames(f)].some(name => names.includes(name)));
}

/** The names that statements of a block declare for the block. */
export function lexical(list: readonly (AnyNode | null)[]): Set<string> {
  return new Set(
    list.flatMap(node => {
      if (node?.type === 'VariableDeclaration') return declaredNames(node);
      if (node?.type === 'FunctionDeclaration' || node?.type === 'ClassDeclaration')
        return node.id ? [node.id.name] : [];
      return [];
    }),
  );
}
