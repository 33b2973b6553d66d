/**
 * The look across borders. Where a narrow peak crosses the border between a wide region and small ones, all points of the
 * wide region can miss the peak: its value and its error are 0, and it would never be halved again. But the small regions
 * on the other side have seen the peak. So before a claim, regions that are much smaller than in an even division are
 * mirrored at the faces behind which a much wider region lies, and the mirror image is evaluated. With r = |value of the
 * image / value of the small region| and S = Σ |values| of all small neighbours of the wide region, the wide region should
 * have about r·S. If that exceeds |value| + error of the wide region, the difference is added to its error, so that it
 * will be halved and looked at again.
 *
 * Of a thousand random peaks on borders (tests/auto/peaks.test.ts) 813 were claimed without this look, 25 of them falsely;
 * with it no claim is false, for a tenth more evaluations.
 *
 * Where an integrand is smooth along an axis up to a step just behind a border, small regions are as long along that axis as
 * the wide one, and so are their images: what reaches less than 2.2 % of this length beyond the border lies between the border and the
 * outermost points of the image. So where a wide region has less than 2^-THIN of S, that part of the image which is next to the
 * border is evaluated by itself, and the wide region should have r·S for the r of that part. It is halved along the axis that
 * crosses the border. Genz's exp(a·x) in 4 dimensions, cut off at 0.2537 of an axis, was claimed 144 tolerances off without this.
 *
 * A wide region that has a background has more than S, whatever it misses. So it is believed to have in the images of its small neighbours
 * at most MOST_UNEVEN times what it has in as large a part on average. Boxes on a constant, whose edges are just behind a border, were claimed
 * up to 93 tolerances off without this, by `cuhre` with nearly all seeds.
 */
import type { Ranges } from '../region.ts';
import { emptyRegions, HALVED, type Regions } from './regions.ts';
import { type Column, type RegionStore, SETTLED } from './store.ts';
import type { SplitTree } from './tree.ts';

export { DEEP } from './store.ts';

/** A neighbour is much wider if it was halved at least this many times less along some axis. */
export const WIDER = 2;
/**
 * The point from which a region looks is this far from its middle, in half-widths along every axis. Neighbours may meet at
 * the middle, or at a fraction k/2^m of the half-width; this is none.
 */
export const BESIDE = 0.06;

/** The part of an image next to the border is 2^-THIN of it. */
export const THIN = 5;

/** How many times its mean a wide region is believed to have in the images of its neighbours, at most. With 2, f4 in 5 dimensions took a tenth more to 4e-5; with 16, fewer steps were seen. */
export const MOST_UNEVEN = 8;

export interface Look {
  /** The number of the result. */
  result: number;
  /** Small regions with Σ |values| up to this do not look. */
  negligible: number;
  /** How many images the budget allows to evaluate. */
  affordable: number;
}

/** Looks across the borders of small regions, and raises the errors of wide ones; returns whether one was raised. */
export async function lookAcross(
  store: RegionStore,
  tree: SplitTree,
  ranges: Ranges,
  { result, negligible, affordable }: Look,
  evaluate: (images: Regions) => Promise<void>,
): Promise<boolean> {
  const column = store.columns[result];
  const { values, errors, cleared } = column;
  const { homes, neighbours, faces, sums, volumes } = wideRegions(store, column, tree, ranges, negligible);
  /** What a wide region is believed to have where 2^-thin of all its images are, at most. */
  const believed = (home: number, thin: number): number => {
    const part = Math.min(1, MOST_UNEVEN * volumes[home] * HALVED[thin]);
    return part * Math.abs(values[home]) + errors[home];
  };
  const doubtful = homes.filter(home => sums[home] > believed(home, 0));
  if (doubtful.length === 0) return false;
  let raised = false;
  /** The images of neighbours of some wide regions, each 2^-thin of the whole image. */
  const look = async (some: Uint32Array, thin: number, isAffordable: boolean) => {
    const images = emptyRegions(ranges.length, isAffordable ? some.length : 0);
    if (isAffordable) {
      some.forEach((home, i) =>
        mirror(store, ranges, { home, region: neighbours[home], face: faces[home], thin }, images, i),
      );
      await evaluate(images);
    }
    some.forEach((home, i) => {
      const image = result * images.count + i;
      // if the budget does not allow to evaluate the images, each counts as much as the region that it is the image of
      const ratio = isAffordable ? Math.abs(images.values[image] / values[neighbours[home]]) : 1;
      const missing = ratio * sums[home] - believed(home, thin);
      if (!(missing > 0)) {
        cleared[home] = 1;
        return;
      }
      errors[home] += missing;
      if (thin > 0) column.axes[home] = faces[home] >> 1;
      cleared[home] = 0;
      raised = true;
    });
  };
  await look(doubtful, 0, doubtful.length <= affordable);
  const least = negligible / doubtful.length;
  const empty = doubtful.filter(home => sums[home] * HALVED[THIN] > Math.max(least, believed(home, THIN)));
  if (empty.length > 0 && doubtful.length + empty.length <= affordable) await look(empty, THIN, true);
  if (raised) store.renew();
  return raised;
}

interface Image {
  home: number;
  region: number;
  face: number;
  thin: number;
}

