/**
 * A function as it is, where there is no WebAssembly for the kernels that draw points and add up values: all of it in
 * plain JavaScript (tasks/pointwise.ts), on the calling thread. Sums agree with those of the kernels to rounding.
 */
import type { BoundProgram, PlainProgram } from '../../integrand/bound.ts';
import type { PlainValue } from '../../integrand/plain.ts';
import { type EvaluatePoints, inRows } from '../../tasks/evaluate.ts';
import type { Part } from '../../tasks/part.ts';
import { regionPoints, samplePoints, witnessPoints } from '../../tasks/pointwise.ts';
import type { RegionSums, RegionTask } from '../../tasks/region.ts';
import type { PartSums, SampleTask } from '../../tasks/sample.ts';
import type { WitnessSums, WitnessTask } from '../../tasks/witness.ts';
import { beforeAbort } from '../before-abort.ts';
import type { Session } from '../device.ts';
import { dueTurn } from '../event-loop.ts';

export class PointwiseSession implements Session {
  readonly description = 'js on this thread';
  readonly warnings = [
    'there is no WebAssembly: points were drawn in plain JavaScript on the calling thread, which takes longer',
  ];
  #program: PlainProgram;

  constructor(program: PlainProgram) {
    this.#program = program;
  }

  async sample(task: SampleTask, part: Part, signal?: AbortSignal): Promise<PartSums> {
    return samplePoints(task, part, this.#values(signal));
  }

  async regions(task: RegionTask, part: Part, signal?: AbortSignal): Promise<RegionSums> {
    return regionPoints(task, part, this.#values(signal));
  }

  async witness(task: WitnessTask, part: Part, signal?: AbortSignal): Promise<WitnessSums> {
    return witnessPoints(task, part, this.#values(signal));
  }

  async rebind(program: BoundProgram): Promise<void> {
    this.#program = program as PlainProgram;
  }

  close(): void {}

  #values(signal: AbortSignal | undefined): EvaluatePoints {
    const { dims, call } = this.#program;
    return async (points, n) => {
      signal?.throwIfAborted();
      const found: (PlainValue | Promise<PlainValue>)[] = [];
      for (let i = 0; i < n; i++) {
        const turn = dueTurn();
        if (turn) await beforeAbort(turn, signal);
        try {
          found.push(call.f(Array.from({ length: dims }, (_, d) => points[d * n + i])));
        } catch (e) {
          found.push(Promise.reject(e)); // not thrown, since promises of other points may be pending
          break;
        }
      }
      return inRows(await beforeAbort(Promise.all(found), signal));
    };
  }
}
