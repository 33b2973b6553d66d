/** The bytes of a C struct, member by member, with the padding that a C compiler puts between them. */
export class Struct {
  #bytes = new Uint8Array(256);
  #view = new DataView(this.#bytes.buffer);
  #size = 0;

  u32(...values: number[]): this {
    for (const v of values) {
      const at = this.#place(4);
      this.#view.setUint32(at, v, true);
    }
    return this;
  }

  i32(value: number): this {
    const at = this.#place(4);
    this.#view.setInt32(at, value, true);
    return this;
  }

  u64(...values: number[]): this {
    // not by way of a bigint, which takes ten times as long
    for (const v of values) {
      const at = this.#place(8);
      this.#view.setUint32(at, v % 2 ** 32, true);
      this.#view.setUint32(at + 4, v / 2 ** 32, true);
    }
    return this;
  }

  f64(...values: number[]): this {
    for (const v of values) {
      const at = this.#place(8);
      this.#view.setFloat64(at, v, true);
    }
    return this;
  }

  /** All of it, as long as its alignment of 8 makes it. */
  get bytes(): Uint8Array {
    return this.#bytes.slice(0, Math.ceil(this.#size / 8) * 8);
  }

  /** Where the next member goes; the view may be another one after it. */
  #place(size: number): number {
    const at = Math.ceil(this.#size / size) * size;
    this.#size = at + size;
    if (this.#size + 8 > this.#bytes.length) {
      const grown = new Uint8Array(2 * this.#bytes.length);
      grown.set(this.#bytes);
      this.#bytes = grown;
      this.#view = new DataView(grown.buffer);
    }
    return at;
  }
}
