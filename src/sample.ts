/**
 * `sample` draws points through the map that a run has learned, with weights, or without: then a point is kept with a
 * probability in proportion to its weight (rejection), as event generators do.
 *
 * The points are made, and their values computed, on the calling thread: the same arithmetic as on every device, so points
 * and weights have the same bits wherever the map was learned.
 *
 * Unweighted points need the largest weight, which nobody knows. As in Sherpa (T. Gleisberg et al., JHEP 02 (2009) 007,
 * `Max_Epsilon`), a pilot of points gives a reference: the smallest weight such that what larger ones have beyond it is at
 * most the part `maxOverweight` of the sum of all. A point whose weight exceeds the reference is kept, with the ratio of the two
 * as its weight, so that nothing is lost; how many these are, and how much they have, is told.
 */
import { checkNames, namedResult, type ResultName } from './goals.ts';
import { boundShape } from './integrand/bound.ts';
import type { Integrand, IntegrandOf, NoParams } from './integrand/compile.ts';
import { loading } from './integrand/on-demand.ts';
import type { Params } from './integrand/params.ts';
import { leaves, type ResultShape } from './integrand/shape.ts';
import { capturing, checked, integrate, prepare, resolve, shaped } from './integrate.ts';
import { IntegrationError } from './options/integration-error.ts';
import { checkedFor, OptionError } from './options/option-error.ts';
import {
  type AllOptions,
  type CommonOptions,
  checkProblem,
  type IntegrateOptions,
  type Problem,
  type Where,
} from './problem.ts';
import { checkState, learnedFor } from './read-state.ts';
import { stopSignal } from './solve.ts';
import { learnsMap, type State } from './state.ts';
import { Moments, WeightedPoints } from './weighted-points.ts';

/** The options of `sample` but for the domain; with a `state`, those about tolerances and methods have no effect. */
// biome-ignore lint/suspicious/noExplicitAny: what params hold is between the caller and the function
export interface CommonSampleOptions<P extends Params = any>
  extends Omit<CommonOptions<P>, 'resume' | 'histograms'> {
  /** How many points. */
  count: number;
  /** The `state` of a result of the same integral, by the VEGAS family. Without it the integral is computed first. */
  state?: State | undefined;
  /** The result that points are drawn from, for an integrand that returns several: its name or number. */
  result?: ResultName | undefined;
  /** Keep points with a probability in proportion to the absolute value of their weight. Default false. */
  unweighted?: boolean;
  /**
   * Unweighted points: the part of the sum of all weights that weights may have beyond the reference. A smaller part makes
   * fewer points overweight, and rejects more of them. Default 0.001.
   */
  maxOverweight?: number;
}

/** The options of `integrate`, without `resume` and `histograms`; with a `state`, those about tolerances and methods have no effect. */
// biome-ignore lint/suspicious/noExplicitAny: as in `CommonSampleOptions`
export type SampleOptions<P extends Params = any> = CommonSampleOptions<P> & Where;

/** Points drawn from an integrand. */
export interface Samples {
  /** The points in the coordinates of the domain: the coordinates of the first point, then those of the second one. */
  points: Float64Array;
  /**
   * Weighted: the mean of the weights is an estimate of the integral. Unweighted: 1, or −1 where the integrand is negative;
   * of a larger size where a point is overweight.
   */
  weights: Float64Array;
  /** The values of the integrand; of several results, those of `result`. */
  values: Float64Array;
  /** The integral by all points that were drawn, also those that were rejected, and its standard deviation. */
  value: number;
  /** The standard deviation of `value`. */
  error: number;
  /** Points that were drawn for this, without the pilot. */
  drawn: number;
  /** Unweighted: the part of the points drawn that was kept. Weighted: (Σ |w|)²/(count·Σ w²). */
  efficiency: number;
  /** Unweighted: the part of the kept points that is overweight, and what they have beyond 1 as a part of Σ |weights|. */
  overweight: {
    /** The part of the points. */
    points: number;
    /** The part of the weights. */
    weight: number;
  };
  /** The seed. */
  seed: number | string;
}

