/**
 * The tree of halvings, and by it what lies behind a face of a region. Up from the region to the first halving along the face's
 * axis that has the region on the near side; then down on the far side, always towards the face and, along other axes,
 * towards the region. Neighbours mostly share a near ancestor: a few steps.
 */

const NONE = 2 ** 32 - 1;

export class SplitTree {
  #parent = new Uint32Array(512);
  /** The first of a node's two children; 0 for a leaf. */
  #child = new Uint32Array(512);
  #axis = new Uint8Array(512);
  /** Where it was cut. */
  #plane = new Float64Array(512);
  #size = 1;

  constructor() {
    this.#parent[0] = NONE;
  }

  get size(): number {
    return this.#size;
  }

  /** Halves a leaf; returns the number of the half with the lower centre, the other one follows. */
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
   * The leaf behind a face: of the leaf given, along an axis, on its lower (−1) or upper side (1). `beside` is a point of the
   * region, not quite its middle, where leaves may meet. −1 at the border of the domain.
   */
  behind(leaf: number, axis: number, side: -1 | 1, beside: Float64Array): number {
    let node = leaf;
    for (;;) {
      const up = this.#parent[node];
      if (up === NONE) return -1;
      const upper = node !== this.#child[up];
      if (this.#axis[up] === axis && upper === side < 0) {
        node = upper ? node - 1 : node + 1;
        break;
      }
      node = up;
    }
    while (this.#child[node] !== 0) {
      const d = this.#axis[node];
      const upper = d === axis ? side < 0 : beside[d] > this.#plane[node];
      node = this.#child[node] + (upper ? 1 : 0);
    }
    return node;
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
