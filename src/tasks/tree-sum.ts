/**
 * Sums over a list that have the same bits however the list is cut into parts. The list is thought to be filled up with
 * zeros to a power of two and added as a binary tree: neighbours in pairs, pairs in pairs, and so on. A part of the list
 * gives the sums of the largest whole subtrees that it covers, at most 2·log₂(length) of them; the sums of a part up to the
 * end of the list count its last subtree as whole. The sum of everything is one node.
 */
export class TreeSum {
  readonly #width: number;
  readonly #length: number;
  /** Subtrees found so far, left to right: where each begins, how many items it covers, its sums. */
  readonly #at: number[] = [];
  readonly #size: number[] = [];
  readonly #sums: number[] = [];

  /** Adds rows of `width` numbers; `length` is the length of the whole list. */
  constructor(width: number, length: number) {
    this.#width = width;
    this.#length = length;
  }

  /** Adds item `at`, or the whole subtrees that another sum found from `at` up to `end`; from left to right. */
  add(at: number, rows: ArrayLike<number>, end = at + 1): void {
    const w = this.#width;
    for (let row = 0; at < end; row++) {
      const size = this.#sizeAt(at, end);
      this.#at.push(at);
      this.#size.push(size);
      for (let j = 0; j < w; j++) this.#sums.push(rows[w * row + j]);
      at += size;
      this.#join();
    }
  }

  /** The sums of the subtrees that were found. */
  get nodes(): Float64Array {
    return Float64Array.from(this.#sums);
  }

  /** Items of the subtree that begins at `at`, of a part that ends at `end`. */
  #sizeAt(at: number, end: number): number {
    const limit = end >= this.#length ? Infinity : end;
    let size = 1;
    while (at % (2 * size) === 0 && at + 2 * size <= limit && size < this.#length) size *= 2;
    return size;
  }

  /** Joins the last two subtrees as long as they are the halves of a larger one; one at the end of the list is filled up. */
  #join(): void {
    const [at, size, sums, w] = [this.#at, this.#size, this.#sums, this.#width];
    for (let last = at.length - 1; last >= 0; last--) {
      if (at[last] + size[last] >= this.#length) size[last] = this.#sizeAt(at[last], this.#length);
      if (last === 0 || size[last] !== size[last - 1] || at[last - 1] % (2 * size[last]) !== 0) return;
      at.pop();
      size[last - 1] += size.pop()!;
      const right = sums.splice(w * last, w);
      for (let j = 0; j < w; j++) sums[w * (last - 1) + j] += right[j];
    }
  }
}
