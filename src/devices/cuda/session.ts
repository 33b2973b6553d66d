/**
 * One integrand on a card: the methods' tasks as kernels. Points are those of the CPU device, and sums are added in an
 * order that depends on the task alone: same seed, same bits, run after run.
 *
 * Every task waits for its turn on the card. What a session has there is made by its first task.
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
import { CudaPool } from './pool.ts';
import { PoolInTurns } from './pool-in-turns.ts';
import { type CompiledIntegrand, CudaProgram } from './program.ts';
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
  /** Whether the card has the params. */
  #bound = false;
  /** Of the last task: what comes between tasks belongs to the same run. */
  #signal: AbortSignal | undefined;

  constructor(card: Card, integrand: CompiledIntegrand) {
    this.card = card;
    this.description = `${card.name} (${card.info.name})`;
    this.#integrand = integrand;
  }

  sample(task: SampleTask): Promise<SampleSums> {
    return this.use(task.signal, ({ sampling }) => sampling.sample(task));
  }

  allocate(beta: number, evaluations: number): Promise<Allocation> {
    return this.use(this.#signal, async ({ sampling }) => sampling.learning.allocate(beta, evaluations));
  }

  refine(how: Refinement): Promise<AxisMap> {
    return this.use(this.#signal, async ({ sampling }) => sampling.refine(how));
  }

  async edgesOf(map: AxisMap): Promise<Float64Array> {
    if (map instanceof Float64Array) return map;
    return this.use(this.#signal, async ({ sampling }) => sampling.learning.edgesOf(map));
  }

  regions(task: RegionTask): Promise<RegionSums> {
    return this.use(task.signal, ({ regions }) => regions.evaluate(task));
  }

  async pool(task: PoolTask): Promise<RegionPool> {
    const { signal } = task;
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

  #made(): Parts {
    const program = new CudaProgram(this.card, this.#integrand);
    return { program, sampling: new CudaSampling(program), regions: new CudaRegions(program) };
  }
}
