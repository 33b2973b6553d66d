/**
 * The result of an integration, and its text. All members are plain data of the object itself: no getters, no bigints. So
 * `JSON.stringify`, spread, `structuredClone` and `postMessage` keep each of them, and `new Result` of what comes back has the
 * methods again. Only `failure`, which may be anything that was thrown, and `state`, which may be large, are not enumerable.
 */

import type { Histogram } from './histograms.ts';
import { combine, ratio } from './methods/combine.ts';
import type { IterationRecord, Status } from './methods/method.ts';
import { withError } from './methods/with-error.ts';
import type { State } from './state.ts';

export type { IterationRecord, Status };
export { withError };

export interface ResultData {
  /** The integral. */
  value: number;
  /** One standard deviation; for deterministic methods, an estimate of the largest deviation. */
  error: number;
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
  chi2: number;
  /** Degrees of freedom of `chi2`: one less than the iterations that count. */
  dof: number;
  /** The probability of a larger `chi2` if all errors are right; below 0.001 the run warns. 1 without iterations to compare. */
  q: number;
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
export interface Result extends ResultData {}

// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the constructor assigns every member of the data
export class Result {
  /** Whether `status` is `converged`. */
  readonly converged: boolean;
  /**
   * What the run has done and learned, for `resume` and `map`. Results of scans, and of `pagani` on a card, have none. It is plain data, and may be megabytes: copies of the result and its JSON are without it.
   */
  declare readonly state?: State;

  /** Of the members of a result; also of those that JSON has kept, where null stands for NaN and infinities. */
  constructor(data: ResultData) {
    const { value, error, status, chi2 } = data;
    this.converged = status === 'converged';
    const first = { value: value ?? Number.NaN, error: error ?? Infinity, status, converged: this.converged };
    Object.assign(this, first, data, first, { chi2: chi2 ?? Infinity });
  }

  /** One line, and one for each warning: `1.234567(12)  chi2/dof 0.93  Q 0.52  vegas+ on cpu, 1.2e+6 evaluations, 41 ms` */
  toString(): string {
    const parts = [withError(this.value, this.error)];
    if (this.dof > 0) parts.push(`chi2/dof ${ratio(this.chi2, this.dof)}`, `Q ${this.q.toFixed(2)}`);
    if (!this.converged) parts.push(`not converged (${this.status})`);
    else if (this.witnesses === 0) parts.push('not checked by random points');
    const time =
      Math.round(this.elapsed) < 1000
        ? `${Math.round(this.elapsed)} ms`
        : `${(this.elapsed / 1000).toFixed(1)} s`;
    const method = this.choice ? `${this.method} (auto)` : this.method;
    parts.push(`${method} on ${this.device}, ${this.evaluations.toExponential(1)} evaluations, ${time}`);
    return [parts.join('  '), ...this.warnings.map(w => `warning: ${w}`)].join('\n');
  }

  /** The iterations as a table: the value of each, the average of those that count so far, χ²/dof and Q; and the seed. */
  summary(): string {
    if (this.regions !== undefined) return this.#regionSummary();
    const header = ['itn', 'integral', 'average', 'chi2/dof', 'Q'];
    const counted: IterationRecord[] = [];
    const rows = this.iterations.map((it, i) => {
      const own = withError(it.value, it.error);
      if (it.adapting) return [`${i + 1}`, own, 'adapting', '', ''];
      counted.push(it);
      const { value, error, chi2, dof, q } = combine(counted);
      const fit = dof > 0 ? [ratio(chi2, dof), q.toFixed(2)] : ['', ''];
      return [`${i + 1}`, own, withError(value, error), ...fit];
    });
    return [`${this.method} on ${this.device}, seed ${this.seed}`, ...columns([header, ...rows])].join('\n');
  }

  /** The table of a deterministic method: each iteration re-estimates the whole integral, so there is no average. */
  #regionSummary(): string {
    const rows = this.iterations.map((it, i) => [
      `${i + 1}`,
      withError(it.value, it.error),
      it.evaluations.toExponential(1),
    ]);
    const head = `${this.method} on ${this.device}, ${this.regions} regions`;
    return [head, ...columns([['itn', 'integral', 'evaluations'], ...rows])].join('\n');
  }
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
