/**
 * Regions that remember what the rule said of them, for runs that go on later.
 *
 * Value, error and axis that a rule gives for a region depend on nothing but the region. So a run is resumed by making it
 * again from its start: regions that an earlier run has evaluated are answered from its record, the others are evaluated.
 * Whatever the new tolerance, budget and options make of the plan, the result has the bits of an uninterrupted run, because
 * it is one. A snapshot of the regions at the end would not do: what an iteration halves depends on the tolerance.
 *
 * A record has the regions in the order in which they were first evaluated, up to a number of bytes. A record that is
 * not complete still saves what it has. Regions from a list with values that were not finite are left out of it, so that
 * these values are found, and reported, again. Random points are drawn again: they belong to a claim, and a smaller
 * tolerance makes its claim elsewhere.
 */
import type { Session } from '../../devices/device.ts';
import { allRegions, type RegionSums, type RegionTask } from '../../tasks/region.ts';
import type { RuleName } from '../../tasks/rules.ts';
import type { KnownRegions } from './known-regions.ts';
import type { RegionRecord } from './region-record.ts';

/** Bytes per region in a record: centre and levels, and for each result value, error and axis. */
const bytesOf = (dims: number, results: number): number => 9 * dims + 17 * results;

/** What is evaluated: so many results of an integrand, over regions of so many dimensions, by a rule. */
interface Evaluated {
  dims: number;
  results: number;
  rule: RuleName;
}

export class RememberedRegions {
  readonly #session: Session;
  readonly #dims: number;
  readonly #results: number;
  /** Regions that the record may have. */
  readonly #most: number;
  #record: RegionRecord;
  #count = 0;
  /** Regions of an earlier run; null without one. */
  readonly #known: KnownRegions | null;

  constructor(
    session: Session,
    { dims, results, rule }: Evaluated,
    maxBytes: number,
    old: KnownRegions | null = null,
  ) {
    this.#session = session;
    this.#dims = dims;
    this.#results = results;
    this.#most = Math.floor(maxBytes / bytesOf(dims, results));
    this.#known = old;
    this.#record = old?.record ?? emptyRecord({ dims, results, rule }, Math.min(256, this.#most));
    this.#count = old?.count ?? 0;
  }

  /** The session with this memory: all regions that it evaluates are remembered. */
  get session(): Session {
    const session = this.#session;
    return {
      description: session.description,
      sample: (task, part, signal) => session.sample(task, part, signal),
      witness: (task, part, signal) => session.witness(task, part, signal),
      // methods of cubature ask for whole lists
      regions: (task, _, signal) =>
        this.#known?.regions(task, signal, rest => this.#evaluate(rest, signal)) ??
        this.#evaluate(task, signal),
      rebind: program => session.rebind(program),
      close: () => session.close(),
    };
  }

  get record(): RegionRecord {
    return this.#resized(this.#count);
  }

  async #evaluate(task: RegionTask, signal: AbortSignal | undefined): Promise<RegionSums> {
    const sums = await this.#session.regions(task, allRegions(task), signal);
    if (!sums.nonFinite) this.#remember(task, sums);
    return sums;
  }

  #remember({ count, centres, levels }: RegionTask, sums: RegionSums): void {
    const [dims, results] = [this.#dims, this.#results];
    const end = Math.min(this.#most, this.#count + count);
    if (end <= this.#count) return;
    const room = this.#record.values.length / results;
    if (end > room) this.#record = this.#resized(Math.min(this.#most, Math.max(2 * room, end)));
    const record = this.#record;
    for (let to = this.#count, i = 0; to < end; to++, i++) {
      for (let d = 0; d < dims; d++) {
        record.centres[to * dims + d] = centres[d * count + i];
        record.levels[to * dims + d] = levels[d * count + i];
      }
      for (let r = 0; r < results; r++) {
        const [own, from] = [to * results + r, r * count + i];
        record.values[own] = sums.values[from];
        record.errors[own] = sums.errors[from];
        record.axes[own] = sums.axes[from];
      }
    }
    this.#count = end;
  }

  /** The record with room for `count` regions, with as many of those that it has as fit. */
  #resized(count: number): RegionRecord {
    const old = this.#record;
    if (count * this.#results === old.values.length) return old;
    const record = emptyRecord({ dims: this.#dims, results: this.#results, rule: old.rule }, count);
    for (const list of ['centres', 'levels', 'values', 'errors', 'axes'] as const)
      record[list].set(old[list].subarray(0, record[list].length));
    return record;
  }
}

const emptyRecord = ({ dims, results, rule }: Evaluated, count: number): RegionRecord => ({
  rule,
  results,
  centres: new Float64Array(dims * count),
  levels: new Uint8Array(dims * count),
  values: new Float64Array(results * count),
  errors: new Float64Array(results * count),
  axes: new Uint8Array(results * count),
});
