/** What `testimony` (testimony.ts) and kernels have to know about some regions of a task of witnesses, as data. */
import { innerRange } from '../integrand/inner-range.ts';
import { roundKeys, STREAM } from '../random/philox.ts';
import type { Part } from './part.ts';
import { regionsOf, type Volume, volumeOf } from './region.ts';
import { ruleFor } from './rules.ts';
import {
  BLOCK,
  CORNER,
  CORNER_GROWTH,
  DOUBT,
  LADDER,
  LARGEST_RESIDUAL,
  LEAST_UNIT,
  leastWitnesses,
  modelNodes,
  RESIDUAL_NOISE,
  RUNGS,
  SMALLEST_UNIT,
  SURPRISE,
  sequenceSteps,
  type WitnessTask,
} from './witness.ts';

export interface Hearing {
  /** The regions; the first of them has number `first` in the list of the task. */
  first: number;
  count: number;
  ranges: readonly (readonly [number, number])[];
  /** The inner range of each axis (integrand/inner-range.ts), which no point leaves. */
  inner: readonly (readonly [number, number])[];
  /** The volume of the box. */
  volume: Volume;
  centres: Float64Array;
  levels: Uint8Array;
  values: Float64Array;
  /**
   * Witnesses per region: `byVolume` times the part of the box that it is, and `each`. If that is less than `least`, it has
   * `least` with the probability that makes it right on average, and else none.
   */
  byVolume: number;
  each: number;
  least: number;
  /** Round keys of Philox, and the rest of its counter. */
  keys: readonly number[];
  round: number;
  stream: number;
  steps: Uint32Array;
  /** Witnesses of a sequence; the next ones have another start. */
  block: number;
  nodes: readonly number[];
  meanWeights: readonly number[];
  pairNode: number;
  corner: number;
  /** A corner farther from the values of the model than this times their range is a surprise. */
  cornerRange: number;
  /** How far the outermost node is from a face, and the ladder between them. */
  gap: number;
  ladder: number;
  rungs: number;
  doubt: number;
  surprise: number;
  noise: number;
  leastUnit: number;
  largestResidual: number;
}

/** The hearing of a part of a task. */
export function hearingOf(task: WitnessTask, part: Part): Hearing {
  const { ranges, witnesses, count } = task;
  const { centres, levels } = regionsOf(task, part);
  const volume = volumeOf(ranges);
  const { nodes, meanWeights, pairNode } = modelNodes(ruleFor(ranges.length, task.rule));
  // members are written out: with two spreads here a scan of 10,000 integrals took 4.0 s of CPU time instead of 3.3 (_trial_)
  return {
    first: part.first,
    count: part.count,
    ranges,
    inner: ranges.map(innerRange),
    volume,
    centres,
    levels,
    values: task.values.subarray(part.first, part.first + part.count),
    byVolume: witnesses / 2,
    each: witnesses / 2 / count,
    least: leastWitnesses(ranges.length),
    keys: roundKeys(task.key),
    round: task.round,
    stream: STREAM.witness,
    steps: sequenceSteps(ranges.length),
    block: BLOCK,
    nodes,
    meanWeights,
    pairNode,
    gap: 1 - nodes[nodes.length - 1],
    ladder: LADDER,
    rungs: RUNGS,
    doubt: DOUBT,
    corner: CORNER,
    cornerRange: CORNER_GROWTH ** ranges.length,
    surprise: SURPRISE,
    noise: RESIDUAL_NOISE,
    leastUnit: leastUnit(task.absolute, volume),
    largestResidual: LARGEST_RESIDUAL,
  };
}

/** LEAST_UNIT of the mean |f| over the box, or a number that can still be divided by. */
function leastUnit(absolute: number, { mantissa, exponent }: Volume): number {
  const unit = (LEAST_UNIT * absolute) / mantissa / 2 ** exponent;
  return Math.max(SMALLEST_UNIT, unit < Infinity ? unit : 0);
}
