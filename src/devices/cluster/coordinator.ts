/**
 * The side of a cluster that hands out work: one connection, one queue, the tasks that are under way, and the workers that
 * have been heard of. It answers what workers ask about its run, and looks now and then for parts that are late.
 */
import type { Msg, NatsConnection } from '@nats-io/transport-node';
import type { Part } from '../../tasks/part.ts';
import type { SampleTask } from '../../tasks/sample.ts';
import type { Fit } from '../../tasks/verify.ts';
import { beforeAbort } from '../before-abort.ts';
import { Blobs } from './blobs.ts';
import { Checkpoints } from './checkpoints.ts';
import { ClusterError } from './cluster-error.ts';
import { type Connected, connect, openQueue, type Queue, type ServerOptions } from './connection.ts';
import { Handout, type Office } from './handout.ts';
import { AWAY_MS, awayError, JobQueue } from './job-queue.ts';
import { digestOf, frameOf, framesOf, headOf, pack, withHead } from './packing.ts';
import { type AnySums, type AnyTask, apartFromCounts, bodyOf } from './parts.ts';
import { findWorkers, who } from './presence.ts';
import {
  type Answer,
  type Job,
  MAX_JOB,
  type Packed,
  PROTOCOL,
  queueOf,
  readBegin,
  readBlobQuestion,
  readResultHead,
  STREAM,
  type TaskKind,
  toRun,
  type Worker,
} from './protocol.ts';
import { pause } from './requests.ts';
import { refusalError } from './rights.ts';
import { GONE_MS, Roster } from './roster.ts';

/** How often late parts are looked for, in milliseconds. */
const LOOK_MS = 250;
/** Without a sign of any worker for so long workers are asked who is there; after GONE_MS (roster.ts) all are gone. */
const SILENT_MS = 5000;
/** Tasks that are over whose late sums are still compared. */
const KEPT_TASKS = 8;

/** The program and params that jobs name. */
export interface Integrand {
  program: string;
  params: Packed;
  fit: Fit;
}

export class Coordinator {
  /** The name of this run in subjects; a process has one for every connection. */
  readonly run = digestOf(crypto.randomUUID()).slice(0, 12);
  readonly kind: string;
  readonly epsilon: number;
  readonly blobs = new Blobs();
  readonly warnings: string[];
  readonly roster: Roster;
  /** Of a run that has a name. */
  checkpoints: Checkpoints | null = null;
  readonly #connected: Connected;
  readonly #nc: NatsConnection;
  readonly #queue: string;
  readonly #jobs: JobQueue<Handout>;
  readonly #handouts = new Map<number, Handout>();
  readonly #live = new Set<Handout>();
  /** Workers that alone have given sums of tasks that are over. */
  readonly #unconfirmed = new Set<string>();
  #tasks = 0;
  #timer: NodeJS.Timeout | null = null;
  #failure: unknown = null;
  #disconnected: number | null = null;
  #asking = false;
  /** Whether a task came to no end, and the signal of the last one: a run that was aborted or failed keeps its checkpoints. */
  #interrupted = false;
  #signal: AbortSignal | undefined;

