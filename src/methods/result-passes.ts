/**
 * Several results in a run of VEGAS or ZMC: which of them are sampled together, in which units, and what is learned from.
 *
 * At most 16 results are sampled in a pass; more take several passes over the same points. Each result has a unit of its own, a
 * power of two near its size √(value² + N·error²). So the histogram, which adds Σ (w/unit)² over the results that lead, learns
 * from each of them relative to its size: a result of 1e-9 counts as much as one of 1.
 *
 * Witnesses look at all goals at once: at g = √Σ (f/unit)² over the goals, with their errors as units. A value of f that changes one
 * of the results by its error makes g as large, and the conditions of witness.ts are those for g with an error of 1.
 */
import { blocksOf, packedIndex, packedLength, pairedBlocks } from '../tasks/correlation.ts';
import { mergeNonFinite, type NonFinite } from '../tasks/part.ts';
import {
  addLists,
  type ResultPass,
  type SampleSums,
  type SampleTask,
  type SeveralSums,
} from '../tasks/sample.ts';
import type { Estimate } from './combine.ts';
import type { Several } from './method.ts';
import { NO_STATE, type UnitState } from './result-units.ts';
import { unitError, unitFor } from './unit.ts';

/** The sums of an iteration, and those of each of its passes where it has any. */
export interface PassSums extends SampleSums {
  passes?: readonly OnePass[];
}

interface OnePass {
  pass: ResultPass;
  sums: SeveralSums;
}

/** A pass before it has units, which change from iteration to iteration. */
type LedPass = Omit<ResultPass, 'units'>;

export type OneSum = Pick<SampleSums, 'sum' | 'variance' | 'concentration'>;

export class ResultPasses {
  readonly #several: Several;
  /** The relative rounding error of the device's numbers. */
  readonly #epsilon: number;
  /** The unit of tasks, whose passes have a unit per result. */
  readonly unit: number = 1;
  /** The mean of Σ (w/unit)² over the results that lead, from which the scale of the next histogram follows. */
  square = 1;
  /** The unit of each result. */
  units: readonly number[];
  /** The results of each pass, without covariances of all pairs. */
  readonly #blocks: readonly (readonly number[])[];
  /** The passes of iterations that learn, and of those that measure, with covariances of all pairs and without them. */
  readonly #learning: readonly LedPass[];
  readonly #measuring: readonly LedPass[];
  readonly #paired: readonly LedPass[];
  /** The standard deviation of each result over the box, as the pilot found it; Infinity where it met only 0. */
  #pilotSpreads: readonly number[];
  /**
   * For each result, about the standard deviation of its weights in the last iteration that learned. What is known is that of
   * all leads together, an upper bound; that of the result itself in the pilot; and √N·error, that within cubes, which is less.
   */
  #spreads: readonly number[];
  /** About the errors of the goals when the first witnesses of a measurement were drawn; null before. */
  #witnessUnits: readonly number[] | null = null;

  constructor(several: Several, epsilon: number) {
    this.#several = several;
    this.#epsilon = epsilon;
    const { count, goals, leads, allPairs } = several;
    this.units = Array(count).fill(1);
    this.#pilotSpreads = Array(count).fill(Infinity);
    this.#spreads = Array(count).fill(0);
    this.#blocks = blocksOf(count);
    const needed = new Set([...goals, ...leads]);
    this.#measuring = ledPasses(this.#blocks, leads);
    this.#learning = this.#measuring.filter(pass => pass.results.some(r => needed.has(r)));
    this.#paired = allPairs ? ledPasses(pairedBlocks(count), leads) : this.#measuring;
  }

