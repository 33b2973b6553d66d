/**
 * The state of a VEGAS run and its one step: map, strata, samples of each cube; an iteration on the device; and,
 * while adapting, the refinement of all three. `plain`, `mcubes`, `mcubes1d` and `vegas+` differ only in the knobs.
 */
import { innerRange, volumeExcess } from '../../integrand/inner-range.ts';
import { intrinsics } from '../../integrand/math/kit.ts';
import { drawShifts, latticeWords } from '../../random/lattice.ts';
import { STREAM } from '../../random/philox.ts';
import { RESULTS_PER_PASS } from '../../tasks/correlation.ts';
import { HostLearning } from '../../tasks/host-learning.ts';
import type { Learning } from '../../tasks/learning.ts';
import { floorFor, rebin, scaledMap, uniformMap } from '../../tasks/map.ts';
import { additionsOf, PIECE, sumRounding } from '../../tasks/pieces.ts';
import type { Ranges } from '../../tasks/region.ts';
import {
  type AxisMap,
  type Counts,
  merge,
  type PlainTask,
  type ResultPass,
  type SampleSums,
  type SampleTask,
  wholeOf,
} from '../../tasks/sample.ts';
import { slopesOf } from '../../tasks/smooth-map.ts';
import { leastFor, type Strata, strataFor } from '../../tasks/strata.ts';
import { combineAll, type Estimate } from '../combine.ts';
import { hiddenBy, hiddenByDensity } from '../jumps.ts';
import { estimateOf, extended, type ShiftMeans, withShifts } from '../lattice/shift-means.ts';
import type { Ledger } from '../ledger.ts';
import type { MethodProblem, Nearest } from '../method.ts';
import { inPass, type PassSums, passOf, ResultPasses, seenIn, together } from '../result-passes.ts';
import { MOST_TRIES, unitError, unitFor } from '../unit.ts';
import type { Knobs } from './knobs.ts';
import { seededMap } from './seeded-map.ts';
import { type Box, PeakWitnesses, type WitnessState, witnessTask } from './witness.ts';

/** The state of a sampling but for its map and the variances of cubes. */
export interface Scalars {
  bins: number;
  strata: Strata | null;
  known: boolean;
  unit: number;
  square: number;
  size: number;
  coarse: number;
  /** Of several results; null for one. */
  units: readonly number[] | null;
  spreads: readonly number[] | null;
  pilotSpreads: readonly number[] | null;
  witnessUnits: readonly number[] | null;
  iteration: number;
  endBins: Nearest;
  largestSpread: number;
  witnesses: WitnessState;
  /** Lattices of the present measurement; null when there are none. */
  lattice: ShiftMeans | null;
  seen: boolean;
  nonFinite: boolean;
  probed: Estimate | null;
}

/** What was learned: the map and, where they are known, the variances of cubes. */
export interface Learned {
  bins: number;
  /** The box that the map is of. */
  ranges: Ranges;
  edges: Float64Array;
  strata: Strata | null;
  /** Variances of the cubes; null where they are not known, or are in the memory of a card. */
  variances: Float64Array | null;
}

/**
 * The histogram sums w²·scale, rounded to integers. `scale` aims at this sum over the bins of an axis; the sum has to be
 * below 2^53, where float64 integers are exact, and at least 2^30, where rounding to integers is fine enough.
 */
const HISTOGRAM_AIM = 2 ** 42;
const HISTOGRAM_LIMIT = 2 ** 53;
const HISTOGRAM_LEAST = 2 ** 30;
/** The relative error below which an integrand counts as constant, in epsilons (1e-13 for float64). */
const CONSTANT_BELOW = 1e-13 * 2 ** 53;
/** The part of the mean square of the weights below which their variance is rounding. */
const CONSTANT_SQUARE = 1e-9;
/** Samples of the pilot, which finds the size of values. */
const PILOT_SAMPLES = 256;
/**
 * With this many strata along an axis the few that lie at an end or an edge of the map may carry most of a variance that is next to
 * nothing, and do no harm; so pieces are not counted by strata. Heavy tails are those that strata do not resolve.
 */
