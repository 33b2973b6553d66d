/**
 * The same card through WebGPU: the device suite, VEGAS+ as cuVegas runs it, PAGANI, and the evaluations per second that each
 * reaches. The goals: 2e10 for VEGAS+ in 8 and 10 dimensions, 5 ms for 20 iterations of 1e5 samples, 2e11 for PAGANI in 8 dimensions.
 */
import { WebGpuPool } from '../../src/devices/webgpu/pool.ts';
import { WebGpuDevice } from '../../src/devices/webgpu/webgpu.ts';
import { integrate } from '../../src/index.ts';
import { SUITE } from '../../tests/devices/suite.ts';
import { entry, verdict } from './common.ts';
import { webgpuPhases, webgpuVegas } from './webgpu-vegas.ts';

/** Checks of the device suite, in a device that is opened once. */
export async function webgpuChecks(): Promise<void> {
  const device = new WebGpuDevice();
  let passed = 0;
  console.log('\nthe device suite on WebGPU');
  for (const { name, run } of SUITE) {
    const error = await run({ device }).then(
      () => null,
      e => (e instanceof Error ? e.message : String(e)),
    );
    if (error === null) passed++;
    else console.log(`${name}: ${error.split('\n')[0]}${verdict(false, `webgpu: ${name}`)}`);
  }
  console.log(`${passed} of ${SUITE.length} checks passed`);
  await device.close();
}

export async function webgpuTimes(): Promise<void> {
  await webgpuVegas();
  await webgpuPhases();
  await webgpuPagani();
}

/** Kernels are compiled by a first run. */
async function webgpuPagani(): Promise<void> {
  console.log(
    '\nWebGPU: PAGANI: ms, evaluations, true error in tolerances, status, evaluations per second; ms in each step of the pool',
  );
  for (const [name, relTol] of [
    ['f3_8', 1e-4],
    ['f4_8', 1e-3],
    ['f5_8', 1e-3],
    ['f7_8', 1e-4],
    ['f1_8', 1e-3],
    ['f5_8', 4e-5],
    ['f4_8', 1e-4],
  ] as const) {
    const e = entry(name);
    const run = () =>
      integrate(e.f as never, {
        domain: e.domain,
        params: e.params ?? {},
        device: 'webgpu',
        method: 'pagani',
        relTol,
        maxEvaluations: 1e12,
        maxTime: 4000,
      });
    await run();
    const steps = timeSteps();
    const r = await run();
    const off = Math.abs(r.value / e.truth! - 1) / relTol;
    console.log(
      name.padEnd(6),
      `${r.elapsed.toFixed(1)} (${r.evaluations.toExponential(0)}, ${off.toFixed(2)}, ${r.status})`,
      ` ${((r.evaluations / r.elapsed) * 1000).toExponential(1)}/s `,
      steps(),
    );
  }
}

const STEPS = ['start', 'select', 'halve', 'look', 'witness', 'blame', 'finish', 'largest'] as const;

/** Times the steps of pools from now on; what it returns ends that, and tells. */
function timeSteps(): () => string {
  const pool = WebGpuPool.prototype as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
  const told: string[] = [];
  const ends = STEPS.map(name => {
    const own = pool[name];
    let [ms, count] = [0, 0];
    pool[name] = async function (...args) {
      const begin = performance.now();
      try {
        return await own.apply(this, args);
      } finally {
        ms += performance.now() - begin;
        count++;
      }
    };
    return () => {
      pool[name] = own;
      if (count > 0) told.push(`${name} ${ms.toFixed(1)} (${count})`);
    };
  });
  return () => {
    for (const end of ends) end();
    return told.join(', ');
  };
}
