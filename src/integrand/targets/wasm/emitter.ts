/**
 * Writes one program as the instructions of one function that works on two points at a time.
 *
 * Control flow that is the same for both lanes becomes jumps. Where lanes diverge, both branches are run, each
 * under a mask of the lanes that take it (and skipped when there are none). The mask matters in three
 * places only: the outputs of a divergent construct, which each lane must set when it leaves and not
 * later; stores to local arrays; and the end of a loop, when no lane is left in it. All other values may
 * be computed in lanes that do not need them.
 *
 * The `exit` mask of a divergent label collects the lanes that left for it. After a construct from which lanes may
 * have left, those lanes are removed from the mask; if the mask is then empty, the rest is jumped over.
 */

import type { FunctionWriter } from '../../../wasm/assembler.ts';
import { type Id, isInside, type Let, type Program, type Statement, type Type, uses } from '../../ir.ts';
import { findDivergence } from './divergence.ts';
import type { Layout } from './layout.ts';
import { SCALAR_OPS, VECTOR_OPS } from './operations.ts';
import { labelsLeft, usedOnceInPlace } from './uses.ts';

/** How a value is represented: scalar f64 or i32 when all lanes agree, else a vector (a bool is a lane mask). */
type Form = 'scalar' | 'vector';

interface Label {
  out: number[];
  /** The jump target behind the construct. */
  end: number;
  /** The local with the mask of the lanes that left for this label; null if the label is not divergent. */
  exit: number | null;
}

export interface EmitterOptions {
  writer: FunctionWriter;
  layout: Layout;
  /** What is put before the names of constant arrays. */
  prefix: string;
  /** Pushes coordinate `index`, a constant, of the two points. */
  coordinate(index: number): void;
  /** Byte offset of the current points within each coordinate's row; absent in library functions. */
  offset?: number;
  /** The index, in the module, of the library function `fn`. */
  callee(fn: string): number;
}

/** A value that is used once is computed where it is used; chains of such values are shorter than this. */
const MAX_DEFERRED_CHAIN = 60;

export class Emitter {
  readonly #program: Program;
  readonly #o: EmitterOptions;
  readonly #w: FunctionWriter;
  readonly #varying: ReadonlySet<Id>;
  readonly #divergent: ReadonlySet<number>;
  readonly #types = new Map<Id, Type>();
  readonly #constants = new Map<Id, number | boolean>();
  readonly #locals = new Map<Id, number>();
  /** The locals that hold the scalars of `invariants` as vectors. */
  readonly #splats = new Map<Id, number>();
  readonly #deferred = new Map<Id, { s: Let; depth: number }>();
  readonly #singleUse: Set<Id>;
  readonly #labels = new Map<number, Label>();
  readonly #arrays: number[];
  /** Jump targets for an empty mask, innermost last: each is behind an arm or a divergent construct. */
  readonly #skips: number[] = [];
  #mask: number | null = null;
  #stray: number | null = null;

  constructor(program: Program, options: EmitterOptions) {
    this.#program = program;
    this.#o = options;
    this.#w = options.writer;
    const { varying, divergent } = findDivergence(program);
    this.#varying = varying;
    this.#divergent = divergent;
    this.#arrays = program.arrays.map(n => options.layout.localArray(n));
    this.#singleUse = usedOnceInPlace(program);
  }

  /** Computes, once per batch, every value that is the same for all points. */
  invariants(): void {
    const body = this.#program.body;
    const ready = new Set<Id>();
    for (const s of body) {
      if (s.kind !== 'let') continue;
      this.#types.set(s.id, s.type);
      if (s.op === 'const') this.#constants.set(s.id, s.value);
      else if (this.#varying.has(s.id) || s.op === 'call' || !uses(s).every(a => ready.has(a))) continue;
      else {
        this.#expression(s, 'scalar');
        const local = this.#define(s.id, s.type, 'scalar');
        this.#w.tee(local);
        this.#splat(s.type);
        const splat = this.#w.local('v128');
        this.#splats.set(s.id, splat);
        this.#w.set(splat);
      }
      ready.add(s.id);
    }
    this.#stray = this.#program.arrays.length > 0 ? this.#w.local('v128') : null;
  }

  /** Computes the program for two points; `result` gives what it computed. */
  body(): void {
    if (this.#stray !== null) this.#w.v128(0).set(this.#stray);
    this.#list(this.#program.body, []);
  }

  /** Pushes one of the results after `body`, as a vector. */
  result(id: Id): void {
    this.#vector(id);
    if (this.#stray !== null) this.#w.get(this.#stray).op('v128.or'); // all bits set is a NaN
  }

  // --- values ---

  #form(id: Id): Form {
    return this.#varying.has(id) ? 'vector' : 'scalar';
  }

  #define(id: Id, type: Type, form: Form): number {
    const local = this.#w.local(form === 'vector' ? 'v128' : type === 'f64' ? 'f64' : 'i32');
    this.#locals.set(id, local);
    return local;
  }

  /** Turns the scalar on the stack into a vector. */
  #splat(type: Type): void {
    const w = this.#w;
    if (type === 'f64') return void w.op('f64x2.splat');
    const local = w.local('i32');
    w.set(local).i32(0).get(local).op('i32.sub', 'i32x4.splat');
  }

