/**
 * What a run cannot see at the ends of its ranges.
 *
 * The map of an infinite range ends at some x, and numbers near a finite end are a last bit apart. No point lies beyond, so
 * no method can say what is missing there: ∫ x^-1.05 from 1 on was reported as 16.984642(65), and is 20. So the integrand is
 * evaluated at some points near each end, and what lies beyond is extrapolated from their values (tails.ts).
 *
 * Along the other axes these points are random. Where several axes are infinite the integrand may fall slowly in directions
 * between them, as (1 + x² + y²)^-1.05 does, and quickly along each; so points go to infinity along all of these axes, and
 * along pairs of up to three, as well. Points are the same in every run, and are not counted as evaluations. They are
 * evaluated on the calling thread; a program whose loops may be long is not examined, since nothing could end them there. Nor is
 * a function as it is, if it may take long and the run has limits that workers keep.
 */
import { beforeAbort } from './devices/before-abort.ts';
import type { BoundProgram } from './integrand/bound.ts';
import { type Domain, MAX_REACH, toDomain } from './integrand/domain.ts';
import { innerRange, nextDown, nextUp } from './integrand/inner-range.ts';
import { kit } from './integrand/math/index.ts';
import { stopChecksOf } from './integrand/stop-checks.ts';
import type { MethodProblem } from './methods/method.ts';
import { quickValues } from './quick-values.ts';
import { type Counter, keyOf, STREAM, wordsOf } from './random/philox.ts';
import { beyond, type Windows } from './tails.ts';
import type { EvaluatePoints } from './tasks/pointwise.ts';

/** What may be missing at one end of an axis, or at infinite ends of several axes. */
export interface Missing {
  axes: readonly number[];
  infinite: boolean;
  /** Whether the range is infinite at its other end as well. */
  bothInfinite: boolean;
  /** Where the numbers of each axis end, in the coordinates of the domain. */
  last: readonly number[];
  /** The integral of |f| beyond, as extrapolated; Infinity if it may not exist. */
  amount: number;
  /** Whether both signs were met: the integrand oscillates up to the end. */
  oscillates: boolean;
}

/** What ends a run. */
type Limits = Pick<MethodProblem, 'signal' | 'deadline'>;

/** An end of the range in which an axis is sampled. */
interface End {
  axis: number;
  /** The end, and the direction from there into the range. */
  at: number;
  inward: 1 | -1;
  infinite: boolean;
  /** Numbers near the end come as close as 2^-reach of the range. */
  reach: number;
}

/** Below this many octaves there is no room for windows: the range has few numbers. */
const MIN_REACH = 20;
/** The exponent of two that the Jacobian of the domain may come to at a point. */
const MAX_EXPONENT = 900;
/** Points per window, in one dimension and in several; fewer are enough to tell that an end is harmless. */
const POINTS = { line: 16, box: 64 } as const;
const FEW_POINTS = { line: 2, box: 4 } as const;
/** Where the integral over the last window is below this part of what is negligible, no extrapolation makes it harmful. */
const HARMLESS = 1e-3;
/** Ends that are examined, at most. */
const MAX_ENDS = 64;
/** Infinite axes of which all pairs are examined, at most. */
const MAX_PAIRED = 3;
const KEY = keyOf(1);
/** Random words by point and group of four, which are the same in every run. */
const words: Counter[][] = [];

/** Evaluates points near the ends of ranges, until `signal` or `deadline` (as performance.now() has it) ends the run. */
export class EndProbe {
  readonly #integrand: BoundProgram;
  readonly #domain: Domain;
  readonly #limits: Limits;
  #evaluate: EvaluatePoints | null = null;
  /** Values of all results in windows that were looked at: the points are the same for each result. */
  readonly #known: Record<string, ArrayLike<number>> = {};

  constructor(integrand: BoundProgram, domain: Domain, limits: Limits) {
    this.#integrand = integrand;
    this.#domain = domain;
    this.#limits = limits;
  }

