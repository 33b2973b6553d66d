/**
 * Whether random points confirm a claim. The errors of rules are estimates by points that the rules themselves chose: what
 * lies between them is not seen, and `1 + (0.31 < x && x < 0.34 ? 9 : 0)` is 1 at all 45 points of three regions. So before
 * a claim M witnesses are drawn (tasks/witness.ts), with T their estimate of truth minus value and σ its standard deviation.
 *
 * - Surprised regions, where f is far outside of what the region knows, take the blame if their deviations come to a fifth
 *   of the tolerance: their errors are raised, so that they are halved.
 * - |T| ≤ 2σ + error/2 confirms the claim. |T| > 4σ + error contradicts it, and regions that deviate take the blame. In between,
 *   UNDECIDED times as many witnesses are drawn, and T and σ are those of all, since no region has changed in between. Then 2.5σ + error/2
 *   confirms, which is 1.25 of the σ before. (Fresh ones, four times as many, took f5 in 5 dimensions to 2.7 million witnesses, since they
 *   disagreed with the first.)
 *
 * After a contradiction, and where M is a large part of the budget, a few scouts are drawn first, SCOUTS of M: if they
 * surprise, the others are not asked.
 *
 * M is PER_TOLERANCE/τ for a relative tolerance τ, at least LEAST, at most MOST or a part of what was spent, and half as many
 * again after each contradiction. What no witness meets is not excluded: something on less than about 5/M of the domain can
 * hide.
 *
 * Of several results each goal has witnesses of its own, at the same points.
 *
 * Where there are few regions, scouts measure σ first. Two regions may be enough for a rule of degree 9 to 13, and much too wide for the
 * model that witnesses are compared with: then σ is 40 tolerances, and whatever is less than 2σ is confirmed. So regions are halved
 * before witnesses are drawn, as long as σ is more than BLUNT tolerances and they have not cost a part of the witnesses.
 */
import type { WitnessDraw, WitnessStep } from '../../tasks/pool/pool.ts';
import { witnessCost } from '../../tasks/witness.ts';
import type { Ledger } from '../ledger.ts';
import { type MethodProblem, toleranceAt } from '../method.ts';

/** Witnesses times the relative tolerance. */
const PER_TOLERANCE = 64;
/** Witnesses of a claim, at least; and at most, unless a part of all evaluations is more. */
const LEAST = 2 ** 16;
const MOST = 170_000;
/** The part of all evaluations that witnesses may take; with their models up to five times as much. */
const SPENT_PART = 0.0005;
/** Witnesses of all integrals of a scan together, about, while none has contradicted; and of each of them, at least. */
const VOUCHED = 2 ** 22;
const LEAST_VOUCHED = 2 ** 10;
/**
 * An integral of a scan that is contradicted draws this many times as many; neighbours are told when these contradict as well:
 * a smooth peak in the corner of a region is a surprise, for one in a hundred of some scans, and gone when it is halved.
 */
const DOUBTED = 16;
/**
 * The part of the witnesses that is drawn first, if these are at least LEAST_SCOUTS, after a contradiction or where all of them would take
 * DEAR of the budget. Elsewhere they are left out: on a card a second draw takes as long as a small run.
 */
const SCOUTS = 1 / 32;
const LEAST_SCOUTS = 2 ** 10;
const DEAR = 0.02;
/** The part of the budget that the first witnesses may take, and the part of those wanted that there must be in the end. */
const BUDGET_PART = 0.5;
const LEAST_PART = 0.5;
/** The factor for the number of witnesses after each contradiction, and the largest product of these factors. */
const AFTER_CONTRADICTION = 1.5;
const MOST_AFTER = 8;
/** Where witnesses cannot decide, so many times as many are drawn, and that so often in a row. */
const UNDECIDED = 3;
const MOST_UNDECIDED = 3;
/**
 * Standard deviations up to which T confirms a claim. With 2, one true claim in twenty needs more witnesses. k of them in a step that is no
 * surprise make T = √k·σ: with 3, a step that 17 were to meet was confirmed once in 40 draws.
 */
const CONFIRMING = 2;
/** The same for witnesses of several draws: those that could not decide alone lie beyond 2 by chance as well. */
const CONFIRMING_TOGETHER = 2.5;
/** Standard deviations from which on T contradicts a claim. */
const CONTRADICTING = 4;
/** The errors of the blamed regions sum to this many tolerances at least: alone they miss it, so that they are halved. */
const BLAMED = 1.5;
/** The part of the tolerance that deviations of surprised regions may come to. */
const SURPRISE_PART = 0.2;

