/**
 * Errors of regions, and sums of many numbers.
 *
 * The two-level estimate (J. Berntsen, "Practical error estimation in adaptive multidimensional quadrature routines",
 * J. Comput. Appl. Math. 25, 1989; in the form that Cuba's Cuhre gives it): both halves together should have the value of
 * the whole. With d = w·|left + right − whole| and e₁, e₂ the errors by the null rules, the error of half i becomes
 * eᵢ·(1 + 2d/(e₁ + e₂)) + d.
 *
 * Halves differ from the whole along one axis only, so d does not contain the errors along the other axes. In 8 dimensions
 * Cuba's Cuhre, with w = 1/4, claims f8 to 1e-3 where it is off by 1.4e-3, and f7 to 4e-5 where it is off by 4.9e-5. So
 * from 7 dimensions on w is n/4 times as large.
 */

/** The weight w of the difference between halves and whole. */
export const differenceWeight = (dims: number): number => (dims > 6 ? dims / 4 : 1) / 4;

/** Applies the two-level estimate to siblings, which are neighbours in the list; `parents` are the values of the wholes. */
export function twoLevelErrors(
  values: Float64Array,
  errors: Float64Array,
  parents: Float64Array,
  dims: number,
): void {
  const weight = differenceWeight(dims);
  for (let i = 0; i < parents.length; i++) {
    const [left, right] = [2 * i, 2 * i + 1];
    const difference = weight * Math.abs(values[left] + values[right] - parents[i]);
    const sum = errors[left] + errors[right];
    // finite, since one of the errors may be 0 and the other the smallest number
    const factor = sum > 0 ? Math.min(Number.MAX_VALUE, 1 + (2 * difference) / sum) : 1;
    errors[left] = errors[left] * factor + difference;
    errors[right] = errors[right] * factor + difference;
  }
}

/** A sum that keeps what rounding loses (Neumaier), since millions of regions are added. */
export class Sum {
  #sum = 0;
  #lost = 0;

  add(x: number): void {
    const sum = this.#sum + x;
    this.#lost += Math.abs(this.#sum) >= Math.abs(x) ? this.#sum - sum + x : x - sum + this.#sum;
    this.#sum = sum;
  }

  get value(): number {
    return this.#sum + this.#lost;
  }
}

/** An estimate of the whole integral. */
export interface Estimate {
  value: number;
  error: number;
}

/** Sums over regions: values, errors, absolute values. */
export class Totals {
  readonly #value = new Sum();
  readonly #error = new Sum();
  readonly #absolute = new Sum();
  count = 0;

  /** Sums over the regions in a store or a list, made anew: sums that terms were subtracted from have rounding errors. */
  static of({
    values,
    errors,
    count,
  }: {
    values: Float64Array;
    errors: Float64Array;
    count: number;
  }): Totals {
    const totals = new Totals();
    for (let i = 0; i < count; i++) totals.add(values[i], errors[i]);
    return totals;
  }

  /** Adds a region; with sign −1 subtracts it. */
  add(value: number, error: number, sign = 1): void {
    this.#value.add(sign * value);
    this.#error.add(sign * error);
    this.#absolute.add(sign * Math.abs(value));
    this.count += sign;
  }

  get value(): number {
    return this.#value.value;
  }

  get error(): number {
    return Math.max(0, this.#error.value);
  }

  get absolute(): number {
    return this.#absolute.value;
  }

  /** The estimate of these regions and others together; the error includes the rounding error noise·Σ |values|. */
  estimate(noise: number, others: Totals | null = null): Estimate {
    const absolute = this.absolute + (others?.absolute ?? 0);
    return {
      value: this.value + (others?.value ?? 0),
      error: this.error + (others?.error ?? 0) + noise * absolute,
    };
  }
}

/** Adds a region of a list to the sums of each result. */
export function addRegion(
  totals: readonly Totals[],
  { values, errors, count }: { values: Float64Array; errors: Float64Array; count: number },
  i: number,
): void {
  for (let r = 0; r < totals.length; r++) totals[r].add(values[r * count + i], errors[r * count + i]);
}
