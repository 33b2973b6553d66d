/**
 * Turns early exits into nested branches. `if (c) return a; …rest` makes a block with several exits. Where possible
 * it becomes `if (c) a else { …rest }`, which has one exit, so that vector code need not track the lanes that left.
 */
import { bodies, type Id, type Statement, type Value } from './ir.ts';

/** At most this many ifs are nested, because the passes that walk a program recurse into each of them. */
const MAX_NESTING = 100;

/**
 * The body of the block `label` with its breaks turned into the yields of nested ifs; undefined when a break is not at
 * the end of the body or of the first arm of an `if` without outputs. `outputs` makes the output values of a new `if`.
 */
export function nestExits(label: number, body: Statement[], outputs: () => Value[]): Statement[] | undefined {
  const leaves = (s: Statement): boolean =>
    s.kind === 'break' ? s.label === label : bodies(s).some(b => b.some(leaves));
  const nest = (list: Statement[], depth: number): Statement[] | undefined => {
    if (depth > MAX_NESTING) return;
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
    // an arm that ends with a break to an outer label has no values to yield for the outputs of the new `if`
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