/**
 * What regions and their parents may cost where they are too wide for witnesses, as a part of the evaluations of these: they are halved at
 * once until they have cost the first, and as long as they are too wide until they have cost the second.
 */
const REGIONS_PART = 1 / 32;
const MOST_REGIONS_PART = 1 / 8;
/** Standard deviations of all witnesses together, in tolerances, from which on the regions are too wide. */
const BLUNT = 1;
/** The part of the witnesses that measures σ, if that is LEAST_SCOUTS at least. */
const MEASURING = 1 / 128;
/** The first round of scouts that measure σ: witnesses of claims have smaller ones. */
const SCOUTS_ROUND = 2 ** 20;

/** What two draws about the same regions say together, each by its number of witnesses. What is not a mean is the second's. */
function together(first: WitnessStep | undefined, second: WitnessStep): WitnessStep {
  if (!first) return second;
  const witnesses = first.witnesses + second.witnesses;
  const part = second.witnesses / witnesses;
  return {
    ...second,
    witnesses,
    deviation: first.deviation + part * (second.deviation - first.deviation),
    spread: Math.hypot((1 - part) * first.spread, part * second.spread),
  };
}

/** Which regions take the blame. */
type Blamed = 'surprised' | 'deviating';
type Judged = 'confirmed' | 'undecided' | Blamed;

/** Who has regions, and lets witnesses speak about them. */
export interface Court {
  witness(draw: WitnessDraw): Promise<WitnessStep>;
  /** `result` is the one that the last witnesses were heard about. */
  blame(who: Blamed, least: number, result: number): Promise<void>;
}

export interface Claim {
  value: number;
  error: number;
  /** Σ |values| of the regions, and their number. */
  absolute: number;
  regions: number;
  /** The rounding error of the value. */
  rounding: number;
}

export type Verdict = 'confirmed' | 'contradicted' | 'unaffordable';

export class Witnesses {
  readonly #problem: MethodProblem;
  readonly #ledger: Ledger;
  /** The number of witnesses that the user asked for. */
  readonly #asked: number | undefined;
  /** The result that they are heard about. */
  readonly #result: number;
  #round = 0;
  #contradictions = 0;
  /** Witnesses of the last draw. */
  count = 0;
  /** Evaluations of the last draw. */
  cost = 0;
  /** Whether any witness was not 0. */
  seen = false;
  /** The last contradiction: an estimate of the integral without bias, its standard deviation, and what faces of regions may hide. */
  contradiction: { value: number; spread: number; missing: number } | null = null;

  constructor(problem: MethodProblem, ledger: Ledger, asked: number | undefined, result: number) {
    this.#problem = problem;
    this.#ledger = ledger;
    this.#asked = asked;
    this.#result = result;
  }

