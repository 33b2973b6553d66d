/** Points through a learned map with their weights, batch by batch, for `sample`; and sums of weights. */
import { beforeAbort } from './devices/before-abort.ts';
import { dueTurn } from './devices/event-loop.ts';
import type { BoundProgram } from './integrand/bound.ts';
import { isMapped, toDomain } from './integrand/domain.ts';
import { volumeExcess } from './integrand/inner-range.ts';
import type { Learned } from './methods/vegas/record.ts';
import { nonFiniteError } from './non-finite.ts';
import type { Problem } from './problem.ts';
import { keyOf } from './random/philox.ts';
import { seedData } from './result.ts';
import type { Samples } from './sample.ts';

import { type Draw, drawPoints } from './tasks/draw.ts';
import { evaluatorOf } from './tasks/evaluate.ts';

export interface Batch {
  n: number;
  /** In the coordinates of the sampled box, all first ones first. */
  points: Float64Array;
  values: Float64Array;
  weights: Float64Array;
  chances: Float64Array;
}

/** Points through a map with the weights f·Jacobian, whose mean is the integral. */
export class WeightedPoints {
  readonly problem: Problem;
  readonly #draw: Omit<Draw, 'iteration'>;
  readonly #integrand: BoundProgram;
  readonly #evaluate: ReturnType<typeof evaluatorOf>;
  /** The result that points are drawn from, and the names of all; undefined for an integrand that returns a number. */
  readonly #result: { row: number; names: readonly string[] | undefined };
  readonly #signal: AbortSignal | undefined;
  /** The map covers the inner ranges of the axes (integrand/inner-range.ts). */
  readonly #whole: number;
  readonly #mapped: boolean;

  constructor(
    problem: Problem,
    integrand: BoundProgram,
    result: { row: number; names: readonly string[] | undefined },
    learned: Learned,
    signal: AbortSignal | undefined,
  ) {
    this.problem = problem;
    this.#result = result;
    const { dims, domain, seed } = problem;
    this.#draw = { key: keyOf(seed), dims, bins: learned.bins, edges: learned.edges };
    this.#integrand = integrand;
    this.#evaluate = evaluatorOf(integrand, result.row);
    this.#signal = signal;
    this.#mapped = isMapped(domain.axes);
    this.#whole = domain.sign * (1 + volumeExcess(domain.ranges));
  }

  async batch(iteration: number, first: number, n: number): Promise<Batch> {
    await dueTurn();
    this.#signal?.throwIfAborted();
    const { points, jacobians, chances } = drawPoints({ ...this.#draw, iteration }, first, n);
    const asked = Promise.resolve(this.#evaluate(points, n));
    const values = Float64Array.from(await beforeAbort(asked, this.#signal));
    const weights = new Float64Array(n);
    for (let i = 0; i < n; i++) {
      const w = values[i] * jacobians[i] * this.#whole;
      if (Math.abs(w) < Infinity) weights[i] = w;
      else if (this.problem.onNonFinite === 'error')
        throw await nonFiniteError(
          { point: this.#at(points, n, i), value: values[i], result: this.#result.row },
          this.problem,
          this.#integrand,
          this.#result.names,
          'sample',
        );
    }
    return { n, points, values, weights, chances };
  }

  #at(points: Float64Array, n: number, i: number): number[] {
    return Array.from({ length: this.problem.dims }, (_, d) => points[d * n + i]);
  }

  /** Writes point i of a batch to place `to`: in the coordinates of the domain, with the value there. */
  put(batch: Batch, i: number, into: Samples, to: number): void {
    const { dims, domain } = this.problem;
    if (!this.#mapped) {
      for (let d = 0; d < dims; d++) into.points[to * dims + d] = batch.points[d * batch.n + i];
      into.values[to] = batch.values[i];
      return;
    }
    const { x, jacobian } = toDomain(domain.axes, this.#at(batch.points, batch.n, i));
    into.points.set(x, to * domain.coordinates);
    into.values[to] = jacobian === 0 ? 0 : batch.values[i] / jacobian;
  }

  empty(count: number): Samples {
    const { domain, seed } = this.problem;
    return {
      points: new Float64Array(count * domain.coordinates),
      weights: new Float64Array(count),
      values: new Float64Array(count),
      value: 0,
      error: 0,
      drawn: 0,
      efficiency: 1,
      overweight: { points: 0, weight: 0 },
      seed: seedData(seed),
    };
  }
}

/** Sums of weights, relative to a power of two near the first one that is not 0, since squares may overflow. */
export class Moments {
  #unit = 0;
  #n = 0;
  #sum = 0;
  #sizes = 0;
  #squares = 0;

  add(weight: number): void {
    if (this.#unit === 0 && weight !== 0) this.#unit = 2 ** Math.floor(Math.log2(Math.abs(weight)));
    const w = this.#unit === 0 ? 0 : weight / this.#unit;
    this.#n++;
    this.#sum += w;
    this.#sizes += Math.abs(w);
    this.#squares += w * w;
  }

  get estimate(): { value: number; error: number } {
    const mean = this.#sum / this.#n;
    const variance = Math.max(0, this.#squares / this.#n - mean * mean);
    const error = this.#n > 1 ? Math.sqrt(variance / (this.#n - 1)) : Infinity;
    return { value: mean * this.#unit, error: this.#n > 1 ? error * this.#unit : Infinity };
  }

  get efficiency(): number {
    return this.#squares > 0 ? this.#sizes ** 2 / (this.#n * this.#squares) : 0;
  }
}
