/**
 * A sampling that writes down what it did, and can go on from what another run has written down.
 *
 * A run of VEGAS is a deterministic function of what its iterations found. So a run is resumed by making it again from its
 * start: calls that were recorded with the same arguments are answered from the record and cost nothing, and the
 * first call that differs, or is new, is sampled. Whatever the new tolerance and budget make of the plan, the result has the
 * bits of an uninterrupted run, because it is one. A record is a few numbers per iteration. The map and the variances of cubes
 * are kept as they were at the end alone: a run that leaves the record before its last learning iteration repeats the
 * learning up to there, without counting its evaluations a second time.
 */
import type { NonFinite } from '../../tasks/part.ts';
import type { Estimate } from '../combine.ts';
import type { Ledger } from '../ledger.ts';
import type { MethodProblem } from '../method.ts';
import type { Knobs } from './knobs.ts';
import type { Call, Entry, VegasRecord } from './record.ts';
import { Sampling } from './sampling.ts';
import type { Box } from './witness.ts';

export class RecordedSampling {
  readonly #problem: MethodProblem;
  readonly #knobs: Knobs;
  readonly #ledger: Pick<Ledger, 'spend'>;
  #sampling: Sampling;
  readonly #entries: Entry[] = [];
  /** What is to be repeated; null once the run has left it. */
  #old: VegasRecord | null;
  /** While learning is repeated nothing counts: it was counted when it was recorded. */
  #silent = false;
  #spent = 0;
  #nonFinite: NonFinite[] = [];
  /** Whether learning, or repeating it, was begun and not ended: then the map is that of no call. */
  #learning = false;

  constructor(problem: MethodProblem, ledger: Ledger, knobs: Knobs) {
    this.#knobs = knobs;
    this.#old = problem.resume ?? null;
    this.#ledger = {
      spend: evaluations => {
        this.#spent += evaluations;
        if (!this.#silent) ledger.spend(evaluations);
      },
    };
    this.#problem = {
      ...problem,
      onNonFinite: found => {
        this.#nonFinite.push(found);
        if (!this.#silent) problem.onNonFinite(found);
      },
    };
    this.#sampling = this.#fresh();
  }

  #fresh(): Sampling {
    const sampling = new Sampling(this.#problem, this.#ledger, this.#knobs);
    if (this.#problem.map) sampling.start(this.#problem.map);
    return sampling;
  }

  /** The sampling as the last call left it. */
  get now(): Omit<Sampling, Call['what']> {
    return this.#sampling;
  }

  async probe(samples: number): Promise<void> {
    await this.#call(callOf('probe', samples));
  }

  async adapt(evaluations: number, alpha?: number): Promise<Estimate> {
    return (await this.#call({ ...callOf('adapt', evaluations), alpha: alpha ?? null })) as Estimate;
  }

  async measure(evaluations: number, following = 0): Promise<Estimate> {
    return (await this.#call(callOf('measure', evaluations), undefined, following)) as Estimate;
  }

  async lattice(...lattice: NonNullable<Call['lattice']>): Promise<Estimate> {
    const [shifts, log2] = lattice;
    return (await this.#call({ ...callOf('lattice', shifts * 2 ** log2), lattice })) as Estimate;
  }

  async witness(samples: number, now: Estimate): Promise<number> {
    return (await this.#call(callOf('witness', samples), now)) as number;
  }

  async seed(boxes: readonly Box[]): Promise<void> {
    await this.#call({ ...callOf('seed', 0), boxes });
  }

  /** The record of the run so far. */
  async record(): Promise<VegasRecord> {
    if (this.#old) return this.#old; // what it has beyond the point where this run ended is still true
    const { session, signal, map, several } = this.#problem;
    const busy = !!session.learning && !!signal?.aborted; // a card that was told to stop may still be at work
    const learned = this.#learning || busy ? null : await this.#sampling.learned();
    return {
      knobs: this.#knobs,
      ...(several && {
        several: {
          goals: several.goals,
          leads: several.leads,
          ...(several.allPairs && { allPairs: true }),
        },
      }),
      began: map ?? null,
      entries: this.#entries,
      learned,
    };
  }

  /** Answers a call from the record, or by sampling. */
  async #call(call: Call, now?: Estimate, following?: number): Promise<Entry['result']> {
    const known = this.#old?.entries[this.#entries.length];
    if (known && isSame(known, call)) {
      this.#problem.signal?.throwIfAborted();
      this.#entries.push(known);
      this.#sampling.scalars = known.after;
      this.#ledger.spend(known.spent);
      for (const found of known.nonFinite) this.#problem.onNonFinite(found);
      return known.result;
    }
    this.#learning = true; // also while learning is repeated
    await this.#leaveRecord();
    this.#learning = learns(call);
    this.#spent = 0;
    this.#nonFinite = [];
    const result = await this.#sample(call, now, following);
    const { what, evaluations, alpha, boxes, lattice } = call;
    const [spent, nonFinite, after] = [this.#spent, this.#nonFinite, this.#sampling.scalars];
    const entry: Entry = { what, evaluations, alpha, boxes, spent, result, after, nonFinite };
    if (lattice) entry.lattice = lattice;
    this.#entries.push(entry);
    this.#learning = false;
    return result;
  }

  async #sample(
    { what, evaluations, alpha, boxes, lattice }: Call,
    now?: Estimate,
    following?: number,
  ): Promise<Entry['result']> {
    const sampling = this.#sampling;
    if (what === 'adapt') return sampling.adapt(evaluations, alpha ?? undefined);
    if (what === 'measure') return sampling.measure(evaluations, following);
    if (what === 'lattice') return sampling.lattice(...lattice!);
    if (what === 'witness') return sampling.witness(evaluations, now!);
    await (what === 'probe' ? sampling.probe(evaluations) : sampling.seed(boxes!));
    return null;
  }

  /** Brings map and variances to where the last call that was answered from the record had left them. */
  async #leaveRecord(): Promise<void> {
    const [old, done] = [this.#old, this.#entries.length];
    this.#old = null;
    if (!old || done === 0) return;
    const { after } = this.#entries[done - 1];
    const { learned } = old;
    const learnedAll = !old.entries.slice(done).some(learns);
    if (learned && learnedAll && (learned.variances || !after.known)) this.#sampling.restore(learned);
    else {
      this.#silent = true;
      this.#sampling = this.#fresh();
      for (const entry of this.#entries) if (learns(entry)) await this.#repeat(entry);
      this.#silent = false;
    }
    this.#sampling.scalars = after;
  }

  /** Learns again from an iteration that was recorded; what happened before it and was no learning is taken from the record. */
  async #repeat(entry: Entry): Promise<void> {
    const before = this.#entries[this.#entries.indexOf(entry) - 1];
    if (before) this.#sampling.scalars = before.after;
    await this.#sample(entry);
  }
}

const callOf = (what: Call['what'], evaluations: number): Call => ({
  what,
  evaluations,
  alpha: null,
  boxes: null,
});

const learns = ({ what }: Call): boolean => what === 'adapt' || what === 'seed';

const isSame = (a: Call, b: Call): boolean =>
  a.what === b.what &&
  a.evaluations === b.evaluations &&
  a.alpha === b.alpha &&
  JSON.stringify([a.boxes, a.lattice]) === JSON.stringify([b.boxes, b.lattice]);
