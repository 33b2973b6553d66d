/**
 * Points near the ends of ranges, and the values of the integrand there.
 *
 * Along the other axes these points are random. Where several axes go to their ends together, one of them is the farthest out.
 * Points are the same in every run, and are not counted as evaluations. They are evaluated on the calling thread; a program
 * whose loops may be long is not examined, since nothing could end them there. Nor is a function as it is, if it may take long
 * and the run has limits that workers keep.
 */
import { beforeAbort } from '../devices/before-abort.ts';
import { type BoundProgram, resultCount } from '../integrand/bound.ts';
import { gapInCells, rangeOfCells } from '../integrand/cells.ts';
import { type Domain, MAX_REACH, toDomain } from '../integrand/domain.ts';
import { innerRange, nextDown, nextUp } from '../integrand/inner-range.ts';
import { kit } from '../integrand/math/common.ts';
import { stopChecksOf } from '../integrand/stop-checks.ts';
import type { MethodProblem } from '../methods/method.ts';
import { type Counter, keyOf, STREAM, wordsOf } from '../random/philox.ts';
import type { EvaluatePoints } from '../tasks/evaluate.ts';
import { quickValues } from './quick-values.ts';

/** What ends a run. */
type Limits = Pick<MethodProblem, 'signal' | 'deadline'>;

/** An end of the range in which an axis is sampled. */
export interface End {
  axis: number;
  /** The end, and the direction from there into the range. */
  at: number;
  inward: 1 | -1;
  infinite: boolean;
  /** Numbers near the end come as close as 2^-reach of the range; of the cell, if it is a peak. */
  reach: number;
  /** It is a place that the axis is cut at (integrand/cells.ts). */
  cut?: true;
  /** The axis is stretched there, and has this many cells: distances are taken in z, as parts of the cell. */
  stretched?: number;
}

/** Axes that go to their ends together, each with the ends that it may go to. */
export type EndSet = readonly (readonly End[])[];

/** Points whose distances from the ends, as parts of the ranges, are between 2^-start and 2^-(start + octaves). */
export interface EndWindow {
  start: number;
  octaves: number;
  count: number;
}

/** Values at the points of a window. */
export interface EndValues {
  /** f; NaN where it is not known. */
  f: ArrayLike<number>;
  /** s·(width of the range), so that the average of f·weight over a window is that of g in tails.ts. */
  weights: Float64Array;
  /** The distance from its end of each axis of the set, for each point. */
  distances: readonly Float64Array[];
}

/** Points of a window: all of EndValues but f. */
type Placed = Omit<EndValues, 'f'>;

/** A window, and the values of all results at its points: all of one result, then all of the next. */
interface Evaluated extends Placed {
  all: ArrayLike<number>;
}

/** The exponent of two that the Jacobian of the domain may come to at a point. */
const MAX_EXPONENT = 900;
const KEY = keyOf(1);
/** Random words by point and group of four, which are the same in every run. */
const words: Counter[][] = [];

/** Evaluates points near the ends of ranges, until `signal` or `deadline` (as performance.now() has it) ends the run. */
export class EndPoints {
  readonly ends: readonly End[];
  /** The sides of all places that axes are cut at; those where a stretched axis ends are here, too. */
  readonly cuts: readonly End[];
  readonly #integrand: BoundProgram;
  readonly #domain: Domain;
  readonly #limits: Limits;
  /** The ranges in which points lie, and the volume of the domain that is sampled. */
  readonly #inner: readonly (readonly [number, number])[];
  readonly #volume: number;
  #evaluate: EvaluatePoints | null = null;
  /** Several results: windows that were looked at, with the values of all results. */
  readonly #known = new Map<string, Evaluated>();

  constructor(integrand: BoundProgram, domain: Domain, limits: Limits) {
    this.#integrand = integrand;
    this.#domain = domain;
    this.#limits = limits;
    this.#inner = domain.ranges.map(innerRange);
    this.#volume = domain.ranges.reduce((v, [low, high]) => v * (high - low), 1);
    this.ends = endsOf(domain);
    this.cuts = cutsOf(domain);
  }

  get dims(): number {
    return this.#domain.axes.length;
  }

