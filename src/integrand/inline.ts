/**
 * Puts the bodies of library functions in place of calls, for targets that have no math functions of their own.
 * The program is built anew on the way, so that what two calls have in common, such as the reduction of one angle
 * for its sine and its cosine, is computed once.
 */
import { Builder } from './builder.ts';
import { defines, type Id, type Let, OPS, type Op, type Program, type Statement, uses, walk } from './ir.ts';
import { COLD } from './lower/globals.ts';
import { optimise } from './optimise.ts';

/** A function is inlined when (values in its body)·(its calls) is at most this, a limit found with bench/compiler.ts. */
const MAX_INLINED_VALUES = 4000;

export function inlineCalls(program: Program, library: (fn: string) => Program): Program {
  const counts = new Map<string, number>();
  const count = (p: Program) =>
    walk(p.body, s => {
      if (s.kind !== 'let' || s.op !== 'call') return;
      counts.set(s.fn, (counts.get(s.fn) ?? 0) + 1);
      count(library(s.fn));
    });
  count(program);
  if (counts.size === 0) return program;
  const chosen = new Set(
    [...counts]
      .filter(([fn, n]) => !COLD.has(fn) && n * sizeOf(library(fn)) <= MAX_INLINED_VALUES)
      .map(([fn]) => fn),
  );

  const b = new Builder();
  const constants = { ...program.constants };
  const arrays = [...program.arrays];

  /** Writes `p` into the current list and gives its results: a library function with the arguments `args`, or (null) the whole program. */
  const write = (p: Program, args: Id[] | null, prefix: string): Id[] => {
    const ids = new Map<Id, Id>();
    const labels = new Map<number, number>();
    const first = arrays.length;
    if (args) {
      arrays.push(...p.arrays);
      for (const [name, data] of Object.entries(p.constants)) constants[prefix + name] = data;
    }
    const id = (a: Id) => ids.get(a)!;
    const renamed = (values: { id: Id; type: 'f64' | 'bool' }[]) =>
      values.map(v => {
        const fresh = b.out(v.type);
        ids.set(v.id, fresh.id);
        return fresh;
      });
    const expression = (s: Let): Id => {
      const operands = uses(s).map(id);
      if (s.op === 'const') return b.constant(s.value);
      if (s.op === 'call')
        return chosen.has(s.fn) ? write(library(s.fn), operands, `${s.fn}#`)[0] : b.call(s.fn, ...operands);
      if (s.op === 'coord' && args) return args[b.constantOf(operands[0]) as number];
      if (Object.hasOwn(OPS, s.op)) return b.op(s.op as Op, ...operands);
      if (s.op === 'param') return b.value({ op: 'param', name: s.name }, s.type);
      const [index] = operands;
      if (s.op === 'coord') return b.value({ op: 'coord', args: [index] }, 'f64');
      if (s.op === 'load')
        return b.value({ op: 'load', array: args ? first + s.array : s.array, args: [index] }, 'f64');
      return b.value(
        {
          op: 'element',
          array: args ? prefix + (s as { array: string }).array : (s as { array: string }).array,
          args: [index],
        },
        'f64',
      );
    };
    const nested = (list: Statement[]): Statement[] => {
      b.open();
      list.forEach(statement);
      return b.close().body;
    };
    const statement = (s: Statement): void => {
      switch (s.kind) {
        case 'let':
          ids.set(s.id, expression(s));
          return;
        case 'store':
          return b.emit({
            ...s,
            array: args ? first + s.array : s.array,
            index: id(s.index),
            value: id(s.value),
          });
        case 'if': {
          const [then, otherwise] = [nested(s.then), nested(s.else)];
          return b.emit({ kind: 'if', cond: id(s.cond), then, else: otherwise, out: renamed(s.out) });
        }
        case 'block':
        case 'loop': {
          const label = b.label();
          labels.set(s.label, label);
          if (s.kind === 'block') {
            const body = nested(s.body);
            return b.emit({ kind: 'block', label, body, out: renamed(s.out) });
          }
          const init = s.init.map(id);
          const carried = renamed(s.carried);
          const body = nested(s.body);
          return b.emit({ kind: 'loop', label, init, carried, body, out: renamed(s.out) });
        }
        case 'break':
          return b.emit({ ...s, label: labels.get(s.label)!, args: s.args.map(id) });
        case 'yield':
        case 'continue':
          return b.emit({ ...s, args: s.args.map(id) });
        case 'unreachable':
          return b.emit(s);
      }
    };
    p.body.forEach(statement);
    return p.results.map(id);
  };
  const results = write(program, null, '');
  return optimise({ ...program, constants, arrays, body: [...b.root.body, ...b.scope.body], results });
}

function sizeOf(program: Program): number {
  let size = 0;
  walk(program.body, s => {
    size += defines(s).length;
  });
  return size;
}
