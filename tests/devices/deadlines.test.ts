/**
 * Every run ends with its own `maxTime` or signal, whatever runs beside it. Nothing here is compared with a clock: where a
 * run waited for its neighbours, these tests would not end.
 */
import { afterEach, describe, expect, test } from 'vitest';
import { CpuDevice } from '../../src/devices/cpu/cpu.ts';
import { WorkerPool } from '../../src/devices/cpu/worker-pool.ts';
import { type Integrand, integrate, type Session, scan } from '../../src/index.ts';
import { ExampleDevice } from './example.ts';
import { wrapped } from './wrapped.ts';

/** Never ends where x > p.a. */
const endless: Integrand = ([x, y], p) => {
  let t = x;
  while (t > p.a) t = t < 1 ? t + 0.5 : t - 0.5;
  return t + y;
};
/** No method is done with it soon. */
const rough: Integrand = ([x, y]) => Math.sqrt(Math.abs(x - y * y));
const much = { dims: 2, relTol: 0, maxEvaluations: 1e12 } as const;

function abortedAfter(ms: number): AbortSignal {
  const stop = new AbortController();
  setTimeout(() => stop.abort(), ms);
  return stop.signal;
}

let neighbours = new AbortController();
afterEach(() => neighbours.abort());

/** Runs whose loops never end, until the end of the test. */
function beside(count: number, device: 'cpu' | CpuDevice = 'cpu'): void {
  neighbours = new AbortController();
  for (let i = 0; i < count; i++)
    void integrate(endless, { dims: 2, params: { a: 0.2 }, device, signal: neighbours.signal });
}

describe.each([1, 12])('beside %i runs whose loops never end', count => {
  test.each(['vegas+', 'pagani', 'auto', 'zmc'] as const)('%s ends with maxTime', async method => {
    beside(count);
    const r = await integrate(rough, { ...much, method, maxTime: 400 });
    expect(r.status).toBe('time');
  });
  test('one of the same kind ends with maxTime, and with its signal', async () => {
    beside(count);
    const run = { dims: 2, params: { a: 0.2 } };
    expect((await integrate(endless, { ...run, maxTime: 300 })).status).toBe('time');
    expect((await integrate(endless, { ...run, signal: abortedAfter(300) })).status).toBe('aborted');
  });
  test('50 runs end with their own maxTime', async () => {
    beside(count);
    const runs = Array.from({ length: 50 }, (_, i) =>
      integrate(rough, { ...much, method: i % 2 ? 'vegas+' : 'pagani', maxTime: 200 + 10 * i }),
    );
    for (const r of await Promise.all(runs)) expect(r.status).toBe('time');
  });
});

test('beside a run whose loop never ends, another has its result, with the bits it has alone', async () => {
  const run = () =>
    integrate(rough, { dims: 2, relTol: 0, method: 'vegas+', vegas: { evaluations: 3e5, iterations: 4 } });
  const alone = await run();
  beside(1);
  const { value, error } = await run();
  expect([value, error]).toEqual([alone.value, alone.error]);
});

test('in a scan one set of eight never ends: the seven others converge', async () => {
  const stop = new AbortController();
  let done = 0;
  const results = await scan(endless, {
    dims: 2,
    params: [5, 6, 7, 0.2, 8, 9, 10, 11].map(a => ({ a })),
    signal: stop.signal,
    onResult: () => {
      if (++done === 7) stop.abort();
    },
  });
  const statuses = results.map(r => r.status);
  expect(statuses).toEqual([...Array(3).fill('converged'), 'aborted', ...Array(4).fill('converged')]);
});

test('workers that stand in for held ones are few, and are ended when these are free', async () => {
  const pool = new WorkerPool('cpu', 2);
  const device = new CpuDevice(pool);
  beside(20, device);
  const r = await integrate(endless, { dims: 2, params: { a: 0.2 }, device, maxTime: 1500 });
  expect(r.status).toBe('time');
  expect(pool.open).toBeLessThanOrEqual(2 + 2 + 8);
  neighbours.abort();
  await expect.poll(() => pool.workers().length === 2 && pool.open === 2, { timeout: 60_000 }).toBe(true);
  await device.close();
  expect(pool.open).toBe(0);
}, 90_000);

