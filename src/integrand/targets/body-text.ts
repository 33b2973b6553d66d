/**
 * The statements of a program as text of a language with braces: what CUDA C++ and WGSL have in common. A target says how things
 * are spelt, and writes by itself what is special about it: expressions, blocks, loops and breaks.
 *
 * Values become constants. Outputs of a construct, and values that a loop carries, are variables that are declared in front of
 * it. Literals, and memory that nothing writes to, stand where they are used and have no name of their own.
 */
import { type Id, isInside, type Let, type Program, type Statement, type Type, type Value } from '../ir.ts';
import { sinesAndCosines } from './sines-and-cosines.ts';

export type Construct = Extract<Statement, { kind: 'block' | 'loop' }>;

/** How a target writes. `depth` is how deep a statement is nested, and `inner` the label of what a plain `break` leaves there. */
export interface Target {
  nan: string;
  expression(s: Let): string;
  /** The definition of a value that never changes. */
  constant(type: Type, name: string, value: string): string;
  /** The declaration of a variable, with its first value or without. */
  variable(type: Type, name: string, value?: string): string;
  /** Stores at an index that is known only at run time, and sets `stray` where that is outside the array. */
  storeAt(array: string, length: number, index: string, value: string): string;
  /** Computes the sine and the cosine of an angle together, and names them. */
  sineAndCosine(both: { sin: Id; cos: Id; angle: Id }, depth: number): void;
  /** Writes a block or a loop behind the declarations of its outputs. */
  construct(s: Construct, depth: number, inner: number | undefined): void;
  /** Leaves a construct, whose outputs are assigned. */
  leave(label: number, depth: number, inner: number | undefined): void;
  /** Is told of each value before it is written. */
  define?(s: Let): void;
  /** Whether a literal has to be computed, and gets a name. */
  isComputed?(value: number | boolean): boolean;
}

