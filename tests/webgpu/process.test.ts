/** WebGPU in a process of a user: it ends by itself, a lost GPU is opened again, and what is missing is told with the remedy. */
import { describe, expect, test } from 'vitest';
import { runScript } from '../devices/script.ts';
import { absent, environment } from './swiftshader.ts';

const begin = `
  import { integrate } from 'quadrille';
  import { WebGpuDevice } from './src/devices/webgpu/webgpu.ts';
  const f = ([x, y]) => Math.exp(-x * y);
  const told = run => run.then(r => r.status, e => e.name + ': ' + e.message).then(text => console.log(text));
  const small = { dims: 2, method: 'plain', relTol: 1e-2 };
  const endless = { dims: 2, method: 'plain', relTol: 1e-9, maxEvaluations: 1e12 };
`;
/** A process that takes longer has not ended by itself. */
const LIMIT = 100_000;

describe.skipIf(absent)('a script on SwiftShader ends by itself', () => {
  test.each([
    ['when it simply ends', "await told(integrate(f, { ...small, device: 'webgpu' }));", 'converged\n'],
    [
      'when nobody waits for the result',
      "told(integrate(f, { ...small, device: 'webgpu' }));",
      'converged\n',
    ],
    [
      'after close(), and a closed device says so',
      `const device = new WebGpuDevice();
       await told(integrate(f, { ...small, device }));
       await device.close();
       await told(integrate(f, { ...small, device }));`,
      'converged\nError: webgpu is closed\n',
    ],
    [
      'after close() with a run at work, which is rejected',
      `const device = new WebGpuDevice();
       const run = told(integrate(f, { ...endless, device }));
       setTimeout(() => device.close(), 500);
       await run;`,
      'WebGpuError: the WebGPU device is closed\n',
    ],
    [
      'after a run that was aborted',
      `const stop = new AbortController();
       setTimeout(() => stop.abort(), 500);
       await told(integrate(f, { ...endless, device: 'webgpu', signal: stop.signal }));`,
      'aborted\n',
    ],
    [
      'after a GPU was lost between two runs, of which the second opens it again',
      `const device = new WebGpuDevice();
       await told(integrate(f, { ...small, device }));
       (await device.gpu()).device.destroy();
       await told(integrate(f, { ...small, device }));`,
      'converged\nconverged\n',
    ],
  ])('%s', async (_, text, out) => {
    expect(await runScript(begin + text, LIMIT, [], environment)).toEqual({ code: 0, out, err: '' });
  });
});

describe('what is missing is told with the remedy', () => {
  const run = `${begin}await told(integrate(f, { ...small, device: 'webgpu' }));`;

  test.skipIf(absent)('a Vulkan loader that finds no driver', async () => {
    const env = { ...environment, VK_DRIVER_FILES: '/nowhere.json', VK_ICD_FILENAMES: '/nowhere.json' };
    const { code, out } = await runScript(run, LIMIT, [], env);
    expect(code).toBe(0);
    expect(out).toMatch(/^WebGpuError: WebGPU finds no GPU\. .*vulkaninfo.*use device: 'cpu'/);
  });

  test('the package webgpu is not installed', async () => {
    const hook =
      'export async function resolve(name, context, next) { if (name === "webgpu") throw new Error("Cannot find package"); return next(name, context); }';
    const register = `import { register } from 'node:module'; register(${JSON.stringify(`data:text/javascript,${encodeURIComponent(hook)}`)});`;
    const flags = ['--import', `data:text/javascript,${encodeURIComponent(register)}`];
    const { code, out } = await runScript(run, LIMIT, flags, environment);
    expect(code).toBe(0);
    // without SwiftShader there may be no Vulkan either, which is looked for first
    expect(out).toMatch(
      /^WebGpuError: WebGPU (in Node needs the package webgpu.*npm install webgpu|on Linux needs a Vulkan driver.*install one).*use device: 'cpu'/,
    );
  });
});
