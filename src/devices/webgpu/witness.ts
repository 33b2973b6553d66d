/**
 * Witnesses on a GPU: the host reasons, in float64, as for every device that evaluates points (tasks/testimony.ts), and the GPU
 * evaluates. A testimony asks for at most 256 points at a time, far too few for a GPU, so many of them take their turns together: each
 * has a range of the regions, and the points of all are evaluated at once. What is said about a region does not depend on which
 * others are heard beside it.
 */
import { philoxRounds } from '../../random/philox.ts';
import { type Hearing, hearingOf } from '../../tasks/hearing.ts';
import { type NonFinite, type Part, partsOf } from '../../tasks/part.ts';
import { testimony } from '../../tasks/testimony.ts';
import {
  mergeWitnesses,
  modelPairs,
  RESIDUAL_NOISE,
  type WitnessSums,
  type WitnessTask,
} from '../../tasks/witness.ts';
import type { Points } from './points.ts';

/** Points that a testimony asks for at a time, at most. */
const BATCH = 256;
/** Testimonies side by side: 131,072 points at a time. */
const SIDE_BY_SIDE = 512;

export async function hearWitnesses(
  task: WitnessTask,
  part: Part,
  evaluator: Points,
  epsilon: number,
  signal?: AbortSignal,
): Promise<WitnessSums> {
  const dims = task.ranges.length;
  const noise = RESIDUAL_NOISE * (epsilon / 2 ** -53);
  const ranges = partsOf(part, part.count / SIDE_BY_SIDE);
  let open = ranges.map(own => {
    const rows = Array.from({ length: dims }, () => new Float64Array(BATCH));
    const run = testimony(
      dims,
      modelPairs(dims),
      rows,
      BATCH,
      philoxRounds,
    )({ ...hearingOf(task, own), noise });
    return { rows, run, step: run.next() };
  });
  const said: WitnessSums[] = [];
  while (true) {
    for (const { step } of open) if (step.done) said.push(step.value);
    open = open.filter(({ step }) => !step.done);
    if (open.length === 0) return mergeWitnesses(part, said);
    const starts: number[] = [];
    let n = 0;
    for (const { step } of open) {
      starts.push(n);
      n += step.value as number;
    }
    const points = new Float64Array(dims * n);
    open.forEach(({ rows, step }, i) => {
      rows.forEach((row, d) => {
        points.set(row.subarray(0, step.value as number), d * n + starts[i]);
      });
    });
    const values = await evaluator.evaluate(points, n, signal);
    signal?.throwIfAborted();
    open.forEach((own, i) => {
      own.step = own.run.next(values.subarray(starts[i], starts[i] + (own.step.value as number)));
    });
  }
}

/** The first value that is not finite among the points of the only region of a hearing, drawn anew; the centre if there is none. */
export async function firstNonFinite(
  h: Hearing,
  evaluator: Points,
  signal?: AbortSignal,
): Promise<NonFinite['first']> {
  const dims = h.ranges.length;
  const rows = Array.from({ length: dims }, () => new Float64Array(BATCH));
  const run = testimony(dims, modelPairs(dims), rows, BATCH, philoxRounds)(h);
  let step = run.next();
  while (!step.done) {
    const n = step.value;
    const points = new Float64Array(dims * n);
    rows.forEach((row, d) => {
      points.set(row.subarray(0, n), d * n);
    });
    step = run.next(await evaluator.evaluate(points, n, signal));
  }
  return step.value.nonFinite?.first ?? { point: [...h.centres], value: Number.NaN };
}
