/**
 * The functions of pointwise.ts for devices from outside the library. The code is loaded with the first call: all pages import
 * src/index.ts, and hardly one of them has a device of its own.
 */
import type { EvaluatePoints } from './evaluate.ts';
import type { Part } from './part.ts';
import type { RegionSums, RegionTask } from './region.ts';
import type { PartSums, SampleTask } from './sample.ts';
import type { WitnessSums, WitnessTask } from './witness.ts';

const load = () => import('./pointwise.ts');

/** Samples some groups of an iteration. */
export async function samplePoints(
  asked: SampleTask,
  part: Part,
  evaluate: EvaluatePoints,
): Promise<PartSums> {
  return (await load()).samplePoints(asked, part, evaluate);
}

/** Applies a rule to some regions of a list. */
export async function regionPoints(
  task: RegionTask,
  part: Part,
  evaluate: EvaluatePoints,
): Promise<RegionSums> {
  return (await load()).regionPoints(task, part, evaluate);
}

/** Lets witnesses speak about some regions of a list. */
export async function witnessPoints(
  task: WitnessTask,
  part: Part,
  evaluate: EvaluatePoints,
): Promise<WitnessSums> {
  return (await load()).witnessPoints(task, part, evaluate);
}
