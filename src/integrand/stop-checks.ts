/**
 * Finds the loops of a program that may run long, so that generated code can check there whether the host wants it to
 * stop.
 *
 * Work is counted in turns: 16 statements count as one turn, and a pass through the body of a loop counts as at least
 * one. A loop whose passes can be counted beforehand and whose work is at most STOP_CHECK_PERIOD turns gets no check,
 * because counting costs a few instructions per pass. Every other loop counts its turns and reads the stop flag after
 * each STOP_CHECK_PERIOD of them. The flag is in the host's memory, about a microsecond away; the threads of a warp
 * read it together, and other warps work meanwhile.
 */
import type { Id, Program, Statement } from './ir.ts';

type Loop = Extract<Statement, { kind: 'loop' }>;

/** Turns between two reads of the stop flag; a loop with at most as many turns is not checked. */
export const STOP_CHECK_PERIOD = 4096;
const STATEMENTS_PER_TURN = 16;
/** A call with fewer turns than this outside the checked loops is not counted: the kernel does as much per sample. */
const MIN_COUNTED_TURNS = 16;

export interface StopChecks {
  /** The loops that check the stop flag, each with the turns that one pass through its body counts as. */
  checked: ReadonlyMap<Statement, number>;
  /** The turns that one call counts as, without those of the loops in `checked`. */
  perCall: number;
}

export function stopChecksOf(program: Program): StopChecks {
  const checked = new Map<Statement, number>();
  const known = new Map<Id, number>();
  const work = (list: Statement[]): number => {
    let sum = 0;
    for (const s of list) {
      if (s.kind === 'let' && s.op === 'const' && typeof s.value === 'number') known.set(s.id, s.value);
      if (s.kind === 'if') sum += Math.max(work(s.then), work(s.else));
      else if (s.kind === 'block') sum += work(s.body);
      else if (s.kind === 'loop') {
        const turn = Math.max(1, work(s.body));
        const all = turn * maxTurns(s, known);
        if (all <= STOP_CHECK_PERIOD) sum += all;
        else checked.set(s, Math.min(STOP_CHECK_PERIOD, Math.round(turn)));
      } else sum += 1 / STATEMENTS_PER_TURN;
    }
    return sum;
  };
  const turns = Math.floor(work(program.body));
  return { perCall: turns >= MIN_COUNTED_TURNS ? turns : 0, checked };
}

/**
 * An upper bound of the passes through a loop. A counter is a carried value that starts at a constant and whose next
 * value depends on itself and constants only; it is stepped until a condition to leave holds. Infinity without a
 * counter that gets there within STOP_CHECK_PERIOD passes.
 */
function maxTurns(loop: Loop, known: ReadonlyMap<Id, number>): number {
  const made = new Map(loop.body.flatMap(s => (s.kind === 'let' ? [[s.id, s] as const] : [])));
  const last = loop.body.at(-1)!;
  if (last.kind !== 'continue') return Infinity; // the body ends with a break to an outer label
  const exits = loop.body.flatMap(s => (s.kind === 'if' && s.then[0].kind === 'break' ? s.cond : []));
  /** A value in the pass in which the counter is `at`; undefined when it depends on anything but the counter. */
  const valueAt = (id: Id, counter: Id, at: number): number | undefined => {
    if (id === counter) return at;
    const s = made.get(id);
    if (known.has(id) || !s) return known.get(id);
    if (!('args' in s) || !(s.op in FOLDED)) return undefined;
    const args = s.args.map(a => valueAt(a, counter, at));
    return args.includes(undefined) ? undefined : FOLDED[s.op](args[0]!, args[1]!);
  };
  const turns = loop.carried.map(({ id }, k) => {
    let at = known.get(loop.init[k]);
    for (let n = 0; n <= STOP_CHECK_PERIOD && at !== undefined; n++) {
      if (exits.some(e => valueAt(e, id, at!))) return n + 1;
      at = valueAt(last.args[k], id, at);
    }
    return Infinity;
  });
  return Math.min(Infinity, ...turns);
}

const FOLDED: Record<string, (a: number, b: number) => number> = {
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
