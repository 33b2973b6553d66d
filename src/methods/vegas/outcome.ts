/** The outcome of a run of VEGAS: its estimate with an error that allows for what samples do not show, its status and its warnings. */
import { combineAll, type Estimate } from '../combine.ts';
import type { Outcome, Status } from '../method.ts';
import { estimatedOutcome, hopelessGoals, isZeroEstimate, ofResult } from '../several-estimates.ts';
import { MISSED, nothingSeen } from '../trust.ts';
import type { LearningPhase } from './learning-phase.ts';
import type { VegasRun } from './run.ts';

const STILL_CHANGING =
  'the map was still changing when it was frozen: give it more adapting iterations or more samples';

/** `ended`: the status that the run ended with; a claim that is not trusted after all becomes `budget`. */
export function outcomeOf(run: VegasRun, learning: LearningPhase, ended: Status): Outcome {
  const { problem, goals, ledger, measurement } = run;
  const { counted, isZero } = measurement;
  const measured = counted.length > 0;
  const warnings = measured ? [] : notMeasured(run);
  const now = measured ? measurement.now : combineAll([lastSeen(run)], goals[0]);
  const zero = isZero && ended === 'converged';
  const fault = zero ? null : faultOf(run, learning, isZeroEstimate(now));
  const late = ended === 'budget' && ledger.hurried && !ledger.lastIteration;
  const status = late ? 'time' : fault && ended === 'converged' ? 'budget' : ended;
  const claimed = status === 'converged';
  const doubt = fault ?? (measured && !claimed ? measurement.doubt(now) : null);
  if (doubt) warnings.push(doubt);
  if (measured && !claimed) warnings.push(...hopelessGoals(problem, now));
  const errorOf = (r: number): number => {
    if (zero) return problem.absTol;
    return measured ? measurement.errorOf(now, r, claimed) : ofResult(now, r).error;
  };
  const { evaluations } = ledger;
  return { ...estimatedOutcome(problem, now, errorOf, { status, evaluations, warnings }), counted };
}

/** What forbids a claim, whatever the measurement came to; null when nothing does. */
function faultOf({ seen, ledger, measurement }: VegasRun, learning: LearningPhase, dark: boolean) {
  if (dark) return nothingSeen(seen, ledger.evaluations);
  if (measurement.neglected.length > 0) return MISSED;
  return learning.isSteady ? null : STILL_CHANGING;
}

/** The estimate of a run that has not measured. */
function lastSeen({ learned, sampling }: VegasRun): Estimate {
  return learned.at(-1) ?? sampling.now.probed ?? { value: 0, error: Infinity, evaluations: 1 };
}

function notMeasured({ learned, sampling, seen }: VegasRun): string[] {
  const before = 'the run ended before anything was measured: this is what';
  if (learned.length > 0) return seen ? [`${before} the last adapting iteration saw`] : [];
  const { probed } = sampling.now;
  return [
    probed
      ? `${before} ${probed.evaluations} samples saw`
      : 'the run ended before anything was sampled: there is no estimate',
  ];
}
