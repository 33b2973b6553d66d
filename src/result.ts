/**
 * The result of an integration, and its text. All members are plain data of the object itself: no getters, no bigints. So
 * `JSON.stringify`, spread, `structuredClone` and `postMessage` keep each of them, and `new Result` of what comes back has the
 * methods again. Only `failure`, which may be anything that was thrown, and `state`, which may be large, are not enumerable.
 *
 * With several results, `value`, `error`, `chi2` and `q` have the shape of what the integrand returns, and `shape` says so as
 * data; without it all of them are numbers.
 */
import type { Histogram } from './histograms.ts';
import { build, flatten, indexOf, leaves, type ResultValue, type Shape } from './integrand/shape.ts';
import { combine, ratio } from './methods/combine.ts';
import type { IterationRecord, Status } from './methods/method.ts';
import { withError } from './methods/with-error.ts';
import { correlationsOf, covarianceOf, type OfResults, propagate } from './of-results.ts';
import type { State } from './state.ts';

export type { IterationRecord, Status };
export { withError };

export interface ResultData<S = number> {
  /** The integral; of an integrand that returns an array or object, an array or object of integrals. */
  value: ResultValue<S>;
  /** One standard deviation; for deterministic methods, an estimate of the largest deviation. */
  error: ResultValue<S>;
  /** The shape of an array or object of results, with 'number' in the place of each number; absent for a number. */
  shape?: Shape;
  /**
   * Monte Carlo, several results: what `covariance()` and `correlation()` read. One list for each 16 results, or one for
   * all with `covariance: 'all'`: the lower triangle of their correlations, row by row.
   */
  correlations?: readonly (readonly number[])[];
  /** How the run ended. */
  status: Status;
  /** Evaluations of the integrand, by all methods that took part; without the few points that look at the ends of ranges. */
  evaluations: number;
  /** The iterations that `summary()` shows; with `auto`, those of the method that it chose. */
  iterations: readonly IterationRecord[];
  /** Deterministic methods: the number of regions that the value is the sum of. */
  regions?: number;
  /** Deterministic methods: the number of random points that confirm the claim, or contradict it; 0 when none were drawn. */
  witnesses?: number;
  /** Monte Carlo: Σ((value of an iteration − best fit)/its error)²; 0 for deterministic methods. */
  chi2: ResultValue<S>;
  /** Degrees of freedom of `chi2`: one less than the iterations that count. */
  dof: number;
  /** The probability of a larger `chi2` if all errors are right; below 0.001 the run warns. 1 without iterations to compare. */
  q: ResultValue<S>;
  /** The method that gave the value; with `auto`, the one that it chose. */
  method: string;
  /** Why `auto` chose this method. */
  choice?: string;
  /** The device that it ran on. */
  device: string;
  /** The seed that gives the same result again: a number, or its digits as a string where a number would round it. */
  seed: number | string;
  /** The time that the integration took, in milliseconds. */
  elapsed: number;
  /** Reasons not to trust the result, each with what to do about it. */
  warnings: readonly string[];
  /** Values of the integrand that were not finite and counted as 0. */
  nonFinite: number;
  /** The histograms that the options asked for, by their names; absent when nothing was measured. */
  histograms?: { readonly [name: string]: Histogram };
  /** What was thrown, for an integral of a scan that failed. */
  failure?: unknown;
}

/**
 * The result of an integration. Spread, `structuredClone` and `JSON.stringify` keep its members; JSON has no NaN and no
 * infinity, and writes null for them. `new Result(JSON.parse(text))` is the result again.
 */
export interface Result<S = number> extends ResultData<S> {}

// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the constructor assigns every member of the data
export class Result<S = number> {
  /** Whether `status` is `converged`. */
  readonly converged: boolean;
  /**
   * What the run has done and learned, for `resume` and `map`. Results of scans have none. It is plain data, and may be megabytes: copies of the result and its JSON are without it.
   */
  declare readonly state?: State;

  /** Of the members of a result; also of those that JSON has kept, where null stands for NaN and infinities. */
  constructor(data: ResultData<S>) {
    const { status, shape = 'number' } = data;
    this.converged = status === 'converged';
    const first = {
      value: without(data.value, shape, Number.NaN),
      error: without(data.error, shape, Infinity),
      status,
      converged: this.converged,
    };
    Object.assign(this, first, data, first, { chi2: without(data.chi2, shape, Infinity) });
  }