  static async open(options: ServerOptions, kind?: string, run?: string): Promise<Coordinator> {
    const connected = await connect(options, 'quadrille coordinator');
    try {
      const found = await findWorkers(connected, kind);
      const queue = await openQueue(connected, queueOf(found.kind));
      const made = new Coordinator(connected, queue, found.kind, found.workers);
      await connected.nc.flush(); // before the first job: whoever takes it asks at once
      await made.#jobs.deleteOrphans();
      if (run) made.checkpoints = await Checkpoints.open(connected, queue, run);
      if (made.#failure) throw made.#failure;
      return made;
    } catch (e) {
      await connected.close();
      throw e;
    }
  }

  private constructor(connected: Connected, jetstream: Queue, kind: string, workers: readonly Worker[]) {
    this.#connected = connected;
    this.#nc = connected.nc;
    this.kind = kind;
    this.epsilon = Math.max(...workers.map(w => w.epsilon));
    this.warnings = [...connected.warnings];
    this.#queue = queueOf(kind);
    this.#jobs = new JobQueue(connected, jetstream, this.#queue, this.run);
    this.roster = new Roster(workers);
    const listen = (subject: string, answer: (m: Msg) => void) =>
      this.#nc.subscribe(subject, {
        callback: (e, m) => {
          if (e || !m) return;
          try {
            answer(m);
          } catch {
            m.respond('done'); // no message of this protocol: nobody waits for it
          }
        },
      });
    listen(toRun('begin', this.run), m => m.respond(this.#begun(m.string())));
    listen(toRun('result', this.run), m => m.respond(this.#result(m.data)));
    listen(toRun('blob', this.run), m => m.respond(this.#blob(m.string())));
    listen(`$JS.EVENT.ADVISORY.CONSUMER.MAX_DELIVERIES.${STREAM}.${this.#queue}`, m => this.#undelivered(m));
    this.#nc.publish(toRun('stop', 'rights')); // nobody listens: that it is refused should be known now, not in the middle of the run
    const { listener, server } = connected;
    listener.refused = refusal => this.#fail(refusalError(server, refusal, 'coordinators'));
    listener.lost = () => {
      this.#disconnected ??= performance.now();
    };
    listener.back = () => this.#back();
  }

  /** The sums of parts of a task; `cost` is evaluations, 0 where nobody knows them. */
  async handOut(
    integrand: Integrand,
    what: TaskKind,
    task: AnyTask,
    parts: readonly { part: Part; cost: number }[],
    signal: AbortSignal | undefined,
  ): Promise<AnySums[]> {
    signal?.throwIfAborted();
    if (this.#failure) throw this.#failure;
    this.#signal = signal;
    const number = this.#tasks++;
    const { put, release } = this.blobs.user();
    const jobs: { text: string; digest: string }[] = [];
    const cut = what === 'sample' && this.kind === 'cpu' ? apartFromCounts(task as SampleTask) : null;
    const shared = what === 'sample' ? pack(cut?.shared ?? task, put) : null;
    const jobOf = (index: number) => {
      if (jobs[index]) return jobs[index];
      const { first, count } = parts[index].part;
      const body = shared ?? pack(bodyOf(what, task, parts[index].part), put);
      const { program, params } = integrand;
      const job: Job = {
        protocol: PROTOCOL,
        run: this.run,
        task: number,
        part: index,
        what,
        first,
        count,
        program,
        params,
        body,
        ...(cut && { counts: pack(cut.countsOf(parts[index].part), put) }),
      };
      const text = JSON.stringify(job);
      if (text.length > MAX_JOB) throw new ClusterError(`a job has ${text.length} characters`);
      jobs[index] = { text, digest: digestOf(text) };
      return jobs[index];
    };
    const handout: Handout = new Handout(
      number,
      what,
      task,
      parts,
      integrand.fit,
      this.#officeFor(
        index => this.#jobs.publish(handout, number, index, jobOf(index).text, () => this.#live.has(handout)),
        index => jobOf(index).digest,
      ),
    );
    this.#handouts.set(number, handout);
    this.#live.add(handout);
    this.#timer ??= setInterval(() => this.#look(), LOOK_MS);
    try {
      return await beforeAbort(handout.sums(), signal);
    } catch (e) {
      this.#interrupted = true;
      throw e;
    } finally {
      handout.fail(new ClusterError('the task is over'));
      this.#live.delete(handout);
      release();
      this.#tidy(handout);
    }
  }

  async close(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer);
    const over = new ClusterError('the cluster was closed');
    for (const h of this.#live) h.fail(over);
    await pause(0); // whoever waits for them tidies up
    try {
      this.#nc.publish(toRun('stop', this.run), '');
      if (this.#disconnected === null) {
        await this.#jobs.settled();
        await (this.#interrupted || this.#signal?.aborted
          ? this.checkpoints?.settled()
          : this.checkpoints?.forget());
      }
    } catch {
      // the server is away: its jobs are thrown away by whoever takes them
    }
    await this.#connected.close();
  }

  #officeFor(publish: (index: number) => Promise<void>, digest: (index: number) => string): Office {
    const { roster } = this;
    return {
      publish,
      digest,
      get workers() {
        return roster.count;
      },
      expected: evaluations => (roster.rate > 0 ? evaluations / roster.rate : 0),
      isLeftOut: worker => roster.leftOut.has(worker),
      isTrusted: worker => roster.get(worker)?.trusted ?? false,
      isExamined: worker => roster.get(worker)?.examined ?? false,
      examine: worker => {
        roster.heard(worker).examined = true;
      },
      trust: worker => {
        roster.heard(worker).trusted = true;
      },
      leaveOut: (worker, why) => this.#leaveOut(worker, why),
      fail: error => this.#fail(error),
      credit: (worker, evaluations, ms) => roster.credit(worker, evaluations, ms),
    };
  }

  #begun(text: string): Answer {
    const begin = readBegin(text);
    this.roster.heard(begin.worker);
    return this.#handouts.get(begin.task)?.begin(begin) ?? 'done';
  }

  #result(data: Uint8Array): Answer {
    const { head, bytes } = headOf(data);
    const read = readResultHead(head);
    this.roster.heard(read.worker);
    return this.#handouts.get(read.task)?.result(read, bytes) ?? 'done';
  }

  #blob(text: string): Uint8Array {
    const { digest, frame } = readBlobQuestion(text);
    const bytes = this.blobs.get(digest);
    if (!bytes || frame >= framesOf(bytes)) return withHead({ frames: 0 }, new Uint8Array(0));
    return withHead({ frames: framesOf(bytes) }, frameOf(bytes, frame));
  }

  /** The server has given a job to as many workers as it may. */
  #undelivered(m: Msg): void {
    const { stream_seq: seq, deliveries } = m.json<{ stream_seq: number; deliveries: number }>();
    const job = this.#jobs.find(seq);
    job?.owner.lost(job.index, deliveries);
  }

  #leaveOut(worker: string, why: string): void {
    if (this.roster.leftOut.has(worker)) return;
    this.roster.leftOut.add(worker);
    this.warnings.push(`${worker} was left out: ${why}`);
    if (this.#unconfirmed.has(worker))
      return this.#fail(
        new ClusterError(
          `${worker} is broken (${why}), and its sums are in the estimate already; stop that worker, and run again`,
        ),
      );
    for (const h of this.#live) h.distrust(worker);
  }

  #fail(error: unknown): void {
    this.#failure ??= error;
    for (const h of this.#live) h.fail(error);
  }

  #look(): void {
    const now = performance.now();
    if (this.#live.size === 0) {
      clearInterval(this.#timer!);
      this.#timer = null;
      return;
    }
    if (this.#disconnected !== null) {
      if (now - this.#disconnected > AWAY_MS) this.#fail(awayError(this.#connected.server, 'no connection'));
      return;
    }
    const heard = this.roster.heardAt;
    if (now - heard > SILENT_MS) void this.#askAround();
    if (now - heard > GONE_MS)
      this.#fail(
        new ClusterError(
          `all workers at ${this.#connected.server} are gone: none has answered for ${GONE_MS / 1000} s; start some with quadrille worker, and run again`,
        ),
      );
    for (const h of this.#live) h.look(now);
  }

  async #askAround(): Promise<void> {
    if (this.#asking) return;
    this.#asking = true;
    for (const w of await who(this.#nc)) if (w.queue === this.#queue) this.roster.heard(w.name);
    this.#asking = false;
  }

  /** The connection is there again: workers need a moment to come back as well. */
  #back(): void {
    this.#disconnected = null;
    this.roster.wait();
    for (const h of this.#live) h.renew();
  }

  /** Removes what a task has left in the queue and at workers. */
  #tidy(handout: Handout): void {
    for (const worker of handout.unconfirmed()) this.#unconfirmed.add(worker);
    for (const number of this.#handouts.keys()) {
      if (this.#handouts.size <= this.#live.size + KEPT_TASKS) break;
      if (!this.#live.has(this.#handouts.get(number)!)) this.#handouts.delete(number);
    }
    if (this.#jobs.remove(handout, index => handout.leavesJobs(index)))
      this.#nc.publish(toRun('stop', this.run), String(handout.number));
  }
}
