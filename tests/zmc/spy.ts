/** A device that does what the CPU does and remembers the samples it was asked for. */
import { CpuDevice } from '../../src/devices/cpu/cpu.ts';
import type { Device, SampleTask, Session } from '../../src/devices/device.ts';

export interface Spy extends Device {
  tasks: SampleTask[];
}

export function spyDevice(workers = 1): Spy {
  const cpu = new CpuDevice(workers);
  const tasks: SampleTask[] = [];
  return {
    name: 'spy',
    tasks,
    close: () => cpu.close(),
    async open(integrand, options) {
      const session = await cpu.open(integrand, options);
      const own: Session = {
        description: 'spy',
        regions: task => session.regions(task),
        allocate: (beta, evaluations) => session.allocate(beta, evaluations),
        refine: how => session.refine(how),
        edgesOf: map => session.edgesOf(map),
        rebind: integrand => session.rebind(integrand),
        close: () => session.close(),
        sample(task) {
          tasks.push(task);
          return session.sample(task);
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
