/** A worker that ends by what one integrand did takes nothing from the others: the next one gives them the same bits. */
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { CpuDevice } from '../../src/devices/cpu/cpu.ts';
import type { DeviceIntegrand, SampleTask } from '../../src/devices/device.ts';
import { type Integrand, integrate, type Result, scan } from '../../src/index.ts';

const device = new CpuDevice(2);
beforeEach(() => expect.poll(() => device.workers().length).toBe(2));
afterAll(() => device.close());

/** A function that is called as it is; `f` before workers are up. */
const plain = (text: string, f = (_: number[]) => Number.NaN): DeviceIntegrand => ({
  kind: 'function',
  dims: 1,
  call: { f, moved: { text, params: {} } },
});
/** A chunk of it takes longer than any test. */
const slow = plain(
  '() => { for (const until = performance.now() + 5; performance.now() < until; ); return 1; }',
);
/** Ends its worker, but not before others could ask it for something. */
const deadly = plain(
  '() => { for (const until = performance.now() + 300; performance.now() < until; ); process.exit(3); }',
);
const task: SampleTask = {
  key: [1, 2],
  iteration: 0,
  stream: 0,
  bins: 4,
  edges: Float64Array.of(0, 0.1, 0.2, 0.7, 1),
  strata: [1],
  counts: 2 ** 18,
  unit: 1,
  adapt: { scale: 2 ** 20, variances: false },
};

const f: Integrand = ([x, y]) => Math.exp(-x * y) + Math.sqrt(Math.abs(x - y));
const g: Integrand = ([x, y], p) => Math.exp(-p.a * x * y);
const protocol = { relTol: 0, vegas: { evaluations: 200_000, iterations: 3 } };
const bitsOf = ({ elapsed: _, ...same }: Result) => same;
const others: [string, () => Promise<object>][] = [
  ['vegas+', async () => bitsOf(await integrate(f, { ...protocol, dims: 2, device, method: 'vegas+' }))],
  ['mcubes', async () => bitsOf(await integrate(f, { ...protocol, dims: 2, device, method: 'mcubes' }))],
  [
    'pagani',
    async () =>
      bitsOf(await integrate(f, { dims: 2, device, method: 'pagani', relTol: 1e-8, maxEvaluations: 3e6 })),
  ],
  [
    'a scan',
    async () => {
      const params = Array.from({ length: 20 }, (_, i) => ({ a: i }));
      return (await scan(g, { dims: 2, device, method: 'vegas+', relTol: 1e-3, params })).map(bitsOf);
    },
  ],
  [
    'another plain function',
    async () => (await device.open(plain('([x]) => x * x', ([x]) => x * x))).sample(task),
  ],
];

describe.each(others)('%s', (_, other) => {
  test('beside a slow plain function that is aborted', async () => {
    const alone = await other();
    const stop = new AbortController();
    const session = await device.open(slow);
    const aborted = session.sample({ ...task, signal: stop.signal }).catch(e => e.message);
    await new Promise(resolve => setTimeout(resolve, 20)); // both workers are at it
    const beside = other();
    stop.abort(new Error('enough'));
    expect(await beside).toEqual(alone);
    expect(await aborted).toBe('enough');
  });
  test('beside a plain function that ends its workers', async () => {
    const alone = await other();
    const session = await device.open(deadly);
    const died = session.sample(task).catch(e => e.message);
    await new Promise(resolve => setTimeout(resolve, 20));
    expect(await other()).toEqual(alone);
    expect(await died).toBe('a worker died: it ended with code 3');
  });
});

test.each([
  ['aborted', Infinity],
  ['time', 300],
])(
  'integrals beside a slow one that ends with status %s: the bits of each alone',
  async (status, maxTime) => {
    const stop = new AbortController();
    const run = async (device: string) =>
      bitsOf(await integrate(f, { ...protocol, dims: 2, method: 'vegas+', device }));
    const alone = [await run('cpu'), await run('js')];
    const slow = ([x]: number[]) => {
      const until = performance.now() + 1;
      while (performance.now() < until);
      return x;
    };
    const first = integrate(slow, { ...protocol, dims: 1, device: 'js', maxTime, signal: stop.signal });
    if (status === 'aborted') setTimeout(() => stop.abort(), 300);
    expect(await Promise.all([run('cpu'), run('js')])).toEqual(alone);
    expect((await first).status).toBe(status);
  },
);
