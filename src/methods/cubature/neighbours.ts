/**
 * Which region lies behind each face of some regions. Nobody keeps the tree of halvings; but at the middle of the box, along
 * some axis, no region is cut, and the same holds in both halves. So all regions and the points just behind the faces
 * are divided at such planes together, until a single region is left: the home of the points that came with it.
 * Halves without points are not looked at, so this takes little more than the depth of the regions times their faces.
 */
import type { Ranges } from './regions.ts';
import type { RegionStore } from './store.ts';

/** How far beyond a face, and beside its middle where neighbours may meet, a point is taken; in half-widths. */
const BESIDE = 0.06; // not a fraction of two: no region ends there

export class Neighbours {
  readonly faces: number;
  /** The region behind each face, −1 on the border of the domain. */
  readonly homes: Int32Array;
  readonly #store: RegionStore;
  readonly #dims: number;
  readonly #of: Uint32Array;
  /** The axis of each face, and whether it is the upper one. */
  readonly #axes: Uint8Array;
  readonly #upper: Uint8Array;
  /** Half-widths of each axis at each level. */
  readonly #halves: Float64Array[];
  /** The box that is being divided, and how often its axes were. */
  readonly #low: Float64Array;
  readonly #high: Float64Array;
  readonly #levels: Uint8Array;
  readonly #regions: Uint32Array;
  readonly #points: Uint32Array;

  constructor(store: RegionStore, ranges: Ranges, of: Uint32Array) {
    this.#store = store;
    this.#dims = ranges.length;
    const sides = 2 * this.#dims;
    this.faces = sides * of.length;
    this.#of = Uint32Array.from({ length: this.faces }, (_, face) => of[Math.floor(face / sides)]);
    this.#axes = Uint8Array.from({ length: this.faces }, (_, face) => (face % sides) >> 1);
    this.#upper = Uint8Array.from({ length: this.faces }, (_, face) => face & 1);
    this.homes = new Int32Array(this.faces).fill(-1);
    this.#halves = ranges.map(([low, high]) =>
      Float64Array.from({ length: 256 }, (_, level) => ((high - low) / 2) * 2 ** -level),
    );
    this.#low = Float64Array.from(ranges, r => r[0]);
    this.#high = Float64Array.from(ranges, r => r[1]);
    this.#levels = new Uint8Array(this.#dims);
    this.#regions = Uint32Array.from({ length: store.count }, (_, i) => i);
    this.#points = new Uint32Array(this.faces);
    let inside = 0;
    for (let face = 0; face < this.faces; face++) if (this.#isInside(face)) this.#points[inside++] = face;
    this.#divide(0, store.count, 0, inside);
  }

  /** The region that a face belongs to. */
  region(face: number): number {
    return this.#of[face];
  }

  /** Where along an axis a face looks: −1, 0 or 1. */
  sign(face: number, axis: number): number {
    return this.#axes[face] === axis ? 2 * this.#upper[face] - 1 : 0;
  }

  /** The point behind a face, along an axis. */
  #coordinate(face: number, axis: number): number {
    const region = this.#of[face];
    const sign = this.sign(face, axis);
    const offset = sign === 0 ? BESIDE : sign * (1 + BESIDE);
    return this.#store.centre(region, axis) + offset * this.#halves[axis][this.#store.level(region, axis)];
  }

  #isInside(face: number): boolean {
    const axis = this.#axes[face];
    const x = this.#coordinate(face, axis);
    return (x - this.#low[axis]) * (x - this.#high[axis]) < 0;
  }

  /** Regions and points from one number of their lists to another. */
  #divide(regions: number, regionsEnd: number, points: number, pointsEnd: number): void {
    if (points === pointsEnd || regions === regionsEnd) return;
    const axis = this.#axisOf(regions, regionsEnd);
    if (axis < 0) {
      for (let i = points; i < pointsEnd; i++) this.homes[this.#points[i]] = this.#regions[regions];
      return;
    }
    const [low, high] = [this.#low[axis], this.#high[axis]];
    const middle = low + (high - low) / 2;
    const turned = high < low; // a range may run backwards
    const middleRegion = partition(
      this.#regions,
      regions,
      regionsEnd,
      r => this.#store.centre(r, axis) < middle !== turned,
    );
    const middlePoint = partition(
      this.#points,
      points,
      pointsEnd,
      p => this.#coordinate(p, axis) < middle !== turned,
    );
    this.#levels[axis]++;
    this.#high[axis] = middle;
    this.#divide(regions, middleRegion, points, middlePoint);
    this.#high[axis] = high;
    this.#low[axis] = middle;
    this.#divide(middleRegion, regionsEnd, middlePoint, pointsEnd);
    this.#low[axis] = low;
    this.#levels[axis]--;
  }

  /** An axis at whose middle none of these regions is cut; −1 when one region is all there is. */
  #axisOf(start: number, end: number): number {
    for (let d = 0; d < this.#dims; d++) {
      let i = start;
      while (i < end && this.#store.level(this.#regions[i], d) > this.#levels[d]) i++;
      if (i === end) return d;
    }
    return -1;
  }
}

/** Moves those that `first` holds for to the front of a part of a list; returns where the others begin. */
function partition(list: Uint32Array, start: number, end: number, first: (x: number) => boolean): number {
  let [i, j] = [start, end];
  while (i < j) {
    if (first(list[i])) i++;
    else {
      const swapped = list[--j];
      list[j] = list[i];
      list[i] = swapped;
    }
  }
  return i;
}
