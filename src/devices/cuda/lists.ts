/** The lists of a pool of regions, in a card's memory: one buffer per list; they grow together and keep their content. */
import type { FewRegions } from '../../tasks/pool/along-axes.ts';
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
const LOOK = { best: 8, around: 8, face: 8 };

type ListName = keyof ReturnType<typeof known> | keyof typeof STEP | keyof typeof LOOK;

/** Bytes of a list that are read as a whole rather than region by region. */
const MOST_READ_WHOLE = 2 ** 17;

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

  /** The regions at some of the first `all` places. */
  regionsAt(slots: Uint32Array, all: number): FewRegions {
    const [dims, count] = [this.#dims, slots.length];
    // four calls of the driver for short lists, instead of four per region
    const lists = 8 * dims * all <= MOST_READ_WHOLE ? this.#read(0, all) : null;
    const regions = {
      count,
      centres: new Float64Array(dims * count),
      levels: new Uint8Array(dims * count),
      values: new Float64Array(count),
      errors: new Float64Array(count),
    };
    slots.forEach((slot, k) => {
      const { centres, levels, values, errors } = lists ?? this.#read(slot, 1);
      const at = lists ? slot : 0;
      for (let d = 0; d < dims; d++) {
        regions.centres[d * count + k] = centres[at * dims + d];
        regions.levels[d * count + k] = levels[at * dims + d];
      }
      regions.values[k] = values[at];
      regions.errors[k] = errors[at];
    });
    return regions;
  }

  #read(first: number, count: number) {
    const dims = this.#dims;
    return {
      centres: this.read('centres', new Float64Array(dims * count), 8 * dims * first),
      levels: this.read('levels', new Uint8Array(dims * count), dims * first),
      values: this.read('values', new Float64Array(count), 8 * first),
      errors: this.read('errors', new Float64Array(count), 8 * first),
    };
  }

  write(name: ListName, data: ArrayBufferView, offset: number): void {
    this.#card.use();
    this.#card.check(
      this.#card.driver.cuMemcpyHtoD(this.address(name) + offset, data, data.byteLength),
      'writing a region',
    );
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
