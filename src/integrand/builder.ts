/**
 * Builds a program value by value, and simplifies it on the way: constants are folded, operations that
 * change nothing are dropped, an expression that is already computed and visible is used again, small
 * powers become products and roots, and branches too cheap to be worth a jump become `select`s.
 * All of it is exact: no rewrite changes a bit of a result, except that of powers, whose accuracy
 * `#power` states.
 */
import type { Expression, Id, Let, Op, Statement, Type, Value } from './ir.ts';
import { CLOSING, defines, OPS, uses } from './ir.ts';
import { kit, libraryFunction } from './math/common.ts';
import { intrinsics } from './math/kit.ts';
import { nestExits } from './nest.ts';

/** A statement list being written, with the expressions available in it. */
export interface Scope {
  body: Statement[];
  table: Map<string, Id>;
  parent: Scope | null;
  /** A break or continue closed the list: nothing written after it is reachable. */
  dead: boolean;
  open: boolean;
  /** The list that this one was spliced into, if it was. */
  splicedInto: Scope | null;
}

/** When both arms of a branch together cost at most this many additions, both are computed, without a jump. */
const CHEAP_ARMS = 10;
/** The same limit for a whole block of early exits, such as the unrolled test of `every`. */
const CHEAP_BLOCK = 48;

/** The cost of an operation in additions; 1 for those that are not listed. */
const COST: Partial<Record<Expression['op'], number>> = {
  const: 0,
  param: 0,
  min: 3,
  max: 3,
  div: 6,
  sqrt: 6,
  coord: 1,
  element: 8,
  load: 8,
  call: 30,
};
const cost = (s: Let) => COST[s.op] ?? 1;
const COMMUTATIVE = new Set<string>(['add', 'mul', 'min', 'max', 'eq', 'ne', 'and', 'or']);

/** Each operation in plain JavaScript, of known values. */
export const FOLD: Record<Op, (...a: never[]) => number | boolean> = {
  neg: (a: number) => -a,
  abs: Math.abs,
  sqrt: Math.sqrt,
  floor: Math.floor,
  ceil: Math.ceil,
  trunc: Math.trunc,
  ...intrinsics,
  add: (a: number, b: number) => a + b,
  sub: (a: number, b: number) => a - b,
  mul: (a: number, b: number) => a * b,
  div: (a: number, b: number) => a / b,
  min: Math.min,
  max: Math.max,
  lt: (a: number, b: number) => a < b,
  le: (a: number, b: number) => a <= b,
  eq: (a: number, b: number) => a === b,
  ne: (a: number, b: number) => a !== b,
  not: (a: boolean) => !a,
  and: (a: boolean, b: boolean) => a && b,
  or: (a: boolean, b: boolean) => a || b,
  number: (a: boolean) => (a ? 1 : 0),
  select: (c: boolean, a: number, b: number) => (c ? a : b),
};

export class Builder {
  #nextId = 0;
  #forgotten = 0;
  #nextLabel = 0;
  #lets = new Map<Id, Let>();
  #types = new Map<Id, Type>();
  #scopes = new Map<Id, Scope>();
  readonly #keepCalls: boolean;

  /** `keepCalls`: calls of library functions stay calls, also of constants and small powers (src/self-check.ts). */
  constructor(keepCalls = false) {
    this.#keepCalls = keepCalls;
  }

  /** The list at the head of the program, which holds all constants, so that they are visible everywhere. */
  readonly root: Scope = newScope(null);
  scope: Scope = newScope(this.root);
  /** The number of values made so far, by which the cost of unrolling is measured. */
  get size(): number {
    return this.#nextId - this.#forgotten;
  }

  /** Values made since the size was `size` are in no list any more. */
  forget(size: number): void {
    this.#forgotten += this.size - size;
  }

  constant(value: number | boolean): Id {
    const key = Object.is(value, -0) ? '-0' : String(value);
    const known = this.root.table.get(key);
    if (known !== undefined) return known;
    const id = this.#define(this.root, typeof value === 'number' ? 'f64' : 'bool', { op: 'const', value });
    this.root.table.set(key, id);
    return id;
  }

