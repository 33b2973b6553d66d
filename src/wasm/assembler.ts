/**
 * A small WebAssembly assembler, with only the instructions and sections that this library needs. It replaces binaryen,
 * which would cost 100 MB and 1.7 s, where compiling an integrand has to take milliseconds.
 */

/** Value types of WebAssembly. */
export const TYPE = { i32: 0x7f, f64: 0x7c, v128: 0x7b } as const;
export type WasmType = keyof typeof TYPE;

const VOID = 0x40;

/** Instructions without immediates. Vector instructions have the prefix byte 0xfd: 0xfdNN stands for 0xfd, 0xNN. */
export const OP = {
  unreachable: 0x00,
  else: 0x05,
  end: 0x0b,
  return: 0x0f,
  'i32.eqz': 0x45,
  'i32.eq': 0x46,
  'i32.ne': 0x47,
  'i32.lt_u': 0x49,
  'i32.gt_u': 0x4b,
  'i32.ge_u': 0x4f,
  'i32.add': 0x6a,
  'i32.sub': 0x6b,
  'i32.mul': 0x6c,
  'i32.and': 0x71,
  'i32.or': 0x72,
  'i32.shl': 0x74,
  'i32.shr_u': 0x76,
  'f64.eq': 0x61,
  'f64.ne': 0x62,
  'f64.lt': 0x63,
  'f64.le': 0x65,
  'f64.abs': 0x99,
  'f64.neg': 0x9a,
  'f64.ceil': 0x9b,
  'f64.floor': 0x9c,
  'f64.trunc': 0x9d,
  'f64.nearest': 0x9e,
  'f64.sqrt': 0x9f,
  'f64.add': 0xa0,
  'f64.sub': 0xa1,
  'f64.mul': 0xa2,
  'f64.div': 0xa3,
  'f64.min': 0xa4,
  'f64.max': 0xa5,
  'f64.copysign': 0xa6,
  'i64.and': 0x83,
  'i64.reinterpret_f64': 0xbd,
  'f64.reinterpret_i64': 0xbf,
  'f64.convert_i32_u': 0xb8,
  'i32.trunc_sat_f64_u': 0xfc03,
  select: 0x1b,
  'i32x4.lt_u': 0xfd3a,
  'i32x4.shl': 0xfdab,
  'i32x4.shr_s': 0xfdac,
  'i32x4.add': 0xfdae,
  'i32x4.mul': 0xfdb5,
  'i64x2.extmul_low_i32x4_u': 0xfdde,
  'i64x2.extmul_high_i32x4_u': 0xfddf,
  'f64x2.splat': 0xfd14,
  'i32x4.splat': 0xfd11,
  'f64x2.eq': 0xfd47,
  'f64x2.ne': 0xfd48,
  'f64x2.lt': 0xfd49,
  'f64x2.le': 0xfd4b,
  'f64x2.ge': 0xfd4c,
  'v128.not': 0xfd4d,
  'v128.and': 0xfd4e,
  'v128.andnot': 0xfd4f,
  'v128.or': 0xfd50,
  'v128.xor': 0xfd51,
  'v128.bitselect': 0xfd52,
  'v128.any_true': 0xfd53,
  'f64x2.ceil': 0xfd74,
  'f64x2.floor': 0xfd75,
  'f64x2.trunc': 0xfd7a,
  'f64x2.nearest': 0xfd94,
  'i64x2.shl': 0xfdcb,
  'i64x2.shr_u': 0xfdcd,
  'f64x2.abs': 0xfdec,
  'f64x2.neg': 0xfded,
  'f64x2.sqrt': 0xfdef,
  'f64x2.add': 0xfdf0,
  'f64x2.sub': 0xfdf1,
  'f64x2.mul': 0xfdf2,
  'f64x2.div': 0xfdf3,
  'f64x2.min': 0xfdf4,
  'f64x2.max': 0xfdf5,
  'i32x4.trunc_sat_f64x2_u_zero': 0xfdfd,
} as const;
export type Instruction = keyof typeof OP;

/** Instructions that open a construct; the type of its result follows. */
export const OPENING = { block: 0x02, loop: 0x03, if: 0x04 } as const;

/** Instructions whose operand is the index of a construct, a function or a local. */
export const INDEXED = {
  br: 0x0c,
  br_if: 0x0d,
  call: 0x10,
  'local.get': 0x20,
  'local.set': 0x21,
  'local.tee': 0x22,
} as const;

