/**
 * Passes over a whole program. Folding and sharing happened while it was built; these two passes need to see all of
 * it: values that do not change in a loop move in front of it, and values that nothing uses are dropped.
 */
import { bodies, defines, type Id, type Let, type Program, type Statement, uses, walk } from './ir.ts';

export function optimise(program: Program): Program {
  return dropUnused({ ...program, body: hoist(program.body) });
}

const narrowed = new WeakMap<Program, Map<string, Program>>();

/**
 * The program that computes only some of the results, in the order of `indices`, and nothing that only the others need. It is
 * the same object each time, since targets keep what they make of a program by the object.
 */
export function withResults(program: Program, indices: readonly number[]): Program {
  const known = narrowed.get(program) ?? new Map<string, Program>();
  narrowed.set(program, known);
  const key = indices.join();
  const made = known.get(key);
  if (made) return made;
  const { shape: _, ...rest } = program;
  const part = dropUnused({ ...rest, results: indices.map(i => program.results[i]) });
  known.set(key, part);
  return part;
}

/** Moves values at the top of a loop's body that depend on nothing inside it to the list around the loop. */
function hoist(list: Statement[]): Statement[] {
  return list.flatMap((s): Statement[] => {
    if (s.kind === 'if') return [{ ...s, then: hoist(s.then), else: hoist(s.else) }];
    if (s.kind === 'block') return [{ ...s, body: hoist(s.body) }];
    if (s.kind !== 'loop') return [s];
    const inside = new Set<Id>(s.carried.map(v => v.id));
    const moved: Let[] = [];
    const body = hoist(s.body).filter(t => {
      if (t.kind === 'let' && t.op !== 'load' && uses(t).every(a => !inside.has(a))) {
        moved.push(t);
        return false;
      }
      for (const v of defines(t)) inside.add(v.id);
      return true;
    });
    return [...moved, { ...s, body }];
  });
}

/** The ids that each value depends on: for outputs and carried values also the condition that decides between them. */
function originsOf(list: Statement[]): Map<Id, Id[]> {
  const origins = new Map<Id, Id[]>();
  const add = (targets: { id: Id }[], args: Id[]) => {
    targets.forEach((v, i) => {
      const known = origins.get(v.id);
      if (known) known.push(args[i]);
      else origins.set(v.id, [args[i]]);
    });
  };
  const labels = new Map<number, { id: Id }[]>();
  walk(list, s => {
    if (s.kind === 'let') origins.set(s.id, uses(s));
    if (s.kind === 'block' || s.kind === 'loop') labels.set(s.label, s.out);
    if (s.kind === 'break') add(labels.get(s.label)!, s.args);
    if (s.kind === 'loop') add(s.carried, s.init);
    for (const body of bodies(s)) {
      const last = body.at(-1)!;
      if (last.kind === 'yield') add((s as { out: { id: Id }[] }).out, last.args);
      if (last.kind === 'continue') add((s as { carried: { id: Id }[] }).carried, last.args);
    }
    if (s.kind === 'if') for (const v of s.out) add([v], [s.cond]);
  });
  return origins;
}

/** Drops values, outputs and branches that nothing uses, and then the params and constant arrays only they read. */
function dropUnused(program: Program): Program {
  const origins = originsOf(program.body);
  const needed = new Set<Id>();
  const need = (id: Id): void => {
    const queue = [id];
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
      if (needed.has(next)) continue;
      needed.add(next);
      queue.push(...(origins.get(next) ?? []));
    }
  };
  program.results.forEach(need);
  const hasEffects = (list: Statement[]): boolean =>
    list.some(s => ['store', 'break', 'loop'].includes(s.kind) || bodies(s).some(hasEffects));
  walk(program.body, s => {
    if (s.kind === 'store') uses(s).forEach(need);
    if (s.kind === 'if' && bodies(s).some(hasEffects)) need(s.cond);
  });
  const outputs = new Map<number, { id: Id }[]>();
  const pick = (targets: { id: Id }[], args: Id[]) => args.filter((_, i) => needed.has(targets[i].id));
  const keep = (list: Statement[], ends: { id: Id }[]): Statement[] =>
    list.flatMap((s): Statement[] => {
      switch (s.kind) {
        case 'let':
          return needed.has(s.id) ? [s] : [];
        case 'if': {
          const out = s.out.filter(v => needed.has(v.id));
          if (out.length === 0 && !bodies(s).some(hasEffects)) return [];
          return [{ ...s, then: keep(s.then, s.out), else: keep(s.else, s.out), out }];
        }
        case 'block':
          outputs.set(s.label, s.out);
          return [{ ...s, body: keep(s.body, s.out), out: s.out.filter(v => needed.has(v.id)) }];
        case 'loop': {
          outputs.set(s.label, s.out);
          const carried = s.carried.filter(v => needed.has(v.id));
          const body = keep(s.body, s.carried);
          return [
            { ...s, init: pick(s.carried, s.init), carried, body, out: s.out.filter(v => needed.has(v.id)) },
          ];
        }
        case 'yield':
        case 'continue':
          return [{ ...s, args: pick(ends, s.args) }];
        case 'break':
          return [{ ...s, args: pick(outputs.get(s.label)!, s.args) }];
        default:
          return [s];
      }
    });
  const body = keep(program.body, []);
  const read = new Set<string>();
  walk(body, s => {
    if (s.kind === 'let' && s.op === 'param') read.add(s.name);
    if (s.kind === 'let' && s.op === 'element') read.add(s.array);
  });
  return {
    ...program,
    body,
    params: program.params.filter(p => read.has(p.name)),
    constants: Object.fromEntries(Object.entries(program.constants).filter(([name]) => read.has(name))),
  };
}
