/**
 * Strata: the unit cube is cut into equal cubes, each with its own samples. m-Cubes (algorithm 2) gives every cube the
 * same number of samples; VEGAS+ (Lepage 2021, section III; cuVegas 2.1.2) gives each cube at least two, and more in
 * proportion to variance^(β/2).
 *
 * Two samples are not enough when a measurement has many more samples than learning had. A cube of which a step function
 * cuts off a corner may have looked constant while learning; with two of a million samples its error stays the same
 * however many samples the other cubes get. So a quarter of the samples (EVEN_PART) is spread evenly over all cubes.
 * Without it a ball in 5 dimensions takes four times the evaluations; the integrands of the papers take the same with and
 * without.
 */
import { compileNow } from '../integrand/compile-now.ts';

/** Strata per axis, at most: the number of a stratum and 32 random bits share the 53 bits of a float64. */
const MAX_PER_AXIS = 2 ** 19;

export interface Strata {
  /** Strata along each axis. */
  perAxis: number[];
  cubes: number;
}

/** The unit cube in one. */
export const oneCube = (dims: number): Strata => ({ perAxis: Array(dims).fill(1), cubes: 1 });

/** As many strata along each axis as leave at least `perCube` samples per cube, and make at most `maxCubes` cubes. */
export function strataFor(evaluations: number, dims: number, perCube: number, maxCubes: number): Strata {
  const wanted = Math.max(1, Math.min(evaluations / perCube, maxCubes));
  let n = Math.max(1, Math.min(MAX_PER_AXIS, Math.floor(wanted ** (1 / dims))));
  while (n < MAX_PER_AXIS && (n + 1) ** dims <= wanted) n++; // the root may come out just below an integer
  while (n > 1 && n ** dims > wanted) n--;
  return { perAxis: Array(dims).fill(n), cubes: n ** dims };
}

const powers = new Map<number, (points: Float64Array) => Float64Array>();

/** variance^(β/2), by our own compiler: faster than Math.pow, and the same in every engine. */
function powerFor(beta: number): (variances: Float64Array) => Float64Array {
  let power = powers.get(beta);
  if (!power) {
    // the default as a constant, which becomes three square roots
    power =
      beta === 0.75
        ? compileNow(([v]) => v ** 0.375, { dims: 1 }).evaluate
        : compileNow(([v], p) => v ** p.half, { dims: 1, params: { half: beta / 2 } }).evaluate;
    powers.set(beta, power);
  }
  return power;
}

/** The part of the samples that is spread evenly over all cubes. */
const EVEN_PART = 0.25;

/** The number of samples that every cube gets, whatever its variance. */
export function leastFor(evaluations: number, cubes: number): number {
  return Math.max(2, Math.floor((EVEN_PART * evaluations) / cubes));
}

/** Samples per cube: `leastFor`, and a share of the rest by its variance. Plain loops, since there may be a million cubes. */
export function allocate(variances: Float64Array, beta: number, evaluations: number): Uint32Array {
  const cubes = variances.length;
  let largest = 0;
  for (let i = 0; i < cubes; i++) if (variances[i] > largest) largest = variances[i];
  const least = leastFor(evaluations, cubes);
  const rest = Math.max(0, evaluations - least * cubes);
  const counts = new Uint32Array(cubes);
  if (largest === 0) return counts.fill(least + Math.floor(rest / cubes));
  const scaled = new Float64Array(cubes);
  for (let i = 0; i < cubes; i++) scaled[i] = variances[i] / largest;
  const shares = powerFor(beta)(scaled);
  const scale = rest / sumByGroups(shares);
  for (let i = 0; i < cubes; i++) counts[i] = least + Math.floor(shares[i] * scale);
  return counts;
}

/** Adds groups of 32 numbers, then groups of 32 such sums, and so on: threads of a GPU can add in the same order. */
function sumByGroups(numbers: Float64Array): number {
  let level = numbers;
  while (level.length > 1) {
    const groups = new Float64Array(Math.ceil(level.length / 32));
    for (let i = 0; i < level.length; i++) groups[i >>> 5] += level[i];
    level = groups;
  }
  return level[0];
}
