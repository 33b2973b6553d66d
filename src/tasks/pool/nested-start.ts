/**
 * Regions to start with that are nested around points where the integrand peaks. The region that holds a point is halved along one
 * axis after the other, `depth` times along each; what is cut off stays as it is. So a point has `depth`·n regions around it, whose
 * sizes shrink by half from one shell to the next, and a peak of any width has regions of its size. A point on a border is in the
 * regions of all its sides.
 */
import type { Ranges } from '../region.ts';
import { emptyRegions, type Regions } from './regions.ts';

interface Box {
  node: number;
  centre: number[];
  level: number[];
}

/**
 * Every axis is halved `level` times, and `depth` times more around points. `split` halves a node of the tree of halvings and
 * returns the number of its lower half (tree.ts); `nodes` are those of the regions.
 */
export function nestedStart(
  ranges: Ranges,
  level: number,
  points: readonly (readonly number[])[],
  depth: number,
  split: (node: number, axis: number, plane: number) => number = () => 0,
): { regions: Regions; nodes: number[] } {
  const dims = ranges.length;
  const leaves: Box[] = [];
  const cut = (box: Box, step: number, near: typeof points): void => {
    if (step >= level * dims && (near.length === 0 || step === (level + depth) * dims)) {
      leaves.push(box);
      return;
    }
    const axis = step % dims;
    const [low, high] = ranges[axis];
    const plane = box.centre[axis];
    const first = split(box.node, axis, plane);
    for (const side of [0, 1]) {
      const [centre, own] = [[...box.centre], [...box.level]];
      own[axis]++;
      const half = ((high - low) / 2) * 2 ** -own[axis];
      centre[axis] += side === 0 ? -half : half;
      const inside = near.filter(p => (side === 0 ? p[axis] <= plane : p[axis] >= plane));
      cut({ node: first + side, centre, level: own }, step + 1, inside);
    }
  };
  const middle = ranges.map(([low, high]) => low + (high - low) / 2);
  cut({ node: 0, centre: middle, level: ranges.map(() => 0) }, 0, points);
  const regions = emptyRegions(dims, leaves.length);
  leaves.forEach(({ centre, level }, i) => {
    for (let d = 0; d < dims; d++) {
      regions.centres[d * leaves.length + i] = centre[d];
      regions.levels[d * leaves.length + i] = level[d];
    }
  });
  return { regions, nodes: leaves.map(l => l.node) };
}