export function bodyText(program: Program, target: Target) {
  const lines: string[] = [];
  const names = new Map<Id, string>(); // what values are called where they are used
  const known = new Map<Id, number | boolean>(); // values of constants
  const arrays = new Map<number, string>(); // names of local arrays, in the order of their first use
  const outputs = new Map<number, Value[]>();
  let [values, temporaries, mayStray] = [0, 0, false];
  const put = (depth: number, text: string) => lines.push('  '.repeat(depth) + text);
  const temporary = () => `t${temporaries++}`;
  const name = (id: Id): string => {
    const given = names.get(id);
    if (given !== undefined) return given;
    names.set(id, `v${values++}`);
    return names.get(id)!;
  };
  const local = (array: number): string => {
    if (!arrays.has(array)) arrays.set(array, `a${arrays.size}`);
    return arrays.get(array)!;
  };

  /** An element of an array: `at` spells one whose index is a known constant, `find` one whose index is known at run time. */
  const read = (
    length: number,
    index: Id,
    at: (i: number) => string,
    find: (i: string) => string,
  ): string => {
    const i = known.get(index) as number | undefined;
    if (i === undefined && length > 0) return find(name(index));
    return isInside(i, length) ? at(i!) : target.nan;
  };
  /** The length of an array of params or of constants. */
  const lengthOf = (array: string): number => {
    const declared = program.params.find(p => p.name === array) as { length: number } | undefined;
    return (declared ?? program.constants[array]).length;
  };

  /**
   * If one argument of a `min` or `max` is a constant other than NaN: that constant, the other argument, and the comparison
   * of the other one with it that chooses the constant. One comparison is enough: equal numbers differ only if they are 0 and
   * −0, and the sign of the constant is known.
   */
  const boundOf = (s: Let): { bound: number; value: Id; comparison: string } | undefined => {
    if (s.op !== 'min' && s.op !== 'max') return;
    const at = s.args.findIndex(a => known.has(a) && !Number.isNaN(known.get(a)));
    if (at < 0) return;
    const bound = known.get(s.args[at]) as number;
    const comparison = (s.op === 'max' ? ['<=', '<'] : ['>', '>='])[Object.is(bound, -0) ? 1 : 0];
    return { bound, value: s.args[1 - at], comparison };
  };
  /** The text of a value that needs no constant. */
  const atomOf = (s: Let): string | undefined => {
    if (s.op === 'const') return target.isComputed?.(s.value) ? undefined : target.expression(s);
    if (s.op === 'param') return target.expression(s);
    if (s.op === 'coord' || s.op === 'element')
      return known.has(s.args[0]) ? target.expression(s) : undefined;
    const bounded = boundOf(s);
    const isNeutral = bounded?.bound === (s.op === 'max' ? -Infinity : Infinity);
    return isNeutral ? name(bounded!.value) : undefined;
  };
  const define = (s: Let, depth: number): void => {
    if (s.op === 'const') known.set(s.id, s.value);
    target.define?.(s);
    const atom = atomOf(s);
    if (atom !== undefined) names.set(s.id, atom);
    else put(depth, target.constant(s.type, name(s.id), target.expression(s)));
  };

  /** Assigns all at once: a target that other assignments still read is written after them, or copied first. */
  const assign = (depth: number, targets: Value[], args: Id[]): void => {
    const left = targets
      .map((v, i) => ({ to: name(v.id), from: name(args[i]), type: v.type }))
      .filter(m => m.to !== m.from);
    while (left.length > 0) {
      const free = left.findIndex(m => !left.some(other => other !== m && other.from === m.to));
      if (free >= 0) {
        const [{ to, from }] = left.splice(free, 1);
        put(depth, `${to} = ${from};`);
      } else {
        const { to, type } = left[0];
        const kept = temporary();
        put(depth, target.constant(type, kept, to));
        for (const m of left) if (m.from === to) m.from = kept;
      }
    }
  };
  /** Declares variables, with first values or without. */
  const declare = (depth: number, variables: Value[], init?: Id[]) => {
    variables.forEach((v, i) => {
      put(depth, target.variable(v.type, name(v.id), init && name(init[i])));
    });
  };

  /** `ends` take the values that the list yields or continues with. */
  const list = (body: Statement[], depth: number, ends: Value[], inner?: number): void => {
    const turns = sinesAndCosines(body);
    for (const s of body) {
      switch (s.kind) {
        case 'let': {
          const both = turns.get(s.id);
          if (!both) define(s, depth);
          else if (!names.has(s.id)) target.sineAndCosine(both, depth);
          break;
        }
        case 'store': {
          const i = known.get(s.index);
          const [array, length] = [local(s.array), program.arrays[s.array]];
          const inside = isInside(i, length);
          if (inside) put(depth, `${array}[${i}] = ${name(s.value)};`);
          else if (i !== undefined) put(depth, 'stray = true;');
          else put(depth, target.storeAt(array, length, name(s.index), name(s.value)));
          mayStray ||= !inside;
          break;
        }
        case 'if':
          declare(depth, s.out);
          put(depth, `if (${name(s.cond)}) {`);
          list(s.then, depth + 1, s.out, inner);
          if (s.else.length > 1 || s.out.length > 0 || s.else[0].kind !== 'yield') {
            put(depth, '} else {');
            list(s.else, depth + 1, s.out, inner);
          }
          put(depth, '}');
          break;
        case 'block':
        case 'loop':
          outputs.set(s.label, s.out);
          declare(depth, s.out);
          target.construct(s, depth, inner);
          break;
        case 'yield':
        case 'continue':
          assign(depth, ends, s.args);
          break;
        case 'break':
          assign(depth, outputs.get(s.label)!, s.args);
          target.leave(s.label, depth, inner);
          break;
        case 'unreachable':
          break;
      }
    }
  };
  return {
    ...{ lines, names, known, arrays, put, temporary, name, local, read, lengthOf, boundOf, declare, list },
    /** Whether a store may be outside its array. */
    mayStray: () => mayStray,
  };
}

/** A template of an operation with its arguments, which it calls A, B and C. */
export const fill = (template: string, args: string[]) =>
  template.replace(/\b[ABC]\b/g, letter => args['ABC'.indexOf(letter)]);
