/**
 * SHA-256 (FIPS 180-4). Node has it in C; a page has only `crypto.subtle`, whose answers come later, while a digest is needed at
 * once wherever a message is made. So pages compute it here.
 */

/** What makes a digest of bytes that come one list after another. */
export interface Hash {
  update(bytes: Uint8Array | string): Hash;
  digest(encoding: 'hex'): string;
}

/** Not imported: bundlers for pages follow imports. */
export const sha256 = (): Hash =>
  typeof process === 'object' && process.getBuiltinModule
    ? process.getBuiltinModule('node:crypto').createHash('sha256')
    : new PageHash();

/** The first 32 bits of the fractional parts of roots of the first primes: square roots to begin with, cube roots in each round. */
const PRIMES = Array.from({ length: 312 }, (_, n) => n).filter(
  n => n > 1 && !Array.from({ length: n - 2 }, (_, i) => i + 2).some(d => n % d === 0),
);
const fraction = (x: number) => ((x - Math.floor(x)) * 2 ** 32) | 0;
const START = Int32Array.from(PRIMES.slice(0, 8), p => fraction(Math.sqrt(p)));
const ROUNDS = Int32Array.from(PRIMES, p => fraction(Math.cbrt(p)));

const BLOCK = 64;
const rotated = (x: number, by: number) => (x >>> by) | (x << (32 - by));

/** The same in JavaScript. */
export class PageHash implements Hash {
  readonly #state = START.slice();
  readonly #schedule = new Int32Array(64);
  readonly #rest = new Uint8Array(BLOCK);
  #length = 0;

  update(data: Uint8Array | string): this {
    const bytes = typeof data === 'string' ? new TextEncoder().encode(data) : data;
    let at = 0;
    while (at < bytes.length) {
      const filled = this.#length % BLOCK;
      const count = Math.min(BLOCK - filled, bytes.length - at);
      this.#rest.set(bytes.subarray(at, at + count), filled);
      at += count;
      this.#length += count;
      if (this.#length % BLOCK === 0) this.#round();
    }
    return this;
  }

  digest(_: 'hex'): string {
    const length = this.#length;
    const padding = new Uint8Array(((119 - (length % BLOCK)) % BLOCK) + 9);
    padding[0] = 128;
    // the number of bits
    new DataView(padding.buffer).setUint32(padding.length - 8, Math.floor(length / 2 ** 29));
    new DataView(padding.buffer).setUint32(padding.length - 4, (length * 8) >>> 0);
    this.update(padding);
    return Array.from(this.#state, w => (w >>> 0).toString(16).padStart(8, '0')).join('');
  }

  #round(): void {
    const w = this.#schedule;
    const view = new DataView(this.#rest.buffer);
    for (let i = 0; i < 16; i++) w[i] = view.getInt32(4 * i);
    for (let i = 16; i < 64; i++) {
      const s0 = rotated(w[i - 15], 7) ^ rotated(w[i - 15], 18) ^ (w[i - 15] >>> 3);
      const s1 = rotated(w[i - 2], 17) ^ rotated(w[i - 2], 19) ^ (w[i - 2] >>> 10);
      w[i] = (w[i - 16] + s0 + w[i - 7] + s1) | 0;
    }
    let [a, b, c, d, e, f, g, h] = this.#state;
    for (let i = 0; i < 64; i++) {
      const s1 = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25);
      const t1 = (h + s1 + ((e & f) ^ (~e & g)) + ROUNDS[i] + w[i]) | 0;
      const s0 = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22);
      const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + t1) | 0, c, b, a, (t1 + t2) | 0];
    }
    for (const [i, x] of [a, b, c, d, e, f, g, h].entries()) this.#state[i] += x;
  }
}
