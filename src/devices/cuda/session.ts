/**
 * One integrand on a card: the methods' tasks as kernels. Points are those of the CPU device, and sums are added in an
 * order that depends on the task alone: same seed, same bits, run after run.
 *
 * Every task waits for its turn on the card. What a session has there is made by its first task. Kernels are compiled
 * before that turn, those of one kind of task side by side, and what learning needs while the first samples are drawn.
 */
import type {
  Allocation,
  AxisMap,
  DeviceIntegrand,
  PoolTask,
  Refinement,
  RegionPool,
  RegionSums,
  RegionTask,
  SampleSums,
  SampleTask,
  Session,
} from '../device.ts';
import type { Card } from './card.ts';
import { LEARNING } from './learning.ts';
import { CudaPool, poolRecipes } from './pool.ts';
import { PoolInTurns } from './pool-in-turns.ts';
import { type CompiledIntegrand, CudaProgram, type Recipe } from './program.ts';
import { CudaRegions } from './regions.ts';
import { CudaSampling } from './sampling.ts';

/** What a session has on its card. */
export interface Parts {
  program: CudaProgram;
  sampling: CudaSampling;
  regions: CudaRegions;
}

export class CudaSession implements Session {
  readonly card: Card;
  readonly description: string;
  #integrand: CompiledIntegrand;
  #parts: Parts | null = null;
  /** Kinds of tasks whose kernels are compiled, or about to be. */
  readonly #kinds = new Map<string, Promise<void> | null>();
  /** Whether the card has the params. */
  #bound = false;
  /** Of the last task: what comes between tasks belongs to the same run. */
  #signal: AbortSignal | undefined;

  constructor(card: Card, integrand: CompiledIntegrand) {
    this.card = card;
    this.description = `${card.name} (${card.info.name})`;
    this.#integrand = integrand;
  }

  async sample(task: SampleTask): Promise<SampleSums> {
    // what is wrong with these shows when they are needed
    if (task.adapt) this.#compiled('learning', undefined, () => LEARNING).catch(() => {});
    await this.#compiled('samples', task.signal, ({ sampling }) => [sampling.recipe(task)]);
    return this.use(task.signal, ({ sampling }) => sampling.sample(task));
  }

  async allocate(beta: number, evaluations: number): Promise<Allocation> {
    await this.#compiled('learning', this.#signal, () => LEARNING);
    return this.use(this.#signal, async ({ sampling }) => sampling.learning.allocate(beta, evaluations));
  }

  async refine(how: Refinement): Promise<AxisMap> {
    await this.#compiled('learning', this.#signal, () => LEARNING);
    return this.use(this.#signal, async ({ sampling }) => sampling.refine(how));
  }

  async edgesOf(map: AxisMap): Promise<Float64Array> {
    if (map instanceof Float64Array) return map;
    return this.use(this.#signal, async ({ sampling }) => sampling.learning.edgesOf(map));
  }

  async regions(task: RegionTask): Promise<RegionSums> {
    await this.#compiled('regions', task.signal, ({ regions }) => [regions.recipe(task.rule)]);
    return this.use(task.signal, ({ regions }) => regions.evaluate(task));
  }

  async pool(task: PoolTask): Promise<RegionPool> {
    const { signal, rule } = task;
    await this.#compiled('pool', signal, ({ program, regions }) => [
      ...poolRecipes(program),
      regions.recipe(rule),
    ]);
    const own = await this.use(signal, async ({ program, regions }) => new CudaPool(program, regions, task));
    return new PoolInTurns(own, this.card, signal);
  }

  async rebind(integrand: DeviceIntegrand): Promise<void> {
    this.#integrand = integrand as CompiledIntegrand;
    this.#bound = false;
  }

  close(): void {
    const parts = this.#parts;
    this.#parts = null;
    if (!parts) return;
    this.card.turns.between(() => {
      parts.program.close();
    });
  }

  /** Runs a task in its turn, with what the session has on the card. */
  use<T>(signal: AbortSignal | undefined, task: (parts: Parts) => Promise<T>): Promise<T> {
    this.#signal = signal;
    return this.card.run(signal, async () => {
      this.#parts ??= this.#made();
      if (!this.#bound) this.#parts.program.bind(this.#integrand);
      this.#bound = true;
      return task(this.#parts);
    });
  }

  /** Waits until the kernels of a kind of task are compiled. The signal ends the waiting. */
  async #compiled(
    kind: string,
    signal: AbortSignal | undefined,
    recipes: (parts: Parts) => readonly Recipe[],
  ): Promise<void> {
    if (this.#kinds.get(kind) === null) return;
    this.#parts ??= this.#made();
    const job = this.#kinds.get(kind) ?? this.#parts.program.compileAhead(recipes(this.#parts));
    this.#kinds.set(kind, job);
    await beforeAbort(job, signal);
    this.#kinds.set(kind, null);
  }

  #made(): Parts {
    const program = new CudaProgram(this.card, this.#integrand);
    return { program, sampling: new CudaSampling(program), regions: new CudaRegions(program) };
  }
}

/** What comes of a promise, unless the signal aborts before. */
async function beforeAbort<T>(work: Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return work;
  signal.throwIfAborted();
  let leave = () => {};
  const aborted = new Promise<never>((_, reject) => {
    leave = () => reject(signal.reason);
    signal.addEventListener('abort', leave, { once: true });
  });
  return Promise.race([work, aborted]).finally(() => signal.removeEventListener('abort', leave));
}
