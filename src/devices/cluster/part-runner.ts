/**
 * Runs parts that other machines ask for. Nothing that they send is trusted: bytes are checked against their digest, programs
 * and tasks by their verifiers, and evaluations, memory and time of a part have limits that are this worker's own. What runs
 * is IR; a worker never runs a text that it was sent.
 */
import type { NatsConnection } from '@nats-io/transport-node';
import type { CompiledProgram } from '../../integrand/bound.ts';
import type { Program } from '../../integrand/ir.ts';
import { elementaryMath, specialMath } from '../../integrand/math/common.ts';
import type { Bindings } from '../../integrand/params.ts';
import { decodeProgram } from '../../integrand/verify.ts';
import {
  type IntegralDone,
  type IntegralSums,
  type IntegralsTask,
  WHOLE_EVALUATIONS,
} from '../../tasks/integrals.ts';
import type { SampleTask } from '../../tasks/sample.ts';
import { type Fit, readIntegralsTask, readSampleTask } from '../../tasks/verify.ts';
import type { Device, Session } from '../device.ts';
import { digestOf, eachFrame, Frames, type Get, headOf, unpack } from './packing.ts';
import { type AnySums, readyRegions, readySamples, withCounts } from './parts.ts';
import { FRAME, type Job, MAX_FRAMES, MessageError, toRun } from './protocol.ts';
import { ask } from './requests.ts';

/** What a part may take at most, whoever asks for it. */
export interface Limits {
  /** Evaluations of a part. */
  evaluations: number;
  /** Bytes that its program, params and task take. */
  memory: number;
  /** Milliseconds. */
  time: number;
}

export const DEFAULT_LIMITS: Limits = { evaluations: 1e12, memory: 2 ** 30, time: 600_000 };

/**
 * Solves the integrals of a task on a device; `programs` are the program with the params of each. Methods are no business of
 * devices, so whoever starts a worker brings this (../../whole-integrals.ts).
 */
export type SolveIntegrals = (
  device: Device,
  programs: readonly CompiledProgram[],
  task: IntegralsTask,
  signal: AbortSignal,
) => Promise<IntegralDone[]>;

/** A part that takes more than the worker allows. */
export class LimitError extends Error {
  override readonly name = 'LimitError';
}

/** Bytes of blobs that are kept, and sessions that stay open. */
const MAX_KEPT = 2 ** 28;
const MAX_SESSIONS = 8;

interface Opened {
  session: Session;
  program: Program;
  params: string;
}

/** A part that was fetched and checked. */
export interface PreparedPart {
  /** Evaluations; 0 where nobody knows them. */
  cost: number;
  /** One part at a time: it may bind the program to other params. */
  compute(): Promise<Done>;
}

export interface Done {
  sums: AnySums;
  cost: number;
  /** Milliseconds that the device took. */
  ms: number;
}

export class PartRunner {
  readonly #nc: NatsConnection;
  readonly #device: Device;
  readonly #solve: SolveIntegrals;
  readonly #limits: Limits;
  readonly #blobs = new RecentBytes(MAX_KEPT);
  /** By the digest of the program; the one that was used last is last. */
  readonly #sessions = new Map<string, Opened>();
  #decoded: { digest: string; program: Program } | null = null;
  /** The last iteration. */
  #last: { key: string; task: SampleTask } | null = null;

  constructor(nc: NatsConnection, device: Device, solve: SolveIntegrals, limits: Limits) {
    this.#nc = nc;
    this.#device = device;
    this.#solve = solve;
    this.#limits = limits;
  }

