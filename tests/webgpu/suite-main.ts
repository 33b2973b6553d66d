/** Runs checks of the device suite on WebGPU, in a process that finds a driver: prints one line of JSON for each. */
import { WebGpuDevice } from '../../src/devices/webgpu/webgpu.ts';
import { SUITE } from '../devices/suite.ts';

const names = new Set(process.argv.slice(2));
const device = new WebGpuDevice();
for (const check of SUITE) {
  if (names.size > 0 && !names.has(check.name)) continue;
  const begin = performance.now();
  const error = await check.run({ device }).then(
    () => null,
    e => (e instanceof Error ? e.message : String(e)),
  );
  console.log(JSON.stringify({ name: check.name, error, ms: Math.round(performance.now() - begin) }));
}
await device.close();
