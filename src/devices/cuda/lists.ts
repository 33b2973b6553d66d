/** The lists of a pool of regions, in a card's memory: one buffer per list; they grow together and keep their content. */
import type { Buffer, Card } from './card.ts';

/** Bytes per region in each list: its data, the tree of halvings (two nodes per region), and the selection. */
const known = (dims: number) => ({
  centres: 8 * dims,
  levels: dims,
  values: 8,
  errors: 8,
  axes: 1,
  flags: 1,
  depths: 2,
  nodeOf: 4,
  tree: 16,
  list: 4,
});
const STEP = { parentValues: 8, parentErrors: 8 };
const LOOK = { best: 8, around: 16, face: 8 };

type ListName = keyof ReturnType<typeof known> | keyof typeof STEP | keyof typeof LOOK;

export class PoolLists {
  readonly #card: Card;
  readonly #dims: number;
  readonly #lists = new Map<string, Buffer>();
  /** The number of regions that there is room for. */
  room = 0;

  constructor(card: Card, dims: number) {
    this.#card = card;
    this.#dims = dims;
  }

  /** Bytes per region in all lists together. */
  get bytes(): number {
    const sizes = { ...known(this.#dims), ...STEP, ...LOOK };
    return Object.values(sizes).reduce((a, b) => a + b, 0);
  }

  address(name: ListName): number {
    return this.#lists.get(name)?.address ?? 0;
  }

  /** Makes room for this many regions; the lists keep their content. */
  grow(room: number): void {
    this.#card.use();
    const old = this.room;
    this.room = room;
    for (const [name, bytes] of Object.entries(known(this.#dims))) {
      const before = this.#lists.get(name);
      if (before && before.size >= bytes * room) continue; // a buffer of an earlier run
      const list = this.#fresh(name, bytes * room);
      if (!before) continue;
      this.#card.check(
        this.#card.driver.cuMemcpyDtoD(list.address, before.address, bytes * old),
        'moving regions',
      );
      this.#card.cache.give(`pool ${name}`, before);
    }
    for (const [name, bytes] of Object.entries(STEP))
      (this.#lists.get(name) ?? this.#fresh(name, 0)).reserve(bytes * room);
  }

  /** Fills a list for a look across borders: every byte of it becomes `value`. */
  filled(name: keyof typeof LOOK, value: number, count: number): void {
    this.#card.use();
    const { address } = (this.#lists.get(name) ?? this.#fresh(name, 0)).reserve(LOOK[name] * this.room);
    this.#card.check(this.#card.driver.cuMemsetD8(address, value, LOOK[name] * count), 'clearing memory');
  }

  read<A extends ArrayBufferView>(name: ListName, into: A, offset: number): A {
    const from = this.address(name) + offset;
    this.#card.use();
    this.#card.check(this.#card.driver.cuMemcpyDtoH(into, from, into.byteLength), 'reading a region');
    return into;
  }

  close(): void {
    for (const [name, list] of this.#lists) this.#card.cache.give(`pool ${name}`, list);
    this.#lists.clear();
  }

  #fresh(name: string, bytes: number): Buffer {
    const list = this.#card.cache.take(`pool ${name}`) ?? this.#card.buffer();
    this.#lists.set(name, list);
    return list.reserve(bytes);
  }
}