const FINE_STRATA = 16;
/** The largest power of two in a Jacobian, bins^dims, that leaves room below float64's 2^1023. */
const MAX_JACOBIAN_BITS = 900;

/** Samples of a task of lattices, at most. */
const MAX_LATTICE_SAMPLES = 2 ** 28;

type Half = Parameters<typeof latticeWords>[3];

/** Lattices to sample: `count` shifts from number `first` on. */
interface LatticeDraw extends Pick<ShiftMeans, 'iteration' | 'log2' | 'folded'> {
  first: number;
  count: number;
  half: Half;
}

export class Sampling {
  readonly #problem: MethodProblem;
  readonly #ledger: Pick<Ledger, 'spend'>;
  readonly #knobs: Knobs;
  readonly #learning: Learning;
  /** Allots samples: `#learning`, or variances that were handed in. */
  #allocator: Learning;
  readonly #dims: number;
  /** The part of the volume that the map leaves out, since it covers the inner ranges of the axes (integrand/inner-range.ts). */
  readonly #excess: number;
  #map: AxisMap;
  #bins = 1;
  #strata: Strata | null = null;
  /** Whether the variances of the cubes of the present strata are known. */
  #known = false;
  /**
   * The unit of w = J·f, and the mean of (w/unit)², from which the scale of the next histogram follows; with several results,
   * the mean of Σ (w/unit)² over those that lead.
   */
  #unit = 1;
  #square = 1;
  /** √ of the mean of w² in the last iteration that learned, and the relative error of that mean: each square was rounded. */
  #size = 0;
  #coarse = 0;
  /** What several results need beyond that; null for one. */
  readonly #passes: ResultPasses | null;
  #iteration = 0;
  /** The largest standard deviation of weights in any iteration that learned. */
  #largestSpread = 0;
  /** For each axis: the widths of its first and its last bin, as parts of the range, when the last measurement was made. */
  #endBins: Nearest = [];
  /** The map that they are of. */
  #measuredMap: AxisMap | null = null;
  /** Witnesses since the map was last changed. */
  #witnesses: PeakWitnesses;
  /** What lattices have found since the map was last changed. */
  #lattice: ShiftMeans | null = null;
  /** Whether any sample was not 0. */
  seen = false;
  /** Whether any value was not finite, and counted as 0. */
  nonFinite = false;
  /** What the last probe found: an estimate for runs that end before their first iteration does. */
  probed: Estimate | null = null;

  constructor(problem: MethodProblem, ledger: Pick<Ledger, 'spend'>, knobs: Knobs) {
    this.#problem = problem;
    this.#ledger = ledger;
    this.#knobs = knobs;
    this.#learning = problem.session.learning ?? new HostLearning();
    this.#allocator = this.#learning;
    this.#dims = problem.ranges.length;
    this.#map = uniformMap(problem.ranges.map(innerRange), 1);
    this.#excess = volumeExcess(problem.ranges);
    this.#witnesses = new PeakWitnesses(problem.ranges);
    this.#passes = problem.several ? new ResultPasses(problem.several, problem.epsilon) : null;
  }

  get scalars(): Scalars {
    return {
      bins: this.#bins,
      strata: this.#strata,
      known: this.#known,
      unit: this.#unit,
      square: this.#square,
      size: this.#size,
      coarse: this.#coarse,
      units: this.#passes?.units ?? null,
      spreads: this.#passes?.spreads ?? null,
      pilotSpreads: this.#passes?.pilotSpreads ?? null,
      witnessUnits: this.#passes?.witnessUnits ?? null,
      iteration: this.#iteration,
      endBins: this.#endBins,
      largestSpread: this.#largestSpread,
      witnesses: this.#witnesses.state,
      lattice: this.#lattice,
      seen: this.seen,
      nonFinite: this.nonFinite,
      probed: this.probed,
    };
  }

