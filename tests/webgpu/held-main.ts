/** Large tasks that only measure, with maps that are held in workgroup memory or not, beside the reference of the device suite: a line of JSON for each. */
import { variantFor } from '../../src/devices/webgpu/sample-variant.ts';
import { WebGpuDevice } from '../../src/devices/webgpu/webgpu.ts';
import { merge, type SampleTask, wholeOf } from '../../src/tasks/sample.ts';
import { Random } from '../compiler/random.ts';
import { lowerFor } from '../devices/program.ts';
import { reference } from '../devices/reference.ts';

const f = (x: number[]) => {
  let s = 0.7;
  for (let i = 0; i < x.length; i++) s += (i + 1) * x[i] * x[i] - 0.25 * x[i];
  return s;
};

/** `power`: the first bin of each axis is bins^(1 − power) of a bin on average. */
function taskOf(random: Random, dims: number, bins: number, power: number, from: number): SampleTask {
  const edges = new Float64Array(dims * (bins + 1));
  for (let d = 0; d < dims; d++)
    for (let i = 0; i <= bins; i++) edges[d * (bins + 1) + i] = from + (1 + d / 5) * (i / bins) ** power;
  const strata = Array.from({ length: dims }, () => 1 + random.below(3));
  return {
    key: [random.below(2 ** 32), 5],
    iteration: random.below(10),
    stream: 0,
    bins,
    edges,
    strata,
    counts: Math.ceil((2 ** 17 + random.below(1000)) / strata.reduce((a, b) => a * b)),
    unit: 1,
    adapt: null,
  };
}

const off = (a: number, b: number, size: number) => Math.abs(a - b) / (size || 1);
const device = new WebGpuDevice();
const gpu = await device.gpu();
const random = new Random(23);
for (const [dims, bins, power, from] of [
  [1, 1000, 1.3, -0.3],
  [2, 640, 1.2, 0],
  [3, 1024, 1, 30],
  [4, 500, 1.2, -2],
  [6, 64, 1.4, -0.5],
  [2, 1000, 6, -0.3],
  [3, 7, 1.4, 0],
] as const) {
  const task = taskOf(random, dims, bins, power, from);
  const program = lowerFor(f as never, dims);
  const session = await device.open(program);
  const sums = merge(task, [await session.sample(task, wholeOf(task))]);
  const want = reference(task, f);
  console.log(
    JSON.stringify({
      task: `${dims} dimensions, ${bins} bins, edges from ${from} to the power ${power}`,
      held: variantFor(task as never, { gpu, results: 1 } as never).held,
      sum: off(sums.sum, want.sum, Math.abs(want.sum) + Math.sqrt(want.variance)),
      variance: off(sums.variance, want.variance, want.variance),
      evaluations: sums.evaluations - want.evaluations,
    }),
  );
  session.close();
}
await device.close();
