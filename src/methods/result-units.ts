/**
 * The units of weights w = J·f, with J the Jacobian of the map, and what is known of the size of weights: of one result here, of several in
 * result-passes.ts. Weights are divided by a unit before they are squared (unit.ts); from the mean of their squares follow the
 * scale of the histogram that the map learns from, and what steps may hide (trust.ts).
 */
import type { ResultPass } from '../tasks/sample.ts';
import type { Estimate } from './combine.ts';
import type { OneSum, PassSums, ResultPasses } from './result-passes.ts';
import { unitError, unitFor } from './unit.ts';

/** What a run asks of its units, whether it has one result or several. */
export type ResultUnits = Omit<ResultPasses, 'units' | 'setUnits' | 'passesFor' | 'forWitnesses'> & {
  passesFor(...how: Parameters<ResultPasses['passesFor']>): ResultPass[] | undefined;
  forWitnesses(now: Estimate): ResultPass[] | undefined;
};

/** What is known of weights, as data; members of one result have the values of NO_STATE for several results, and the other way round. */
export interface UnitState {
  unit: number;
  square: number;
  size: number;
  coarse: number;
  units: readonly number[] | null;
  spreads: readonly number[] | null;
  pilotSpreads: readonly number[] | null;
  witnessUnits: readonly number[] | null;
  largestSpread: number;
}

export const NO_STATE: UnitState = {
  unit: 1,
  square: 1,
  size: 0,
  coarse: 0,
  units: null,
  spreads: null,
  pilotSpreads: null,
  witnessUnits: null,
  largestSpread: 0,
};

/** The part of the mean square of the weights below which their variance is rounding. */
const CONSTANT_SQUARE = 1e-9;

export class OneResult implements ResultUnits {
  readonly #epsilon: number;
  readonly #lowest: number;
  unit = 1;
  square = 1;
  /** √ of the mean of w² in the last iteration that learned, and the relative error of that mean: each square was rounded. */
  #size = 0;
  #coarse = 0;
  #largestSpread = 0;

  /** `lowest`: the smallest power of two that a unit may be, since kernels divide the Jacobian's constant part by it. */
  constructor(epsilon: number, lowest: number) {
    this.#epsilon = epsilon;
    this.#lowest = lowest;
  }

  get state(): UnitState {
    const { unit, square } = this;
    const [size, coarse, largestSpread] = [this.#size, this.#coarse, this.#largestSpread];
    return { ...NO_STATE, unit, square, size, coarse, largestSpread };
  }

  set state({ unit, square, size, coarse, largestSpread }: UnitState) {
    this.unit = unit;
    this.square = square;
    this.#size = size;
    this.#coarse = coarse;
    this.#largestSpread = largestSpread;
  }

  passesFor(): undefined {}

  forWitnesses(): undefined {}

  asOne(estimate: Estimate): Estimate {
    return estimate;
  }

  forgetWitnesses(): void {}

  isFlat({ sum, variance }: PassSums, below: number): boolean {
    return variance <= (below * sum) ** 2;
  }

  outOfUnit(sums: PassSums): boolean {
    const factor = unitError(sums, this.#epsilon);
    if (factor !== 1) this.#setUnit(this.unit * factor);
    return factor !== 1;
  }

  pilot({ sum, variance }: PassSums, samples: number): void {
    const spread = Math.sqrt(variance * samples);
    this.#setUnit(this.unit * (spread > 0 && spread < Infinity ? Math.hypot(spread, sum) : Math.abs(sum)));
  }

  learn({ value }: Estimate, { squares, evaluations }: PassSums, scale: number): void {
    this.#size = Math.sqrt(squares / scale / evaluations) * this.unit;
    this.#coarse = evaluations / squares;
    this.#largestSpread = Math.max(this.#largestSpread, this.spreadAbout(value));
    this.#setUnit(Math.sqrt(this.square) * this.unit);
  }

  estimate(sums: PassSums, one: (unit: number, own: OneSum) => Estimate): Estimate {
    return one(this.unit, sums);
  }

  spreadAbout(value: number): number {
    const part = 1 - (value / this.#size) ** 2;
    return part > CONSTANT_SQUARE + this.#coarse ? Math.sqrt(part) * this.#size : 0;
  }

  largestSpread(): number {
    return this.#largestSpread < Infinity ? this.#largestSpread : 0;
  }

  /** Sets the unit for values of about this size. */
  #setUnit(size: number): void {
    if (!(size > 0 && size < Infinity)) return;
    this.unit = unitFor(size, this.#lowest);
    this.square = (size / this.unit) ** 2;
  }
}