  set scalars(s: Scalars) {
    this.#bins = s.bins;
    this.#strata = s.strata;
    this.#known = s.known;
    this.#unit = s.unit;
    this.#square = s.square;
    this.#size = s.size;
    this.#coarse = s.coarse;
    const { units, spreads, pilotSpreads, witnessUnits } = s;
    if (this.#passes && units) Object.assign(this.#passes, { units, spreads, pilotSpreads, witnessUnits });
    this.#iteration = s.iteration;
    this.#endBins = s.endBins;
    this.#largestSpread = s.largestSpread;
    this.#witnesses = new PeakWitnesses(this.#problem.ranges, s.witnesses);
    this.#lattice = s.lattice;
    this.seen = s.seen;
    this.nonFinite = s.nonFinite;
    this.probed = s.probed;
  }

  /** What was learned. */
  async learned(): Promise<Learned> {
    const { ranges } = this.#problem;
    const edges = await this.#learning.edgesOf(this.#map);
    const variances =
      this.#known && this.#allocator instanceof HostLearning ? this.#allocator.variances : null;
    return { bins: this.#bins, ranges, edges, strata: this.#strata, variances };
  }

  /** Takes what was learned, by this problem or another one on a box of as many dimensions. */
  restore({ bins, ranges, edges, variances }: Learned): void {
    this.#bins = bins;
    this.#map = scaledMap(edges, ranges, this.#problem.ranges);
    if (variances) this.#allocator = HostLearning.with(variances);
  }

  /** Begins with what was learned elsewhere; samples are allotted by it while the number of cubes stays the same. */
  start(learned: Learned): void {
    this.restore(learned);
    this.#strata = learned.strata;
    this.#known = learned.variances !== null && this.#knobs.beta > 0;
  }

  /** The largest standard deviation of weights in any iteration that learned; for one of several results, that in the pilot. */
  largestSpread(result: number): number {
    const pilot = this.#passes?.pilotSpreads[result] ?? this.#largestSpread;
    return pilot < Infinity ? pilot : 0;
  }

  /**
   * The standard deviation of the weights of samples, as the last iteration that learned found it; 0 if that is rounding. For one
   * of several results, an upper bound.
   */
  spreadAbout(value: number, result = 0): number {
    if (this.#passes) return this.#passes.spreads[result];
    const part = 1 - (value / this.#size) ** 2;
    return part > CONSTANT_SQUARE + this.#coarse ? Math.sqrt(part) * this.#size : 0;
  }

  get bins(): number {
    return this.#bins;
  }

  /** How close to the ends of the ranges the nearest one of so many samples is expected. */
  nearest(samples: number): Nearest {
    const each = this.#bins / samples;
    return this.#endBins.map(([low, high]) => [Math.min(1, low * each), Math.min(1, high * each)]);
  }

  /** Strata per axis of the present map, on average. */
  get perAxis(): number {
    return (this.#strata?.cubes ?? 1) ** (1 / this.#dims);
  }

  /** The number of cubes in an iteration of this size. */
  cubesFor(evaluations: number): number {
    return this.#strataFor(evaluations).cubes;
  }

  /** Samples the whole box evenly, to measure how fast the integrand is; the unit stays as it is. */
  async probe(samples: number): Promise<void> {
    const one = this.#oneCube();
    this.probed = this.#estimate(await this.#sample(one, samples, null, STREAM.probe), one);
  }

  /** Samples, and learns from them. */
  async adapt(evaluations: number, alpha = this.#knobs.alpha): Promise<Estimate> {
    const { beta, shared } = this.#knobs;
    this.#witnesses = new PeakWitnesses(this.#problem.ranges);
    this.#lattice = null;
    if (this.#passes) this.#passes.witnessUnits = null;
    if (!this.seen) evaluations -= await this.#pilot(evaluations);
    await this.#useBins(this.#binsFor(evaluations));
    const strata = this.#strataFor(evaluations);
    if (strata.cubes !== this.#strata?.cubes) this.#known = false;
    this.#strata = strata;
    const counts = await this.#countsFor(evaluations);
    for (let tries = 0; ; tries++) {
      // a power of two: devices that add in another order, and so differ in last bits, find the same one
      const scale = 2 ** intrinsics.exponent(HISTOGRAM_AIM / this.#square / evaluations);
      const sums = await this.#sample(strata, counts, scale);
      const total = sums.squares;
      if (tries < MOST_TRIES && this.#outOfUnit(sums)) continue;
      if (this.seen) this.#square = total > 0 ? total / scale / evaluations : this.#square * 2 ** -40;
      // the histogram is out of range: the same samples are drawn again with the right scale
      if (this.seen && (total >= HISTOGRAM_LIMIT || total < HISTOGRAM_LEAST) && tries < MOST_TRIES) continue;
      // the map learns nothing from a constant integrand: rounding errors would only spoil it
      const flat = this.#passes
        ? this.#passes.isFlat(sums, this.#constantBelow)
        : sums.variance <= (this.#constantBelow * sums.sum) ** 2;
      if (!flat && alpha > 0 && this.#bins > 1)
        this.#map = await this.#learning.refine({ alpha, floor: floorFor(evaluations), shared });
      this.#known = beta > 0;
      this.#allocator = this.#learning;
      this.#iteration++;
      const estimate = this.#estimate(sums, strata);
      if (this.#passes) this.#square = this.#passes.learnUnits(estimate, this.#square);
      else {
        this.#size = Math.sqrt(total / scale / sums.evaluations) * this.#unit;
        this.#coarse = sums.evaluations / total;
        this.#largestSpread = Math.max(this.#largestSpread, this.spreadAbout(estimate.value));
        this.#setUnit(Math.sqrt(this.#square) * this.#unit);
      }
      return estimate;
    }
  }

  /** Samples with map and strata as they are. */
  async measure(evaluations: number): Promise<Estimate> {
    // while no variances of cubes are known, nothing is lost by choosing the strata anew
    if (!this.#known || !this.#strata) this.#strata = this.#strataFor(evaluations);
    if (!this.seen) evaluations -= await this.#pilot(evaluations);
    const counts = await this.#countsFor(evaluations);
    await this.#lookAtEnds();
    for (let tries = 0; ; tries++) {
      const sums = await this.#sample(this.#strata, counts, null);
      if (tries < MOST_TRIES && this.#outOfUnit(sums)) continue;
      const least = typeof counts === 'number' ? counts : leastFor(evaluations, this.#strata.cubes);
      const hidden = sums.means ? hiddenBy(sums.means, least) * this.#unit : 0;
      let estimate: Estimate = { ...this.#estimate(sums, this.#strata), hidden };
      if (this.#passes && this.#dims === 1)
        estimate = await this.#withSteps(estimate, this.#task(this.#strata, counts, null), least);
      if (this.#problem.onMeasured)
        await this.#problem.onMeasured(await this.#plain(this.#task(this.#strata, counts, null)), estimate);
      this.#iteration++;
      return estimate;
    }
  }

  /**
   * Samples lattices of 2^log2 points with so many shifts, map frozen. What the present shifts have is kept: they get as many points
   * again, or there are further shifts. Lattices with another number of points than the present ones, or twice as many, and those that
   * are folded otherwise, are new ones, with shifts of their own.
   */
  async lattice(shifts: number, log2: number, folded: boolean): Promise<Estimate> {
    const now = this.#lattice;
    const goal = this.#problem.several?.goals[0] ?? 0;
    const own = now?.means[0].length ?? 0;
    const sample = (first: number, count: number, of: Pick<ShiftMeans, 'iteration' | 'log2'>, half: Half) =>
      this.#sampleLattice({ first, count, ...of, folded, half });
    if (now && now.folded === folded && now.log2 === log2 - 1 && own === shifts)
      this.#lattice = extended(now, await sample(0, own, now, 'new half'));
    else if (now && now.folded === folded && now.log2 === log2 && own < shifts)
      this.#lattice = withShifts(now, await sample(own, shifts - own, now, 'whole'));
    else {
      this.#lattice = await sample(0, shifts, { iteration: this.#iteration, log2 }, 'whole');
      this.#iteration++;
    }
    return estimateOf(this.#lattice, goal);
  }

  /** The means of lattices with some shifts. One result is sampled with all shifts together, several with one shift after the other. */
  async #sampleLattice({ first, count, iteration, log2, folded, half }: LatticeDraw): Promise<ShiftMeans> {
    await this.#lookAtEnds();
    const { dims, key } = { dims: this.#dims, key: this.#problem.key };
    const edges = await this.#learning.edgesOf(this.#map);
    const slopes = slopesOf(edges, dims);
    const random: Estimate[] = [];
    const each = Math.min(count, this.#passes ? 1 : Math.max(1, Math.floor(MAX_LATTICE_SAMPLES / 2 ** log2)));
    const means: number[][] = [];
    for (let r = first; r < first + count; r += each) {
      const own = Math.min(each, first + count - r);
      const words = latticeWords(dims, drawShifts(key, iteration, dims, r, own), log2, half);
      const one = { ...this.#oneCube(), cubes: own };
      for (let tries = 0; ; tries++) {
        const task: SampleTask = {
          ...this.#task(one, 2 ** log2, null),
          edges,
          lattice: { ...words, folded, slopes },
          cubes: !this.#passes,
        };
        const sums = await this.#run(task, this.#passes?.passesFor(false, false));
        this.seen ||= sums.passes ? sums.passes.some(seenIn) : sums.sum !== 0 || sums.variance !== 0;
        if (tries < MOST_TRIES && this.#outOfUnit(sums)) continue;
        const estimate = this.#estimate(sums, one);
        random.push(estimate);
        const found = estimate.results
          ? estimate.results.each.map(e => [e.value])
          : [Array.from(sums.means!, mean => (mean + mean * this.#excess) * this.#unit)];
        found.forEach((list, result) => {
          means[result] = [...(means[result] ?? []), ...list];
        });
        break;
      }
    }
    return { iteration, log2, folded, means, random: combineAll(random, 0) };
  }

  /** Several results in one dimension: with what steps may hide of each goal, by a pass for each over the same points. */
  async #withSteps(estimate: Estimate, task: SampleTask, least: number): Promise<Estimate> {
    const { session, signal, several } = this.#problem;
    const { units } = this.#passes!;
    const each = [...estimate.results!.each];
    const jacobians = this.#jacobians(await this.#learning.edgesOf(this.#map), task.strata[0]);
    for (const g of several!.goals) {
      const own = inPass({ ...task, cubes: true }, passOf([g], units, [g]));
      const { means } = merge(own, [await session.sample(own, wholeOf(own), signal)]);
      each[g] = { ...each[g], hidden: hiddenByDensity(means!, jacobians, least) * units[g] };
    }
    return { ...estimate, results: { ...estimate.results!, each } };
  }

  /** The mean Jacobian of each of so many strata of the one axis. */
  #jacobians(edges: Float64Array, strata: number): Float64Array {
    const at = (stratum: number) => {
      const t = (stratum / strata) * this.#bins;
      const bin = Math.min(this.#bins - 1, Math.floor(t));
      return edges[bin] + (t - bin) * (edges[bin + 1] - edges[bin]);
    };
    return Float64Array.from({ length: strata }, (_, i) => strata * (at(i + 1) - at(i)));
  }

  async #lookAtEnds(): Promise<void> {
    if (this.#measuredMap === this.#map) return;
    this.#measuredMap = this.#map;
    const edges = await this.#learning.edgesOf(this.#map);
    this.#endBins = this.#problem.ranges.map(([low, high], d) => {
      const [first, last] = [d * (this.#bins + 1), d * (this.#bins + 1) + this.#bins];
      return [edges[first + 1] - edges[first], edges[last] - edges[last - 1]].map(
        width => width / (high - low),
      ) as [number, number];
    });
  }

  /** Draws witnesses beside an iteration that measures, after which the estimate is `now`; returns how many. */
  async witness(samples: number, now: Estimate): Promise<number> {
    const { key, ranges } = this.#problem;
    const unit = this.#passes ? 1 : this.#unit;
    const task = witnessTask(ranges, samples, { key, iteration: this.#iteration, unit });
    const sums = await this.#run(task, this.#passes?.forWitnesses(now));
    const own = this.#passes ? this.#passes.asOne(now) : now;
    await this.#witnesses.add(task, sums, own, () => this.#learning.edgesOf(this.#map));
    return sums.evaluations;
  }

  /** The boxes where witnesses speak against an estimate of the present map. */
  contradictions(estimate: Estimate): Box[] {
    if (!this.#passes) return this.#witnesses.against(estimate);
    return this.#passes.witnessUnits ? this.#witnesses.against(this.#passes.asOne(estimate)) : [];
  }

  /** Lets the map send half of the samples along each axis into these boxes. */
  async seed(boxes: readonly Box[]): Promise<void> {
    const edges = await this.#learning.edgesOf(this.#map);
    this.#map = seededMap(edges, this.#dims, boxes, this.#knobs.shared);
    this.#known = false;
    this.#lattice = null;
  }

  /** Corrects the unit when squares overflowed or underflowed; returns whether the iteration has to be repeated. */
  #outOfUnit(sums: PassSums): boolean {
    if (this.#passes) return this.#passes.outOfUnit(sums);
    const factor = unitError(sums, this.#problem.epsilon);
    if (factor !== 1) this.#setUnit(this.#unit * factor);
    return factor !== 1;
  }

  /**
   * The relative error below which an integrand counts as constant. The widths of bins are rounded as their edges are: in
   * 64 bins over [100, 100.1] to 1e-11 of a width.
   */
  get #constantBelow(): number {
    const widths = this.#problem.ranges.map(([a, b]) => Math.max(Math.abs(a), Math.abs(b)) / (b - a));
    return this.#problem.epsilon * (CONSTANT_BELOW + this.#bins * Math.max(...widths));
  }

  #binsFor(evaluations: number): number {
    const { growBins } = this.#knobs;
    const bins = Math.min(this.#knobs.bins, 2 ** Math.floor(MAX_JACOBIAN_BITS / this.#dims));
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
    if (this.#known) return this.#allocator.allocate(this.#knobs.beta, evaluations);
    return Math.max(2, Math.floor(evaluations / this.#strata!.cubes));
  }

  /** Sets the unit from a few samples of the whole box; returns their number, which the iteration has fewer. */
  async #pilot(evaluations: number): Promise<number> {
    const samples = Math.min(PILOT_SAMPLES, Math.max(2, Math.floor(evaluations / 8)));
    const sums = await this.#sample(this.#oneCube(), samples, null, STREAM.pilot);
    if (this.#passes) {
      this.#square = this.#passes.pilot(sums, samples);
      return samples;
    }
    const { sum, variance } = sums;
    const spread = Math.sqrt(variance * samples);
    this.#setUnit(this.#unit * (spread > 0 && spread < Infinity ? Math.hypot(spread, sum) : Math.abs(sum)));
    return samples;
  }

  #oneCube(): Strata {
    return { perAxis: Array(this.#dims).fill(1), cubes: 1 };
  }

  /** Sets the unit (unit.ts) for values of about this size. */
  #setUnit(size: number): void {
    if (!(size > 0 && size < Infinity)) return;
    // kernels divide the Jacobian's constant part by the unit: that quotient must not overflow either
    const lowest = -1000 + Math.min(MAX_JACOBIAN_BITS, Math.ceil(this.#dims * Math.log2(this.#knobs.bins)));
    const unit = unitFor(size, lowest);
    this.#square = (size / unit) ** 2;
    this.#unit = unit;
  }

  #estimate(sums: PassSums, { cubes, perAxis }: Strata): Estimate {
    const fine = Math.max(...perAxis) >= FINE_STRATA;
    const one = (unit: number, own: Pick<SampleSums, 'sum' | 'variance' | 'concentration'>): Estimate => {
      const value = own.sum / cubes;
      const rounding = sumRounding(additionsOf(sums.evaluations), this.#problem.epsilon) * Math.abs(value);
      // not Math.hypot: engines differ in its last bit
      const error = Math.sqrt(own.variance / cubes ** 2 + rounding ** 2);
      // (Σ vᵢ)² / Σ vᵢ²; the part of the error that is rounding counts as carried by many pieces
      const carriers = own.concentration === 0 ? Infinity : (error * cubes) ** 4 / own.concentration;
      return {
        value: (value + value * this.#excess) * unit,
        error: (error + error * this.#excess) * unit,
        evaluations: sums.evaluations,
        carriers,
        pieces: fine ? sums.evaluations / PIECE : Math.max(cubes, sums.evaluations / PIECE),
        rounding: rounding * unit,
      };
    };
    return this.#passes ? this.#passes.estimate(sums, one) : one(this.#unit, sums);
  }

  #task(
    strata: Strata,
    counts: number | Counts,
    scale: number | null,
    stream: number = STREAM.sample,
  ): SampleTask {
    // what several passes learn is put together on the host
    const keep = !!this.#problem.session.learning && (this.#problem.several?.count ?? 1) <= RESULTS_PER_PASS;
    return {
      key: this.#problem.key,
      iteration: this.#iteration,
      stream,
      bins: this.#bins,
      edges: this.#map,
      strata: strata.perAxis,
      counts,
      unit: this.#unit,
      adapt: scale === null ? null : { scale, variances: this.#knobs.beta > 0, keep },
      ...(this.#dims === 1 && scale === null && !this.#passes && { cubes: true }),
    };
  }

  /** The task with its map and counts as numbers, also where a card keeps them. */
  async #plain(task: SampleTask): Promise<PlainTask> {
    const { edges, counts } = task;
    return {
      ...task,
      edges: await this.#learning.edgesOf(edges),
      counts:
        typeof counts === 'number' ? counts : { ...counts, each: await this.#allocator.countsOf(counts) },
    };
  }

  async #sample(
    strata: Strata,
    counts: number | Counts,
    scale: number | null,
    stream: number = STREAM.sample,
  ): Promise<PassSums> {
    const task = this.#task(strata, counts, scale, stream);
    const sums = await this.#run(task, this.#passes?.passesFor(scale !== null));
    if (task.adapt && !task.adapt.keep) await this.#learning.learn(task, sums);
    if (stream !== STREAM.probe)
      this.seen ||= sums.passes ? sums.passes.some(seenIn) : sums.sum !== 0 || sums.variance !== 0;
    return sums;
  }

  /** Samples a task; with several results in passes, whose sums are put together. */
  async #run(task: SampleTask, passes?: readonly ResultPass[]): Promise<PassSums> {
    const { session, signal, onNonFinite } = this.#problem;
    const found: SampleSums[] = [];
    for (const own of passes ? passes.map(pass => inPass(task, pass)) : [task])
      found.push(merge(own, [await session.sample(own, wholeOf(own), signal)]));
    const sums = passes ? together(passes, found) : found[0];
    this.#ledger.spend(sums.evaluations);
    if (sums.nonFinite) onNonFinite(sums.nonFinite);
    this.nonFinite ||= !!sums.nonFinite;
    return sums;
  }
}
