/**
 * A task that is handed out: its parts are published as jobs, and their sums put in place by the number of the part, whoever
 * sends them and however often. The handout is over when every part has sums.
 *
 * - A part that a worker holds for much longer than it should is published again, once nobody else has work of this task: the
 *   first sums win.
 * - Sums of one part by two workers have to agree to the bit. Where they do not, a third worker decides; the one that is
 *   alone is left out, and its parts are done again. The first part of a worker is done by another one too, so that a
 *   broken machine is found before its sums count.
 */
import type { Part } from '../../tasks/part.ts';
import type { Fit } from '../../tasks/verify.ts';
import { afterTurn } from '../event-loop.ts';
import { ClusterError } from './cluster-error.ts';
import { Frames, fromBytes, sumsDigest } from './packing.ts';
import { type AnySums, type AnyTask, readSums } from './parts.ts';
import type { Answer, Begin, ResultHead, TaskKind } from './protocol.ts';

/** How often a part is published at most because it is late, and after which time at least, in milliseconds. */
const MAX_COPIES = 3;
const LATE_MS = 1500;
/** A part is late when it takes so many times what it should. */
const LATE_FACTOR = 4;
/** A job that no worker has taken for so long may be lost, with the memory of a server. */
const LOST_MS = 20_000;
/** After so long even a part that was published often enough is published again: whoever had it may have lost it. */
const GIVEN_UP_MS = 60_000;
/** Nobody knows beforehand what whole integrals take; one that dies gives them back after as long. */
const INTEGRALS_LATE_MS = 10_000;
/** How long another worker's opinion is waited for. */
const OPINION_MS = 10_000;
/** Before jobs go back to the queue because the wrong workers had taken them. */
const REQUEUE_MS = 20;

/** After so long, what was packed is sent: to cut and digest the counts of a million cubes takes 9 ms, and workers wait. */
const PACKING_MS = 1;

/** What a handout needs of its coordinator. */
export interface Office {
  /** Publishes a part as a job. */
  publish(index: number): Promise<void>;
  /** The digest of that job. */
  digest(index: number): string;
  /** Workers that were heard of lately. */
  readonly workers: number;
  /** Milliseconds that so many evaluations take a worker, about; 0 when that is not known. */
  expected(evaluations: number): number;
  isLeftOut(worker: string): boolean;
  /** Whether another worker has confirmed sums of this one, or is being asked to. */
  isTrusted(worker: string): boolean;
  isExamined(worker: string): boolean;
  examine(worker: string): void;
  trust(worker: string): void;
  /** Leaves a worker out, because its sums are wrong. */
  leaveOut(worker: string, why: string): void;
  /** Ends the run. */
  fail(error: unknown): void;
  /** Counts a part for a worker. */
  credit(worker: string, evaluations: number, ms: number): void;
}

interface Vote {
  workers: Set<string>;
  sums: AnySums;
}

interface PartState {
  part: Part;
  cost: number;
  copies: number;
  published: number;
  /** Who has begun with it, and when. */
  holders: Map<string, number>;
  /** Sums by their digests. */
  votes: Map<string, Vote>;
  /** When the first sums came that others have to confirm. */
  asked: number;
  /** Workers that have to agree. */
  needed: number;
  sums: AnySums | null;
  /** The digest of `sums`. */
  settled: string;
}

/** What a part is some of. */
const ITEMS = { sample: 'groups', regions: 'regions', witness: 'regions', integrals: 'integrals' } as const;

const BROKEN = 'one of these machines is broken: stop its worker, and run again';

/** Stands for sums that the run has. */
const TAKEN = {} as AnySums;

export class Handout {
  readonly number: number;
  readonly what: TaskKind;
  #task: AnyTask | null;
  readonly #fit: Fit;
  readonly #office: Office;
  readonly #parts: PartState[];
  readonly #frames = new Map<string, Frames>();
  /** Parts that the wrong workers have taken, in the order in which they came back. */
  readonly #wrongly: number[] = [];
  readonly #done: Promise<void>;
  #resolve!: () => void;
  #reject!: (e: unknown) => void;
  #missing: number;
  #over = false;

