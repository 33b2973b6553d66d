/** How a result came about: the running estimate with its error, after so many evaluations. */
import { combine } from '../../methods/combine.ts';
import type { IterationRecord, Result } from '../../result.ts';

export interface Step {
  /** In all, up to here. */
  evaluations: number;
  value: number;
  error: number;
  /** The map was still changing: the estimate is this iteration's own, and does not count. */
  adapting: boolean;
}

export function historyOf({ iterations, regions }: Pick<Result, 'iterations' | 'regions'>): Step[] {
  // iterations of deterministic methods each stand for themselves, and count evaluations from the start
  if (regions !== undefined) return iterations.map(it => ({ ...it })).filter(usable);
  let evaluations = 0;
  const counted: IterationRecord[] = [];
  return iterations
    .map((it): Step => {
      evaluations += it.evaluations;
      if (it.adapting) {
        counted.length = 0; // a measurement before it was not believed
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
