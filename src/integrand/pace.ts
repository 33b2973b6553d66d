/**
 * Where a program may take long, so that its text can ask now and then whether the host wants it to stop.
 *
 * A loop whose turns can be counted beforehand, and are few, is left alone: asking costs a few instructions a turn. All
 * others count their turns and ask after some thousands. The flag is in the host's memory, a microsecond away: the
 * threads of a warp ask at once, and others work meanwhile.
 */
import type { Id, Program, Statement } from './ir.ts';

type Loop = Extract<Statement, { kind: 'loop' }>;

/** Turns after which the flag is read; a loop with fewer is short. */
export const PERIOD = 4096;
/** Statements that count as a turn; and what is too little to be counted: as much as the kernel does for a sample. */
const STATEMENTS = 16;
const SMALL = 16;

export interface Pace {
  /** The loops that ask, and what one turn of each counts. */
  asking: ReadonlyMap<Statement, number>;
  /** What a call counts beside them. */
  own: number;
}

export function paceOf(program: Program): Pace {
  const asking = new Map<Statement, number>();
  const known = new Map<Id, number>();
  const work = (list: Statement[]): number => {
    let sum = 0;
    for (const s of list) {
      if (s.kind === 'let' && s.op === 'const' && typeof s.value === 'number') known.set(s.id, s.value);
      if (s.kind === 'if') sum += Math.max(work(s.then), work(s.else));
      else if (s.kind === 'block') sum += work(s.body);
      else if (s.kind === 'loop') {
        const turn = Math.max(1, work(s.body));
        const all = turn * turnsOf(s, known);
        if (all <= PERIOD) sum += all;
        else asking.set(s, Math.min(PERIOD, Math.round(turn)));
      } else sum += 1 / STATEMENTS;
    }
    return sum;
  };
  const own = Math.floor(work(program.body));
  return { own: own >= SMALL ? own : 0, asking };
}

/** How many turns a loop takes at most, by its counters: what starts with a constant and changes by one. */
function turnsOf(loop: Loop, known: ReadonlyMap<Id, number>): number {
  const made = new Map(loop.body.flatMap(s => (s.kind === 'let' ? [[s.id, s] as const] : [])));
  const last = loop.body.at(-1)!;
  if (last.kind !== 'continue') return Infinity; // left for further out, at once
  const exits = loop.body.flatMap(s => (s.kind === 'if' && s.then[0].kind === 'break' ? s.cond : []));
  /** A value in a turn in which the counter is `at`; undefined when it depends on more. */
  const valueAt = (id: Id, counter: Id, at: number): number | undefined => {
    if (id === counter) return at;
    const s = made.get(id);
    if (known.has(id) || !s) return known.get(id);
    if (!('args' in s) || !(s.op in COMPUTED)) return undefined;
    const args = s.args.map(a => valueAt(a, counter, at));
    return args.includes(undefined) ? undefined : COMPUTED[s.op](args[0]!, args[1]!);
  };
  const turns = loop.carried.map(({ id }, k) => {
    let at = known.get(loop.init[k]);
    for (let n = 0; n <= PERIOD && at !== undefined; n++) {
      if (exits.some(e => valueAt(e, id, at!))) return n + 1;
      at = valueAt(last.args[k], id, at);
    }
    return Infinity;
  });
  return Math.min(Infinity, ...turns);
}

const COMPUTED: Record<string, (a: number, b: number) => number> = {
  add: (a, b) => a + b,
  sub: (a, b) => a - b,
  mul: (a, b) => a * b,
  div: (a, b) => a / b,
  lt: (a, b) => Number(a < b),
  le: (a, b) => Number(a <= b),
  eq: (a, b) => Number(a === b),
  ne: (a, b) => Number(a !== b),
  not: a => Number(!a),
};