  /** The values of one result in a window of a set of ends. All windows have the same random numbers, so that ratios are less noisy. */
  async values(set: EndSet, window: EndWindow, result: number): Promise<EndValues> {
    const { count } = window;
    const several = resultCount(this.#integrand) > 1;
    const key = several ? JSON.stringify([set, window]) : '';
    const found = this.#known.get(key) ?? (await this.#look(set, window));
    if (several) this.#known.set(key, found);
    const { all, weights, distances } = found;
    const f = Array.from({ length: Math.min(count, all.length) }, (_, i) => all[result * count + i]);
    return { f, weights, distances };
  }

  async #look(set: EndSet, window: EndWindow): Promise<Evaluated> {
    const points = new Float64Array(this.dims * window.count);
    const placed = this.#place(set, window, points, 0);
    return { ...placed, all: await this.#evaluated(points, window.count) };
  }

  /** The values of each result in a window of each of these ends, of as many points; all are evaluated together. */
  async valuesOfEach(each: readonly { set: EndSet; window: EndWindow }[]): Promise<EndValues[][]> {
    const count = each[0]?.window.count ?? 0;
    const n = each.length * count;
    const points = new Float64Array(this.dims * n);
    const placed = each.map(({ set, window }, k) => this.#place(set, window, points, k * count));
    const all = n > 0 ? Float64Array.from(await this.#evaluated(points, n)) : points;
    return Array.from({ length: resultCount(this.#integrand) }, (_, r) =>
      placed.map(({ weights, distances }, k) => {
        const first = r * n + k * count;
        return { f: all.subarray(first, first + count), weights, distances };
      }),
    );
  }

  /** The values of all results at some points; none once the run was aborted. */
  async #evaluated(points: Float64Array, count: number): Promise<ArrayLike<number>> {
    this.#evaluate ??= quickValues(this.#integrand, () => this.isLate);
    const { signal } = this.#limits;
    return beforeAbort(this.#evaluate(points, count), signal).catch(e => {
      if (!signal?.aborted) throw e;
      return [];
    });
  }

  /** Writes the points of a window into a list of points, axis by axis, from point `first` on. */
  #place(set: EndSet, { start, octaves, count }: EndWindow, points: Float64Array, first: number): Placed {
    const { ranges } = this.#domain;
    const { dims } = this;
    const n = points.length / dims;
    const weights = new Float64Array(count);
    const distances = set.map(() => new Float64Array(count));
    for (let i = 0; i < count; i++) {
      for (let d = 0; d < dims; d++) {
        const [low, high] = this.#inner[d];
        points[d * n + first + i] = low + randomOf(i, d) * (high - low);
      }
      // one of the axes is the farthest out, at the distance s; along the others the distance is s/c, with c from 0 to 1
      const s = kit.exp2(-(start + (octaves * (i + randomOf(i, dims))) / count));
      const farthest = Math.floor(randomOf(i, dims + 1) * set.length);
      let weight = this.#volume * set.length * s;
      for (let k = 0; k < set.length; k++) {
        const ends = set[k];
        const c = k === farthest ? 1 : randomOf(i, dims + 2 + 2 * k);
        const { axis, at, inward, stretched } = ends[Math.floor(randomOf(i, dims + 3 + 2 * k) * ends.length)];
        const [low, high] = ranges[axis];
        distances[k][i] = Math.min(1, s / c);
        if (stretched) {
          // z is t^5 and u = t/m: s·du/ds = t/5m
          const t = kit.exp2(kit.log2(s) / 5);
          points[axis * n + first + i] = at + (inward * t) / stretched;
          weight *= t / (5 * stretched * s);
          continue;
        }
        points[axis * n + first + i] = at + inward * distances[k][i] * (high - low);
        weight *= ends.length * (k === farthest ? 1 : s / (c * c));
        if (s / c > 1 / ends.length) weight = 0; // nearer to the other end, or outside
      }
      weights[i] = weight;
    }
    return { weights, distances };
  }

  /** Whether evaluating it on this thread may outlast the run's limits. */
  get mayBlock(): boolean {
    if (this.#integrand.kind === 'compiled') return stopChecksOf(this.#integrand.program).checked.size > 0;
    const { moved, long } = this.#integrand.call;
    const limited = this.#limits.signal !== undefined || this.#limits.deadline < Infinity;
    return moved !== undefined && long === true && limited;
  }

  get isLate(): boolean {
    const { signal, deadline } = this.#limits;
    return (signal?.aborted ?? false) || performance.now() >= deadline;
  }

  /** The coordinate in the domain where the numbers of an axis end. */
  lastPlace({ axis, inward }: End): number {
    const { axes, ranges } = this.#domain;
    const [low, high] = innerRange(ranges[axis]);
    const z = ranges.map((range, d) => (d === axis ? (inward > 0 ? low : high) : innerRange(range)[0]));
    return toDomain(axes, z).x[axis];
  }

  /** The part of the domain that an axis belongs to. */
  partOf(axis: number): number {
    return this.#domain.parts[axis];
  }

  /** Whether an axis is infinite at both ends. */
  isBothInfinite(axis: number): boolean {
    return this.#domain.axes[axis].infinite?.end === undefined;
  }
}

/** Random number j of point i, between 0 and 1; the same for all ends and windows. */
function randomOf(i: number, j: number): number {
  const group = j >> 2;
  words[i] ??= [];
  words[i][group] ??= wordsOf(i, group, 0, STREAM.ends, KEY);
  return (words[i][group][j & 3] + 0.5) * 2 ** -32;
}

/** The octaves in which all ends of a set have numbers. */
export function reachOf(set: EndSet): number {
  let least = Infinity;
  for (const ends of set) for (const { reach } of ends) least = Math.min(least, reach);
  return least;
}

/** The octaves in which all ends of a set have numbers, and Jacobians do not overflow. */
export const roomOf = (set: EndSet): number => Math.min(reachOf(set), MAX_EXPONENT / 2 / set.length);

/** The ends of all axes. */
function endsOf({ axes, ranges }: Domain): End[] {
  let surface = 0; // of the shape that an axis belongs to
  return axes.flatMap(({ infinite, cells, bounds, map, inShape }, axis) => {
    if (map) surface = map.gap;
    const [low, high] = cells ? rangeOfCells(cells) : ranges[axis];
    return ([1, -1] as const).map((inward): End => {
      const at = inward > 0 ? low : high;
      const far = infinite && (infinite.end === undefined || inward > 0 === (infinite.reversed ?? false));
      let gap = Math.abs((inward > 0 ? nextUp(at) : nextDown(at)) - at) / (high - low);
      if (far) gap = Math.max(gap, infinite.minGap);
      else if (infinite?.first !== undefined)
        gap = Math.max(gap, Math.abs(infinite.first - infinite.end!) / (infinite.scale ?? 1));
      if (bounds && !infinite) gap = Math.max(gap, bounds.gaps[inward > 0 ? 0 : 1]);
      if ((map || inShape) && inward < 0) gap = Math.max(gap, surface);
      if (cells) gap = gapInCells(cells, inward, gap * (high - low));
      const reach = Math.min(MAX_REACH, -kit.log2(gap)); // an end at 0: as far as an axis is halved
      return { axis, at: ranges[axis][inward > 0 ? 0 : 1], inward, infinite: far ?? false, reach };
    });
  });
}

/** The sides of the cells of an axis, but for the ends of the axis that are not stretched: these are among `endsOf`. */
function cutsOf({ axes }: Domain): End[] {
  return axes.flatMap(({ cells = [] }, axis) =>
    cells.flatMap(({ anchor, width, shift, peak, first, last }, k) => {
      const low = anchor - (shift - k) * width;
      return ([1, -1] as const).flatMap((inward): End[] => {
        const side = inward > 0 ? k : k + 1;
        const stretched = peak && shift === side;
        if (!stretched && (side === 0 || side === cells.length)) return [];
        const part = Math.abs(inward > 0 ? first - low : low + width - last) / width;
        const reach = -kit.log2(stretched ? part : part / (peak ? 5 : 1) / cells.length);
        const end = {
          axis,
          at: side / cells.length,
          inward,
          infinite: false,
          reach: Math.min(MAX_REACH, reach),
        };
        return [{ ...end, cut: true, ...(stretched && { stretched: cells.length }) }];
      });
    }),
  );
}

/** The ends of each axis that has some of these. */
export function byAxis(ends: readonly End[]): End[][] {
  const groups = new Map<number, End[]>();
  for (const end of ends) groups.set(end.axis, [...(groups.get(end.axis) ?? []), end]);
  return [...groups.values()];
}
