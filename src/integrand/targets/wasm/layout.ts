/**
 * The memory of a compiled integrand: constants (each stored twice, as a full vector), arrays of constants, params,
 * local arrays, a batch of points and its values, one row per result. All addresses are known when the module is made, so
 * each access is a single instruction.
 */
import type { Program } from '../../ir.ts';
import type { Bindings } from '../../params.ts';

/** Sizes in bytes. */
const VECTOR = 16;
const DOUBLE = 8;

/** Float64 numbers, and the address at which they are to be written. */
export interface DataSegment {
  address: number;
  data: ArrayLike<number>;
}

export class Layout {
  /** The number of points that a batch can hold; even. */
  readonly batch: number;
  #next: number;
  readonly #constants = new Map<string, number>();
  readonly arrays = new Map<string, { address: number; length: number }>();
  readonly scalars = new Map<string, number>();
  readonly points: number;
  readonly values: number;
  readonly #initial: DataSegment[] = [];

  /** `shared` has the addresses of points and values where another module of the same memory has placed them. */
  constructor(program: Program, batch: number, base: number, shared?: { points: number; values: number }) {
    this.batch = batch;
    this.#next = base;
    this.points = shared?.points ?? this.#take(program.dims * batch * DOUBLE);
    this.values = shared?.values ?? this.#take(program.results.length * batch * DOUBLE);
    for (const p of program.params) {
      if (p.kind === 'array')
        this.arrays.set(p.name, { address: this.#take(p.length * DOUBLE), length: p.length });
      else this.scalars.set(p.name, this.#take(DOUBLE));
    }
    this.addConstants(program);
  }

  /** The address of a vector both of whose lanes are `value`. */
  constant(value: number): number {
    const key = Object.is(value, -0) ? '-0' : String(value);
    let address = this.#constants.get(key);
    if (address === undefined) {
      address = this.#take(VECTOR);
      this.#constants.set(key, address);
      this.#initial.push({ address, data: [value, value] });
    }
    return address;
  }

  /** Makes room for a program's constant arrays; `prefix` keeps those of library functions apart. */
  addConstants(program: Program, prefix = ''): void {
    for (const [name, data] of Object.entries(program.constants)) {
      if (this.arrays.has(prefix + name)) continue;
      const address = this.#take(data.length * DOUBLE);
      this.arrays.set(prefix + name, { address, length: data.length });
      this.#initial.push({ address, data });
    }
  }

  /** Makes room for a local array, one vector per element, and returns its address. */
  localArray(length: number): number {
    return this.#take(length * VECTOR);
  }

  /** The first free address. */
  get end(): number {
    return this.#next;
  }

  /** The constants with their addresses. */
  initial(): readonly DataSegment[] {
    return this.#initial;
  }

  /** The params with their addresses; those that no instruction reads after inlining have none, and are left out. */
  params(params: Bindings): DataSegment[] {
    return [...params].flatMap(([name, value]) => {
      const address = typeof value === 'object' ? this.arrays.get(name)?.address : this.scalars.get(name);
      if (address === undefined) return [];
      return { address, data: typeof value === 'object' ? Float64Array.from(value) : [Number(value)] };
    });
  }

  #take(bytes: number): number {
    const address = this.#next;
    this.#next += Math.ceil(bytes / VECTOR) * VECTOR;
    return address;
  }
}
