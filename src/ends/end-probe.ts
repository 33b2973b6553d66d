/**
 * What a run cannot see at the ends of its ranges.
 *
 * The map of an infinite range ends at some x, and numbers near a finite end are a last bit apart. No point lies beyond, so
 * no method can say what is missing there: ∫ x^-1.05 from 1 on was reported as 16.984642(65), and is 20. So the integrand is
 * evaluated at some points near each end (end-points.ts), and what lies beyond is extrapolated from their values (tails.ts).
 *
 * Where several axes are infinite the integrand may fall slowly in directions between them, as (1 + x² + y²)^-1.05 does, and
 * quickly along each; so points go to infinity along all of these axes, and along pairs of up to three, as well.
 */
import {
  byAxis,
  type End,
  type EndPoints,
  type EndSet,
  type EndValues,
  type EndWindow,
  reachOf,
  roomOf,
} from './end-points.ts';
import { beyond, type Windows } from './tails.ts';

/** What may be missing at one end of an axis, or at infinite ends of several axes. */
export interface Missing {
  /** The parts of the domain that have these axes. */
  parts: readonly number[];
  infinite: boolean;
  /** Whether it is beside a place that the axis is cut at. */
  cut: boolean;
  /** Whether the range is infinite at its other end as well. */
  bothInfinite: boolean;
  /** Where the numbers of each axis end, in the coordinates of the domain. */
  last: readonly number[];
  /** The integral of |f| beyond, as extrapolated; Infinity if it may not exist. */
  amount: number;
  /** Whether both signs were met: the integrand oscillates up to the end. */
  oscillates: boolean;
}

/** Below this many octaves there is no room for windows: the range has few numbers. */
const MIN_REACH = 20;
/** Points per window, in one dimension and in several; fewer are enough to tell that an end is harmless. */
const POINTS = { line: 16, box: 64 } as const;
const FEW_POINTS = { line: 2, box: 4 } as const;
/** Where the integral over the last window is below this part of what is negligible, no extrapolation makes it harmful. */
const HARMLESS = 1e-3;
/** An integrand grows towards an end if it is this many times as large in the second window as in the first, 8 octaves away. */
const GROWTH = 1.05;
/** Ends that are examined, at most. */
const MAX_ENDS = 64;
/** Infinite axes of which all pairs are examined, at most. */
const MAX_PAIRED = 3;

export class EndProbe {
  readonly #points: EndPoints;

  constructor(points: EndPoints) {
    this.#points = points;
  }

  /** What may lie beyond the maps of infinite ranges, of one of several results. */
  async beyondMaps(result = 0): Promise<Missing[]> {
    const ends = this.#points.ends.filter(e => e.infinite);
    const axes = byAxis(ends);
    const sets = [
      ...(axes.length > 2 ? [axes] : []),
      ...(axes.length <= MAX_PAIRED ? pairsOf(axes) : []),
      ...ends.map(e => [[e]]),
    ];
    return this.#examine(sets.slice(0, MAX_ENDS), result);
  }

  /** What may lie between the finite ends of ranges and the last numbers there; of each result, if it is more than `negligible`. */
  async besideEnds(negligible: readonly number[]): Promise<Missing[][]> {
    const { ends: all, cuts } = this.#points;
    const isStretched = (e: End) => cuts.some(c => c.stretched && c.axis === e.axis && c.at === e.at);
    const ends = [...all.filter(e => !e.infinite && !isStretched(e)), ...cuts];
    const doubtful = await this.#doubtful(
      ends.slice(0, MAX_ENDS),
      negligible.map(n => HARMLESS * n),
    );
    const each: Missing[][] = [];
    for (const [r, sets] of doubtful.entries()) {
      const found: Missing[] = [];
      for (const set of sets) {
        const [few] = await this.#examine([set], r, FEW_POINTS);
        if (few && few.amount > negligible[r]) found.push(...(await this.#examine([set], r)));
      }
      each.push(found);
    }
    return each;
  }

  /** For each result, the ends at which the integral over the last window is more than `harmless`, as a few points see it. */
  async #doubtful(ends: readonly End[], harmless: readonly number[]): Promise<EndSet[][]> {
    if (this.#points.mayBlock) return harmless.map(() => []);
    const count = this.#points.dims > 1 ? FEW_POINTS.box : FEW_POINTS.line;
    const last: { set: EndSet; window: EndWindow }[] = [];
    for (const end of ends) {
      const set = [[end]];
      const windows = windowsFor(set);
      if (windows) last.push({ set, window: { ...lastOf(windows), count } });
    }
    const values = await this.#points.valuesOfEach(last);
    return values.map((own, r) =>
      last.filter((_, i) => averageOf(own[i]).average > harmless[r]).map(l => l.set),
    );
  }

  async #examine(
    sets: readonly EndSet[],
    result: number,
    points: { line: number; box: number } = POINTS,
  ): Promise<Missing[]> {
    const found: Missing[] = [];
    const count = this.#points.dims > 1 ? points.box : points.line;
    if (sets.length === 0 || this.#points.mayBlock) return found;
    for (const set of sets) {
      const windows = windowsFor(set);
      if (!windows) continue;
      const { start, octaves } = windows;
      const second = await this.#window(set, { ...lastOf(windows), count }, result);
      if (second.average === 0) continue;
      const first = await this.#window(set, { start, octaves, count }, result);
      if (this.#points.isLate) return found;
      // g of an integrand that does not grow falls as s: rounding takes more than what lies beyond
      const grows = second.average * 2 ** octaves > GROWTH * first.average;
      if (!set[0][0].infinite && !grows) continue;
      const amount = beyond(first.average, second.average, windows);
      if (amount === 0) continue;
      found.push({
        parts: set.map(([end]) => this.#points.partOf(end.axis)),
        infinite: set[0][0].infinite,
        cut: set[0][0].cut ?? false,
        bothInfinite: this.#points.isBothInfinite(set[0][0].axis),
        last: set.map(([end]) => this.#points.lastPlace(end)),
        amount,
        oscillates: second.positive && second.negative,
      });
    }
    return found;
  }

  /** The average of g (tails.ts) over a window. */
  async #window(set: EndSet, window: EndWindow, result: number) {
    return averageOf(await this.#points.values(set, window, result));
  }
}

function averageOf({ f, weights }: EndValues) {
  let [sum, known, positive, negative] = [0, 0, false, false];
  for (let i = 0; i < weights.length; i++) {
    const own = (f[i] ?? Number.NaN) * weights[i];
    // where it overflows or divides by 0, as x³/(exp(x) − 1) does below 1e-16, nothing is known
    if (!Number.isFinite(own)) continue;
    known++;
    sum += Math.abs(own);
    positive ||= own > 0;
    negative ||= own < 0;
  }
  return { average: known > 0 ? sum / known : 0, positive, negative };
}

/** The second window. */
const lastOf = ({ start, octaves }: Windows) => ({ start: start + octaves, octaves });

function windowsFor(set: EndSet): Windows | null {
  const room = roomOf(set);
  // for 53 octaves: from 2^-33 to 2^-41, and from there to 2^-49, where the numbers before 1 are a 16th of their distance apart
  return room < MIN_REACH ? null : { start: 0.62 * room, octaves: 0.15 * room, reach: reachOf(set) };
}

const pairsOf = <T>(list: readonly T[]): T[][] => list.flatMap((a, i) => list.slice(i + 1).map(b => [a, b]));
