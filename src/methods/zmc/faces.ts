/**
 * What blocks beside those that were cut may hide. The search cuts the blocks in which it met a feature. The feature may reach
 * into the block beside, and there lie between all of its k samples: a part 1/k of the block's volume V is seen by one sample
 * in the mean, and by none with a probability of 1/e. If the feature has the height H, that hides H·V/k. Slabs, boxes and balls
 * on 1e-4 of the domain were off by 6 to 50 errors that way.
 *
 * The height is that of the blocks at the face of the cut block: how far they are above the block beyond, and √(n·variance),
 * since one of n samples deviates by that at most. Where the integrand is smooth there, it is as small as the values are.
 */
import { beyondFace, type Node } from './tree-search.ts';

/** The blocks of a node in the last pass. */
export interface NodeSums {
  /** Means and variances of w = f·(volume of the node's box), one per block. */
  means: Float64Array;
  variances: Float64Array;
  /** Samples per block in this pass. */
  samples: number;
}

/** Σ over the faces of all cut blocks of H·V/k; `samplesOf`: samples per block of a node in all passes. */
export function hiddenBeyondFaces(
  sums: ReadonlyMap<Node, NodeSums>,
  perAxis: number,
  samplesOf: (node: Node) => number,
): number {
  let sum = 0;
  for (const [node, own] of sums) {
    const dims = node.box.length;
    for (let d = 0; d < dims; d++) {
      for (const step of [-1, 1] as const) {
        const beyond = beyondFace(node, perAxis ** d, step, perAxis);
        const there = beyond && sums.get(beyond.node);
        if (!there) continue;
        // values of w contain the volume of their box: that of the node beyond is larger by this factor
        const larger = perAxis ** (dims * beyond.levels);
        const height = heightAtFace(own, there.means[beyond.block] / larger, perAxis, d, step) * larger;
        sum += height / perAxis ** dims / samplesOf(beyond.node);
      }
    }
  }
  return sum;
}

/** The largest deviation from `level` that samples in the blocks at a face may have had. */
function heightAtFace(
  { means, variances, samples }: NodeSums,
  level: number,
  perAxis: number,
  axis: number,
  step: -1 | 1,
): number {
  const stride = perAxis ** axis;
  let most = 0;
  for (let first = step < 0 ? 0 : (perAxis - 1) * stride; first < means.length; first += perAxis * stride)
    for (let i = first; i < first + stride; i++)
      most = Math.max(most, Math.abs(means[i] - level) + Math.sqrt(samples * variances[i]));
  return most;
}
