/**
 * The state of a VEGAS run and its one step: map, strata, samples of each cube; an iteration on the device; and,
 * while adapting, the refinement of all three. `plain`, `mcubes`, `mcubes1d` and `vegas+` differ only in the knobs.
 *
 * The histogram, from which the map is refined, sums w² per bin; variances of cubes, by which samples are allotted, come with it
 * (tasks/map.ts, tasks/strata.ts). result-units.ts has the units of weights, sample-runner.ts runs the tasks.
 */
import { innerRange } from '../../integrand/inner-range.ts';
import { intrinsics } from '../../integrand/math/kit.ts';
import { STREAM } from '../../random/philox.ts';
import { RESULTS_PER_PASS } from '../../tasks/correlation.ts';
import { HostLearning } from '../../tasks/host-learning.ts';
import type { Learning } from '../../tasks/learning.ts';
import { floorFor, rebin, scaledMap, uniformMap } from '../../tasks/map.ts';
import type { Adapt, AxisMap, Counts, PlainTask, SampleTask } from '../../tasks/sample.ts';
import { leastFor, oneCube, type Strata, strataFor } from '../../tasks/strata.ts';
import type { Estimate } from '../combine.ts';
import { hiddenBy, withSteps } from '../jumps.ts';
import { LatticeSampler } from '../lattice/lattice-sampler.ts';
import type { Ledger } from '../ledger.ts';
import type { MethodProblem, Nearest } from '../method.ts';
import type { PassSums } from '../result-passes.ts';
import type { ResultUnits } from '../result-units.ts';
import { MOST_TRIES } from '../unit.ts';
import { carriersIn, limitFor } from './counted-part.ts';
import type { Knobs } from './knobs.ts';
import type { Learned, Scalars } from './record.ts';
import { SampleRunner } from './sample-runner.ts';
import { seededMap } from './seeded-map.ts';
import { type Box, PeakWitnesses, witnessTask } from './witness.ts';

/**
 * The histogram sums w²·scale, rounded to integers. `scale` aims at this sum over the bins of an axis; the sum has to be
 * below 2^53, where float64 integers are exact, and at least 2^30, where rounding to integers is fine enough.
 */
const HISTOGRAM_AIM = 2 ** 42;
const HISTOGRAM_LIMIT = 2 ** 53;
const HISTOGRAM_LEAST = 2 ** 30;
/** The relative error below which an integrand counts as constant, in epsilons (1e-13 for float64). */
const CONSTANT_BELOW = 1e-13 * 2 ** 53;
/** Samples of the pilot, which finds the size of values. */
const PILOT_SAMPLES = 256;
/** The largest power of two in a Jacobian, bins^dims, that leaves room below float64's 2^1023. */
const MAX_JACOBIAN_BITS = 900;

export class Sampling {
  readonly #problem: MethodProblem;
  readonly #knobs: Knobs;
  readonly #dims: number;
  readonly #runner: SampleRunner;
  readonly #lattices: LatticeSampler;
  readonly #learning: Learning;
  /** Allots samples: `#learning`, or variances that were handed in. */
  #allocator: Learning;
  #map: AxisMap;
  #bins = 1;
  #strata: Strata | null = null;
  /** Whether the variances of the cubes of the present strata are known. */
  #known = false;
  #iteration = 0;
  /** Samples that carried the variance of the last iteration that learned; 0 where something may have been overlooked since. */
  #carriers = 0;
  /** For each axis: the widths of its first and its last bin, as parts of the range, when the last measurement was made. */
  #endBins: Nearest = [];
  /** The map that they are of. */
  #measuredMap: AxisMap | null = null;
  /** The map as numbers, once they were asked for: a card is asked once. */
  #numbers: { of: AxisMap; edges: Promise<Float64Array> } | null = null;
  /** Witnesses since the map was last changed. */
  #witnesses: PeakWitnesses;
  /** What the last probe found: an estimate for runs that end before their first iteration does. */
  probed: Estimate | null = null;

