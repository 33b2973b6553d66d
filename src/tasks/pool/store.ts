/**
 * All regions that are in memory. A split puts one half in its parent's place and the other at the end. A finished region
 * is removed, and the last region moves into the gap, so that the regions always have the numbers 0 to count − 1.
 */
import type { Ranges } from '../region.ts';
import { emptyRegions, type Regions } from './regions.ts';

export class RegionStore {
  readonly #dims: number;
  #centres: Float64Array;
  #levels: Uint8Array;
  #axes: Uint8Array;
  values: Float64Array;
  errors: Float64Array;
  /** How often each region was halved, over all axes. */
  depths: Uint16Array;
  /** The leaf of each region in the tree of halvings. */
  nodes: Uint32Array;
  /** 1 for a region without a much wider neighbour; that stays so, since regions only become smaller. */
  settled: Uint8Array;
  /** 1 for a region that smaller neighbours have looked at (borders.ts) without finding anything missing. */
  cleared: Uint8Array;
  count = 0;

  constructor(dims: number, capacity = 256) {
    this.#dims = dims;
    this.#centres = new Float64Array(dims * capacity);
    this.#levels = new Uint8Array(dims * capacity);
    this.#axes = new Uint8Array(capacity);
    this.values = new Float64Array(capacity);
    this.errors = new Float64Array(capacity);
    this.depths = new Uint16Array(capacity);
    this.nodes = new Uint32Array(capacity);
    this.settled = new Uint8Array(capacity);
    this.cleared = new Uint8Array(capacity);
  }

  /** Adds a region of a list; returns its number. `node` is its leaf in the tree of halvings, if there is a tree. */
  add(list: Regions, i: number, node = 0): number {
    if (this.count === this.values.length) this.#grow();
    this.put(this.count, list, i, node);
    return this.count++;
  }

  /** Puts a region of a list in the place of another. */
  put(region: number, list: Regions, i: number, node = 0): void {
    let depth = 0;
    for (let d = 0; d < this.#dims; d++) {
      const level = list.levels[d * list.count + i];
      depth += level;
      this.#centres[region * this.#dims + d] = list.centres[d * list.count + i];
      this.#levels[region * this.#dims + d] = level;
    }
    this.depths[region] = depth;
    this.nodes[region] = node;
    this.settled[region] = 0;
    this.cleared[region] = 0;
    this.values[region] = list.values[i];
    this.errors[region] = list.errors[i];
    this.#axes[region] = list.axes[i];
  }

  /** How often an axis of a region was halved. */
  level(region: number, axis: number): number {
    return this.#levels[region * this.#dims + axis];
  }

  /** The axis along which a region is to be halved. */
  axis(region: number): number {
    return this.#axes[region];
  }

  /** Sets the axis along which a region is to be halved. */
  turn(region: number, axis: number): void {
    this.#axes[region] = axis;
  }

  /** The centre of a region along an axis. */
  centre(region: number, axis: number): number {
    return this.#centres[region * this.#dims + axis];
  }

  /** All regions as a list. */
  list(dims: number): Regions {
    const { count } = this;
    const list = emptyRegions(dims, count);
    list.values = this.values;
    list.errors = this.errors;
    list.axes = this.#axes;
    for (let i = 0; i < count; i++) {
      for (let d = 0; d < dims; d++) {
        list.centres[d * count + i] = this.#centres[i * dims + d];
        list.levels[d * count + i] = this.#levels[i * dims + d];
      }
    }
    return list;
  }

  /** Both halves of each of these regions, cut along its own axis; siblings are neighbours in the list. */
  halves(which: ArrayLike<number>, ranges: Ranges): Regions {
    const list = emptyRegions(this.#dims, 2 * which.length);
    for (let i = 0; i < which.length; i++) {
      const region = which[i];
      for (let d = 0; d < this.#dims; d++) {
        const split = this.#axes[region] === d;
        const level = this.#levels[region * this.#dims + d] + (split ? 1 : 0);
        const offset = split ? ((ranges[d][1] - ranges[d][0]) / 2) * 2 ** -level : 0;
        const centre = this.#centres[region * this.#dims + d];
        const at = d * list.count + 2 * i;
        list.levels[at] = list.levels[at + 1] = level;
        list.centres[at] = centre - offset;
        list.centres[at + 1] = centre + offset;
      }
    }
    return list;
  }

  /** Removes the regions with the numbers `gaps`, which have to ascend. */
  remove(gaps: ArrayLike<number>): void {
    for (let g = gaps.length - 1; g >= 0; g--) {
      const [gap, last] = [gaps[g], --this.count];
      if (gap === last) continue;
      const own = last * this.#dims;
      this.#centres.copyWithin(gap * this.#dims, own, own + this.#dims);
      this.#levels.copyWithin(gap * this.#dims, own, own + this.#dims);
      this.#axes[gap] = this.#axes[last];
      this.values[gap] = this.values[last];
      this.errors[gap] = this.errors[last];
      this.depths[gap] = this.depths[last];
      this.nodes[gap] = this.nodes[last];
      this.settled[gap] = this.settled[last];
      this.cleared[gap] = this.cleared[last];
    }
  }

  #grow(): void {
    this.#centres = doubled(this.#centres);
    this.#levels = doubled(this.#levels);
    this.#axes = doubled(this.#axes);
    this.values = doubled(this.values);
    this.errors = doubled(this.errors);
    this.depths = doubled(this.depths);
    this.nodes = doubled(this.nodes);
    this.settled = doubled(this.settled);
    this.cleared = doubled(this.cleared);
  }
}

function doubled<A extends Float64Array | Uint8Array | Uint16Array | Uint32Array>(old: A): A {
  const grown = new (old.constructor as new (n: number) => A)(2 * old.length);
  grown.set(old as never);
  return grown;
}
