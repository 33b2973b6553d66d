/**
 * What blocks beside those that were cut may hide. The search cuts the blocks in which it met a feature. The feature may reach
 * into the block beside, and there lie between all of its k samples: a part 1/k of the block's volume V is seen by one sample
 * in the mean, and by none with a probability of 1/e. If the feature has the height H, that hides H·V/k; but not more than D·V,
 * with D the mean density of the feature over the face. Slabs, boxes and balls on 1e-4 of the domain were off by 6 to 50 errors
 * that way.
 *
 * The height is that of the blocks at the face of the cut block: how far their means are from that of the block beyond, plus
 * DEVIATIONS of their samples. Where it falls towards the face, by some factor from the layer of blocks before, this is the
 * slope of a peak: beyond the face it falls by that factor again.
 */
import type { SampleSums } from '../../tasks/sample.ts';
import { beyondFace, type Node } from './tree-search.ts';

/** The blocks of a node in the last pass. */
export interface NodeSums {
  /** Means and variances of w = f·(volume of the node's box), one per block. */
  means: Float64Array;
  variances: Float64Array;
}

/** Means and variances of the blocks of a node are kept if there are at most this many blocks. */
const MAX_KEPT_SUMS = 2 ** 18;

/** Lists for so many blocks; empty where there are too many. */
export function sumsOfNode(blocks: number): NodeSums {
  const list = () => new Float64Array(blocks <= MAX_KEPT_SUMS ? blocks : 0);
  return { means: list(), variances: list() };
}

/** Puts the sums of blocks from number `first` on into the lists of their node. */
export function keepSums(
  all: NodeSums,
  { means, variances }: Pick<SampleSums, 'means' | 'variances'>,
  first: number,
): void {
  if (all.means.length === 0) return;
  all.means.set(means!, first);
  all.variances.set(variances!, first);
}

/** Where the mean falls by more than this from layer to layer towards a face, the block beyond has the foot of a peak. */
const SLOPE = 0.5;
/** How many standard deviations of the samples of a block the height has. */
const DEVIATIONS = 3;

/** The block beyond a face, and what it may hide: at most `most`, or `between` divided by its samples if that is less. */
export interface Face<N = Node> {
  node: N;
  block: number;
  most: number;
  between: number;
}

/** The faces of cut blocks where the blocks beyond are not cut. */
export function facesOf(sums: ReadonlyMap<Node, NodeSums>, perAxis: number): Face[] {
  const faces: Face[] = [];
  for (const [node, own] of sums) {
    const dims = node.box.length;
    const spread = own.variances.map(v => DEVIATIONS * Math.sqrt(v));
    for (let d = 0; d < dims; d++) {
      for (const step of [-1, 1] as const) {
        const beyond = beyondFace(node, perAxis ** d, step, perAxis);
        const there = beyond && sums.get(beyond.node);
        if (!there) continue;
        // values of w contain the volume of their box: that of the node beyond is larger by this factor
        const larger = perAxis ** (dims * beyond.levels);
        const level = there.means[beyond.block] / larger;
        const face = step < 0 ? 0 : perAxis - 1;
        const { height, mean } = layerAbove(own.means, spread, level, perAxis, d, face);
        const before = perAxis > 1 ? layerAbove(own.means, spread, level, perAxis, d, face - step).mean : 0;
        const falls = mean < before ? mean / before : 1;
        const whole = (mean * larger) / perAxis ** dims;
        if (falls < SLOPE) continue;
        const slope = falls < 1 ? ((mean / perAxis) * falls) / (1 - falls) : whole;
        const between = (falls * height * larger) / perAxis ** dims;
        faces.push({ node: beyond.node, block: beyond.block, most: Math.min(whole, slope), between });
      }
    }
  }
  return faces;
}

/**
 * √Σ min(H/k, D)²·V² over all blocks beside cut ones, since each hides something or not by itself. `samplesOf`: samples per block of a
 * node in all passes.
 */
export function hiddenBeyondFaces<N>(faces: readonly Face<N>[], samplesOf: (node: N) => number): number {
  const hidden = new Map<N, Map<number, number>>();
  for (const { node, block, most, between } of faces) {
    const amount = Math.min(most, between / samplesOf(node));
    const blocks = hidden.get(node) ?? new Map<number, number>();
    blocks.set(block, Math.max(amount, blocks.get(block) ?? 0));
    hidden.set(node, blocks);
  }
  const all = [...hidden.values()].flatMap(blocks => [...blocks.values()]);
  return Math.sqrt(all.reduce((sum, amount) => sum + amount ** 2, 0));
}

/**
 * The largest deviation from `level` that samples in a layer of blocks may have had, and the mean deviation of the layer. `spread`: DEVIATIONS of
 * the samples of each block.
 */
function layerAbove(
  means: Float64Array,
  spread: Float64Array,
  level: number,
  perAxis: number,
  axis: number,
  layer: number,
): { height: number; mean: number } {
  const stride = perAxis ** axis;
  let [height, sum] = [0, 0];
  for (let first = layer * stride; first < means.length; first += perAxis * stride)
    for (let i = first; i < first + stride; i++) {
      sum += means[i] - level;
      height = Math.max(height, Math.abs(means[i] - level) + spread[i]);
    }
  return { height, mean: Math.abs(sum) / (means.length / perAxis) };
}
