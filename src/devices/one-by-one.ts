/**
 * Regions and witnesses of an integrand with several results: one pass per result, each by a session whose program is narrowed
 * to that result. So the kernels are those of scalar integrands, and a result has the bits that it has alone. A GPU has no room in
 * its registers for several results: a warp of CUDA keeps 2·(1 + null rules) sums per result. What results share is computed once
 * per result.
 */
import type { CompiledProgram } from '../integrand/bound.ts';
import { withResults } from '../integrand/optimise.ts';
import type { Part } from '../tasks/part.ts';
import { joinResults, type RegionSums, type RegionTask } from '../tasks/region.ts';
import type { WitnessSums, WitnessTask } from '../tasks/witness.ts';
import { beforeAbort } from './before-abort.ts';

/** What it needs of a session with one result. */
export interface SingleSession {
  /** Compiles the kernels that a task of regions needs. */
  compileRegions(task: RegionTask, signal?: AbortSignal): Promise<void>;
  regions(task: RegionTask, part: Part, signal?: AbortSignal): Promise<RegionSums>;
  witness(task: WitnessTask, part: Part, signal?: AbortSignal): Promise<WitnessSums>;
  noise?(signal?: AbortSignal): Promise<readonly number[]>;
  rebind(program: CompiledProgram): Promise<void>;
  close(): void;
}

export class OneByOne {
  readonly #open: (program: CompiledProgram) => SingleSession;
  readonly #sessions = new Map<number, SingleSession>();
  #integrand: CompiledProgram;

  constructor(integrand: CompiledProgram, open: (program: CompiledProgram) => SingleSession) {
    this.#integrand = integrand;
    this.#open = open;
  }

  async regions(task: RegionTask, part: Part, signal?: AbortSignal): Promise<RegionSums> {
    const sessions = this.#integrand.program.results.map((_, r) => this.#session(r));
    // one wait for all of them: Node warns of a signal's eleventh listener
    await beforeAbort(Promise.all(sessions.map(s => s.compileRegions(task))), signal);
    const passes: RegionSums[] = [];
    for (const s of sessions) passes.push(await s.regions(task, part, signal));
    return joinResults(passes);
  }

  witness(task: WitnessTask, part: Part, signal?: AbortSignal): Promise<WitnessSums> {
    return this.#session(task.result ?? 0).witness(task, part, signal);
  }

  /** The noise of each result; 0 of those that no task was about. */
  async noise(signal?: AbortSignal): Promise<readonly number[]> {
    const all: number[] = [];
    for (const r of this.#integrand.program.results.keys())
      all.push((await this.#sessions.get(r)?.noise?.(signal))?.[0] ?? 0);
    return all;
  }

  async rebind(program: CompiledProgram): Promise<void> {
    this.#integrand = program;
    for (const [r, session] of this.#sessions) await session.rebind(this.#narrowed(r));
  }

  close(): void {
    for (const session of this.#sessions.values()) session.close();
    this.#sessions.clear();
  }

  #session(result: number): SingleSession {
    const session = this.#sessions.get(result) ?? this.#open(this.#narrowed(result));
    this.#sessions.set(result, session);
    return session;
  }

  #narrowed(result: number): CompiledProgram {
    return { ...this.#integrand, program: withResults(this.#integrand.program, [result]) };
  }
}
