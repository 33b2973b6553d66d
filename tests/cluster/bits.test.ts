/** Results of a cluster have the bits of one machine, with every method. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cluster, type Device, integrate, scan, simplex, ball as solid, table } from '../../src/index.ts';
import { METHOD_NAMES } from '../../src/methods/names.ts';
import { numbers } from './numbers.ts';
import { absent, killWorkers, type Server, startServer, startWorkers } from './server.ts';

describe.skipIf(absent)('three workers on a real server', () => {
  let server: Server;
  let device: Device;
  beforeAll(async () => {
    server = await startServer();
    await startWorkers(server.url, 3);
    device = cluster({ servers: server.url });
  });
  afterAll(async () => {
    await device?.close();
    await killWorkers();
    await server?.stop();
  });

  const smooth = ([x, y, z]: number[]) => Math.exp(-3 * x * y) * Math.sin(5 * z + x);
  const ball = ([x, y, z]: number[]) => (x * x + y * y + z * z < 1 ? 1 + x : 0);

  test.each(METHOD_NAMES)('%s: value, error, evaluations and every iteration', async method => {
    for (const f of [smooth, ball]) {
      const options = { dims: 3, method, relTol: 1e-7, maxEvaluations: 1e6 };
      const alone = await integrate(f, { ...options, device: 'cpu:2' });
      const shared = await integrate(f, { ...options, device });
      expect(numbers(shared)).toEqual(numbers(alone));
      expect(shared.device).toMatch(/^nats:\/\/127\.0\.0\.1:\d+ \(parts of w\d \d+/);
    }
  });

  test('params with tables and arrays', async () => {
    const options = {
      dims: 2,
      relTol: 1e-8,
      maxEvaluations: 4e5,
      method: 'vegas+',
      params: {
        s: table(
          [Float64Array.from({ length: 400 }, (_, i) => i / 399)],
          Float64Array.from({ length: 400 }, (_, i) => i % 7),
        ),
        w: Float32Array.of(0.1, 0.2, -0),
        on: true,
        a: -0,
      },
    } as const;
    const f = ([x, y]: number[], p: { s(x: number): number; w: Float32Array; on: boolean; a: number }) =>
      p.s(x) * p.w[1] + (p.on ? 1 / (p.a + y + 1) : 0);
    const alone = await integrate(f as never, { ...options, device: 'cpu:2' });
    expect(numbers(await integrate(f as never, { ...options, device }))).toEqual(numbers(alone));
  });

  test.each(['vegas+', 'pagani'] as const)('several results with %s', async method => {
    const f = ([x, y]: number[]) => ({ a: Math.exp(-x * y), b: [x > y ? 1 : 0, Math.cos(9 * x)] });
    const options = { dims: 2, method, relTol: 1e-8, maxEvaluations: 4e5 };
    const alone = await integrate(f, { ...options, device: 'cpu:2' });
    expect(numbers(await integrate(f, { ...options, device }))).toEqual(numbers(alone));
  });

  test.each([
    ['a ball', { domain: solid(3, 2, { centre: [1, 0, 0] }) }],
    ['a simplex beside a range', { domain: [[-Infinity, 0], simplex(2)] }],
    ['bounds that are functions', { domain: [[0, 1], ([x]: number[]) => [0, x], [1, Infinity]] }],
    ['breaks and points', { dims: 3, breaks: [[0.3]], points: [[0.5, 0.25, 0.1]] }],
  ] as [string, object][])('%s', async (_, where) => {
    const f = ([x, y, z]: number[]) => Math.exp(-x * x - 3 * y * y - z * z) * (x < 0.3 ? 1 : 2);
    for (const method of ['vegas+', 'pagani'] as const) {
      const options = { ...where, method, relTol: 1e-8, maxEvaluations: 4e5 } as never;
      const alone = await integrate(f, { ...(options as object), device: 'cpu:2' } as never);
      expect(numbers(await integrate(f, { ...(options as object), device } as never))).toEqual(
        numbers(alone),
      );
    }
  });

  test('a state of one machine is resumed on the cluster', async () => {
    const options = { dims: 3, method: 'vegas+', seed: 5, maxEvaluations: 3e5, relTol: 1e-9 } as const;
    const { state } = await integrate(smooth, { ...options, device: 'cpu:2' });
    const larger = { ...options, maxEvaluations: 1e6 };
    const alone = await integrate(smooth, { ...larger, device: 'cpu:2' });
    const resumed = await integrate(smooth, { ...larger, device, resume: state! });
    expect(numbers(resumed)).toEqual(numbers(alone));
  });

  test('a scan', async () => {
    const f = ([x, y]: number[], p: { a: number }) => Math.exp(-p.a * x * x) * Math.sin(p.a * y);
    const options = { dims: 2, relTol: 1e-6, method: 'vegas+', maxEvaluations: 1e5 } as const;
    const params = Array.from({ length: 12 }, (_, i) => ({ a: 1 + i / 4 }));
    const alone = await scan(f, { ...options, params, device: 'cpu:2' });
    const shared = await scan(f, { ...options, params, device });
    expect(shared.map(numbers)).toEqual(alone.map(numbers));
  });

  test('an aborted run has its estimate so far, and its jobs are removed', async () => {
    const stop = new AbortController();
    const { status, value } = await integrate(ball, {
      dims: 3,
      method: 'vegas+',
      relTol: 1e-9,
      vegas: { evaluations: 4e6 },
      device,
      signal: stop.signal,
      onProgress: ({ iteration }) => void (iteration > 1 && stop.abort()),
    });
    expect(status).toBe('aborted');
    expect(value).toBeCloseTo(0.72, 1);
  });

  test('nothing is left in the queue', async () => {
    await expect.poll(() => server.jobs(), { timeout: 30_000 }).toBe(0);
  });
});
