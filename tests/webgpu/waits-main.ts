/** How often a run of VEGAS+ calls the driver, in a process that finds one: prints a line of JSON for each of two runs. */
import { WebGpuDevice } from '../../src/devices/webgpu/webgpu.ts';
import { integrate } from '../../src/index.ts';

// a clock that is a thousand times too slow: dispatches count as quick, as they are on a GPU, also where the CPU is busy
const now = performance.now.bind(performance);
performance.now = () => now() / 1000;

const device = new WebGpuDevice();
const gpu = await device.gpu();
const calls = { submissions: 0, buffers: 0, bindGroups: 0 };
const { queue } = gpu.device;
const own = {
  submit: queue.submit.bind(queue),
  createBuffer: gpu.device.createBuffer.bind(gpu.device),
  createBindGroup: gpu.device.createBindGroup.bind(gpu.device),
};
queue.submit = buffers => {
  calls.submissions++;
  return own.submit(buffers);
};
gpu.device.createBuffer = what => {
  calls.buffers++;
  return own.createBuffer(what);
};
gpu.device.createBindGroup = what => {
  calls.bindGroups++;
  return own.createBindGroup(what);
};

for (let run = 0; run < 2; run++) {
  const before = { ...calls, waits: gpu.waits.count };
  const { iterations, evaluations } = await integrate(
    ([a, b, c, d]) => 1 / (0.1 + (a - 0.4) * (a - 0.4) + b * c * d),
    {
      dims: 4,
      device,
      method: 'vegas+',
      relTol: 0,
      maxEvaluations: 1e9,
      vegas: { evaluations: 4000, iterations: 20, adapt: 10 },
    },
  );
  const found = { ...calls, waits: gpu.waits.count };
  const told = Object.entries(found).map(([name, n]) => [name, n - before[name as keyof typeof before]]);
  console.log(JSON.stringify({ iterations: iterations.length, evaluations, ...Object.fromEntries(told) }));
}
await device.close();
