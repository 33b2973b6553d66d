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
import { type Key, roundKeys, STREAM, writeWords } from '../../random/philox.ts';
import { uniformMap, widthAt } from '../../tasks/map.ts';
import type { Ranges } from '../../tasks/region.ts';
import type { SampleSums, SampleTask } from '../../tasks/sample.ts';
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

  /** Adds what was drawn beside an iteration; `now` is the estimate after it, `edges` fetches the map. */
  async add(
    task: SampleTask,
    { means, variances, evaluations }: SampleSums,
    now: Estimate,
    edges: () => Promise<Float64Array>,
  ): Promise<void> {
    this.#drawn += evaluations;
    const { unit } = task;
    const least = this.#leastWeight(now);
    const heavy: number[] = [];
    const weights: number[] = [];
    let sum = this.#sum;
    for (let cube = 0; cube < means!.length; cube++) {
      const mean = Math.abs(means![cube]);
      sum += 2 * mean * unit;
      // of two values with mean m and variance v the larger one is |m| + √(v/2)
      const weight = unit * (mean + Math.sqrt(variances![cube] / 2));
      if (weight > least) {
        heavy.push(cube);
        weights.push(weight);
      }
    }
    this.#sum = sum;
    if (heavy.length === 0) return;
    const map = await edges();
    const jacobian = jacobiansOf(task, this.#ranges, map);
    heavy.forEach((cube, i) => {
      const weight = weights[i];
      const far = this.#leastFar(weight, now);
      // which of the two points has the larger value is not known: the one where the map is denser speaks for both
      const first = jacobian(cube, 0, far);
      const smaller = first > far ? Math.min(first, jacobian(cube, 1, far)) : 0;
      if (smaller > far)
        this.#suspects.push({ box: boxOf(task, this.#ranges, cube), weight, jacobian: smaller });
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
    const heaviest = (now.randomError ?? now.error) * now.evaluations;
    const limit = FAR * Math.max(Math.abs(now.value), this.#sum / this.#drawn, heaviest);
    return (limit / weight) * this.#volume;
  }
}

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

/**
 * The Jacobians of a map at witnesses: that of point 0 or 1 of a cube, or 0 when it is no more than `least`. For most that is known before the
 * last axis, and the random words of further ones are not drawn.
 */
function jacobiansOf(
  task: SampleTask,
  ranges: Ranges,
  edges: Float64Array,
): (cube: number, i: number, least: number) => number {
  const { key, iteration, stream, strata } = task;
  const dims = ranges.length;
  const bins = edges.length / dims - 1;
  const keys = Uint32Array.from(roundKeys(key));
  const words = new Uint32Array(4);
  const width = ranges.map((_, d) => widthAt(edges.subarray(d * (bins + 1), (d + 1) * (bins + 1))));
  // at most so much comes from the axes from d on
  const rest = new Float64Array(dims + 1).fill(1);
  for (let d = dims - 1; d >= 0; d--) {
    let widest = 0;
    for (let at = d * (bins + 1); at < d * (bins + 1) + bins; at++)
      widest = Math.max(widest, edges[at + 1] - edges[at]);
    rest[d] = rest[d + 1] * bins * widest;
  }
  return (cube, i, least) => {
    if (rest[0] <= least) return 0;
    let jacobian = 1;
    let left = cube;
    for (let d = 0; d < dims; d++) {
      if (d % 4 === 0) writeWords(words, 2 * cube + i, d >> 2, iteration, stream, keys);
      const k = left % strata[d];
      left = Math.floor(left / strata[d]);
      const [from, to] = ranges[d];
      jacobian *= bins * width[d](from + ((k + (words[d & 3] + 0.5) * 2 ** -32) / strata[d]) * (to - from));
      if (jacobian * rest[d + 1] <= least) return 0;
    }
    return jacobian;
  };
}
