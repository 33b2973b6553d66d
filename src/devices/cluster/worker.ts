/**
 * A worker of a cluster: takes parts from the queue for its kind of device, does them, and sends their sums to the coordinator.
 *
 * It takes one job at a time. While a part is under way it tells the server every SIGN_MS that it lives; the integrating
 * happens on threads of the device, so this thread has time for that. A job is acknowledged when the coordinator has the
 * sums; if the worker dies before, the server hands the job to another after ACK_WAIT_MS. Sums are sent while the next
 * part is under way.
 */
import { hostname } from 'node:os';
import type { Msg, NatsConnection } from '@nats-io/transport-node';
import { beforeAbort } from '../before-abort.ts';
import { type Device, DeviceError } from '../device.ts';
import { type Connected, connect, openQueue, type ServerOptions } from './connection.ts';
import { digestOf, eachFrame, frameOf, framesOf, sumsDigest, withHead } from './packing.ts';
import {
  DEFAULT_LIMITS,
  type Done,
  LimitError,
  type Limits,
  PartRunner,
  type SolveIntegrals,
} from './part-runner.ts';
import {
  type Answer,
  type Begin,
  type Job,
  PROTOCOL,
  queueOf,
  RELEASE,
  type ResultHead,
  readJob,
  SIGN_MS,
  STREAM,
  toRun,
  WHO,
  type Worker,
} from './protocol.ts';
import { ask, CoordinatorGone, pause } from './requests.ts';

export interface WorkerOptions extends ServerOptions {
  device: Device;
  solve: SolveIntegrals;
  /** By default the name of the machine and the number of the process. */
  name?: string | undefined;
  limits?: Partial<Limits>;
  /** Told what the worker does, a line at a time. */
  log?: (text: string) => void;
  /** Ends the worker. */
  signal?: AbortSignal;
}

/**
 * How long a request for a job stays with the server, in milliseconds; shorter while the queue may be missing, since a server
 * with JetStream does not answer a request to a queue that it does not have.
 */
const PULL_MS = 5000;
const FIRST_PULL_MS = 500;
/** Sums that may be on their way while the next part begins. */
const MAX_SENDING = 2;
/** So long a coordinator may take to say that a part is wanted; others may listen to a run that is over. */
const BEGIN_MS = 10_000;
/** For so long a worker takes no jobs after it was left out. */
const REST_MS = 30_000;

/** Works until the signal ends it, or the device fails. */
export async function work(options: WorkerOptions): Promise<void> {
  const name = options.name ?? defaultName();
  const connected = await connect(options, name);
  const worker = new ClusterWorker(connected, name, options);
  try {
    await worker.run();
  } finally {
    worker.close();
    await connected.close();
  }
}

const defaultName = (): string =>
  `${hostname()
    .replace(/[^\w.-]/g, '-')
    .slice(0, 60)}-${process.pid}`;

/** Why a part is not wanted. */
class Unwanted extends Error {
  readonly answer: Answer | 'gone' | 'over';

  constructor(answer: Answer | 'gone' | 'over') {
    super(answer);
    this.answer = answer;
  }
}

/** A job with the digest of its text. */
type TakenJob = Job & { digest: string };

class ClusterWorker {
  readonly #nc: NatsConnection;
  readonly #connected: Connected;
  readonly #name: string;
  readonly #device: Device;
  readonly #queue: string;
  readonly #runner: PartRunner;
  readonly #limits: Limits;
  readonly #log: (text: string) => void;
  readonly #signal: AbortSignal;
  readonly #started = performance.now();
  #doing: { job: Job; since: number; stop: AbortController } | null = null;
  #done = { parts: 0, evaluations: 0, rate: 0 };
  #waited = 0;
  readonly #sending = new Set<Promise<void>>();
  #queueIsThere = false;
  /** Until then it takes no jobs, because a coordinator has left it out. */
  #restUntil = 0;
  /** The device's failure, which ends the worker. */
  #failure: DeviceError | null = null;