  constructor(
    number: number,
    what: TaskKind,
    task: AnyTask,
    parts: readonly { part: Part; cost: number }[],
    fit: Fit,
    office: Office,
  ) {
    this.number = number;
    this.what = what;
    this.#task = task;
    this.#fit = fit;
    this.#office = office;
    this.#parts = parts.map(p => ({
      ...p,
      copies: 0,
      published: 0,
      holders: new Map(),
      votes: new Map(),
      asked: 0,
      needed: 1,
      sums: null,
      settled: '',
    }));
    this.#missing = parts.length;
    this.#done = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
    this.#done.catch(() => {}); // it may fail before anybody waits for it
  }

  /** The sums of all parts. */
  async sums(): Promise<AnySums[]> {
    let sent = performance.now();
    for (const index of this.#parts.keys()) {
      if (this.#over) break;
      this.#publish(index);
      if (performance.now() - sent < PACKING_MS) continue;
      await new Promise<void>(afterTurn);
      sent = performance.now();
    }
    await this.#done;
    const all = this.#parts.map(p => p.sums!);
    for (const p of this.#parts) {
      p.sums = TAKEN; // may be megabytes
      for (const vote of p.votes.values()) vote.sums = TAKEN;
    }
    this.#task = null;
    return all;
  }

  /** Whether jobs of a part may still be in the queue: it was published more than once, or the task has ended early. */
  leavesJobs(index: number): boolean {
    const { copies, sums } = this.#parts[index];
    return copies > 1 || !sums;
  }

  /** Parts of which one worker alone has given the sums. */
  *unconfirmed(): Iterable<string> {
    for (const { votes, settled } of this.#parts) {
      const vote = votes.get(settled);
      if (vote?.workers.size === 1) yield* vote.workers;
    }
  }

  fail(error: unknown): void {
    this.#over = true;
    this.#reject(error);
  }

  partOf(index: number): Part | undefined {
    return this.#parts[index]?.part;
  }

  begin({ worker, part: index, job }: Begin): Answer {
    const state = this.#parts[index];
    if (!state || this.#over || state.sums || job !== this.#office.digest(index)) return 'done';
    if (this.#office.isLeftOut(worker)) {
      this.#requeue(index);
      return 'left out';
    }
    if ([...state.votes.values()].some(v => v.workers.has(worker))) {
      this.#requeue(index);
      return 'again';
    }
    state.holders.set(worker, performance.now());
    return 'go';
  }

  /** Takes a frame of sums. What is not of a job of this task, or not what its digest says, is ignored. */
  result(head: ResultHead, frame: Uint8Array): Answer {
    const { worker, part: index, digest, job, failed } = head;
    const state = this.#parts[index];
    if (!state || this.#office.isLeftOut(worker) || job !== this.#office.digest(index)) return 'done';
    if (failed !== undefined) {
      const why = `worker ${worker} cannot do ${this.#nameOf(state)}: ${failed}`;
      if (!state.sums) this.fail(new ClusterError(why));
      return 'done';
    }
    if (state.sums && digest === state.settled) {
      this.#confirm(state, worker);
      return 'done';
    }
    const key = `${worker} ${index} ${digest}`;
    const frames = this.#frames.get(key) ?? new Frames(head.frames);
    this.#frames.set(key, frames);
    if (!frames.add(head.frame, frame)) return 'more';
    this.#frames.delete(key);
    const { bytes } = frames;
    if (sumsDigest(job, bytes) !== digest) return 'done';
    if (this.#over) {
      if (state.settled) this.#contradict(state, worker);
      return 'done';
    }
    this.#office.credit(worker, state.cost, head.ms);
    this.#vote(index, worker, digest, bytes);
    return 'done';
  }

  /** A job was given to as many workers as may have it, and none came back. */
  lost(index: number, deliveries: number): void {
    const state = this.#parts[index];
    if (!state || state.sums) return;
    const who = [...state.holders.keys()].join(', ') || 'nobody said that it had begun';
    this.fail(
      new ClusterError(
        `${this.#nameOf(state)} was given to workers ${deliveries} times, and none came back (${who}); it may need more memory than they have: see what they printed last`,
      ),
    );
  }

  /** Looks for parts that are late; called now and then. */
  look(now: number): void {
    if (this.#over) return;
    const open = this.#parts.flatMap((state, index) => (state.sums ? [] : [{ state, index }]));
    const queued = open.some(({ state }) => state.holders.size === 0 && state.votes.size === 0);
    for (const { state, index } of open) {
      if (state.votes.size > 0) this.#hurry(state, index, now);
      else if (state.holders.size === 0) {
        if (state.copies > 0 && now - state.published > LOST_MS) this.#publish(index);
      } else if (!queued) {
        const begun = Math.max(state.published, ...state.holders.values());
        const late = this.what === 'integrals' ? INTEGRALS_LATE_MS : LATE_MS;
        const least = state.copies < MAX_COPIES ? late : GIVEN_UP_MS;
        if (now - begun > Math.max(least, LATE_FACTOR * this.#office.expected(state.cost)))
          this.#publish(index);
      }
    }
  }

  /** Publishes all open parts again: workers may have thrown them away while the coordinator was out of reach. */
  renew(): void {
    for (const [index, state] of this.#parts.entries()) if (!state.sums && !this.#over) this.#publish(index);
  }

  /** Does the parts of a worker again that was found to be wrong. */
  distrust(worker: string): void {
    for (const [index, state] of this.#parts.entries()) {
      state.holders.delete(worker);
      for (const [digest, vote] of state.votes) {
        vote.workers.delete(worker);
        if (vote.workers.size > 0) continue;
        state.votes.delete(digest);
        if (digest !== state.settled || this.#over) continue;
        state.sums = null;
        state.settled = '';
        this.#missing++;
      }
      if (!state.sums && !this.#over && state.holders.size === 0 && state.votes.size === 0)
        this.#publish(index);
    }
  }

  #vote(index: number, worker: string, digest: string, bytes: Uint8Array): void {
    const state = this.#parts[index];
    let sums: AnySums;
    try {
      sums = readSums(this.what, fromBytes(bytes), this.#task!, state.part, this.#fit);
    } catch (e) {
      return this.#office.leaveOut(worker, `${this.#nameOf(state)}: ${(e as Error).message}`);
    }
    const vote = state.votes.get(digest) ?? { workers: new Set(), sums };
    state.votes.set(digest, vote);
    vote.workers.add(worker);
    state.holders.delete(worker);
    const disputed = state.votes.size > 1;
    // a handout of integrals has one part, and would be over before another worker has said anything about the first one
    const examined = this.what !== 'integrals' && this.#office.isExamined(worker);
    const known = this.#office.isTrusted(worker) || examined;
    state.needed = disputed || (this.#office.workers > 1 && !known) ? 2 : state.needed;
    if (state.needed > 1) this.#office.examine(worker);
    if (state.sums && disputed) this.#reopen(state);
    if (vote.workers.size >= state.needed) return this.#settle(state, digest, sums);
    state.asked = performance.now();
    this.#publish(index);
  }

  /** Somebody contradicts sums that were taken already. */
  #reopen(state: PartState): void {
    state.sums = null;
    state.settled = '';
    this.#missing++;
  }

  #settle(state: PartState, digest: string, sums: AnySums): void {
    if (state.sums || this.#over) return;
    state.sums = sums;
    state.settled = digest;
    this.#missing--;
    const { workers } = state.votes.get(digest)!;
    if (workers.size > 1) this.#trust(workers);
    const wrong = [...state.votes].filter(([d]) => d !== digest).flatMap(([, v]) => [...v.workers]);
    for (const w of wrong)
      this.#office.leaveOut(
        w,
        `its sums of ${this.#nameOf(state)} differ from those of ${[...workers].join(' and ')}`,
      );
    if (this.#missing > 0) return;
    this.#over = true;
    this.#resolve();
  }

  /** Another worker has sent the sums that were taken. */
  #confirm(state: PartState, worker: string): void {
    const { workers } = state.votes.get(state.settled)!;
    workers.add(worker);
    this.#trust(workers);
  }

  /** Their sums agree; what waited for an opinion about one of them need not wait any more. */
  #trust(workers: ReadonlySet<string>): void {
    for (const w of workers) this.#office.trust(w);
    for (const state of this.#parts) {
      if (state.sums || state.votes.size !== 1) continue;
      const [[digest, vote]] = state.votes;
      if ([...vote.workers].some(w => this.#office.isTrusted(w))) this.#settle(state, digest, vote.sums);
    }
  }

  /** Somebody contradicts sums that the run has used. */
  #contradict(state: PartState, worker: string): void {
    const { workers } = state.votes.get(state.settled)!;
    const why = `sums of ${this.#nameOf(state)} differ from those of ${[...workers].join(' and ')}`;
    if (workers.size > 1) this.#office.leaveOut(worker, `its ${why}`);
    else
      this.#office.fail(
        new ClusterError(`${worker}: ${why}, and it is too late to ask a third worker; ${BROKEN}`),
      );
  }

  /** Sums that wait for another opinion: there may be no other worker. */
  #hurry(state: PartState, index: number, now: number): void {
    if (now - state.asked < OPINION_MS) return;
    if (state.votes.size > 1) {
      const who = [...state.votes.values()].flatMap(v => [...v.workers]);
      return this.fail(
        new ClusterError(
          `${who.join(' and ')} give different sums for ${this.#nameOf(state)}, and no third worker is there to decide; ${BROKEN}`,
        ),
      );
    }
    if (state.holders.size > 0 && state.copies < MAX_COPIES) return this.#publish(index);
    const [digest, vote] = [...state.votes][0];
    this.#settle(state, digest, vote.sums);
  }

  #publish(index: number): void {
    const state = this.#parts[index];
    state.copies++;
    state.published = performance.now();
    if (state.votes.size > 0) state.asked = state.published;
    this.#office.publish(index).catch(e => this.fail(e));
  }

  /** A server serves workers in the order in which they ask: in the order in which parts came back, each would get its own again, for seconds. */
  #requeue(index: number): void {
    this.#parts[index].copies++;
    if (this.#wrongly.push(index) > 1) return;
    setTimeout(() => {
      for (const i of this.#wrongly.splice(0).reverse())
        if (!this.#over && !this.#parts[i].sums) this.#office.publish(i).catch(e => this.fail(e));
    }, REQUEUE_MS);
  }

  #nameOf({ part }: PartState): string {
    return `${ITEMS[this.what]} ${part.first} to ${part.first + part.count - 1} of task ${this.number}`;
  }
}
