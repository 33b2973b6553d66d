/**
 * Tasks of samples: one iteration of stratified sampling through a map, as data that can be cloned and sent. An iteration is
 * cut into groups (pieces.ts); `plan` says how many, by the task alone. Whoever samples a part of the groups returns its
 * sums, and `merge` puts the sums of all parts together: with the same bits for any cut into parts, any order in which they
 * come, and parts that come twice. So a result does not depend on how many workers, devices or machines shared the work.
 */
import { intrinsics } from '../integrand/math/kit.ts';
import type { LatticeWords } from '../random/lattice.ts';
import type { Key } from '../random/philox.ts';
import { packedLength } from './correlation.ts';
import { type CountsWindow, totalOf } from './counts-window.ts';
import { inOrder, isKept, type Kept, mergeNonFinite, type NonFinite, type Part } from './part.ts';
import { groupsOf } from './pieces.ts';
import { TreeSum } from './tree-sum.ts';

/** Edges of a map, bins + 1 numbers per axis; or where the session keeps them. */
export type AxisMap = Float64Array | Kept;

/** Samples of each cube, which add up to `evaluations` or fewer. */
export interface Counts {
  /** What they add up to at most. */
  readonly evaluations: number;
  /** One number per cube. */
  readonly each: Uint32Array | Kept;
  /** Where `each` has the cubes of a part only. CPUs take that; cards take all cubes. */
  readonly window?: CountsWindow;
}

export interface SampleTask {
  /** The seed, as the key of Philox4x32-10. */
  key: Key;
  /** The third word of the random numbers' counter; see random/philox.ts. */
  iteration: number;
  /** The fourth word: what the numbers are drawn for. */
  stream: number;
  /** Bins of the map per axis. */
  bins: number;
  /** The map from the unit cube to the domain. */
  edges: AxisMap;
  /** Strata per axis; the cubes are numbered with the first axis fastest. */
  strata: readonly number[];
  /** The points of shifted lattices, where they are not random; then `strata` are 1, and a cube is a shift. */
  lattice?: LatticePoints;
  /** Samples of every cube, at least 2, or of each. */
  counts: number | Counts;
  /** What w = f·Jacobian is divided by; a power of two. With several results each has its own, and this is 1. */
  unit: number;
  /** For an integrand with several results: those that this task samples. */
  pass?: ResultPass;
  /** For an iteration to learn from; null when map and strata are frozen. */
  adapt: Adapt | null;
  /** Whether to return mean and variance of each cube; only when nothing adapts. */
  cubes?: boolean;
}

/**
 * Points of a lattice (random/lattice.ts) through a smooth map, for tasks that do not adapt. Their words stand in the place of
 * random ones. Every shift has the same number of samples n, a multiple of PIECE (pieces.ts) for which n·steps is 0 mod 2^32:
 * samples are numbered on from shift to shift.
 */
export interface LatticePoints extends LatticeWords {
  /** The slopes of the map at its edges, bins + 1 numbers per axis, per bin (smooth-map.ts). */
  slopes: Float64Array;
}

/** A task samples at most RESULTS_PER_PASS (correlation.ts) results of an integrand; further ones take another task. */
export interface ResultPass {
  /** The results, by their numbers, in ascending order. */
  results: readonly number[];
  /** What w of each of them is divided by, powers of two near their sizes. */
  units: readonly number[];
  /**
   * The results to learn from, by their places in `results`; at least one where something is learned or cubes are wanted. The
   * histogram adds Σ w² of these; the variance of a cube is the sum of their variances, and its mean, where that is wanted,
   * √(Σ mean²). Of a pass of one result it is the mean.
   */
  leads: readonly number[];
}

export interface Adapt {
  /** What w² is multiplied with before it is rounded and added to the histogram. */
  scale: number;
  /** Whether the variance of each cube is wanted. */
  variances: boolean;
  /** The limit of blocks that the histogram counts (counted.ts); without it, all. */
  limit?: number;
  /**
   * The session's own `learning` keeps histogram and variances, and the sums are without them. Only for sessions that have
   * one, for the whole of an iteration, and for all results of the integrand.
   */
  keep?: boolean;
}

