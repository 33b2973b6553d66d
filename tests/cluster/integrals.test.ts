/** Whole integrals of a scan as jobs: the bits are those of one machine, whatever becomes of workers, and jobs are few. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { batchSize } from '../../src/devices/cluster/integrals.ts';
import { ball, cluster, type Device, type ScanOptions, scan } from '../../src/index.ts';
import { runScript } from '../devices/script.ts';
import { numbers } from './numbers.ts';
import { absent, killWorkers, type Server, startServer, startWorker, startWorkers, until } from './server.ts';

test('jobs have one integral at first, then as many as take half a second, and fewer near the end', () => {
  expect(batchSize(1000, 4, 0)).toBe(1);
  expect(batchSize(1e5, 4, 5)).toBe(100);
  expect(batchSize(1e5, 4, 0.1)).toBe(256);
  expect(batchSize(1000, 4, 2000)).toBe(1);
  expect(batchSize(40, 4, 5)).toBe(5);
  expect(batchSize(1, 4, 5)).toBe(1);
});

describe.skipIf(absent)('a scan on a cluster', () => {
  let server: Server;
  let device: Device;
  /** Subjects of jobs that were published, and what they are of. */
  const jobs: { subject: string; what: string; count: number }[] = [];
  beforeEach(async () => {
    server = await startServer();
    device = cluster({ servers: server.url });
    jobs.length = 0;
    const nc = await server.connect();
    nc.subscribe('quadrille.job.>', {
      callback: (_, m) => {
        const { what, count } = m.json<{ what: string; count: number }>();
        jobs.push({ subject: m.subject, what, count });
      },
    });
    await nc.flush();
  });
  afterEach(async () => {
    await device.close();
    await killWorkers();
    await server.stop();
  });

  const f = ([x, y]: number[], p: { a: number }) => Math.exp(-p.a * x * x) * (2 + Math.sin(p.a * y));
  const sets = (count: number) => Array.from({ length: count }, (_, i) => ({ a: 1 + i / 64 }));
  const whole = () => jobs.filter(j => j.what === 'integrals');
  /** Everything that a result tells, but for what depends on machine and clock. */
  const all = (results: readonly object[]) =>
    results.map(r => ({ ...r, device: undefined, elapsed: undefined }));
  const same = async (g: typeof f, options: ScanOptions) => {
    const alone = await scan(g as never, { ...options, device: 'cpu:2' } as never);
    const shared = await scan(g as never, { ...options, device } as never);
    expect(all(shared)).toEqual(all(alone));
    return shared;
  };

  test('300 small integrals take fewer than 150 jobs, and no other ones', async () => {
    await startWorkers(server.url, 3);
    const shared = await same(f, { dims: 2, relTol: 1e-4, params: sets(300) });
    expect(shared.every(r => r.converged)).toBe(true);
    expect(shared[299].device).toMatch(/^nats:.* \(parts of w\d \d+/);
    expect(whole().length).toBe(jobs.length);
    expect(jobs.length).toBeLessThan(150);
    expect(jobs.reduce((n, j) => n + j.count, 0)).toBeGreaterThanOrEqual(300);
    await until(async () => (await server.jobs()) === 0, 'the queue is empty');
  });

  test('methods, several results, domains of their own, options of all kinds', async () => {
    await startWorkers(server.url, 2);
    const params = sets(16);
    for (const method of ['vegas+', 'cuhre', 'plain'] as const)
      await same(f, { dims: 2, method, relTol: 1e-3, params, seed: 2n ** 60n, maxEvaluations: 3e4 });
    const several = ([x, y]: number[], p: { a: number }) => ({ u: x * p.a, v: [y, Math.exp(-p.a * x * y)] });
    await same(several as never, { dims: 2, relTol: 1e-4, goals: 'v', params });
    await same(f, {
      domain: p =>
        [
          [0, 2],
          [1, p.a],
        ] as const,
      params,
    });
    await same(f, {
      domain: [
        [0, Infinity],
        [0, 1],
      ],
      params,
    });
    await same(f, { domain: [ball(2)], relTol: 1e-3, params });
    await same(f, { dims: 2, breaks: [[0.5]], points: [[0.25, 0.75]], params, cubature: { witnesses: 100 } });
    expect(whole().length).toBe(jobs.length);
    // functions do not travel: these integrals are done in parts
    jobs.length = 0;
    await same(f, { domain: [[0, 1], ([x]: number[]) => [0, x]], params } as ScanOptions);
    await same(f, { dims: 2, reuseMaps: true, method: 'vegas+', relTol: 1e-2, params });
    expect(whole().length).toBe(0);
  });

  test('integrals that fail or are too large among others', async () => {
    await startWorkers(server.url, 2);
    const g = ([x, y]: number[], p: { a: number }) =>
      p.a === 1.25 ? 1 / (x - x) : (p.a === 7 ? 1e6 : 1) * Math.abs(x - y) ** p.a;
    const params = [...sets(40), { a: 7 }];
    const budget = { method: 'plain', absTol: 1e-2, relTol: 0, maxEvaluations: 1.8e7 } as const;
    const shared = await same(g, { dims: 2, ...budget, params });
    expect(shared[16].status).toBe('failed');
    expect(shared[16].warnings[0]).toMatch(/the integrand is Infinity at/);
    expect(shared[40].status).toBe('budget');
    expect(shared[40].evaluations).toBeGreaterThan(2 ** 24);
    expect(jobs.some(j => j.what === 'sample')).toBe(true);
  });

  test('a contradiction of one makes all draw the full number of witnesses, as on one machine', async () => {
    await startWorkers(server.url, 2);
    // a narrow peak that the rule does not see, in the last ten
    const g = ([x, y]: number[], p: { a: number }) =>
      Math.cos(x * y) + (p.a >= 120 ? Math.exp(-((x - 0.31) ** 2 + (y - 0.67) ** 2) * 1e5) * 30 : 0);
    const params = Array.from({ length: 130 }, (_, a) => ({ a }));
    const shared = await same(g, { dims: 2, method: 'cuhre', relTol: 1e-3, params });
    expect(shared[0].witnesses).toBe(2 ** 16); // 2^22/130 while nobody is contradicted
  });

  test('workers die, and one answers wrongly: the bits stay', async () => {
    const [victim] = await startWorkers(server.url, 2, 'slow');
    await Promise.all(['w3', 'w4'].map(name => startWorker(server.url, name)));
    const wrong = await startWorker(server.url, 'liar', 'wrong');
    const options = { dims: 2, method: 'vegas+', relTol: 2e-3, params: sets(150) } as const;
    const alone = await scan(f, { ...options, device: 'cpu:2' });
    let results = 0;
    const onResult = () => void (++results === 30 && victim.kill());
    const shared = await scan(f, { ...options, device, onResult });
    expect(shared.map(numbers)).toEqual(alone.map(numbers));
    if (wrong.said().includes('left out'))
      expect(shared.at(-1)!.warnings.join()).toMatch(/liar was left out: its sums of integrals 0 to \d+/);
  });

  test('an aborted scan has the results that it had, and ends', async () => {
    await startWorkers(server.url, 2);
    const stop = new AbortController();
    let told = 0;
    const onResult = () => void (++told === 100 && stop.abort());
    const found = await scan(f, { dims: 2, params: sets(1000), device, signal: stop.signal, onResult });
    const [done, rest] = [found.filter(r => r.converged), found.filter(r => !r.converged)];
    expect(done.length).toBeGreaterThanOrEqual(100);
    expect(new Set(rest.map(r => r.status))).toEqual(new Set(['aborted']));
    await expect(
      scan(f, {
        dims: 2,
        params: sets(50),
        device,
        onResult() {
          throw new Error('no room');
        },
      }),
    ).rejects.toThrow('no room');
    await until(async () => (await server.jobs()) === 0, 'the queue is empty');
  });

  test('the coordinator is killed: a scan of its name does not solve again what it had', async () => {
    await startWorkers(server.url, 2);
    const options = { dims: 2, method: 'vegas+', relTol: 2e-3 } as const;
    const params = sets(200);
    await runScript(
      `import { scan } from 'quadrille';
       let results = 0;
       await scan(${f}, {
         ...${JSON.stringify({ ...options, params })},
         device: '${server.url}/scan-1',
         onResult: () => ++results === 100 && process.kill(process.pid, 'SIGKILL'),
       });`,
    );
    await until(async () => (await server.jobs()) === 0, 'the queue is empty');
    jobs.length = 0;
    const resumed = await scan(f, { ...options, params, device: `${server.url}/scan-1` });
    const alone = await scan(f, { ...options, params, device: 'cpu:2' });
    expect(resumed.map(numbers)).toEqual(alone.map(numbers));
    const published = new Map(whole().map(j => [j.subject, j.count]));
    expect([...published.values()].reduce((a, b) => a + b, 0)).toBeLessThan(200);
  });
});
