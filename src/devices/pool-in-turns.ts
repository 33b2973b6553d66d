/** A pool of regions in a device's memory whose steps wait for their turn among the other tasks of the device. */
import type {
  PoolStep,
  PoolSums,
  RegionPool,
  Tolerance,
  WitnessDraw,
  WitnessStep,
} from '../tasks/pool/pool.ts';

export interface PoolTurns {
  /** Does a step when it is its turn. */
  run<T>(step: () => Promise<T>): Promise<T>;
  /** Fulfilled when kernels that a pool does not need at first are compiled: those of looks and of witnesses. */
  looks?: Promise<void> | undefined;
  witnesses?: Promise<void> | undefined;
  close(): void;
}

export class PoolInTurns implements RegionPool {
  readonly #pool: RegionPool;
  readonly #turns: PoolTurns;

  constructor(pool: RegionPool, turns: PoolTurns) {
    this.#pool = pool;
    this.#turns = turns;
    for (const later of [turns.looks, turns.witnesses]) later?.catch(() => {}); // reported when they are needed
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
    return this.#turns.run(() => this.#pool.start(level));
  }

  expectHalvings(times: number): void {
    this.#pool.expectHalvings?.(times);
  }

  select(part: number): Promise<number> {
    return this.#turns.run(() => this.#pool.select(part));
  }

  halve(most: number): Promise<PoolStep> {
    return this.#turns.run(() => this.#pool.halve(most));
  }

  finish(relative: number, tolerance: Tolerance): Promise<void> {
    return this.#turns.run(() => this.#pool.finish(relative, tolerance));
  }

  async look(negligible: number, affordable: number): Promise<PoolStep> {
    await this.#turns.looks;
    return this.#turns.run(() => this.#pool.look(negligible, affordable));
  }

  async lookAlong(affordable: number): Promise<PoolStep> {
    await this.#turns.looks;
    return this.#turns.run(() => this.#pool.lookAlong!(affordable));
  }

  async witness(draw: WitnessDraw): Promise<WitnessStep> {
    await this.#turns.witnesses;
    return this.#turns.run(() => this.#pool.witness(draw));
  }

  blame(who: 'surprised' | 'deviating', least: number): Promise<void> {
    return this.#turns.run(() => this.#pool.blame(who, least));
  }

  close(): void {
    this.#turns.close();
  }
}
