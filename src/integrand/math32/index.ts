/**
 * The float32 math library, in WGSL. Texts are kept by the name of their function; a program's text gets those that it calls,
 * directly or through others.
 */
import { BESSEL } from './bessel.ts';
import { ERF } from './erf.ts';
import { EXP } from './exp.ts';
import { GAMMA } from './gamma.ts';
import { HYPERBOLIC } from './hyperbolic.ts';
import { INVERSE_TRIG } from './inverse-trig.ts';
import { KIT } from './kit.ts';
import { LOG } from './log.ts';
import { POW } from './pow.ts';
import { ROOTS } from './roots.ts';
import { ROUNDING } from './rounding.ts';
import { TRIG } from './trig.ts';

const FAMILIES = [KIT, EXP, LOG, POW, TRIG, INVERSE_TRIG, HYPERBOLIC, ROOTS, ROUNDING, ERF, GAMMA, BESSEL];
const TEXTS: ReadonlyMap<string, string> = new Map(FAMILIES.flatMap(family => Object.entries(family)));

/** The functions that a text calls, callees first, and the variables that they share. */
export function mathText(text: string): string {
  const needed = new Map<string, string>();
  const visit = (from: string): void => {
    for (const [name] of from.matchAll(/\bq_\w+(?=\()/g)) {
      const found = TEXTS.get(name);
      if (found === undefined || needed.has(name)) continue;
      needed.set(name, ''); // a function's own text names it too
      visit(found);
      needed.delete(name);
      needed.set(name, found);
    }
  };
  visit(text);
  return ['var<private> q_zero: u32;', 'var<private> q_overruns: u32;', ...needed.values()].join('\n');
}
