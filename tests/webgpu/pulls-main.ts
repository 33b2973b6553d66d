/** Pulls, (value − truth)/error, of runs on WebGPU with many seeds, in a process that finds a driver: prints them as lines of JSON. */
import { WebGpuDevice } from '../../src/devices/webgpu/webgpu.ts';
import { integrate } from '../../src/index.ts';
import { INTEGRANDS, METHODS, SEEDS } from './pulls.ts';

const device = new WebGpuDevice();
for (const [name, { f, dims, truth }] of Object.entries(INTEGRANDS))
  for (const [method, relTol] of Object.entries(METHODS)) {
    const pulls: number[] = [];
    let claims = 0;
    for (let seed = 1; seed <= SEEDS; seed++) {
      const options = { dims, device, method, relTol, seed, maxEvaluations: 2e5 } as const;
      const r = await integrate(f, options as never);
      pulls.push((r.value - truth) / r.error);
      claims += Number(r.status === 'converged');
    }
    console.log(JSON.stringify({ name, method, pulls, claims }));
  }
