/**
 * Structs that kernels read, declared once: the C text in front of a kernel and the bytes that it is given come from the
 * same declaration, with the padding that a C compiler puts between members.
 */

/** Types of members; a pointer type is the type that it points to, with a star. */
type Scalar = 'double' | 'int' | 'u32' | 'u64';
type List = readonly [Scalar, length: number | 'DIMS'];
type Declared = Scalar | `${string}*` | Struct<string> | List;

const SIZES: Record<string, number> = { double: 8, int: 4, u32: 4, u64: 8 };

export class Struct<N extends string> {
  readonly name: string;
  readonly #members: Record<N, Declared>;
  readonly #layouts = new Map<number, Layout<N>>();

  constructor(name: string, members: Record<N, Declared>) {
    this.name = name;
    this.#members = members;
  }

  /** The C declaration. */
  get text(): string {
    const lines = Object.entries<Declared>(this.#members).map(([name, type]) => {
      if (typeof type === 'string') return `  ${type} ${name};`;
      if (type instanceof Struct) return `  ${type.name} ${name};`;
      return `  ${type[0]} ${name}[${type[1]}];`;
    });
    return `struct ${this.name} {\n${lines.join('\n')}\n};\n`;
  }

  /** The layout of the members for an integrand of `dims` dimensions. */
  layout(dims: number): Layout<N> {
    const layout = this.#layouts.get(dims) ?? this.#lay(dims);
    this.#layouts.set(dims, layout);
    return layout;
  }

  #lay(dims: number): Layout<N> {
    const places = {} as Record<N, Place>;
    let end = 0;
    for (const [name, type] of Object.entries<Declared>(this.#members) as [N, Declared][]) {
      const nested = type instanceof Struct ? type.layout(dims) : null;
      const [scalar, many] = typeof type === 'string' ? [type, 1] : nested ? ['struct', 1] : (type as List);
      const size = nested?.size ?? (scalar.endsWith('*') ? 8 : SIZES[scalar]);
      const length = many === 'DIMS' ? dims : many;
      const at = Math.ceil(end / Math.min(8, size)) * Math.min(8, size);
      places[name] = { at, size, length, type: scalar };
      end = at + size * length;
    }
    return new Layout(places, Math.ceil(end / 8) * 8);
  }
}

interface Place {
  at: number;
  size: number;
  length: number;
  type: string;
}

/** A number, several of them, a buffer for a pointer, or the bytes of a struct. */
export type MemberValue = number | readonly number[] | { readonly address: number } | Uint8Array;

export class Layout<N extends string> {
  readonly size: number;
  readonly #places: Record<N, Place>;
  /** Functions that write a member; made once, since structs are packed for every launch. */
  readonly #writers: Record<string, (view: DataView, value: MemberValue) => void>;
  readonly #readers: { name: N; at: number; read: (view: DataView, at: number) => number }[];

  constructor(places: Record<N, Place>, size: number) {
    this.#places = places;
    this.size = size;
    this.#writers = Object.fromEntries(
      Object.entries<Place>(places).map(([name, place]) => [name, writer(place)]),
    );
    this.#readers = (Object.entries<Place>(places) as [N, Place][]).map(([name, { at, type }]) => ({
      name,
      at,
      read: reader(type),
    }));
  }

  /** All members as bytes; those that are not given are 0. */
  pack(values: Partial<Record<N, MemberValue>>): Uint8Array {
    const bytes = new Uint8Array(this.size);
    this.set(bytes, values);
    return bytes;
  }

  /** Writes some members into bytes that were packed before. */
  set(bytes: Uint8Array, values: Partial<Record<N, MemberValue>>): void {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (const name in values) this.#writers[name](view, values[name]!);
  }

  /** Writes a number into bytes that were packed before: for what changes from launch to launch. */
  put(view: DataView, name: N, value: number): void {
    this.#writers[name](view, value);
  }

  /** All members as numbers, of a struct that a kernel wrote. */
  unpack(bytes: Uint8Array): Record<N, number> {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const values = {} as Record<N, number>;
    for (const { name, read, at } of this.#readers) values[name] = read(view, at);
    return values;
  }

  /** The byte offset of a member. */
  offset(name: N): number {
    return this.#places[name].at;
  }
}

function writer({ at, size, type }: Place): (view: DataView, value: MemberValue) => void {
  const one = oneWriter(type);
  return (view, value) => {
    if (typeof value === 'number') one(view, at, value);
    else if (value instanceof Uint8Array) new Uint8Array(view.buffer, view.byteOffset).set(value, at);
    else if ('address' in value) one(view, at, value.address);
    else for (let i = 0; i < value.length; i++) one(view, at + i * size, value[i]);
  };
}

function reader(type: string): (view: DataView, at: number) => number {
  if (type === 'double') return (view, at) => view.getFloat64(at, true);
  if (type === 'int') return (view, at) => view.getInt32(at, true);
  if (type === 'u32') return (view, at) => view.getUint32(at, true);
  return (view, at) => view.getUint32(at, true) + view.getUint32(at + 4, true) * 2 ** 32;
}

function oneWriter(type: string): (view: DataView, at: number, value: number) => void {
  if (type === 'double') return (view, at, value) => view.setFloat64(at, value, true);
  if (type === 'int') return (view, at, value) => view.setInt32(at, value, true);
  if (type === 'u32') return (view, at, value) => view.setUint32(at, value, true);
  return (view, at, value) => {
    // not by way of a bigint, which takes ten times as long
    view.setUint32(at, value % 2 ** 32, true);
    view.setUint32(at + 4, value / 2 ** 32, true);
  };
}
