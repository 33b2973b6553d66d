/** Random small tasks on WebGPU beside the reference of the device suite, in a process that finds a driver: prints a line of JSON for each. */
import type { Session } from '../../src/devices/device.ts';
import { Pace } from '../../src/devices/webgpu/pace.ts';
import { WebGpuDevice } from '../../src/devices/webgpu/webgpu.ts';
import {
  listed,
  merge,
  type PartSums,
  type SampleSums,
  type SampleTask,
  wholeOf,
} from '../../src/tasks/sample.ts';
import { Random } from '../compiler/random.ts';
import { lowerFor } from '../devices/program.ts';
import { reference } from '../devices/reference.ts';

// a dispatch counts as quick, so that iterations which follow are sampled along also where the CPU is busy
performance.now = () => 0;

/** So many dispatches per task, at least: those of one group each, where a task has more groups. */
let most = Infinity;
let dispatches = 0;
const own = Pace.prototype.runBut;
Pace.prototype.runBut = function (gpu, count, each, allowed, commands, record, signal) {
  const counted: typeof record = (...args) => {
    dispatches++;
    record(...args);
  };
  return own.call(this, gpu, count, each, Math.min(allowed, most), commands, counted, signal);
};

const F = {
  sum: (x: number[]) => {
    let s = 0.7;
    for (let i = 0; i < x.length; i++) s += (i + 1) * x[i] * x[i] - 0.25 * x[i];
    return s;
  },
  holes: (x: number[]) => (x[0] > 0.5 ? Math.sqrt(-x[0]) : 1 + x[0] * x[x.length - 1]),
};

function randomTask(random: Random, dims: number): SampleTask {
  const strata = Array.from({ length: dims }, () => (random.chance(0.6) ? 1 + random.below(4) : 1));
  const cubes = strata.reduce((a, b) => a * b, 1);
  const each = 2 ** (1 + 15 * random.unit()) / cubes;
  const power = 4 * random.unit();
  const uneven = Uint32Array.from({ length: cubes }, () => 2 + Math.floor(2 * each * random.unit() ** power));
  if (random.chance(0.4)) uneven[cubes >> 1] = 2 + random.below(9000);
  const bins = random.pick([1, 7, 64, 1000]);
  const edges = new Float64Array(dims * (bins + 1));
  for (let d = 0; d < dims; d++)
    for (let i = 0; i <= bins; i++) edges[d * (bins + 1) + i] = (1 + d / 5) * (i / bins) ** 1.4 - 0.3;
  const adapt = random.chance(0.6) ? { scale: 2 ** 20, variances: random.chance(0.5) } : null;
  return {
    key: [random.below(2 ** 32), 5],
    iteration: random.below(10),
    stream: 0,
    bins,
    edges,
    strata,
    counts: random.chance(0.7) ? listed(uneven) : Math.max(2, Math.floor(each)),
    unit: 1,
    adapt,
    cubes: !adapt && random.chance(0.5),
  };
}

const off = (a: number, b: number, size: number) => Math.abs(a - b) / (size || 1);
const largest = (list: Float64Array | null) => list?.reduce((most, v) => Math.max(most, Math.abs(v)), 0) ?? 0;
const farthest = (a: Float64Array | null, b: Float64Array | null) =>
  a && b ? Math.max(...a.map((v, i) => off(v, b[i], largest(b)))) : Number(a !== b);

const device = new WebGpuDevice();
const { queue } = (await device.gpu()).device;
let submissions = 0;
const submit = queue.submit.bind(queue);
queue.submit = buffers => {
  submissions++;
  return submit(buffers);
};

/** Three iterations behind one, alone and along with it: do they have the same bits, and how many submissions does it take? */
async function following(session: Session, task: SampleTask) {
  const next = [1, 2, 3].map(i => ({ ...task, iteration: task.iteration + i }));
  const sample = (own: SampleTask, along = 0) => session.sample(own, wholeOf(own), undefined, along);
  const alone: PartSums[] = [];
  for (const own of next) alone.push(await sample(own));
  submissions = 0;
  await sample(task, 3);
  const along: PartSums[] = [];
  for (const own of next) along.push(await sample(own));
  return { followingAlong: submissions, followingSame: text(along) === text(alone) };
}

const random = new Random(11);
for (const dims of [1, 3, 6])
  for (const name of ['sum', 'holes'] as const) {
    const f = F[name];
    const session = await device.open(lowerFor(f as never, dims));
    for (let i = 0; i < 5; i++) {
      const task = randomTask(random, dims);
      const sample = async () => session.sample(task, wholeOf(task));
      const part = await sample();
      most = 1;
      dispatches = 0;
      const cut = await sample();
      most = Infinity;
      const sums: SampleSums = merge(task, [part]);
      const want = reference(task, f);
      const { counts, strata, bins } = task;
      console.log(
        JSON.stringify({
          task: `${name}, strata ${strata}, ${bins} bins, ${typeof counts === 'number' ? counts : 'own counts'}`,
          sum: off(sums.sum, want.sum, Math.abs(want.sum) + Math.sqrt(want.variance)),
          variance: Math.max(
            off(sums.variance, want.variance, want.variance),
            farthest(sums.variances, want.variances),
          ),
          // a rounded square may be the next integer
          histogram: Math.max(
            0,
            farthest(sums.histogram, want.histogram) - 2 / (largest(want.histogram) || 1),
          ),
          evaluations: sums.evaluations - want.evaluations,
          nonFinite:
            sums.nonFinite?.count === want.nonFinite?.count &&
            sums.nonFinite?.first.point.every((x, d) => off(x, want.nonFinite!.first.point[d], 1) < 1e-6) !==
              false,
          dispatches,
          holes: sums.nonFinite !== null,
          sameBits: text(part) === text(cut),
          ...(task.adapt || task.cubes ? {} : await following(session, task)),
        }),
      );
    }
    session.close();
  }
await device.close();

/** Typed arrays as lists. */
function text(value: unknown): string {
  return JSON.stringify(value, (_, v) =>
    ArrayBuffer.isView(v) ? Array.from(v as unknown as ArrayLike<number>) : v,
  );
}
