/**
 * `auto`: PAGANI and VEGAS+ run in turns until one of them reaches the tolerance.
 *
 * Both make a short pilot; the one that is cheaper to start goes first. Then the evaluations that each of them still
 * needs are extrapolated: for PAGANI from error ∝ evaluations^−s with s of its last iterations, for VEGAS+ with s = 1/2.
 * The one that needs less goes on. The extrapolation is only a guess. So the better one goes on until it has cost as much
 * as both had cost before, and then both are compared again; and the other one gets OTHER_PART of the better one's cost.
 * A wrong choice costs a part of the run, not the run.
 *
 * Where lattices suit the integrand, VEGAS+ measures with them in the place of samples, and tells itself what it still needs
 * (lattice/vegas-or-lattice.ts).
 *
 * The square root law can be trusted and the slope of PAGANI cannot: its errors may fall suddenly, once regions are as
 * small as the structure of the integrand. So where VEGAS+ cannot reach the tolerance within the budget, PAGANI gets most
 * of the budget, whatever its slope is.
 *
 * No decision depends on a clock, so the same seed gives the same bits. Instead of time, cost is counted: an evaluation
 * of PAGANI costs a third of one of VEGAS+, because it needs no random numbers, no map and no histogram.
 */
import { loadRule, ruleFor } from '../../tasks/rules.ts';
import type { CubatureOptions } from '../cubature/options.ts';
import type { loadPagani, loadVegas, loadVegasOrLattice } from '../load.ts';
import type { MethodProblem, Outcome, Run, Several, Step } from '../method.ts';
import { withErrors } from '../raised-errors.ts';
import { isProtocol, type VegasOptions } from '../vegas/options.ts';
import { withError } from '../with-error.ts';
import { PausableRun } from './pausable-run.ts';

/** The cost of an evaluation of PAGANI; one of VEGAS+ costs 1. */
const PAGANI_PRICE = 1 / 3;
/** The cost of a pilot. */
const PILOT_COST = 2 ** 16;
/** How many more pilots a method gets that should need at most one more to reach the tolerance. */
const MORE_PILOTS = 3;
/** PAGANI makes the first pilot if halving every axis once costs at most this. */
const MAX_FIRST_COST = 2 ** 18;
/** Below three dimensions rules need fewer evaluations than lattices. */
const FEWEST_LATTICE_DIMS = 3;
/** The part of the budget that VEGAS+ may spend before PAGANI gets most of it, to find out whether lattices need less. */
const LATTICE_TRIAL_PART = 0.1;
/** The part of the better method's cost that the other one gets. */
const OTHER_PART = 0.25;
/** The part of the budget that PAGANI gets where VEGAS+ cannot reach the tolerance. */
const PAGANI_PART = 0.7;
/** In more dimensions than this, rules have too many points for a pilot of PAGANI. */
const MAX_PAGANI_DIMS = 14;
/** A deterministic error is itself an estimate, so PAGANI has to reach this part of the tolerance. */
const PAGANI_MARGIN = 0.7;

export interface AutoOptions {
  vegas: VegasOptions;
  cubature: CubatureOptions;
}

/** The methods that take turns, as load.ts has them; importing them here would make bundlers cut that file from the registry. */
interface Loaders {
  loadPagani: typeof loadPagani;
  loadVegas: typeof loadVegas;
  loadVegasOrLattice: typeof loadVegasOrLattice;
}

export async function* auto(problem: MethodProblem, options: AutoOptions, load: Loaders): Run {
  const dims = problem.ranges.length;
  // options of VEGAS+ are meant for its samples
  const mayUseLattices =
    dims >= FEWEST_LATTICE_DIMS &&
    !problem.onMeasured &&
    Object.values(options.vegas).every(v => v === undefined);
  const random = new PausableRun(
    {
      name: 'vegas+',
      random: true,
      price: 1,
      least: 0,
      margin: 1,
      tells: mayUseLattices,
      start: own =>
        mayUseLattices ? load.loadVegasOrLattice(own) : load.loadVegas(own, 'vegas+', options.vegas),
    },
    problem,
  );
  const prescribed = isProtocol(options.vegas);
  const least = dims > MAX_PAGANI_DIMS ? Infinity : 3 * (await loadRule(dims)).points;
  const tooMany = least * PAGANI_PRICE > 0.1 * problem.maxEvaluations;
  if (prescribed || tooMany) {
    const why = prescribed
      ? 'its iterations were prescribed'
      : `cubature rules have too many points in ${dims} dimensions`;
    try {
      yield* random.runTo(Infinity);
      return decided(random, `vegas+: ${why}`);
    } finally {
      await random.stop();
    }
  }
  const regions = new PausableRun(
    {
      name: 'pagani',
      random: false,
      price: PAGANI_PRICE,
      least,
      margin: PAGANI_MARGIN,
      tells: false,
      start: own => load.loadPagani(own, options.cubature),
    },
    problem,
  );
  regions.other = random;
  random.other = regions;
  try {
    return yield* inTurns(problem, random, regions);
  } finally {
    await Promise.all([random.stop(), regions.stop()]);
  }
}

