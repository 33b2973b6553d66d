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

/** Bytes per region in a record. */
const bytesOf = (dims: number): number => 9 * dims + 17;

export class RememberedRegions {
  readonly #session: Session;
  readonly #dims: number;
  /** Regions that the record may have. */
  readonly #most: number;
  #record: RegionRecord;
  #count = 0;
  /** Regions of an earlier run; null without one. */
  readonly #known: KnownRegions | null;

  constructor(
    session: Session,
    dims: number,
    rule: RuleName,
    maxBytes: number,
    old: KnownRegions | null = null,
  ) {
    this.#session = session;
    this.#dims = dims;
    this.#most = Math.floor(maxBytes / bytesOf(dims));
    this.#known = old;
    this.#record = old?.record ?? emptyRecord(rule, dims, Math.min(256, this.#most));
    this.#count = old?.record.values.length ?? 0;
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
    return resized(this.#record, this.#dims, this.#count);
  }

  async #evaluate(task: RegionTask, signal: AbortSignal | undefined): Promise<RegionSums> {
    const sums = await this.#session.regions(task, allRegions(task), signal);
    if (!sums.nonFinite) this.#remember(task, sums);
    return sums;
  }

  #remember({ count, centres, levels }: RegionTask, sums: RegionSums): void {
    const dims = this.#dims;
    const end = Math.min(this.#most, this.#count + count);
    if (end <= this.#count) return;
    const room = this.#record.values.length;
    if (end > room) this.#record = resized(this.#record, dims, Math.min(this.#most, Math.max(2 * room, end)));
    const record = this.#record;
    for (let to = this.#count, i = 0; to < end; to++, i++) {
      for (let d = 0; d < dims; d++) {
        record.centres[to * dims + d] = centres[d * count + i];
        record.levels[to * dims + d] = levels[d * count + i];
      }
      record.values[to] = sums.values[i];
      record.errors[to] = sums.errors[i];
      record.axes[to] = sums.axes[i];
    }
    this.#count = end;
  }
}

const emptyRecord = (rule: RuleName, dims: number, count: number): RegionRecord => ({
  rule,
  centres: new Float64Array(dims * count),
  levels: new Uint8Array(dims * count),
  values: new Float64Array(count),
  errors: new Float64Array(count),
  axes: new Uint8Array(count),
});

/** A record with room for `count` regions, with as many of the old ones as fit. */
function resized(old: RegionRecord, dims: number, count: number): RegionRecord {
  if (count === old.values.length) return old;
  const record = emptyRecord(old.rule, dims, count);
  for (const list of ['centres', 'levels', 'values', 'errors', 'axes'] as const)
    record[list].set(old[list].subarray(0, record[list].length));
  return record;
}
