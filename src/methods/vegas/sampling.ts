/**
 * The state of a VEGAS run and its one step: map, strata, samples of each cube; an iteration on the device; and,
 * while adapting, the refinement of all three. `plain`, `mcubes`, `mcubes1d` and `vegas+` differ only in the knobs.
 */
import { intrinsics } from '../../integrand/math/kit.ts';
import { STREAM } from '../../random/philox.ts';
import { HostLearning } from '../../tasks/host-learning.ts';
import type { Learning } from '../../tasks/learning.ts';
import { floorFor, rebin, uniformMap } from '../../tasks/map.ts';
import {
  type AxisMap,
  type Counts,
  merge,
  type SampleSums,
  type SampleTask,
  wholeOf,
} from '../../tasks/sample.ts';
import { type Strata, strataFor } from '../../tasks/strata.ts';
import type { Estimate } from '../combine.ts';
import type { Ledger } from '../ledger.ts';
import type { MethodProblem } from '../method.ts';
import { MOST_TRIES, unitError, unitFor } from '../unit.ts';
import type { VegasOptions } from './options.ts';

export interface Knobs extends Required<Pick<VegasOptions, 'bins' | 'alpha' | 'beta' | 'maxStrata'>> {
  /** Fewer bins for fewer samples: `bins` is the most. A bin with few samples learns noise. */
  growBins: boolean;
  /** One map for all axes. */
  shared: boolean;
  /** Samples that a cube should have on average: 4 for VEGAS+, which moves half of them; 2 for m-Cubes. */
  perCube: number;
}

/** The sum of the histogram aimed at, and the range in which it is exact and fine enough. */
const AIM = 2 ** 42;
const HIGHEST = 2 ** 53;
const LOWEST = 2 ** 30;
/** What adding up a million numbers may lose, in epsilons (1e-14 for float64); part of the error, which is never smaller. */
const ROUNDING = 1e-14 * 2 ** 53;
/** A relative deviation below which an integrand counts as constant, in epsilons (1e-13 for float64). */
const FLAT = 1e-13 * 2 ** 53;
/** Samples of the first look. */
const PILOT = 256;
/** Jacobians of so many powers of two are still numbers, however many axes they are made of. */
const MOST_JACOBIAN = 900;

export class Sampling {
  readonly #problem: MethodProblem;
  readonly #ledger: Ledger;
  readonly #knobs: Knobs;
  readonly #learning: Learning;
  readonly #dims: number;
  #map: AxisMap;
  #bins = 1;
  #strata: Strata | null = null;
  /** Whether the session knows how cubes of the present strata vary. */
  #known = false;
  /** What w is counted in, and the mean of w² in it, for the scale of the next histogram. */
  #unit = 1;
  #square = 1;
  #iteration = 0;
  /** Whether any sample was not 0. */
  seen = false;

  constructor(problem: MethodProblem, ledger: Ledger, knobs: Knobs) {
    this.#problem = problem;
    this.#ledger = ledger;
    this.#knobs = knobs;
    this.#learning = problem.session.learning ?? new HostLearning();
    this.#dims = problem.ranges.length;
    this.#map = uniformMap(problem.ranges, 1);
  }

  /** Cubes that an iteration of this size has. */
  cubesFor(evaluations: number): number {
    return this.#strataFor(evaluations).cubes;
  }