  /** What may lie beyond the maps of infinite ranges, of one of several results. */
  async beyondMaps(result = 0): Promise<Missing[]> {
    const ends = endsOf(this.#domain).filter(e => e.infinite);
    const axes = byAxis(ends);
    const sets = [
      ...(axes.length > 2 ? [axes] : []),
      ...(axes.length <= MAX_PAIRED ? pairsOf(axes) : []),
      ...ends.map(e => [[e]]),
    ];
    return this.#examine(sets.slice(0, MAX_ENDS), result);
  }

  /** What may lie between the finite ends of ranges and the last numbers there, if it is more than `negligible`. */
  async besideEnds(negligible: number, result = 0): Promise<Missing[]> {
    const ends = endsOf(this.#domain).filter(e => !e.infinite);
    const found: Missing[] = [];
    for (const end of ends.slice(0, MAX_ENDS)) {
      const [few] = await this.#examine([[[end]]], result, FEW_POINTS, HARMLESS * negligible);
      if (few && few.amount > negligible) found.push(...(await this.#examine([[[end]]], result)));
    }
    return found;
  }

  /** `sets`: axes that go to their ends together, each with the ends that it may go to. */
  async #examine(
    sets: readonly (readonly (readonly End[])[])[],
    result: number,
    points: { line: number; box: number } = POINTS,
    harmless = 0,
  ): Promise<Missing[]> {
    const found: Missing[] = [];
    const count = this.#domain.axes.length > 1 ? points.box : points.line;
    if (sets.length === 0 || this.#mayBlock) return found;
    this.#evaluate ??= quickValues(this.#integrand, () => this.#isLate);
    for (const set of sets) {
      const windows = windowsFor(set);
      if (!windows) continue;
      const { start, octaves } = windows;
      const second = await this.#window(set, start + octaves, octaves, count, result);
      if (second.average <= harmless) continue;
      const first = await this.#window(set, start, octaves, count, result);
      if (this.#isLate) return found;
      const amount = beyond(first.average, second.average, windows);
      if (amount === 0) continue;
      found.push({
        axes: set.map(([end]) => end.axis),
        infinite: set[0][0].infinite,
        bothInfinite: this.#domain.axes[set[0][0].axis].infinite?.end === undefined,
        last: set.map(([end]) => this.#lastPlace(end)),
        amount,
        oscillates: second.positive && second.negative,
      });
    }
    return found;
  }

  /** The average of g (tails.ts) over a window. Both windows have the same random numbers: their ratio is less noisy. */
  async #window(
    set: readonly (readonly End[])[],
    start: number,
    octaves: number,
    count: number,
    result: number,
  ) {
    const { axes, ranges } = this.#domain;
    const dims = axes.length;
    const inner = ranges.map(innerRange);
    const volume = ranges.reduce((v, [low, high]) => v * (high - low), 1);
    const points = new Float64Array(dims * count);
    const weights = new Float64Array(count);
    for (let i = 0; i < count; i++) {
      const random = (j: number) => this.#random(i, j);
      inner.forEach(([low, high], d) => {
        points[d * count + i] = low + random(d) * (high - low);
      });
      // one of the axes is the farthest out, at the distance s; along the others the distance is s/c, with c from 0 to 1
      const s = kit.exp2(-(start + (octaves * (i + random(dims))) / count));
      const farthest = Math.floor(random(dims + 1) * set.length);
      let weight = volume * set.length * s;
      set.forEach((ends, k) => {
        const c = k === farthest ? 1 : random(dims + 2 + 2 * k);
        const { axis, at, inward } = ends[Math.floor(random(dims + 3 + 2 * k) * ends.length)];
        const [low, high] = ranges[axis];
        points[axis * count + i] = at + inward * Math.min(1, s / c) * (high - low);
        weight *= ends.length * (k === farthest ? 1 : s / (c * c));
      });
      weights[i] = weight;
    }
    const { signal } = this.#limits;
    const key = `${start} ${count} ${JSON.stringify(set)}`;
    this.#known[key] ??= await beforeAbort(this.#evaluate!(points, count), signal).catch(e => {
      if (!signal?.aborted) throw e;
      return [];
    });
    const values = this.#known[key];
    let [sum, known, positive, negative] = [0, 0, false, false];
    for (let i = 0; i < count; i++) {
      const own = (values[result * count + i] ?? Number.NaN) * weights[i];
      // where it overflows or divides by 0, as x³/(exp(x) − 1) does below 1e-16, nothing is known
      if (!Number.isFinite(own)) continue;
      known++;
      sum += Math.abs(own);
      positive ||= own > 0;
      negative ||= own < 0;
    }
    return { average: known > 0 ? sum / known : 0, positive, negative };
  }

  /** Whether evaluating it on this thread may outlast the run's limits. */
  get #mayBlock(): boolean {
    if (this.#integrand.kind === 'compiled') return stopChecksOf(this.#integrand.program).checked.size > 0;
    const { moved, long } = this.#integrand.call;
    const limited = this.#limits.signal !== undefined || this.#limits.deadline < Infinity;
    return moved !== undefined && long === true && limited;
  }

  get #isLate(): boolean {
    const { signal, deadline } = this.#limits;
    return (signal?.aborted ?? false) || performance.now() >= deadline;
  }

  /** Random number j of point i, between 0 and 1; the same for all ends and windows. */
  #random(i: number, j: number): number {
    const group = j >> 2;
    words[i] ??= [];
    words[i][group] ??= wordsOf(i, group, 0, STREAM.ends, KEY);
    return (words[i][group][j & 3] + 0.5) * 2 ** -32;
  }

  /** The coordinate in the domain where the numbers of an axis end. */
  #lastPlace({ axis, inward }: End): number {
    const { axes, ranges } = this.#domain;
    const [low, high] = innerRange(ranges[axis]);
    const z = ranges.map((range, d) => (d === axis ? (inward > 0 ? low : high) : innerRange(range)[0]));
    return toDomain(axes, z).x[axis];
  }
}

