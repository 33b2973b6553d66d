/** Params of different shapes in one scan: arrays of any length, numbers, booleans, tables of every kind. */
import { describe, expect, test } from 'vitest';
import { CpuDevice } from '../../src/devices/cpu/cpu.ts';
import { type Integrand, integrate, type Params, scan, table } from '../../src/index.ts';
import { bitsOf } from './problems.ts';

const line = (n: number) => Float64Array.from({ length: n }, (_, i) => i / (n - 1));
const bent = (n: number) => line(n).map(x => x * x);
const numbers = (n: number, seed: number) =>
  Float64Array.from({ length: n }, (_, i) => 1 + ((i * 7 + seed) % 5));

async function expectAsAlone(
  f: Integrand,
  dims: number,
  params: Params[],
  method: 'vegas+' | 'pagani' | 'cuhre' | 'auto',
) {
  const options = { dims, method, relTol: 1e-3, maxEvaluations: 2e5 } as const;
  const results = await scan(f, { ...options, params });
  for (const [i, set] of params.entries()) {
    const alone = await integrate(f, { ...options, params: set });
    expect(bitsOf(results[i]), `set ${i}`).toEqual(bitsOf(alone));
  }
  return results;
}

describe.each(['vegas+', 'cuhre', 'auto'] as const)('%s: as each alone', method => {
  test('arrays of 1 to 6 numbers, each twice, mixed', async () => {
    const f: Integrand = ([x, y], p) => {
      let s = 0;
      for (let i = 0; i < p.c.length; i++) s += p.c[i] * Math.exp(-(i + 1) * x * y);
      return s;
    };
    const params = [3, 1, 6, 2, 5, 4, 1, 3, 6, 4, 2, 5].map((n, i) => ({ c: numbers(n, i) }));
    await expectAsAlone(f, 2, params, method);
  });
  test('a number in one set, a boolean in another, arrays of every type', async () => {
    const f: Integrand = ([x], p) => (p.a ? 2 : 4) * x + p.c[1];
    const params: Params[] = [
      { a: 1, c: Float64Array.of(1, 2) },
      { a: true, c: Float64Array.of(1, 2) },
      { a: false, c: Float32Array.of(1, 5) },
      { a: 0, c: Int8Array.of(1, -5) },
      { a: 0, c: Uint32Array.of(1, 4e9) },
      { c: Uint8ClampedArray.of(1, 255), a: true },
    ];
    const results = await expectAsAlone(f, 1, params, method);
    expect(results.map(r => Math.round(r.value))).toEqual([3, 3, 7, -3, 4e9 + 2, 256]);
  });
  test('a Uint8Array after a Float64Array of the same length: `map` rounds, so it is refused', async () => {
    const sets = [{ c: Float64Array.of(1, 2) }, { c: Uint8Array.of(1, 2) }];
    const [first, second] = await scan(([x], p) => x + p.c.map((v: number) => v / 2)[0], {
      dims: 1,
      method,
      params: sets,
    });
    expect(first.value).toBeCloseTo(1, 1);
    expect([second.status, second.warnings[0]]).toEqual([
      'failed',
      expect.stringMatching(/rounds what is put into it/),
    ]);
  });
  test('tables of one axis: even and uneven, clamped and 0 outside, of different length', async () => {
    const f: Integrand = ([x], p) => p.t(2 * x - 0.5);
    const params = [
      table([line(3)], [1, 3, 2]),
      table([bent(3)], [1, 3, 2]),
      table([line(3)], [1, 3, 2], { outside: 'zero' }),
      table([bent(3)], [1, 3, 2], { outside: 'zero' }),
      table([line(5)], [1, 3, 2, 5, 0]),
      table([bent(5)], [1, 3, 2, 5, 0]),
      table([line(3)], [7, 1, 2]),
      table([bent(3)], [7, 1, 2]),
    ].map(t => ({ t }));
    const results = await expectAsAlone(f, 1, params, method);
    expect(new Set(results.map(r => r.value)).size).toBe(8);
  });
  test('tables of two axes: 4 × 6, 6 × 4 and 3 × 8 of the same 24 numbers', async () => {
    const f: Integrand = ([x, y], p) => p.t(x, y) ** 2 * (1 + x);
    const values = numbers(24, 3);
    const params = [
      [4, 6],
      [6, 4],
      [3, 8],
      [8, 3],
      [4, 6],
    ].map(([n, m], i) => ({ t: table([line(n), i === 4 ? bent(m) : line(m)], values) }));
    const results = await expectAsAlone(f, 2, params, method);
    expect(new Set(results.map(r => r.value)).size).toBe(5);
  });
});

test('params that a set has and the function does not read change nothing', async () => {
  const results = await scan(([x], p) => p.a * x, {
    dims: 1,
    params: [{ a: 2 }, { a: 2, b: 3 }, { b: 1, a: 2 }],
  });
  for (const r of results) expect(r.value).toBe(results[0].value);
});

test('200 sets of 100 shapes: at most 24 sessions are open at a time, and none when the scan is done', async () => {
  const device = new CpuDevice(1);
  const open = device.open.bind(device);
  const sessions = new Set<object>();
  let most = 0;
  device.open = async (integrand, options) => {
    const session = await open(integrand, options);
    const close = session.close.bind(session);
    session.close = () => {
      sessions.delete(session);
      close();
    };
    most = Math.max(most, sessions.add(session).size);
    return session;
  };
  const params = Array.from({ length: 200 }, (_, i) => ({ c: numbers(1 + (i % 100), i) }));
  const results = await scan(([x], p) => p.c[p.c.length - 1] * x, { dims: 1, params, device });
  expect(results.every(r => r.converged)).toBe(true);
  expect(most).toBeLessThanOrEqual(24);
  expect(sessions.size).toBe(0);
  await device.close();
});
