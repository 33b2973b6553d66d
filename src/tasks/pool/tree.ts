/**
 * The tree of halvings, which finds the regions behind the faces of a region. The way leads up from the region to the
 * first halving along the face's axis that has the region on its near side, then down on the far side, always towards the
 * face and, along the other axes, towards the region. Neighbours mostly share an ancestor a few levels up, so the way is
 * short.
 */
import type { Ranges } from '../region.ts';

export class SplitTree {
  #parent = new Uint32Array(512);
  /** The first of a node's two children; 0 for a leaf. */
  #child = new Uint32Array(512);
  #axis = new Uint8Array(512);
  /** The coordinate at which the node was cut, along its axis. */
  #plane = new Float64Array(512);
  /** For each face of a leaf, the point that the way down leads to. */
  #towards = new Float64Array(0);
  /** Faces whose way down has not come to a leaf. */
  readonly #open = new Uint8Array(256);
  #size = 1;

  /** Makes the tree of a box whose every axis was halved `level` times; returns its leaves in the order of `uniformSplit`. */
  plant(ranges: Ranges, level: number): Uint32Array {
    const leaves = new Uint32Array(2 ** (level * ranges.length));
    const cut = (node: number, step: number, number: number, low: number, high: number): void => {
      const axis = Math.floor(step / Math.max(1, level));
      if (step === level * ranges.length) {
        leaves[number] = node;
        return;
      }
      const middle = low + (high - low) / 2;
      const first = this.split(node, axis, middle);
      const weight = 2 ** (level * axis + level - 1 - (step % level));
      const [nextLow, nextHigh] = ranges[Math.floor((step + 1) / level)] ?? [0, 0];
      const same = (step + 1) % level !== 0;
      cut(first, step + 1, number, same ? low : nextLow, same ? middle : nextHigh);
      cut(first + 1, step + 1, number + weight, same ? middle : nextLow, same ? high : nextHigh);
    };
    cut(0, 0, 0, ...ranges[0]);
    return leaves;
  }

  get size(): number {
    return this.#size;
  }

  /** Halves a leaf; returns the number of the half with the lower centre; the other half has the next number. */
  split(leaf: number, axis: number, plane: number): number {
    if (this.#size + 2 > this.#parent.length) this.#grow();
    const first = this.#size;
    this.#size += 2;
    this.#child[leaf] = first;
    this.#axis[leaf] = axis;
    this.#plane[leaf] = plane;
    this.#parent[first] = this.#parent[first + 1] = leaf;
    return first;
  }

  /**
   * Writes into `found` the leaves behind all faces of a leaf: entry 2d is for the lower face of axis d, 2d + 1 for the
   * upper one; −1 at the border of the domain. `beside` is a point of the region, slightly off its middle, because leaves
   * may meet at the middle of a face. Axes whose bits (bit axis mod 8) are in `skipped` are left out: their entries are −1.
   */
  behind(leaf: number, beside: Float64Array, found: Int32Array, skipped = 0): void {
    const [parent, child, cut, plane] = [this.#parent, this.#child, this.#axis, this.#plane];
    const dims = beside.length;
    if (this.#towards.length !== 2 * dims * dims) this.#towards = new Float64Array(2 * dims * dims);
    const towards = this.#towards;
    const open = this.#open;
    found.fill(-1);
    // one way up serves all faces: the first sibling behind each face is noted
    let missing = 0;
    for (let d = 0; d < dims; d++) missing += skipped & (1 << (d & 7)) ? 0 : 2;
    for (let node = leaf; missing > 0 && node !== 0; node = parent[node]) {
      const axis = cut[parent[node]];
      const face = 2 * axis + (node & 1); // lower halves have odd numbers
      if (found[face] >= 0 || skipped & (1 << (axis & 7))) continue;
      found[face] = node & 1 ? node + 1 : node - 1;
      missing--;
    }
    let n = 0;
    for (let face = 0; face < 2 * dims; face++) {
      if (found[face] < 0 || child[found[face]] === 0) continue;
      for (let d = 0; d < dims; d++) towards[face * dims + d] = beside[d];
      towards[face * dims + (face >> 1)] = face & 1 ? -Infinity : Infinity; // towards the leaf
      open[n++] = face;
    }
    // all ways down are gone in step: each waits for memory at every node, and so they wait together
    while (n > 0) {
      let still = 0;
      for (let k = 0; k < n; k++) {
        const face = open[k];
        const node = found[face];
        const next = child[node] + Number(towards[face * dims + cut[node]] > plane[node]);
        found[face] = next;
        open[still] = face;
        still += Number(child[next] !== 0);
      }
      n = still;
    }
  }

  #grow(): void {
    const grown = <A extends Uint32Array | Uint8Array | Float64Array>(old: A): A => {
      const list = new (old.constructor as new (n: number) => A)(2 * old.length);
      list.set(old as never);
      return list;
    };
    this.#parent = grown(this.#parent);
    this.#child = grown(this.#child);
    this.#axis = grown(this.#axis);
    this.#plane = grown(this.#plane);
  }
}
