/**
 * The `js` device runs a function as it is, compiled or not: on every core when workers can make it for themselves,
 * that is when its text uses nothing from outside or when it is the export of a module, otherwise on this thread.
 */
import { type AnyNode, parseExpressionAt } from 'acorn';
import { type Domain, toDomain } from '../../domain.ts';
import { kit } from '../../integrand/math/index.ts';
import type { Params } from '../../integrand/params.ts';
import { isTable } from '../../integrand/tables.ts';
import type { MovedIntegrand } from '../cpu/workers.ts';
import type { DeviceIntegrand } from '../device.ts';

type Plain = (x: number[], p: Params, m: typeof kit) => number | Promise<number>;

export function plainIntegrand(
  f: Plain,
  module: URL | null,
  domain: Domain,
  params: Params,
): DeviceIntegrand {
  const { axes } = domain;
  const infinite = axes.some(a => a.infinite);
  const call = (z: number[]) => {
    if (!infinite) return f(z, params, kit);
    const { x, jacobian } = toDomain(axes, z);
    const y = f(x, params, kit);
    return typeof y === 'number' ? y * jacobian : y.then(v => v * jacobian);
  };
  // workers have no tables and no third argument: both are functions, which cannot be sent
  const simple = f.length < 3 && !Object.values(params).some(isTable);
  const text = String(f);
  let moved: MovedIntegrand | undefined;
  if (simple && module) moved = { url: module.href.split('#')[0], name: exportName(module), params };
  else if (simple && freeNames(text)?.length === 0) moved = { text, params };
  if (moved && infinite) moved.axes = axes;
  return { kind: 'function', dims: axes.length, call: { f: call, moved } };
}

/** The export that a URL names behind its #. */
export const exportName = (url: URL): string => decodeURIComponent(url.hash.slice(1)) || 'default';

/** Names that a function uses and does not declare, globals aside; undefined when its text cannot be read. */
function freeNames(text: string): string[] | undefined {
  let tree: AnyNode;
  try {
    tree = parseExpressionAt(`(${text})`, 0, { ecmaVersion: 'latest' });
  } catch {
    return undefined;
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
      const binding = key === 'params' || key === 'param' || (key === 'id' && n.type !== 'MemberExpression');
      visit(child, pattern || binding || (n.type === 'Property' && binds));
    }
  };
  visit(tree, false);
  return [...used].filter(
    name => !declared.has(name) && !(name in globalThis) && name !== 'undefined' && name !== 'arguments',
  );
}
