/** The history of a result: the running estimate with its error, and the evaluations up to there. */
import { combine } from '../../methods/combine.ts';
import type { IterationRecord, Result } from '../../result.ts';

export interface Step {
  /** All evaluations up to here. */
  evaluations: number;
  value: number;
  error: number;
  /** Whether the map was still changing. The estimate is then that of this iteration alone, and does not enter the result. */
  adapting: boolean;
}

export function historyOf({ iterations, regions }: Pick<Result, 'iterations' | 'regions'>): Step[] {
  // an iteration of a deterministic method has an estimate of the whole and all evaluations so far
  if (regions !== undefined) return iterations.map(it => ({ ...it })).filter(usable);
  let evaluations = 0;
  const counted: IterationRecord[] = [];
  return iterations
    .map((it): Step => {
      evaluations += it.evaluations;
      if (it.adapting) {
        counted.length = 0; // the measurement before it was discarded
        return { ...it, evaluations };
      }
      counted.push(it);
      const { value, error } = combine(counted);
      return { value, error, evaluations, adapting: false };
    })
    .filter(usable);
}

const usable = ({ value, error, evaluations }: Step): boolean =>
  Number.isFinite(value) && Number.isFinite(error) && evaluations > 0;
