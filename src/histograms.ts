/**
 * Histograms: integrals of the integrand over bins of an expression of the coordinates, filled while integrating.
 *
 * The samples of every iteration that measures are drawn once more on the calling thread, from the same random numbers, with
 * the values of the integrand and of the expression. So histograms work with every device, and the other members of the result
 * have the bits of a run without them; the price is the speed of one thread.
 *
 * With w the weights of the n samples of a cube and S_b the sum of those that fall into bin b, the cube contributes S_b/n to the
 * bin, and to the covariance of the bins b and c (δ_bc·Σ_b w² − S_b·S_c/n) / (n·(n − 1)). Only bins that samples of the cube
 * have hit contribute: at most n of them, so cubes with few samples cost little. Iterations are combined as their values are
 * (methods/combine.ts): by their numbers of evaluations. So the bins, with what lies under and over the range, add up to
 * the value of the run.
 */
import { dueTurn } from './devices/event-loop.ts';
import { namedResult } from './goals.ts';
import type { HistogramOptions } from './histogram-options.ts';
import type { BoundProgram } from './integrand/bound.ts';
import { type Compiled, compile, type Integrand } from './integrand/compile.ts';
import { IntegrandError } from './integrand/diagnostics.ts';
import { isMapped, toDomain } from './integrand/domain.ts';
import { volumeExcess } from './integrand/inner-range.ts';
import { kit } from './integrand/math/index.ts';
import type { Params } from './integrand/params.ts';
import type { Estimate } from './methods/combine.ts';
import { unitFor } from './methods/unit.ts';
import { IntegrationError } from './options/integration-error.ts';
import type { Problem } from './problem.ts';
import { type DrawnSamples, drawSamples } from './tasks/draw.ts';
import { type EvaluatePoints, evaluatorOf } from './tasks/evaluate.ts';
import { cubesOf, type PlainTask } from './tasks/sample.ts';

/** A histogram that was filled. */
export interface Histogram {
  /** The bounds of the bins, one more than there are bins. */
  readonly edges: readonly number[];
  /** The integral of the integrand, or of its `result`, over each bin. */
  readonly values: readonly number[];
  /** One standard deviation of each. */
  readonly errors: readonly number[];
  /** The covariance of the bins, a row per bin. */
  readonly covariance: readonly (readonly number[])[];
  /** The integral over what lies below the range. */
  readonly under: { readonly value: number; readonly error: number };
  /** The integral over what lies above it. */
  readonly over: { readonly value: number; readonly error: number };
}

/** Samples that are drawn at once. */
const BATCH = 4096;
/** Sums of one iteration for one histogram: what lies below the range, the bins, what lies above. */
interface Filled {
  values: Float64Array;
  /** A row per slot, in squares of the unit: those of 1e-180 underflow. */
  covariance: Float64Array;
  unit: number;
}

export class Histograms {
  readonly #problem: Problem;
  readonly #integrand: EvaluatePoints;
  readonly #axes: readonly Binned[];
  readonly #filled = new WeakMap<Estimate, readonly Filled[]>();

