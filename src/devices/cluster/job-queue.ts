/**
 * The jobs of a coordinator in the stream: published until the server has them, and deleted when nobody needs them.
 *
 * They are deleted one by one. A purge by subject would be one request, but it makes the consumers of a NATS server 2.9.10 skip
 * all other jobs that wait (`tests/cluster/garbage.test.ts` found 2,200 of them).
 */
import { ClusterError } from './cluster-error.ts';
import { type Connected, openQueue, type Queue } from './connection.ts';
import { jobSubject, STREAM, toRun } from './protocol.ts';
import { hasNoListener, pause } from './requests.ts';

/** How long a server may be away, and between two attempts to reach it, in milliseconds. */
export const AWAY_MS = 60_000;
const RETRY_MS = 250;
/** Jobs that are being published at a time. */
const MAX_PUBLISHING = 64;
/** Subjects of other runs that are looked at, at most. */
const MAX_ORPHANS = 1000;
/** What the server says when the stream may have no more messages. */
const FULL = 10077;

export const awayError = (server: string, why: string): ClusterError =>
  new ClusterError(
    `the server at ${server} has been away for a minute (${why}); start it again, and run again`,
  );

export class JobQueue<Owner> {
  readonly #connected: Connected;
  readonly #queue: string;
  readonly #run: string;
  #jetstream: Queue;
  /** By their numbers in the stream. */
  readonly #jobs = new Map<number, { owner: Owner; index: number }>();
  readonly #deleting = new Set<Promise<void>>();
  #publishing = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(connected: Connected, jetstream: Queue, queue: string, run: string) {
    this.#connected = connected;
    this.#jetstream = jetstream;
    this.#queue = queue;
    this.#run = run;
  }

  /** Publishes a part of a task, as often as it takes while it is wanted. */
  async publish(
    owner: Owner,
    task: number,
    index: number,
    job: string,
    isWanted: () => boolean,
  ): Promise<void> {
    if (this.#publishing >= MAX_PUBLISHING) await new Promise<void>(go => this.#waiting.push(go));
    this.#publishing++;
    const subject = jobSubject(this.#queue, this.#run, task, index);
    const start = performance.now();
    try {
      while (isWanted()) {
        try {
          const { seq } = await this.#jetstream.js.publish(subject, job, { timeout: 3000 });
          if (isWanted()) this.#jobs.set(seq, { owner, index });
          else this.#delete([seq]);
          return;
        } catch (e) {
          const { message, code } = e as Error & { code?: number };
          if (code === FULL)
            throw new ClusterError(`the queue of jobs is full (${message}); see who fills it`);
          if (performance.now() - start > AWAY_MS) throw awayError(this.#connected.server, message);
        }
        await pause(RETRY_MS);
        await this.#reopen();
      }
    } finally {
      this.#publishing--;
      this.#waiting.shift()?.();
    }
  }

  /** Whose job has this number. */
  find(seq: number): { owner: Owner; index: number } | undefined {
    return this.#jobs.get(seq);
  }

  /** Deletes jobs of an owner that may still be in the queue; returns whether there are any. */
  remove(owner: Owner, isLeft: (index: number) => boolean): boolean {
    const left: number[] = [];
    for (const [seq, job] of this.#jobs) {
      if (job.owner !== owner) continue;
      this.#jobs.delete(seq);
      if (isLeft(job.index)) left.push(seq);
    }
    if (left.length === 0 || this.#connected.nc.isClosed()) return false;
    this.#delete(left);
    return true;
  }

  /** Resolves when nothing is being deleted. */
  async settled(): Promise<void> {
    await Promise.all(this.#deleting);
  }

  /** Removes jobs of coordinators that died, which workers of their release would throw away: there may be none. */
  async deleteOrphans(): Promise<void> {
    const { streams } = this.#jetstream.manager;
    try {
      const { state } = await streams.info(STREAM, { subjects_filter: 'quadrille.job.>' });
      const gone = new Map<string, boolean>();
      for (const [subject, count] of Object.entries(state.subjects ?? {}).slice(0, MAX_ORPHANS)) {
        const run = subject.split('.')[3];
        if (!gone.has(run)) gone.set(run, await this.#isGone(run));
        for (let left = gone.get(run) ? count : 0; left > 0; left--) {
          const found = await streams.getMessage(STREAM, { last_by_subj: subject });
          if (!found) break;
          await streams.deleteMessage(STREAM, found.seq, false);
        }
      }
    } catch {
      // a user who may not look at the stream: workers throw such jobs away, or the server after a day
    }
  }

  #delete(seqs: readonly number[]): void {
    const { streams } = this.#jetstream.manager;
    // most are done and gone already, which the server calls an error
    const each = seqs.map(seq => streams.deleteMessage(STREAM, seq, false).catch(() => {}));
    const all = Promise.all(each).then(() => void this.#deleting.delete(all));
    this.#deleting.add(all);
  }

  /** A server that restarts may come back without its memory. */
  async #reopen(): Promise<void> {
    try {
      this.#jetstream = await openQueue(this.#connected, this.#queue);
    } catch {
      // not yet
    }
  }

  async #isGone(run: string): Promise<boolean> {
    try {
      await this.#connected.nc.request(toRun('begin', run), '{}', { timeout: 500 });
      return false;
    } catch (e) {
      return hasNoListener(e);
    }
  }
}
