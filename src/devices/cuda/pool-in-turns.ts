/** A pool of regions whose steps wait for their turn on the card; see turns.ts. */
import type {
  PoolStep,
  PoolSums,
  RegionPool,
  Tolerance,
  WitnessDraw,
  WitnessStep,
} from '../../tasks/pool/pool.ts';
import type { Card } from './card.ts';

/** Kernels that a pool does not need at first. */
type Later = Record<'looks' | 'witnesses', Promise<void>>;

export class PoolInTurns implements RegionPool {
  readonly #pool: RegionPool;
  readonly #card: Card;
  readonly #signal: AbortSignal | undefined;
  readonly #compiled: Later;

  /** The promises are fulfilled when the kernels of looks and of witnesses are compiled. */
  constructor(pool: RegionPool, card: Card, signal: AbortSignal | undefined, compiled: Later) {
    this.#pool = pool;
    this.#card = card;
    this.#signal = signal;
    this.#compiled = compiled;
    for (const later of Object.values(compiled)) later.catch(() => {}); // reported when they are needed
  }

  get count(): number {
    return this.#pool.count;
  }

  get most(): number {
    return this.#pool.most;
  }

  get sums(): PoolSums {
    return this.#pool.sums;
  }

  start(level: number): Promise<PoolStep> {
    return this.#card.run(this.#signal, () => this.#pool.start(level));
  }

  select(part: number): Promise<number> {
    return this.#card.run(this.#signal, () => this.#pool.select(part));
  }

  halve(most: number): Promise<PoolStep> {
    return this.#card.run(this.#signal, () => this.#pool.halve(most));
  }

  finish(relative: number, tolerance: Tolerance): Promise<void> {
    return this.#card.run(this.#signal, () => this.#pool.finish(relative, tolerance));
  }

  async look(negligible: number, affordable: number): Promise<PoolStep> {
    await this.#compiled.looks;
    return this.#card.run(this.#signal, () => this.#pool.look(negligible, affordable));
  }

  async witness(draw: WitnessDraw): Promise<WitnessStep> {
    await this.#compiled.witnesses;
    return this.#card.run(this.#signal, () => this.#pool.witness(draw));
  }

  blame(who: 'surprised' | 'deviating', least: number): Promise<void> {
    return this.#card.run(this.#signal, () => this.#pool.blame(who, least));
  }

  close(): void {
    this.#card.turns.between(() => this.#pool.close());
  }
}
