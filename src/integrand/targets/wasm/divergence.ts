/**
 * Divergence analysis. A vector instruction works on two points at once, one per lane; this analysis tells which
 * values may differ between the lanes (varying), and which labels the lanes may reach at different times (divergent).
 * All the rest is the same for both lanes and is compiled to scalar code and plain jumps.
 *
 * A label is divergent when a break to it stands inside a varying `if`, or inside another divergent
 * construct, within its body. Values that a divergent label or a varying `if` produces are varying.
 * Carried values of a loop need no such rule: all lanes that are still in the loop have made the same number of turns.
 */
import { bodies, type Id, type Program, type Statement } from '../../ir.ts';

export interface Divergence {
  varying: ReadonlySet<Id>;
  divergent: ReadonlySet<number>;
}

export function findDivergence(program: Program): Divergence {
  const varying = new Set<Id>();
  const divergent = new Set<number>();
  const outputs = new Map<number, { id: Id }[]>();
  let changed = true;
  const mark = <T>(set: Set<T>, item: T) => {
    if (set.has(item)) return;
    set.add(item);
    changed = true;
  };
  const pass = (targets: { id: Id }[], args: Id[]) => {
    targets.forEach((v, i) => {
      if (varying.has(args[i])) mark(varying, v.id);
    });
  };
  /** `around` holds the enclosing labels and varying ifs (as null), innermost last. */
  const visit = (list: Statement[], around: (number | null)[], ends: { id: Id }[]): void => {
    for (const s of list) {
      switch (s.kind) {
        case 'let':
          if (s.op === 'coord' || s.op === 'load' || ('args' in s && s.args.some(a => varying.has(a))))
            mark(varying, s.id);
          break;
        case 'if': {
          const split = varying.has(s.cond);
          if (split) for (const v of s.out) mark(varying, v.id);
          for (const arm of bodies(s)) visit(arm, split ? [...around, null] : around, s.out);
          break;
        }
        case 'block':
        case 'loop':
          outputs.set(s.label, s.out);
          if (s.kind === 'loop') pass(s.carried, s.init);
          visit(s.body, [...around, s.label], s.kind === 'loop' ? s.carried : s.out);
          if (divergent.has(s.label)) for (const v of s.out) mark(varying, v.id);
          break;
        case 'yield':
        case 'continue':
          pass(ends, s.args);
          break;
        case 'break': {
          const inside = around.slice(around.lastIndexOf(s.label) + 1);
          if (inside.some(a => a === null || divergent.has(a))) mark(divergent, s.label);
          pass(outputs.get(s.label)!, s.args);
          break;
        }
      }
    }
  };
  while (changed) {
    changed = false;
    visit(program.body, [], []);
  }
  return { varying, divergent };
}
