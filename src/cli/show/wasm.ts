/** A WebAssembly module as readable text: what src/wasm/assembler.ts can write, and nothing else. */
import { CONSTANT, INDEXED, LANE, MEMORY, OP, OPENING, TYPE } from '../../wasm/assembler.ts';

/** The names of a table of the assembler, by their codes. */
const namesOf = (table: Record<string, number | readonly [number, number]>): Map<number, string> =>
  new Map(Object.entries(table).map(([name, code]) => [typeof code === 'number' ? code : code[0], name]));

const TYPES = namesOf(TYPE);
/** How the operands of an instruction are shown, for each table. */
const TABLES: [Map<number, string>, (name: string, r: Reader) => string][] = [
  [namesOf(OP), name => name],
  [namesOf(OPENING), opening],
  [namesOf(INDEXED), (name, r) => `${name} ${r.unsigned()}`],
  [namesOf(LANE), (name, r) => `${name} ${r.byte()}`],
  [namesOf(MEMORY), access],
  [namesOf(CONSTANT), constant],
];

class Reader {
  readonly #bytes: Uint8Array;
  at: number;

  constructor(bytes: Uint8Array, at = 0) {
    this.#bytes = bytes;
    this.at = at;
  }

  byte(): number {
    return this.#bytes[this.at++];
  }

  unsigned(): number {
    let n = 0;
    for (let shift = 0; ; shift += 7) {
      const b = this.byte();
      n += (b & 0x7f) * 2 ** shift;
      if (b < 0x80) return n;
    }
  }

  signed(): number {
    let n = 0;
    for (let shift = 0; ; shift += 7) {
      const b = this.byte();
      n += (b & 0x7f) * 2 ** shift;
      if (b < 0x80) return b & 0x40 ? n - 2 ** (shift + 7) : n;
    }
  }

  f64(): number {
    const at = this.at;
    this.at += 8;
    return new DataView(this.#bytes.buffer, this.#bytes.byteOffset + at, 8).getFloat64(0, true);
  }

  list<T>(item: () => T): T[] {
    return Array.from({ length: this.unsigned() }, item);
  }
}

export function wasmText(bytes: Uint8Array): string {
  const r = new Reader(bytes, 8);
  let signatures: string[] = [];
  const functions: string[] = [];
  while (r.at < bytes.length) {
    const section = r.byte();
    const end = r.unsigned() + r.at;
    if (section === 1) signatures = r.list(() => signature(r));
    if (section === 10) functions.push(...r.list(() => body(r)));
    r.at = end;
  }
  return functions.map((text, i) => `(func ${i}${signatures[i]}\n${text})`).join('\n');
}

function signature(r: Reader): string {
  r.byte();
  const params = r.list(() => TYPES.get(r.byte())!);
  const results = r.list(() => TYPES.get(r.byte())!);
  const part = (name: string, types: string[]) => (types.length > 0 ? ` (${name} ${types.join(' ')})` : '');
  return part('param', params) + part('result', results);
}

function body(r: Reader): string {
  const end = r.unsigned() + r.at;
  const locals = r.list(() => `${r.unsigned()} ${TYPES.get(r.byte())}`);
  const lines = locals.length > 0 ? [`  (local ${locals.join(', ')})`] : [];
  let depth = 1;
  while (r.at < end - 1) {
    const text = instruction(r);
    if (text === 'end' || text === 'else') depth--;
    lines.push('  '.repeat(depth) + text);
    if (text === 'else' || /^(block|loop|if)\b/.test(text)) depth++;
  }
  r.at = end;
  return lines.join('\n');
}

function instruction(r: Reader): string {
  const first = r.byte();
  const code = first === 0xfd || first === 0xfc ? first * 256 + r.unsigned() : first;
  for (const [names, show] of TABLES) {
    const name = names.get(code);
    if (name !== undefined) return show(name, r);
  }
  throw new Error(`the assembler has no instruction 0x${code.toString(16)}`);
}

function opening(name: string, r: Reader): string {
  const type = TYPES.get(r.byte());
  return type ? `${name} (result ${type})` : name;
}

function access(name: string, r: Reader): string {
  r.unsigned(); // the alignment
  const text = `${name} offset=${r.unsigned()}`;
  return name.includes('_lane') ? `${text} ${r.byte()}` : text;
}

function constant(name: string, r: Reader): string {
  if (name === 'i8x16.shuffle') return `${name} ${Array.from({ length: 16 }, () => r.byte()).join(' ')}`;
  if (name === 'v128.const') return `${name} f64x2 ${r.f64()} ${r.f64()}`;
  return `${name} ${name === 'f64.const' ? r.f64() : r.signed()}`;
}