/** The ends of all axes. */
function endsOf({ axes, ranges }: Domain): End[] {
  return axes.flatMap(({ infinite }, axis) => {
    const [low, high] = ranges[axis];
    return ([1, -1] as const).map((inward): End => {
      const at = inward > 0 ? low : high;
      const far = infinite && (infinite.end === undefined || inward > 0 === (infinite.reversed ?? false));
      let gap = Math.abs((inward > 0 ? nextUp(at) : nextDown(at)) - at) / (high - low);
      if (far) gap = Math.max(gap, infinite.minGap);
      else if (infinite?.first !== undefined) gap = Math.max(gap, Math.abs(infinite.first - infinite.end!));
      const reach = Math.min(MAX_REACH, -kit.log2(gap)); // an end at 0: as far as an axis is halved
      return { axis, at, inward, infinite: far ?? false, reach };
    });
  });
}

function windowsFor(set: readonly (readonly End[])[]): Windows | null {
  const reach = Math.min(...set.flat().map(e => e.reach));
  const room = Math.min(reach, MAX_EXPONENT / 2 / set.length);
  // for 53 octaves: from 2^-33 to 2^-41, and from there to 2^-49, where the numbers before 1 are a 16th of their distance apart
  return room < MIN_REACH ? null : { start: 0.62 * room, octaves: 0.15 * room, reach };
}

const pairsOf = <T>(list: readonly T[]): T[][] => list.flatMap((a, i) => list.slice(i + 1).map(b => [a, b]));

function byAxis(ends: readonly End[]): End[][] {
  const groups = new Map<number, End[]>();
  for (const end of ends) groups.set(end.axis, [...(groups.get(end.axis) ?? []), end]);
  return [...groups.values()];
}
