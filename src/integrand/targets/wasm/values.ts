/**
 * Values of a program as instructions that work on two points at a time: how they are represented, computed and read from memory.
 *
 * A value is a scalar (f64, or i32 for a bool) where all lanes agree, else a vector, in which a bool is a mask of lanes. What is used
 * once is computed where it is used; all else is kept in a local.
 */
import type { FunctionWriter } from '../../../wasm/assembler.ts';
import { type Id, isInside, type Let, type Program, type Statement, type Type, uses } from '../../ir.ts';
import type { Layout } from './layout.ts';
import { SCALAR_OPS, VECTOR_OPS } from './operations.ts';
import { usedOnceInPlace } from './uses.ts';

type Store = Extract<Statement, { kind: 'store' }>;
/** How a value is represented. */
export type Form = 'scalar' | 'vector';

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

/** Where an array is: element i of lane l is at the byte address + i·stride + l·lanes (+ the local `offset`). */
interface Place {
  address: number;
  stride: number;
  lanes: number;
  offset?: number;
}

/** A value that is used once is computed where it is used; chains of such values are shorter than this. */
const MAX_DEFERRED_CHAIN = 60;

export class Values {
  readonly #program: Program;
  readonly #o: EmitterOptions;
  readonly #w: FunctionWriter;
  readonly #varying: ReadonlySet<Id>;
  readonly #types = new Map<Id, Type>();
  readonly #constants = new Map<Id, number | boolean>();
  readonly #locals = new Map<Id, number>();
  /** The locals that hold the scalars of `invariants` as vectors. */
  readonly #splats = new Map<Id, number>();
  readonly #deferred = new Map<Id, { s: Let; depth: number }>();
  readonly #singleUse: Set<Id>;
  /** The addresses of local arrays. */
  readonly #arrays: number[];