  /** A coordinate of the point, at the head of the program as constants are. */
  coordinate(index: number): Id {
    const at = this.constant(index);
    const key = `coord  ${at}`;
    const id = this.root.table.get(key) ?? this.#define(this.root, 'f64', { op: 'coord', args: [at] });
    this.root.table.set(key, id);
    return id;
  }

  /** The value of a constant; undefined for anything that has to be computed. */
  constantOf(id: Id): number | boolean | undefined {
    const s = this.#lets.get(id);
    return s?.op === 'const' ? s.value : undefined;
  }

  type(id: Id): Type {
    return this.#types.get(id)!;
  }

  /** Whether a value made earlier may be used at this point. */
  visible(id: Id): boolean {
    let scope = this.#scopes.get(id)!;
    while (scope.splicedInto) scope = scope.splicedInto;
    return scope.open;
  }

  op(op: Op, ...args: Id[]): Id {
    const known = args.map(a => this.constantOf(a));
    if (known.every(k => k !== undefined)) {
      return this.constant((FOLD[op] as (...a: unknown[]) => number | boolean)(...known));
    }
    return (
      this.#simplify(op, args, known) ?? this.value({ op, args }, OPS[op].endsWith('f') ? 'f64' : 'bool')
    );
  }

  /** A call of a function of the math library. */
  call(fn: string, ...args: Id[]): Id {
    if (this.#keepCalls) return this.value({ op: 'call', fn, args }, 'f64');
    const known = args.map(a => this.constantOf(a));
    const folds = known.every(k => k !== undefined);
    if (fn === 'pow' && !folds) return this.#power(args[0], args[1]);
    libraryFunction(fn); // throws where it is not loaded
    if (!folds) return this.value({ op: 'call', fn, args }, 'f64');
    return this.constant((kit as unknown as Record<string, (...a: unknown[]) => number>)[fn](...known));
  }

  /** An expression as it is; an equal one that is visible here is used again, except loads, which stores may change. */
  value(e: Expression, type: Type): Id {
    if (e.op === 'load') return this.#define(this.scope, type, e);
    const args =
      'args' in e && COMMUTATIVE.has(e.op) ? [...e.args].sort((a, b) => a - b) : 'args' in e ? e.args : [];
    const imm = 'fn' in e ? e.fn : 'array' in e ? e.array : 'name' in e ? e.name : '';
    const key = `${e.op} ${imm} ${args.join(' ')}`;
    for (let s: Scope | null = this.scope; s; s = s.parent) {
      const known = s.table.get(key);
      if (known !== undefined) return known;
    }
    const id = this.#define(this.scope, type, e);
    this.scope.table.set(key, id);
    return id;
  }

  /** A value that a control statement will produce in the current list. */
  out(type: Type): Value {
    const id = this.#nextId++;
    this.#types.set(id, type);
    this.#scopes.set(id, this.scope);
    return { id, type };
  }

  label(): number {
    return this.#nextLabel++;
  }

  emit(s: Statement): void {
    this.scope.body.push(s);
    if (CLOSING.has(s.kind)) this.scope.dead = true;
  }

  open(): Scope {
    this.scope = newScope(this.scope);
    return this.scope;
  }

  close(): Scope {
    const closed = this.scope;
    closed.open = false;
    this.scope = closed.parent!;
    return closed;
  }

  /** Appends the statements of a closed list to the current one, without the last `drop` of them. */
  splice(closed: Scope, drop = 0): void {
    const { body } = this.scope; // element by element: as arguments of one call, 100,000 statements overflow the stack
    for (const s of drop ? closed.body.slice(0, -drop) : closed.body) body.push(s);
    for (const [k, v] of closed.table) this.scope.table.set(k, v);
    closed.splicedInto = this.scope;
  }

  /** Writes an `if` whose two lists are closed; returns its outputs, one for each of `types`. */
  if(cond: Id, then: Scope, otherwise: Scope, types: Type[]): Id[] {
    const yields = [then, otherwise].map(s => s.body.at(-1)) as Statement[];
    const simple = yields.every(y => y.kind === 'yield') && armCost(then) + armCost(otherwise) <= CHEAP_ARMS;
    if (simple) {
      for (const s of [then, otherwise]) this.splice(s, 1);
      const [a, b] = yields.map(y => uses(y));
      return types.map((t, i) => this.choose(t, cond, a[i], b[i]));
    }
    // a break goes into the first arm, where `block` looks for early exits
    if (yields[0].kind === 'yield' && yields[1].kind === 'break') {
      [cond, then, otherwise] = [this.op('not', cond), otherwise, then];
    }
    const out = types.map(t => this.out(t));
    this.emit({ kind: 'if', cond, then: then.body, else: otherwise.body, out });
    return out.map(v => v.id);
  }

  /** Writes a `block` whose list is closed. Cheap exits, `if (c) break`, become selects. */
  block(label: number, body: Scope, types: Type[]): Id[] {
    const exits = cheapExits(label, body.body);
    const last = body.body.at(-1)!;
    if (exits && (last.kind === 'yield' || (last.kind === 'break' && last.label === label))) {
      const kept = body.body.filter(s => s.kind === 'let');
      this.splice({ ...body, body: kept }, 0);
      body.splicedInto = this.scope;
      let values = last.args;
      for (const { cond, args } of exits.reverse()) {
        values = types.map((t, i) => this.choose(t, cond, args[i], values[i]));
      }
      return [...values];
    }
    const nested = nestExits(label, body.body, () => types.map(t => this.out(t)));
    const end = nested?.at(-1);
    if (nested && end?.kind === 'yield') {
      // a value that moved into an arm is visible in that arm only
      const here = new Set(nested.flatMap(s => defines(s).map(v => v.id)));
      const table = new Map([...body.table].filter(([, id]) => here.has(id)));
      this.splice({ ...body, body: nested, table }, 1);
      body.splicedInto = this.scope;
      return end.args;
    }
    const out = types.map(t => this.out(t));
    this.emit({ kind: 'block', label, body: body.body, out });
    return out.map(v => v.id);
  }

  choose(type: Type, cond: Id, a: Id, b: Id): Id {
    if (a === b) return a;
    if (type === 'f64') return this.op('select', cond, a, b);
    const not = this.op('not', cond);
    return this.op('or', this.op('and', cond, a), this.op('and', not, b));
  }

  #define(scope: Scope, type: Type, e: Expression): Id {
    const id = this.#nextId++;
    const s: Let = { kind: 'let', id, type, ...e };
    this.#lets.set(id, s);
    this.#types.set(id, type);
    this.#scopes.set(id, scope);
    scope.body.push(s);
    return id;
  }

