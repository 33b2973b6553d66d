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
  walk,
} from '../../ir.ts';
import type { StopChecks } from '../../stop-checks.ts';
import { bodyText, type Construct, fill } from '../body-text.ts';
import { bitsOf, literal, NAN } from './literals.ts';
import {
  FUNCTIONS_THAT_KEEP_NUMBERS,
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
const OVERRUN = `(turns > ${TURN_LIMIT}u)`;

const TYPES: Record<Type, string> = { f64: 'f32', bool: 'bool' };

/** What an integrand calls at points where an argument is not usual: the same function in full. */
export const RARE_INTEGRAND = 'q_rareintegrand';

/** `usual`: calls that are for usual arguments (../usual.ts); none in the function in full. */
export function functionBody(
  program: Program,
  offsets: ReadonlyMap<string, number>,
  checks: StopChecks,
  usual: ReadonlySet<Id>,
): { body: string; helpers: string[] } {
  const helpers = new Map<string, string>(); // functions that read and write arrays, by name
  const numbers = new Set<Id>(); // values that are never NaN
  const flags = new Map<number, string>(); // of the constructs that a break from an inner one leaves
  const help = (fn: string, definition: string): string => {
    helpers.set(fn, definition);
    return fn;
  };

  const isNumber = (s: Let): boolean => {
    if (s.op === 'const') return !Number.isNaN(s.value);
    if (s.op === 'coord') return isInside(text.known.get(s.args[0]), program.dims);
    if (s.op === 'number') return true;
    if (s.op === 'select') return numbers.has(s.args[1]) && numbers.has(s.args[2]);
    if (s.op === 'mul' && s.args[0] === s.args[1]) return numbers.has(s.args[0]);
    const keeps = s.op === 'call' ? FUNCTIONS_THAT_KEEP_NUMBERS.has(s.fn) : KEEP_NUMBERS.has(s.op);
    return keeps && (s as { args: Id[] }).args.every(a => numbers.has(a));
  };
  const compare = (op: 'lt' | 'le' | 'eq' | 'ne', args: Id[]): string => {
    const isInfinite = args.some(a => Math.abs(text.known.get(a) as number) === Infinity);
    const finite = args.every(a => numbers.has(a)) ? PLAIN_COMPARISONS : OPERATIONS;
    return fill((isInfinite ? INFINITE_COMPARISONS : finite)[op]!, args.map(text.name));
  };
  /** The arguments of an operation: what the compiler of the card must not know passes through q_keep. */
  const argumentsOf = (s: Let): string[] => {
    if (!('args' in s)) return [];
    const values = s.args.map(a => text.known.get(a));
    // WGSL evaluates an expression of literals when compiling, and refuses it if it overflows
    const isLiteral = isArithmetic(s) && values.every(v => typeof v === 'number');
    return s.args.map((a, i) =>
      isHidden(s, values[i]) || (isLiteral && i === 0) ? `q_keep(${text.name(a)})` : text.name(a),
    );
  };
  /** Reads an array of the function, of which `pointer` is a pointer. */
  const find = (pointer: string, length: number) => (i: string) =>
    `${help(`q_get${length}`, getter(length))}(${pointer}, ${i})`;
  const expression = (s: Let): string => {
    const args = argumentsOf(s);
    switch (s.op) {
      case 'const':
        return literal(s.value);
      case 'coord':
        return text.read(program.dims, s.args[0], i => `(*x)[${i}]`, find('x', program.dims));
      case 'param': {
        const place = `params[${offsets.get(s.name)}]`;
        return s.type === 'bool' ? `(${place} != 0.0f)` : place;
      }
      case 'element': {
        const [offset, length] = [offsets.get(s.array)!, text.lengthOf(s.array)];
        const find = (i: string) => `${help('q_element', ELEMENT)}(${offset}u, ${bitsOf(length - 1)}, ${i})`;
        return text.read(length, s.args[0], i => `params[${offset + i}]`, find);
      }
      case 'load': {
        const [array, length] = [text.local(s.array), program.arrays[s.array]];
        return text.read(length, s.args[0], i => `${array}[${i}]`, find(`&${array}`, length));
      }
      case 'call':
        if (usual.has(s.id)) {
          text.put(1, `rare = rare | q_rare${s.fn}(${args[0]});`);
          return `q_usual${s.fn}(${args[0]})`;
        }
        return `q_${s.fn}(${args.join(', ')})`;
      case 'lt':
      case 'le':
      case 'eq':
      case 'ne':
        return compare(s.op, s.args);
      case 'min':
      case 'max': {
        const bounded = text.boundOf(s);
        if (!bounded || !numbers.has(bounded.value) || Math.abs(bounded.bound) === Infinity) break;
        const [value, bound] = [text.name(bounded.value), literal(bounded.bound)];
        return `select(${value}, ${bound}, ${value} ${bounded.comparison} ${bound})`;
      }
    }
    return fill(OPERATIONS[s.op], args);
  };

  const isCounted = (s: Statement): boolean =>
    checks.checked.has(s) || bodies(s).some(b => b.some(isCounted));
  const construct = (s: Construct, depth: number, inner: number | undefined): void => {
    if (isLeftFromInside(s)) {
      flags.set(s.label, `leave${flags.size}`);
      text.put(depth, `var ${flags.get(s.label)} = false;`);
    }
    if (s.kind === 'loop') text.declare(depth, s.carried, s.init);
    text.put(depth, 'loop {');
    const turn = checks.checked.get(s);
    if (turn !== undefined) {
      text.put(depth + 1, `turns += ${turn}u;`);
      text.put(depth + 1, `if ${OVERRUN} { break; }`);
    }
    text.list(s.body, depth + 1, s.kind === 'loop' ? s.carried : s.out, s.label);
    if (s.kind === 'block' && s.body.at(-1)!.kind === 'yield') text.put(depth + 1, 'break;');
    text.put(depth, '}');
    const exits = outerTargets(s).map(target => flags.get(target)!);
    if (inner !== undefined && isCounted(s)) exits.push(OVERRUN);
    if (exits.length > 0) text.put(depth, `if (${exits.join(' | ')}) { break; }`);
  };

  const text = bodyText(program, {
    nan: NAN,
    constant: (_, name, value) => `let ${name} = ${value};`,
    variable: (type, name, value) =>
      `var ${name}: ${TYPES[type]}${value === undefined ? '' : ` = ${value}`};`,
    storeAt(array, length, index, value) {
      const set = help(`q_set${length}`, setter(length));
      return `if (!${set}(&${array}, ${index}, ${value})) { stray = true; }`;
    },
    sineAndCosine({ sin, cos, angle }, depth) {
      const both = text.temporary();
      text.put(depth, `let ${both} = q_sincos(${text.name(angle)});`);
      text.names.set(sin, `${both}.x`);
      text.names.set(cos, `${both}.y`);
    },
    define(s) {
      if (s.type === 'f64' && isNumber(s)) numbers.add(s.id);
    },
    isComputed: value => typeof value === 'number' && literal(value).startsWith('q_'),
    expression,
    construct,
    leave(label, depth, inner) {
      if (label !== inner) text.put(depth, `${flags.get(label)} = true;`);
      text.put(depth, 'break;');
    },
  });
  text.list(program.body, 1, []);
  const [mayStray, isCountedAtAll] = [text.mayStray(), checks.checked.size > 0];
  if (isCountedAtAll) text.put(1, `q_overruns += select(0u, 1u, ${OVERRUN});`);
  const spoilt = [...(mayStray ? ['stray'] : []), ...(isCountedAtAll ? [OVERRUN] : [])].join(' | ');
  program.results.forEach((id, r) => {
    const value = spoilt ? `select(${text.name(id)}, ${NAN}, ${spoilt})` : text.name(id);
    if (usual.size > 0) {
      text.put(1, `var value = ${value};`);
      text.put(1, `if (rare) { value = ${RARE_INTEGRAND}(x); }`);
      text.put(1, 'return value;');
      return;
    }
    text.put(1, program.results.length > 1 ? `(*out)[${r}] = ${value};` : `return ${value};`);
  });
  const head = ['  q_zero = bitcast<u32>(params[0]);'];
  // an empty array of the integrand has length 1 here
  for (const [k, a] of text.arrays) head.push(`  var ${a}: array<f32, ${program.arrays[k]}>;`);
  if (mayStray) head.push('  var stray = false;');
  if (usual.size > 0) head.push('  var rare = false;');
  if (isCountedAtAll) head.push('  var turns = 0u;');
  return { body: [...head, ...text.lines].join('\n'), helpers: [...helpers.values()] };
}

/** The labels that breaks inside a construct lead to, beyond the construct itself. */
function outerTargets(s: Construct): number[] {
  const inside = new Set<number>();
  const targets = new Set<number>();
  walk([s], t => {
    if (t.kind === 'block' || t.kind === 'loop') inside.add(t.label);
    if (t.kind === 'break') targets.add(t.label);
  });
  return [...targets].filter(t => !inside.has(t));
}

/** Whether a break in an inner construct leaves this one. */
function isLeftFromInside({ label, body }: Construct): boolean {
  const visit = (t: Statement, inner: boolean): boolean =>
    t.kind === 'break'
      ? inner && t.label === label
      : bodies(t).some(b => b.some(u => visit(u, inner || t.kind === 'block' || t.kind === 'loop')));
  return body.some(t => visit(t, false));
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
