/** Two analyses: which outer labels a statement breaks to, and which values are used once, in their own list. */
import { bodies, type Id, type Program, type Statement, uses, walk } from '../../ir.ts';

/** Labels outside `s` that something inside it breaks to. */
export function labelsLeft(s: Statement): Set<number> {
  const left = new Set<number>();
  const own = new Set<number>();
  walk([s], t => {
    if (t.kind === 'block' || t.kind === 'loop') own.add(t.label);
    if (t.kind === 'break') left.add(t.label);
  });
  for (const l of own) left.delete(l);
  return left;
}

/** Values used exactly once, in the list that defines them; no loads, since stores between may change the element. */
export function usedOnceInPlace(program: Program): Set<Id> {
  const count = new Map<Id, number>();
  walk(program.body, s => {
    for (const a of uses(s)) count.set(a, (count.get(a) ?? 0) + 1);
  });
  for (const r of program.results) count.set(r, (count.get(r) ?? 0) + 1);
  const found = new Set<Id>();
  const visit = (list: Statement[]) => {
    const here = new Set(list.flatMap(s => (s.kind === 'let' && s.op !== 'load' ? [s.id] : [])));
    for (const s of list) {
      // what a loop or an `if` itself uses is read before the lists inside it run, so it counts as used in this list
      for (const a of uses(s)) if (here.has(a) && count.get(a) === 1) found.add(a);
      for (const body of bodies(s)) visit(body);
    }
    if (list === program.body)
      for (const r of program.results) if (here.has(r) && count.get(r) === 1) found.add(r);
  };
  visit(program.body);
  return found;
}
