/**
 * A worker of a cluster: takes parts from the queue for its kind of device, does them, and sends their sums to the coordinator.
 *
 * It computes one part at a time. Shortly before one ends it asks for the next job, and fetches what that needs, so that the device
 * does not wait; not earlier, because another worker may be free sooner. Sums are sent while the next part is under way.
 *
 * While it has a job it tells the server every SIGN_MS that it lives; the integrating happens on threads of the device, so this
 * thread has time for that. A job is acknowledged when the coordinator has the sums; if the worker dies before, the server hands the job
 * to another after ACK_WAIT_MS.
 */
import type { Msg, NatsConnection } from '@nats-io/transport-node';
import { beforeAbort } from '../before-abort.ts';
import { type Device, DeviceError } from '../device.ts';
import { ClusterError } from './cluster-error.ts';
import { type Connected, connect, type ServerOptions } from './connection.ts';
import { JobSource } from './job-source.ts';
import { digestOf, eachFrame, frameOf, framesOf, sumsDigest, toBytes, withHead } from './packing.ts';
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
  type Spent,
  toRun,
  WHO,
  type Worker,
} from './protocol.ts';
import { ask, CoordinatorGone, pause } from './requests.ts';
import { refusalError, refusedToWorker } from './rights.ts';
import { checkName, checkRights, defaultName, NameClaim } from './worker-checks.ts';

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

/** With so many jobs, of which one is computed and sums of the others are on their way, no further one is taken. */
const MAX_OPEN = 3;
/** Round trips from asking for a job until it is ready: the job, and two lists that it names. */
const TRIPS = 3;
/** So long a coordinator may take to say that a part is wanted; others may listen to a run that is over. */
const BEGIN_MS = 10_000;
/** For so long a worker takes no jobs after it was left out. */
const REST_MS = 30_000;

/** When the signal ends the worker, sums that are on their way have so long, in milliseconds: the server may be away. */
const LEAVE_MS = 2000;

/** Works until the signal ends it, or the device fails. */
export async function work(options: WorkerOptions): Promise<void> {
  const name = options.name ?? defaultName();
  checkName(name);
  const connected = await connect(options, name);
  const worker = new ClusterWorker(connected, name, options);
  try {
    await worker.run();
  } finally {
    worker.close();
    await connected.close();
  }
}

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

/** A job that was taken, when, and how it is ended. */
interface Doing {
  job: Job;
  since: number;
  stop: AbortController;
}

/** Something that happens once, and may be waited for. */
function moment(): { promise: Promise<void>; happens: () => void } {
  let happens = () => {};
  const promise = new Promise<void>(resolve => {
    happens = resolve;
  });
  return { promise, happens };
}

class ClusterWorker {
  readonly #nc: NatsConnection;
  readonly #connected: Connected;
  readonly #id = digestOf(crypto.randomUUID()).slice(0, 12);
  #name: string;
  readonly #claim: NameClaim;
  readonly #device: Device;
  readonly #runner: PartRunner;
  readonly #limits: Limits;
  /** Whether somebody has chosen the name. */
  readonly #given: boolean;
  readonly #log: (text: string) => void;
  readonly #signal: AbortSignal;
  /** Aborted LEAVE_MS after the signal. */
  readonly #left = new AbortController();
  readonly #started = performance.now();
  readonly #source: JobSource;
  /** The part that is computed, and the one that is made ready meanwhile. */
  readonly #doing = new Set<Doing>();
  #done = { parts: 0, evaluations: 0, rate: 0 };
  readonly #spent: Spent = { waiting: 0, preparing: 0, computing: 0 };
  /** When the device was last free. */
  #freeSince = performance.now();
  /** Milliseconds of the last request to a coordinator. */
  #trip = 1;
  /** Jobs that were taken and not yet acknowledged. */
  readonly #open = new Set<Promise<void>>();
  /** Until then it takes no jobs, because a coordinator has left it out. */
  #restUntil = 0;
  /** The device's failure, which ends the worker. */
  #failure: DeviceError | null = null;