/** Instructions whose operand is a constant: a number, 16 bytes, or the 16 lanes of a shuffle. */
export const CONSTANT = {
  'i32.const': 0x41,
  'i64.const': 0x42,
  'f64.const': 0x44,
  'v128.const': 0xfd0c,
  'i8x16.shuffle': 0xfd0d,
} as const;

/** Instructions whose operand is the number of a lane. */
export const LANE = {
  'i32x4.extract_lane': 0xfd1b,
  'f64x2.extract_lane': 0xfd21,
} as const;

/** Instructions with a memory operand: the opcode, and log2 of the natural alignment in bytes. */
export const MEMORY = {
  'i32.load': [0x28, 2],
  'i32.store': [0x36, 2],
  'f64.load': [0x2b, 3],
  'f64.store': [0x39, 3],
  'v128.load': [0xfd00, 4],
  'v128.load64_splat': [0xfd0a, 3],
  'v128.store': [0xfd0b, 4],
  'v128.load64_lane': [0xfd57, 3],
  'v128.store64_lane': [0xfd5b, 3],
} as const;

export class Bytes {
  readonly data: number[] = [];

  byte(...b: number[]): this {
    this.data.push(...b);
    return this;
  }

  /** Unsigned LEB128. */
  unsigned(n: number): this {
    do {
      const low = n & 0x7f;
      n >>>= 7;
      this.data.push(n ? low | 0x80 : low);
    } while (n);
    return this;
  }

  /** Signed LEB128. */
  signed(n: number): this {
    for (;;) {
      const low = n & 0x7f;
      n >>= 7;
      const last = (n === 0 && !(low & 0x40)) || (n === -1 && !!(low & 0x40));
      this.data.push(last ? low : low | 0x80);
      if (last) return this;
    }
  }

  name(text: string): this {
    const utf8 = new TextEncoder().encode(text);
    return this.unsigned(utf8.length).append(utf8);
  }

  append(bytes: ArrayLike<number>): this {
    for (let i = 0; i < bytes.length; i++) this.data.push(bytes[i]);
    return this;
  }

  opcode(code: number): this {
    return code > 0xff ? this.byte(code >> 8).unsigned(code & 0xff) : this.byte(code);
  }
}

const scratch = new Float64Array(1);
const scratchBytes = new Uint8Array(scratch.buffer);
function f64Bytes(x: number): Uint8Array {
  scratch[0] = x;
  return scratchBytes;
}

/** The body of one function, written instruction by instruction. */
export class FunctionWriter {
  readonly params: WasmType[];
  readonly result: WasmType | null;
  readonly #locals: WasmType[] = [];
  readonly #code = new Bytes();
  /** How many constructs are open at this point. */
  #depth = 0;

  constructor(params: WasmType[], result: WasmType | null) {
    this.params = params;
    this.result = result;
  }

  /** How many locals the function has, without its params. */
  get localCount(): number {
    return this.#locals.length;
  }

  local(type: WasmType): number {
    return this.params.length + this.#locals.push(type) - 1;
  }

  op(...names: Instruction[]): this {
    for (const name of names) this.#code.opcode(OP[name]);
    return this;
  }

  get(local: number): this {
    this.#code.byte(INDEXED['local.get']).unsigned(local);
    return this;
  }

  set(local: number): this {
    this.#code.byte(INDEXED['local.set']).unsigned(local);
    return this;
  }

  tee(local: number): this {
    this.#code.byte(INDEXED['local.tee']).unsigned(local);
    return this;
  }

  i32(value: number): this {
    this.#code.byte(CONSTANT['i32.const']).signed(value);
    return this;
  }

  /** Pushes a 64-bit integer; `value` must fit in a signed 32-bit integer. */
  i64(value: number): this {
    this.#code.byte(CONSTANT['i64.const']).signed(value);
    return this;
  }

  f64(value: number): this {
    this.#code.byte(CONSTANT['f64.const']).append(f64Bytes(value));
    return this;
  }

  /** Pushes a vector both of whose lanes are the float64 `value`. */
  v128(value: number): this {
    const b = f64Bytes(value);
    this.#code.opcode(CONSTANT['v128.const']).append(b).append(b);
    return this;
  }

