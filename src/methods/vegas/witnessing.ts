/** Draws witnesses (witness.ts) beside the iterations that measure: how many are due, and what they speak against. */
import type { Estimate } from '../combine.ts';
import type { Ledger } from '../ledger.ts';
import type { RecordedSampling } from './recorded-sampling.ts';
import { WITNESS_PART } from './witness.ts';

export class Witnessing {
  readonly #ledger: Ledger;
  readonly #sampling: RecordedSampling;
  /** Whether witnesses are drawn: by runs that learn until a tolerance is met. */
  active = false;
  /** Evenly spread samples that one of several goals needs before it is claimed to be 0; 0 when the user prescribes iterations. */
  zeroSamples = 0;
  #drawn = 0;

  constructor(ledger: Ledger, sampling: RecordedSampling) {
    this.#ledger = ledger;
    this.#sampling = sampling;
  }

  /** Witnesses that should be drawn by the time that another `more` evaluations are made. */
  due(more = 0): number {
    if (!this.active) return 0;
    return Math.max(0, Math.floor(WITNESS_PART * (this.#ledger.evaluations + more)) - this.#drawn);
  }

  /** Draws the witnesses that are due beside an estimate; `zero`: one of its goals is 0 so far, which takes more of them. */
  async draw(estimate: Estimate, zero: boolean): Promise<void> {
    if (!this.active) return;
    const wanted = Math.max(this.due(), zero ? this.zeroSamples - this.#drawn : 0);
    const samples = Math.min(wanted, this.#ledger.budgetLeft);
    if (samples >= 2) this.#drawn += await this.#sampling.witness(samples, estimate);
  }

  /** Whether there were enough evenly spread samples to claim that one of several goals is 0: witnesses, or all without these. */
  enoughForZero(evaluations: number): boolean {
    return (this.active ? this.#drawn : evaluations) >= this.zeroSamples;
  }
}
