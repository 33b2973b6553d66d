/** The tree that a search has found, frozen: its nodes, and how samples are shared among them. */
import type { Nearest } from '../method.ts';
import type { Node } from './tree-search.ts';

/** The part of the samples that is spread evenly over all blocks. */
const EVEN_PART = 0.3;

export class BlockTree {
  readonly nodes: readonly Node[];
  /** Parts of each axis of a node. */
  readonly perAxis: number;
  /** Whether blocks may have been cut: then mean and variance of each block tell what may hide beside those. */
  readonly searched: boolean;
  /** Samples per block on average, in all passes that count. */
  samples = 0;
  /** The samples of the blocks of a node, relative to the average over all blocks: 1 unless given. */
  readonly #shares = new Map<Node, number>();

  constructor(
    nodes: readonly Node[],
    { blocks, depth }: { blocks: number; depth: number },
    shares: readonly number[] = [],
  ) {
    this.nodes = nodes;
    this.perAxis = blocks;
    this.searched = depth > 1;
    shares.forEach((share, n) => {
      this.#shares.set(nodes[n], share);
    });
  }

  /** Blocks of a node. */
  get perNode(): number {
    return this.perAxis ** this.nodes[0].box.length;
  }

  /** Blocks of all nodes, those that are cut with them. */
  get leaves(): number {
    return this.nodes.length * this.perNode;
  }

  get isCut(): boolean {
    return this.nodes.length > 1;
  }

  get shares(): number[] {
    return this.nodes.map(node => this.#shareOf(node));
  }

  /**
   * Shares samples: EVEN_PART of them evenly, the rest in proportion to deviations. `spreads`: the variance of each node per sample of
   * a block.
   */
  share(spreads: readonly number[]): void {
    const deviations = spreads.map(v => (v < Infinity ? Math.sqrt(v) : 0));
    const mean = deviations.reduce((a, b) => a + b, 0) / this.nodes.length;
    if (!(mean > 0)) return;
    for (const [n, node] of this.nodes.entries())
      this.#shares.set(node, EVEN_PART + (1 - EVEN_PART) * (deviations[n] / mean));
  }

  /** Samples per block of a node in a pass of so many on average. */
  countOf(node: Node, average: number): number {
    return Math.floor(average * (average * EVEN_PART >= 2 ? this.#shareOf(node) : 1));
  }

  /** Samples per block of a node in all passes, and in another one of so many on average. */
  samplesOf(node: Node, more = 0): number {
    return (this.samples + more) * this.#shareOf(node);
  }

  /** How close samples come to the ends of the ranges. */
  get nearest(): Nearest {
    const { nodes, perAxis } = this;
    return nodes[0].box.map(([low, high], d) => {
      const stride = perAxis ** d;
      // samples per part of the range, beside the low and the high end
      const density = [0, 0];
      for (const node of nodes) {
        const [from, to] = node.box[d];
        const width = (to - from) / perAxis / (high - low);
        [from === low, to === high].forEach((touches, side) => {
          if (!touches) return;
          const layer = side === 0 ? 0 : perAxis - 1;
          const cut = node.unstable.filter(b => Math.floor(b / stride) % perAxis === layer).length;
          density[side] += ((perAxis ** (node.box.length - 1) - cut) * this.samplesOf(node)) / width;
        });
      }
      return density.map(n => Math.min(1, 1 / n)) as [number, number];
    });
  }

  #shareOf(node: Node): number {
    return this.#shares.get(node) ?? 1;
  }
}
