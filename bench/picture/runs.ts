/**
 * The runs that the picture of the README shows: an arc with a narrow peak, integrated by vegas+, pagani and plain Monte Carlo on
 * a device that remembers the tasks it was asked for. Seeds are fixed, so the picture is the same wherever it is made.
 */
import { type IntegrateOptions, integrate } from 'quadrille';
import { CpuDevice } from '../../src/devices/cpu/cpu.ts';
import type { Device, Session } from '../../src/devices/device.ts';
import { drawSamples } from '../../src/tasks/draw.ts';
import { allRegions, type RegionTask } from '../../src/tasks/region.ts';
import type { PlainTask, SampleTask } from '../../src/tasks/sample.ts';

/** The arc: a part of a ring of radius 0.7 around the corner, brightest where x is 0.5. */
const arc = ([x, y]: number[]) => {
  const r = Math.hypot(x, y);
  return Math.exp(-(((r - 0.7) / 0.02) ** 2) - ((x - 0.5) / 0.13) ** 2);
};

export interface Point {
  evaluations: number;
  /** The error that the run claims, over the value. */
  error: number;
}

/** An iteration of vegas+: the edges of its map, per axis, and some of its sample points. */
export interface Sampled {
  edges: readonly (readonly number[])[];
  points: readonly (readonly [number, number])[];
}

/** A region: its centre and half its width per axis, and the mean of the integrand over it. */
export interface Region {
  centre: readonly [number, number];
  half: readonly [number, number];
  mean: number;
}

export interface Runs {
  sampled: Sampled[];
  /** All regions that stand after each list that was evaluated. */
  regions: Region[][];
  curves: { name: string; points: Point[] }[];
}

/** Lines of the map that are drawn per axis; between two of them lie as many samples everywhere. */
const LINES = 28;

export async function runs(): Promise<Runs> {
  const sampled: Sampled[] = [];
  const regions: Region[][] = [];
  const onSample = (task: SampleTask) => {
    if (task.adapt || sampled.length === 0) sampled.push(sampledBy(task as PlainTask));
  };
  const vegas = await curve('vegas+', 1e-4, recording({ sample: onSample }));
  let standing: Region[] = [];
  const pagani = await curve(
    'pagani',
    1e-8,
    recording({
      regions(task, means) {
        standing = after(standing, task, means);
        regions.push(standing);
      },
    }),
  );
  const plain = await curve('plain', 5e-3, new CpuDevice(1));
  return { sampled, regions, curves: [pagani, vegas, plain] };
}

async function curve(name: string, relTol: number, device: Device): Promise<Runs['curves'][number]> {
  const points: Point[] = [];
  const options: IntegrateOptions = { dims: 2, method: name as 'plain', relTol, device, seed: 7 };
  await integrate(arc, {
    ...options,
    onProgress({ evaluations, value, error }) {
      if (value > 0 && error > 0) points.push({ evaluations, error: error / value });
    },
  });
  await device.close();
  return { name, points };
}

interface Heard {
  sample?(task: SampleTask): void;
  regions?(task: RegionTask, values: ArrayLike<number>): void;
}

/** The CPU, with somebody who hears what it is asked for. */
function recording(heard: Heard): Device {
  const device = new CpuDevice(1);
  const recorded = (session: Session): Session => ({
    description: session.description,
    sample(task, part, signal) {
      heard.sample?.(task);
      return session.sample(task, part, signal);
    },
    async regions(task, part, signal) {
      const sums = await session.regions(task, part, signal);
      heard.regions?.(task, sums.values);
      return sums;
    },
    witness: (...args) => session.witness(...args),
    rebind: program => session.rebind(program),
    close: () => session.close(),
  });
  return {
    name: device.name,
    kind: device.kind,
    epsilon: device.epsilon,
    open: async (...args) => recorded(await device.open(...args)),
    close: () => device.close(),
  };
}

function sampledBy(task: PlainTask): Sampled {
  const { bins, edges } = task;
  const edgeAt = (d: number, t: number) => {
    const bin = Math.min(Math.floor(t * bins), bins - 1);
    const [low, high] = [edges[d * (bins + 1) + bin], edges[d * (bins + 1) + bin + 1]];
    return low + (t * bins - bin) * (high - low);
  };
  const points: [number, number][] = [];
  for (const { points: drawn, n } of drawSamples(task, 4096))
    for (let i = 0; i < n; i++) points.push([drawn[i], drawn[n + i]]);
  return {
    edges: [0, 1].map(d => Array.from({ length: LINES + 1 }, (_, k) => edgeAt(d, k / LINES))),
    points,
  };
}

/** The regions that stand after a list of new ones was evaluated: a new one takes the place of the one that holds its centre. */
function after(standing: readonly Region[], task: RegionTask, values: ArrayLike<number>): Region[] {
  const { count, centres, levels } = task;
  const fresh = Array.from({ length: allRegions(task).count }, (_, i): Region => {
    const half = [0.5 * 2 ** -levels[i], 0.5 * 2 ** -levels[count + i]] as const;
    return { centre: [centres[i], centres[count + i]], half, mean: values[i] / (4 * half[0] * half[1]) };
  });
  const holds = (r: Region, p: Region) => r.centre.every((c, d) => Math.abs(p.centre[d] - c) < r.half[d]);
  return [...standing.filter(r => !fresh.some(f => holds(r, f))), ...fresh];
}
