/**
 * The VEGAS map (Lepage 1978; 2021, "Adaptive multidimensional integration: VEGAS enhanced", section II): each axis is
 * cut into bins of equal probability, narrow where the integrand is large. `edges` holds bins + 1 numbers per axis, in
 * the coordinates of the domain.
 */
import { compileNow } from '../integrand/compile-now.ts';
import { innerRange } from '../integrand/inner-range.ts';
import type { Ranges } from './region.ts';

/**
 * The part of the samples that stays spread evenly along an axis. Without it a bin that looked empty grows until it has
 * hardly any samples, and what the integrand has there is missing from the value and from the error: on f6 at 1e-3, one
 * run in five was off by 3 to 18 errors. 400 evenly spread samples are enough to notice; with 100 of them, four runs in
 * two hundred were off by more than 3 errors.
 */
export const floorFor = (evaluations: number): number => Math.min(0.01, 400 / evaluations);

export function uniformMap(ranges: readonly (readonly [number, number])[], bins: number): Float64Array {
  const edges = new Float64Array(ranges.length * (bins + 1));
  ranges.forEach(([a, b], d) => {
    for (let i = 0; i <= bins; i++) edges[d * (bins + 1) + i] = i === bins ? b : a + (b - a) * (i / bins);
  });
  return edges;
}

/** The map of a box as one of another box: each axis is stretched. */
export function scaledMap(edges: Float64Array, from: Ranges, to: Ranges): Float64Array {
  const own = edges.length / from.length;
  const scaled = edges.slice();
  from.forEach(([a, b], d) => {
    const [low, high] = to[d];
    if (a === low && b === high) return;
    const [first, last] = innerRange(to[d]);
    for (let i = d * own; i < (d + 1) * own; i++)
      scaled[i] = Math.min(last, Math.max(first, low + ((edges[i] - a) / (b - a)) * (high - low)));
    scaled[d * own] = first;
    scaled[(d + 1) * own - 1] = last;
  });
  return scaled;
}

/**
 * The width of the bin that a place on an axis lies in. The axis is cut into cells of equal width, and of each cell it is known which bins it
 * meets: mostly one or two, so that a search among all bins would take several times as long.
 */
export function widthAt(edges: Float64Array): (x: number) => number {
  const bins = edges.length - 1;
  const cells = 2 * bins;
  const scale = cells / (edges[bins] - edges[0]);
  // it never falls as x grows, rounding included: so edges in cells below that of x are not above x
  const cellOf = (x: number) => Math.max(0, Math.min(cells - 1, Math.floor((x - edges[0]) * scale)));
  /** The number of edges in the cells before each cell. */
  const before = new Uint32Array(cells + 1);
  for (const edge of edges) before[cellOf(edge) + 1]++;
  for (let c = 0; c < cells; c++) before[c + 1] += before[c];
  return x => {
    const cell = cellOf(x);
    let [low, high] = [Math.max(0, before[cell] - 1), Math.min(bins, before[cell + 1])];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (edges[middle] <= x) low = middle;
      else high = middle;
    }
    return edges[high] - edges[low];
  };
}

/** The same map with another number of bins: new edges are interpolated linearly between the old ones. */
export function rebin(edges: Float64Array, dims: number, bins: number): Float64Array {
  const old = edges.length / dims - 1;
  if (old === bins) return edges;
  const result = new Float64Array(dims * (bins + 1));
  for (let d = 0; d < dims; d++) {
    for (let i = 0; i <= bins; i++) {
      const t = (i * old) / bins;
      const k = Math.min(Math.floor(t), old - 1);
      const [a, b] = [edges[d * (old + 1) + k], edges[d * (old + 1) + k + 1]];
      result[d * (bins + 1) + i] = a + (t - k) * (b - a);
    }
    result[d * (bins + 1) + bins] = edges[d * (old + 1) + old];
  }
  return result;
}

/**
 * The map for the next iteration. `histogram` holds Σ(J·f)² per bin. Smoothed over neighbours and damped by `alpha` it
 * gives a weight per bin, and the new edges give every bin the same weight. `floor` is the part of the samples that stays
 * spread evenly. With `shared` there is one map for all axes, as in the 1D variant of m-Cubes for symmetric integrands.
 *
 * Plain loops over lists that stay: a GPU waits meanwhile, and a map of 10 × 1024 bins takes 0.2 ms instead of 0.45 (_trial_).
 */