  #simplify(op: Op, args: Id[], known: (number | boolean | undefined)[]): Id | undefined {
    const [a, b, c] = args;
    const [ka, kb] = known;
    const made = this.#lets.get(a);
    switch (op) {
      case 'add':
        if (Object.is(kb, -0) || (kb === 0 && this.#neverMinusZero(a))) return a;
        if (Object.is(ka, -0) || (ka === 0 && this.#neverMinusZero(b))) return b;
        return;
      case 'sub':
        return Object.is(kb, 0) ? a : undefined;
      case 'mul':
        if (kb === 1) return a;
        if (ka === 1) return b;
        if (kb === -1) return this.op('neg', a);
        if (ka === -1) return this.op('neg', b);
        return;
      case 'div':
        if (kb === 1) return a;
        // a division by a power of two is a product with its reciprocal: as exact, and faster
        if (
          typeof kb === 'number' &&
          Math.abs(intrinsics.exponent(kb)) < 1022 &&
          intrinsics.significand(kb) === 1
        ) {
          return this.op('mul', a, this.constant(1 / kb));
        }
        return;
      case 'neg':
        return made?.op === 'neg' ? made.args[0] : undefined;
      case 'abs':
        return made?.op === 'abs' ? a : made?.op === 'neg' ? this.op('abs', made.args[0]) : undefined;
      case 'not':
        return made?.op === 'not' ? made.args[0] : undefined;
      case 'and':
        if (ka === false || kb === false) return this.constant(false);
        return ka === true || a === b ? b : kb === true ? a : undefined;
      case 'or':
        if (ka === true || kb === true) return this.constant(true);
        return ka === false || a === b ? b : kb === false ? a : undefined;
      case 'select':
        return ka === true || b === c ? b : ka === false ? c : undefined;
      default:
        return;
    }
  }

  /** Whether the value is known not to be −0. Then 0 + v is v, which saves the first addition of every sum. */
  #neverMinusZero(id: Id): boolean {
    const s = this.#lets.get(id);
    if (s?.op === 'const') return !Object.is(s.value, -0);
    return (
      s?.op === 'abs' || (s?.op === 'mul' && s.args[0] === s.args[1]) || (s?.op === 'call' && s.fn === 'exp')
    );
  }

  /**
   * x^y. A constant y that is a multiple of 1/8 with |y| ≤ 16 becomes products, square roots and at most one division,
   * within |y| + 4 ulp (tests/math/powers.test.ts); the general function stays within 2 ulp. A negative power whose
   * positive counterpart overflows gives 0. 2^y becomes exp2(y).
   */
  #power(x: Id, y: Id): Id {
    if (this.constantOf(x) === 2) return this.call('exp2', y);
    const k = this.constantOf(y);
    if (typeof k !== 'number' || Math.abs(k) > 16 || !Number.isInteger(8 * k)) {
      libraryFunction('pow');
      return this.value({ op: 'call', fn: 'pow', args: [x, y] }, 'f64');
    }
    if (k === 0) return this.constant(1);
    const whole = Math.floor(Math.abs(k));
    let result: Id | undefined;
    const times = (factor: Id) => {
      result = result === undefined ? factor : this.op('mul', result, factor);
    };
    let square = x;
    for (let n = whole; n > 0; n >>= 1) {
      if (n & 1) times(square);
      if (n > 1) square = this.op('mul', square, square);
    }
    if (whole !== Math.abs(k)) {
      if (result !== undefined) result = this.op('abs', result);
      // pow(−0, ½) is 0 and pow(−∞, ½) is ∞, where the root gives −0 and NaN
      const lowest = this.op('eq', x, this.constant(-Infinity));
      const positive = this.op(
        'select',
        lowest,
        this.constant(Infinity),
        this.op('add', x, this.constant(0)),
      );
      let root = positive;
      for (let rest = Math.abs(k) - whole; rest > 0; rest = (2 * rest) % 1) {
        root = this.op('sqrt', root);
        if (rest >= 0.5) times(root);
      }
    }
    return k < 0 ? this.op('div', this.constant(1), result!) : result!;
  }
}

function newScope(parent: Scope | null): Scope {
  return { body: [], table: new Map(), parent, dead: false, open: true, splicedInto: null };
}

function armCost(scope: Scope): number {
  let total = 0;
  for (const s of scope.body.slice(0, -1)) total += s.kind === 'let' && s.op !== 'load' ? cost(s) : Infinity;
  return total;
}

/** The exits of a block that consists of cheap values and `if (c) break label` only; undefined for any other block. */
function cheapExits(label: number, body: Statement[]): { cond: Id; args: Id[] }[] | undefined {
  const exits: { cond: Id; args: Id[] }[] = [];
  let total = 0;
  for (const s of body.slice(0, -1)) {
    if (s.kind === 'let' && s.op !== 'load') total += cost(s);
    else if (s.kind === 'if' && s.out.length === 0 && s.then.length === 1 && s.else.length === 1) {
      const [t, e] = [s.then[0], s.else[0]];
      if (t.kind !== 'break' || t.label !== label || e.kind !== 'yield') return;
      exits.push({ cond: s.cond, args: t.args });
    } else return;
  }
  return total <= CHEAP_BLOCK ? exits : undefined;
}
