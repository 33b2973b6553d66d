/** Regions that an earlier run has evaluated, by place and size; remembered-regions.ts says why a run is resumed with them. */
import { allRegions, emptyRegionSums, type RegionSums, type RegionTask } from '../../tasks/region.ts';
import type { RuleName } from '../../tasks/rules.ts';
import type { RegionRecord } from './region-record.ts';

/** A place in the table that no region has. */
const NONE = 2 ** 32 - 1;

/** The regions of a record, in a hash table with open addresses. */
export class KnownRegions {
  readonly record: RegionRecord;
  /** How many regions the record has, and how many results of each. */
  readonly count: number;
  readonly results: number;
  readonly #dims: number;
  readonly #places: Uint32Array;
  readonly #number = new Float64Array(1);
  readonly #words = new Uint32Array(this.#number.buffer);

  constructor(record: RegionRecord, dims: number) {
    this.record = record;
    this.#dims = dims;
    const { centres, levels, values, results = 1 } = record;
    this.results = results;
    this.count = values.length / results;
    this.#places = new Uint32Array(2 ** Math.ceil(Math.log2(2 * Math.max(1, this.count)))).fill(NONE);
    for (let i = 0; i < this.count; i++) {
      const at = this.#place(centres, levels, i * dims, 1);
      if (this.#places[at] === NONE) this.#places[at] = i;
    }
  }

  /** The rule that said it. */
  get rule(): RuleName {
    return this.record.rule;
  }

  /** What the rule says of the regions of a list: of those that are known the record, of the others what `evaluate` finds. */
  async regions(
    task: RegionTask,
    signal: AbortSignal | undefined,
    evaluate: (rest: RegionTask) => Promise<RegionSums>,
  ): Promise<RegionSums> {
    const found = this.#find(task);
    const missing = indicesOf(found, NONE);
    if (missing.length === task.count) return evaluate(task);
    signal?.throwIfAborted();
    const sums = emptyRegionSums(allRegions(task), this.results);
    /** Copies what is said of result r of a region, from place `from` of other lists. */
    const copy = (region: number, r: number, lists: RegionRecord | RegionSums, from: number) => {
      const to = r * task.count + region;
      sums.values[to] = lists.values[from];
      sums.errors[to] = lists.errors[from];
      sums.axes[to] = lists.axes[from];
    };
    const each = Array.from({ length: this.results }, (_, r) => r);
    found.forEach((known, region) => {
      if (known !== NONE) for (const r of each) copy(region, r, this.record, known * this.results + r);
    });
    if (missing.length === 0) return sums;
    const rest = await evaluate(someOf(task, missing));
    missing.forEach((region, i) => {
      for (const r of each) copy(region, r, rest, r * missing.length + i);
    });
    return { ...sums, nonFinite: rest.nonFinite };
  }

  /** For each region of a list, its number in the record; NONE for those that are not there. */
  #find({ count, centres, levels }: RegionTask): Uint32Array {
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
      if (this.record.centres[own + d] !== centres[at] || this.record.levels[own + d] !== levels[at])
        return false;
    }
    return true;
  }
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
