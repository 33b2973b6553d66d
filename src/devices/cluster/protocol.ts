/**
 * What machines of a cluster say to each other, over a NATS server.
 *
 *     quadrille.job.<queue>.<run>.<task>.<part>   a part to do: JetStream, one work queue per kind of device and release
 *     quadrille.begin.<run>     request: a worker has taken a part. Answer: go on, or it is not wanted (any more)
 *     quadrille.blob.<run>      request: what a job names by its digest, a frame at a time
 *     quadrille.result.<run>    request: the sums of a part, a frame at a time; answered when they are in the coordinator's memory
 *     quadrille.stop.<run>      the run is over: parts of it that are under way may end
 *     quadrille.who             request to all workers: who they are, and what they are doing; a worker that starts claims its name with it
 *
 * A job is less than 4 KB: it names program, params, map and counts by their digests. A worker acknowledges a job after the
 * coordinator has confirmed its sums. Nobody answers for a run whose coordinator is gone: the server says so at once ("no
 * responders"), and the worker removes the job from the queue.
 *
 * The queue's name has the kind of device, the protocol, the version of the IR and the release: another release may
 * give other bits for the same part, so its workers have a queue of their own.
 */
import { IR_VERSION } from '../../integrand/ir.ts';

/** The version of these messages. */
export const PROTOCOL = 3;
/** The release, as in package.json; `tests/cluster/protocol.test.ts` compares them. */
export const RELEASE = '0.1.0';
/** The stream that holds all jobs. */
export const STREAM = 'quadrille-jobs';
/** A worker that says nothing for so long has lost its job to another, in milliseconds; it says so every SIGN_MS. */
export const ACK_WAIT_MS = 10_000;
export const SIGN_MS = 3_000;
/** How often a job is handed to a worker before the run fails: one that kills workers must not kill all. */
export const MAX_DELIVER = 4;
/** Bytes of a job, and of a frame; a message of NATS has 1 MB at most, unless the server is told otherwise. */
export const MAX_JOB = 4096;
export const FRAME = 512 * 1024;

export const WHO = 'quadrille.who';
export const jobSubject = (queue: string, run: string, task: number, part: number) =>
  `quadrille.job.${queue}.${run}.${task}.${part}`;
export const jobsOf = (queue: string) => `quadrille.job.${queue}.>`;
export const toRun = (what: 'begin' | 'blob' | 'result' | 'stop', run: string) => `quadrille.${what}.${run}`;

/** The name of the queue for devices of this kind, which is that of its consumer too. */
export const queueOf = (kind: string): string =>
  `${kind.replace(/[^\w+-]/g, '_')}-${PROTOCOL}-${IR_VERSION}-${RELEASE.replaceAll('.', '_')}`;

/** What a part is of. */
export type TaskKind = 'sample' | 'regions' | 'witness' | 'integrals';
const TASK_KINDS: readonly string[] = ['sample', 'regions', 'witness', 'integrals'] satisfies TaskKind[];

/** A text, or the digest of one. */
export type Packed = { text: string } | { digest: string };

export interface Job {
  protocol: number;
  run: string;
  /** The number of the task in its run, and of the part in its task. */
  task: number;
  part: number;
  what: TaskKind;
  /** The groups, regions or integrals of the part. */
  first: number;
  count: number;
  /** The digest of the program's bytes. */
  program: string;
  params: Packed;
  /** The task; of lists of regions and integrals, only those of the part. */
  body: Packed;
  /** The samples of the cubes of the part, where the task is without them. */
  counts?: Packed;
}

/** Who a worker is, and what it does. */
export interface Worker {
  name: string;
  /** Of this process, chosen at random: by it a worker knows its own answer; releases of other protocols may not say. */
  id?: string;
  /** It does not know yet whether it may have its name. */
  starting?: boolean;
  kind: string;
  queue: string;
  protocol: number;
  release: string;
  /** The device, for people. */
  device: string;
  epsilon: number;
  /** Parts and evaluations since it began, and evaluations per second of the last part. */
  parts: number;
  evaluations: number;
  rate: number;
  /** Milliseconds since it began, and what most of them went into; releases of other protocols may not say. */
  uptime: number;
  spent?: Spent;
  /** What it does now; null when it waits for work. */
  doing: { run: string; task: number; part: number; ms: number } | null;
}

/** Milliseconds of a worker that waited for jobs, made parts ready (fetching, checking, compiling) and computed them. */
export interface Spent {
  waiting: number;
  preparing: number;
  computing: number;
}

/** A worker has begun with a part. */
export interface Begin {
  worker: string;
  task: number;
  part: number;
  /** The digest of the job as the worker has read it: the coordinator knows what it has asked for. */
  job: string;
}

