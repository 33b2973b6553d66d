/** A device that does what the CPU does and remembers which regions it was asked for; or one that makes its answers up. */
import { CpuDevice } from '../../src/devices/cpu/cpu.ts';
import type { Device, RegionSums, RegionTask, Session } from '../../src/devices/device.ts';

export interface Spy extends Device {
  tasks: RegionTask[];
}

/** `answer` instead of the CPU's: values, errors and axes of the regions of a task. */
export function spyDevice(answer?: (task: RegionTask) => RegionSums): Spy {
  const cpu = new CpuDevice(1);
  const tasks: RegionTask[] = [];
  return {
    name: 'spy',
    tasks,
    close: () => cpu.close(),
    async open(integrand, options) {
      const session = await cpu.open(integrand, options);
      const own: Session = {
        description: 'spy',
        sample: task => session.sample(task),
        allocate: (beta, evaluations) => session.allocate(beta, evaluations),
        refine: how => session.refine(how),
        edgesOf: map => session.edgesOf(map),
        rebind: integrand => session.rebind(integrand),
        close: () => session.close(),
        async regions(task) {
          task.signal?.throwIfAborted();
          tasks.push(task);
          return answer ? answer(task) : session.regions(task);
        },
      };
      return own;
    },
  };
}

/** The regions of a task: a row of [low, high] an axis. */
export function boxesOf({ count, centres, levels, ranges }: RegionTask): [number, number][][] {
  return Array.from({ length: count }, (_, i) =>
    ranges.map(([low, high], d): [number, number] => {
      const half = ((high - low) / 2) * 2 ** -levels[d * count + i];
      return [centres[d * count + i] - half, centres[d * count + i] + half];
    }),
  );
}
