/** Access to what few integrands use (rare.ts), which is loaded on demand. */
import type { AnyNode } from 'acorn';
import { OnDemand } from '../on-demand.ts';
import type { Env, Lowering } from './lowering.ts';

export const rarelyUsed = new OnDemand(() => import('./rare.ts'));

/**
 * The functions of rare.ts; throws `NotLoaded` before they are there. Functions of results are compiled at once, and do without them
 * also where they are loaded: what `of` gives must not depend on that.
 */
export function rare(l: Lowering, env: Env, node: AnyNode): typeof import('./rare.ts') {
  if (l.limits.atOnce) l.fail(env, node, 'A function of results cannot use this.', 'Use arithmetic.');
  return rarelyUsed.now;
}
