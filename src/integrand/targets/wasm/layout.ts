/**
 * Where a compiled integrand keeps its things in memory: constants (each twice, a full vector), arrays of
 * constants, params, local arrays, a batch of points, its values. All addresses are known when the module
 * is made, so each access is a single instruction.
 */
import type { Program } from '../../ir.ts';
import type { Bindings } from '../../params.ts';

const VECTOR = 16;
const DOUBLE = 8;

/** Float64 numbers for an address. */
export interface Numbers {
  address: number;
  data: ArrayLike<number>;
}

export class Layout {
  /** Points a batch can hold; even. */
  readonly batch: number;
  #next: number;
  readonly #constants = new Map<string, number>();
  readonly arrays = new Map<string, { address: number; length: number }>();
  readonly scalars = new Map<string, number>();
  readonly points: number;
  readonly values: number;
  readonly #initial: Numbers[] = [];

  /** `shared`: where somebody else already has the points and the values. */
  constructor(program: Program, batch: number, base: number, shared?: { points: number; values: number }) {
    this.batch = batch;
    this.#next = base;
    this.points = shared?.points ?? this.#take(program.dims * batch * DOUBLE);
    this.values = shared?.values ?? this.#take(batch * DOUBLE);
    for (const p of program.params) {
      if (p.kind === 'array')
        this.arrays.set(p.name, { address: this.#take(p.length * DOUBLE), length: p.length });
      else this.scalars.set(p.name, this.#take(DOUBLE));
    }
    this.addConstants(program);
  }

  /** The address of a vector with both lanes `value`. */
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

  /** Makes room for a program's constant arrays; those of library functions are added under their own names. */
  addConstants(program: Program, prefix = ''): void {
    for (const [name, data] of Object.entries(program.constants)) {
      if (this.arrays.has(prefix + name)) continue;
      const address = this.#take(data.length * DOUBLE);
      this.arrays.set(prefix + name, { address, length: data.length });
      this.#initial.push({ address, data });
    }
  }

  /** Room for a local array: a vector an element. */
  localArray(length: number): number {
    return this.#take(length * VECTOR);
  }

  /** The first free address. */
  get end(): number {
    return this.#next;
  }

  /** The constants, and where they belong. */
  initial(): readonly Numbers[] {
    return this.#initial;
  }

  /** Params, and where they belong. */
  params(params: Bindings): Numbers[] {
    return [...params].map(([name, value]) =>
      typeof value === 'object'
        ? { address: this.arrays.get(name)!.address, data: Float64Array.from(value) }
        : { address: this.scalars.get(name)!, data: [Number(value)] },
    );
  }

  #take(bytes: number): number {
    const address = this.#next;
    this.#next += Math.ceil(bytes / VECTOR) * VECTOR;
    return address;
  }
}
