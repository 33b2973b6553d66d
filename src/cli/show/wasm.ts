/** A module of our own assembler as readable text: what src/wasm/assembler.ts can write, and nothing else. */
import { OP } from '../../wasm/assembler.ts';

const TYPES: Record<number, string> = { 127: 'i32', 124: 'f64', 123: 'v128' };
const PLAIN = new Map<number, string>(Object.entries(OP).map(([name, code]) => [code, name]));
const OPENS: Record<number, string> = { 2: 'block', 3: 'loop', 4: 'if' };
/** Instructions with an index behind them. */
const INDEXED: Record<number, string> = {
  12: 'br',
  13: 'br_if',
  16: 'call',
  32: 'local.get',
  33: 'local.set',
  34: 'local.tee',
};
const MEMORY: Record<number, string> = {
  40: 'i32.load',
  54: 'i32.store',
  43: 'f64.load',
  57: 'f64.store',
  64768: 'v128.load',
  64778: 'v128.load64_splat',
  64779: 'v128.store',
  64855: 'v128.load64_lane',
  64859: 'v128.store64_lane',
};
const LANES: Record<number, string> = {
  64795: 'i32x4.extract_lane',
  64797: 'i64x2.extract_lane',
  64801: 'f64x2.extract_lane',
  64802: 'f64x2.replace_lane',
};

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
  const params = r.list(() => TYPES[r.byte()]);
  const results = r.list(() => TYPES[r.byte()]);
  const part = (name: string, types: string[]) => (types.length > 0 ? ` (${name} ${types.join(' ')})` : '');
  return part('param', params) + part('result', results);
}

function body(r: Reader): string {
  const end = r.unsigned() + r.at;
  const locals = r.list(() => `${r.unsigned()} ${TYPES[r.byte()]}`);
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
  const plain = PLAIN.get(code);
  if (plain !== undefined) return plain;
  if (code in OPENS) {
    const type = TYPES[r.byte()];
    return type ? `${OPENS[code]} (result ${type})` : OPENS[code];
  }
  if (code in INDEXED) return `${INDEXED[code]} ${r.unsigned()}`;
  if (code in LANES) return `${LANES[code]} ${r.byte()}`;
  if (code in MEMORY) {
    r.unsigned(); // the alignment
    const text = `${MEMORY[code]} offset=${r.unsigned()}`;
    return text.includes('_lane') ? `${text} ${r.byte()}` : text;
  }
  switch (code) {
    case 0x41:
      return `i32.const ${r.signed()}`;
    case 0x42:
      return `i64.const ${r.signed()}`;
    case 0x44:
      return `f64.const ${r.f64()}`;
    case 0xfd0c:
      return `v128.const f64x2 ${r.f64()} ${r.f64()}`;
    case 0xfd0d:
      return `i8x16.shuffle ${Array.from({ length: 16 }, () => r.byte()).join(' ')}`;
    default:
      throw new Error(
        `show/wasm.ts knows no instruction 0x${code.toString(16)}; add it as the assembler has it`,
      );
  }
}
