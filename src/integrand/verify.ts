/**
 * Programs as bytes, for other machines, and back. Whoever sends a program need not be trusted: `decodeProgram` checks all of it
 * before anything is compiled, copies nothing that it has not checked, and throws a `ProgramError` that says what is wrong and
 * where. What it returns can be compiled by every target, within bounded time:
 *
 * - names reach the text of a target only if they are those of operations, library functions or declared params;
 * - every value is defined once, before its use, where it is visible, and has the type that its use needs;
 * - every list is closed as its construct needs, every `break` has its target around it, every loop has a way out;
 * - numbers, names, nesting and memory stay below the limits here.
 *
 * Two things no check of the text can promise, and harden.ts adds them: that loops end, and that an array is written before
 * it is read. Indices need no check here, because targets test them where they are used.
 *
 * The bytes are JSON in UTF-8: the program as ir.ts has it, with NaN, the infinities and −0 as strings.
 */
import { CheckedMembers, type Members, ProgramError } from './checked-members.ts';
import { harden } from './harden.ts';
import {
  CLOSING,
  type Id,
  IR_VERSION,
  type Let,
  OPS,
  type Op,
  type ParamDeclaration,
  type Program,
  type Statement,
  type Type,
  type Value,
} from './ir.ts';
import { arity } from './lower/globals.ts';
import { countOf, MAX_DEPTH, MAX_RESULTS, type Shape } from './shape.ts';

export { ProgramError } from './checked-members.ts';

/** The most that a program from elsewhere may have. Those that the compiler makes of integrands stay far below. */
export const PROGRAM_LIMITS = {
  bytes: 2 ** 24,
  /** As of an integral. */
  dims: 1000,
  statements: 40_000,
  /** Statement lists inside each other; passes and targets recurse into them. */
  nesting: 200,
  params: 1000,
  /** Numbers in all arrays of params, and in all arrays of constants. */
  numbers: 2 ** 24,
  /** Elements of all local arrays. */
  elements: 2 ** 17,
  /** Values that one construct produces or carries: at least as many as an integrand has results. */
  outputs: 2000,
} as const;

export function encodeProgram(program: Program): Uint8Array<ArrayBuffer> {
  const text = JSON.stringify(program, (_, v) =>
    typeof v === 'number' && (!Number.isFinite(v) || Object.is(v, -0))
      ? Object.is(v, -0)
        ? '-0'
        : `${v}`
      : v,
  );
  return new TextEncoder().encode(text);
}

/** The program that `encodeProgram` wrote, checked and hardened; throws a `ProgramError` for any other bytes. */
export function decodeProgram(bytes: Uint8Array): Program {
  if (!(bytes instanceof Uint8Array)) throw new ProgramError('it is no Uint8Array');
  if (bytes.length > PROGRAM_LIMITS.bytes)
    throw new ProgramError(`it has ${bytes.length} bytes, and at most ${PROGRAM_LIMITS.bytes} are read`);
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw new ProgramError('it is no JSON in UTF-8');
  }
  return harden(new Reader().program(value));
}

/** How a list has to end, and the values that its end passes on. */
interface End {
  kind: 'yield' | 'continue';
  values: readonly Value[];
}

/** A path: a name, or the number of a captured value (captures.ts), then members; a part of a table at its end. */
const PARAM =
  /^(@\d{1,6}\.\d{1,6}|[\p{ID_Start}$_][\p{ID_Continue}$]{0,199})(\.[\p{ID_Start}$_][\p{ID_Continue}$]{0,199}){0,9}(\.([012]|values|slopes))?$/u;
const CONSTANT = /^#\d{1,6}$/;

class Reader extends CheckedMembers {
  readonly #types = new Map<Id, Type>();
  readonly #defined = new Set<Id>();
  /** The constructs around that a break can leave, outermost first; `out` is what a break passes on. */
  readonly #around: { label: number; out: readonly Value[]; left: boolean }[] = [];
  readonly #labels = new Set<number>();
  /** The labels that a break names. */
  readonly #targets = new Set<number>();
  readonly #params = new Map<string, ParamDeclaration['kind']>();
  readonly #constants = new Set<string>();
  #arrays = 0;
  #statements = 0;
  #depth = 0;