  constructor(problem: MethodProblem, ledger: Pick<Ledger, 'spend'>, knobs: Knobs) {
    this.#problem = problem;
    this.#knobs = knobs;
    this.#dims = problem.ranges.length;
    // kernels divide the Jacobian's constant part by the unit: that quotient must not overflow either
    const bits = Math.min(MAX_JACOBIAN_BITS, Math.ceil(this.#dims * Math.log2(knobs.bins)));
    this.#runner = new SampleRunner(problem, ledger, -1000 + bits);
    this.#lattices = new LatticeSampler(problem, this.#runner);
    this.#learning = problem.session.learning ?? new HostLearning();
    this.#allocator = this.#learning;
    this.#map = uniformMap(problem.ranges.map(innerRange), 1);
    this.#witnesses = new PeakWitnesses(problem.ranges);
  }

  get scalars(): Scalars {
    // each member by its name: a spread among other members takes 2 µs more, once per iteration (_trial_)
    const { seen, nonFinite, units: own } = this.#runner;
    const { unit, square, size, coarse, units, spreads, pilotSpreads, witnessUnits, largestSpread } =
      own.state;
    return {
      bins: this.#bins,
      strata: this.#strata,
      known: this.#known,
      unit,
      square,
      size,
      coarse,
      units,
      spreads,
      pilotSpreads,
      witnessUnits,
      iteration: this.#iteration,
      carriers: this.#carriers,
      endBins: this.#endBins,
      largestSpread,
      witnesses: this.#witnesses.state,
      lattice: this.#lattices.found,
      seen,
      nonFinite,
      probed: this.probed,
    };
  }

  set scalars(s: Scalars) {
    this.#bins = s.bins;
    this.#strata = s.strata;
    this.#known = s.known;
    this.#runner.units.state = s;
    this.#iteration = s.iteration;
    this.#carriers = s.carriers;
    this.#endBins = s.endBins;
    this.#witnesses = new PeakWitnesses(this.#problem.ranges, s.witnesses);
    this.#lattices.found = s.lattice;
    this.#runner.seen = s.seen;
    this.#runner.nonFinite = s.nonFinite;
    this.probed = s.probed;
  }

  /** What was learned. */
  async learned(): Promise<Learned> {
    const { ranges } = this.#problem;
    const variances =
      this.#known && this.#allocator instanceof HostLearning ? this.#allocator.variances : null;
    return { bins: this.#bins, ranges, edges: await this.#edges(), strata: this.#strata, variances };
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

  /** Whether any sample was not 0. */
  get seen(): boolean {
    return this.#runner.seen;
  }

  /** Whether any value was not finite, and counted as 0. */
  get nonFinite(): boolean {
    return this.#runner.nonFinite;
  }

  get bins(): number {
    return this.#bins;
  }

  /** What is known of the size of weights. */
  get units(): Pick<ResultUnits, 'spreadAbout' | 'largestSpread'> {
    return this.#runner.units;
  }

  /** Strata per axis of the present map, on average. */
  get perAxis(): number {
    return (this.#strata?.cubes ?? 1) ** (1 / this.#dims);
  }

  /** The number of cubes in an iteration of this size. */
  cubesFor(evaluations: number): number {
    return this.#strataFor(evaluations).cubes;
  }

  /** How close to the ends of the ranges the nearest one of so many samples is expected. */
  nearest(samples: number): Nearest {
    const each = this.#bins / samples;
    return this.#endBins.map(([low, high]) => [Math.min(1, low * each), Math.min(1, high * each)]);
  }

  /** Samples the whole box evenly, to measure how fast the integrand is; the unit stays as it is. */
  async probe(samples: number): Promise<void> {
    const one = oneCube(this.#dims);
    this.probed = this.#runner.estimate(await this.#sample(one, samples, null, STREAM.probe), one);
  }

  /** Samples, and learns from them. */
  async adapt(evaluations: number, alpha = this.#knobs.alpha): Promise<Estimate> {
    const { beta, shared } = this.#knobs;
    const runner = this.#runner;
    const { units } = runner;
    this.#witnesses = new PeakWitnesses(this.#problem.ranges);
    units.forgetWitnesses();
    this.#lattices.found = null;
    if (!this.seen) evaluations -= await this.#pilot(evaluations);
    await this.#useBins(this.#binsFor(evaluations));
    const strata = this.#strataFor(evaluations);
    if (strata.cubes !== this.#strata?.cubes) this.#known = false;
    this.#strata = strata;
    const counts = await this.#countsFor(evaluations);
    for (let tries = 0; ; tries++) {
      // a power of two: devices that add in another order, and so differ in last bits, find the same one
      const scale = 2 ** intrinsics.exponent(HISTOGRAM_AIM / units.square / evaluations);
      const sums = await this.#sample(strata, counts, { scale, ...limitFor(evaluations, this.#carriers) });
      if (runner.mustRepeat(sums, tries)) continue;
      const { squares } = sums;
      if (this.seen) {
        units.square = squares > 0 ? squares / scale / evaluations : units.square * 2 ** -40;
        // the histogram is out of range: the same samples are drawn again with the right scale
        if ((squares >= HISTOGRAM_LIMIT || squares < HISTOGRAM_LEAST) && tries < MOST_TRIES) continue;
      }
      // the map learns nothing from a constant integrand: rounding errors would only spoil it
      if (!units.isFlat(sums, this.#constantBelow) && alpha > 0 && this.#bins > 1)
        this.#map = await this.#learning.refine({ alpha, floor: floorFor(evaluations), shared });
      this.#known = beta > 0;
      this.#allocator = this.#learning;
      this.#iteration++;
      const estimate = runner.estimate(sums, strata);
      this.#carriers = carriersIn(estimate, strata.cubes);
      units.learn(estimate, sums, scale);
      return estimate;
    }
  }

  /** Samples with map and strata as they are. `following`: measurements of as many evaluations that are likely to come next. */
  async measure(evaluations: number, following = 0): Promise<Estimate> {
    const { several, onMeasured } = this.#problem;
    const runner = this.#runner;
    // while no variances of cubes are known, nothing is lost by choosing the strata anew
    if (!this.#known || !this.#strata) this.#strata = this.#strataFor(evaluations);
    if (!this.seen) evaluations -= await this.#pilot(evaluations);
    const counts = await this.#countsFor(evaluations);
    await this.#lookAtEnds();
    for (let tries = 0; ; tries++) {
      const sums = await this.#sample(this.#strata, counts, null, STREAM.sample, following);
      if (runner.mustRepeat(sums, tries)) continue;
      const least = typeof counts === 'number' ? counts : leastFor(evaluations, this.#strata.cubes);
      const hidden = sums.means ? hiddenBy(sums.means, least) * runner.units.unit : 0;
      const task = this.#task(this.#strata, counts, null);
      let estimate: Estimate = { ...runner.estimate(sums, this.#strata), hidden };
      if (several && this.#dims === 1)
        estimate = await withSteps(estimate, several.goals, runner, task, await this.#edges(), least);
      await onMeasured?.(await this.#plain(task), estimate);
      this.#iteration++;
      return estimate;
    }
  }

  /** Samples lattices of 2^log2 points with so many shifts, map frozen. What the present shifts have is kept. */
  async lattice(shifts: number, log2: number, folded: boolean): Promise<Estimate> {
    await this.#lookAtEnds();
    const edges = await this.#edges();
    const task = () => ({ ...this.#task(oneCube(this.#dims), 2, null), edges });
    const estimate = await this.#lattices.sample(shifts, log2, folded, task);
    if (this.#lattices.found!.iteration === this.#iteration) this.#iteration++; // these shifts are new
    return estimate;
  }

  async #lookAtEnds(): Promise<void> {
    if (this.#measuredMap === this.#map) return;
    this.#measuredMap = this.#map;
    const edges = await this.#edges();
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
    const { units } = this.#runner;
    const task = witnessTask(ranges, samples, { key, iteration: this.#iteration, unit: units.unit });
    const passes = units.forWitnesses(now); // which decides the units of several results as one
    const one = units.asOne(now)!;
    const limits = { ...this.#witnesses.limits(task, one), map: this.#map, bins: this.#bins };
    const heavy = await this.#runner.heavy(task, passes, limits, () => this.#edges());
    this.#witnesses.add(task, heavy, one);
    return heavy.evaluations;
  }

  /** The boxes where witnesses speak against an estimate of the present map. */
  contradictions(estimate: Estimate): Box[] {
    const one = this.#runner.units.asOne(estimate);
    return one ? this.#witnesses.against(one) : [];
  }

  /** Lets the map send half of the samples along each axis into these boxes. */
  async seed(boxes: readonly Box[]): Promise<void> {
    this.#map = seededMap(await this.#edges(), this.#dims, boxes, this.#knobs.shared);
    this.#known = false;
    this.#carriers = 0;
    this.#lattices.found = null;
  }

  /**
   * The relative error below which an integrand counts as constant. The widths of bins are rounded as their edges are: in
   * 64 bins over [100, 100.1] to 1e-11 of a width.
   */
  get #constantBelow(): number {
    const widths = this.#problem.ranges.map(([a, b]) => Math.max(Math.abs(a), Math.abs(b)) / (b - a));
    return this.#problem.epsilon * (CONSTANT_BELOW + this.#bins * Math.max(...widths));
  }

  /** The map as numbers. */
  #edges(): Promise<Float64Array> {
    const map = this.#map;
    if (this.#numbers?.of !== map) this.#numbers = { of: map, edges: this.#learning.edgesOf(map) };
    return this.#numbers.edges;
  }

  #binsFor(evaluations: number): number {
    const { growBins } = this.#knobs;
    const bins = Math.min(this.#knobs.bins, 2 ** Math.floor(MAX_JACOBIAN_BITS / this.#dims));
    return growBins ? Math.min(bins, Math.max(64, 2 ** Math.round(Math.log2(evaluations / 96)))) : bins;
  }

  async #useBins(bins: number): Promise<void> {
    if (bins === this.#bins) return;
    this.#map = rebin(await this.#edges(), this.#dims, bins);
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
    const sums = await this.#sample(oneCube(this.#dims), samples, null, STREAM.pilot);
    this.#runner.units.pilot(sums, samples);
    return samples;
  }

  /** `histogram`: its scale, and what it counts; null when map and strata are frozen. */
  #task(
    strata: Strata,
    counts: number | Counts,
    histogram: Pick<Adapt, 'scale' | 'limit'> | null,
    stream: number = STREAM.sample,
  ): SampleTask {
    const { key, session, several } = this.#problem;
    // what several passes learn is put together on the host
    const keep = !!session.learning && (several?.count ?? 1) <= RESULTS_PER_PASS;
    const task: SampleTask = {
      key,
      iteration: this.#iteration,
      stream,
      bins: this.#bins,
      edges: this.#map,
      strata: strata.perAxis,
      counts,
      unit: this.#runner.units.unit,
      adapt: histogram && { ...histogram, variances: this.#knobs.beta > 0, keep },
    };
    if (this.#dims === 1 && !histogram && !several) task.cubes = true;
    return task;
  }

  /** The task with its map and counts as numbers, also where a card keeps them. */
  async #plain(task: SampleTask): Promise<PlainTask> {
    const { counts } = task;
    return {
      ...task,
      edges: await this.#edges(),
      counts:
        typeof counts === 'number' ? counts : { ...counts, each: await this.#allocator.countsOf(counts) },
    };
  }

  async #sample(
    strata: Strata,
    counts: number | Counts,
    histogram: Pick<Adapt, 'scale' | 'limit'> | null,
    stream: number = STREAM.sample,
    following = 0,
  ): Promise<PassSums> {
    const task = this.#task(strata, counts, histogram, stream);
    const passes = this.#runner.units.passesFor(task.adapt !== null);
    const sums = await this.#runner.run(task, passes, following);
    if (task.adapt && !task.adapt.keep) await this.#learning.learn(task, sums);
    return sums;
  }
}
