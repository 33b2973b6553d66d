/**
 * VEGAS (G. P. Lepage, 1978) in its four forms (knobs.ts): adapt, then measure.
 *
 * While the map and the strata learn, estimates are biased, because an iteration reports the same samples that it learns
 * from, and early estimates can be far off; so none of them enters the result (learning-phase.ts). Then map and strata are frozen,
 * and the values of the following iterations are averaged, weighted by their evaluations (with-samples.ts).
 *
 * Without a protocol given by the user both phases are sized by the tolerance. If the iterations of a measurement disagree, or few
 * samples carry its variance (a peak hit by chance, a heavy tail), it is discarded and learning goes on with more samples. If witnesses
 * (witness.ts) met something that the map had missed, learning goes on there. When the budget allows no more learning, the last
 * measurement gets the rest.
 */
import { leastSamples } from '../convergence.ts';
import { type MethodProblem, type Run, type Status, type Step, statusAtEnd } from '../method.ts';
import { probe } from '../probe.ts';
import { MAX_ZERO_SAMPLES, zeroSamplesOfOne } from '../trust.ts';
import { type Knobs, knobsOf, type VegasMethod } from './knobs.ts';
import { ADAPT_BUDGET, LearningPhase } from './learning-phase.ts';
import { isProtocol, PROTOCOL_ITERATIONS, type VegasOptions } from './options.ts';
import { outcomeOf } from './outcome.ts';
import { checkRecord } from './record.ts';
import { AGAIN, FEWEST_SAMPLES, type Measuring, VegasRun } from './run.ts';
import { MEASUREMENTS, WithSamples } from './with-samples.ts';

/** With a deadline that leaves time for fewer evaluations than this nothing is learned: they are spent on the measurement. */
const MIN_LEARNING_RUN = 16 * FEWEST_SAMPLES;
/** Iterations that the part of the budget for learning should suffice for, at least. */
const FEWEST_LEARNING = 6;

export function vegas(problem: MethodProblem, method: VegasMethod, options: VegasOptions): Run {
  const steps = isProtocol(options)
    ? (run: VegasRun, learning: LearningPhase) => protocol(run, learning, options)
    : (run: VegasRun, learning: LearningPhase) => toTolerance(run, learning, method !== 'plain');
  const givenAlpha = options.alpha !== undefined;
  return runVegas(problem, knobsOf(method, options), run => new WithSamples(run), { steps, givenAlpha });
}

/** A run from its start, or from that of the run that it resumes, to its outcome. */
export async function* runVegas(
  given: MethodProblem,
  knobs: Knobs,
  measuring: (run: VegasRun) => Measuring,
  { steps = toTolerance, givenAlpha = false } = {},
): Run {
  const began = given.resume?.began;
  const problem = began ? { ...given, map: began } : given;
  checkRecord(problem, knobs);
  const run = new VegasRun(problem, knobs, measuring);
  const learning = new LearningPhase(run, givenAlpha);
  const status = yield* statusAtEnd(steps(run, learning), problem.signal);
  return { ...outcomeOf(run, learning, status), record: await run.sampling.record() };
}

/** Makes as many iterations of one size as the options ask for; fewer if the tolerance is met before. */
async function* protocol(
  run: VegasRun,
  { firstAlpha }: LearningPhase,
  { evaluations, iterations, adapt, skip }: VegasOptions,
): Step<Status> {
  const { problem, ledger, measurement, knobs } = run;
  const total = Math.min(iterations ?? PROTOCOL_ITERATIONS, problem.maxIterations);
  const learns = knobs.alpha > 0 || knobs.beta > 0;
  const adapting = Math.min(learns ? (adapt ?? Math.ceil(total / 2)) : 0, total);
  const size = evaluations ?? Math.max(1000, Math.floor(Math.min(1e5, problem.maxEvaluations / total)));
  for (let i = 0; i < total && ledger.left >= size; i++) {
    const alpha = i < adapting / 2 ? firstAlpha : undefined;
    const how = i < adapting ? { alpha } : { following: total - i - 1 };
    yield* run.iterate(size, i < adapting, i >= (skip ?? adapting), how);
    const frozen = measurement.counted.length >= 2 && i >= adapting;
    if (frozen && (await measurement.enough())) return 'converged';
  }
  return (await measurement.enough()) ? 'converged' : 'budget';
}

/** Learns and measures until the tolerance is met. */
export async function* toTolerance(run: VegasRun, learning: LearningPhase, adaptive = true): Step<Status> {
  const { problem, ledger, sampling, measurement } = run;
  const { maxEvaluations, ranges } = problem;
  measurement.leastSamples = problem.leastSamples ?? leastSamples(maxEvaluations);
  measurement.constantSamples = zeroSamplesOfOne(problem);
  // a map that follows other results hardly sends a sample to where this one may be
  if (problem.several) measurement.zeroSamples = zeroSamplesOfOne(problem);
  const usual = 4096 + 1024 * ranges.length;
  await probe(ledger, usual, samples => sampling.probe(samples));
  const { timeLeft, iterationLimit } = ledger;
  run.fewest = Math.max(2, Math.min(FEWEST_SAMPLES, Math.floor(timeLeft / (2 * MEASUREMENTS))));
  adaptive &&= timeLeft >= MIN_LEARNING_RUN;
  measurement.hasWitnesses = adaptive;
  const share = (ADAPT_BUDGET * Math.min(maxEvaluations, timeLeft)) / FEWEST_LEARNING;
  let size = Math.max(run.fewest, Math.min(usual, share, iterationLimit));
  for (;;) {
    const need = adaptive ? yield* learning.learn(size) : size * MEASUREMENTS;
    if (adaptive) size = learning.size;
    if (measurement.isZero) return 'converged';
    if (!run.seen && ledger.evaluations >= Math.min(MAX_ZERO_SAMPLES, maxEvaluations / 2)) return 'budget';
    const status = yield* run.measuring.measure(need, size, adaptive);
    if (status) return status;
    const { neglected } = measurement;
    if (neglected.length === 0) {
      size *= 4;
      continue;
    }
    if (ledger.left < AGAIN * size || ledger.iterationsLeft <= 1) return 'budget';
    await sampling.seed(neglected);
  }
}
