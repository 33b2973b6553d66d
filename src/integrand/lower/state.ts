/**
 * What every slot holds at one point of the program.
 *
 * Lowering copies the state at every branch, block and loop, and compares states where paths meet. With plain maps both cost
 * as much as there are slots, and an unrolled loop makes thousands: a two-axis table in a loop of 60 × 20 took seconds. So a
 * state is a persistent tree over slot numbers, 32 children per node. A copy shares all nodes, a write copies the few nodes on
 * its path unless this state made them itself, and a comparison skips nodes that two states share.
 */
import type { Slot, Val } from './values.ts';

const BITS = 5;
const MASK = (1 << BITS) - 1;

interface Node {
  /** The state that may change this node in place; a copy of a state takes that right away from both. */
  owner: object;
  items: (Node | Val | undefined)[];
}

export class State {
  #owner: object = {};
  #root: Node = newNode(this.#owner);
  /** The bits of a slot number below the root. */
  #shift = 0;

  copy(): State {
    const copy = new State();
    copy.#root = this.#root;
    copy.#shift = this.#shift;
    this.#owner = {};
    return copy;
  }

  get(slot: Slot): Val | undefined {
    if (slot >>> this.#shift > MASK) return undefined;
    let node: Node | undefined = this.#root;
    for (let shift = this.#shift; shift > 0; shift -= BITS) {
      node = node.items[(slot >>> shift) & MASK] as Node | undefined;
      if (!node) return undefined;
    }
    return node.items[slot & MASK] as Val | undefined;
  }

  has(slot: Slot): boolean {
    return this.get(slot) !== undefined;
  }

  set(slot: Slot, value: Val): void {
    this.#write(slot, value);
  }

  delete(slot: Slot): void {
    if (this.has(slot)) this.#write(slot, undefined);
  }

  /** The slots that do not hold the same object in both states, in ascending order. */
  differences(other: State): Slot[] {
    const found: Slot[] = [];
    const compare = (a: Node | undefined, b: Node | undefined, shift: number, first: Slot): void => {
      for (let k = 0; k <= MASK; k++) {
        const [x, y] = [a?.items[k], b?.items[k]];
        if (x === y) continue;
        const at = first + k * 2 ** shift;
        if (shift === 0) found.push(at);
        else compare(x as Node | undefined, y as Node | undefined, shift - BITS, at);
      }
    };
    const shift = Math.max(this.#shift, other.#shift);
    const [a, b] = [this.#rootAt(shift), other.#rootAt(shift)];
    if (a !== b) compare(a, b, shift, 0);
    return found;
  }

  #write(slot: Slot, value: Val | undefined): void {
    while (slot >>> this.#shift > MASK) {
      this.#root = newNode(this.#owner, this.#root);
      this.#shift += BITS;
    }
    this.#root = this.#own(this.#root);
    let node = this.#root;
    for (let shift = this.#shift; shift > 0; shift -= BITS) {
      const k = (slot >>> shift) & MASK;
      const child = this.#own(node.items[k] as Node | undefined);
      node.items[k] = child;
      node = child;
    }
    node.items[slot & MASK] = value;
  }

  /** The node, or a copy that this state may change. */
  #own(node: Node | undefined): Node {
    if (!node) return newNode(this.#owner);
    return node.owner === this.#owner ? node : { owner: this.#owner, items: node.items.slice() };
  }

  /** The tree as one of a larger one: states that are compared may have grown differently. */
  #rootAt(shift: number): Node {
    let root = this.#root;
    for (let s = this.#shift; s < shift; s += BITS) root = newNode(this.#owner, root);
    return root;
  }
}

function newNode(owner: object, first?: Node): Node {
  const items: Node['items'] = new Array(MASK + 1).fill(undefined);
  items[0] = first;
  return { owner, items };
}
