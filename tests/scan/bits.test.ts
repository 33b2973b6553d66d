/** Each result of a scan has the bits that `integrate` gives for its params, whatever ran beside it. */
import { afterAll, describe, expect, test } from 'vitest';
import { CpuDevice } from '../../src/devices/cpu/cpu.ts';
import { integrate, scan } from '../../src/index.ts';
import { bitsOf, methods, options, ridge, sets } from './problems.ts';

const device = new CpuDevice(3);
afterAll(() => device.close());

describe.each(methods)('%s', method => {
  test('12 sets on cpu, cpu:1, cpu:3 and an open device: the bits of `integrate`, in the order of the sets', async () => {
    const single: object[] = [];
    for (const params of sets) single.push(bitsOf(await integrate(ridge, { ...options, method, params })));
    expect(new Set(single.map(s => (s as { value: number }).value)).size).toBe(sets.length);
    for (const on of ['cpu', 'cpu:1', 'cpu:3', device]) {
      const results = await scan(ridge, { ...options, method, params: sets, device: on });
      expect(results.map(bitsOf)).toEqual(single);
    }
  });
  test('the function as it is, on workers and on this thread: the bits of `integrate`', async () => {
    const some = sets.slice(0, 4);
    const outside = 1;
    const plain = ridge as unknown as (x: number[], p: unknown) => number;
    const here = ([x, y, z]: number[], p: unknown) => outside * plain([x, y, z], p);
    for (const f of [ridge, here as never]) {
      const results = await scan(f, { ...options, maxEvaluations: 3e4, method, params: some, device: 'js' });
      for (const [i, params] of some.entries()) {
        const alone = await integrate(f, { ...options, maxEvaluations: 3e4, method, params, device: 'js' });
        expect(bitsOf(results[i])).toEqual(bitsOf(alone));
        expect(results[i].device).toBe(alone.device);
      }
    }
  });
});

test('two scans, a scan inside a scan and an integral at the same time on one device: the bits of each alone', async () => {
  const common = { ...options, device };
  const alone = {
    vegas: (await scan(ridge, { ...common, method: 'vegas+', params: sets })).map(bitsOf),
    pagani: (await scan(ridge, { ...common, method: 'pagani', params: sets })).map(bitsOf),
    one: bitsOf(await integrate(ridge, { ...common, method: 'mcubes', params: sets[5] })),
  };
  const inner: Promise<object[]>[] = [];
  const [vegas, pagani, one] = await Promise.all([
    scan(ridge, {
      ...common,
      method: 'vegas+',
      params: sets,
      onResult(_, i) {
        if (i % 5 === 0)
          inner.push(scan(ridge, { ...common, method: 'pagani', params: sets }).then(r => r.map(bitsOf)));
      },
    }),
    scan(ridge, { ...common, method: 'pagani', params: sets }),
    integrate(ridge, { ...common, method: 'mcubes', params: sets[5] }),
  ]);
  expect(vegas.map(bitsOf)).toEqual(alone.vegas);
  expect(pagani.map(bitsOf)).toEqual(alone.pagani);
  expect(bitsOf(one)).toEqual(alone.one);
  expect(inner).toHaveLength(3);
  for (const results of await Promise.all(inner)) expect(results).toEqual(alone.pagani);
});

test('again: the same bits; in another order: the same results in that order', async () => {
  const run = (params: typeof sets) => scan(ridge, { ...options, params });
  const first = (await run(sets)).map(bitsOf);
  expect((await run(sets)).map(bitsOf)).toEqual(first);
  expect((await run([...sets].reverse())).map(bitsOf)).toEqual([...first].reverse());
});

test('the same set 40 times: the same bits 40 times', async () => {
  const results = (await scan(ridge, { ...options, params: Array(40).fill(sets[7]) })).map(bitsOf);
  for (const r of results) expect(r).toEqual(results[0]);
});
