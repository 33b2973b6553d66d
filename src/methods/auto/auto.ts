/**
 * `auto`: PAGANI and VEGAS+ run in turns until one of them is there.
 *
 * Both are given a short pilot, the one that is cheaper to start first. From what their errors do with more
 * evaluations each tells what it still needs: PAGANI by the slope of its last iterations, VEGAS+ by the square
 * root law. The one that needs less goes on. What it needs is only a guess: so it goes on until it has spent as much
 * again as both have so far and then is asked anew, and the other one gets a quarter of what it got. A wrong choice
 * costs a part of the run, not the run.
 *
 * The square root law can be trusted and a slope cannot: errors of PAGANI may fall all of a sudden, once regions are as
 * small as what they have to see. So where VEGAS+ cannot get there within the budget, PAGANI has the most of it, whatever
 * its slope says.
 *
 * Nothing depends on a clock, so that the same seed gives the same bits. An evaluation of PAGANI counts a third of one
 * of VEGAS+: it has no random numbers, no map and no histogram.
 */
import { ruleFor } from '../../tasks/rules.ts';
import type { CubatureOptions } from '../cubature/options.ts';
import { pagani } from '../cubature/pagani.ts';
import type { MethodProblem, Outcome, Run, Step } from '../method.ts';
import type { VegasOptions } from '../vegas/options.ts';
import { vegas } from '../vegas/vegas.ts';
import { PausableRun } from './pausable-run.ts';

/** Cost of an evaluation of PAGANI, in those of VEGAS+. */
const CHEAP = 1 / 3;
/** The pilot of each, as cost; and how many more of it one may have that should soon be there. */
const PILOT = 2 ** 16;
const MORE_PILOTS = 3;
/** What it may cost to halve every axis once, for PAGANI to begin. */
const FIRST = 2 ** 18;
/** Knobs that leave VEGAS+ nothing to decide. */
const PROTOCOL = ['evaluations', 'iterations', 'adapt', 'skip'] as const;
/** The part of the better one's cost that the other one gets. */
const SHARE = 0.25;
/** The part of the budget that PAGANI may have where VEGAS+ cannot get there. */
const ALONE = 0.7;
/** Dimensions from which on a rule has too many points to be tried. */
const MOST_DIMS = 14;
/** A deterministic error is an estimate as well: the part of the tolerance that it has to reach here. */
const MARGIN = 0.7;

export interface AutoOptions {
  vegas: VegasOptions;
  cubature: CubatureOptions;
}

export async function* auto(problem: MethodProblem, options: AutoOptions): Run {
  const dims = problem.ranges.length;
  const random = new PausableRun(
    {
      name: 'vegas+',
      random: true,
      price: 1,
      least: 0,
      margin: 1,
      start: own => vegas(own, 'vegas+', options.vegas),
    },
    problem,
  );
  const prescribed = PROTOCOL.some(knob => options.vegas[knob] !== undefined);
  const tooMany = dims > MOST_DIMS || 3 * ruleFor(dims).points * CHEAP > 0.1 * problem.maxEvaluations;
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
      price: CHEAP,
      least: 3 * ruleFor(dims).points,
      margin: MARGIN,
      start: own => pagani(own, options.cubature),
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

/** Lets both run in turns until one of them is there, or neither can get there. */
async function* inTurns(
  { maxEvaluations, ranges }: MethodProblem,
  random: PausableRun,
  regions: PausableRun,
): Step<Outcome> {
  const dims = ranges.length;
  const start = ruleFor(dims).points * 2 ** (dims + 1) * CHEAP;
  const order = start <= FIRST ? [regions, random] : [random, regions];
  const pilot = Math.min(PILOT, maxEvaluations / 4);
  for (const own of order) {
    yield* own.runTo(pilot);
    for (let i = 0; i < MORE_PILOTS && !own.outcome && own.need <= pilot; i++)
      yield* own.runTo(own.cost + pilot);
    if (own.convinces()) return decided(own, `${own.name}: its pilot reached the tolerance`);
  }
  for (;;) {
    const running = order.filter(c => !c.outcome);
    if (running.length === 0) return undecided(order);
    const ended = running.length === 1 ? running[0].other! : null;
    if (
      ended &&
      running[0].hopeless &&
      ended.outcome!.status !== 'converged' &&
      running[0].projected > ended.outcome!.error
    )
      return decided(
        ended,
        `${ended.name}: neither reached the tolerance, ${running[0].name} would have the larger error`,
      );
    const alone = random.outOfReach && regions.evaluations < ALONE * random.granted ? regions : null;
    const behind = (c: PausableRun) => (c === alone ? 0 : 1);
    // where nobody should get there, the one that should come closer; Infinity − Infinity is no number
    const [best, rest] = running.sort(
      (a, b) => behind(a) - behind(b) || a.need - b.need || a.projected - b.projected,
    );
    // a guess may be wrong: the other one gets its share before the better one goes on
    const next = rest && !rest.hopeless && rest.cost < SHARE * best.cost ? rest : best;
    const both = regions.cost + random.cost;
    yield* next.runTo(next === best ? best.cost + Math.min(best.need, both) : SHARE * best.cost);
    if (next.convinces()) return decided(next, reason(next));
  }
}

/** Nobody got there: the smaller error, of those that have one. */
function undecided(both: readonly PausableRun[]): Outcome {
  const [best, rest] = [...both].sort((a, b) => a.outcome!.error - b.outcome!.error);
  const last = decided(
    best,
    `${best.name}: neither reached the tolerance, ${rest.name} has the larger error`,
  );
  if (last.status !== 'converged') return last;
  const disagrees = `${rest.name} came to ${rest.outcome!.value}, which disagrees`;
  return { ...last, status: 'budget', warnings: last.warnings.length > 0 ? last.warnings : [disagrees] };
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