  constructor(problem: Problem, integrand: BoundProgram) {
    this.#problem = problem;
    this.#integrand = evaluatorOf(integrand);
    this.#axes = Object.entries(problem.histograms!).map(([name, given]) => {
      const row = namedResult(integrand, `histograms.${name}.result`, given.result);
      return new Binned(name, given, row, problem, integrand);
    });
  }

  /** Fills all histograms with the samples of an iteration. */
  async fill(task: PlainTask, estimate: Estimate, signal: AbortSignal | undefined): Promise<void> {
    const { domain } = this.#problem;
    const mapped = isMapped(domain.axes);
    const sums = this.#axes.map(axis => new CubeWise(axis.slots));
    const rows = this.#axes.map(axis => axis.row);
    // a single number is drawn in the unit of its task; each of several results is squared in one near its size
    const units = rows.map(row => unitOf(estimate.results?.each[row]));
    const countOf = typeof task.counts === 'number' ? null : task.counts.each;
    let cube = 0;
    const flush = () => {
      for (const own of sums) own.flush(countOf ? countOf[cube] : (task.counts as number));
    };
    for (const drawn of drawSamples(task, BATCH)) {
      await dueTurn();
      signal?.throwIfAborted();
      const values = await this.#integrand(drawn.points, drawn.n);
      const points = mapped ? this.#inDomain(drawn) : drawn.points;
      const slots = this.#axes.map(axis => axis.slotsOf(points, drawn.n));
      for (let i = 0; i < drawn.n; i++) {
        if (drawn.cubes[i] !== cube) {
          flush();
          cube = drawn.cubes[i];
        }
        for (let h = 0; h < sums.length; h++) {
          const w = (values[rows[h] * drawn.n + i] / units[h]) * drawn.jacobians[i];
          if (w === 0 || !(Math.abs(w) < Infinity)) continue; // what is not finite counts as 0, or has ended the run
          const slot = slots[h][i];
          if (slot < 0) throw this.#axes[h].undefinedAt(points, drawn.n, i);
          sums[h].add(slot, w);
        }
      }
    }
    flush();
    // the map covers the inner ranges of the axes (integrand/inner-range.ts)
    const whole = (domain.sign * task.unit * (1 + volumeExcess(domain.ranges))) / cubesOf(task);
    this.#filled.set(
      estimate,
      sums.map((own, h) => own.times(whole, units[h])),
    );
  }

  /** The histograms of iterations together. */
  of(estimates: readonly Estimate[]): { [name: string]: Histogram } {
    const evaluations = estimates.reduce((n, e) => n + e.evaluations, 0);
    return Object.fromEntries(
      this.#axes.map((axis, h) => {
        const values = new Float64Array(axis.slots);
        const covariance = new Float64Array(axis.slots ** 2);
        const { unit } = this.#filled.get(estimates[0])![h];
        for (const estimate of estimates) {
          const share = estimate.evaluations / evaluations;
          const own = this.#filled.get(estimate)![h];
          for (let i = 0; i < values.length; i++) values[i] += share * own.values[i];
          const scaled = share * (own.unit / unit);
          for (let i = 0; i < covariance.length; i++) covariance[i] += scaled * scaled * own.covariance[i];
        }
        return [axis.name, axis.histogram({ values, covariance, unit })];
      }),
    );
  }

  #inDomain({ points, n }: DrawnSamples): Float64Array {
    const { domain, dims } = this.#problem;
    const { coordinates } = domain;
    const placed = new Float64Array(coordinates * n);
    for (let i = 0; i < n; i++) {
      const z = Array.from({ length: dims }, (_, d) => points[d * n + i]);
      const { x } = toDomain(domain.axes, z);
      for (let d = 0; d < coordinates; d++) placed[d * n + i] = x[d];
    }
    return placed;
  }
}

/** A power of two near the size of weights. */
function unitOf(own: Estimate | undefined): number {
  if (!own) return 1;
  const size = Math.max(Math.abs(own.value), own.error * Math.sqrt(own.evaluations));
  return size > 0 && size < Infinity ? unitFor(size) : 1;
}

/** One histogram: its expression and its bins. Slot 0 is below the range, the last one above it. */
class Binned {
  readonly name: string;
  /** The number of the result that is binned. */
  readonly row: number;
  readonly slots: number;
  readonly #given: HistogramOptions;
  readonly #dims: number;
  readonly #evaluate: (points: Float64Array, n: number) => ArrayLike<number>;

