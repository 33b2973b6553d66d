/**
 * The contract between methods and devices.
 *
 * A device runs an integrand; a session is one integrand with its params on it. A method hands a session parts of tasks
 * (../tasks) and gets sums back, never samples. Tasks, parts and sums are data. The numbers in the sums depend on task and
 * part alone: a device may spread a part over as many workers as it likes.
 *
 * A device decides nothing about statistics, and a method knows nothing of workers, memory or kernels. To write a device,
 * implement `sample`, `regions` and `witness`: learning and pools of regions are there for all (tasks/host-learning.ts,
 * tasks/pool/host-pool.ts), unless a session brings its own.
 */
import type { BoundProgram } from '../integrand/bound.ts';
import type { HeavyCubes, HeavyLimits } from '../tasks/heavy.ts';
import type { IntegralList, SolvedIntegral } from '../tasks/integrals.ts';
import type { Learning } from '../tasks/learning.ts';
import type { Part } from '../tasks/part.ts';
import type { PoolTask, RegionPool } from '../tasks/pool/pool.ts';
import type { RegionSums, RegionTask } from '../tasks/region.ts';
import type { PartSums, SampleTask } from '../tasks/sample.ts';
import type { WitnessSums, WitnessTask } from '../tasks/witness.ts';

export interface Device {
  /** As it is written in results: `cpu`, `js`. */
  readonly name: string;
  /** Devices of one kind give the same bits for the same part: `cpu`, `cuda`. */
  readonly kind: string;
  /** Half the distance from 1 to the next number: 2^-53 for float64, 2^-24 for float32. */
  readonly epsilon: number;
  /** Whether it takes functions as they are; otherwise they are compiled for it. */
  readonly takesFunctions?: boolean;
  /** Whether its sessions have `integrals`: it is many machines. */
  readonly solvesIntegrals?: boolean;
  /** Throws what would make each `open` fail, such as a server that does not answer: a scan says it once, not once per integral. */
  prepare?(): Promise<void>;
  /** Makes an integrand ready to run. */
  open(program: BoundProgram, options?: OpenOptions): Promise<Session>;
  /** Frees everything; the device cannot be used any more. */
  close(): Promise<void>;
}

export interface OpenOptions {
  /** Other sessions run beside this one: work should not wait for the whole device. */
  shared?: boolean;
}

export interface Session {
  /** Where it really runs, for results: `cpu`, `js on this thread`. */
  readonly description: string;
  /** What a result should tell of the device: cards that failed on the way, for instance. */
  readonly warnings?: readonly string[];
  /**
   * Samples some groups of an iteration. The signal ends the work: the promise is rejected with its reason. `following`: so many tasks are
   * likely to come next that differ from this one only by their iteration, which is one more each time; a session may sample them along.
   */
  sample(task: SampleTask, part: Part, signal?: AbortSignal, following?: number): Promise<PartSums>;
  /** Applies a cubature rule to some regions of a list; to each of several results. */
  regions(task: RegionTask, part: Part, signal?: AbortSignal): Promise<RegionSums>;
  /** Lets random points confirm or contradict what a rule made of some regions of a list, for one result. */
  witness(task: WitnessTask, part: Part, signal?: AbortSignal): Promise<WitnessSums>;
  /** Samples a whole task, and finds the cubes that matter by itself; without it, tasks/heavy.ts looks at the means of all cubes. */
  heavy?(task: SampleTask, limits: HeavyLimits, signal?: AbortSignal): Promise<HeavyCubes>;
  /** Learning in the device's own memory; without it, tasks/host-learning.ts does it. */
  readonly learning?: Learning | undefined;
  /**
   * A pool of regions in the device's own memory; without it, tasks/pool/host-pool.ts does it, as it does for integrands with
   * several results.
   */
  pool?(task: PoolTask, signal?: AbortSignal): Promise<RegionPool>;
  /**
   * Solves whole integrals of the integrand, with other params: for devices that are many machines. It tells of each that it
   * has solved; all others are left to the caller, who has them solved in parts.
   */
  integrals?(
    list: IntegralList,
    tell: (index: number, solved: SolvedIntegral) => void,
    signal?: AbortSignal,
  ): Promise<void>;
  /**
   * For devices whose numbers are not float64: how far the integral of each result may be off because of that, by what the last tasks
   * were about. Measured, and called at the end of a run.
   */
  noise?(signal?: AbortSignal): Promise<readonly number[]>;
  /** The same integrand with other params, from the next task on. */
  rebind(program: BoundProgram): Promise<void>;
  /** Frees what the session holds. */
  close(): void;
}

/** What is wrong with a device, and not with the run: another device may go on with its work. */
export class DeviceError extends Error {
  override name = 'DeviceError';
}