/** Writes the image of a region, mirrored at the face behind which `home` lies, into a list: 2^-thin of it, next to the face. */
function mirror(
  { levels, centres }: RegionStore,
  ranges: Ranges,
  { home, region, face, thin }: Image,
  images: Regions,
  i: number,
): void {
  const dims = ranges.length;
  for (let d = 0; d < dims; d++) {
    const [low, high] = ranges[d];
    const [level, own] = [levels[region * dims + d], levels[home * dims + d]];
    const side = d === face >> 1 ? (face & 1 ? 1 : -1) : 0;
    // along an axis on which the wide region is narrower than the small one, the image has the wide region's extent
    const whole = Math.max(level, own);
    const part = whole + (side === 0 ? 0 : thin);
    const shift = side * (high - low);
    const centre =
      own > level ? centres[home * dims + d] : centres[region * dims + d] + shift * HALVED[level];
    images.centres[d * images.count + i] = centre - (shift * (HALVED[whole] - HALVED[part])) / 2;
    images.levels[d * images.count + i] = part;
  }
}

/** Wide regions behind the faces of small ones; the lists beside `homes` have an entry for every region of the store. */
interface Wide {
  /** The wide regions. */
  homes: Uint32Array;
  /** The small neighbour of each with the largest |value|, and the face of that neighbour which the wide region is behind. */
  neighbours: Uint32Array;
  faces: Uint8Array;
  /** Σ |values| of its small neighbours, 0 for a region that is not wide; and Σ volumes of these, in units of its own volume. */
  sums: Float64Array;
  volumes: Float64Array;
}

/** The wide regions behind the faces of small ones. The smallest of these, with Σ |values| ≤ `negligible`, are left out. */
function wideRegions(
  store: RegionStore,
  column: Column,
  tree: SplitTree,
  ranges: Ranges,
  negligible: number,
): Wide {
  const { values, settled, cleared } = column;
  const { nodes, count, levels, centres } = store;
  const dims = ranges.length;
  const halves = Float64Array.from(ranges, ([low, high]) => (high - low) / 2);
  const regionOf = new Int32Array(tree.size).fill(-1);
  for (let i = 0; i < count; i++) regionOf[nodes[i]] = i;
  const beside = new Float64Array(dims);
  const behind = new Int32Array(2 * dims);
  const [homes, neighbours] = [new Uint32Array(count), new Uint32Array(count)];
  const faces = new Uint8Array(count);
  const [sums, volumes] = [new Float64Array(count), new Float64Array(count)];
  let n = 0;
  const deep = deepest(store, column, negligible);
  for (let k = 0; k < deep.length; k++) {
    const region = regionOf[deep[k]];
    let [open, looks] = [0, false];
    const size = Math.abs(values[region]);
    for (let d = 0; d < dims; d++) {
      const at = region * dims + d;
      beside[d] = centres[at] + BESIDE * (halves[d] * HALVED[levels[at]]);
    }
    tree.behind(deep[k], beside, behind, settled[region]);
    for (let face = 0; face < 2 * dims; face++) {
      const home = behind[face] < 0 ? -1 : regionOf[behind[face]];
      if (home < 0 || !isWider(levels, home * dims, region * dims, dims)) continue;
      open |= 1 << ((face >> 1) & 7);
      if (cleared[home]) continue;
      looks = true;
      if (sums[home] === 0) homes[n++] = home;
      if (sums[home] === 0 || size > Math.abs(values[neighbours[home]])) {
        neighbours[home] = region;
        faces[home] = face;
      }
      sums[home] += size;
      volumes[home] += 2 ** (store.depths[home] - store.depths[region]);
    }
    settled[region] = looks ? ~open : SETTLED;
  }
  return { homes: homes.subarray(0, n), neighbours, faces, sums, volumes };
}

/**
 * Nodes of small regions that may have wide neighbours, ascending, without those of the smallest |values|, which sum to at most
 * `negligible`; of equal ones the first in the store come first.
 */
function deepest(
  { depths, nodes, count, smallDepth }: RegionStore,
  { values, settled }: Column,
  negligible: number,
): Uint32Array {
  const found = new Uint32Array(count);
  const sizes = new Float64Array(count);
  let n = 0;
  for (let i = 0; i < count; i++) {
    if (depths[i] < smallDepth || values[i] === 0 || settled[i] === SETTLED) continue;
    sizes[n] = Math.abs(values[i]);
    found[n++] = i;
  }
  const sorted = sizes.slice(0, n).sort();
  let [sum, left] = [0, 0];
  while (left < n && sum + sorted[left] <= negligible) sum += sorted[left++];
  const least = sorted[left];
  let equal = left - sorted.indexOf(least); // as many of that size are negligible
  let kept = 0;
  for (let i = 0; i < n; i++)
    if (sizes[i] > least || (sizes[i] === least && --equal < 0)) found[kept++] = nodes[found[i]];
  return found.subarray(0, kept).sort();
}

/** Whether a region is much wider than another one along some axis; `home` and `region` are where their levels begin. */
function isWider(levels: Uint8Array, home: number, region: number, dims: number): boolean {
  for (let d = 0; d < dims; d++) if (levels[region + d] - levels[home + d] >= WIDER) return true;
  return false;
}
