/**
 * Early exits as nested branches. `if (c) return a; …rest` leaves a block with several exits; where nothing
 * stands in the way it is the same as `if (c) a else { …rest }`, which has one, and which vector code runs without
 * keeping count of the lanes that have left.
 */
import { bodies, type Id, type Statement, type Value } from './ir.ts';

/** Deeper nesting than this would strain whatever walks the program. */
const MAX_DEPTH = 100;

/**
 * The body of the block `label` with its breaks turned into the yields of nested ifs, or undefined when one of them
 * stands where that cannot be. `outputs` makes the values of one more `if`.
 */
export function nestExits(label: number, body: Statement[], outputs: () => Value[]): Statement[] | undefined {
  const leaves = (s: Statement): boolean =>
    s.kind === 'break' ? s.label === label : bodies(s).some(b => b.some(leaves));
  const nest = (list: Statement[], depth: number): Statement[] | undefined => {
    if (depth > MAX_DEPTH) return;
    const at = list.findIndex(leaves);
    if (at < 0) return list;
    const s = list[at];
    if (s.kind === 'break') return [...list.slice(0, at), { kind: 'yield', args: s.args }];
    const exits =
      s.kind === 'if' &&
      s.out.length === 0 &&
      s.then.at(-1)!.kind === 'break' &&
      s.else.at(-1)!.kind === 'yield';
    if (!exits || s.else.some(leaves)) return;
    const then = nest(s.then, depth + 1);
    const rest = nest(list.slice(at + 1), depth + 1);
    // an arm that leaves for further out has nothing to yield, and would need no output here
    if (!then || !rest || then.at(-1)!.kind !== 'yield' || rest.at(-1)!.kind !== 'yield') return;
    const out = outputs();
    const joined: Statement = {
      kind: 'if',
      cond: s.cond,
      then,
      else: [...s.else.slice(0, -1), ...rest],
      out,
    };
    return [...list.slice(0, at), joined, { kind: 'yield', args: out.map((v): Id => v.id) }];
  };
  return nest(body, 0);
}
