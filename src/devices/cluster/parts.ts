/**
 * Parts of tasks as they travel. A part of an iteration takes the task, whose map workers keep, and of the counts those of its
 * own cubes; cards take all counts, and keep them too. A part of a
 * list of regions takes these regions only: what a rule says of a region depends on nothing else. Witnesses depend on the
 * place of their region in the list too, so the receiver puts the regions back into a list of that length. Whole integrals are
 * one part for each task.
 */
import { countsCutter, coversPart, type PartCounts } from '../../tasks/counts-window.ts';
import type { IntegralSums, IntegralsTask } from '../../tasks/integrals.ts';
import type { Part } from '../../tasks/part.ts';
import { type RegionSums, type RegionTask, regionsOf } from '../../tasks/region.ts';
import { type Counts, cubesOf, type PartSums, plan, type SampleTask } from '../../tasks/sample.ts';
import {
  costOf,
  type Fit,
  readIntegralSums,
  readPart,
  readPartSums,
  readRegionSums,
  readRegionTask,
  readWitnessSums,
  readWitnessTask,
} from '../../tasks/verify.ts';
import type { WitnessSums, WitnessTask } from '../../tasks/witness.ts';
import type { Session } from '../device.ts';
import { MessageError, type TaskKind } from './protocol.ts';

export type AnyTask = SampleTask | RegionTask | WitnessTask | IntegralsTask;
export type AnySums = PartSums | RegionSums | WitnessSums | IntegralSums;

/** What has to be sent of a task for one of its parts. */
export function bodyOf(what: TaskKind, task: AnyTask, part: Part): object {
  if (what === 'sample' || what === 'integrals') return task;
  const all = task as WitnessTask;
  const { centres, levels } = regionsOf(all, part);
  if (what === 'regions') return { ...task, count: part.count, centres, levels };
  const values = all.values.slice(part.first, part.first + part.count);
  return { ...task, centres, levels, values };
}

/** A part from elsewhere, checked: how to run it, and the evaluations that it takes. */
export interface ReadyPart {
  cost: number;
  run(session: Session, signal: AbortSignal): Promise<AnySums>;
}

/**
 * An iteration as two messages: what all its parts share, and what each part needs of the counts. Null where the counts are one number, or kept by a session.
 */
export function apartFromCounts(
  task: SampleTask,
): { shared: object; countsOf: (part: Part) => PartCounts } | null {
  const { counts } = task;
  if (typeof counts === 'number' || !(counts.each instanceof Uint32Array)) return null;
  const { evaluations, each } = counts;
  return { shared: { ...task, counts: { evaluations } }, countsOf: countsCutter(each, plan(task).size) };
}

/** The two messages together. */
export function withCounts(shared: unknown, own: unknown): unknown {
  const { counts } = shared as { counts: object };
  return { ...(shared as object), counts: { ...counts, ...(own as object) } };
}

/** A part of an iteration that was checked. */
export function readySamples(task: SampleTask, { first, count }: Part): ReadyPart {
  const { groups, size } = plan(task);
  const part = readPart(first, count, groups);
  const { counts } = task;
  if (typeof counts !== 'number' && !coversPart(counts as PartCounts & Counts, part, size, cubesOf(task)))
    throw new MessageError('counts of another part');
  return { cost: costOf('sample', task, part), run: (s, signal) => s.sample(task, part, signal) };
}

/** A part of a list of regions; `maxBytes` limits the list that is made of it. */
export function readyRegions(
  what: 'regions' | 'witness',
  body: unknown,
  given: Part,
  fit: Fit,
  maxBytes: number,
): ReadyPart {
  const { first, count } = given;
  if (what === 'regions') {
    const task = readRegionTask(body, fit);
    const part = readPart(0, count, task.count);
    return {
      cost: costOf(what, task, part),
      run: async (s, signal) => ({ ...(await s.regions(task, part, signal)), part: given }),
    };
  }
  const task = readWitnessTask(placed(body, given, fit.dims, maxBytes), fit);
  const part = readPart(first, count, task.count);
  return { cost: costOf(what, task, part), run: (s, signal) => s.witness(task, part, signal) };
}

/** The regions of a part at their place in a list of as many as the task has; the others are 0. */
function placed(body: unknown, { first, count }: Part, dims: number, maxBytes: number): unknown {
  const { count: all, centres, levels, values } = body as WitnessTask;
  const fits =
    Number.isSafeInteger(all) &&
    first + count <= all &&
    all * (9 * dims + 8) <= maxBytes &&
    [centres, values].every(l => l instanceof Float64Array) &&
    levels instanceof Uint8Array &&
    [centres, levels].every(l => l.length === dims * count) &&
    values.length === count;
  if (!fits) throw new MessageError('a list of regions that is too long, or not as long as it says');
  const list = {
    centres: new Float64Array(dims * all),
    levels: new Uint8Array(dims * all),
    values: new Float64Array(all),
  };
  list.values.set(values, first);
  for (let d = 0; d < dims; d++) {
    list.centres.set(centres.subarray(d * count, (d + 1) * count), d * all + first);
    list.levels.set(levels.subarray(d * count, (d + 1) * count), d * all + first);
  }
  return { ...(body as object), ...list };
}

/** Sums of a part from elsewhere, checked. */
export function readSums(what: TaskKind, value: unknown, task: AnyTask, part: Part, fit: Fit): AnySums {
  if (what === 'sample') return readPartSums(value, task as SampleTask, part);
  if (what === 'integrals') return readIntegralSums(value, part.count);
  if (what === 'regions') return readRegionSums(value, task as RegionTask, part, fit.results);
  return readWitnessSums(value, task as WitnessTask, part);
}
