/**
 * The heuristic tree search of ZMCintegral (H.-Z. Wu, J.-J. Zhang, L.-G. Pang, Q. Wang, "ZMCintegral: a package for
 * multi-dimensional Monte Carlo integration on multi-GPUs", section 2.1): each block is integrated by several
 * independent trials of direct Monte Carlo. A block whose trials deviate by more than the mean deviation of all blocks
 * plus `sigma` times the deviation of those deviations is unstable, and is cut into blocks in its turn, down to a
 * maximal depth.
 *
 * The search gives the tree and nothing else. A block is accepted because its trials agree, and trials that all miss a
 * peak agree: a result made of them would be too small.
 */
import type { SampleSums } from '../../tasks/sample.ts';
import { type Box, blockOf, type Slab, slabsOf } from './blocks.ts';

/** A box cut into blocks; its estimate leaves out the unstable ones, which are cut further. */
export interface Node {
  box: Box;
  /** Numbers of the blocks that have a node of their own, ascending. */
  unstable: number[];
  /** The block of another node that this box is; the root has none. */
  parent?: { node: Node; block: number };
}

export interface Search {
  perAxis: number;
  sigma: number;
  depth: number;
  /** How many nodes may be added to this many. */
  room(nodes: number): number;
  /** How many nodes may be searched for unstable blocks now. */
  searchable(): number;
  /** How much the trials of each block of a slab deviate. */
  deviations(slab: Slab): Promise<Float64Array>;
}

interface Candidate {
  deviation: number;
  node: Node;
  block: number;
}

/** The nodes of the tree, the root first. */
export async function searchTree(root: Box, search: Search): Promise<Node[]> {
  const nodes: Node[] = [{ box: root, unstable: [] }];
  let level = nodes;
  for (let depth = 1; depth < search.depth && level.length > 0; depth++) {
    const most = search.room(nodes.length);
    level = level.slice(0, search.searchable()); // the nodes that deviated most come first; the others are not searched
    if (most < 1 || level.length === 0) break;
    const found = await unstableBlocks(level, search, most);
    level = found.map(({ node, block }) => {
      node.unstable.push(block);
      return { box: blockOf(node.box, search.perAxis, block), unstable: [], parent: { node, block } };
    });
    for (const node of nodes) node.unstable.sort((a, b) => a - b);
    nodes.push(...level);
  }
  return nodes;
}

/**
 * The block beyond a face of a node, the node that this block belongs to, and how many levels above it is; null at the
 * border of the domain, and when that block is cut as well.
 */
export function beyondFace(
  { parent }: Node,
  stride: number,
  step: -1 | 1,
  perAxis: number,
): { node: Node; block: number; levels: number } | null {
  if (!parent) return null;
  const next = (Math.floor(parent.block / stride) % perAxis) + step;
  if (next < 0 || next >= perAxis) {
    const found = beyondFace(parent.node, stride, step, perAxis);
    return found && { ...found, levels: found.levels + 1 };
  }
  const block = parent.block + step * stride;
  return parent.node.unstable.includes(block) ? null : { node: parent.node, block, levels: 1 };
}

/** The blocks of these nodes whose deviation is above the threshold; the `most` largest if there are more. */
async function unstableBlocks(nodes: Node[], search: Search, most: number): Promise<Candidate[]> {
  let kept: Candidate[] = [];
  // deviations may be as small as 1e-300, whose squares underflow to 0: they are divided by the largest so far
  let [count, mean, spread, unit, floor] = [0, 0, 0, 0, 0];
  for (const node of nodes) {
    for (const slab of slabsOf(node.box, search.perAxis)) {
      const deviations = await search.deviations(slab);
      const largest = deviations.reduce((a, b) => Math.max(a, b), 0);
      if (largest > unit) {
        mean *= unit / largest;
        spread *= (unit / largest) ** 2;
        unit = largest;
      }
      for (let i = 0; i < deviations.length; i++) {
        const own = unit > 0 ? deviations[i] / unit : 0;
        count++;
        const delta = own - mean;
        mean += delta / count;
        spread += delta * (own - mean);
        // the threshold is not known yet, but at most `most` blocks are returned
        if (deviations[i] > floor) kept.push({ deviation: deviations[i], node, block: slab.first + i });
        if (kept.length >= 2 * most + 1024) {
          kept = largestOf(kept, most);
          floor = kept.at(-1)!.deviation;
        }
      }
    }
  }
  const threshold = unit * (mean + search.sigma * Math.sqrt(spread / Math.max(1, count - 1)));
  return largestOf(
    kept.filter(c => c.deviation > threshold),
    most,
  );
}

const largestOf = (candidates: Candidate[], most: number) =>
  candidates.sort((a, b) => b.deviation - a.deviation).slice(0, most);

/** The standard deviation of each block over trials; `trial` makes one, and gives the means of all blocks. */
export async function trialDeviations(
  trials: number,
  trial: () => Promise<Pick<SampleSums, 'means'>>,
): Promise<Float64Array> {
  const runs: Float64Array[] = [];
  for (let t = 0; t < trials; t++) runs.push((await trial()).means!);
  return Float64Array.from({ length: runs[0].length }, (_, i) => {
    const mean = runs.reduce((s, r) => s + r[i] / trials, 0);
    const largest = runs.reduce((m, r) => Math.max(m, Math.abs(r[i] - mean)), 0);
    if (!(largest > 0)) return 0;
    const squares = runs.reduce((s, r) => s + ((r[i] - mean) / largest) ** 2, 0);
    return largest * Math.sqrt(squares / (trials - 1));
  });
}
