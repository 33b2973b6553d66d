/** A device that does what the CPU does and remembers which regions it was asked for; or one that makes its answers up. */
import { CpuDevice } from '../../src/devices/cpu/cpu.ts';
import type { Device, Session } from '../../src/devices/device.ts';
import type { RegionSums, RegionTask } from '../../src/tasks/region.ts';

export interface Spy extends Device {
  tasks: RegionTask[];
}

/** `answer` instead of the CPU's: values, errors and axes of the regions of a task. */
export function spyDevice(answer?: (task: RegionTask) => Omit<RegionSums, 'part'>): Spy {
  const cpu = new CpuDevice(1);
  const tasks: RegionTask[] = [];
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
        sample: (task, part, signal) => session.sample(task, part, signal),
        witness: (task, part, signal) => session.witness(task, part, signal),
        rebind: bound => session.rebind(bound),
        close: () => session.close(),
        async regions(task, part, signal) {
          signal?.throwIfAborted();
          tasks.push(task);
          return answer ? { ...answer(task), part } : session.regions(task, part, signal);
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
