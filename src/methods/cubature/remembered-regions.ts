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
import type { RegionRecord } from './region-record.ts';

/** Bytes per region in a record. */
const bytesOf = (dims: number): number => 9 * dims + 17;

/** A place in the table that no region has. */
const NONE = 2 ** 32 - 1;

export class RememberedRegions {
  readonly #session: Session;
  readonly #dims: number;
  /** Regions that the record may have. */
  readonly #most: number;
  #record: RegionRecord;
  #count = 0;
  /** Finds regions of an earlier run; null without one. */
  readonly #known: RegionTable | null;

  constructor(session: Session, dims: number, rule: RuleName, maxBytes: number, old?: RegionRecord | null) {
    this.#session = session;
    this.#dims = dims;
    this.#most = Math.floor(maxBytes / bytesOf(dims));
    this.#record = old ?? emptyRecord(rule, dims, Math.min(256, this.#most));
    this.#count = old?.values.length ?? 0;
    this.#known = old && this.#count > 0 ? new RegionTable(old, dims) : null;
  }

  /** The session with this memory: all regions that it evaluates are remembered. */
  get session(): Session {
    const session = this.#session;
    return {
      description: session.description,
      sample: (task, part, signal) => session.sample(task, part, signal),
      witness: (task, part, signal) => session.witness(task, part, signal),
      regions: (task, _, signal) => this.#regions(task, signal), // methods of cubature ask for whole lists
      rebind: program => session.rebind(program),
      close: () => session.close(),
    };
  }

  get record(): RegionRecord {
    return resized(this.#record, this.#dims, this.#count);
  }

  async #regions(task: RegionTask, signal: AbortSignal | undefined): Promise<RegionSums> {
    const found = this.#known?.find(task);
    const missing = found ? indicesOf(found, NONE) : null;
    if (!found || missing!.length === task.count) return this.#evaluate(task, signal);
    signal?.throwIfAborted();
    const { values, errors, axes } = this.#record;
    const sums: RegionSums = {
      part: allRegions(task),
      values: Float64Array.from(found, i => values[i]),
      errors: Float64Array.from(found, i => errors[i]),
      axes: Uint8Array.from(found, i => axes[i]),
      nonFinite: null,
    };
    if (missing!.length === 0) return sums;
    const rest = await this.#evaluate(someOf(task, missing!), signal);
    missing!.forEach((region, i) => {
      sums.values[region] = rest.values[i];
      sums.errors[region] = rest.errors[i];
      sums.axes[region] = rest.axes[i];
    });
    return { ...sums, nonFinite: rest.nonFinite };
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

/** A hash table of the regions in a record, with open addresses. */
class RegionTable {
  readonly #record: RegionRecord;
  readonly #dims: number;
  readonly #places: Uint32Array;
  readonly #number = new Float64Array(1);
  readonly #words = new Uint32Array(this.#number.buffer);

  constructor(record: RegionRecord, dims: number) {
    this.#record = record;
    this.#dims = dims;
    const { centres, levels, values } = record;
    this.#places = new Uint32Array(2 ** Math.ceil(Math.log2(2 * values.length))).fill(NONE);
    for (let i = 0; i < values.length; i++) {
      const at = this.#place(centres, levels, i * dims, 1);
      if (this.#places[at] === NONE) this.#places[at] = i;
    }
  }

  /** For each region of a list, its number in the record; NONE for those that are not there. */
  find({ count, centres, levels }: RegionTask): Uint32Array {
    const found = new Uint32Array(count);
    for (let i = 0; i < count; i++) found[i] = this.#places[this.#place(centres, levels, i, count)];
    return found;
  }

  /** The place that a region has in the table, or would have; its numbers are `stride` apart. */
  #place(centres: Float64Array, levels: Uint8Array, first: number, stride: number): number {
    const last = this.#places.length - 1;
    let hash = 0x811c9dc5;
    for (let d = 0; d < this.#dims; d++) {
      this.#number[0] = centres[first + d * stride];
      hash = Math.imul(hash ^ this.#words[0], 0x01000193);
      hash = Math.imul(hash ^ (hash >>> 15) ^ this.#words[1], 0x85ebca6b);
      hash = Math.imul(hash ^ (hash >>> 13) ^ levels[first + d * stride], 0xc2b2ae35);
    }
    let at = (hash ^ (hash >>> 16)) & last;
    while (this.#places[at] !== NONE && !this.#isAt(this.#places[at], centres, levels, first, stride))
      at = (at + 1) & last;
    return at;
  }

  #isAt(region: number, centres: Float64Array, levels: Uint8Array, first: number, stride: number): boolean {
    const own = region * this.#dims;
    for (let d = 0; d < this.#dims; d++) {
      const at = first + d * stride;
      if (this.#record.centres[own + d] !== centres[at] || this.#record.levels[own + d] !== levels[at])
        return false;
    }
    return true;
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

/** Where a list has this number. */
function indicesOf(list: Uint32Array, number: number): number[] {
  const found: number[] = [];
  list.forEach((n, i) => n === number && found.push(i));
  return found;
}

/** Some regions of a task as a task of their own. */
function someOf(task: RegionTask, which: readonly number[]): RegionTask {
  const [dims, count] = [task.ranges.length, which.length];
  const centres = new Float64Array(dims * count);
  const levels = new Uint8Array(dims * count);
  for (let d = 0; d < dims; d++) {
    which.forEach((region, i) => {
      centres[d * count + i] = task.centres[d * task.count + region];
      levels[d * count + i] = task.levels[d * task.count + region];
    });
  }
  return { ...task, count, centres, levels };
}