  /** Pushes a vector both of whose lanes are the 64 bits given as two halves. */
  v128bits(high: number, low: number): this {
    this.#code.opcode(CONSTANT['v128.const']);
    for (let lane = 0; lane < 2; lane++)
      for (const half of [low, high]) for (let s = 0; s < 32; s += 8) this.#code.byte((half >>> s) & 0xff);
    return this;
  }

  /** Picks four 32-bit lanes from the two vectors on the stack: 0 to 3 are in the first, 4 to 7 in the second. */
  shuffle32(...lanes: [number, number, number, number]): this {
    this.#code
      .opcode(CONSTANT['i8x16.shuffle'])
      .append(lanes.flatMap(l => [4 * l, 4 * l + 1, 4 * l + 2, 4 * l + 3]));
    return this;
  }

  /** Pushes a vector of four 32-bit words. */
  words(...values: [number, number, number, number]): this {
    this.#code.opcode(CONSTANT['v128.const']);
    for (const v of values) for (let s = 0; s < 32; s += 8) this.#code.byte((v >>> s) & 0xff);
    return this;
  }

  lane(op: keyof typeof LANE, lane: number): this {
    this.#code.opcode(LANE[op]).byte(lane);
    return this;
  }

  memory(op: keyof typeof MEMORY, offset: number, lane?: number): this {
    const [code, align] = MEMORY[op];
    this.#code.opcode(code).unsigned(align).unsigned(offset);
    if (lane !== undefined) this.#code.byte(lane);
    return this;
  }

  call(fn: number): this {
    this.#code.byte(INDEXED.call).unsigned(fn);
    return this;
  }

  /** Opens a construct and returns the handle by which `br` and `brIf` name it. */
  open(kind: keyof typeof OPENING, result?: WasmType): number {
    this.#code.byte(OPENING[kind], result ? TYPE[result] : VOID);
    return ++this.#depth;
  }

  else(): this {
    return this.op('else');
  }

  close(): this {
    this.#depth--;
    return this.op('end');
  }

  br(handle: number): this {
    this.#code.byte(INDEXED.br).unsigned(this.#depth - handle);
    return this;
  }

  brIf(handle: number): this {
    this.#code.byte(INDEXED.br_if).unsigned(this.#depth - handle);
    return this;
  }

  /** Runs `body` with `local` = 0, step, 2·step, … while that is below the i32 local `end`; at least once. */
  doWhileBelow(local: number, step: number, end: number, body: () => void): this {
    this.i32(0).set(local);
    const top = this.open('loop');
    body();
    this.get(local).i32(step).op('i32.add').tee(local).get(end).op('i32.lt_u').brIf(top);
    return this.close();
  }

  encode(): Bytes {
    const runs: [WasmType, number][] = [];
    for (const t of this.#locals) {
      if (runs.at(-1)?.[0] === t) runs.at(-1)![1]++;
      else runs.push([t, 1]);
    }
    const body = new Bytes().unsigned(runs.length);
    for (const [t, n] of runs) body.unsigned(n).byte(TYPE[t]);
    body.append(this.#code.data).opcode(OP.end);
    return new Bytes().unsigned(body.data.length).append(body.data);
  }
}

/** A module that imports its memory as `env.memory` and exports the functions given by name. */
export function encodeModule(
  functions: FunctionWriter[],
  exported: Record<string, number>,
): Uint8Array<ArrayBuffer> {
  const out = new Bytes().byte(0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0);
  const section = (id: number, content: Bytes) =>
    out.byte(id).unsigned(content.data.length).append(content.data);
  const types = new Bytes().unsigned(functions.length);
  for (const f of functions) {
    types
      .byte(0x60)
      .unsigned(f.params.length)
      .append(f.params.map(t => TYPE[t]));
    types.unsigned(f.result ? 1 : 0);
    if (f.result) types.byte(TYPE[f.result]);
  }
  section(1, types);
  section(2, new Bytes().unsigned(1).name('env').name('memory').byte(0x02, 0x00).unsigned(0));
  section(
    3,
    new Bytes()
      .unsigned(functions.length)
      .append(functions.map((_, i) => i).flatMap(i => new Bytes().unsigned(i).data)),
  );
  const exports = new Bytes().unsigned(Object.keys(exported).length);
  for (const [name, index] of Object.entries(exported)) exports.name(name).byte(0x00).unsigned(index);
  section(7, exports);
  const code = new Bytes().unsigned(functions.length);
  for (const f of functions) code.append(f.encode().data);
  section(10, code);
  return Uint8Array.from(out.data);
}
