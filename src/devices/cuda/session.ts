/**
 * One integrand on a card: the methods' tasks as kernels. Points are those of the CPU device, and sums are added in an
 * order that depends on the task alone: same seed, same bits, run after run.
 */
import type {
  Allocation,
  AxisMap,
  DeviceIntegrand,
  Refinement,
  RegionSums,
  RegionTask,
  SampleSums,
  SampleTask,
  Session,
} from '../device.ts';
import type { Card } from './card.ts';
import { type CompiledIntegrand, CudaProgram } from './program.ts';
import { CudaRegions } from './regions.ts';
import { CudaSampling } from './sampling.ts';

export class CudaSession implements Session {
  readonly description: string;
  readonly #program: CudaProgram;
  readonly #sampling: CudaSampling;
  readonly #regions: CudaRegions;

  constructor(card: Card, name: string, integrand: CompiledIntegrand) {
    this.description = `${name} (${card.info.name})`;
    this.#program = new CudaProgram(card, integrand);
    this.#sampling = new CudaSampling(this.#program);
    this.#regions = new CudaRegions(this.#program);
  }

  sample(task: SampleTask): Promise<SampleSums> {
    return this.#sampling.sample(task);
  }

  allocate(beta: number, evaluations: number): Promise<Allocation> {
    return this.#sampling.allocate(beta, evaluations);
  }

  refine(how: Refinement): Promise<AxisMap> {
    return this.#sampling.refine(how);
  }

  edgesOf(map: AxisMap): Promise<Float64Array> {
    return this.#sampling.edgesOf(map);
  }

  regions(task: RegionTask): Promise<RegionSums> {
    return this.#regions.evaluate(task);
  }

  async rebind(integrand: DeviceIntegrand): Promise<void> {
    this.#program.bind(integrand as CompiledIntegrand);
  }

  close(): void {
    this.#regions.close();
    this.#program.close();
  }
}
