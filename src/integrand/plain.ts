/**
 * A function as it is, not compiled. Workers can make it for themselves when its text uses nothing from outside or when it is
 * the export of a module; otherwise it can only be called on the thread that it comes from.
 */
import { type AnyNode, parseExpressionAt } from 'acorn';
import type { PlainProgram } from './bound.ts';
import { type Axis, type Domain, onSampled, toDomain } from './domain.ts';
import { kit } from './math/index.ts';
import type { Params } from './params.ts';
import { isTable } from './tables.ts';

/** A function to be called as it is; `moved` tells workers how to make it for themselves, if they can. */
export interface PlainFunction {
  f: (x: number[]) => number | Promise<number>;
  moved?: MovedFunction | undefined;
}

/** A function that a worker can make for itself: from its text, or from a module. */
export interface MovedFunction {
  text?: string;
  url?: string;
  name?: string;
  params: unknown;
  /** Set when the domain is infinite. */
  axes?: readonly Axis[];
}

type Plain = (x: number[], p: Params, m: typeof kit) => number | Promise<number>;

export function plainProgram(f: Plain, module: URL | null, domain: Domain, params: Params): PlainProgram {
  const axes = domain.axes.some(a => a.infinite) ? domain.axes : undefined;
  const text = String(f);
  const { free, simple } = inspect(text);
  let moved: MovedFunction | undefined;
  // workers have no tables and no third argument: both are functions, which cannot be sent
  if (simple && !Object.values(params).some(isTable)) {
    if (module) moved = { url: module.href.split('#')[0], name: exportName(module), params };
    else if (free.length === 0) moved = { text, params };
  }
  if (moved && axes) moved.axes = axes;
  const call = onSampled((x: number[]) => f(x, params, kit), axes, toDomain);
  return { kind: 'plain', dims: domain.axes.length, call: { f: call, moved } };
}

/** The export that a URL names behind its #. */
export const exportName = (url: URL): string => decodeURIComponent(url.hash.slice(1)) || 'default';

/** Names that a function uses and does not declare, globals aside; and whether it has at most two plain arguments. */
function inspect(text: string): { free: string[]; simple: boolean } {
  let tree: AnyNode;
  try {
    tree = parseExpressionAt(`(${text})`, 0, { ecmaVersion: 'latest' });
  } catch {
    return { free: [text], simple: false }; // a method, or nothing that can be read
  }
  const declared = new Set<string>();
  const used = new Set<string>();
  const visit = (node: unknown, binds: boolean): void => {
    if (Array.isArray(node)) for (const n of node) visit(n, binds);
    if (!node || typeof node !== 'object' || Array.isArray(node)) return;
    const n = node as AnyNode;
    if (n.type === 'Identifier') return void (binds ? declared : used).add(n.name);
    if (n.type === 'ThisExpression' || n.type === 'Super') return void used.add('this');
    for (const [key, child] of Object.entries(n)) {
      if ((n.type === 'MemberExpression' && key === 'property' && !n.computed) || key === 'label') continue;
      if (n.type === 'Property' && key === 'key' && !n.computed) continue;
      const pattern = /Pattern$|^RestElement$/.test(n.type) && binds && key !== 'right';
      const binding = key === 'params' || key === 'param' || key === 'id';
      visit(child, pattern || binding || (n.type === 'Property' && binds));
    }
  };
  visit(tree, false);
  const free = [...used].filter(name => !declared.has(name) && !(name in globalThis) && name !== 'undefined');
  const params = 'params' in tree ? (tree.params as AnyNode[]) : [];
  return { free, simple: params.length < 3 && params.every(p => p.type !== 'RestElement') };
}
