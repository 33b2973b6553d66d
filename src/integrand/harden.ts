/**
 * Gives a program from elsewhere what no check of its text can promise.
 *
 * An end: loops whose turns cannot be counted beforehand share a budget of `MAX_TURNS` per point. When it is spent, every one
 * of them is left after its first turn, and the result is NaN. The count is in a local array, since every loop has to see it;
 * the store outside that array makes the result NaN.
 *
 * Memory of its own: a local array that is not written as a whole before it is read would show what another program, or
 * another point, left there. Such an array is filled with NaN first.
 *
 * Programs that the compiler makes of integrands with counted loops, or none, stay as they are.
 */
import { bodies, defines, type Id, type Program, type Statement, type Type, type Value, walk } from './ir.ts';
import { stopChecksOf } from './stop-checks.ts';

/** Turns per point of all loops that cannot be counted beforehand; they take less than half a second. */
export const MAX_TURNS = 2 ** 22;

export function harden(program: Program): Program {
  const make = new Maker(program);
  const unwritten = readUnwritten(program);
  const endless = stopChecksOf(program).checked;
  if (unwritten.size === 0 && endless.size === 0) return program;
  const arrays = [...program.arrays];
  const head = [...unwritten].flatMap(array => make.filled(array, arrays[array]));
  let { body } = program;
  if (endless.size > 0) {
    const count = arrays.push(1) - 1;
    const zero = make.constant(0);
    head.push(zero.made, { kind: 'store', array: count, index: zero.id, value: zero.id });
    body = make.bounded(body, endless, count);
  }
  return { ...program, arrays, body: [...head, ...body] };
}

class Maker {
  #nextId: Id = 0;
  #nextLabel = 0;

  constructor(program: Program) {
    walk(program.body, s => {
      const carried = s.kind === 'loop' ? s.carried : [];
      for (const v of [...defines(s), ...carried]) this.#nextId = Math.max(this.#nextId, v.id + 1);
      if (s.kind === 'block' || s.kind === 'loop') this.#nextLabel = Math.max(this.#nextLabel, s.label + 1);
    });
  }

  constant(value: number | boolean): { id: Id; made: Statement } {
    const id = this.#nextId++;
    return {
      id,
      made: { kind: 'let', id, type: typeof value === 'number' ? 'f64' : 'bool', op: 'const', value },
    };
  }

  #value(type: Type): Value {
    return { id: this.#nextId++, type };
  }

  /** A loop that fills a local array with NaN. */
  filled(array: number, length: number): Statement[] {
    const [zero, one, end, nan] = [0, 1, length, NaN].map(v => this.constant(v));
    const [i, next, done] = [this.#value('f64'), this.#value('f64'), this.#value('bool')];
    const label = this.#nextLabel++;
    const body: Statement[] = [
      { kind: 'let', ...done, op: 'le', args: [end.id, i.id] },
      {
        kind: 'if',
        cond: done.id,
        then: [{ kind: 'break', label, args: [] }],
        else: [{ kind: 'yield', args: [] }],
        out: [],
      },
      { kind: 'store', array, index: i.id, value: nan.id },
      { kind: 'let', ...next, op: 'add', args: [i.id, one.id] },
      { kind: 'continue', args: [next.id] },
    ];
    const loop: Statement = { kind: 'loop', label, init: [zero.id], carried: [i], body, out: [] };
    return [zero.made, one.made, end.made, nan.made, loop];
  }

  /** The list with a test of the budget at the start of each turn of the loops in `endless`. */
  bounded(list: Statement[], endless: ReadonlyMap<Statement, number>, count: number): Statement[] {
    const inside = (l: Statement[]) => this.bounded(l, endless, count);
    return list.map((s): Statement => {
      if (s.kind === 'if') return { ...s, then: inside(s.then), else: inside(s.else) };
      if (s.kind === 'block') return { ...s, body: inside(s.body) };
      if (s.kind !== 'loop') return s;
      const turn = endless.get(s);
      const body = inside(s.body);
      return {
        ...s,
        body: turn === undefined ? body : [...this.#spend(turn, s.label, s.out, count), ...body],
      };
    });
  }

  /** Adds a turn's worth to the count; beyond the budget it marks the result as NaN and leaves the loop. */
  #spend(turn: number, label: number, out: readonly Value[], count: number): Statement[] {
    const [zero, outside, worth, budget] = [0, -1, turn, MAX_TURNS].map(v => this.constant(v));
    const [old, spent, over] = [this.#value('f64'), this.#value('f64'), this.#value('bool')];
    const stand = out.map(v => this.constant(v.type === 'f64' ? NaN : false));
    const leave: Statement[] = [
      { kind: 'store', array: count, index: outside.id, value: zero.id },
      ...stand.map(v => v.made),
      { kind: 'break', label, args: stand.map(v => v.id) },
    ];
    return [
      ...[zero, outside, worth, budget].map(v => v.made),
      { kind: 'let', ...old, op: 'load', array: count, args: [zero.id] },
      { kind: 'let', ...spent, op: 'add', args: [old.id, worth.id] },
      { kind: 'store', array: count, index: zero.id, value: spent.id },
      { kind: 'let', ...over, op: 'lt', args: [budget.id, spent.id] },
      { kind: 'if', cond: over.id, then: leave, else: [{ kind: 'yield', args: [] }], out: [] },
    ];
  }
}

/** The local arrays that may be read before every element of them is written. */
function readUnwritten(program: Program): Set<number> {
  const found = new Set<number>();
  const constants = new Map<Id, unknown>();
  /** The elements of each array that are written whenever the program comes here. */
  const written = program.arrays.map(() => new Set<number>());
  const visit = (list: Statement[]): void => {
    const here: [array: number, index: number][] = [];
    for (const s of list) {
      if (s.kind === 'let' && s.op === 'const') constants.set(s.id, s.value);
      if (s.kind === 'let' && s.op === 'load' && written[s.array].size < program.arrays[s.array])
        found.add(s.array);
      if (s.kind === 'store') {
        const index = constants.get(s.index) as number;
        if (
          Number.isInteger(index) &&
          index >= 0 &&
          index < program.arrays[s.array] &&
          !written[s.array].has(index)
        ) {
          written[s.array].add(index);
          here.push([s.array, index]);
        }
      }
      for (const body of bodies(s)) visit(body);
    }
    for (const [array, index] of here) written[array].delete(index); // another path may lead around this list
  };
  visit(program.body);
  return found;
}
