/**
 * Witnesses: random points that confirm or contradict what a cubature rule made of a list of regions.
 *
 * A region believes a model g of the integrand: its value at the centre, plus a polynomial along each axis, through points
 * ±a₁ … ±aₚ that the rule has there, plus what the corners (±b, ±b) of each pair of axes have beyond that, which are points
 * of the rule too. Other points may see what the rule does not, and would spoil the model: when b was aₚ in 2 dimensions, such
 * a corner lay in a ball that the rule had missed, and witnesses in the ball surprised nobody. In one dimension p = 7, and the
 * model goes through all points of the rule: the noise of a quartic's residuals hid kinks near the ends of a region. In more
 * dimensions p = 2, because mixed terms are the larger part of the residual there.
 *
 * A witness at x has the residual ρ = f(x) − g(x). With V the volume of a region,
 *
 *     deviation = V·(mean of ρ + mean of g) − value of the rule
 *
 * estimates truth minus value without bias, since the mean of g is known exactly; its variance is measured. A region is
 * surprised when f at some witness is far outside of the range of f over the points of the model and the two corners to
 * which it rises and falls most. (Residuals are no measure for that: in 8 dimensions the model of a smooth peak is far off
 * in corners.)
 *
 * Half of the witnesses are spread by volume, half evenly over the regions. Where there are more regions than witnesses can
 * speak for, some regions have none, by chance, and the others count for them.
 *
 * BLOCK witnesses are a Kronecker sequence u + i·α modulo 1 with α of the R-sequence (M. Roberts, "The unreasonable
 * effectiveness of quasirandom sequences", 2018), from a start u by Philox: each of them is uniform, and they cost an addition
 * per coordinate. Longer sequences leave holes: 32,768 points of one, in 4 dimensions, missed a slab of a 4000th of a region.
 */
import type { Key } from '../random/philox.ts';
import { inOrder, mergeNonFinite, type NonFinite, type Part } from './part.ts';
import type { Ranges } from './region.ts';
import type { Rule, RuleName } from './rules.ts';

/** The best nodes of a quartic along an axis, in half-widths: Chebyshev's. */
const BEST_NODES = [0.5877852522924731, 0.9510565162951535] as const;
/** Where the two corners are to which the model rises and falls most, in half-widths. */
export const CORNER = 0.98;
/**
 * A corner whose value is farther from all values of the model than their range times CORNER_GROWTH^n is itself a surprise, and
 * does not widen the range: in 2 dimensions a ball that both the rule and the model had missed covered such a corner, and
 * witnesses in the ball surprised nobody. (A product of n exponentials grows by its n-th power towards a corner.)
 */
export const CORNER_GROWTH = 4;
/**
 * The ladder at a face: points at gap·LADDER^-k half-widths from it, k = 1 … RUNGS, where gap is what the outermost node leaves. The
 * last one is looked at first, and the others only if it is not what the model says.
 */
export const LADDER = 8;
export const RUNGS = 6;
/**
 * The model along an axis is believed to this part of what its outermost nodes brought. With coefficients cₖ of tᵏ its
 * error near a face is 0.07·(c₅ + c₆), and what the outermost nodes brought is 0.65·(c₃ + c₄).
 */
export const DOUBT = 0.3;
/** A value farther than this times the range of f from all that the region has seen is a surprise. */
export const SURPRISE = 1.5;
/**
 * Squares of residuals are summed in units of the largest |f| that a region knows, but at least of this part of the mean |f|
 * over the box: a region in the tail of a peak may know values of 1e-220 only, and have a witness of 1. In these units
 * residuals are cut at LARGEST_RESIDUAL, so that no sum overflows.
 */
export const LEAST_UNIT = 2 ** -200;
export const LARGEST_RESIDUAL = 2 ** 500;
/** The smallest unit of all: numbers can still be divided by it. */
export const SMALLEST_UNIT = 2 ** -1000;
/** Differences below this part of the largest |f| are rounding errors. */
export const RESIDUAL_NOISE = 2 ** -43;
/**
 * Witnesses of a region that has any, at least, and as a part of the evaluations of its model. Where a region should have
 * fewer, it has that many with the probability that makes the number right on average, and else none.
 */
const LEAST_WITNESSES = 8;
const WITNESSES_PER_MODEL = 0.25;

/** Regions of a box, as in RegionTask, with their values. */
export interface WitnessTask {
  /** The key of the random numbers. */
  key: Key;
  /** The number of the draw: each has other points. */
  round: number;
  /** The rule that made the values. */
  rule: RuleName;
  /** The box. */
  ranges: Ranges;
  /** How many regions there are. */
  count: number;
  /** The centres, `count` numbers per axis. */
  centres: Float64Array;
  /** How often each axis was halved, `count` numbers per axis. */
  levels: Uint8Array;
  /** The integral over each region by the rule. */
  values: Float64Array;
  /** The result that they are heard about, where the integrand has several; by default the first. */
  result?: number;
  /** Witnesses in all, about. */
  witnesses: number;
  /** Σ |values|: what deviations are small or large against. */
  absolute: number;
}

