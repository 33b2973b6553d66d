/**
 * An example of a device: it evaluates points in plain JavaScript, and leaves all the rest to what is there for every
 * device. A device that has a better way to evaluate many points, on a card, on another machine, is written like this.
 */
import type {
  BoundProgram,
  Device,
  EvaluatePoints,
  Part,
  PartSums,
  RegionSums,
  RegionTask,
  SampleTask,
  Session,
  WitnessSums,
  WitnessTask,
} from '../../src/index.ts';
import { evaluatorOf, regionPoints, samplePoints, witnessPoints } from '../../src/index.ts';

export class ExampleDevice implements Device {
  readonly name = 'example';
  readonly kind = 'example';
  /** Its numbers are float64. */
  readonly epsilon = 2 ** -53;

  async open(program: BoundProgram): Promise<Session> {
    return new ExampleSession(program);
  }

  async close(): Promise<void> {}
}

class ExampleSession implements Session {
  readonly description = 'example';
  #evaluate: EvaluatePoints;

  constructor(program: BoundProgram) {
    this.#evaluate = evaluatorOf(program);
  }

  /** Samples groups `part.first` to `part.first + part.count` of an iteration. */
  sample(task: SampleTask, part: Part, signal?: AbortSignal): Promise<PartSums> {
    return samplePoints(task, part, this.#points(signal));
  }

  /** Applies a cubature rule to some regions of a list. */
  regions(task: RegionTask, part: Part, signal?: AbortSignal): Promise<RegionSums> {
    return regionPoints(task, part, this.#points(signal));
  }

  /** Lets random points confirm or contradict what the rule made of some regions. */
  witness(task: WitnessTask, part: Part, signal?: AbortSignal): Promise<WitnessSums> {
    return witnessPoints(task, part, this.#points(signal));
  }

  /** The same integrand with other params. */
  async rebind(program: BoundProgram): Promise<void> {
    this.#evaluate = evaluatorOf(program);
  }

  close(): void {}

  #points(signal: AbortSignal | undefined): EvaluatePoints {
    return (points, n) => {
      signal?.throwIfAborted();
      return this.#evaluate(points, n);
    };
  }
}
