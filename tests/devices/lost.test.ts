/** A worker that ends by what one integrand did takes nothing from the others: the next one gives them the same bits. */
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { CpuDevice } from '../../src/devices/cpu/cpu.ts';
import { WorkerPool } from '../../src/devices/cpu/worker-pool.ts';
import { JsDevice } from '../../src/devices/js/js.ts';
import { type Integrand, integrate, type Result, scan } from '../../src/index.ts';
import type { SampleTask } from '../../src/tasks/sample.ts';
import { plainFor } from './program.ts';
import { sampled } from './whole.ts';

const pool = new WorkerPool('cpu', 2);
const device = new CpuDevice(pool);
const js = new JsDevice(pool);
beforeEach(() => expect.poll(() => pool.workers().length).toBe(2));
afterAll(() => device.close());

/** A function that is called as it is; `f` before workers are up. */
const plain = (text: string, f = (_: number[]) => Number.NaN) => plainFor(f, 1, {}, text);
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
    async () => sampled(await js.open(plain('([x]) => x * x', ([x]) => x * x)), task),
  ],
];

describe.each(others)('%s', (_, other) => {
  test('beside a slow plain function that is aborted', async () => {
    const alone = await other();
    const stop = new AbortController();
    const session = await js.open(slow);
    const aborted = sampled(session, task, stop.signal).catch(e => e.message);
    await new Promise(resolve => setTimeout(resolve, 20)); // both workers are at it
    const beside = other();
    stop.abort(new Error('enough'));
    expect(await beside).toEqual(alone);
    expect(await aborted).toBe('enough');
  });
  test('beside a plain function that ends its workers', async () => {
    const alone = await other();
    const session = await js.open(deadly);
    const died = sampled(session, task).catch(e => e.message);
    await new Promise(resolve => setTimeout(resolve, 20));
    expect(await other()).toEqual(alone);
    expect(await died).toBe(
      'a worker died: it ended with code 3, 3 times at the same part of the work; the integrand ends its worker',
    );
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