  constructor(connected: Connected, name: string, { device, solve, limits, log, signal }: WorkerOptions) {
    this.#connected = connected;
    this.#nc = connected.nc;
    this.#name = name;
    this.#device = device;
    this.#queue = queueOf(device.kind);
    this.#limits = { ...DEFAULT_LIMITS, ...limits };
    this.#runner = new PartRunner(connected.nc, device, solve, this.#limits);
    this.#log = log ?? (() => {});
    this.#signal = signal ?? new AbortController().signal;
  }

  async run(): Promise<void> {
    const nc = this.#nc;
    nc.subscribe(WHO, { callback: (_, m) => void m?.respond(JSON.stringify(this.#self())) });
    nc.subscribe('quadrille.stop.*', { callback: (_, m) => this.#stopped(m) });
    await nc.flush(); // a request that comes before the server knows of a subscription is lost
    for (const w of this.#connected.warnings) this.#log(w);
    await this.#makeQueue();
    this.#log(`${this.#name} waits for work at ${this.#connected.server} with ${this.#device.name}`);
    while (!this.#signal.aborted && !this.#failure && !nc.isClosed()) {
      const rest = this.#restUntil - performance.now();
      if (rest > 0) await beforeAbort(pause(rest), this.#signal).catch(() => {});
      const asked = performance.now();
      const message = await this.#next();
      this.#waited += performance.now() - asked;
      if (message) await this.#take(message);
    }
    await Promise.all(this.#sending);
    if (this.#failure) throw this.#failure;
  }

  close(): void {
    this.#doing?.stop.abort(new Unwanted('over'));
    this.#runner.close();
  }

  #self(): Worker {
    const { parts, evaluations, rate } = this.#done;
    const doing = this.#doing && {
      run: this.#doing.job.run,
      task: this.#doing.job.task,
      part: this.#doing.job.part,
      ms: Math.round(performance.now() - this.#doing.since),
    };
    return {
      name: this.#name,
      kind: this.#device.kind,
      queue: this.#queue,
      protocol: PROTOCOL,
      release: RELEASE,
      device: this.#device.name,
      epsilon: this.#device.epsilon,
      parts,
      evaluations,
      rate,
      uptime: Math.round(performance.now() - this.#started),
      spent: { waiting: this.#waited, ...this.#runner.spent },
      doing,
    };
  }

  /** The next job; null when there was none for a while, or the server did not answer. */
  async #next(): Promise<Msg | null> {
    const wait = this.#queueIsThere ? PULL_MS : FIRST_PULL_MS;
    const pull = JSON.stringify({ batch: 1, expires: wait * 1e6 });
    try {
      const asked = this.#nc.request(`$JS.API.CONSUMER.MSG.NEXT.${STREAM}.${this.#queue}`, pull, {
        timeout: wait + 1000,
        noMux: true, // a job has the subject of its queue, by which the shared inbox would not find the request
      });
      const m = await beforeAbort(asked, this.#signal);
      this.#queueIsThere = true;
      const status = m.headers?.code ?? 0;
      if (status === 0) return m;
      if (status !== 404 && status !== 408) await pause(500); // a deleted queue, or too many that wait
      return null;
    } catch {
      this.#queueIsThere = false;
      if (!this.#signal.aborted && !this.#nc.isClosed()) await this.#makeQueue();
      return null;
    }
  }

  /** Whoever comes first makes the queue; a worker without that right waits for a coordinator. */
  async #makeQueue(): Promise<void> {
    try {
      await openQueue(this.#connected, this.#queue);
    } catch (e) {
      this.#logOnce((e as Error).message);
      await beforeAbort(pause(500), this.#signal).catch(() => {});
    }
  }

  #logged = '';
  #logOnce(text: string): void {
    if (text !== this.#logged) this.#log(text);
    this.#logged = text;
  }

  #stopped(message: Msg | undefined): void {
    const job = this.#doing?.job;
    if (!job || !message || message.subject !== toRun('stop', job.run)) return;
    const task = message.string(); // empty when the whole run is over
    if (task === '' || task === String(job.task)) this.#doing?.stop.abort(new Unwanted('over'));
  }

  async #take(message: Msg): Promise<void> {
    let job: TakenJob;
    try {
      const text = message.string();
      job = { ...readJob(text), digest: digestOf(text) };
    } catch (e) {
      this.#log(`threw a job away: ${(e as Error).message}`);
      return void message.respond('+TERM');
    }
    const stop = new AbortController();
    const since = performance.now();
    this.#doing = { job, since, stop };
    const signs = setInterval(() => message.respond('+WPI'), SIGN_MS);
    const late = setTimeout(
      () => stop.abort(new LimitError(`the part takes more than ${this.#limits.time} ms`)),
      this.#limits.time,
    );
    const either = AbortSignal.any([stop.signal, this.#signal]);
    const begun = this.#begin(job, stop);
    let sending: Promise<void> | null = null;
    try {
      const done = await beforeAbort(this.#runner.run(job, either), either);
      await begun;
      either.throwIfAborted();
      const ms = performance.now() - since;
      this.#done = {
        parts: this.#done.parts + 1,
        evaluations: this.#done.evaluations + done.cost,
        rate: (1000 * done.cost) / Math.max(1, ms),
      };
      sending = this.#send(job, message, done, ms);
    } catch (e) {
      sending = this.#failed(job, message, either.aborted ? either.reason : e);
    } finally {
      clearTimeout(late);
      this.#doing = null;
    }
    const own = sending
      .catch(e => this.#leave(message, e))
      .finally(() => {
        clearInterval(signs);
        this.#sending.delete(own);
      });
    this.#sending.add(own);
    while (this.#sending.size >= MAX_SENDING) await Promise.race(this.#sending);
  }

  #headOf({ task, part, digest }: TakenJob): Begin {
    return { worker: this.#name, task, part, job: digest };
  }

  /** Tells the coordinator who does the part; it may not want it any more. */
  async #begin(job: TakenJob, stop: AbortController): Promise<void> {
    const text = JSON.stringify(this.#headOf(job));
    try {
      const answer = (
        await ask(this.#nc, toRun('begin', job.run), text, stop.signal, BEGIN_MS)
      ).string() as Answer;
      if (answer !== 'go') stop.abort(new Unwanted(answer));
    } catch {
      stop.abort(new Unwanted('gone')); // also when it was stopped already, which changes nothing
    }
  }

  async #send(job: TakenJob, message: Msg, { bytes }: Done, ms: number): Promise<void> {
    const frames = framesOf(bytes);
    const digest = sumsDigest(job.digest, bytes);
    const head: Omit<ResultHead, 'frame'> = { ...this.#headOf(job), frames, ms, digest };
    await eachFrame(0, frames, async frame => {
      await ask(this.#nc, toRun('result', job.run), withHead({ ...head, frame }, frameOf(bytes, frame)));
    });
    message.respond('+ACK');
  }

  /** A part that was not done: it is not wanted, or goes to another worker, or fails for all of them. */
  async #failed(job: TakenJob, message: Msg, error: unknown): Promise<void> {
    if (error instanceof Unwanted || error instanceof CoordinatorGone) return this.#leave(message, error);
    if (this.#signal.aborted) return void message.respond('-NAK');
    if (error instanceof DeviceError) {
      this.#failure = error;
      this.#log(`the device failed: ${error.message}`);
      return void message.respond('-NAK');
    }
    const failed = `${error instanceof Error ? error.message : error}`.slice(0, 1500);
    this.#log(`part ${job.part} of task ${job.task} failed: ${failed}`);
    const head = { ...this.#headOf(job), frame: 0, frames: 1, ms: 0, failed };
    await ask(this.#nc, toRun('result', job.run), withHead(head, new Uint8Array(0)));
    message.respond('+TERM');
  }

  #leave(message: Msg, error: unknown): void {
    message.respond('+TERM');
    if (!(error instanceof Unwanted && error.answer === 'left out')) return;
    this.#log(
      'left out: sums of this machine differ from those of others; its memory or processor may be broken',
    );
    this.#restUntil = performance.now() + REST_MS;
  }
}
