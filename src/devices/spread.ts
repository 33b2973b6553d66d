/**
 * Several devices as one: several cards, several kinds. Parts of a task are handed out to whoever is free, and their sums are
 * put together by tasks/sample.ts and tasks/region.ts with the same bits for any cut into parts. So devices of one kind give
 * the bits of one of them; with several kinds bits depend on who did what, and the result says so.
 *
 * Each device has a measured rate, kept from task to task. A device that asks for work gets half of what is its share of
 * the rest by these rates: large parts first, small ones at the end, so that all end together. A device that would hold up
 * the others with even the smallest part gets none.
 *
 * A device that fails (DeviceError) is left out from then on, with a warning, and its part goes to the others.
 *
 * What VEGAS learns is learned by the first device that is left, if it has learning of its own and all are of one kind, and
 * sent to all of them as numbers; otherwise on the host.
 */
import type { BoundProgram } from '../integrand/bound.ts';
import { ruleFor } from '../tasks/every-rule.ts';
import type { Learning, Refinement } from '../tasks/learning.ts';
import type { Part } from '../tasks/part.ts';
import { mergeRegions, type RegionSums, type RegionTask } from '../tasks/region.ts';
import {
  type AxisMap,
  type Counts,
  merge,
  mergeParts,
  type PartSums,
  plan,
  type SampleSums,
  type SampleTask,
} from '../tasks/sample.ts';
import { mergeWitnesses, type WitnessSums, type WitnessTask, witnessCost } from '../tasks/witness.ts';
import { type Device, DeviceError, type OpenOptions, type Session } from './device.ts';

/** Evaluations of the first part of a device whose rate is not known, at most. */
const PROBE = 2 ** 17;
/** Evaluations of a part at least, unless it is the rest. */
const SMALLEST = 2 ** 14;
/** The part of its share of the rest that a device gets at once. */
const SHARE = 0.5;

export class Spread implements Device {
  readonly name: string;
  readonly kind: string;
  readonly epsilon: number;
  readonly #devices: readonly Device[];
  readonly #warnings: readonly string[];

  /** `warnings` say which devices are missing from the start. */
  constructor(devices: readonly Device[], warnings: readonly string[] = []) {
    this.#devices = devices;
    this.name = devices.map(d => d.name).join(', ');
    const kinds = [...new Set(devices.map(d => d.kind))];
    this.kind = kinds.join('+');
    this.epsilon = Math.max(...devices.map(d => d.epsilon));
    const mixed = `${kinds.join(' and ')} shared the work: the last digits depend on which of them did what`;
    this.#warnings = kinds.length > 1 ? [mixed, ...warnings] : warnings;
  }

