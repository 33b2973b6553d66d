/** Processes that may not have what the library would like: workers, WebAssembly, memory. */
import { expect, test } from 'vitest';
import { integrate } from '../../src/index.ts';
import { runScript } from '../devices/script.ts';

const [major, minor] = process.versions.node.split('.').map(Number);
const permission = major > 23 || (major === 23 && minor >= 5) ? '--permission' : '--experimental-permission';
const protocol = (evaluations: number) =>
  ({ dims: 2, relTol: 0, method: 'vegas+', vegas: { evaluations, iterations: 3 } }) as const;
/** For workers, and for an interpreter. */
const [MANY, FEW] = [150_000, 3000];
const script = (device: string, evaluations: number) => `
  import { integrate } from 'quadrille';
  const options = { ...${JSON.stringify(protocol(evaluations))}, device: '${device}' };
  await integrate(([x, y]) => Math.exp(-x * y), options).then(
    r => console.log(r.value + '\\n' + r.device + '\\n' + r.warnings.join()),
    e => console.log(e.name + '\\n' + e.message),
  );
`;
const expected = async (evaluations: number) =>
  (await integrate(([x, y]) => Math.exp(-x * y), protocol(evaluations))).value;

test(`node ${permission}, without workers: the calling thread gives the same bits, and the result says so`, async () => {
  const { code, out } = await runScript(script('cpu', MANY), 60_000, [permission, '--allow-fs-read=*']);
  const [value, device, warning] = out.split('\n');
  expect([code, Number(value), device]).toEqual([0, await expected(MANY), 'cpu']);
  expect(warning).toMatch(
    /^the calling thread did the work of the workers, .*--allow-worker permits workers/,
  );
}, 90_000);

test('node --jitless, without WebAssembly: cpu says what to do, js gives the value', async () => {
  const cpu = await runScript(script('cpu', FEW), 60_000, ['--jitless']);
  expect(cpu.out).toMatch(/^DeviceError\nthere is no WebAssembly, .*without --jitless, or .*device: 'js'/);
  const js = await runScript(script('js', FEW), 60_000, ['--jitless']);
  const [value, device, warning] = js.out.split('\n');
  expect(Math.abs(Number(value) / (await expected(FEW)) - 1)).toBeLessThan(1e-12);
  expect([device, warning]).toEqual([
    'js on this thread',
    expect.stringMatching(/^there is no WebAssembly: points were drawn in plain JavaScript/),
  ]);
}, 120_000);

test('node --input-type=module --eval, whose workers are modules too: they start all the same', async () => {
  const imports = [
    '--input-type=module',
    '--eval',
    "await import('node:url').then(u => import(u.pathToFileURL(process.argv[1])))",
  ];
  const { code, out } = await runScript(script('cpu', MANY), 60_000, imports);
  expect([code, out]).toEqual([0, `${await expected(MANY)}\ncpu\n\n`]);
}, 90_000);
