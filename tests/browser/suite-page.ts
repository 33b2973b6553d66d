/** The device suite inside of a page: `run(name)` runs one check on the page's WebGPU, and returns what was wrong. */
import { WebGpuDevice } from '../../src/devices/webgpu/webgpu.ts';
import { integrate } from '../../src/index.ts';
import type { MethodName } from '../../src/problem.ts';
import { SUITE } from '../devices/suite.ts';

const device = new WebGpuDevice();

export async function run(name: string): Promise<string | null> {
  const found = SUITE.find(c => c.name === name);
  if (!found) return 'there is no such check';
  return found.run({ device }).then(
    () => null,
    e => (e instanceof Error ? (e.stack ?? e.message) : String(e)),
  );
}

/** The device that `auto` takes for a budget, a tolerance and a method, and how the run ended. */
export async function chosen(maxEvaluations: number, relTol: number, method: MethodName): Promise<string> {
  const r = await integrate(([x, y]) => 1 + x * y, { dims: 2, method, maxEvaluations, relTol });
  return `${r.status} on ${r.device}`;
}

Object.assign(globalThis, { run, chosen });
