/** A device that does what the CPU does and remembers the samples it was asked for. */
import { CpuDevice } from '../../src/devices/cpu/cpu.ts';
import type { Device, Session } from '../../src/devices/device.ts';
import type { SampleTask } from '../../src/tasks/sample.ts';

export interface Spy extends Device {
  tasks: SampleTask[];
}

export function spyDevice(workers = 1): Spy {
  const cpu = new CpuDevice(workers);
  const tasks: SampleTask[] = [];
  return {
    name: 'spy',
    kind: 'spy',
    epsilon: cpu.epsilon,
    tasks,
    close: () => cpu.close(),
    async open(program, options) {
      const session = await cpu.open(program, options);
      const own: Session = {
        description: 'spy',
        regions: (task, part, signal) => session.regions(task, part, signal),
        witness: (task, part, signal) => session.witness(task, part, signal),
        rebind: bound => session.rebind(bound),
        close: () => session.close(),
        sample(task, part, signal) {
          tasks.push(task);
          return session.sample(task, part, signal);
        },
      };
      return own;
    },
  };
}

/** The box that a task samples; its map has one bin an axis. */
export const boxOf = ({ edges, strata }: SampleTask): [number, number][] =>
  strata.map((_, d) => [(edges as Float64Array)[2 * d], (edges as Float64Array)[2 * d + 1]]);

/** Evaluations of a task whose blocks all have as many. */
export const evaluationsOf = ({ strata, counts }: SampleTask): number =>
  strata.reduce((a, b) => a * b, 1) * (counts as number);
