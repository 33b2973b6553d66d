/**
 * The statements of the function `integrand` in WGSL.
 *
 * WGSL has no labels: `break` leaves the innermost loop. A block of the IR is a loop that always ends with a break. A break
 * to an outer construct sets that construct's flag and leaves the innermost one; after each construct that is left this way
 * the flag is tested, and the next one is left. A loop that has taken too many turns is left in the same way.
 *
 * No function here or in math32/ returns from anywhere but its end: SPIR-V tools turn early returns into copies of what
 * follows before they inline a function. Nor is there && or ||, which are branches to them: one of the random programs of the
 * tests took SwiftShader more than ten minutes and 6 GB with these, and a second with & and |.
 */
import {
  bodies,
  type Id,
  isInside,
  type Let,
  type Program,
  type Statement,
  type Type,
  type Value,
} from '../../ir.ts';
import type { StopChecks } from '../../stop-checks.ts';
import { sinesAndCosines } from '../sines-and-cosines.ts';
import { bitsOf, literal, NAN } from './literals.ts';
import {
  FUNCTIONS_THAT_KEEP_NUMBERS,
  fill,
  INFINITE_COMPARISONS,
  KEEP_NUMBERS,
  OPERATIONS,
  PLAIN_COMPARISONS,
} from './operations.ts';

/**
 * The turns (../../stop-checks.ts) that one evaluation may take: some 10 ms of one thread of a card, and a tenth of a
 * second for 65,536 threads of a large one.
 */
export const TURN_LIMIT = 2 ** 20;

const TYPES: Record<Type, string> = { f64: 'f32', bool: 'bool' };

