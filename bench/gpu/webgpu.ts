/**
 * The same card through WebGPU: the device suite, VEGAS+ as cuVegas runs it, PAGANI, and the evaluations per second that each
 * reaches. The goals: 2e10 for VEGAS+ in 8 and 10 dimensions, 5 ms for 20 iterations of 1e5 samples, 2e11 for PAGANI in 8 dimensions.
 */
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
  console.log('\nWebGPU: PAGANI: ms, evaluations, true error in tolerances, status, evaluations per second');
  for (const [name, relTol] of [
    ['f3_8', 1e-4],
    ['f4_8', 1e-3],
    ['f5_8', 1e-3],
    ['f7_8', 1e-4],
  ] as const) {
    const e = entry(name);
    const options = {
      domain: e.domain,
      params: e.params ?? {},
      device: 'webgpu',
      relTol,
      maxTime: 4000,
    } as const;
    await integrate(e.f as never, { ...options, method: 'pagani', maxEvaluations: 1e6 });
    const r = await integrate(e.f as never, { ...options, method: 'pagani', maxEvaluations: 1e12 });
    const off = Math.abs(r.value / e.truth! - 1) / relTol;
    console.log(
      name.padEnd(6),
      `${r.elapsed.toFixed(1)} (${r.evaluations.toExponential(0)}, ${off.toFixed(2)}, ${r.status})`,
      ` ${((r.evaluations / r.elapsed) * 1000).toExponential(1)}/s`,
    );
  }
}