/** Sums over the cubes of an iteration. */
export interface SampleSums {
  /** Samples that were drawn. */
  evaluations: number;
  /** Σ over cubes of the mean of w = f·Jacobian/unit in the cube. */
  sum: number;
  /** The variance of that sum. */
  variance: number;
  /** With a `pass`: the sums of all its results; `sum`, `variance` and `concentration` are those of the first. */
  several?: SeveralSums;
  /** Σ vᵢ², with vᵢ the variance that piece i contributes. (Σ vᵢ)²/Σ vᵢ² is the effective number of pieces that carry it. */
  concentration: number;
  /** Σ of the rounded scaled squares of samples that count in each bin, `bins` numbers per axis; null when frozen or kept. */
  histogram: Float64Array | null;
  /** Σ of the rounded scaled squares of all samples; 0 when frozen. From 2^53 on it has 20 bits, and the histogram is 0. */
  squares: number;
  /** Variance of w in each cube, if it is wanted. */
  variances: Float64Array | null;
  /** Mean of w in each cube, if it is wanted. */
  means: Float64Array | null;
  /** Values that were not finite; they count as 0. */
  nonFinite: NonFinite | null;
}

/** Sums of several results. */
export interface SeveralSums {
  /** Σ over cubes of the mean of w in the cube, for each result. */
  sums: Float64Array;
  /** The covariances of these sums: a lower triangle (correlation.ts). */
  covariances: Float64Array;
  /** Σ vᵢ² for each result, with vᵢ the variance that piece i contributes. */
  concentrations: Float64Array;
}

/** Sums over a part of the groups of an iteration. */
export interface PartSums {
  /** The groups that were sampled. */
  part: Part;
  /** Samples that were drawn. */
  evaluations: number;
  /** Sums, covariances and concentrations of the subtrees of groups that the part covers; see tree-sum.ts. */
  nodes: Float64Array;
  /** As in SampleSums: integers, whose sums have no order below 2^53. */
  histogram: Float64Array | null;
  /** As in SampleSums. */
  squares: number;
  /** Of each cube, if it is wanted. */
  cubes: CubeSums | null;
  /** Values that were not finite; they count as 0. */
  nonFinite: NonFinite | null;
}

/** What cubes contribute to groups. A cube that is cut between groups contributes to each of them. */
export interface CubeSums {
  /** The first cube of each group. */
  first: Uint32Array;
  /** Where the numbers of each group begin in the lists; one entry more tells where the last ends. */
  starts: Uint32Array;
  /** Shares of the variance of w in each cube. */
  variances: Float64Array;
  /** Shares of the mean of w in each cube, if it is wanted. */
  means: Float64Array | null;
}

/** Numbers in a node of n results: their sums, the lower triangle of their covariances, their concentrations. */
export const nodeWidth = (n: number): number => 2 * n + packedLength(n);

/** Numbers in a node of one result. */
export const SUMS = nodeWidth(1);

/** Results that a task samples. */
export const resultsOf = (task: Pick<SampleTask, 'pass'>): number => task.pass?.results.length ?? 1;

/** What decides how many cubes a task has. */
type Cubes = Pick<SampleTask, 'strata' | 'lattice'>;

/** Cubes of a task; those of a lattice are its shifts. */
export const cubesOf = ({ strata, lattice }: Cubes): number =>
  lattice ? lattice.shifts.length / strata.length : strata.reduce((a, b) => a * b, 1);

/** Samples of an iteration, or slightly more where each cube has its own number. */
export function samplesOf(task: Cubes & Pick<SampleTask, 'counts'>): number {
  return typeof task.counts === 'number' ? task.counts * cubesOf(task) : task.counts.evaluations;
}

/** How many groups an iteration has, and samples per group. Depends on the task alone, never on a device. */
export function plan(task: Cubes & Pick<SampleTask, 'counts'>): { groups: number; size: number } {
  return groupsOf(samplesOf(task));
}

/** All groups of an iteration. */
export const wholeOf = (task: SampleTask): Part => ({ first: 0, count: plan(task).groups });

/** The sums of parts as those of one part that covers them all. */
export function mergeParts(task: SampleTask, whole: Part, parts: Iterable<PartSums>): PartSums {
  const sorted = inOrder(parts, whole);
  if (sorted.length === 1) return sorted[0];
  const tree = new TreeSum(nodeWidth(resultsOf(task)), plan(task).groups);
  for (const { part, nodes } of sorted) tree.add(part.first, nodes, part.first + part.count);
  return {
    part: whole,
    evaluations: sorted.reduce((n, p) => n + p.evaluations, 0),
    nodes: tree.nodes,
    histogram: addLists(sorted.map(p => p.histogram)),
    squares: sorted.reduce((n, p) => n + p.squares, 0),
    cubes: mergeCubes(sorted.flatMap(p => p.cubes ?? [])),
    nonFinite: mergeNonFinite(sorted),
  };
}