  #vector(id: Id): void {
    const w = this.#w;
    const constant = this.#constants.get(id);
    if (typeof constant === 'boolean') w.v128bits(constant ? -1 : 0, constant ? -1 : 0);
    else if (constant !== undefined) this.#constantVector(constant);
    else if (this.#splats.has(id)) w.get(this.#splats.get(id)!);
    else if (this.#form(id) === 'vector') this.#push(id);
    else {
      this.#push(id);
      this.#splat(this.#types.get(id)!);
    }
  }

  #constantVector(value: number): void {
    if (Object.is(value, 0)) this.#w.v128(0);
    else this.#w.i32(0).memory('v128.load', this.#o.layout.constant(value));
  }

  #scalar(id: Id): void {
    const constant = this.#constants.get(id);
    if (typeof constant === 'boolean') this.#w.i32(constant ? 1 : 0);
    else if (constant !== undefined) this.#w.f64(constant);
    else this.#push(id);
  }

  #value(id: Id, form: Form): void {
    if (form === 'vector') this.#vector(id);
    else this.#scalar(id);
  }

  /** Pushes a value in its own form. */
  #push(id: Id): void {
    const deferred = this.#deferred.get(id);
    if (!deferred) return void this.#w.get(this.#locals.get(id)!);
    this.#expression(deferred.s, this.#form(id));
  }

  #let(s: Let): void {
    if (this.#locals.has(s.id)) return; // `invariants` has computed it
    this.#types.set(s.id, s.type);
    if (s.op === 'const') return void this.#constants.set(s.id, s.value);
    const depth = 1 + Math.max(0, ...uses(s).map(a => this.#deferred.get(a)?.depth ?? 0));
    if (this.#singleUse.has(s.id) && depth < MAX_DEFERRED_CHAIN)
      return void this.#deferred.set(s.id, { s, depth });
    const form = this.#form(s.id);
    this.#expression(s, form);
    this.#w.set(this.#define(s.id, s.type, form));
  }

  #expression(s: Let, form: Form): void {
    const w = this.#w;
    const plain = (form === 'vector' ? VECTOR_OPS : SCALAR_OPS)[s.op];
    if (plain) {
      for (const a of uses(s)) this.#value(a, form);
      w.op(...plain);
      return;
    }
    switch (s.op) {
      case 'select': {
        const [c, a, b] = s.args;
        this.#value(a, form);
        this.#value(b, form);
        this.#value(c, form);
        w.op(form === 'vector' ? 'v128.bitselect' : 'select');
        return;
      }
      case 'number':
        this.#vector(s.args[0]);
        this.#constantVector(1);
        w.op('v128.and');
        return;
      case 'param': {
        const address = this.#o.layout.scalars.get(s.name)!;
        w.i32(0).memory('f64.load', address);
        if (s.type === 'bool') w.f64(0).op('f64.ne');
        return;
      }
      case 'coord':
        return this.#coord(s.args[0]);
      case 'element': {
        const { address, length } = this.#o.layout.arrays.get(
          Object.hasOwn(this.#program.constants, s.array) ? this.#o.prefix + s.array : s.array,
        )!;
        return this.#read(s.args[0], length, form, { address, stride: 8, lanes: 0 });
      }
      case 'load':
        return this.#read(s.args[0], this.#program.arrays[s.array], 'vector', {
          address: this.#arrays[s.array],
          stride: 16,
          lanes: 8,
        });
      case 'high':
        if (form === 'vector') break;
        this.#scalar(s.args[0]);
        w.op('i64.reinterpret_f64')
          .i64(-(2 ** 27))
          .op('i64.and', 'f64.reinterpret_i64');
        return;
      case 'call':
        for (const a of s.args) this.#vector(a);
        w.call(this.#o.callee(s.fn));
        if (form === 'scalar') w.lane('f64x2.extract_lane', 0);
        return;
    }
    // the remaining operations on bits exist for vectors only
    for (const a of uses(s)) this.#vector(a);
    this.#bits(s.op);
    if (form === 'scalar') w.lane('f64x2.extract_lane', 0);
  }

  /** Applies an intrinsic of math/kit.ts to the vectors on the stack. */
  #bits(op: string): void {
    const w = this.#w;
    switch (op) {
      case 'pow2': // the integer k + 1023 appears in the low bits of k + (2^52 + 1023)
        this.#constantVector(2 ** 52 + 1023);
        w.op('f64x2.add').i32(52).op('i64x2.shl');
        return;
      case 'exponent': // the exponent field e in the low bits of 2^52 makes the number 2^52 + e
        w.v128bits(0x7fffffff, -1).op('v128.and').i32(52).op('i64x2.shr_u');
        this.#constantVector(2 ** 52);
        w.op('v128.or');
        this.#constantVector(2 ** 52 + 1023);
        w.op('f64x2.sub');
        return;
      case 'significand':
        w.v128bits(0x000fffff, -1).op('v128.and');
        this.#constantVector(1);
        w.op('v128.or');
        return;
      case 'high':
        w.v128bits(-1, 0xf8000000).op('v128.and');
        return;
      case 'copySign': {
        w.v128bits(0x7fffffff, -1).op('v128.bitselect');
        return;
      }
      default:
        throw new Error(`no instruction for ${op}`);
    }
  }

  // --- memory ---

  #coord(index: Id): void {
    const known = this.#constants.get(index);
    const { dims } = this.#program;
    if (isInside(known, dims)) return this.#o.coordinate(known as number);
    const { layout } = this.#o;
    this.#read(index, dims, 'vector', {
      address: layout.points,
      stride: layout.batch * 8,
      lanes: 8,
      offset: this.#o.offset!,
    });
  }

  /**
   * Reads an array: element i of lane l is at the byte address + i·stride + l·lanes (+ the local `offset`). Reading
   * at an index that is no integer in [0, length) gives NaN.
   */
  #read(
    index: Id,
    length: number,
    form: Form,
    at: { address: number; stride: number; lanes: number; offset?: number },
  ): void {
    const w = this.#w;
    const known = this.#constants.get(index);
    if (typeof known === 'number' && !isInside(known, length)) {
      if (form === 'scalar') w.f64(NaN);
      else this.#constantVector(NaN);
      return;
    }
    if (typeof known === 'number') {
      w.i32(0);
      const address = at.address + known * at.stride;
      w.memory(form === 'scalar' ? 'f64.load' : at.lanes === 0 ? 'v128.load64_splat' : 'v128.load', address);
      return;
    }
    if (this.#form(index) === 'scalar') {
      const i = this.#index(index, length);
      w.open('if', form === 'scalar' ? 'f64' : 'v128');
      this.#address(i, at);
      w.memory(
        form === 'scalar' ? 'f64.load' : at.lanes === 0 ? 'v128.load64_splat' : 'v128.load',
        at.address,
      );
      w.else();
      if (form === 'scalar') w.f64(NaN);
      else this.#constantVector(NaN);
      w.close();
      return;
    }
    const { cells, valid } = this.#indices(index, length);
    w.get(cells).lane('i32x4.extract_lane', 1);
    this.#scale(at);
    w.get(cells).lane('i32x4.extract_lane', 0);
    this.#scale(at);
    w.memory('v128.load64_splat', at.address).memory('v128.load64_lane', at.address + at.lanes, 1);
    this.#constantVector(NaN);
    w.get(valid).op('v128.bitselect');
  }

  /** Pushes whether the scalar index is an integer in [0, length); returns the local that holds it as an i32. */
  #index(index: Id, length: number): number {
    const w = this.#w;
    const [x, i] = [w.local('f64'), w.local('i32')];
    this.#scalar(index);
    w.tee(x).op('i32.trunc_sat_f64_u').tee(i).op('f64.convert_i32_u').get(x).op('f64.eq');
    w.get(i).i32(length).op('i32.lt_u', 'i32.and');
    return i;
  }

  /** The indices of both lanes as integers (0 where invalid), and the mask of the lanes whose index is valid. */
  #indices(index: Id, length: number): { cells: number; valid: number } {
    const w = this.#w;
    const [x, valid, cells] = [w.local('v128'), w.local('v128'), w.local('v128')];
    this.#vector(index);
    w.tee(x).op('f64x2.trunc').get(x).op('f64x2.eq');
    w.get(x);
    this.#constantVector(length);
    w.op('f64x2.lt', 'v128.and').get(x).v128(0).op('f64x2.ge', 'v128.and').tee(valid);
    w.get(x).op('v128.and', 'i32x4.trunc_sat_f64x2_u_zero').set(cells);
    return { cells, valid };
  }

  /** Turns the integer index on the stack into a byte offset. */
  #scale({ stride, offset }: { stride: number; offset?: number }): void {
    const w = this.#w;
    w.i32(Math.log2(stride)).op('i32.shl');
    if (offset !== undefined) w.get(offset).op('i32.add');
  }

  #address(i: number, at: { stride: number; offset?: number }): void {
    this.#w.get(i);
    this.#scale(at);
  }

  #store(array: number, index: Id, value: Id): void {
    const w = this.#w;
    const address = this.#arrays[array];
    const length = this.#program.arrays[array];
    const at = { address, stride: 16, lanes: 8 };
    /** Stores the value at the address that `push` pushes, plus `offset`; lanes outside the mask keep what they had. */
    const whole = (push: () => void, offset: number) => {
      push();
      this.#vector(value);
      if (this.#mask !== null) {
        push();
        w.memory('v128.load', offset).get(this.#mask).op('v128.bitselect');
      }
      w.memory('v128.store', offset);
    };
    const markAll = () =>
      this.#markStray(() => (this.#mask === null ? w.v128bits(-1, -1) : w.get(this.#mask)));
    const known = this.#constants.get(index);
    if (typeof known === 'number')
      return isInside(known, length) ? whole(() => w.i32(0), address + known * 16) : markAll();
    if (this.#form(index) === 'scalar') {
      const i = this.#index(index, length);
      w.open('if');
      whole(() => this.#address(i, at), address);
      w.else();
      markAll();
      w.close();
      return;
    }
    const { cells, valid } = this.#indices(index, length);
    const [active, vector] = [w.local('v128'), w.local('v128')];
    w.get(valid);
    if (this.#mask !== null) w.get(this.#mask).op('v128.and');
    w.set(active);
    this.#vector(value);
    w.set(vector);
    for (const lane of [0, 1]) {
      w.get(active)
        .lane('i32x4.extract_lane', 2 * lane)
        .open('if');
      w.get(cells).lane('i32x4.extract_lane', lane);
      this.#scale(at);
      w.get(vector).memory('v128.store64_lane', address + 8 * lane, lane);
      w.close();
    }
    this.#markStray(() => {
      if (this.#mask === null) w.get(valid).op('v128.not');
      else w.get(this.#mask).get(valid).op('v128.andnot');
    });
  }

  #markStray(push: () => void): void {
    this.#w.get(this.#stray!);
    push();
    this.#w.op('v128.or').set(this.#stray!);
  }

  // --- control flow ---

  #list(list: Statement[], ends: number[], masked = false): void {
    for (const s of list) this.#statement(s, ends, masked);
  }

  /** A yield or continue at the end of this list sets the locals `ends`; if `masked`, in the lanes of the mask only. */
  #statement(s: Statement, ends: number[], masked: boolean): void {
    const w = this.#w;
    switch (s.kind) {
      case 'let':
        return this.#let(s);
      case 'store':
        return this.#store(s.array, s.index, s.value);
      case 'if':
        if (this.#varying.has(s.cond)) this.#splitIf(s);
        else this.#uniformIf(s);
        return this.#afterExits(s);
      case 'block':
        return this.#block(s);
      case 'loop':
        return this.#loop(s);
      case 'yield':
      case 'continue':
        return this.#assign(ends, s.args, masked);
      case 'break': {
        const { out, end, exit } = this.#labels.get(s.label)!;
        this.#assign(out, s.args, exit !== null);
        if (exit === null) w.br(end);
        else {
          this.#pushMask();
          w.get(exit).op('v128.or').set(exit);
        }
      }
    }
  }

  #pushMask(): void {
    if (this.#mask === null) this.#w.v128bits(-1, -1);
    else this.#w.get(this.#mask);
  }

  /** Sets locals all at once: a value may depend on the old value of another one. */
  #assign(locals: number[], args: Id[], masked: boolean): void {
    const w = this.#w;
    args.forEach((a, i) => {
      const form = this.#formOf.get(locals[i])!;
      this.#value(a, form);
      if (masked && this.#mask !== null && form === 'vector')
        w.get(locals[i]).get(this.#mask).op('v128.bitselect');
    });
    for (const l of [...locals].reverse()) w.set(l);
  }
  readonly #formOf = new Map<number, Form>();

  #outputs(values: { id: Id; type: Type }[]): number[] {
    return values.map(v => {
      this.#types.set(v.id, v.type);
      const form = this.#form(v.id);
      const local = this.#define(v.id, v.type, form);
      this.#formOf.set(local, form);
      return local;
    });
  }

  #uniformIf(s: Extract<Statement, { kind: 'if' }>): void {
    const out = this.#outputs(s.out);
    const mask = this.#mask;
    this.#scalar(s.cond);
    this.#w.open('if');
    this.#list(s.then, out);
    this.#mask = mask;
    if (s.else.length > 1 || s.else[0].kind !== 'yield' || out.length > 0) {
      this.#w.else();
      this.#list(s.else, out);
      this.#mask = mask;
    }
    this.#w.close();
  }

  #splitIf(s: Extract<Statement, { kind: 'if' }>): void {
    const w = this.#w;
    const out = this.#outputs(s.out);
    const mask = this.#mask;
    const cond = w.local('v128');
    this.#vector(s.cond);
    w.set(cond);
    const take = (wanted: boolean) => {
      w.get(cond);
      if (!wanted) w.op('v128.not');
      if (mask !== null) w.get(mask).op('v128.and');
      this.#mask = w.local('v128');
      w.set(this.#mask);
    };
    const trivial = (arm: Statement[]) => arm.length === 1;
    // an arm of one statement (a yield or a break) needs no jump around it; it goes first, and a yield sets all lanes
    const order = trivial(s.else) || !trivial(s.then) ? [false, true] : [true, false];
    order.forEach((wanted, k) => {
      const arm = wanted ? s.then : s.else;
      if (k === 0 && trivial(arm) && arm[0].kind === 'yield') return this.#list(arm, out);
      take(wanted);
      if (trivial(arm)) return this.#list(arm, out, k > 0);
      w.get(this.#mask!).op('v128.any_true');
      this.#skips.push(w.open('if'));
      this.#list(arm, out, k > 0);
      this.#skips.pop();
      w.close();
    });
    this.#mask = mask;
  }

  /** Removes the lanes that left during `s` from the mask, and jumps when none remains. */
  #afterExits(s: Statement): void {
    const exits = [...labelsLeft(s)].filter(l => this.#divergent.has(l)).map(l => this.#labels.get(l)!.exit!);
    if (exits.length === 0) return;
    const w = this.#w;
    const mask = w.local('v128');
    this.#pushMask();
    for (const e of exits) w.get(e).op('v128.andnot');
    w.tee(mask).op('v128.any_true', 'i32.eqz').brIf(this.#skips.at(-1)!);
    this.#mask = mask;
  }

  #enter(s: Extract<Statement, { label: number; out: unknown }>, end: number): Label {
    const isDivergent = this.#divergent.has(s.label);
    const label: Label = { out: this.#outputs(s.out), end, exit: isDivergent ? this.#w.local('v128') : null };
    if (label.exit !== null) {
      this.#w.v128(0).set(label.exit);
      this.#skips.push(end);
    }
    this.#labels.set(s.label, label);
    return label;
  }

  #block(s: Extract<Statement, { kind: 'block' }>): void {
    const w = this.#w;
    const mask = this.#mask;
    const end = w.open('block');
    const { out, exit } = this.#enter(s, end);
    this.#list(s.body, out, exit !== null);
    w.close();
    if (exit !== null) this.#skips.pop();
    this.#mask = mask;
    this.#afterExits(s);
  }

  #loop(s: Extract<Statement, { kind: 'loop' }>): void {
    const w = this.#w;
    const mask = this.#mask;
    const carried = this.#outputs(s.carried);
    this.#assign(carried, s.init, false);
    const end = w.open('block');
    const { exit } = this.#enter(s, end);
    // a lane that left in one turn must stay out in the next, so the mask is kept in a local across turns
    const leaving = exit !== null || [...labelsLeft(s)].some(l => this.#divergent.has(l));
    let turns = mask;
    if (leaving) {
      turns = w.local('v128');
      this.#pushMask();
      w.set(turns);
      this.#mask = turns;
    }
    const top = w.open('loop');
    this.#list(s.body, carried);
    if (s.body.at(-1)!.kind === 'continue') {
      if (leaving) w.get(this.#mask!).tee(turns!).op('v128.any_true').brIf(top);
      else w.br(top);
    }
    w.close().close();
    if (exit !== null) this.#skips.pop();
    this.#mask = mask;
    this.#afterExits(s);
  }
}