/** Lets both run in turns until one of them reaches the tolerance, or neither can. */
async function* inTurns(
  { maxEvaluations, ranges, several }: MethodProblem,
  random: PausableRun,
  regions: PausableRun,
): Step<Outcome> {
  const dims = ranges.length;
  const start = ruleFor(dims).points * 2 ** (dims + 1) * PAGANI_PRICE;
  const order = start <= MAX_FIRST_COST ? [regions, random] : [random, regions];
  const pilot = Math.min(PILOT_COST, maxEvaluations / 4);
  for (const own of order) {
    yield* own.runTo(pilot);
    for (let i = 0; i < MORE_PILOTS && !own.outcome && own.need <= pilot; i++)
      yield* own.runTo(own.cost + pilot);
    if (own.convinces()) return decided(own, `${own.name}: its pilot reached the tolerance`);
  }
  while (random.mayTellMore && random.outOfReach && random.cost < LATTICE_TRIAL_PART * maxEvaluations)
    yield* random.runTo(random.cost + pilot);
  for (;;) {
    const running = order.filter(c => !c.outcome);
    if (running.length === 0) return undecided(order, several);
    const ended = running.length === 1 ? running[0].other! : null;
    if (
      ended &&
      running[0].hopeless &&
      !ended.contradicted &&
      ended.outcome!.status !== 'converged' &&
      running[0].projected > ended.error
    )
      return decided(
        ended,
        `${ended.name}: neither reached the tolerance, ${running[0].name} would have the larger error`,
      );
    const alone = random.outOfReach && regions.evaluations < PAGANI_PART * random.granted ? regions : null;
    const behind = (c: PausableRun) => (c === alone ? 0 : 1);
    // when both need more than is left, the difference of needs is Infinity − Infinity = NaN, and the smaller projected
    // error decides
    const [best, rest] = running.sort(
      (a, b) => behind(a) - behind(b) || a.need - b.need || a.projected - b.projected,
    );
    // the guess may be wrong: the other one gets its part before the better one goes on
    const next = rest && !rest.hopeless && rest.cost < OTHER_PART * best.cost ? rest : best;
    const both = regions.cost + random.cost;
    yield* next.runTo(next === best ? best.cost + Math.min(best.need, both) : OTHER_PART * best.cost);
    if (next.convinces()) return decided(next, reason(next));
  }
}

/**
 * The outcome when neither method convinces. If the estimates agree, it is the one with the smaller error. If not, a smaller
 * error is no evidence, since a method that misses a peak knows nothing of the peak's error: then it is the one with the
 * larger absolute value, which has seen something that the other has not, with an error that covers both. Of several results
 * the first goal that they disagree about decides.
 */
function undecided(both: readonly PausableRun[], several: Several | undefined): Outcome {
  const goal = both.map(own => own.contradictedGoal).find(g => g !== undefined);
  const disagree = goal !== undefined;
  const at = (own: PausableRun) => estimateAt(own.outcome!, goal ?? 0);
  const [best, rest] = [...both].sort((a, b) => {
    const unknown = a.outcome!.error === Infinity || b.outcome!.error === Infinity;
    if (unknown || !disagree) return a.error - b.error;
    return Math.abs(at(b).value) - Math.abs(at(a).value);
  });
  const why = disagree ? 'disagrees' : 'has the larger error';
  const last = decided(best, `${best.name}: neither reached the tolerance, ${rest.name} ${why}`);
  const [own, other] = [at(best), at(rest)];
  const stopped = both.map(own => own.outcome!.status).find(s => s === 'time' || s === 'aborted');
  const doubt = both.some(own => own.doubts) ? ('roundoff' as const) : undefined;
  const status = stopped ?? doubt ?? (last.status === 'converged' ? 'budget' : last.status);
  if (!disagree) return { ...last, status };
  const covers = (mine: Estimate, theirs: Estimate) =>
    Math.max(mine.error, Math.abs(mine.value - theirs.value), theirs.error < Infinity ? theirs.error : 0);
  const all = last.several;
  const errors = all?.values.map((_, r) => covers(estimateAt(last, r), estimateAt(rest.outcome!, r)));
  const of = several ? ` for ${several.names[goal]}` : '';
  return {
    ...last,
    status,
    error: covers(last, rest.outcome!),
    ...(all && { several: withErrors(all, errors!) }),
    warnings: [
      ...last.warnings,
      `${best.name} came to ${withError(own.value, own.error)}${of}, ${rest.name} to ${withError(other.value, other.error)}: they disagree; raise maxEvaluations, or narrow the domain`,
    ],
  };
}

interface Estimate {
  value: number;
  error: number;
}

/** The estimate of one result. */
function estimateAt({ value, error, several }: Outcome, result: number): Estimate {
  return several ? { value: several.values[result], error: several.errors[result] } : { value, error };
}

function decided(best: PausableRun, choice: string): Outcome {
  const { outcome, records, other } = best;
  return {
    ...outcome!,
    method: best.name,
    choice,
    iterations: records,
    evaluations: outcome!.evaluations + (other?.evaluations ?? 0),
  };
}

function reason(best: PausableRun): string {
  const other = best.other!;
  if (other.outcome) return `${best.name}: reached the tolerance, which ${other.name} did not`;
  const more = other.needed;
  const why = more < Infinity ? `needed about ${more.toExponential(0)} more` : 'had no end in sight';
  return `${best.name}: reached the tolerance, where ${other.name} ${why}`;
}
