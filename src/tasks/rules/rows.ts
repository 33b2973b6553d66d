/** The rows that rules are given by, and what rows are counted with. */

/** A generator, its weight in the rule and in the null rules. */
export type Row = readonly [generator: readonly number[], weights: readonly number[]];

/** The number of ways to put values on different axes; equal values have to be neighbours in the list. */
export function arrangements(values: readonly number[], axes: number): number {
  return values.reduce((ways, v, i) => (ways * (axes - i)) / (i - values.indexOf(v) + 1), 1);
}

/** `values` with each of `some` removed once; undefined when one of them is missing. */
export function without(values: readonly number[], some: readonly number[]): number[] | undefined {
  const rest = [...values];
  for (const v of some) {
    const i = rest.indexOf(v);
    if (i < 0) return undefined;
    rest.splice(i, 1);
  }
  return rest;
}
