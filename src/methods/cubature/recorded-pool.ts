/**
 * A pool of regions in a device's memory that writes down what it was asked and what it said, for runs that go on later.
 *
 * What a pool says depends on nothing but the calls before. So a run is resumed by making it again from its start, as one of
 * VEGAS is (../vegas/recorded-sampling.ts): calls that an earlier run made with the same arguments are answered from its record. The
 * first call that differs needs the regions themselves, so those before it are made again on the device. That counts no
 * evaluation a second time, and leaves out witnesses that nobody was blamed for. If the device comes to other sums than the record,
 * the state is refused: the result would be that of no run.
 *
 * The regions are not kept: docs/design.md has the numbers. A record has fewer than 600 bytes per call, whatever the number of
 * regions, and at least two calls per iteration.
 */
import { OptionError } from '../../options/option-error.ts';
import type { Key } from '../../random/philox.ts';
import type {
  PoolStep,
  PoolSums,
  RegionPool,
  Tolerance,
  WitnessDraw,
  WitnessStep,
} from '../../tasks/pool/pool.ts';
import { encode } from '../../tasks/wire.ts';
import type { MethodProblem } from '../method.ts';
import type { PoolCall, PoolEntry } from './region-record.ts';

/** Bytes per call in a record, at most. */
const CALL_BYTES = 600;

const NOTHING: PoolStep = { evaluated: 0, before: 0, after: 0, signed: false, nonFinite: null };

/** How a recorded call is made. */
const MAKE: Record<
  PoolCall['what'],
  (pool: RegionPool, args: readonly number[], key: Key) => Promise<unknown>
> = {
  start: (pool, [level]) => pool.start(level),
  select: (pool, [part]) => pool.select(part),
  halve: (pool, [most]) => pool.halve(most),
  finish: (pool, [relative, relTol, absTol]) => pool.finish(relative, { relTol, absTol }),
  look: (pool, [negligible, affordable]) => pool.look(negligible, affordable),
  along: async (pool, [affordable]) => (await pool.lookAlong?.(affordable)) ?? NOTHING,
  witness: (pool, [round, witnesses, absolute], key) => pool.witness({ key, round, witnesses, absolute }),
  surprised: (pool, [least]) => pool.blame('surprised', least),
  deviating: (pool, [least]) => pool.blame('deviating', least),
};

export class RecordedPool implements RegionPool {
  readonly #pool: RegionPool;
  readonly #problem: MethodProblem;
  /** Calls that the record may have. */
  readonly #most: number;
  readonly #entries: PoolEntry[] = [];
  /** What is to be repeated; null once the run has left it. */
  #old: readonly PoolEntry[] | null;
  /** The number of calls so far, and the last one. */
  #done = 0;
  #last: PoolEntry | null = null;
  /** Regions that the last selection has. */
  #wanted = 0;

  constructor(pool: RegionPool, problem: MethodProblem, maxBytes: number, old?: readonly PoolEntry[]) {
    this.#pool = pool;
    this.#problem = problem;
    this.#most = maxBytes / CALL_BYTES;
    this.#old = old ?? null;
  }

  /** What this run has asked; if an earlier one has asked more, all of that, which is still true. */
  get entries(): readonly PoolEntry[] {
    return this.#old ?? this.#entries;
  }

  get count(): number {
    return this.#last!.count;
  }

  get most(): number {
    return this.#pool.most;
  }

  get sums(): PoolSums {
    return this.#last!.sums;
  }

  async start(level: number): Promise<PoolStep> {
    return (await this.#call({ what: 'start', args: [level] })) as PoolStep;
  }

  /** Calls that are answered from a record are not ahead of anything. */
  expectHalvings(times: number): void {
    if (!this.#old) this.#pool.expectHalvings?.(times);
  }

  async select(part: number): Promise<number> {
    this.#wanted = (await this.#call({ what: 'select', args: [part] })) as number;
    return this.#wanted;
  }

  async halve(most: number): Promise<PoolStep> {
    // what the budget allows beyond the selection changes nothing
    return (await this.#call({ what: 'halve', args: [Math.min(most, this.#wanted)] })) as PoolStep;
  }

  async finish(relative: number, { relTol, absTol }: Tolerance): Promise<void> {
    await this.#call({ what: 'finish', args: [relative, relTol, absTol] });
  }

  async look(negligible: number, affordable: number): Promise<PoolStep> {
    return (await this.#call({ what: 'look', args: [negligible, affordable] })) as PoolStep;
  }

  async lookAlong(affordable: number): Promise<PoolStep> {
    return (await this.#call({ what: 'along', args: [affordable] })) as PoolStep;
  }

  async witness({ round, witnesses, absolute }: WitnessDraw): Promise<WitnessStep> {
    return (await this.#call({ what: 'witness', args: [round, witnesses, absolute] })) as WitnessStep;
  }

  async blame(who: 'surprised' | 'deviating', least: number): Promise<void> {
    await this.#call({ what: who, args: [least] });
  }

  close(): void {
    this.#pool.close();
  }

  async #call(call: PoolCall): Promise<PoolEntry['said']> {
    const known = this.#old?.[this.#done];
    if (known && isSame(known, call)) {
      this.#problem.signal?.throwIfAborted();
      return this.#note(known);
    }
    await this.catchUp(call);
    return this.#note(await this.#make(call));
  }

  #note(entry: PoolEntry): PoolEntry['said'] {
    this.#done++;
    this.#last = entry;
    if (this.#entries.length === this.#done - 1 && this.#done <= this.#most) this.#entries.push(entry);
    return entry.said;
  }

  async #make({ what, args }: PoolCall): Promise<PoolEntry> {
    const said = ((await MAKE[what](this.#pool, args, this.#problem.key)) ?? null) as PoolEntry['said'];
    return { what, args, said, count: this.#pool.count, sums: this.#pool.sums };
  }

  /** Brings the pool to where the record has led, at the end of the run or before a call that leaves the record. */
  async catchUp(next?: PoolCall): Promise<void> {
    const old = this.#old;
    if (next) this.#old = null;
    for (const entry of repeated(old?.slice(0, this.#done) ?? [], next)) {
      const { count, sums } = await this.#make(entry);
      if (encode([count, sums]) !== encode([entry.count, entry.sums]))
        throw new OptionError(
          'resume',
          null,
          'use the device and the driver that it was made with, or leave it out',
          w => `${w.quoted('resume')} is a state whose sums this device does not come to`,
        );
    }
  }
}

/** The calls that have to be made again before the next one: all but witnesses that nobody is blamed for. */
function repeated(entries: readonly PoolEntry[], next: PoolCall | undefined): PoolEntry[] {
  const blames = ({ what }: PoolCall) => what === 'surprised' || what === 'deviating';
  let heard = !!next && blames(next);
  return entries
    .toReversed()
    .filter(entry => {
      if (blames(entry)) heard = true;
      if (entry.what !== 'witness') return true;
      const needed = heard;
      heard = false;
      return needed;
    })
    .reverse();
}

/** Whether a recorded call has said what this one would. A look that was affordable says the same with a larger budget. */
function isSame(known: PoolEntry, { what, args }: PoolCall): boolean {
  if (known.what !== what) return false;
  const isSameAt = (i: number) => Object.is(args[i], known.args[i]);
  if (what !== 'look') return args.every((_, i) => isSameAt(i));
  const { evaluated } = known.said as PoolStep;
  return isSameAt(0) && (isSameAt(1) || (evaluated > 0 && args[1] >= evaluated));
}