  program(value: unknown): Program {
    const v = this.object(value);
    if (v.version !== IR_VERSION)
      this.fail(
        `it has version ${typeof v.version === 'number' ? v.version : '?'}, and ${IR_VERSION} is read`,
      );
    this.only(v, ['version', 'dims', 'params', 'constants', 'arrays', 'body', 'results', 'shape']);
    const dims = this.in('dims', () => this.whole(v.dims, 1, PROGRAM_LIMITS.dims));
    const params = this.in('params', () => this.list(v.params, PROGRAM_LIMITS.params, p => this.#param(p)));
    const numbers = params.reduce((sum, p) => sum + (p.kind === 'array' ? p.length : 1), 0);
    if (numbers > PROGRAM_LIMITS.numbers)
      this.fail(`its params have more than ${PROGRAM_LIMITS.numbers} numbers`);
    const constants = this.in('constants', () => this.#constantArrays(v.constants));
    const arrays = this.in('arrays', () =>
      this.list(v.arrays, PROGRAM_LIMITS.elements, n => this.whole(n, 1, PROGRAM_LIMITS.elements)),
    );
    if (arrays.reduce((a, b) => a + b, 0) > PROGRAM_LIMITS.elements)
      this.fail(`its local arrays have more than ${PROGRAM_LIMITS.elements} elements`);
    this.#arrays = arrays.length;
    // values of the program's own list stay visible for its results
    const body = this.in('body', () => this.#statementList(v.body, undefined, true));
    const results = this.in('results', () => this.list(v.results, MAX_RESULTS, id => this.#use(id, 'f64')));
    if (results.length === 0) this.fail('it has no results');
    const program: Program = { version: IR_VERSION, dims, params, constants, arrays, body, results };
    if (!Object.hasOwn(v, 'shape')) return program;
    const shape = this.in('shape', () => this.#shape(v.shape, 0));
    if (countOf(shape) !== results.length)
      this.fail(`its shape has ${countOf(shape)} numbers, and there are ${results.length} results`);
    return { ...program, shape };
  }

  /** The shape of an array or object of numbers; `depth` is the number of those around it. */
  #shape(value: unknown, depth: number): Shape {
    if (value === 'number' && depth > 0) return value;
    if (depth === MAX_DEPTH) return this.fail('a number is needed in a shape');
    if (Array.isArray(value)) return this.list(value, MAX_RESULTS, s => this.#shape(s, depth + 1));
    const members = Object.entries(this.object(value));
    if (members.length > MAX_RESULTS) this.fail(`a shape has more than ${MAX_RESULTS} members`);
    const named = members.map(([name, s]) => {
      if (!PARAM.test(name) || name.includes('.') || name === '__proto__')
        this.fail('a result has a name that no member can have');
      return [name, this.in(name, () => this.#shape(s, depth + 1))];
    });
    return Object.fromEntries(named);
  }

  #param(value: unknown): ParamDeclaration {
    const { name, kind, length } = this.only(value, ['name', 'kind', 'length']);
    if (typeof name !== 'string' || !PARAM.test(name) || name === '__proto__' || this.#params.has(name))
      this.fail('a param has no name, a name that no param can have, or one that another has');
    if (kind !== 'number' && kind !== 'boolean' && kind !== 'array')
      this.fail('a param is neither a number nor a boolean nor an array');
    this.#params.set(name, kind);
    if (kind === 'array') return { name, kind, length: this.whole(length, 1, PROGRAM_LIMITS.numbers) };
    if (length !== undefined) this.fail('a param has a length and is no array');
    return { name, kind };
  }

  #constantArrays(value: unknown): Record<string, number[]> {
    const constants: Record<string, number[]> = {};
    let numbers = 0;
    for (const [name, list] of Object.entries(this.object(value))) {
      if (!CONSTANT.test(name)) this.fail('an array of constants has a name other than #0, #1, …');
      constants[name] = this.in(name, () => this.list(list, PROGRAM_LIMITS.numbers, n => this.number(n)));
      numbers += constants[name].length;
      this.#constants.add(name);
    }
    if (numbers > PROGRAM_LIMITS.numbers)
      this.fail(`there are more than ${PROGRAM_LIMITS.numbers} constants`);
    return constants;
  }

  /** Reads a list of statements; what it defines is visible in it only, unless `keep` is set. */
  #statementList(value: unknown, end: End | undefined, keep = false): Statement[] {
    if (++this.#depth > PROGRAM_LIMITS.nesting)
      this.fail(`statements are nested more than ${PROGRAM_LIMITS.nesting} deep`);
    const here: Value[] = [];
    let before: Statement | undefined;
    const total = Array.isArray(value) ? value.length : 0;
    const list = this.list(value, PROGRAM_LIMITS.statements, (v, i) => {
      if (++this.#statements > PROGRAM_LIMITS.statements)
        this.fail(`it has more than ${PROGRAM_LIMITS.statements} statements`);
      const s = this.#statement(v, end, before);
      if (CLOSING.has(s.kind) !== (end !== undefined && i === total - 1))
        this.fail(`'${s.kind}' stands in the wrong place`);
      const defined = s.kind === 'let' ? [s] : 'out' in s ? s.out : [];
      for (const d of defined) this.#define(d);
      here.push(...defined);
      before = s;
      return s;
    });
    if (end && list.length === 0) this.fail('a list does not end');
    if (!keep) for (const { id } of here) this.#types.delete(id);
    this.#depth--;
    return list;
  }

  #statement(value: unknown, end: End | undefined, before: Statement | undefined): Statement {
    const v = this.object(value);
    switch (v.kind) {
      case 'let':
        return this.#let(v);
      case 'store': {
        this.only(v, ['kind', 'array', 'index', 'value']);
        const array = this.whole(v.array, 0, this.#arrays - 1);
        return { kind: 'store', array, index: this.#use(v.index, 'f64'), value: this.#use(v.value, 'f64') };
      }
      case 'if': {
        this.only(v, ['kind', 'cond', 'then', 'else', 'out']);
        const cond = this.#use(v.cond, 'bool');
        const out = this.#values(v.out);
        const arm = (name: 'then' | 'else') =>
          this.in(name, () => this.#statementList(v[name], { kind: 'yield', values: out }));
        return { kind: 'if', cond, then: arm('then'), else: arm('else'), out };
      }
      case 'block': {
        this.only(v, ['kind', 'label', 'body', 'out']);
        const out = this.#values(v.out);
        const [label, body] = this.#labelled(v, out, { kind: 'yield', values: out });
        return { kind: 'block', label, body, out };
      }
      case 'loop': {
        this.only(v, ['kind', 'label', 'init', 'carried', 'body', 'out']);
        const carried = this.#values(v.carried);
        const init = this.in('init', () => this.#ids(v.init, carried));
        const out = this.#values(v.out);
        for (const c of carried) this.#define(c);
        const [label, body, left] = this.#labelled(v, out, { kind: 'continue', values: carried });
        for (const c of carried) this.#types.delete(c.id);
        if (!left) this.fail('nothing leaves a loop');
        return { kind: 'loop', label, init, carried, body, out };
      }
      case 'break': {
        this.only(v, ['kind', 'label', 'args']);
        const label = this.#id(v.label);
        const target = this.#around.findLastIndex(a => a.label === label);
        if (target < 0) this.fail(`a break to ${label}, which is not around it`);
        this.#targets.add(label);
        for (const a of this.#around.slice(target)) a.left = true;
        return { kind: 'break', label, args: this.#ids(v.args, this.#around[target].out) };
      }
      case 'yield':
      case 'continue':
        this.only(v, ['kind', 'args']);
        if (v.kind !== end?.kind) return this.fail(`'${v.kind}' stands in the wrong place`);
        return { kind: v.kind, args: this.#ids(v.args, end.values) };
      case 'unreachable':
        this.only(v, ['kind']);
        if (before?.kind !== 'loop' || this.#targets.has(before.label))
          this.fail("'unreachable' stands where the program may come");
        return { kind: 'unreachable' };
      default:
        return this.fail('a statement is of no known kind');
    }
  }

  /** The label and the body of a block or loop whose breaks pass on `out`, and whether a break leaves it. */
  #labelled(v: Members, out: readonly Value[], end: End): [number, Statement[], boolean] {
    const label = this.#id(v.label);
    if (this.#labels.has(label)) this.fail(`label ${label} is used twice`);
    this.#labels.add(label);
    const own = { label, out, left: false };
    this.#around.push(own);
    const body = this.in('body', () => this.#statementList(v.body, end));
    this.#around.pop();
    return [label, body, own.left];
  }

  #let(v: Members): Let {
    const { op, type } = v;
    const id = this.#id(v.id);
    if (type !== 'f64' && type !== 'bool') return this.fail('a value is neither f64 nor bool');
    const takes = (signature: string) => {
      if (signature.at(-1) !== type[0]) this.fail(`${op} gives no ${type}`);
      const types = [...signature.slice(0, -2)].map(
        (t): Value => ({ id: -1, type: t === 'f' ? 'f64' : 'bool' }),
      );
      return this.#ids(v.args, types);
    };
    const index = (): [Id] => [takes('f:f')[0]];
    const base = { kind: 'let', id, type } as const;
    const names = ['kind', 'id', 'type', 'op'];
    switch (op) {
      case 'const':
        this.only(v, [...names, 'value']);
        if (type === 'f64') return { ...base, op, value: this.number(v.value) };
        if (typeof v.value !== 'boolean') this.fail('a constant is not of its type');
        return { ...base, op, value: v.value };
      case 'coord':
        this.only(v, [...names, 'args']);
        return { ...base, op, args: index() };
      case 'param': {
        this.only(v, [...names, 'name']);
        const { name } = v;
        if (typeof name !== 'string' || this.#params.get(name) !== (type === 'f64' ? 'number' : 'boolean'))
          this.fail(`a param is read as ${type} that is not declared as such`);
        return { ...base, op, name };
      }
      case 'element': {
        this.only(v, [...names, 'array', 'args']);
        const { array } = v;
        if (typeof array !== 'string' || !(this.#params.get(array) === 'array' || this.#constants.has(array)))
          this.fail('an element is read of an array that is not declared');
        return { ...base, op, array, args: index() };
      }
      case 'load':
        this.only(v, [...names, 'array', 'args']);
        return { ...base, op, array: this.whole(v.array, 0, this.#arrays - 1), args: index() };
      case 'call': {
        this.only(v, [...names, 'fn', 'args']);
        const { fn } = v;
        const wanted = typeof fn === 'string' ? arity(fn) : 0;
        if (typeof fn !== 'string' || wanted === 0) return this.fail('a call of what is no library function');
        return { ...base, op, fn, args: takes(`${'f'.repeat(wanted)}:f`) };
      }
      default:
        this.only(v, [...names, 'args']);
        if (typeof op !== 'string' || !Object.hasOwn(OPS, op)) return this.fail('an operation is not known');
        return { ...base, op: op as Op, args: takes(OPS[op as Op]) };
    }
  }

  #values(value: unknown): Value[] {
    return this.list(value, PROGRAM_LIMITS.outputs, v => {
      const { id, type } = this.only(v, ['id', 'type']);
      if (type !== 'f64' && type !== 'bool') return this.fail('a value is neither f64 nor bool');
      return { id: this.#id(id), type };
    });
  }

  #define({ id, type }: Value): void {
    if (this.#defined.has(id)) this.fail(`value ${id} is defined twice`);
    this.#defined.add(id);
    this.#types.set(id, type);
  }

  /** Ids of visible values of the wanted types. */
  #ids(value: unknown, wanted: readonly Value[]): Id[] {
    const ids = this.list(value, PROGRAM_LIMITS.outputs, (v, i) => {
      if (i >= wanted.length) this.fail(`there are more than the ${wanted.length} values needed`);
      return this.#use(v, wanted[i].type);
    });
    if (ids.length < wanted.length)
      this.fail(`${wanted.length} values are needed, and ${ids.length} are given`);
    return ids;
  }

  #use(value: unknown, type: Type): Id {
    const id = this.#id(value);
    const found = this.#types.get(id);
    if (found === undefined) this.fail(`value ${id} is used where it is not defined`);
    if (found !== type) this.fail(`value ${id} is ${found}, where ${type} is needed`);
    return id;
  }

  #id(value: unknown): Id {
    return this.whole(value, 0, 2 ** 30);
  }
}