export interface WitnessSums {
  /** The regions that have witnesses. */
  part: Part;
  /** Each region's estimate of truth minus value. */
  deviations: Float64Array;
  /** The standard deviation of that estimate. */
  spreads: Float64Array;
  /** 1 for regions that are surprised. */
  surprises: Uint8Array;
  /** What the faces of each region may hide from its rule, at most. */
  missing: Float64Array;
  /** The axis along which the witness with the largest residual is nearest to a face: the one to halve, if a region is blamed. */
  axes: Uint8Array;
  /** How many witnesses there were. */
  witnesses: number;
  /** Evaluations, with those of the models. */
  evaluations: number;
  /** Values that were not finite; they count as 0. */
  nonFinite: NonFinite | null;
}

/** Evaluations that the model of a region takes, with those at its faces. */
export const modelPoints = (dims: number): number =>
  3 + 2 * modelPairs(dims) * dims + 2 * dims * (dims - 1) + 2 * dims;

/** Pairs of points of the model along an axis. */
export const modelPairs = (dims: number): number => (dims === 1 ? MAX_PAIRS : 2);
export const MAX_PAIRS = 7;

/** Witnesses of a region that has any, at least. */
export const leastWitnesses = (dims: number): number =>
  Math.max(LEAST_WITNESSES, Math.ceil(WITNESSES_PER_MODEL * modelPoints(dims)));

/** The evaluations that a task makes, about. */
export function witnessCost({
  count,
  witnesses,
  ranges,
}: Pick<WitnessTask, 'count' | 'witnesses' | 'ranges'>): number {
  const dims = ranges.length;
  return witnesses + Math.min(count, witnesses / leastWitnesses(dims)) * modelPoints(dims);
}

/** The best corner of a pair of axes, in half-widths. */
const BEST_CORNER = 0.956;

export interface ModelNodes {
  /** Where the model of a region has its points along an axis, in half-widths, ascending. */
  nodes: readonly number[];
  /**
   * The mean over t in [−1, 1] of the even part t²·N(t²) of the model along an axis, where N is the polynomial through the
   * numbers eⱼ at aⱼ², is Σ meanWeights[j]·eⱼ.
   */
  meanWeights: readonly number[];
  /** Where the corners of a pair of axes are, in half-widths; 0 in one dimension. */
  pairNode: number;
}

const known = new WeakMap<Rule, ModelNodes>();

/** The nodes of the rule's model: all that the rule has on an axis, or those nearest to the best. */
export function modelNodes(rule: Rule): ModelNodes {
  let found = known.get(rule);
  if (!found) {
    const all = rule.orbits.filter(o => o.generator.length === 1).map(o => o.generator[0]);
    const nearest = (best: number, among = all) =>
      among.reduce((near, g) => (Math.abs(g - best) < Math.abs(near - best) ? g : near));
    const nodes = modelPairs(rule.dims) > 2 ? all.sort((x, y) => x - y) : BEST_NODES.map(b => nearest(b));
    const diagonal = rule.orbits.map(o => o.generator).filter(([g, h]) => g === h && g !== undefined);
    const corners = diagonal.filter(g => g.length === 2).map(([g]) => g);
    const pairNode = rule.dims > 1 ? nearest(BEST_CORNER, corners) : 0;
    found = { nodes, meanWeights: nodes.map((_, j) => meanWeight(nodes, j)), pairNode };
    known.set(rule, found);
  }
  return found;
}

/** ∫ t²·L(t²) dt over [0, 1], with L the polynomial that is 1 at the square of node j and 0 at those of the others. */
function meanWeight(nodes: readonly number[], j: number): number {
  let powers = [1]; // of s = t²
  nodes.forEach((a, k) => {
    if (k === j) return;
    const [s, scale] = [a * a, nodes[j] ** 2 - a * a];
    const next = new Array<number>(powers.length + 1).fill(0);
    powers.forEach((c, i) => {
      next[i] -= (c * s) / scale;
      next[i + 1] += c / scale;
    });
    powers = next;
  });
  return powers.reduce((sum, c, i) => sum + c / (2 * i + 3), 0);
}

/** Witnesses of a sequence. */
export const BLOCK = 256;

const steps = new Map<number, Uint32Array>();

/** α of the R-sequence, in units of 2^-32: powers of 1/φ, where φ^(n+1) = φ + 1. */
export function sequenceSteps(dims: number): Uint32Array {
  let known = steps.get(dims);
  if (!known) {
    let phi = 2;
    for (let i = 0; i < 64; i++) phi = (1 + phi) ** (1 / (dims + 1));
    known = Uint32Array.from({ length: dims }, (_, d) => Math.floor(2 ** 32 * phi ** -(d + 1)) | 1);
    steps.set(dims, known);
  }
  return known;
}

export function mergeWitnesses(whole: Part, parts: Iterable<WitnessSums>): WitnessSums {
  const sorted = inOrder(parts, whole);
  if (sorted.length === 1) return sorted[0];
  const sums: WitnessSums = {
    part: whole,
    deviations: new Float64Array(whole.count),
    spreads: new Float64Array(whole.count),
    surprises: new Uint8Array(whole.count),
    missing: new Float64Array(whole.count),
    axes: new Uint8Array(whole.count),
    witnesses: 0,
    evaluations: 0,
    nonFinite: mergeNonFinite(sorted),
  };
  for (const { part, deviations, spreads, surprises, missing, axes, witnesses, evaluations } of sorted) {
    const at = part.first - whole.first;
    sums.deviations.set(deviations, at);
    sums.spreads.set(spreads, at);
    sums.surprises.set(surprises, at);
    sums.missing.set(missing, at);
    sums.axes.set(axes, at);
    sums.witnesses += witnesses;
    sums.evaluations += evaluations;
  }
  return sums;
}
