/**
 * An integrand that is called as a JavaScript function, not compiled. Workers can create it anew when its text uses no
 * name from outside or when it is the export of a module; otherwise only the thread that it comes from can call it.
 */
import { type AnyNode, parseExpressionAt } from 'acorn';
import type { PlainProgram } from './bound.ts';
import { type Axis, type Domain, onSampled, toDomain } from './domain.ts';
import { kit } from './math/index.ts';
import type { Params } from './params.ts';
import { isTable } from './tables.ts';

/** A function that is called without being compiled. `moved` tells workers how to create it; absent if they cannot. */
export interface PlainFunction {
  f: (x: number[]) => number | Promise<number>;
  moved?: MovedFunction | undefined;
}

/** A function that a worker can create anew: from its text, or by importing `name` from the module at `url`. */
export interface MovedFunction {
  text?: string;
  url?: string;
  name?: string;
  params: unknown;
  /** The axes of the domain, if one of them is infinite. */
  axes?: readonly Axis[];
}

type Plain = (x: number[], p: Params, m: typeof kit) => number | Promise<number>;

export function plainProgram(f: Plain, module: URL | null, domain: Domain, params: Params): PlainProgram {
  const axes = domain.axes.some(a => a.infinite) ? domain.axes : undefined;
  const text = String(f);
  const { free, simple } = inspect(text);
  let moved: MovedFunction | undefined;
  // workers have neither tables nor the third argument: both hold functions, which cannot be sent
  if (simple && !Object.values(params).some(isTable)) {
    if (module) moved = { url: module.href.split('#')[0], name: exportName(module), params };
    else if (free.length === 0) moved = { text, params };
  }
  if (moved && axes) moved.axes = axes;
  const call = onSampled((x: number[]) => f(x, params, kit), axes, toDomain);
  return { kind: 'plain', dims: domain.axes.length, call: { f: call, moved } };
}

/** The name of the export that a URL gives after its #. */
export const exportName = (url: URL): string => decodeURIComponent(url.hash.slice(1)) || 'default';

/** The names that a function uses but does not declare, without globals; and whether it has at most two arguments. */
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