  /** Draws witnesses for a claim; a contradiction raises errors of regions. */
  async confirm(court: Court, claim: Claim): Promise<Verdict> {
    if (this.#asked === 0) return 'confirmed';
    let wanted = this.wanted(claim);
    const few = SCOUTS * wanted;
    const dear = this.contradiction !== null || wanted > DEAR * this.#ledger.budgetLeft;
    if (dear && few >= LEAST_SCOUTS && few < this.#ledger.budgetLeft / 4) {
      const scouts = await this.#draw(court, claim, few);
      if (this.#judge(claim, scouts, CONFIRMING) === 'surprised')
        return this.#contradict(court, claim, scouts, 'surprised');
    }
    let before: WitnessStep | undefined;
    for (let tries = 0; ; tries++, wanted = UNDECIDED * before.witnesses) {
      const witnesses = Math.min(wanted, this.#ledger.budgetLeft - this.#models(claim, wanted));
      if (witnesses < LEAST_PART * wanted) return 'unaffordable';
      const now: WitnessStep = together(before, await this.#draw(court, claim, witnesses));
      before = now;
      this.count = now.witnesses;
      const verdict = this.#judge(claim, now, tries ? CONFIRMING_TOGETHER : CONFIRMING);
      if (verdict === 'confirmed') {
        this.contradiction = null;
        return verdict;
      }
      if (verdict === 'undecided' && tries < MOST_UNDECIDED) continue;
      this.#contradictions++;
      return this.#contradict(court, claim, now, verdict === 'surprised' ? verdict : 'deviating');
    }
  }

  #judge({ value, error, rounding }: Claim, now: WitnessStep, confirming: number): Judged {
    const tolerance = this.#tolerance(value);
    const off = Math.abs(now.deviation);
    if (now.surprise + now.missing > SURPRISE_PART * tolerance) return 'surprised';
    if (off <= confirming * now.spread + error / 2 + rounding) return 'confirmed';
    return off > CONTRADICTING * now.spread + error + rounding ? 'deviating' : 'undecided';
  }

  /** Whether regions are too wide for witnesses: scouts tell how large σ would be. */
  async areBlunt(court: Court, claim: Claim): Promise<boolean> {
    const wanted = this.wanted(claim);
    if (SCOUTS * wanted < LEAST_SCOUTS) return false;
    const few = Math.max(LEAST_SCOUTS, MEASURING * wanted);
    const { spread, witnesses } = await this.#draw(court, claim, few, SCOUTS_ROUND + this.#round);
    return spread * Math.sqrt(witnesses / wanted) > BLUNT * this.#tolerance(claim.value);
  }

  /** Before regions with small errors are dropped to make room for others: surprised ones get larger errors, and stay. */
  async protect(court: Court, claim: Claim): Promise<void> {
    if (this.#asked === 0) return;
    const witnesses = this.wanted(claim);
    const { regions: count, value, error, rounding } = claim;
    if (witnessCost({ count, witnesses, ranges: this.#problem.ranges }) > this.#ledger.budgetLeft) return;
    const { deviation, spread, surprise, missing } = await this.#draw(court, claim, witnesses);
    if (Math.abs(deviation) > CONTRADICTING * spread + error + rounding)
      this.contradiction = { value: value + deviation, spread, missing };
    if (surprise + missing > 0) await court.blame('surprised', BLAMED * this.#tolerance(value), this.#result);
  }

  #tolerance(value: number): number {
    return toleranceAt(this.#problem, value, this.#result);
  }

  async #draw(
    court: Court,
    { absolute }: Claim,
    witnesses: number,
    round = this.#round++,
  ): Promise<WitnessStep> {
    const { key } = this.#problem;
    const result = this.#result;
    const draw = { key, round, witnesses: Math.floor(witnesses), absolute, result };
    const now = await court.witness(draw);
    this.cost = now.evaluations;
    this.#ledger.spend(now.evaluations);
    if (now.nonFinite) this.#problem.onNonFinite(now.nonFinite);
    this.seen ||= now.deviation !== 0 || now.spread !== 0;
    return now;
  }

  async #contradict(
    court: Court,
    { value, error }: Claim,
    { deviation, spread, missing, surprise }: WitnessStep,
    who: Blamed,
  ): Promise<Verdict> {
    this.contradiction = { value: value + deviation, spread, missing };
    // every integral of a scan looks at its own faces: others need no more witnesses for that
    const own = who === 'surprised' && missing > surprise;
    const { neighbours } = this.#problem;
    if (neighbours && !own && this.#contradictions > 1) neighbours.contradicted = true;
    const least = Math.max(BLAMED * this.#tolerance(value), error, Number.MIN_VALUE);
    await court.blame(who, least, this.#result);
    return 'contradicted';
  }

  /** Evaluations that a claim takes beside those of its witnesses. A region has a whole number of them: up to one more than its share. */
  #models({ regions }: Claim, witnesses: number): number {
    return witnessCost({ count: regions, witnesses, ranges: this.#problem.ranges }) - witnesses + regions;
  }

  /** The regions that there should be before witnesses speak, at first and at most, with `points` evaluations for each region and its parent. */
  regionsBefore(claim: Claim, points: number): { least: number; most: number } {
    const each = this.wanted(claim) / (2 * points);
    return { least: REGIONS_PART * each, most: MOST_REGIONS_PART * each };
  }

  /** Evaluations that there must be left for a claim like this one to be confirmed after a contradiction: scouts, then witnesses. */
  reserve(claim: Claim): number {
    const wanted = this.wanted(claim);
    const few = SCOUTS * wanted;
    return few + this.#models(claim, few) + LEAST_PART * wanted + this.#models(claim, wanted);
  }

  /** The number of witnesses that a claim should have. */
  wanted({ value, absolute }: Claim): number {
    const more = Math.min(MOST_AFTER, AFTER_CONTRADICTION ** this.#contradictions);
    if (this.#asked !== undefined) return this.#asked * more;
    const { neighbours, several } = this.#problem;
    let few = Math.min(MOST, (BUDGET_PART * this.#ledger.maxEvaluations) / (several?.goals.length ?? 1));
    if (neighbours && !neighbours.contradicted)
      few = Math.min(
        few,
        Math.max(LEAST_VOUCHED, VOUCHED / neighbours.count) * DOUBTED ** this.#contradictions,
      );
    const most = Math.max(few, SPENT_PART * this.#ledger.evaluations);
    const wanted = Math.max(LEAST, (PER_TOLERANCE * absolute) / this.#tolerance(value) || Infinity);
    return Math.min(wanted, most) * more;
  }
}