  constructor(
    name: string,
    given: HistogramOptions,
    row: number,
    { domain, params }: Problem,
    integrand: BoundProgram,
  ) {
    const dims = domain.coordinates;
    this.name = name;
    this.row = row;
    this.slots = given.bins + 2;
    this.#given = given;
    this.#dims = dims;
    if (integrand.kind === 'plain')
      this.#evaluate = (points, n) =>
        Float64Array.from({ length: n }, (_, i) => given.of(this.#at(points, n, i), params, kit));
    else {
      const { evaluate } = compiled(name, given.of, dims, params);
      this.#evaluate = points => evaluate(points);
    }
  }

  /** The slot of each point; −1 where the expression is NaN. */
  slotsOf(points: Float64Array, n: number): Int32Array {
    const { bins, range } = this.#given;
    const [low, high] = range;
    const values = this.#evaluate(points, n);
    const slots = new Int32Array(n);
    for (let i = 0; i < n; i++) {
      const v = values[i];
      if (v < low) slots[i] = 0;
      else if (v >= high) slots[i] = bins + 1;
      else if (v >= low) slots[i] = 1 + Math.min(bins - 1, Math.floor(((v - low) / (high - low)) * bins));
      else slots[i] = -1;
    }
    return slots;
  }

  undefinedAt(points: Float64Array, n: number, i: number): Error {
    return new IntegrationError(
      w =>
        `${w.quoted(`histograms.${this.name}.of`)} is NaN at ${w.point(this.#at(points, n, i))}; mend it there, for instance with a number outside of the range.`,
    );
  }

  histogram({ values, covariance, unit }: Filled): Histogram {
    const { bins, range } = this.#given;
    const [low, high] = range;
    const { slots } = this;
    const inner = Array.from({ length: bins }, (_, b) => b + 1);
    const error = (slot: number) => Math.sqrt(Math.max(0, covariance[slot * slots + slot])) * unit;
    const beyond = (slot: number) => ({ value: values[slot], error: error(slot) });
    return {
      edges: Array.from({ length: bins + 1 }, (_, b) =>
        b === bins ? high : low + (high - low) * (b / bins),
      ),
      values: inner.map(slot => values[slot]),
      errors: inner.map(error),
      covariance: inner.map(row => inner.map(column => covariance[row * slots + column] * unit * unit)),
      under: beyond(0),
      over: beyond(bins + 1),
    };
  }

  #at(points: Float64Array, n: number, i: number): number[] {
    return Array.from({ length: this.#dims }, (_, d) => points[d * n + i]);
  }
}

/** The expression of a histogram; errors name the histogram. */
function compiled(name: string, of: Integrand, dims: number, params: Params): Compiled {
  try {
    return compile(of, { dims, params });
  } catch (e) {
    if (e instanceof IntegrandError) e.add(w => `This is ${w.quoted(`histograms.${name}.of`)}.`);
    throw e;
  }
}

/** Sums over the cubes of an iteration; see the head of this file. */
class CubeWise {
  readonly #slots: number;
  readonly #values: Float64Array;
  readonly #covariance: Float64Array;
  /** Σ w and Σ w² of the samples in the present cube, for the slots that they have hit. */
  readonly #sums: Float64Array;
  readonly #squares: Float64Array;
  /** The slots that were hit, as a list and as flags: sums may cancel, and squares underflow, to 0. */
  #hit: number[] = [];
  readonly #isHit: Uint8Array;

  constructor(slots: number) {
    this.#slots = slots;
    this.#values = new Float64Array(slots);
    this.#covariance = new Float64Array(slots * slots);
    this.#sums = new Float64Array(slots);
    this.#squares = new Float64Array(slots);
    this.#isHit = new Uint8Array(slots);
  }

  add(slot: number, w: number): void {
    if (this.#isHit[slot] === 0) this.#hit.push(slot);
    this.#isHit[slot] = 1;
    this.#sums[slot] += w;
    this.#squares[slot] += w * w;
  }

  /** Ends a cube of n samples. */
  flush(n: number): void {
    for (const i of this.#hit) {
      this.#values[i] += this.#sums[i] / n;
      const row = i * this.#slots;
      for (const j of this.#hit)
        this.#covariance[row + j] -= (this.#sums[i] * this.#sums[j]) / n / (n * (n - 1));
      this.#covariance[row + i] += this.#squares[i] / (n * (n - 1));
    }
    for (const i of this.#hit) this.#sums[i] = this.#squares[i] = this.#isHit[i] = 0;
    this.#hit = [];
  }

  times(factor: number, unit: number): Filled {
    return {
      values: this.#values.map(v => v * factor * unit),
      covariance: this.#covariance.map(c => c * factor * factor),
      unit,
    };
  }
}