describe('functions as they are', () => {
  const never = (async () => new Promise(() => {})) as never;
  const from = {} as Record<string, never>;
  test.each(['vegas+', 'pagani', 'zmc'] as const)('%s: one that never settles', async method => {
    const run = { dims: 2, device: 'js', method } as const;
    const here = (() => from.nothing ?? new Promise(() => {})) as never; // not movable: it runs on this thread
    for (const f of [never, here]) {
      expect((await integrate(f, { ...run, maxTime: 150 })).status).toBe('time');
      expect((await integrate(f, { ...run, signal: abortedAfter(150) })).status).toBe('aborted');
    }
  });
  test('one that never settles, on an infinite range', async () => {
    const r = await integrate(never, { domain: [[0, Infinity]], device: 'js', maxTime: 150 });
    expect(r.status).toBe('time');
  });
  test('one whose loop never ends', async () => {
    const f: Integrand = ([x]) => {
      while (x >= 0);
      return x;
    };
    expect((await integrate(f, { dims: 1, device: 'js', maxTime: 150 })).status).toBe('time');
    const domain = [[0, Infinity]] as const; // whose far end would be looked at first, on this thread
    expect((await integrate(f, { domain, device: 'js', maxTime: 150 })).status).toBe('time');
  });
  test('one without loops, whose helper calls itself 2^55 times', async () => {
    const f: Integrand = ([x]) => {
      const fibonacci = (n: number): number => (n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2));
      return x * fibonacci(80);
    };
    expect((await integrate(f, { dims: 1, device: 'js', maxTime: 150 })).status).toBe('time');
  });
  test('one whose loop surely ends is still examined at an infinite end', async () => {
    const f: Integrand = ([x]) => {
      let t = 1;
      for (let i = 0; i < 21; i++) t *= x ** -0.0477;
      return t;
    };
    const r = await integrate(f, { domain: [[1, Infinity]], device: 'js', maxTime: 60_000 });
    expect(r.warnings.join()).toMatch(/the map of domain\[0\] ends at/);
  });
});

test('a module that is never loaded: integrate and scan end with maxTime and with their signal', async () => {
  const f = new URL('data:text/javascript,await new Promise(() => {}); export default x => x[0]');
  const time = await integrate(f, { dims: 1, maxTime: 150 });
  expect([time.status, time.error]).toEqual(['time', Infinity]);
  const signal = abortedAfter(150);
  expect((await integrate(f, { dims: 1, signal })).status).toBe('aborted');
  const all = await scan(f, { dims: 1, params: [{}, {}], maxTime: 150 });
  expect(all.map(r => r.status)).toEqual(['time', 'time']);
  const missing = new URL('data:text/javascript,throw new Error("not loaded")');
  await expect(integrate(missing, { dims: 1, maxTime: 60_000 })).rejects.toThrow('not loaded');
});

test('a device that does not stop is left alone: the result is the estimate so far', async () => {
  class Deaf extends ExampleDevice {
    override async open(...args: Parameters<ExampleDevice['open']>): Promise<Session> {
      const session = await super.open(...args);
      let tasks = 0;
      const { sample } = session;
      session.sample = (task, part) =>
        ++tasks > 8 ? new Promise(() => {}) : sample.call(session, task, part);
      return session;
    }
  }
  const r = await integrate(rough, { ...much, device: new Deaf(), method: 'vegas+', maxTime: 3000 });
  expect(r.status).toBe('time');
  expect(r.evaluations).toBeGreaterThan(0);
  expect(r.warnings.join()).toContain('had not stopped 100 ms after');
});

/** In eight dimensions plain samples take a hundred times as many as samples through a map. */
const narrow: Integrand = (x: number[]) => Math.exp(-10 * x.reduce((s, c) => s + Math.abs(c - 0.5), 0));

// a run with maxTime that had waited for a compiler believed that calls were slow, learned nothing, and made tiny iterations for all of its time
test.each([0, 1, 2, 4, 7])('a stall of call %i is not taken for the rate of a device', async stalled => {
  const cpu = new CpuDevice();
  let calls = 0;
  const device = wrapped(cpu, session => ({
    async sample(...task) {
      if (calls++ === stalled) await new Promise(resolve => setTimeout(resolve, 700));
      return session.sample(...task);
    },
  }));
  const r = await integrate(narrow, {
    dims: 8,
    device,
    method: 'vegas+',
    relTol: 3e-4,
    maxTime: stalled === 0 ? 3000 : 30_000,
    maxEvaluations: 1e12,
  });
  await cpu.close();
  expect(r.status).toBe('converged');
  expect(r.iterations.some(i => i.adapting)).toBe(true);
  expect(r.iterations.length).toBeLessThan(60);
});