/** The sums of an iteration from those of its parts. */
export function merge(task: SampleTask, parts: Iterable<PartSums>): SampleSums {
  const all = mergeParts(task, wholeOf(task), parts);
  const n = resultsOf(task);
  const width = nodeWidth(n);
  const { evaluations, nodes, nonFinite } = all;
  const { histogram, squares } = exact(all);
  const { variances, means } = byCube(task, all.cubes);
  const merged: SampleSums = {
    evaluations,
    sum: nodes[0],
    variance: nodes[n],
    concentration: nodes[width - n],
    histogram,
    squares,
    variances,
    means,
    nonFinite,
  };
  if (task.pass)
    merged.several = {
      sums: nodes.subarray(0, n),
      covariances: nodes.subarray(n, width - n),
      concentrations: nodes.subarray(width - n, width),
    };
  return merged;
}

/**
 * The histogram and its sum, as they are while they are integers below 2^53. Larger ones depend on the order in which they
 * were added, and mean that the scale is too fine: then there is no histogram, and the sum is told to 20 bits.
 */
function exact({ histogram, squares }: PartSums): Pick<SampleSums, 'histogram' | 'squares'> {
  if (squares < 2 ** 53) return { histogram, squares };
  const unit = 2 ** (intrinsics.exponent(squares) - 20);
  return { histogram: histogram ? histogram.map(() => 0) : null, squares: Math.round(squares / unit) * unit };
}

function mergeCubes(lists: readonly CubeSums[]): CubeSums | null {
  if (lists.length < 2) return lists[0] ?? null;
  const groups = lists.reduce((n, l) => n + l.first.length, 0);
  const entries = lists.reduce((n, l) => n + l.variances.length, 0);
  const all: CubeSums = {
    first: new Uint32Array(groups),
    starts: new Uint32Array(groups + 1),
    variances: new Float64Array(entries),
    means: lists[0].means && new Float64Array(entries),
  };
  let [group, entry] = [0, 0];
  for (const { first, starts, variances, means } of lists) {
    all.first.set(first, group);
    for (let g = 0; g < first.length; g++) all.starts[group + g + 1] = entry + starts[g + 1];
    all.variances.set(variances, entry);
    if (means) all.means!.set(means, entry);
    group += first.length;
    entry += variances.length;
  }
  return all;
}

/** Variance and mean of each cube: what it contributes to all groups, added in their order. */
function byCube(task: SampleTask, own: CubeSums | null): Pick<SampleSums, 'variances' | 'means'> {
  if (!own) return { variances: null, means: null };
  const { first, starts } = own;
  const cubes = cubesOf(task);
  const add = (from: Float64Array): Float64Array => {
    if (first.length === 1 && from.length === cubes) return from; // added by the device
    const all = new Float64Array(cubes);
    for (let g = 0; g < first.length; g++) {
      const shift = first[g] - starts[g];
      for (let i = starts[g]; i < starts[g + 1]; i++) all[i + shift] += from[i];
    }
    return all;
  };
  return { variances: add(own.variances), means: own.means && add(own.means) };
}

/** Lists of integers added up, of which some may be missing. */
export function addLists(lists: Iterable<Float64Array | null>): Float64Array | null {
  let sum: Float64Array | null = null;
  for (const list of lists) {
    if (!list) continue;
    if (!sum) sum = list.slice();
    else for (let i = 0; i < sum.length; i++) sum[i] += list[i];
  }
  return sum;
}

/** Samples of each cube as a task takes them. */
export function listed(each: Uint32Array): Counts {
  return { evaluations: totalOf(each), each };
}

/** A task whose map and counts are numbers, not kept in a session's memory. */
export type PlainTask = SampleTask & {
  edges: Float64Array;
  counts: number | { each: Uint32Array; window?: CountsWindow };
};

/** The task, if its map and counts are numbers. */
export function plainTask(task: SampleTask): PlainTask {
  const counts = typeof task.counts === 'number' ? null : task.counts.each;
  if (isKept(task.edges) || isKept(counts))
    throw new Error('a task names a map or counts that this session does not keep');
  return task as PlainTask;
}