/** Points per batch. */
const BATCH = 4096;
/** Points of the pilot that finds the reference for unweighted points; and at most this part of `maxEvaluations`. */
const PILOT = 2 ** 16;
const PILOT_PART = 0.25;
/** Points in all, at most: 8 bytes for each coordinate, weight and value. */
const MAX_COUNT = 1e9;

/** Random points from the integrand `f`, or from one of its results, with weights, or unweighted ones. */
export async function sample<P extends Params = NoParams>(
  f: IntegrandOf<NoInfer<P>, ResultShape> | URL,
  options: SampleOptions<P>,
): Promise<Samples> {
  return sampled(f as Integrand<ResultShape> | URL, options);
}

async function sampled(f: Integrand<ResultShape> | URL, options: SampleOptions): Promise<Samples> {
  const start = performance.now();
  const { count, state, result, unweighted = false, maxOverweight = 1e-3, ...common } = options ?? {};
  checkOwn({ count, state, result, unweighted, maxOverweight });
  if ('resume' in common)
    throw refusal('resume', common.resume, 'pass it as `state`', 'unknown option `resume`');
  if ('histograms' in common)
    throw refusal('histograms', common.histograms, 'pass it to `integrate`', 'unknown option `histograms`');
  if (state && common.map) throw refusal('map', common.map, 'give `state` or `map`, not both');
  const given = await loading(() => checkedFor('sample', () => checkProblem(common)));
  if (given.domain.empty)
    throw refusal('domain', common.domain, 'pass ranges with different bounds', 'the domain is empty');
  const { signal, clear } = stopSignal(given, start);
  try {
    const resolved = await resolve(f, given, start);
    signal?.throwIfAborted();
    const [found, module] = resolved!;
    const problem = capturing(found, given);
    const ready = await loading(() => prepare(found, module, problem, start + problem.maxTime));
    const integrand = await checked(found, await shaped(found, ready, problem, start), problem);
    signal?.throwIfAborted();
    const row = namedResult(integrand, 'result', result, 'sample');
    const shape = boundShape(integrand);
    const own = shape === 'number' ? {} : { goals: row, learnFrom: row };
    const known = state ?? (await learn(f, { ...own, ...common }, problem));
    const learned = checkedFor('sample', () => learnedFor(known, problem, integrand));
    const names = shape === 'number' ? undefined : leaves(shape);
    const source = new WeightedPoints(problem, integrand, { row, names }, learned, signal);
    return await (unweighted ? withoutWeights(source, count, maxOverweight) : withWeights(source, count));
  } finally {
    clear();
  }
}

/** Integrates, for the map. */
async function learn(f: Integrand<ResultShape> | URL, common: AllOptions, problem: Problem): Promise<State> {
  const method = problem.method === 'auto' ? 'vegas+' : problem.method;
  if (!learnsMap(method) && method !== 'plain')
    throw refusal('method', method, "use method 'vegas+', or leave it out", `${method} learns no map`);
  const { signal } = problem;
  const { state, status } = await integrate(f as Integrand, { ...common, method } as IntegrateOptions);
  if (status === 'aborted') throw signal!.reason;
  if (state) return state;
  throw refusal(
    'state',
    state,
    'pass what it uses as params',
    'the function uses names from outside, so that its result has no state',
  );
}

async function withWeights(source: WeightedPoints, count: number): Promise<Samples> {
  const samples = source.empty(count);
  const moments = new Moments();
  for (let first = 0; first < count; first += BATCH) {
    const batch = await source.batch(0, first, Math.min(BATCH, count - first));
    for (let i = 0; i < batch.n; i++) {
      source.put(batch, i, samples, first + i);
      samples.weights[first + i] = batch.weights[i];
      moments.add(batch.weights[i]);
    }
  }
  return { ...samples, ...moments.estimate, drawn: count, efficiency: moments.efficiency };
}

