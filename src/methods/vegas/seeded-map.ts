/**
 * A map that also sends samples into boxes that it has neglected: along each axis half of the bins stay where they are, and
 * half are shared by the boxes. Learning goes on from there.
 */
import type { Box } from './witness.ts';

/** Boxes at most; further ones would leave few bins for each. */
const MAX_BOXES = 8;

export function seededMap(
  edges: Float64Array,
  dims: number,
  boxes: readonly Box[],
  shared: boolean,
): Float64Array {
  const own = edges.length / dims;
  const seeded = new Float64Array(edges.length);
  for (let d = 0; d < dims; d++) {
    const axis = edges.subarray(d * own, (d + 1) * own);
    const few = boxes.slice(0, MAX_BOXES);
    const windows = few
      .flatMap(box => (shared ? box : [box[d]]))
      .map(w => widened(w, axis[0], axis[own - 1]));
    seeded.set(seededAxis(axis, windows), d * own);
  }
  return seeded;
}

/** Half as wide again on each side: the middle of a peak may be beside the box that a sample on its slope fell into. */
function widened([a, b]: readonly [number, number], low: number, high: number): [number, number] {
  return [Math.max(low, a - (b - a) / 2), Math.min(high, b + (b - a) / 2)];
}

function seededAxis(edges: Float64Array, windows: readonly [number, number][]): Float64Array {
  const bins = edges.length - 1;
  const cuts = Float64Array.from([...edges, ...windows.flat()]).sort();
  const seeded = new Float64Array(bins + 1);
  let [bin, done, next] = [0, 0, 1];
  for (let i = 0; i + 1 < cuts.length; i++) {
    const [a, b] = [cuts[i], cuts[i + 1]];
    while (bin < bins - 1 && edges[bin + 1] <= a) bin++;
    const width = edges[bin + 1] - edges[bin];
    let weight = width > 0 ? (0.5 * (b - a)) / width : 0;
    for (const [low, high] of windows)
      if (low <= a && b <= high) weight += (0.5 * bins * (b - a)) / (high - low) / windows.length;
    // bin number `next` ends where `next` of all weights, `bins` together, are before it
    for (; next < bins && done + weight >= next; next++)
      seeded[next] = weight > 0 ? Math.min(b, a + ((next - done) / weight) * (b - a)) : a;
    done += weight;
  }
  seeded[0] = edges[0];
  seeded.fill(edges[bins], next);
  return seeded;
}