export function refineMap(
  edges: Float64Array,
  histogram: Float64Array,
  dims: number,
  alpha: number,
  floor: number,
  shared = false,
): Float64Array {
  const bins = histogram.length / dims;
  if (alpha === 0 || bins === 1) return edges.slice();
  const axes = shared ? 1 : dims;
  const weights = shared ? addedAxes(histogram, bins) : histogram;
  const shares = new Float64Array(weights.length);
  const totals = Array.from({ length: axes }, (_, d) => smoothed(weights, shares, d * bins, bins));
  const damped = damp(shares, alpha);
  const refined = new Float64Array(edges.length);
  for (let d = 0; d < dims; d++) {
    const own = shared ? 0 : d;
    const axis = edges.subarray(d * (bins + 1), (d + 1) * (bins + 1));
    const weightsOfAxis = damped.subarray(own * bins, (own + 1) * bins);
    refined.set(totals[own] > 0 ? refineAxis(axis, weightsOfAxis, floor) : axis, d * (bins + 1));
  }
  return refined;
}

/** The histograms of all axes, added. */
function addedAxes(histogram: Float64Array, bins: number): Float64Array {
  const sums = new Float64Array(bins);
  for (let k = 0; k < histogram.length; k++) sums[k % bins] += histogram[k];
  return sums;
}

/** Writes the shares of an axis: weights are smoothed over neighbours and divided by their total, which it returns. */
function smoothed(weights: Float64Array, shares: Float64Array, first: number, bins: number): number {
  const last = first + bins - 1;
  let total = 0;
  let before = weights[first];
  let own = before;
  for (let i = first; i <= last; i++) {
    const after = i < last ? weights[i + 1] : own;
    total += shares[i] = (before + 6 * own + after) / 8;
    before = own;
    own = after;
  }
  if (total > 0) for (let i = first; i <= last; i++) shares[i] /= total;
  return total;
}

function refineAxis(edges: Float64Array, weights: Float64Array, floor: number): Float64Array {
  const bins = weights.length;
  const pieces = graded(equalParts(edges, weights, bins));
  const length = edges[bins] - edges[0];
  const evened = new Float64Array(pieces.length - 1);
  const even = (1 - floor) / evened.length;
  for (let i = 0; i < evened.length; i++) evened[i] = even + (floor * (pieces[i + 1] - pieces[i])) / length;
  return equalParts(pieces, evened, bins);
}

/** Cuts an axis into `bins` bins of equal weight; `weights` are those of the present bins, between `edges`. */
function equalParts(edges: Float64Array, weights: Float64Array, bins: number): Float64Array {
  const last = weights.length - 1;
  let each = 0;
  for (let i = 0; i <= last; i++) each += weights[i];
  each /= bins;
  const parts = new Float64Array(bins + 1);
  parts[0] = edges[0];
  parts[bins] = edges[last + 1];
  let j = 0;
  let left = weights[0]; // the weight that is left of old bin j
  for (let i = 1; i < bins; i++) {
    let need = each;
    while (need > left && j < last) {
      need -= left;
      left = weights[++j];
    }
    left -= need;
    const share = weights[j] > 0 ? Math.min(1, Math.max(0, 1 - left / weights[j])) : 1;
    const edge = edges[j] + share * (edges[j + 1] - edges[j]);
    parts[i] = Math.min(Math.max(edge, parts[i - 1]), parts[bins]);
  }
  return parts;
}

/**
 * A bin may be at most this many times as wide as its neighbour. With a ratio of 2, a third of 64 bins would be spent on
 * the way to a narrow peak.
 */
export const WIDER = 4;
/** The ratio above which a bin is cut: slightly more than WIDER, so that rounding does not cut bins that just fit. */
export const MOST_WIDER = 4.001;
/** Widths below this part of the axis count as this part. */
export const NARROWEST = 2 ** -44;
/** Pieces that a bin is cut into, at most: each is WIDER times as wide as the one before, from both sides. */
export const MOST_PIECES = 48;

/**
 * Cuts bins further where the widths of neighbours differ too much. Where a narrow bin lies beside one that is a thousand
 * times as wide, the slope of a peak may end in the first thousandth of the wide bin, where no sample falls: that part is
 * missing from the value and from the error. In one dimension, on a peak of width 0.001, one claim in four was off
 * by more than 5 errors. So a bin that is too wide for its neighbour is cut into pieces, each four times as wide as the
 * one before. On the integrands of the papers at 1e-3 that costs little: f4 takes 1.8 times the evaluations in 3 dimensions
 * and 1.3 times in 5, the 4-D Gaussian 0.6 times, most others the same number.
 */
