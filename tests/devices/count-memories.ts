/** How many memories of WebAssembly were made, on this thread and in a worker. */
import type { WorkerPool } from '../../src/devices/cpu/worker-pool.ts';
import { JsDevice } from '../../src/devices/js/js.ts';
import { plainFor } from './program.ts';
import { sampled } from './whole.ts';

const { Memory } = WebAssembly;

/** Counts memories that are made on this thread from now on. */
export function countMemories(): { made: number } {
  const count = { made: 0 };
  WebAssembly.Memory = class extends Memory {
    constructor(descriptor: WebAssembly.MemoryDescriptor) {
      super(descriptor);
      count.made++;
    }
  };
  return count;
}

/** Counts them no more. */
export function countNoMore(): void {
  WebAssembly.Memory = Memory;
}

/** A plain function for the worker, where it counts the memories that are made; its value is their number. */
const counting = plainFor(
  () => Number.NaN,
  1,
  {},
  `() => {
    if (globalThis.made === undefined) {
      globalThis.made = 0;
      const { Memory } = WebAssembly;
      WebAssembly.Memory = function (descriptor) { globalThis.made++; return new Memory(descriptor); };
    }
    return globalThis.made;
  }`,
);

/** Memories made in the one worker of a pool since this was first asked. */
export async function madeInWorker(pool: WorkerPool): Promise<number> {
  await pool.firstWorker();
  const session = await new JsDevice(pool).open(counting);
  const { sum } = await sampled(session, {
    key: [1, 2],
    iteration: 0,
    stream: 0,
    bins: 1,
    edges: Float64Array.of(0, 1),
    strata: [1],
    counts: 2 ** 17,
    unit: 1,
    adapt: null,
  });
  session.close();
  return sum;
}
