/**
 * What samples do not see of singular ends.
 *
 * The nearest one of N samples to an end is at a distance of about s₀ = 1/(N·density). Where |f| grows towards the end as
 * s^−a, the part of the integral below s₀ is a plain piece |f(s₀)|·s₀ and an excess over it, a/(1 − a) times as much. For
 * a > 1/2 the variance of samples is infinite, and their mean deviates by about this excess, mostly downwards, while the error
 * that they show is smaller: vegas+ on Π (1 − x)^−a was 5 to 7 errors off in 2 of 19 claims, and on 1/(x·ln^q x) in 4 of 14. So
 * the error of a claim has to allow for the excess. Where |f| is bounded at the end it is 0, and costs nothing.
 *
 * The excess is measured, not extrapolated: ∫ (|f(s)| − |f(s₀)|) ds below s₀, as a sum over windows of octaves.
 */

import { kit } from '../integrand/math/common.ts';
import type { Nearest } from '../methods/method.ts';
import { byAxis, type EndPoints, type EndSet, type EndWindow, roomOf } from './end-points.ts';

/** The octaves of the first window; each following one has twice as many. */
const FIRST_OCTAVES = 2;
/** The part of the octaves up to the last numbers in which points can be placed: closer to the end they round to it. */
const LAST_PART = 0.92;
/** Points per window, in one dimension and in several; fewer are enough to see whether |f| grows. */
const POINTS = { line: 16, box: 64 } as const;
const FEW_POINTS = { line: 2, box: 4 } as const;
/** How far towards the end the growth is looked at before anything else is, in octaves. */
const LOOK_AHEAD = 6;
/** An end towards which |f| grows more slowly than s^−GROWTH is harmless: the variance of samples is finite. */
const GROWTH = 0.25;
/** Ends that are examined, at most. */
const MAX_ENDS = 64;

/** The excess at all ends if `samples` samples come as close to them as `nearest` says. */
export async function unseenBy(
  points: EndPoints,
  nearest: Nearest,
  samples: number,
  result: number,
  endPart: number,
): Promise<number> {
  if (points.mayBlock) return 0;
  let sum = 0;
  for (const end of points.ends.slice(0, MAX_ENDS)) {
    const closest = nearest[end.axis][end.inward > 0 ? 0 : 1];
    sum += await excessBelow(points, [[end]], -kit.log2(closest), result);
  }
  const infinite = byAxis(points.ends.filter(e => e.infinite));
  return infinite.length > 1
    ? Math.max(sum, await between(points, infinite, nearest, { samples, endPart }, result))
    : sum;
}

/** The excess between the distance 2^-start and the last numbers. */
async function excessBelow(points: EndPoints, set: EndSet, start: number, result: number): Promise<number> {
  const last = LAST_PART * roomOf(set);
  if (!(last - start > LOOK_AHEAD)) return 0;
  const [few, count] = [FEW_POINTS, POINTS].map(n => (points.dims > 1 ? n.box : n.line));
  const sizeAt = async (octave: number) => {
    const { f } = await points.values(set, { start: octave, octaves: 0, count: few }, result);
    return total(f, few, () => 1);
  };
  const [here, ahead] = [await sizeAt(start), await sizeAt(start + LOOK_AHEAD)];
  if (!(ahead > here * kit.exp2(GROWTH * LOOK_AHEAD))) return 0;
  const { f: plain } = await points.values(set, { start, octaves: 0, count }, result);
  let sum = 0;
  for (const window of windowsTo(start, last, count)) {
    const { f, weights } = await points.values(set, window, result);
    const above =
      f.length > 0 ? Float64Array.from(f, (v, i) => Math.max(0, Math.abs(v) - Math.abs(plain[i]))) : f;
    sum += total(above, count, i => weights[i]) * (window.octaves / count) * Math.LN2;
  }
  return sum;
}

/**
 * The integral of |f| in directions between axes that samples do not see. In the part of the domain where the distances from
 * the ends are about sᵢ, there are about N·Π sᵢ·densityᵢ samples, with nearestᵢ = 1/(N·densityᵢ). It is not seen where that is
 * less than 1. That density is known up to `endPart` of the samples, the outer bin of a map. Farther in it is larger: a map of a
 * Gaussian has most of its samples in a hundredth of the range. On (1 + |x|²)^−q in 5 dimensions the weights of samples have an infinite variance though they are bounded along
 * each axis.
 */
async function between(
  points: EndPoints,
  set: EndSet,
  nearest: Nearest,
  { samples, endPart }: { samples: number; endPart: number },
  result: number,
): Promise<number> {
  const count = POINTS.box;
  let sum = 0;
  for (const window of windowsTo(1, LAST_PART * roomOf(set), count)) {
    const { f, weights, distances } = await points.values(set, window, result);
    const isSeen = (i: number) =>
      set.reduce((n, ends, k) => {
        const closest = Math.min(...ends.map(e => nearest[e.axis][e.inward > 0 ? 0 : 1]));
        const part = distances[k][i] / closest / samples; // of the samples, as near to the end
        return part < endPart ? n * part : n; // farther in the density is larger
      }, samples) >= 1;
    sum += total(f, count, i => (isSeen(i) ? 0 : weights[i])) * (window.octaves / count) * Math.LN2;
  }
  return sum;
}

function* windowsTo(start: number, last: number, count: number): Generator<EndWindow> {
  for (let octaves = FIRST_OCTAVES; start < last; start += octaves, octaves *= 2)
    yield { start, octaves: Math.min(octaves, last - start), count };
}

/** Σ |f|·weight; values that are not finite count as 0. */
function total(f: ArrayLike<number>, count: number, weight: (i: number) => number): number {
  let sum = 0;
  for (let i = 0; i < count; i++) {
    const own = Math.abs(f[i]) * weight(i);
    if (own < Infinity) sum += own;
  }
  return sum;
}
