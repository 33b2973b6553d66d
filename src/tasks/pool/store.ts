/**
 * All regions that are in memory. A split puts one half in its parent's place and the other at the end. A finished region
 * is removed, and the last region moves into the gap, so that the regions always have the numbers 0 to count − 1.
 *
 * Each result of the integrand has a column of values, errors and axes. Regions are selected by their need: with one result its
 * error, with several the largest error_r / scale_r, where scales (`rank`) say how large an error of each result is. A region
 * is halved along the axis of the result that needs it most.
 */
import type { Ranges } from '../region.ts';
import { Totals } from './errors.ts';
import { emptyRegions, HALVED, type Regions } from './regions.ts';
import type { SplitTree } from './tree.ts';

/** A region is small if it was halved at least this many times more than in an even division into as many regions. */
export const DEEP = 2;
/** All bits of `settled`. */
export const SETTLED = 255;

/** What is known of one result of the integrand in each region. */
export interface Column {
  values: Float64Array;
  errors: Float64Array;
  /** The axis along which a region is to be halved for this result. */
  axes: Uint8Array;
  /**
   * Bit (axis mod 8) is set if a region has no much wider neighbour along such axes; that stays so, since regions only become
   * smaller. SETTLED: along all axes, or all wider ones are cleared.
   */
  settled: Uint8Array;
  /** 1 for a region that smaller neighbours have looked at (borders.ts) without finding anything missing. */
  cleared: Uint8Array;
}

export class RegionStore {
  readonly #dims: number;
  /** The centre of each region, and how often each of its axes was halved. */
  centres: Float64Array;
  levels: Uint8Array;
  /** One per result. */
  readonly columns: readonly Column[];
  /** See `rank`. */
  readonly #scales: Float64Array;
  #needs: Float64Array;
  /** How often each region was halved, over all axes. */
  depths: Uint16Array;
  /** The leaf of each region in the tree of halvings. */
  nodes: Uint32Array;
  count = 0;

  constructor(dims: number, results = 1, capacity = 256) {
    this.#dims = dims;
    this.centres = new Float64Array(dims * capacity);
    this.levels = new Uint8Array(dims * capacity);
    this.columns = Array.from({ length: results }, () => ({
      values: new Float64Array(capacity),
      errors: new Float64Array(capacity),
      axes: new Uint8Array(capacity),
      settled: new Uint8Array(capacity),
      cleared: new Uint8Array(capacity),
    }));
    this.#scales = new Float64Array(results).fill(1);
    this.#needs = new Float64Array(results > 1 ? capacity : 0);
    this.depths = new Uint16Array(capacity);
    this.nodes = new Uint32Array(capacity);
  }

  /** The values of the first result. */
  get values(): Float64Array {
    return this.columns[0].values;
  }

  /** The errors of the first result. */
  get errors(): Float64Array {
    return this.columns[0].errors;
  }

  /** How much each region needs to be halved. */
  get needs(): Float64Array {
    return this.columns.length > 1 ? this.#needs : this.columns[0].errors;
  }

  /** How large an error of each result is; Infinity for results that do not matter. For a single result it is always 1. */
  get scales(): Readonly<Float64Array> {
    return this.#scales;
  }

  /** Sets the scales, and with them the needs of all regions. */
  rank(scales: ArrayLike<number>): void {
    if (this.columns.length === 1) return;
    this.#scales.set(scales);
    this.renew();
  }

  /** Computes all needs from the errors, which somebody has changed. */
  renew(): void {
    if (this.columns.length === 1) return;
    this.#needs.fill(0, 0, this.count);
    this.columns.forEach(({ errors }, r) => {
      const scale = this.#scales[r];
      if (scale === Infinity) return;
      for (let i = 0; i < this.count; i++) this.#needs[i] = Math.max(this.#needs[i], errors[i] / scale);
    });
  }

