/** A heap of region numbers of a store: the region with the largest need is on top; of equal needs, the largest region. */
import type { RegionStore } from '../../tasks/pool/store.ts';

export class Heap {
  readonly #store: RegionStore;
  readonly #items: number[] = [];

  constructor(store: RegionStore) {
    this.#store = store;
  }

  get size(): number {
    return this.#items.length;
  }

  get items(): readonly number[] {
    return this.#items;
  }

  push(region: number): void {
    const items = this.#items;
    let i = items.push(region) - 1;
    while (i > 0) {
      const above = (i - 1) >> 1;
      if (!this.#before(items[i], items[above])) break;
      [items[i], items[above]] = [items[above], items[i]];
      i = above;
    }
  }

  pop(): number {
    const items = this.#items;
    const top = items[0];
    const last = items.pop()!;
    if (items.length === 0) return top;
    items[0] = last;
    for (let i = 0; ; ) {
      const [left, right] = [2 * i + 1, 2 * i + 2];
      let first = i;
      if (left < items.length && this.#before(items[left], items[first])) first = left;
      if (right < items.length && this.#before(items[right], items[first])) first = right;
      if (first === i) return top;
      [items[i], items[first]] = [items[first], items[i]];
      i = first;
    }
  }

  #before(a: number, b: number): boolean {
    const { needs, depths } = this.#store;
    if (needs[a] !== needs[b]) return needs[a] > needs[b];
    return depths[a] < depths[b] || (depths[a] === depths[b] && a < b);
  }
}
