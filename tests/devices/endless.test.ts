/** An integrand whose loop never ends: `maxTime` and `signal` are heard, and the device goes on to work. */
import { describe, expect, test } from 'vitest';
import { type Integrand, integrate } from '../../src/index.ts';
import type { MethodName } from '../../src/problem.ts';

const endless: Integrand = ([x, y]) => {
  let t = x;
  while (t > 0.2) t = t < 1 ? t + 0.5 : t - 0.5;
  return t + y;
};

describe.each(['vegas+', 'pagani', 'plain', 'zmc', 'auto'] as MethodName[])('%s', method => {
  test('maxTime ends it', async () => {
    const r = await integrate(endless, { dims: 2, method, maxTime: 200 });
    expect(r.status).toBe('time');
  });
  test('a signal ends it, others on the device are not disturbed, and the next run is right', async () => {
    const controller = new AbortController();
    setTimeout(() => controller.abort(), 200);
    const other = integrate(([x, y]) => x * y, { dims: 2, method: 'vegas+', relTol: 1e-4, seed: 3 });
    const r = await integrate(endless, { dims: 2, method, signal: controller.signal });
    expect(r.status).toBe('aborted');
    expect(Math.abs((await other).value - 0.25)).toBeLessThan(1e-3);
    const next = await integrate(([x, y]) => x * y, { dims: 2, method, relTol: 1e-2, maxEvaluations: 1e6 });
    expect(Math.abs(next.value - 0.25)).toBeLessThan(0.02);
  });
});

test('a loop that ends gives the same bits on workers as it did on the calling thread', async () => {
  const newton: Integrand = ([x]) => {
    let r = 1;
    while (Math.abs(r * r - x - 1) > 1e-12) r = (r + (x + 1) / r) / 2;
    return r;
  };
  const results = [];
  for (const device of ['cpu', 'cpu:1', 'cpu:3'])
    results.push(await integrate(newton, { dims: 1, method: 'vegas+', device, relTol: 1e-3 }));
  for (const r of results) {
    expect(r.value).toBe(results[0].value);
    expect(Math.abs(r.value - (2 / 3) * (2 ** 1.5 - 1))).toBeLessThan(5 * r.error);
  }
});