  /**
   * The covariance of two results, by name (`'mean'`, `'z.re'`, `'[0]'`) or number; of one result, the square of its error.
   * NaN where it is not known: that is so for results of different blocks of 16, which are sampled in different passes, unless the
   * option `covariance: 'all'` asked for it.
   * Throws for deterministic methods, whose errors are no standard deviations.
   */
  covariance(a: string | number = 0, b: string | number = a): number {
    const shape = this.shape ?? 'number';
    return covarianceOf(this.#numbers, indexOf(shape, a), indexOf(shape, b));
  }

  /** The correlations of all results: a list per result, in the order of the results. NaN where they are not known. */
  correlation(): number[][] {
    return correlationsOf(this.#numbers);
  }

  /**
   * A function of the results, such as `r.of(v => v.mean / v.norm)`, with its error: exact derivatives and the covariance of
   * the results. Between results of different passes, whose covariance is not known (`covariance: 'all'` measures it), and for deterministic methods errors are
   * added, which is the most that they can come to.
   */
  of<T>(f: (value: ResultValue<S>) => T): OfResults<T> {
    return propagate(f as (value: never) => T, this.shape ?? 'number', this.#numbers);
  }

  /** Values and errors of all results, in their order. */
  get #numbers() {
    const { shape = 'number', value, error, correlations, regions, device } = this;
    return {
      values: flatten(value, shape),
      errors: flatten(error, shape),
      deterministic: regions !== undefined,
      method: `${this.method} on ${device}`,
      ...(correlations && { correlations }),
    };
  }

  /**
   * One line, and one for each warning: `1.234567(12)  chi2/dof 0.93  Q 0.52  vegas+ on cpu, 1.2e+6 evaluations, 41 ms`. Several
   * results have a line each, before one with the rest.
   */
  toString(): string {
    const { shape = 'number' } = this;
    const agreement = (chi2: number, q: number) =>
      this.dof > 0 ? [`chi2/dof ${ratio(chi2, this.dof)}`, `Q ${q.toFixed(2)}`] : [];
    const results = rowsOf(this).map(({ name, value, error, chi2, q }) => [
      ...(name ? [`${name} = ${withError(value, error)}`] : [withError(value, error)]),
      ...agreement(chi2, q),
    ]);
    const parts: string[] = [];
    if (!this.converged) parts.push(`not converged (${this.status})`);
    if (this.witnesses === 0) parts.push('not checked by random points');
    const time =
      Math.round(this.elapsed) < 1000
        ? `${Math.round(this.elapsed)} ms`
        : `${(this.elapsed / 1000).toFixed(1)} s`;
    const method = this.choice ? `${this.method} (auto)` : this.method;
    parts.push(`${method} on ${this.device}, ${this.evaluations.toExponential(1)} evaluations, ${time}`);
    const lines = shape === 'number' ? [[...results[0], ...parts]] : [...results, parts];
    return [...lines.map(l => l.join('  ')), ...this.warnings.map(w => `warning: ${w}`)].join('\n');
  }

  /**
   * The iterations as a table: the value of each, the average of those that count so far, χ²/dof and Q; and the seed. Several
   * results have a table each.
   */
  summary(): string {
    const { shape = 'number', regions } = this;
    const names = leaves(shape);
    const of = (result: number) =>
      shape === 'number'
        ? this.iterations
        : this.iterations.map(it => ({
            ...it,
            value: it.values?.[result] ?? Number.NaN,
            error: it.errors?.[result] ?? Infinity,
          }));
    const tables = names.map((name, r) => [
      ...(name ? [name] : []),
      ...columns(regions === undefined ? sampledTable(of(r)) : regionTable(of(r))),
    ]);
    const about = regions === undefined ? `seed ${this.seed}` : `${regions} regions`;
    return [`${this.method} on ${this.device}, ${about}`, ...tables.flat()].join('\n');
  }
}

/** Name, value, error, χ² and Q of each result; a single number has the name ''. */
export function rowsOf<S>(result: Result<S>) {
  const { shape = 'number' } = result;
  const [value, error, chi2, q] = [result.value, result.error, result.chi2, result.q].map(v =>
    flatten(v, shape),
  );
  return leaves(shape).map((name, i) => ({
    name,
    value: value[i],
    error: error[i],
    chi2: chi2[i],
    q: q[i],
  }));
}

/** The iterations of a Monte Carlo method: what each found, and their average so far. */
function sampledTable(iterations: readonly IterationRecord[]): string[][] {
  const header = ['itn', 'integral', 'average', 'chi2/dof', 'Q'];
  const counted: IterationRecord[] = [];
  const rows = iterations.map((it, i) => {
    const own = withError(it.value, it.error);
    if (it.adapting) return [`${i + 1}`, own, 'adapting', '', ''];
    counted.push(it);
    const { value, error, chi2, dof, q } = combine(counted);
    const fit = dof > 0 ? [ratio(chi2, dof), q.toFixed(2)] : ['', ''];
    return [`${i + 1}`, own, withError(value, error), ...fit];
  });
  return [header, ...rows];
}

/** Those of a deterministic method: each re-estimates the whole integral, so there is no average. */
function regionTable(iterations: readonly IterationRecord[]): string[][] {
  const rows = iterations.map((it, i) => [
    `${i + 1}`,
    withError(it.value, it.error),
    it.evaluations.toExponential(1),
  ]);
  return [['itn', 'integral', 'evaluations'], ...rows];
}

/** A value of this shape in which `missing` stands for null. */
function without(value: unknown, shape: Shape, missing: number): unknown {
  if (shape === 'number') return value ?? missing;
  const at = (v: unknown, s: Shape): number[] =>
    s === 'number'
      ? [(v as number | null) ?? missing]
      : Object.entries(s).flatMap(([key, m]) => at((v as Record<string, unknown> | null)?.[key], m));
  return build(shape, at(value, shape));
}

/** Gives a result its state, which is made when it is first read. */
export function keepState(result: Result, make: () => State): void {
  let made: State | undefined;
  const get = () => {
    made ??= make();
    return made;
  };
  Object.defineProperty(result, 'state', { get, configurable: true });
}

/** A seed as results have it. */
export const seedData = (seed: bigint): number | string =>
  Number.isSafeInteger(Number(seed)) ? Number(seed) : String(seed);

function columns(table: string[][]): string[] {
  const widths = table[0].map((_, c) => Math.max(...table.map(r => r[c].length)));
  return table.map(r =>
    r
      .map((cell, c) => cell.padEnd(widths[c]))
      .join('   ')
      .trimEnd(),
  );
}