function graded(edges: Float64Array): Float64Array {
  const bins = edges.length - 1;
  const least = NARROWEST * (edges[bins] - edges[0]);
  if (isGraded(edges, least)) return edges;
  const width = (i: number) => edges[i + 1] - edges[i];
  // most[i]: how wide a bin at edge i may be. At most the width of both bins beside the edge, and at most most[j] at
  // any other edge j plus (WIDER − 1) times the distance between the two edges
  const most = new Float64Array(bins + 1);
  for (let i = 0; i <= bins; i++)
    most[i] = Math.max(least, Math.min(width(Math.max(0, i - 1)), width(Math.min(bins - 1, i))));
  for (let i = 1; i <= bins; i++) most[i] = Math.min(most[i], most[i - 1] + (WIDER - 1) * width(i - 1));
  for (let i = bins - 1; i >= 0; i--) most[i] = Math.min(most[i], most[i + 1] + (WIDER - 1) * width(i));
  let fits = 0;
  while (fits < bins && width(fits) <= MOST_WIDER * Math.min(most[fits], most[fits + 1])) fits++;
  if (fits === bins) return edges;
  const cuts: number[] = [];
  for (let i = 0; i < bins; i++) {
    let fromRight: number[] | null = null; // most bins have none
    let a = edges[i];
    let b = edges[i + 1];
    let left = most[i];
    let right = most[i + 1];
    cuts.push(a);
    while (b - a > MOST_WIDER * Math.min(left, right)) {
      if (left <= right) {
        a += left;
        left *= WIDER;
        cuts.push(a);
      } else {
        b -= right;
        right *= WIDER;
        fromRight ??= [];
        fromRight.push(b);
      }
    }
    if (fromRight) cuts.push(...fromRight.reverse());
  }
  cuts.push(edges[bins]);
  return new Float64Array(cuts);
}

/**
 * Whether no bin has to be cut, for bins that are all at least as wide as `least`: then most[i] in `graded` is the width of the narrower bin beside
 * edge i, because that of any other edge and WIDER − 1 times the way to it are more. A map of 10 × 1024 bins took 0.65 ms instead of 0.75 (_trial_).
 */
function isGraded(edges: Float64Array, least: number): boolean {
  const bins = edges.length - 1;
  let before = edges[1] - edges[0];
  let own = before;
  for (let i = 0; i < bins; i++) {
    const after = i + 1 < bins ? edges[i + 2] - edges[i + 1] : own;
    const narrowest = before < after ? before : after;
    if (!(own >= least) || own > MOST_WIDER * (narrowest < own ? narrowest : own)) return false;
    before = own;
    own = after;
  }
  return true;
}

const dampers = new Map<number, (shares: Float64Array) => Float64Array>();

/**
 * ((1 − d)/ln(1/d))^α of every share d: a bin with a tenth of the weight is not cut ten times as finely as one with a
 * hundredth. The library's own compiler computes it, since engines differ in the last bits of `Math.log` and `**`. The usual α have no
 * power: for 10 × 1024 bins it takes 0.26 ms, all else 0.16 (_trial_).
 */
function damp(shares: Float64Array, alpha: number): Float64Array {
  let f = dampers.get(alpha);
  if (!f) {
    f = damperFor(alpha);
    dampers.set(alpha, f);
  }
  return f(shares);
}

function damperFor(alpha: number): (shares: Float64Array) => Float64Array {
  if (alpha === 1)
    return compileNow(([d]: number[]) => (d <= 0 ? 0 : d >= 1 ? 1 : (1 - d) / -Math.log(d)), { dims: 1 })
      .evaluate;
  if (alpha === 0.5)
    return compileNow(([d]: number[]) => (d <= 0 ? 0 : d >= 1 ? 1 : Math.sqrt((1 - d) / -Math.log(d))), {
      dims: 1,
    }).evaluate;
  return compileNow(([d]: number[], p) => (d <= 0 ? 0 : d >= 1 ? 1 : ((1 - d) / -Math.log(d)) ** p.alpha), {
    dims: 1,
    params: { alpha },
  }).evaluate;
}