  async open(program: BoundProgram, options?: OpenOptions): Promise<Session> {
    const sessions: Session[] = [];
    try {
      for (const d of this.#devices) sessions.push(await d.open(program, options));
    } catch (e) {
      for (const s of sessions) s.close();
      throw e;
    }
    const members = sessions.map((session, i): Member => ({ session, device: this.#devices[i], rate: 0 }));
    return new SpreadSession(members, this.#warnings);
  }

  async close(): Promise<void> {
    await Promise.all(this.#devices.map(d => d.close()));
  }
}

interface Member {
  session: Session;
  device: Device;
  /** Evaluations per millisecond, of the last part that it did; 0 when it has done none. */
  rate: number;
}

class SpreadSession implements Session {
  readonly learning: Learning | undefined;
  readonly #all: readonly Member[];
  #left: Member[];
  readonly #found: readonly string[];
  #warnings: string[] = [];

  constructor(members: Member[], warnings: readonly string[]) {
    this.#all = members;
    this.#left = [...members];
    this.#found = warnings;
    const kinds = new Set(members.map(m => m.device.kind));
    const learns = kinds.size === 1 && members.every(m => m.session.learning);
    this.learning = learns ? new FirstLearning(task => this.#first(task)) : undefined;
  }

  get description(): string {
    return this.#left.map(m => m.session.description).join(', ');
  }

  get warnings(): readonly string[] {
    return [...this.#found, ...this.#left.flatMap(m => m.session.warnings ?? []), ...this.#warnings];
  }

  async sample(task: SampleTask, part: Part, signal?: AbortSignal): Promise<PartSums> {
    const keeps = !!task.adapt?.keep;
    const own: SampleTask = keeps ? { ...task, adapt: { ...task.adapt!, keep: false } } : task;
    const parts = await this.#share(part, plan(task).size, signal, (session, p, stop) =>
      session.sample(own, p, stop),
    );
    const sums = mergeParts(own, part, parts);
    if (!keeps) return sums;
    await this.learning!.learn(own, merge(own, [sums]));
    return { ...sums, histogram: null, cubes: null };
  }

  async regions(task: RegionTask, part: Part, signal?: AbortSignal): Promise<RegionSums> {
    const { points } = ruleFor(task.ranges.length, task.rule);
    const parts = await this.#share(part, points, signal, (session, p, stop) =>
      session.regions(task, p, stop),
    );
    return mergeRegions(part, parts);
  }

  async witness(task: WitnessTask, part: Part, signal?: AbortSignal): Promise<WitnessSums> {
    const each = witnessCost(task) / task.count;
    const parts = await this.#share(part, each, signal, (session, p, stop) => session.witness(task, p, stop));
    return mergeWitnesses(part, parts);
  }

  async rebind(program: BoundProgram): Promise<void> {
    this.#warnings = []; // told with the result before
    await Promise.all(this.#left.map(m => m.session.rebind(program)));
  }

  close(): void {
    for (const m of this.#all) m.session.close();
  }

  /** Does all of a part; `each` is the evaluations of a group or region. */
  async #share<T>(
    whole: Part,
    each: number,
    signal: AbortSignal | undefined,
    run: (session: Session, part: Part, signal: AbortSignal | undefined) => Promise<T>,
  ): Promise<T[]> {
    const done: T[] = [];
    const stop = new AbortController();
    const either = signal ? AbortSignal.any([signal, stop.signal]) : stop.signal;
    // what nobody has begun, and what devices that failed have left
    const rest = [whole];
    const missing = () => rest.reduce((n, p) => n + p.count, 0);
    let failure: { error: unknown } | null = null;
    const work = async (member: Member): Promise<void> => {
      while (!failure) {
        const count = this.#sizeFor(member, missing() * each, each);
        const part = count > 0 && take(rest, count);
        if (!part) return;
        const start = performance.now();
        try {
          done.push(await run(member.session, part, either));
        } catch (error) {
          rest.push(part);
          if (error instanceof DeviceError) return this.#leave(member, error);
          failure ??= { error };
          return stop.abort(error); // what the others are doing is of no use
        }
        member.rate = (part.count * each) / Math.max(0.01, performance.now() - start);
      }
    };
    // a device that fails leaves work behind when others may have nothing to do already
    while (rest.length > 0 && !failure) {
      if (this.#left.length === 1) await work(this.#left[0]);
      else await Promise.all(this.#left.map(work));
    }
    if (failure) throw (failure as { error: unknown }).error;
    return done;
  }

  /** How many groups or regions a member should take of a rest of so many evaluations. */
  #sizeFor(member: Member, rest: number, each: number): number {
    const known = this.#left.every(m => m.rate > 0);
    const rates = this.#left.map(m => (known ? m.rate : 1));
    const own = known ? member.rate : 1;
    const all = rates.reduce((a, b) => a + b, 0);
    const share = (SHARE * rest * own) / all;
    if (member.rate === 0) return Math.ceil(Math.min(PROBE, share) / each);
    const least = Math.min(rest, Math.max(SMALLEST, each));
    if (least / own > rest / Math.max(...rates)) return 0; // the fastest one alone is done sooner
    return Math.ceil(Math.max(least, share) / each);
  }

  #leave(member: Member, error: DeviceError): void {
    this.#left = this.#left.filter(m => m !== member);
    if (this.#left.length === 0) throw error;
    this.#warnings.push(`${member.device.name} was left out: ${error.message}`);
  }

  /** Runs something on the first member that does not fail. */
  async #first<T>(task: (session: Session) => Promise<T>): Promise<T> {
    for (;;) {
      const [member] = this.#left;
      try {
        return await task(member.session);
      } catch (error) {
        if (!(error instanceof DeviceError)) throw error;
        this.#leave(member, error);
      }
    }
  }
}

/** Takes up to `count` groups or regions off a list of parts. */
function take(rest: Part[], count: number): Part | null {
  const part = rest.pop();
  if (!part || part.count <= count) return part ?? null;
  rest.push({ first: part.first + count, count: part.count - count });
  return { first: part.first, count };
}

/** Learning by the first device that is left. It is told everything anew each time, and gives numbers back: it may be lost. */
class FirstLearning implements Learning {
  readonly #first: <T>(task: (session: Session) => Promise<T>) => Promise<T>;
  #learned: { task: SampleTask; sums: SampleSums } | null = null;

  constructor(first: <T>(task: (session: Session) => Promise<T>) => Promise<T>) {
    this.#first = first;
  }

  async learn(task: SampleTask, sums: SampleSums): Promise<void> {
    this.#learned = { task, sums };
  }

  refine(how: Refinement): Promise<AxisMap> {
    return this.#ask(async learning => learning.edgesOf(await learning.refine(how)));
  }

  allocate(beta: number, evaluations: number): Promise<Counts> {
    return this.#ask(async learning => {
      const counts = await learning.allocate(beta, evaluations);
      return { ...counts, each: await learning.countsOf(counts) };
    });
  }

  async edgesOf(map: AxisMap): Promise<Float64Array> {
    return map as Float64Array;
  }

  async countsOf(counts: Counts): Promise<Uint32Array> {
    return counts.each as Uint32Array;
  }

  #ask<T>(question: (learning: Learning) => Promise<T>): Promise<T> {
    if (!this.#learned) throw new Error('nothing was learned yet');
    const { task, sums } = this.#learned;
    return this.#first(async ({ learning }) => {
      await learning!.learn(task, sums);
      return question(learning!);
    });
  }
}
