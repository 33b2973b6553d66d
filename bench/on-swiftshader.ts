/**
 * WebGPU for programs of this folder: the GPU of this machine or, where WebGPU finds none, SwiftShader on the CPU. The latter has to
 * be known when a process starts, so the program is started once more, in the environment of tests/webgpu/swiftshader.ts.
 */
import { spawnSync } from 'node:child_process';
import { devices } from '../src/index.ts';
import { absent, environment } from '../tests/webgpu/swiftshader.ts';

/** Returns where WebGPU finds a GPU; otherwise this process ends with what the same program on SwiftShader returned. */
export async function needWebGpu(): Promise<void> {
  const why = (await devices()).find(d => d.kind === 'webgpu')?.missing;
  if (!why) return;
  const tried = process.env.VK_DRIVER_FILES === environment.VK_DRIVER_FILES;
  if (absent || tried) throw new Error(absent ? `${why} And ${absent}.` : why);
  const { status } = spawnSync(process.execPath, process.argv.slice(1), {
    env: environment,
    stdio: 'inherit',
  });
  process.exit(status ?? 1);
}