  /** Samples, and learns from them. */
  async adapt(evaluations: number, alpha = this.#knobs.alpha): Promise<Estimate> {
    const { beta, shared } = this.#knobs;
    if (!this.seen) evaluations -= await this.#pilot(evaluations);
    await this.#useBins(this.#binsFor(evaluations));
    const strata = this.#strataFor(evaluations);
    if (strata.cubes !== this.#strata?.cubes) this.#known = false;
    this.#strata = strata;
    const counts = await this.#countsFor(evaluations);
    for (let tries = 0; ; tries++) {
      // a power of two: devices that add up in another order find the same one
      const scale = 2 ** intrinsics.exponent(AIM / this.#square / evaluations);
      const sums = await this.#sample(strata, counts, scale);
      const total = sums.squares;
      if (tries < MOST_TRIES && this.#outOfUnit(sums)) continue;
      if (this.seen) this.#square = total > 0 ? total / scale / evaluations : this.#square * 2 ** -40;
      // out of scale: the same samples again, on the right one
      if (this.seen && (total >= HIGHEST || total < LOWEST) && tries < MOST_TRIES) continue;
      // a constant integrand has nothing to teach: refining by its rounding errors would only spoil the map
      const flat = sums.variance <= (FLAT * this.#problem.epsilon * sums.sum) ** 2;
      if (!flat && alpha > 0 && this.#bins > 1)
        this.#map = await this.#learning.refine({ alpha, floor: floorFor(evaluations), shared });
      this.#known = beta > 0;
      this.#iteration++;
      const estimate = this.#estimate(sums, strata);
      this.#setUnit(Math.sqrt(this.#square) * this.#unit);
      return estimate;
    }
  }

  /** Samples with map and strata as they are. */
  async measure(evaluations: number): Promise<Estimate> {
    // with nothing learned about cubes, finer ones are free
    if (!this.#known || !this.#strata) this.#strata = this.#strataFor(evaluations);
    if (!this.seen) evaluations -= await this.#pilot(evaluations);
    const counts = await this.#countsFor(evaluations);
    for (let tries = 0; ; tries++) {
      const sums = await this.#sample(this.#strata, counts, null);
      if (tries < MOST_TRIES && this.#outOfUnit(sums)) continue;
      this.#iteration++;
      return this.#estimate(sums, this.#strata);
    }
  }

  /** Puts the unit right when values are much larger or smaller than thought; whether the iteration has to be made again. */
  #outOfUnit(sums: SampleSums): boolean {
    const factor = unitError(sums);
    if (factor !== 1) this.#setUnit(this.#unit * factor);
    return factor !== 1;
  }

  #binsFor(evaluations: number): number {
    const { growBins } = this.#knobs;
    const bins = Math.min(this.#knobs.bins, 2 ** Math.floor(MOST_JACOBIAN / this.#dims));
    return growBins ? Math.min(bins, Math.max(64, 2 ** Math.round(Math.log2(evaluations / 96)))) : bins;
  }

  async #useBins(bins: number): Promise<void> {
    if (bins === this.#bins) return;
    this.#map = rebin(await this.#learning.edgesOf(this.#map), this.#dims, bins);
    this.#bins = bins;
  }

  #strataFor(evaluations: number): Strata {
    return strataFor(evaluations, this.#dims, this.#knobs.perCube, this.#knobs.maxStrata);
  }

  async #countsFor(evaluations: number): Promise<number | Counts> {
    if (this.#known) return this.#learning.allocate(this.#knobs.beta, evaluations);
    return Math.max(2, Math.floor(evaluations / this.#strata!.cubes));
  }

  /** A first look, for the size of values; returns what it took off an iteration of `evaluations`. */
  async #pilot(evaluations: number): Promise<number> {
    const samples = Math.min(PILOT, Math.max(2, Math.floor(evaluations / 8)));
    const one: Strata = { perAxis: Array(this.#dims).fill(1), cubes: 1 };
    const { sum, variance } = await this.#sample(one, samples, null, STREAM.pilot);
    const spread = Math.sqrt(variance * samples);
    this.#setUnit(this.#unit * (spread > 0 && spread < Infinity ? Math.hypot(spread, sum) : Math.abs(sum)));
    return samples;
  }

  /** Values are counted in a power of two near their own size, so that squares of 1e-200 or 1e200 are numbers too. */
  #setUnit(size: number): void {
    if (!(size > 0 && size < Infinity)) return;
    // the kernel starts from the Jacobian's constant part over the unit, which must be a number as well
    const lowest = -1000 + Math.min(MOST_JACOBIAN, Math.ceil(this.#dims * Math.log2(this.#knobs.bins)));
    const unit = unitFor(size, lowest);
    this.#square = (size / unit) ** 2;
    this.#unit = unit;
  }

  #estimate(sums: SampleSums, { cubes }: Strata): Estimate {
    const value = sums.sum / cubes;
    // not Math.hypot: engines differ in its last bit
    const error = Math.sqrt(sums.variance / cubes ** 2 + (ROUNDING * this.#problem.epsilon * value) ** 2);
    const carriers = sums.concentration === 0 ? Infinity : (error * cubes) ** 4 / sums.concentration; // rounding has many
    return {
      value: value * this.#unit,
      error: error * this.#unit,
      evaluations: sums.evaluations,
      carriers,
    };
  }

  async #sample(
    strata: Strata,
    counts: number | Counts,
    scale: number | null,
    stream: number = STREAM.sample,
  ): Promise<SampleSums> {
    const { session, key, signal, onNonFinite } = this.#problem;
    const keep = !!session.learning;
    const task: SampleTask = {
      key,
      iteration: this.#iteration,
      stream,
      bins: this.#bins,
      edges: this.#map,
      strata: strata.perAxis,
      counts,
      unit: this.#unit,
      adapt: scale === null ? null : { scale, variances: this.#knobs.beta > 0, keep },
    };
    const sums = merge(task, [await session.sample(task, wholeOf(task), signal)]);
    if (task.adapt && !keep) await this.#learning.learn(task, sums);
    this.#ledger.spend(sums.evaluations);
    this.seen ||= sums.sum !== 0 || sums.variance !== 0;
    if (sums.nonFinite) onNonFinite(sums.nonFinite);
    return sums;
  }
}