/** What stands before the bytes of the frames of a result. */
export interface ResultHead extends Begin {
  /** The number of this frame, and of all. */
  frame: number;
  frames: number;
  /** Milliseconds that the part took. */
  ms: number;
  /** The digest of the job and of all bytes together. */
  digest: string;
  /** Why there are none. */
  failed?: string;
}

/** How a coordinator answers a worker. */
export type Answer = 'go' | 'done' | 'again' | 'more' | 'left out';

/** A message that is none of this protocol. */
export class MessageError extends Error {
  override readonly name = 'MessageError';
}

const TOKEN = /^[\w-]{1,64}$/;
const DIGEST = /^[0-9a-f]{64}$/;
/** Names of workers are shown to people, and stand in lists. */
const NAME = /^[\w.@:+-]{1,100}$/;
export const isWorkerName = (name: string): boolean => NAME.test(name);

export function readJob(text: string): Job {
  const j = parsed(text, MAX_JOB);
  if (j.protocol !== PROTOCOL) throw new MessageError(`a job of protocol ${String(j.protocol).slice(0, 20)}`);
  need(matches(TOKEN, j.run), 'run');
  need(TASK_KINDS.includes(j.what as string), 'what');
  for (const name of ['task', 'part', 'first', 'count']) need(isCount(j[name]), name);
  need(matches(DIGEST, j.program), 'program');
  return {
    protocol: PROTOCOL,
    run: j.run as string,
    task: j.task as number,
    part: j.part as number,
    what: j.what as TaskKind,
    first: j.first as number,
    count: j.count as number,
    program: j.program as string,
    params: readPacked(j.params),
    body: readPacked(j.body),
    ...(j.counts !== undefined && { counts: readPacked(j.counts) }),
  };
}

function readPacked(value: unknown): Packed {
  const p = (value ?? {}) as Record<string, unknown>;
  if (typeof p.text === 'string') return { text: p.text };
  need(matches(DIGEST, p.digest), 'digest');
  return { digest: p.digest as string };
}

/** A worker that says it has begun with a part. */
export function readBegin(text: string): Begin {
  const b = parsed(text, MAX_JOB);
  need(matches(NAME, b.worker) && isCount(b.task) && isCount(b.part), 'begin');
  need(matches(DIGEST, b.job), 'job');
  return { worker: b.worker as string, task: b.task as number, part: b.part as number, job: b.job as string };
}

/** A question for a frame of a blob. */
export function readBlobQuestion(text: string): { digest: string; frame: number } {
  const b = parsed(text, MAX_JOB);
  need(matches(DIGEST, b.digest) && isCount(b.frame), 'blob');
  return { digest: b.digest as string, frame: b.frame as number };
}

export function readResultHead(text: string): ResultHead {
  const h = parsed(text, MAX_JOB);
  const begin = readBegin(text);
  need(isCount(h.frame) && isCount(h.frames) && (h.frames as number) <= MAX_FRAMES, 'frames');
  need(h.failed === undefined ? matches(DIGEST, h.digest) : typeof h.failed === 'string', 'digest');
  const ms = Number.isFinite(h.ms) && (h.ms as number) >= 0 ? (h.ms as number) : 0;
  return {
    ...begin,
    frame: h.frame as number,
    frames: h.frames as number,
    ms,
    digest: String(h.digest ?? ''),
    ...(h.failed !== undefined && { failed: (h.failed as string).slice(0, 2000) }),
  };
}

/** Frames of a blob or a result, at most: 1 GiB. */
export const MAX_FRAMES = 2 ** 30 / FRAME;

export function readWorker(text: string): Worker {
  const w = parsed(text, MAX_JOB);
  need(matches(NAME, w.name), 'name');
  for (const name of ['kind', 'queue', 'release', 'device']) need(typeof w[name] === 'string', name);
  for (const name of ['protocol', 'epsilon', 'parts', 'evaluations', 'rate', 'uptime'])
    need(Number.isFinite(w[name]), name);
  const doing = w.doing as Worker['doing'];
  need(doing === null || (typeof doing?.run === 'string' && Number.isFinite(doing.ms)), 'doing');
  return w as unknown as Worker;
}

function parsed(text: string, most: number): Record<string, unknown> {
  if (text.length > most) throw new MessageError(`a message of ${text.length} characters`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new MessageError('a message that is no JSON');
  }
  need(typeof value === 'object' && value !== null && !Array.isArray(value), 'object');
  return value as Record<string, unknown>;
}

const matches = (pattern: RegExp, value: unknown): boolean =>
  typeof value === 'string' && pattern.test(value);
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;

function need(condition: boolean, what: string): asserts condition {
  if (!condition) throw new MessageError(`a message without a valid '${what}'`);
}
