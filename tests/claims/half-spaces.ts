/**
 * Volumes that a plane cuts off the unit cube, exactly. For n·x with all nᵢ > 0,
 *
 *     ∫ max(0, c − n·x)^k / k! dx = Σ_v (−1)^|v| max(0, c − n·v)^(d+k) / ((d + k)! Π nᵢ)
 *
 * over the corners v of the cube (inclusion–exclusion). The terms cancel, so n and c are whole multiples of 2^-20, and
 * the sum is made of whole numbers. An axis with nᵢ < 0 is reflected (x → 1 − x), one with nᵢ = 0 drops out.
 */
const UNIT = 2 ** 20;

/** The nearest number that these functions take. */
export const onGrid = (x: number): number => Math.round(x * UNIT) / UNIT;

/** ∫ over the unit cube of max(0, c − n·x)^k / k!: for k = 0, the volume in which n·x < c. */
export function cutOff(n: readonly number[], c: number, k = 0): number {
  return ratio(numerator(n, c, k), denominator(n, k)) / UNIT ** k;
}

/** The volume in which from < n·x < to. */
export const between = (n: readonly number[], from: number, to: number): number =>
  ratio(numerator(n, to, 0) - numerator(n, from, 0), denominator(n, 0));

/** The smallest c, up to the grid, for which a volume of `part` has n·x < c. */
export function quantile(n: readonly number[], part: number): number {
  let low = n.reduce((s, v) => s + Math.min(0, v), 0);
  let high = n.reduce((s, v) => s + Math.max(0, v), 0);
  while (high - low > 1.5 / UNIT) {
    const middle = onGrid((low + high) / 2);
    if (cutOff(n, middle) < part) low = middle;
    else high = middle;
  }
  return high;
}

function numerator(n: readonly number[], c: number, k: number): bigint {
  const steps = n.filter(v => v !== 0).map(v => BigInt(Math.abs(v) * UNIT));
  const reflected = n.reduce((s, v) => s + Math.min(0, v), 0);
  const power = BigInt(steps.length + k);
  const sum = (rest: bigint, axis: number): bigint => {
    if (rest <= 0n) return 0n;
    if (axis === steps.length) return rest ** power;
    return sum(rest, axis + 1) - sum(rest - steps[axis], axis + 1);
  };
  return sum(BigInt((c - reflected) * UNIT), 0);
}

function denominator(n: readonly number[], k: number): bigint {
  const steps = n.filter(v => v !== 0);
  let product = 1n;
  for (let i = 1; i <= steps.length + k; i++) product *= BigInt(i);
  for (const v of steps) product *= BigInt(Math.abs(v) * UNIT);
  return product;
}

/** a/b, with an error of 2^-100 at most. */
const ratio = (a: bigint, b: bigint): number => Number((a << 100n) / b) / 2 ** 100;