  /** The need of a region of a list. */
  needOf(list: Regions, i: number): number {
    if (this.columns.length === 1) return list.errors[i];
    let need = 0;
    for (let r = 0; r < this.columns.length; r++)
      if (this.#scales[r] < Infinity)
        need = Math.max(need, list.errors[r * list.count + i] / this.#scales[r]);
    return need;
  }

  /** Sums over the regions, of each result; made anew, since sums that terms were subtracted from have rounding errors. */
  totals(): Totals[] {
    return this.columns.map(({ values, errors }) => Totals.of({ values, errors, count: this.count }));
  }

  /** Values of some regions, one result after the other. */
  valuesOf(which: ArrayLike<number>): Float64Array {
    const values = new Float64Array(this.columns.length * which.length);
    for (let r = 0; r < this.columns.length; r++) {
      const own = this.columns[r].values;
      for (let i = 0; i < which.length; i++) values[r * which.length + i] = own[which[i]];
    }
    return values;
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
      this.centres[region * this.#dims + d] = list.centres[d * list.count + i];
      this.levels[region * this.#dims + d] = level;
    }
    this.depths[region] = depth;
    this.nodes[region] = node;
    for (let r = 0, from = i; r < this.columns.length; r++, from += list.count) {
      const own = this.columns[r];
      own.settled[region] = 0;
      own.cleared[region] = 0;
      own.values[region] = list.values[from];
      own.errors[region] = list.errors[from];
      own.axes[region] = list.axes[from];
    }
    if (this.columns.length > 1) this.#needs[region] = this.needOf(list, i);
  }

  /** How often an axis of a region was halved. */
  level(region: number, axis: number): number {
    return this.levels[region * this.#dims + axis];
  }

  /** How often a region was halved that is small beside the others (DEEP). */
  get smallDepth(): number {
    return DEEP + Math.ceil(Math.log2(this.count));
  }

  /** The axis along which a region is to be halved. */
  axis(region: number): number {
    let [worst, most] = [0, -1];
    for (let r = 0; this.columns.length > 1 && r < this.columns.length; r++) {
      if (this.#scales[r] === Infinity) continue;
      const need = this.columns[r].errors[region] / this.#scales[r];
      if (need > most) [worst, most] = [r, need];
    }
    return this.columns[worst].axes[region];
  }

  /** The centre of a region along an axis. */
  centre(region: number, axis: number): number {
    return this.centres[region * this.#dims + axis];
  }

  /** All regions as a list. */
  list(dims: number): Regions {
    const { count, columns } = this;
    const list = emptyRegions(dims, count);
    list.values = new Float64Array(columns.length * count);
    list.errors = new Float64Array(columns.length * count);
    list.axes = new Uint8Array(columns.length * count);
    columns.forEach(({ values, errors, axes }, r) => {
      list.values.set(values.subarray(0, count), r * count);
      list.errors.set(errors.subarray(0, count), r * count);
      list.axes.set(axes.subarray(0, count), r * count);
    });
    for (let i = 0; i < count; i++) {
      for (let d = 0; d < dims; d++) {
        list.centres[d * count + i] = this.centres[i * dims + d];
        list.levels[d * count + i] = this.levels[i * dims + d];
      }
    }
    return list;
  }

  /** Both halves of each of these regions, cut along its own axis; siblings are neighbours in the list. */
  halves(which: ArrayLike<number>, ranges: Ranges): Regions {
    const list = emptyRegions(this.#dims, 2 * which.length);
    for (let i = 0; i < which.length; i++) {
      const region = which[i];
      const axis = this.axis(region);
      for (let d = 0; d < this.#dims; d++) {
        const split = axis === d;
        const level = this.levels[region * this.#dims + d] + (split ? 1 : 0);
        const offset = split ? ((ranges[d][1] - ranges[d][0]) / 2) * HALVED[level] : 0;
        const centre = this.centres[region * this.#dims + d];
        const at = d * list.count + 2 * i;
        list.levels[at] = list.levels[at + 1] = level;
        list.centres[at] = centre - offset;
        list.centres[at + 1] = centre + offset;
      }
    }
    return list;
  }

  /** Halves the leaf of a region in its tree, along the region's axis; returns the leaf of the lower half, the upper one is next. */
  cut(region: number, tree: SplitTree): number {
    const axis = this.axis(region);
    return tree.split(this.nodes[region], axis, this.centre(region, axis));
  }

  /** Removes the regions with the numbers `gaps`, which have to ascend. */
  remove(gaps: ArrayLike<number>): void {
    for (let g = gaps.length - 1; g >= 0; g--) {
      const [gap, last] = [gaps[g], --this.count];
      if (gap === last) continue;
      const own = last * this.#dims;
      this.centres.copyWithin(gap * this.#dims, own, own + this.#dims);
      this.levels.copyWithin(gap * this.#dims, own, own + this.#dims);
      this.depths[gap] = this.depths[last];
      this.nodes[gap] = this.nodes[last];
      for (const own of this.columns) {
        own.axes[gap] = own.axes[last];
        own.values[gap] = own.values[last];
        own.errors[gap] = own.errors[last];
        own.settled[gap] = own.settled[last];
        own.cleared[gap] = own.cleared[last];
      }
      if (this.columns.length > 1) this.#needs[gap] = this.#needs[last];
    }
  }

  #grow(): void {
    this.centres = doubled(this.centres);
    this.levels = doubled(this.levels);
    this.#needs = doubled(this.#needs);
    this.depths = doubled(this.depths);
    this.nodes = doubled(this.nodes);
    for (const own of this.columns) {
      own.axes = doubled(own.axes);
      own.values = doubled(own.values);
      own.errors = doubled(own.errors);
      own.settled = doubled(own.settled);
      own.cleared = doubled(own.cleared);
    }
  }
}

function doubled<A extends Float64Array | Uint8Array | Uint16Array | Uint32Array>(old: A): A {
  const grown = new (old.constructor as new (n: number) => A)(2 * old.length);
  grown.set(old as never);
  return grown;
}