  /** `varying` are the values that may differ between lanes. */
  constructor(program: Program, options: EmitterOptions, varying: ReadonlySet<Id>) {
    this.#program = program;
    this.#o = options;
    this.#w = options.writer;
    this.#varying = varying;
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
        const local = this.define(s.id, s.type, 'scalar');
        this.#w.tee(local);
        this.#splat(s.type);
        const splat = this.#w.local('v128');
        this.#splats.set(s.id, splat);
        this.#w.set(splat);
      }
      ready.add(s.id);
    }
  }

  form(id: Id): Form {
    return this.#varying.has(id) ? 'vector' : 'scalar';
  }

  /** Makes the local of a value. */
  define(id: Id, type: Type, form = this.form(id)): number {
    this.#types.set(id, type);
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

  /** Pushes a value as a vector, or as a scalar. */
  vector(id: Id): void {
    const w = this.#w;
    const constant = this.#constants.get(id);
    if (typeof constant === 'boolean') w.v128bits(constant ? -1 : 0, constant ? -1 : 0);
    else if (constant !== undefined) this.#constantVector(constant);
    else if (this.#splats.has(id)) w.get(this.#splats.get(id)!);
    else if (this.form(id) === 'vector') this.#push(id);
    else {
      this.#push(id);
      this.#splat(this.#types.get(id)!);
    }
  }

  #constantVector(value: number): void {
    if (Object.is(value, 0)) this.#w.v128(0);
    else this.#w.i32(0).memory('v128.load', this.#o.layout.constant(value));
  }

  scalar(id: Id): void {
    const constant = this.#constants.get(id);
    if (typeof constant === 'boolean') this.#w.i32(constant ? 1 : 0);
    else if (constant !== undefined) this.#w.f64(constant);
    else this.#push(id);
  }

  value(id: Id, form: Form): void {
    if (form === 'vector') this.vector(id);
    else this.scalar(id);
  }

  /** Pushes a value in its own form. */
  #push(id: Id): void {
    const deferred = this.#deferred.get(id);
    if (!deferred) return void this.#w.get(this.#locals.get(id)!);
    this.#expression(deferred.s, this.form(id));
  }

  /** Computes a value, or puts that off until it is used. */
  let(s: Let): void {
    if (this.#locals.has(s.id)) return; // `invariants` has computed it
    this.#types.set(s.id, s.type);
    if (s.op === 'const') return void this.#constants.set(s.id, s.value);
    const depth = 1 + Math.max(0, ...uses(s).map(a => this.#deferred.get(a)?.depth ?? 0));
    if (this.#singleUse.has(s.id) && depth < MAX_DEFERRED_CHAIN)
      return void this.#deferred.set(s.id, { s, depth });
    const form = this.form(s.id);
    this.#expression(s, form);
    this.#w.set(this.define(s.id, s.type));
  }

  #expression(s: Let, form: Form): void {
    const w = this.#w;
    const plain = (form === 'vector' ? VECTOR_OPS : SCALAR_OPS)[s.op];
    if (plain) {
      for (const a of uses(s)) this.value(a, form);
      w.op(...plain);
      return;
    }
    switch (s.op) {
      case 'select': {
        const [c, a, b] = s.args;
        this.value(a, form);
        this.value(b, form);
        this.value(c, form);
        w.op(form === 'vector' ? 'v128.bitselect' : 'select');
        return;
      }
      case 'number':
        this.vector(s.args[0]);
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
        this.scalar(s.args[0]);
        w.op('i64.reinterpret_f64')
          .i64(-(2 ** 27))
          .op('i64.and', 'f64.reinterpret_i64');
        return;
      case 'call':
        for (const a of s.args) this.vector(a);
        w.call(this.#o.callee(s.fn));
        if (form === 'scalar') w.lane('f64x2.extract_lane', 0);
        return;
    }
    // the remaining operations on bits exist for vectors only
    for (const a of uses(s)) this.vector(a);
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

  /** Reads an array. An index that is no integer in [0, length) gives NaN. */
  #read(index: Id, length: number, form: Form, at: Place): void {
    const w = this.#w;
    const known = this.#constants.get(index);
    const nan = () => (form === 'scalar' ? w.f64(NaN) : this.#constantVector(NaN));
    const load = form === 'scalar' ? 'f64.load' : at.lanes === 0 ? 'v128.load64_splat' : 'v128.load';
    if (typeof known === 'number') {
      if (isInside(known, length)) w.i32(0).memory(load, at.address + known * at.stride);
      else nan();
      return;
    }
    if (this.form(index) === 'scalar') {
      const i = this.#index(index, length);
      w.open('if', form === 'scalar' ? 'f64' : 'v128');
      w.get(i);
      this.#scale(at);
      w.memory(load, at.address).else();
      nan();
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
    this.scalar(index);
    w.tee(x).op('i32.trunc_sat_f64_u').tee(i).op('f64.convert_i32_u').get(x).op('f64.eq');
    w.get(i).i32(length).op('i32.lt_u', 'i32.and');
    return i;
  }

  /** The indices of both lanes as integers (0 where invalid), and the mask of the lanes whose index is valid. */
  #indices(index: Id, length: number): { cells: number; valid: number } {
    const w = this.#w;
    const [x, valid, cells] = [w.local('v128'), w.local('v128'), w.local('v128')];
    this.vector(index);
    w.tee(x).op('f64x2.trunc').get(x).op('f64x2.eq');
    w.get(x);
    this.#constantVector(length);
    w.op('f64x2.lt', 'v128.and').get(x).v128(0).op('f64x2.ge', 'v128.and').tee(valid);
    w.get(x).op('v128.and', 'i32x4.trunc_sat_f64x2_u_zero').set(cells);
    return { cells, valid };
  }

  /** Turns the integer index on the stack into a byte offset. */
  #scale({ stride, offset }: Place): void {
    const w = this.#w;
    w.i32(Math.log2(stride)).op('i32.shl');
    if (offset !== undefined) w.get(offset).op('i32.add');
  }

  /**
   * Stores to a local array in the lanes of the mask, or in all lanes if it is null. The local `stray` collects the lanes whose index is
   * outside the array.
   */
  store({ array, index, value }: Store, mask: number | null, stray: number): void {
    const w = this.#w;
    const length = this.#program.arrays[array];
    const at: Place = { address: this.#arrays[array], stride: 16, lanes: 8 };
    const { address } = at;
    /** Stores the value at the address that `push` pushes, plus `offset`; lanes outside the mask keep what they had. */
    const whole = (push: () => void, offset: number) => {
      push();
      this.vector(value);
      if (mask !== null) {
        push();
        w.memory('v128.load', offset).get(mask).op('v128.bitselect');
      }
      w.memory('v128.store', offset);
    };
    const markStray = (push: () => void) => {
      w.get(stray);
      push();
      w.op('v128.or').set(stray);
    };
    const markAll = () => markStray(() => (mask === null ? w.v128bits(-1, -1) : w.get(mask)));
    const known = this.#constants.get(index);
    if (typeof known === 'number')
      return isInside(known, length) ? whole(() => w.i32(0), address + known * 16) : markAll();
    if (this.form(index) === 'scalar') {
      const i = this.#index(index, length);
      w.open('if');
      whole(() => {
        w.get(i);
        this.#scale(at);
      }, address);
      w.else();
      markAll();
      w.close();
      return;
    }
    const { cells, valid } = this.#indices(index, length);
    const [active, vector] = [w.local('v128'), w.local('v128')];
    w.get(valid);
    if (mask !== null) w.get(mask).op('v128.and');
    w.set(active);
    this.vector(value);
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
    markStray(() => {
      if (mask === null) w.get(valid).op('v128.not');
      else w.get(mask).get(valid).op('v128.andnot');
    });
  }
}
