/**
 * Witnesses for the regions of a store, and the blame that they put on some of them.
 *
 * Each round draws all witnesses anew, everywhere. Two variants that look cheaper claim falsely: keeping the witnesses of
 * regions that were not touched (whoever was caught is sampled again until nobody is caught), and letting halves inherit
 * them (the neighbourhood of a witness is refined to a speck, and the rest is believed).
 */
import type { WitnessSums, WitnessTask } from '../witness.ts';
import { Sum } from './errors.ts';
import type { PoolTask, WitnessDraw, WitnessStep } from './pool.ts';
import type { RegionStore } from './store.ts';

/** Regions deviate when their deviation exceeds this many of its standard deviations. */
export const DEVIATING = 2;

/** Lets witnesses speak about all regions of a task. */
export type HearWitnesses = (task: WitnessTask) => Promise<WitnessSums>;

export class Blame {
  readonly #hear: HearWitnesses;
  #last: WitnessSums | null = null;

  constructor(hear: HearWitnesses) {
    this.#hear = hear;
  }

  async witness(store: RegionStore, { rule, ranges }: PoolTask, draw: WitnessDraw): Promise<WitnessStep> {
    const { centres, levels, count } = store.list(ranges.length);
    const values = store.columns[draw.result ?? 0].values.slice(0, count);
    const task = { ...draw, rule, ranges, count, centres, levels, values };
    this.#last = await this.#hear(task);
    return stepOf(this.#last);
  }

  /** Raises errors in the store; see RegionPool.blame. */
  put(store: RegionStore, who: 'surprised' | 'deviating', least: number, result = 0): void {
    const { deviations, spreads, surprises, missing, axes } = this.#last!;
    const { count } = store;
    const { errors, axes: axesToSplit } = store.columns[result];
    const guilt = (i: number): number => {
      const off = Math.abs(deviations[i]);
      if (who === 'deviating') return off > DEVIATING * spreads[i] ? off : 0;
      return surprises[i] === 1 ? off + missing[i] : missing[i];
    };
    let sum = 0;
    for (let i = 0; i < count; i++) sum += guilt(i);
    const factor = Math.min(Number.MAX_VALUE, Math.max(1, least / sum));
    for (let i = 0; i < count; i++) {
      if (sum === 0) errors[i] += least / count;
      else if (guilt(i) > 0) {
        errors[i] += factor * guilt(i);
        axesToSplit[i] = axes[i]; // a rule that has seen nothing does not know which axis to halve
      }
    }
    store.renew();
  }
}

function stepOf(sums: WitnessSums): WitnessStep {
  const { deviations, spreads, surprises, missing, witnesses, evaluations } = sums;
  const [deviation, surprise, hidden] = [new Sum(), new Sum(), new Sum()];
  // squares relative to the largest, since they may overflow
  let [largest, squares] = [0, 0];
  for (const s of spreads) largest = Math.max(largest, s);
  deviations.forEach((d, i) => {
    deviation.add(d);
    if (largest > 0) squares += (spreads[i] / largest) ** 2;
    if (surprises[i]) surprise.add(Math.abs(d));
    hidden.add(missing[i]);
  });
  return {
    deviation: deviation.value,
    spread: largest * Math.sqrt(squares),
    surprise: surprise.value,
    missing: hidden.value,
    witnesses,
    evaluations,
    nonFinite: sums.nonFinite,
  };
}