  /** Fetches and checks what a part needs; another one may be computed meanwhile. */
  async prepare(job: Job, signal: AbortSignal): Promise<PreparedPart> {
    const budget = { left: this.#limits.memory };
    const get = (digest: string) => this.#get(job.run, digest, budget, signal);
    const program = this.#sessions.get(job.program)?.program ?? (await this.#program(job, get));
    if (job.what === 'integrals') return this.#integrals(job, program, get, signal);
    const fit = { dims: program.dims, results: program.results.length };
    const given = { first: job.first, count: job.count };
    const part =
      job.what === 'sample'
        ? readySamples(await this.#iteration(job, fit, get), given)
        : readyRegions(job.what, await unpack(job.body, get), given, fit, this.#limits.memory);
    this.#allow(part.cost);
    const compute = async (): Promise<Done> => {
      const { session } = await this.#open(job, get);
      const start = performance.now();
      const sums = await part.run(session, signal);
      return { sums, cost: part.cost, ms: performance.now() - start };
    };
    return { cost: part.cost, compute };
  }

  /** The iteration that a part is of. Its parts come one after another, and to check a million counts takes milliseconds. */
  async #iteration(job: Job, fit: Fit, get: Get): Promise<SampleTask> {
    const key = JSON.stringify([job.program, job.body, job.counts]);
    if (this.#last?.key === key) return this.#last.task;
    const shared = await unpack(job.body, get);
    const task = readSampleTask(job.counts ? withCounts(shared, await unpack(job.counts, get)) : shared, fit);
    if (typeof task.counts !== 'number' && task.counts.window && this.#device.kind !== 'cpu')
      throw new MessageError('counts of a part, of which only CPUs know what to do with them');
    this.#last = { key, task };
    return task;
  }

  /** Whole integrals. */
  async #integrals(job: Job, program: Program, get: Get, signal: AbortSignal): Promise<PreparedPart> {
    const task = readIntegralsTask(await unpack(job.body, get), program.params.length);
    this.#allow(task.integrals.length * WHOLE_EVALUATIONS); // what they can take at most
    const programs = task.integrals.map(({ params }) => boundTo(program, params));
    const compute = async (): Promise<Done> => {
      const start = performance.now();
      const integrals = await this.#solve(this.#device, programs, task, signal);
      const cost = integrals.reduce((n, i) => n + (i?.result.evaluations ?? 0), 0);
      return { sums: { integrals } satisfies IntegralSums, cost, ms: performance.now() - start };
    };
    return { cost: 0, compute };
  }

  #allow(evaluations: number): void {
    if (evaluations > this.#limits.evaluations)
      throw new LimitError(
        `the part takes ${evaluations.toPrecision(3)} evaluations, and this worker allows ${this.#limits.evaluations}`,
      );
  }

  close(): void {
    for (const { session } of this.#sessions.values()) session.close();
    this.#sessions.clear();
  }

  /** The program, which devices know by its object: it is the same one for jobs that follow each other. */
  async #program({ program: digest }: Job, get: Get): Promise<Program> {
    await Promise.all([elementaryMath.load(), specialMath.load()]); // with trigonometricMath: the program was made elsewhere, and may call any function
    if (this.#decoded?.digest !== digest)
      this.#decoded = { digest, program: decodeProgram(await get(digest)) };
    return this.#decoded.program;
  }

  /** The program with the job's params on this worker's device. */
  async #open(job: Job, get: (digest: string) => Promise<Uint8Array>): Promise<Opened> {
    const known = this.#sessions.get(job.program);
    const program = known?.program ?? (await this.#program(job, get));
    const params = 'text' in job.params ? job.params.text : job.params.digest;
    if (known && known.params === params) return this.#use(job.program, known);
    const bound = boundTo(program, await unpack(job.params, get));
    if (known) {
      this.#sessions.delete(job.program); // if binding fails, nobody knows what it is bound to
      await known.session.rebind(bound);
      return this.#use(job.program, { ...known, params });
    }
    return this.#use(job.program, { session: await this.#device.open(bound), program, params });
  }

  #use(digest: string, opened: Opened): Opened {
    this.#sessions.delete(digest);
    this.#sessions.set(digest, opened);
    for (const [other, { session }] of this.#sessions) {
      if (this.#sessions.size <= MAX_SESSIONS) break;
      session.close();
      this.#sessions.delete(other);
    }
    return opened;
  }

  async #get(
    run: string,
    digest: string,
    budget: { left: number },
    signal: AbortSignal,
  ): Promise<Uint8Array> {
    const bytes = this.#blobs.get(digest) ?? (await this.#load(run, digest, budget.left, signal));
    budget.left -= bytes.length;
    if (budget.left < 0) throw this.#tooLarge();
    this.#blobs.set(digest, bytes);
    return bytes;
  }

  async #load(run: string, digest: string, most: number, signal: AbortSignal): Promise<Uint8Array> {
    const frame = async (number: number) => {
      const question = JSON.stringify({ digest, frame: number });
      const { head, bytes } = headOf((await ask(this.#nc, toRun('blob', run), question, signal)).data);
      const { frames } = JSON.parse(head) as { frames?: number };
      if (!Number.isSafeInteger(frames) || frames! < 1 || frames! > MAX_FRAMES)
        throw new MessageError('a blob that the coordinator does not have');
      return { frames: frames!, bytes };
    };
    const first = await frame(0);
    if (first.frames * FRAME > most + FRAME) throw this.#tooLarge();
    const all = new Frames(first.frames);
    all.add(0, first.bytes);
    await eachFrame(1, first.frames, async i => void all.add(i, (await frame(i)).bytes));
    if (digestOf(all.bytes) !== digest) throw new MessageError('a blob that is not what its digest says');
    return all.bytes;
  }

  #tooLarge(): LimitError {
    return new LimitError(
      `the part takes more than the ${this.#limits.memory} bytes that this worker allows`,
    );
  }
}

/** A program with the params of a message, which have to be those that it declares. */
function boundTo(program: Program, list: unknown): CompiledProgram {
  if (!Array.isArray(list) || list.length !== program.params.length) throw new MessageError('other params');
  const params = program.params.map((d, i): [string, number | boolean | Float64Array] => {
    const value: unknown = list[i];
    const fits =
      d.kind === 'array'
        ? value instanceof Float64Array && value.length === d.length
        : typeof value === d.kind;
    if (!fits) throw new MessageError(`a value for the param ${d.name} that is none`);
    return [d.name, value as number];
  });
  return { kind: 'compiled', dims: program.dims, program, params: new Map(params) };
}

/** The values of a program's params, in the order in which it declares them. */
export function paramList(program: Program, params: Bindings): unknown[] {
  return program.params.map(({ name }) => {
    const value = params.get(name)!;
    return typeof value === 'object' ? Float64Array.from(value) : value;
  });
}

/** Byte lists by their digests, up to a number of bytes; those that were used last stay. */
class RecentBytes {
  readonly #kept = new Map<string, Uint8Array>();
  readonly #most: number;
  #bytes = 0;

  constructor(most: number) {
    this.#most = most;
  }

  get(digest: string): Uint8Array | undefined {
    return this.#kept.get(digest);
  }

  set(digest: string, bytes: Uint8Array): void {
    this.#bytes += this.#kept.delete(digest) ? 0 : bytes.length;
    this.#kept.set(digest, bytes);
    for (const [other, own] of this.#kept) {
      if (this.#bytes <= this.#most || this.#kept.size === 1) break;
      this.#kept.delete(other);
      this.#bytes -= own.length;
    }
  }
}
