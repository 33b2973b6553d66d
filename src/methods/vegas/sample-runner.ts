/**
 * Runs tasks of samples on the device, and makes estimates of their sums; for sampling.ts and lattices. Several results are sampled in
 * passes over the same points (result-passes.ts).
 */
import { volumeExcess } from '../../integrand/inner-range.ts';
import { STREAM } from '../../random/philox.ts';
import { type HeavyCubes, type HeavyLimits, heavyCubes } from '../../tasks/heavy.ts';
import { additionsOf, PIECE, sumRounding } from '../../tasks/pieces.ts';
import { merge, type ResultPass, type SampleSums, type SampleTask, wholeOf } from '../../tasks/sample.ts';
import type { Strata } from '../../tasks/strata.ts';
import type { Estimate } from '../combine.ts';
import type { Ledger } from '../ledger.ts';
import type { MethodProblem } from '../method.ts';
import { inPass, type OneSum, type PassSums, ResultPasses, seenIn, together } from '../result-passes.ts';
import { OneResult, type ResultUnits } from '../result-units.ts';
import { MOST_TRIES } from '../unit.ts';

/**
 * With this many strata along an axis the few that lie at an end or an edge of the map may carry most of a variance that is next to
 * nothing, and do no harm; so pieces are not counted by strata. Heavy tails are those that strata do not resolve.
 */
const FINE_STRATA = 16;

export class SampleRunner {
  readonly #problem: MethodProblem;
  readonly #ledger: Pick<Ledger, 'spend'>;
  readonly units: ResultUnits;
  /** The part of the volume that the map leaves out, since it covers the inner ranges of the axes (integrand/inner-range.ts). */
  readonly #excess: number;
  /** Whether any sample was not 0. */
  seen = false;
  /** Whether any value was not finite, and counted as 0. */
  nonFinite = false;

  /** `lowest`: the smallest power of two that the unit of one result may be. */
  constructor(problem: MethodProblem, ledger: Pick<Ledger, 'spend'>, lowest: number) {
    const { several, epsilon } = problem;
    this.#problem = problem;
    this.#ledger = ledger;
    this.units = several ? new ResultPasses(several, epsilon) : new OneResult(epsilon, lowest);
    this.#excess = volumeExcess(problem.ranges);
  }

  /** `following`: see `sample` of devices/device.ts. */
  async run(task: SampleTask, passes: readonly ResultPass[] | undefined, following = 0): Promise<PassSums> {
    const found: SampleSums[] = [];
    for (const own of passes ? passes.map(pass => inPass(task, pass)) : [task])
      found.push(await this.sumsOf(own, following));
    const sums: PassSums = passes ? together(passes, found) : found[0];
    this.#count(sums);
    if (task.stream !== STREAM.probe && task.stream !== STREAM.witness)
      this.seen ||= sums.passes ? sums.passes.some(seenIn) : sums.sum !== 0 || sums.variance !== 0;
    return sums;
  }

  /** Runs a task of witnesses, and finds those that matter. `edges`: the map of the limits as numbers. */
  async heavy(
    task: SampleTask,
    passes: readonly ResultPass[] | undefined,
    limits: HeavyLimits,
    edges: () => Promise<Float64Array>,
  ): Promise<HeavyCubes> {
    const { session, signal, several } = this.#problem;
    const [pass, ...others] = passes ?? [];
    const inOne = others.length === 0 && (!pass || pass.results.length === several?.count);
    if (!session.heavy || !inOne) return heavyCubes(task, await this.run(task, passes), limits, edges);
    const heavy = await session.heavy(pass ? inPass(task, pass) : task, limits, signal);
    this.#count(heavy);
    return heavy;
  }

  #count({ evaluations, nonFinite }: Pick<SampleSums, 'evaluations' | 'nonFinite'>): void {
    this.#ledger.spend(evaluations);
    if (nonFinite) this.#problem.onNonFinite(nonFinite);
    this.nonFinite ||= !!nonFinite;
  }

  /** The sums of a task as they are; nothing is counted. */
  async sumsOf(task: SampleTask, following = 0): Promise<SampleSums> {
    const { session, signal } = this.#problem;
    return merge(task, [await session.sample(task, wholeOf(task), signal, following)]);
  }

  /** Whether the samples have to be drawn again in other units, which are set; `tries`: how often they were drawn again before. */
  mustRepeat(sums: PassSums, tries: number): boolean {
    return tries < MOST_TRIES && this.units.outOfUnit(sums);
  }

  /** A number that was computed over the inner ranges, over the whole ones, in its unit. */
  whole(x: number, unit: number): number {
    return (x + x * this.#excess) * unit;
  }

  estimate(sums: PassSums, { cubes, perAxis }: Strata): Estimate {
    const { evaluations } = sums;
    const fine = Math.max(...perAxis) >= FINE_STRATA;
    return this.units.estimate(sums, (unit, { sum, variance, concentration }: OneSum) => {
      const value = sum / cubes;
      const rounding = sumRounding(additionsOf(evaluations), this.#problem.epsilon) * Math.abs(value);
      // not Math.hypot: engines differ in its last bit
      const error = Math.sqrt(variance / cubes ** 2 + rounding ** 2);
      return {
        value: this.whole(value, unit),
        error: this.whole(error, unit),
        evaluations,
        // (Σ vᵢ)² / Σ vᵢ²; the part of the error that is rounding counts as carried by many pieces
        carriers: concentration === 0 ? Infinity : (error * cubes) ** 4 / concentration,
        pieces: fine ? evaluations / PIECE : Math.max(cubes, evaluations / PIECE),
        rounding: rounding * unit,
      };
    });
  }
}