  constructor(connected: Connected, name: string, options: WorkerOptions) {
    const { device, solve, limits, log, signal } = options;
    this.#connected = connected;
    this.#nc = connected.nc;
    this.#name = name;
    this.#claim = new NameClaim(name, this.#id);
    this.#given = options.name !== undefined;
    this.#device = device;
    this.#limits = { ...DEFAULT_LIMITS, ...limits };
    this.#runner = new PartRunner(connected.nc, device, solve, this.#limits);
    this.#log = log ?? (() => {});
    this.#signal = signal ?? new AbortController().signal;
    this.#signal.addEventListener('abort', () => setTimeout(() => this.#left.abort(), LEAVE_MS).unref(), {
      once: true,
    });
    this.#source = new JobSource(connected, queueOf(device.kind), this.#signal, this.#log);
  }

  async run(): Promise<void> {
    const nc = this.#nc;
    // a subscription that is refused calls back with an error, and no message
    nc.subscribe(WHO, { callback: (e, m) => void (e || this.#answer(m)) });
    nc.subscribe('quadrille.stop.*', { callback: (e, m) => void (e || this.#stopped(m)) });
    await nc.flush(); // a request that comes before the server knows of a subscription is lost
    for (const w of this.#connected.warnings) this.#log(w);
    await this.#check();
    await this.#source.open();
    this.#log(`${this.#name} waits for work at ${this.#connected.server} with ${this.#device.name}`);
    let free: Promise<void> = Promise.resolve();
    while (!this.#signal.aborted && !this.#failure && !nc.isClosed()) {
      const rest = this.#restUntil - performance.now();
      if (rest > 0) await beforeAbort(pause(rest), this.#signal).catch(() => {});
      const message = await this.#source.next();
      if (!message) continue;
      const { computed, nearEnd } = this.#take(message, free);
      free = computed;
      await nearEnd;
      while (this.#open.size >= MAX_OPEN) await Promise.race(this.#open);
    }
    await free;
    await Promise.all(this.#open);
    if (this.#failure) throw this.#failure;
  }

  close(): void {
    for (const { stop } of this.#doing) stop.abort(new Unwanted('over'));
    this.#runner.close();
  }

  /** Ends a worker that could do no work, or would do it in the name of another one; and listens to the connection from then on. */
  async #check(): Promise<void> {
    const { server, listener } = this.#connected;
    const found = await checkRights(this.#connected, this.#source.queue, this.#claim);
    if (!this.#claim.settled(found)) {
      if (this.#given)
        throw new ClusterError(`another worker at ${server} is called ${this.#name}; choose another --name`);
      this.#name += `-${this.#id.slice(0, 4)}`; // containers may have the name of their machine, and all the same number
    }
    listener.refused = refusal => {
      if (refusedToWorker([refusal])) this.#failure ??= refusalError(server, refusal, 'workers');
    };
    listener.lost = () => this.#log(`${server} is out of reach; waits for it to come back`);
    listener.back = () => this.#log(`${server} is back`);
  }

  #answer(question: Msg): void {
    this.#claim.heard(question.string());
    question.respond(JSON.stringify(this.#self()));
  }

  #self(): Worker {
    const { parts, evaluations, rate } = this.#done;
    const [now] = this.#doing;
    const doing = now && {
      run: now.job.run,
      task: now.job.task,
      part: now.job.part,
      ms: Math.round(performance.now() - now.since),
    };
    return {
      name: this.#name,
      id: this.#id,
      starting: this.#claim.pending,
      kind: this.#device.kind,
      queue: this.#source.queue,
      protocol: PROTOCOL,
      release: RELEASE,
      device: this.#device.name,
      epsilon: this.#device.epsilon,
      parts,
      evaluations,
      rate,
      uptime: Math.round(performance.now() - this.#started),
      spent: this.#spent,
      doing: doing ?? null,
    };
  }

  #stopped(message: Msg): void {
    const task = message.string(); // empty when the whole run is over
    for (const { job, stop } of this.#doing)
      if (message.subject === toRun('stop', job.run) && (task === '' || task === String(job.task)))
        stop.abort(new Unwanted('over'));
  }

  /**
   * Takes a job, which is computed when the device is `free`. `computed` resolves when the device is free again, `nearEnd` when
   * it is time to ask for the next job.
   */
  #take(message: Msg, free: Promise<void>): { computed: Promise<void>; nearEnd: Promise<void> } {
    let job: TakenJob;
    try {
      const text = message.string();
      job = { ...readJob(text), digest: digestOf(text) };
    } catch (e) {
      this.#log(`threw a job away: ${(e as Error).message}`);
      message.respond('+TERM');
      return { computed: free, nearEnd: Promise.resolve() };
    }
    const [computed, nearEnd] = [moment(), moment()];
    const own = this.#do(job, message, free, computed.happens, nearEnd.happens);
    const sent = own.finally(() => this.#open.delete(sent));
    this.#open.add(sent);
    return { computed: computed.promise, nearEnd: nearEnd.promise };
  }

  /** Does a job, and sends its sums; does not reject. */
  async #do(
    job: TakenJob,
    message: Msg,
    free: Promise<void>,
    computed: () => void,
    nearEnd: () => void,
  ): Promise<void> {
    const doing: Doing = { job, since: performance.now(), stop: new AbortController() };
    const { stop, since } = doing;
    this.#doing.add(doing);
    const signs = setInterval(() => message.respond('+WPI'), SIGN_MS);
    const timers: NodeJS.Timeout[] = [];
    const either = AbortSignal.any([stop.signal, this.#signal]);
    const begun = this.#begin(job, stop);
    const compute = async () => {
      const prepared = await this.#runner.prepare(job, either);
      await free;
      either.throwIfAborted();
      if (this.#failure) throw this.#failure;
      const start = performance.now();
      this.#spent.waiting += Math.max(0, since - this.#freeSince);
      this.#spent.preparing += start - Math.max(since, this.#freeSince);
      const late = new LimitError(`the part takes more than ${this.#limits.time} ms`);
      timers.push(setTimeout(() => stop.abort(late), this.#limits.time));
      const expected = this.#expected(prepared.cost);
      if (expected > 0) timers.push(setTimeout(nearEnd, Math.max(expected / 2, expected - this.#lead)));
      return prepared.compute().finally(() => {
        this.#freeSince = performance.now();
        this.#spent.computing += this.#freeSince - start;
      });
    };
    const done = beforeAbort(compute(), either);
    const over = () => {
      for (const t of timers) clearTimeout(t);
      this.#doing.delete(doing);
      computed();
      nearEnd();
    };
    const failed = (e: unknown) => {
      if (e instanceof DeviceError) this.#failure ??= e; // before the loop takes another job
      return free;
    };
    done.catch(failed).then(over, over);
    try {
      await Promise.all([done, begun]);
      either.throwIfAborted();
      await this.#send(job, message, await done).catch(e => this.#leave(message, e));
    } catch (e) {
      const reason = either.aborted ? either.reason : e;
      await this.#failed(job, message, reason).catch(e => this.#leave(message, e));
    }
    clearInterval(signs);
  }

  /** Milliseconds that so many evaluations should take; 0 when that is not known. */
  #expected(evaluations: number): number {
    return this.#done.rate > 0 ? (1000 * evaluations) / this.#done.rate : 0;
  }

  /** So long before the end of a part the next job is asked for. */
  get #lead(): number {
    return 1 + TRIPS * this.#trip;
  }

  #headOf({ task, part, digest }: TakenJob): Begin {
    return { worker: this.#name, task, part, job: digest };
  }

  /** Tells the coordinator who does the part; it may not want it any more. */
  async #begin(job: TakenJob, stop: AbortController): Promise<void> {
    const text = JSON.stringify(this.#headOf(job));
    const start = performance.now();
    try {
      const answer = (
        await ask(this.#nc, toRun('begin', job.run), text, stop.signal, BEGIN_MS)
      ).string() as Answer;
      this.#trip = performance.now() - start;
      if (answer !== 'go') stop.abort(new Unwanted(answer));
    } catch {
      stop.abort(new Unwanted('gone')); // also when it was stopped already, which changes nothing
    }
  }

  async #send(job: TakenJob, message: Msg, { sums, cost, ms }: Done): Promise<void> {
    const { parts, evaluations } = this.#done;
    this.#done = {
      parts: parts + 1,
      evaluations: evaluations + cost,
      rate: (1000 * cost) / Math.max(1, ms),
    };
    const bytes = toBytes(sums);
    const frames = framesOf(bytes);
    const digest = sumsDigest(job.digest, bytes);
    const head: Omit<ResultHead, 'frame'> = { ...this.#headOf(job), frames, ms, digest };
    await eachFrame(0, frames, async frame => {
      await this.#tell(job, withHead({ ...head, frame }, frameOf(bytes, frame)));
    });
    message.respond('+ACK');
  }

  #tell(job: TakenJob, result: Uint8Array): Promise<Msg> {
    return ask(this.#nc, toRun('result', job.run), result, this.#left.signal);
  }

  /** A part that was not done: it is not wanted, or goes to another worker, or fails for all of them. */
  async #failed(job: TakenJob, message: Msg, error: unknown): Promise<void> {
    if (error instanceof Unwanted || error instanceof CoordinatorGone) return this.#leave(message, error);
    if (this.#signal.aborted) return void message.respond('-NAK');
    if (error instanceof DeviceError) {
      this.#log(`the device failed: ${error.message}`);
      return void message.respond('-NAK');
    }
    const failed = `${error instanceof Error ? error.message : error}`.slice(0, 1500);
    this.#log(`part ${job.part} of task ${job.task} failed: ${failed}`);
    const head = { ...this.#headOf(job), frame: 0, frames: 1, ms: 0, failed };
    await this.#tell(job, withHead(head, new Uint8Array(0)));
    message.respond('+TERM');
  }

  #leave(message: Msg, error: unknown): void {
    message.respond(this.#left.signal.aborted ? '-NAK' : '+TERM'); // its sums did not arrive: another worker may have it
    if (!(error instanceof Unwanted && error.answer === 'left out')) return;
    this.#log(
      'left out: sums of this machine differ from those of others; its memory or processor may be broken',
    );
    this.#restUntil = performance.now() + REST_MS;
  }
}