  get state(): UnitState {
    const { square, units } = this;
    const [spreads, pilotSpreads, witnessUnits] = [this.#spreads, this.#pilotSpreads, this.#witnessUnits];
    return { ...NO_STATE, square, units, spreads, pilotSpreads, witnessUnits };
  }

  set state({ square, units, spreads, pilotSpreads, witnessUnits }: UnitState) {
    this.square = square;
    if (!units) return;
    this.units = units;
    this.#spreads = spreads!;
    this.#pilotSpreads = pilotSpreads!;
    this.#witnessUnits = witnessUnits;
  }

  /**
   * The passes of an iteration. One that learns does without results that are neither goals nor leads, and without covariances of all
   * pairs; `paired` says whether one that measures has them. A result leads in the first of its passes only.
   */
  passesFor(adapting: boolean, paired = !adapting): ResultPass[] {
    const passes = paired ? this.#paired : adapting ? this.#learning : this.#measuring;
    return passes.map(({ results, leads }) => ({ results, units: results.map(r => this.units[r]), leads }));
  }

  /** The passes of witnesses beside a measurement that has come to `now`. */
  forWitnesses(now: Estimate): ResultPass[] {
    const { goals } = this.#several;
    const each = now.results!.each;
    // Not below value/N: the conditions compare with the value, and that of a constant in units of its error would be so
    // large that nothing could speak against any goal. A result of 0 without an error has its unit.
    this.#witnessUnits ??= each.map(
      (e, r) => Math.max(e.error, Math.abs(e.value) / e.evaluations) || this.units[r] * 2 ** -52,
    );
    return this.#blocks
      .filter(block => block.some(r => goals.includes(r)))
      .map(results => passOf(results, this.#witnessUnits!, goals));
  }

  /** An estimate of all goals as one of g; null before the first witnesses. Errors fall alike; the one that fell least counts. */
  asOne({ results, evaluations }: Estimate): Estimate | null {
    const units = this.#witnessUnits;
    if (!units) return null;
    const own = this.#several.goals.map(r => ({ ...results!.each[r], unit: units[r] }));
    return {
      value: Math.max(...own.map(e => Math.abs(e.value) / e.unit)),
      error: Math.max(...own.map(e => e.error / e.unit)),
      randomError: Math.max(...own.map(e => (e.randomError ?? e.error) / e.unit)),
      evaluations,
    };
  }

  /** Witnesses of another map have nothing to do with those that follow. */
  forgetWitnesses(): void {
    this.#witnessUnits = null;
  }

  /** The standard deviation of weights in the last iteration that learned, or an upper bound. */
  spreadAbout(_value: number, result: number): number {
    return this.#spreads[result];
  }

  /** The standard deviation over the box, before the map has learned. */
  largestSpread(result: number): number {
    const spread = this.#pilotSpreads[result];
    return spread < Infinity ? spread : 0;
  }

  /** Whether all leads are constant. */
  isFlat({ passes }: PassSums, below: number): boolean {
    return passes!.every(({ pass, sums }) =>
      pass.leads.every(i => {
        const { sum, variance } = oneOf(sums, i);
        return variance <= (below * sum) ** 2;
      }),
    );
  }

  /** Corrects units of results whose squares overflowed or underflowed; returns whether the iteration has to be repeated. */
  outOfUnit({ passes, squares }: PassSums): boolean {
    let units: number[] | null = null;
    for (const { pass, sums } of passes!)
      for (let i = 0; i < pass.results.length; i++) {
        const { sum, variance } = oneOf(sums, i);
        const own = { sum, variance, squares: pass.leads.includes(i) ? squares : 0 };
        const factor = unitError(own, this.#epsilon);
        if (factor === 1) continue;
        units ??= [...this.units];
        const r = pass.results[i];
        units[r] = unitFor(units[r] * factor);
      }
    if (!units) return false;
    const wrong = units.some((u, r) => u !== this.units[r]);
    this.units = units;
    return wrong;
  }

  /** Sets units from samples of the whole box. */
  pilot({ passes }: PassSums, samples: number): void {
    const sizes = [...this.units].fill(0);
    const spreads = [...this.units].fill(Infinity);
    for (const { pass, sums } of passes!)
      pass.results.forEach((r, i) => {
        const { sum, variance } = oneOf(sums, i);
        const square = variance * samples;
        if (sum !== 0 || variance > 0) spreads[r] = Math.sqrt(square) * this.units[r];
        const size = square < Infinity ? Math.sqrt(square + sum * sum) : Math.abs(sum);
        sizes[r] = size * this.units[r];
      });
    this.#pilotSpreads = spreads;
    this.square = this.setUnits(sizes);
  }

  /** Sets units from an iteration that learned; one result needs its sums and the scale of its histogram as well. */
  learn({ results, evaluations }: Estimate, _sums: PassSums, _scale: number): void {
    const { square } = this;
    const sizes = results!.each.map(({ value, error }) => {
      const size = Math.sqrt(value * value + error * error * evaluations);
      return size > 0 && size < Infinity ? size : 0; // not sampled, or out of range
    });
    this.#spreads = results!.each.map(({ value, error }, r) => {
      const bound = Math.sqrt(Math.max(0, square - (value / this.units[r]) ** 2)) * this.units[r];
      return Math.min(bound, Math.max(this.#pilotSpreads[r], error * Math.sqrt(evaluations))) || 0;
    });
    const expected = this.#square(sizes);
    const now = this.setUnits(sizes);
    if (expected > 0 && square > 0) this.square = now * (square / expected);
  }

  /** Estimates of all results; NaN where a result was not sampled. */
  estimate({ passes, evaluations }: PassSums, one: (unit: number, own: OneSum) => Estimate): Estimate {
    const { count, goals, allPairs } = this.#several;
    const none: Estimate = { value: Number.NaN, error: Infinity, evaluations };
    const each = Array<Estimate>(count).fill(none);
    if (allPairs) {
      for (const { pass, sums } of passes!)
        for (const [i, r] of pass.results.entries())
          if (each[r] === none) each[r] = one(this.units[r], oneOf(sums, i));
      return { ...each[goals[0]], results: { each, correlations: [allCorrelations(passes!, count)] } };
    }
    const correlations: number[][] = [];
    for (const block of this.#blocks) {
      const found = passes!.find(p => p.pass.results[0] === block[0]);
      if (found)
        for (let i = 0; i < block.length; i++)
          each[block[i]] = one(this.units[block[i]], oneOf(found.sums, i));
      correlations.push(found ? correlationsOf(found.sums) : []);
    }
    return { ...each[goals[0]], results: { each, correlations } };
  }

  /** Sets units near sizes; returns Σ (size/unit)² over the leads. */
  setUnits(sizes: readonly number[]): number {
    this.units = sizes.map((size, r) => (size > 0 && size < Infinity ? unitFor(size) : this.units[r]));
    return this.#square(sizes) || 1;
  }

  #square(sizes: readonly number[]): number {
    return this.#several.leads.reduce((s, r) => s + (sizes[r] / this.units[r]) ** 2, 0);
  }
}

/** Passes over these results, of which some lead: each of them in the first of its passes only. */
function ledPasses(blocks: readonly (readonly number[])[], leads: readonly number[]): LedPass[] {
  const left = new Set(leads);
  return blocks.map(results => ({ results, leads: results.flatMap((r, i) => (left.delete(r) ? [i] : [])) }));
}

export function passOf(
  results: readonly number[],
  units: readonly number[],
  leads: readonly number[],
): ResultPass {
  const leading = new Set(leads);
  return {
    results,
    units: results.map(r => units[r]),
    leads: results.flatMap((r, i) => (leading.has(r) ? [i] : [])),
  };
}

/** The task of a pass. One without results to learn from is frozen. */
export function inPass(task: SampleTask, pass: ResultPass): SampleTask {
  return { ...task, unit: 1, pass, adapt: pass.leads.length > 0 ? task.adapt : null };
}

export const seenIn = ({ sums }: OnePass): boolean =>
  sums.sums.some(s => s !== 0) || sums.covariances.some(c => c !== 0);

/** The sums of passes over the same points as those of one iteration. */
export function together(passes: readonly ResultPass[], found: readonly SampleSums[]): PassSums {
  const own = passes.map((pass, i): OnePass => ({ pass, sums: found[i].several! }));
  if (found.length === 1) return { ...found[0], passes: own };
  const means = found.flatMap(f => (f.means ? [f.means] : []));
  return {
    ...found[0],
    histogram: addLists(found.map(f => f.histogram)),
    squares: found.reduce((s, f) => s + f.squares, 0),
    variances: addLists(found.map(f => f.variances)),
    means:
      means.length > 0 ? means[0].map((_, c) => Math.sqrt(means.reduce((s, m) => s + m[c] ** 2, 0))) : null,
    nonFinite: nonFiniteOf(passes, found),
    passes: own,
  };
}

/** Values that are not finite; each is counted once, though its result may be in several passes. */
function nonFiniteOf(passes: readonly ResultPass[], found: readonly SampleSums[]): NonFinite | null {
  const all = mergeNonFinite(found);
  const times = passes.filter(({ results }) => results.includes(passes[0].results[0])).length;
  return all && { ...all, count: Math.ceil(all.count / times) };
}

const oneOf = ({ sums, covariances, concentrations }: SeveralSums, i: number): OneSum => ({
  sum: sums[i],
  variance: covariances[packedIndex(i, i)],
  concentration: concentrations[i],
});

/** The correlations of all results, as one block; NaN for results that were not sampled together. */
function allCorrelations(passes: readonly OnePass[], count: number): number[] {
  const all = Array<number>(packedLength(count)).fill(Number.NaN);
  for (const { pass, sums } of passes) {
    const own = correlationsOf(sums);
    pass.results.forEach((r, i) => {
      for (let j = 0; j <= i; j++) all[packedIndex(r, pass.results[j])] = own[packedIndex(i, j)];
    });
  }
  return all;
}

/** A result without a variance is correlated with none. */
function correlationsOf({ sums, covariances }: SeveralSums): number[] {
  const deviations: number[] = [];
  const triangle: number[] = [];
  for (let i = 0; i < sums.length; i++) {
    const a = Math.sqrt(covariances[packedIndex(i, i)]);
    deviations.push(a);
    for (let j = 0; j < i; j++) {
      const b = deviations[j];
      const c = covariances[packedIndex(i, j)];
      triangle.push(c === 0 || a === 0 || b === 0 ? 0 : Math.max(-1, Math.min(1, c / a / b)));
    }
    triangle.push(1);
  }
  return triangle;
}
