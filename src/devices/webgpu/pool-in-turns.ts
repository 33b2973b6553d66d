/**
 * A pool of regions whose steps come one after the other with the other tasks of a session. The pool outlives its closing, until the
 * session frees it: the noise of a run is measured at its end.
 */
import type {
  PoolStep,
  PoolSums,
  RegionPool,
  Tolerance,
  WitnessDraw,
  WitnessStep,
} from '../../tasks/pool/pool.ts';
import type { WebGpuPool } from './pool.ts';

export class PoolInTurns implements RegionPool {
  readonly pool: WebGpuPool;
  readonly #inTurn: <T>(work: () => Promise<T>) => Promise<T>;

  constructor(pool: WebGpuPool, inTurn: <T>(work: () => Promise<T>) => Promise<T>) {
    this.pool = pool;
    this.#inTurn = inTurn;
  }

  get count(): number {
    return this.pool.count;
  }

  get most(): number {
    return this.pool.most;
  }

  get sums(): PoolSums {
    return this.pool.sums;
  }

  start(level: number): Promise<PoolStep> {
    return this.#inTurn(() => this.pool.start(level));
  }

  select(part: number): Promise<number> {
    return this.pool.select(part);
  }

  halve(most: number): Promise<PoolStep> {
    return this.#inTurn(() => this.pool.halve(most));
  }

  finish(relative: number, tolerance: Tolerance): Promise<void> {
    return this.#inTurn(() => this.pool.finish(relative, tolerance));
  }

  look(negligible: number, affordable: number): Promise<PoolStep> {
    return this.#inTurn(() => this.pool.look(negligible, affordable));
  }

  witness(draw: WitnessDraw): Promise<WitnessStep> {
    return this.#inTurn(() => this.pool.witness(draw));
  }

  blame(who: 'surprised' | 'deviating', least: number): Promise<void> {
    return this.#inTurn(() => this.pool.blame(who, least));
  }

  close(): void {}

  free(): void {
    this.pool.close();
  }
}
