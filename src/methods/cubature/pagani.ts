/**
 * PAGANI (I. Sakiotis et al., "PAGANI: a parallel adaptive GPU algorithm for numerical integration", SC21): all
 * regions that need it are halved at once, and their halves evaluated in parallel; regions that need no more are
 * finished, which leaves only their contributions.
 *
 * Two things differ from the paper, both measured (docs/design.md).
 *
 * - Regions can wait. The paper halves everything that is not finished; here an iteration halves the regions with
 *   the largest errors, as many as make up HALVED_PART of the whole error, and no more than reaching the tolerance
 *   should take. The others stay in memory for later. Cuhre does the same one region at a time, and takes about as many
 *   evaluations; halving everything takes up to a hundred times as many on a narrow peak.
 * - Regions are finished, by relative error (section 3.5.1, lemma 3.1) and by threshold (sections 3.5.2 and 3.5.3; see
 *   tasks/pool/threshold.ts), when memory runs out, not before: a region that waits costs no evaluations, and may have
 *   to be halved later.
 *
 * Regions are in a pool (tasks/pool/pool.ts), which may be in the memory of a device; this file decides what the pool
 * does.
 *
 * A run claims the tolerance only after every region has a parent to compare with, every axis was halved as far as
 * START_EVALUATIONS allows, small regions have looked across their borders (tasks/pool/borders.ts) and those with the largest
 * errors along all axes (tasks/pool/all-axes.ts), and random points confirm it (witnesses.ts).
 *
 * With several results the pool is on the host, and regions are selected by what they need (tasks/pool/store.ts). Σ of the needs
 * is at least the error of the worst goal in units of its tolerance: equal to it where the goals have their errors in the same
 * regions, and more where they do not. So the part of the needs to halve is the part by which the worst goal is too large.
 */
import type { Estimate } from '../../tasks/pool/errors.ts';
import { HostPool } from '../../tasks/pool/host-pool.ts';
import {
  type PoolStep,
  type PoolSums,
  type PoolTask,
  type RegionPool,
  type SeveralPool,
  toleranceLeft,
} from '../../tasks/pool/pool.ts';
import { allRegions } from '../../tasks/region.ts';
import type { MethodProblem, Outcome, Run, Status, Step } from '../method.ts';
import { CANCELLED_IN_NOISE, Cubature, LEAST_ERROR_IN_NOISE, runCubature } from './cubature.ts';
import type { CubatureOptions } from './options.ts';
import type { RecordedPool } from './recorded-pool.ts';
import type { PoolRecord } from './region-record.ts';
import type { Claim } from './witnesses.ts';

/** The regions that one iteration halves have at most this part of the whole error. */
const HALVED_PART = 0.9;
/** The smallest regions around points where the integrand peaks are 2^-26 = 1.5e-8 of the range along each axis. */
const MAX_DEPTH = 26;

export function pagani(problem: MethodProblem, options: CubatureOptions): Run {
  const run = new Pagani(problem, options, true);
  return runCubature(run, () => run.integrate());
}

class Pagani extends Cubature {
  #pool!: RegionPool;
  /** The same pool, if it is in the device's memory and remembers its calls. */
  #recorded: RecordedPool | null = null;
  /** The same pool, if there are several results. */
  #several: SeveralPool | null = null;
  /** Whether region values of both signs were seen. */
  #signed = false;
  /** Regions that were finished to make room for others. */
  #dropped = 0;
  /** In the last iteration: Σ errors of the halves / Σ errors of the regions that were halved. */
  #remaining = 0.5;