export function functionBody(
  program: Program,
  offsets: ReadonlyMap<string, number>,
  checks: StopChecks,
): { body: string; helpers: string[] } {
  const several = program.results.length > 1;
  const lines: string[] = [];
  const put = (depth: number, text: string) => lines.push('  '.repeat(depth) + text);
  const helpers = new Map<string, string>(); // functions that read and write arrays, by name
  const names = new Map<Id, string>();
  let values = 0;
  let temporaries = 0;
  let mayStray = false;
  const name = (id: Id): string => {
    const given = names.get(id);
    if (given !== undefined) return given;
    names.set(id, `v${values++}`);
    return names.get(id)!;
  };
  const arrays = new Map<number, string>(); // names of local arrays, in the order of their first use
  const local = (array: number): string => {
    if (!arrays.has(array)) arrays.set(array, `a${arrays.size}`);
    return arrays.get(array)!;
  };
  const known = new Map<Id, number | boolean>(); // values of constants
  const numbers = new Set<Id>(); // values that are never NaN
  const help = (fn: string, text: string): string => {
    helpers.set(fn, text);
    return fn;
  };

  /** An element of a function's array, of which `pointer` is a pointer; `at` writes one whose index is a known constant. */
  const read = (pointer: string, length: number, index: Id, at: (i: number) => string): string => {
    const i = known.get(index) as number | undefined;
    if (i !== undefined || length === 0) return isInside(i, length) ? at(i!) : NAN;
    return `${help(`q_get${length}`, getter(length))}(${pointer}, ${name(index)})`;
  };
  const element = (array: string, index: Id): string => {
    const offset = offsets.get(array)!;
    const declared = program.params.find(p => p.name === array) as { length: number } | undefined;
    const { length } = declared ?? program.constants[array];
    const i = known.get(index) as number | undefined;
    if (i !== undefined || length === 0) return isInside(i, length) ? `params[${offset + i!}]` : NAN;
    return `${help('q_element', ELEMENT)}(${offset}u, ${bitsOf(length - 1)}, ${name(index)})`;
  };

  /** If one argument of a `min` or `max` is a constant other than NaN: that constant, and the other argument. */
  const boundOf = (s: Let): { bound: number; value: Id } | undefined => {
    if (s.op !== 'min' && s.op !== 'max') return;
    const at = s.args.findIndex(a => known.has(a) && !Number.isNaN(known.get(a)));
    return at < 0 ? undefined : { bound: known.get(s.args[at]) as number, value: s.args[1 - at] };
  };
  const isNeutral = (s: Let) => boundOf(s)?.bound === (s.op === 'max' ? -Infinity : Infinity);
  const compare = (op: 'lt' | 'le' | 'eq' | 'ne', args: Id[]): string => {
    const texts = args.map(name);
    if (args.some(a => Math.abs(known.get(a) as number) === Infinity))
      return fill(INFINITE_COMPARISONS[op]!, texts);
    return fill((args.every(a => numbers.has(a)) ? PLAIN_COMPARISONS : OPERATIONS)[op]!, texts);
  };

  const expression = (s: Let): string => {
    const args = 'args' in s ? s.args.map(name) : [];
    if ('args' in s)
      s.args.forEach((a, i) => {
        if (isHidden(s, known.get(a))) args[i] = `q_keep(${args[i]})`;
      });
    // WGSL evaluates an expression of literals when compiling, and refuses it if it overflows
    if (
      'args' in s &&
      isArithmetic(s) &&
      s.args.length > 0 &&
      s.args.every(a => typeof known.get(a) === 'number')
    )
      args[0] = `q_keep(${name(s.args[0])})`;
    switch (s.op) {
      case 'const':
        return literal(s.value);
      case 'coord':
        return read('x', program.dims, s.args[0], i => `(*x)[${i}]`);
      case 'param': {
        const place = `params[${offsets.get(s.name)}]`;
        return s.type === 'bool' ? `(${place} != 0.0f)` : place;
      }
      case 'element':
        return element(s.array, s.args[0]);
      case 'load':
        return read(`&${local(s.array)}`, program.arrays[s.array], s.args[0], i => `${local(s.array)}[${i}]`);
      case 'call':
        return `q_${s.fn}(${args.join(', ')})`;
      case 'lt':
      case 'le':
      case 'eq':
      case 'ne':
        return compare(s.op, s.args);
      case 'min':
      case 'max': {
        const bounded = boundOf(s);
        if (!bounded || !numbers.has(bounded.value) || Math.abs(bounded.bound) === Infinity) break;
        const { bound, value } = bounded;
        // one comparison is enough: equal numbers differ only if they are 0 and −0, and the bound's sign is known
        const op = (s.op === 'max' ? ['<=', '<'] : ['>', '>='])[Object.is(bound, -0) ? 1 : 0];
        return `select(${name(value)}, ${literal(bound)}, ${name(value)} ${op} ${literal(bound)})`;
      }
    }
    return fill(OPERATIONS[s.op], args);
  };
  /** Literals, and memory that nothing writes to, need no variable. */
  const isAtom = (s: Let) =>
    (s.op === 'const' && !(typeof s.value === 'number' && literal(s.value).startsWith('q_'))) ||
    s.op === 'param' ||
    ((s.op === 'coord' || s.op === 'element') && known.has(s.args[0])) ||
    isNeutral(s);
  const isNumber = (s: Let): boolean => {
    if (s.op === 'const') return !Number.isNaN(s.value);
    if (s.op === 'coord') return isInside(known.get(s.args[0]), program.dims);
    if (s.op === 'number') return true;
    if (s.op === 'select') return numbers.has(s.args[1]) && numbers.has(s.args[2]);
    if (s.op === 'mul' && s.args[0] === s.args[1]) return numbers.has(s.args[0]);
    const keeps = s.op === 'call' ? FUNCTIONS_THAT_KEEP_NUMBERS.has(s.fn) : KEEP_NUMBERS.has(s.op);
    return keeps && (s as { args: Id[] }).args.every(a => numbers.has(a));
  };
  const define = (s: Let, depth: number): void => {
    if (s.op === 'const') known.set(s.id, s.value);
    if (s.type === 'f64' && isNumber(s)) numbers.add(s.id);
    if (isAtom(s)) names.set(s.id, isNeutral(s) ? name(boundOf(s)!.value) : expression(s));
    else put(depth, `let ${name(s.id)} = ${expression(s)};`);
  };

  /** Assigns all at once: a target that other assignments still read is written after them, or copied first. */
  const assign = (depth: number, targets: Value[], args: Id[]): void => {
    const left = targets
      .map((v, i) => ({ to: name(v.id), from: name(args[i]) }))
      .filter(m => m.to !== m.from);
    while (left.length > 0) {
      const free = left.findIndex(m => !left.some(other => other !== m && other.from === m.to));
      if (free >= 0) {
        const [{ to, from }] = left.splice(free, 1);
        put(depth, `${to} = ${from};`);
      } else {
        const { to } = left[0];
        const kept = `t${temporaries++}`;
        put(depth, `let ${kept} = ${to};`);
        for (const m of left) if (m.from === to) m.from = kept;
      }
    }
  };
  const declare = (depth: number, out: Value[]) => {
    for (const v of out) put(depth, `var ${name(v.id)}: ${TYPES[v.type]};`);
  };

  const outputs = new Map<number, Value[]>();
  const flags = new Map<number, string>(); // of the constructs that a break from an inner one leaves
  /** The labels that breaks inside a construct lead to, beyond the construct itself. */
  const outerTargets = (s: Statement): number[] => {
    const inside = new Set<number>();
    const targets = new Set<number>();
    const visit = (t: Statement): void => {
      if (t.kind === 'block' || t.kind === 'loop') inside.add(t.label);
      if (t.kind === 'break') targets.add(t.label);
      for (const b of bodies(t)) b.forEach(visit);
    };
    visit(s);
    return [...targets].filter(t => !inside.has(t));
  };
  const isLeftFromInside = (s: Extract<Statement, { label: number }>): boolean => {
    const visit = (t: Statement, inner: boolean): boolean =>
      t.kind === 'break'
        ? inner && t.label === s.label
        : bodies(t).some(b => b.some(u => visit(u, inner || t.kind === 'block' || t.kind === 'loop')));
    return s.kind !== 'break' && s.body.some(t => visit(t, false));
  };
  const OVERRUN = `(turns > ${TURN_LIMIT}u)`;
  const isCounted = (s: Statement): boolean =>
    checks.checked.has(s) || bodies(s).some(b => b.some(isCounted));

  /** `ends` take the values that the list yields or continues with; `inner` is the label of the innermost construct. */
  const list = (body: Statement[], depth: number, ends: Value[], inner: number | undefined): void => {
    const turns = sinesAndCosines(body);
    for (const s of body) {
      switch (s.kind) {
        case 'let': {
          const turn = turns.get(s.id);
          if (!turn) define(s, depth);
          else if (!names.has(s.id)) {
            const both = `t${temporaries++}`;
            put(depth, `let ${both} = q_sincos(${name(turn.angle)});`);
            names.set(turn.sin, `${both}.x`);
            names.set(turn.cos, `${both}.y`);
          }
          break;
        }
        case 'store': {
          const i = known.get(s.index);
          const [array, length] = [local(s.array), program.arrays[s.array]];
          if (isInside(i, length)) put(depth, `${array}[${i}] = ${name(s.value)};`);
          else {
            mayStray = true;
            if (i !== undefined) put(depth, 'stray = true;');
            else {
              const set = help(`q_set${length}`, setter(length));
              put(depth, `if (!${set}(&${array}, ${name(s.index)}, ${name(s.value)})) { stray = true; }`);
            }
          }
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
        case 'loop': {
          outputs.set(s.label, s.out);
          declare(depth, s.out);
          if (isLeftFromInside(s)) {
            flags.set(s.label, `leave${flags.size}`);
            put(depth, `var ${flags.get(s.label)} = false;`);
          }
          if (s.kind === 'loop') {
            s.carried.forEach((v, i) => {
              put(depth, `var ${name(v.id)}: ${TYPES[v.type]} = ${name(s.init[i])};`);
            });
            put(depth, 'loop {');
            const turn = checks.checked.get(s);
            if (turn !== undefined) {
              put(depth + 1, `turns += ${turn}u;`);
              put(depth + 1, `if ${OVERRUN} { break; }`);
            }
            list(s.body, depth + 1, s.carried, s.label);
          } else {
            put(depth, 'loop {');
            list(s.body, depth + 1, s.out, s.label);
            if (s.body.at(-1)!.kind === 'yield') put(depth + 1, 'break;');
          }
          put(depth, '}');
          const exits = outerTargets(s).map(target => flags.get(target)!);
          if (inner !== undefined && isCounted(s)) exits.push(OVERRUN);
          if (exits.length > 0) put(depth, `if (${exits.join(' | ')}) { break; }`);
          break;
        }
        case 'yield':
        case 'continue':
          assign(depth, ends, s.args);
          break;
        case 'break':
          assign(depth, outputs.get(s.label)!, s.args);
          if (s.label !== inner) put(depth, `${flags.get(s.label)} = true;`);
          put(depth, 'break;');
          break;
        case 'unreachable':
          break;
      }
    }
  };

  list(program.body, 1, [], undefined);
  const isCountedAtAll = checks.checked.size > 0;
  if (isCountedAtAll) put(1, `q_overruns += select(0u, 1u, ${OVERRUN});`);
  const spoilt = [...(mayStray ? ['stray'] : []), ...(isCountedAtAll ? [OVERRUN] : [])].join(' | ');
  program.results.forEach((id, r) => {
    const value = spoilt ? `select(${name(id)}, ${NAN}, ${spoilt})` : name(id);
    put(1, several ? `(*out)[${r}] = ${value};` : `return ${value};`);
  });
  const head = ['  q_zero = bitcast<u32>(params[0]);'];
  // an empty array of the integrand has length 1 here
  for (const [k, a] of arrays) head.push(`  var ${a}: array<f32, ${program.arrays[k]}>;`);
  if (mayStray) head.push('  var stray = false;');
  if (isCountedAtAll) head.push('  var turns = 0u;');
  return { body: [...head, ...lines].join('\n'), helpers: [...helpers.values()] };
}

const isArithmetic = (s: Let): boolean =>
  s.op === 'call' || ['add', 'sub', 'mul', 'div', 'neg', 'sqrt', 'floor', 'ceil', 'trunc'].includes(s.op);

/**
 * Whether a literal is hidden from the compiler of the card. SPIRV-Tools, which Dawn and SwiftShader use, makes 0 of 0·x, where
 * an infinite x would give NaN, and joins the constants of (x·a)·b and (x + a) − b, which may overflow, or undo a rounding
 * that was wanted, when they are far from 1.
 */
function isHidden(s: Let, value: number | boolean | undefined): boolean {
  if (typeof value !== 'number' || !['add', 'sub', 'mul', 'div'].includes(s.op)) return false;
  const size = Math.abs(value);
  return size === 0 ? s.op === 'mul' || s.op === 'div' : size > 2 ** 20 || size < 2 ** -20;
}

/**
 * Whether an index lies in an array, in integers: numbers from 0 are ordered as their bits, and the bits of NaN and of
 * negative numbers are larger than all of them. −0 is an index too.
 */
const inside = (limit: string) =>
  `((bitcast<u32>(i) <= ${limit}) | (bitcast<u32>(i) == 0x80000000u)) & (floor(i) == i)`;

const ELEMENT = `fn q_element(offset: u32, last: u32, i: f32) -> f32 {
  var v = ${NAN};
  if (${inside('last')}) { v = params[offset + u32(i)]; }
  return v;
}`;

const getter = (
  length: number,
) => `fn q_get${length}(a: ptr<function, array<f32, ${length}>>, i: f32) -> f32 {
  var v = ${NAN};
  if (${inside(bitsOf(length - 1))}) { v = (*a)[u32(i)]; }
  return v;
}`;

const setter = (
  length: number,
) => `fn q_set${length}(a: ptr<function, array<f32, ${length}>>, i: f32, v: f32) -> bool {
  let inside = ${inside(bitsOf(length - 1))};
  if (inside) { (*a)[u32(i)] = v; }
  return inside;
}`;
