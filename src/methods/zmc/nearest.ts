/** How close the samples of a tree come to the ends of the ranges. */
import type { Nearest } from '../method.ts';
import type { Node } from './tree-search.ts';

/** `nodes`: the root first; `samplesOf`: samples per block of a node in all passes. */
export function nearestOf(
  nodes: readonly Node[],
  perAxis: number,
  samplesOf: (node: Node) => number,
): Nearest {
  const [root] = nodes;
  return root.box.map(([low, high], d) => {
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
        density[side] += ((perAxis ** (node.box.length - 1) - cut) * samplesOf(node)) / width;
      });
    }
    return density.map(n => Math.min(1, 1 / n)) as [number, number];
  });
}