  async *integrate(): Step<Status> {
    const { session, ranges, signal, points } = this.problem;
    const { results } = this;
    const task = { rule: this.rule.name, ranges, results, maxMemory: this.options.maxMemory };
    const onHost = () =>
      new HostPool(
        regions => session.regions(regions, allRegions(regions), signal),
        witnesses => session.witness(witnesses, allRegions(witnesses), signal),
        task,
      );
    // a pool in a device's memory starts with equal regions of one number
    const host = results > 1 || points ? onHost() : null;
    if (results > 1) this.#several = host;
    this.#pool = host ?? (this.isInPool ? await this.#openPool(task) : onHost());
    const level = Math.log2(this.checkedSplit(this.#pool.most));
    const start = () =>
      host && points ? host.startAround(points, level, this.#depth(points.length)) : this.#pool.start(level);
    try {
      const status = yield* this.#iterate(start);
      // the noise of the device is measured by the regions that it has at the end
      if (session.noise) await this.#recorded?.catchUp();
      return status;
    } finally {
      this.#pool.close();
    }
  }

  /** The pool in the device's memory, which remembers its calls where the run may go on later. */
  async #openPool(task: PoolTask): Promise<RegionPool> {
    const { session, signal, keeps, several } = this.problem;
    const pool = await session.pool!(task, signal);
    if (several || !(keeps || this.known)) return pool;
    const { entries } = (this.known ?? {}) as Partial<PoolRecord>;
    const { RecordedPool } = await import('./recorded-pool.ts');
    this.#recorded = new RecordedPool(pool, this.problem, this.maxState, entries);
    return this.#recorded;
  }

  protected override recorded(): Pick<Outcome, 'record'> {
    const { rule, problem } = this;
    if (!this.#recorded) return {};
    return { record: { rule: rule.name, pool: problem.kind, entries: this.#recorded.entries } };
  }

  /** How often axes are halved around points: as far as a twelfth of the budget allows, since all regions are halved once more. */
  #depth(points: number): number {
    const { maxEvaluations, ranges } = this.problem;
    return Math.min(MAX_DEPTH, Math.floor(maxEvaluations / 12 / (this.rule.points * ranges.length * points)));
  }

  async *#iterate(start: () => Promise<PoolStep>): Step<Status> {
    const pool = this.#pool;
    this.#note(await start());
    this.begin(this.#each.map(sums => sums.value));
    let least = Math.max(2 * pool.count, this.least);
    const halvings = Math.ceil(Math.log2(least / pool.count));
    if (pool.count * (2 ** halvings - 1) <= this.affordable / 2) pool.expectHalvings?.(halvings);
    for (;;) {
      const stop = await this.#select(this.regions < least);
      if (typeof stop === 'string') return stop;
      const step = await pool.halve(stop);
      this.#note(step);
      this.#signed ||= step.signed;
      this.#remaining = step.before > 0 ? Math.min(0.9, Math.max(0.1, step.after / step.before)) : 0.5;
      this.regions = pool.count + pool.sums.done;
      if (this.regions >= least && this.enough(this.#estimates()))
        least = Math.max(least, Math.min(pool.most / 2, await this.leastToWitness(pool, this.#claims())));
      const claims = () => this.regions >= least && this.enough(this.#estimates());
      if (claims()) {
        for (const goal of this.goals) {
          const negligible = this.looks.negligible(this.#each[goal].value, goal);
          this.#note(await pool.look(negligible, this.affordable, goal));
        }
      }
      for (const goal of this.goals) {
        const along = claims() ? this.looks.affordableAlong(this.#claims()[goal], goal) : 0;
        if (along >= 1 && pool.lookAlong) this.#note(await pool.lookAlong(along, goal));
      }
      let status: Status | undefined;
      if (claims()) {
        status = await this.confirm(pool, this.#claims());
        if (status === 'converged' && this.#dropped > 0) this.warnings.push(unconfirmed(this.#dropped));
        if (!status) least = Math.max(least, this.#leastAfterContradiction());
      }
      yield* this.record(this.#estimates());
      if (status) return status;
      if (this.ledger.lastIteration) return 'budget';
    }
  }

  /**
   * How many regions there are to be before the next witnesses speak: all are halved, again and again, until that has cost as much as the
   * last witnesses, or would leave too little of the budget for the next. Without the latter, `auto` spent 1e5 evaluations on
   * 1/(x ln⁴ x) over [2, ∞) to 1e-3 and confirmed nothing.
   */
  #leastAfterContradiction(): number {
    const claims = this.#claims();
    const { ledger, regions: now, rule } = this;
    const fits = (regions: number) => {
      let cost = 2 * rule.points * (regions - now);
      for (const [goal, own] of this.witnesses) cost += own.reserve({ ...claims[goal], regions });
      return cost <= ledger.budgetLeft;
    };
    let least = now;
    while (2 * rule.points * least < this.witnessCost && fits(2 * least)) least *= 2;
    return least;
  }

  /** The sums of each result. */
  get #each(): readonly PoolSums[] {
    return this.#several?.each ?? [this.#pool.sums];
  }

  #estimates(): Estimate[] {
    return this.#each.map(({ value, error, absolute }) => ({ value, error: error + this.noise * absolute }));
  }

  #claims(): Claim[] {
    const each = this.#each;
    return this.#estimates().map((now, r) => this.claim(now, each[r].absolute));
  }

  #note({ evaluated, nonFinite }: PoolStep): void {
    const each = this.#each;
    const seen = each.map(({ absolute, error }) => absolute > 0 || error > 0);
    const finite = each.every(({ value }) => Math.abs(value) < Infinity);
    this.count(evaluated, finite, seen, nonFinite);
  }

  /** Selects the regions to halve next; returns how many of them may be halved, or the status if none. */
  async #select(all: boolean): Promise<number | Status> {
    const pool = this.#pool;
    const everything = all || this.isDark(this.#estimates());
    const part = everything
      ? Infinity
      : this.#several
        ? this.#partOfNeeds(this.#several)
        : this.#partOfErrors();
    if (typeof part === 'string') return part;
    let wanted = await pool.select(part);
    if (!everything && pool.count + wanted > pool.most) {
      const relative = (this.options.relErrFilter ?? !this.#signed) ? this.problem.relTol : 0;
      for (const [goal, witnesses] of this.witnesses) await witnesses.protect(pool, this.#claims()[goal]);
      const before = pool.count;
      await pool.finish(relative, this.problem);
      this.#dropped += before - pool.count;
      wanted = await pool.select(part);
    }
    const room = pool.most - pool.count;
    const most = Math.min(room, Math.floor(this.affordable / 2));
    if (most < 1) return room < 1 ? 'memory' : 'budget';
    return wanted > 0 ? most : 'roundoff';
  }

  /** The errors of a result that are not finished, the tolerance that is left for them, and the errors that halving cannot reduce. */
  #opening(sums: PoolSums): { open: number; left: number; floor: number } {
    const { value, error, finished, absolute } = sums;
    const left = toleranceLeft(this.problem, sums);
    const times = Math.abs(value) <= error ? CANCELLED_IN_NOISE : LEAST_ERROR_IN_NOISE;
    const noise = times * this.noise * absolute;
    // when finished regions alone miss the tolerance, halving the others helps only while their errors are larger
    const floor = left > 0 ? noise : Math.max(noise, finished);
    return { open: Math.max(0, error - finished), left, floor };
  }

  /** The error of the regions to halve next; or the status, if halving does not help. */
  #partOfErrors(): number | Status {
    const { error, absolute } = this.#pool.sums;
    const { open, left, floor } = this.#opening(this.#pool.sums);
    if (!(open > floor)) return absolute + error === 0 ? 'budget' : 'roundoff';
    return Math.min(HALVED_PART * open, (open - 0.9 * left) / (1 - this.#remaining));
  }

  /** The same with several results: the needs of the regions to halve next, once they are ranked. */
  #partOfNeeds(pool: SeveralPool): number | Status {
    const { each } = pool;
    const now = this.#estimates();
    const scales = new Float64Array(this.results).fill(Infinity);
    const missing = this.goals.filter(goal => !this.meets(now[goal], goal));
    let worst = 0;
    for (const goal of this.goals) {
      const { open, left, floor } = this.#opening(each[goal]);
      scales[goal] = Math.max(left, floor) || open || 1;
      const helps = open > floor && (missing.length === 0 || missing.includes(goal));
      if (helps) worst = Math.max(worst, open / scales[goal]);
    }
    pool.rank(scales);
    if (worst === 0)
      return missing.every(r => each[r].absolute + each[r].error === 0) ? 'budget' : 'roundoff';
    return Math.min(HALVED_PART, (1 - 0.9 / worst) / (1 - this.#remaining)) * pool.need;
  }
}

const unconfirmed = (regions: number): string =>
  `${regions} regions were finished to make room for others before random points could confirm the result: raise cubature.maxMemory`;
