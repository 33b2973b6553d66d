/**
 * Witnesses: a few samples spread evenly over the domain, beside those of each measuring iteration. A map that has found
 * one of two peaks sends hardly a sample near the other one, and all iterations agree on half of the integral. A witness
 * that falls on the other peak, or on its slope, tells: a sample through the map would have had an enormous weight there.
 *
 * A witness at x speaks against an estimate when
 *
 *     |f(x)|·V/n > error                  what it stands for, V/n of the volume V, is more than the error
 *     |f(x)|·J(x) > FAR·max(∫|f|, error·N)  no sample of the measurement was like it: J is the Jacobian of the map, and
 *                                         one weight of error·N among N changes the estimate by its error; of
 *                                         lattices, whose errors are smaller, the error of as many random points
 *
 * Slopes of the known peak pass: witnesses there have weights that the measurement has met as well. On no integrand of
 * the papers did a witness speak against an estimate (30 integrands, 20 seeds each).
 */
import { innerRange } from '../../integrand/inner-range.ts';
import { type Key, STREAM } from '../../random/philox.ts';
import type { HeavyCubes, HeavyLimits } from '../../tasks/heavy.ts';
import { uniformMap } from '../../tasks/map.ts';
import type { Ranges } from '../../tasks/region.ts';
import { type SampleTask, samplesOf } from '../../tasks/sample.ts';
import type { Estimate } from '../combine.ts';

/** Witnesses as a part of all evaluations. */
export const WITNESS_PART = 0.04;
/**
 * At most this many for a measurement. The host looks at each of them: VEGAS+ on f2 in 6 dimensions to 1e-6 took 0.47 s on an H200 without a limit,
 * with 1.8e8 witnesses beside 4.5e9 samples that take 0.1 s (_trial_).
 */
export const MOST_WITNESSES = 2 ** 21;
/** Witnesses of a task, at most: two numbers per cube come back to the host. */
const MAX_WITNESSES = 2 ** 20;
/** How many times the integral of |f|, or error·N, a weight has to be. */
const FAR = 30;

/** A part of the domain, an interval per axis. */
export type Box = readonly (readonly [number, number])[];

/** Two samples in each of at most `samples`/2 equal boxes. */
export function witnessTask(
  ranges: Ranges,
  samples: number,
  { key, iteration, unit }: { key: Key; iteration: number; unit: number },
): SampleTask {
  const strata = evenStrata(ranges.length, Math.min(samples, MAX_WITNESSES) / 2);
  const stream = STREAM.witness;
  return {
    key,
    iteration,
    stream,
    bins: 1,
    edges: uniformMap(ranges.map(innerRange), 1),
    strata,
    counts: 2,
    unit,
    adapt: null,
    cubes: true,
  };
}

/** Strata per axis, as equal as can be, that make at most `most` cubes. */
function evenStrata(dims: number, most: number): number[] {
  const strata: number[] = Array(dims).fill(1);
  let cubes = 1;
  for (let d = 0; (cubes / strata[d]) * (strata[d] + 1) <= most; d = (d + 1) % dims) {
    cubes = (cubes / strata[d]) * (strata[d] + 1);
    strata[d]++;
  }
  return strata;
}

interface Suspect {
  box: Box;
  /** |f|·V. */
  weight: number;
  jacobian: number;
}

/** The witnesses of one measurement, as data. */
export interface WitnessState {
  drawn: number;
  sum: number;
  suspects: readonly Suspect[];
}

/** The witnesses of one measurement. Only those are kept that spoke against the estimate when they were drawn. */
export class PeakWitnesses {
  readonly #ranges: Ranges;
  readonly #volume: number;
  #drawn = 0;
  /** The sum of |f|·V over all witnesses. */
  #sum = 0;
  #suspects: Suspect[] = [];

  constructor(ranges: Ranges, state?: WitnessState) {
    this.#ranges = ranges;
    this.#volume = ranges.reduce((v, [a, b]) => v * (b - a), 1);
    if (!state) return;
    this.#drawn = state.drawn;
    this.#sum = state.sum;
    this.#suspects = [...state.suspects];
  }

  get state(): WitnessState {
    return { drawn: this.#drawn, sum: this.#sum, suspects: [...this.#suspects] };
  }

  /** Which of the cubes that are to be drawn may speak against an estimate; what is known of ∫|f| without them is left out. */
  limits(task: SampleTask, now: Estimate): Pick<HeavyLimits, 'ranges' | 'least' | 'far'> {
    const least = now.error * (this.#drawn + samplesOf(task));
    return { ranges: this.#ranges, least, far: FAR * leastIntegral(now) * this.#volume };
  }

  /** Adds what was drawn beside an iteration; `now` is the estimate after it. */
  add(task: SampleTask, { evaluations, sum, cubes, weights, jacobians }: HeavyCubes, now: Estimate): void {
    this.#drawn += evaluations;
    this.#sum += 2 * sum * task.unit;
    cubes.forEach((cube, i) => {
      const suspect = { box: boxOf(task, this.#ranges, cube), weight: weights[i], jacobian: jacobians[i] };
      if (this.#speaksAgainst(suspect, now)) this.#suspects.push(suspect);
    });
  }

  /** The boxes with witnesses that speak against an estimate, the heaviest first. */
  against(estimate: Estimate): Box[] {
    const found = this.#suspects.filter(s => this.#speaksAgainst(s, estimate));
    return found.sort((a, b) => b.weight - a.weight).map(s => s.box);
  }

  // error·n and error·N grow as √N: a witness that does not speak against an estimate now will not do so later

  /** A witness with more weight stands for more than the error. */
  #leastWeight({ error }: Estimate): number {
    return error * this.#drawn;
  }

  #speaksAgainst({ weight, jacobian }: Suspect, now: Estimate): boolean {
    return weight > this.#leastWeight(now) && jacobian > this.#leastFar(weight, now);
  }

  /** The Jacobian from which on no sample was like a witness with this weight. */
  #leastFar(weight: number, now: Estimate): number {
    const limit = FAR * Math.max(leastIntegral(now), this.#sum / this.#drawn);
    return (limit / weight) * this.#volume;
  }
}

/** The larger one of |value| and the heaviest weight that a measurement has met: error·N, of lattices that of as many random points. */
const leastIntegral = ({ value, error, randomError, evaluations }: Estimate): number =>
  Math.max(Math.abs(value), (randomError ?? error) * evaluations);

/** The part of each axis that a cube has. */
function partsOf({ strata }: SampleTask, cube: number): number[] {
  return strata.map(n => {
    const k = cube % n;
    cube = Math.floor(cube / n);
    return k;
  });
}

function boxOf(task: SampleTask, ranges: Ranges, cube: number): Box {
  return partsOf(task, cube).map((k, d) => {
    const [low, high] = ranges[d];
    const width = (high - low) / task.strata[d];
    return [low + k * width, low + (k + 1) * width];
  });
}
