/**
 * Strata: the unit cube cut into equal cubes, each with its own samples. m-Cubes (algorithm 2) gives every cube
 * the same number; VEGAS+ (Lepage 2021, section III; cuVegas 2.1.2) gives more to cubes of larger variance, as
 * variance^(β/2), and at least two to each.
 */
import { compile } from '../../integrand/compile.ts';

export interface Strata {
  /** Along each axis. */
  perAxis: number[];
  cubes: number;
}

/** As many strata along each axis as leave `perCube` samples a cube, and no more cubes than `maxCubes`. */
export function strataFor(evaluations: number, dims: number, perCube: number, maxCubes: number): Strata {
  const wanted = Math.max(1, Math.min(evaluations / perCube, maxCubes));
  let n = Math.max(1, Math.floor(wanted ** (1 / dims)));
  while ((n + 1) ** dims <= wanted) n++; // the root may come out just below an integer
  while (n > 1 && n ** dims > wanted) n--;
  return { perAxis: Array(dims).fill(n), cubes: n ** dims };
}

const powers = new Map<number, (points: Float64Array) => Float64Array>();

/** variance^(β/2) of every cube, by our own compiler: ten times as fast as Math.pow, and the same in every engine. */
function importance(variances: Float64Array, beta: number): Float64Array {
  let power = powers.get(beta);
  if (!power) {
    const f = new Function('[v]', `return v ** ${beta / 2}`) as ([v]: number[]) => number;
    power = compile(f, { dims: 1 }).evaluate;
    powers.set(beta, power);
  }
  return power(variances);
}

/** Samples of each cube: two, and a share of the rest by its variance. */
export function allocate(variances: Float64Array, beta: number, evaluations: number): Uint32Array {
  const largest = variances.reduce((a, b) => Math.max(a, b), 0);
  const shares = importance(largest > 0 ? variances.map(v => v / largest) : variances, beta);
  const total = shares.reduce((a, b) => a + b, 0);
  const rest = Math.max(0, evaluations - 2 * variances.length);
  const scale = total > 0 ? rest / total : 0;
  const even = total > 0 ? 0 : rest / variances.length;
  return Uint32Array.from(shares, s => 2 + Math.floor(s * scale + even));
}