async function withoutWeights(
  source: WeightedPoints,
  count: number,
  maxOverweight: number,
): Promise<Samples> {
  const { maxEvaluations } = source.problem;
  const pilot = Math.ceil(Math.min(PILOT, PILOT_PART * maxEvaluations));
  const reference = referenceFor(await pilotOf(source, pilot), maxOverweight);
  if (reference === 0)
    throw new IntegrationError(
      `the integrand was 0 at all of ${pilot} points; narrow the domain to where it is not.`,
      'sample',
    );
  const samples = source.empty(count);
  const moments = new Moments();
  let [kept, over, beyond, drawn] = [0, 0, 0, 0];
  for (let first = 0; kept < count; first += BATCH) {
    if (pilot + first + BATCH > maxEvaluations)
      throw new IntegrationError(
        w =>
          `${kept} of ${count} points were kept when ${w.name('maxEvaluations')}, ${maxEvaluations}, was spent; raise it, ask for fewer points, or let the map learn to a smaller ${w.name('relTol')}.`,
        'sample',
      );
    const batch = await source.batch(1, first, BATCH);
    for (let i = 0; i < batch.n; i++) {
      moments.add(batch.weights[i]);
      const ratio = Math.abs(batch.weights[i]) / reference;
      if (kept === count || !(batch.chances[i] < ratio)) continue;
      source.put(batch, i, samples, kept);
      samples.weights[kept++] = Math.sign(batch.weights[i]) * Math.max(1, ratio);
      if (ratio > 1) {
        over++;
        beyond += ratio - 1;
      }
      drawn = first + i + 1;
    }
  }
  return {
    ...samples,
    ...moments.estimate,
    drawn,
    efficiency: count / drawn,
    overweight: { points: over / count, weight: beyond / (count + beyond) },
  };
}

/** The absolute weights of the pilot. */
async function pilotOf(source: WeightedPoints, points: number): Promise<Float64Array> {
  const sizes = new Float64Array(points);
  for (let first = 0; first < points; first += BATCH) {
    const { weights } = await source.batch(0, first, Math.min(BATCH, points - first));
    sizes.set(weights.map(Math.abs), first);
  }
  return sizes;
}

/** Where the largest weight exceeds the mean by less than this part, the largest is the reference: rejection costs little. */
const EVEN_WEIGHTS = 0.01;

/** The smallest r with Σ max(0, w − r) ≤ part·Σ w, over weights w ≥ 0. */
export function referenceFor(weights: Float64Array, part: number): number {
  const sorted = weights.slice().sort();
  const sum = sorted.reduce((a, b) => a + b, 0);
  const largest = sorted[sorted.length - 1];
  // slightly more than the largest: weights of a constant integrand differ by rounding
  if (largest * sorted.length <= (1 + EVEN_WEIGHTS) * sum) return largest * (1 + 2 ** -40);
  const allowed = part * sum;
  // Σ over the k largest of (w − r) is linear in r between two neighbouring weights
  let above = 0;
  for (let k = 0; k < sorted.length; k++) {
    const next = sorted[sorted.length - 1 - k];
    if (above - k * next > allowed) return (above - allowed) / k;
    above += next;
  }
  return sorted[0];
}

type OwnOption = 'count' | 'state' | 'result' | 'unweighted' | 'maxOverweight';

function checkOwn({ count, state, result, unweighted, maxOverweight }: Record<OwnOption, unknown>): void {
  if (!Number.isSafeInteger(count) || (count as number) < 1 || (count as number) > MAX_COUNT)
    throw refusal('count', count, `pass a whole number from 1 to ${MAX_COUNT}`);
  if (state !== undefined) checkedFor('sample', () => checkState('state', state));
  if (Array.isArray(result)) throw refusal('result', result, "pass the name of one result, such as 'mean'");
  if (result !== undefined) checkedFor('sample', () => checkNames('result', result));
  if (typeof unweighted !== 'boolean')
    throw refusal('unweighted', unweighted, 'pass true or false, or leave it out');
  if (!(typeof maxOverweight === 'number' && maxOverweight >= 0 && maxOverweight < 1))
    throw refusal('maxOverweight', maxOverweight, 'pass a number from 0 on, below 1, such as 0.001');
}

const refusal = (option: string, value: unknown, remedy: string, reason?: string) =>
  new OptionError(option, value, remedy, reason, 'sample');
