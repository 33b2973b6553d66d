/** The course of a scan: results as they come, abort in the middle, time for all together, and how processes end. */
import { afterEach, describe, expect, test, vi } from 'vitest';
import { type Integrand, type Result, scan } from '../../src/index.ts';
import { runScript } from '../devices/script.ts';
import { bitsOf } from './problems.ts';

const f: Integrand = ([x, y], p) => Math.exp(-p.a * x * y);
const many = (n: number) => Array.from({ length: n }, (_, i) => ({ a: 1 + i / 1000 }));

test('10,000 integrals over two dimensions to 1e-6: all converge, true within 1e-6', async () => {
  const results = await scan(([x, y], p) => Math.exp(-p.a * (x + y)), {
    dims: 2,
    relTol: 1e-6,
    params: many(10_000),
  });
  expect(results).toHaveLength(10_000);
  for (const [i, r] of results.entries()) {
    const a = 1 + i / 1000;
    const truth = ((1 - Math.exp(-a)) / a) ** 2;
    if (!(r.converged && Math.abs(r.value / truth - 1) <= 1e-6)) expect.fail(`${i}: ${r}`);
  }
});

describe('onResult', () => {
  test('is called once a set, with the result that the list has', async () => {
    const seen = new Map<number, Result>();
    const results = await scan(f, {
      dims: 2,
      params: many(100),
      onResult(r, i) {
        expect(seen.has(i)).toBe(false);
        seen.set(i, r);
      },
    });
    expect(seen.size).toBe(100);
    for (const [i, r] of seen) expect(r).toBe(results[i]);
  });
  test('what it throws rejects the scan, and it is not called any more', async () => {
    const boom = new Error('boom');
    let after = 0;
    let thrown = false;
    const tried = scan(f, {
      dims: 2,
      params: many(1000),
      onResult(_, i) {
        if (thrown) after++;
        if (i === 5) {
          thrown = true;
          throw boom;
        }
      },
    });
    await expect(tried).rejects.toBe(boom);
    const soon = after;
    await new Promise(resolve => setTimeout(resolve, 100));
    expect(after).toBe(soon);
    // at most what was under way
    expect(after).toBeLessThanOrEqual(8);
  });
});

describe('abort', () => {
  test.each(['auto', 'vegas+', 'pagani', 'zmc', 'cuhre'] as const)(
    '%s, after 20 of 200: what is done is kept, the others are aborted',
    async method => {
      const stop = new AbortController();
      const done = new Map<number, object>();
      const results = await scan(f, {
        dims: 2,
        method,
        relTol: 1e-2,
        params: many(200),
        signal: stop.signal,
        onResult(r, i) {
          if (r.converged) done.set(i, bitsOf(r));
          if (done.size === 20) stop.abort();
        },
      });
      expect(results).toHaveLength(200);
      const converged = results.filter(r => r.converged).length;
      expect(converged).toBeGreaterThanOrEqual(20);
      expect(converged).toBeLessThanOrEqual(28); // those under way may end by themselves
      for (const [i, r] of results.entries()) {
        if (done.has(i)) expect(bitsOf(r)).toEqual(done.get(i));
        else if (!r.converged) expect(r.status).toBe('aborted');
      }
      expect(results.at(-1)).toMatchObject({ status: 'aborted', evaluations: 0, error: Infinity });
    },
  );
  test('before it begins: every set is aborted, nothing evaluated', async () => {
    const results = await scan(f, { dims: 2, params: many(20), signal: AbortSignal.abort() });
    for (const r of results) expect([r.status, r.evaluations]).toEqual(['aborted', 0]);
  });
});

describe('maxTime', () => {
  afterEach(() => vi.restoreAllMocks());
  test.each(['auto', 'pagani', 'cuhre', 'two-phase', 'vegas+', 'plain', 'mcubes', 'zmc'] as const)(
    '%s: over after 20 of 5000 small integrals: at most the 8 under way go on, the others have status time and no evaluation',
    async method => {
      const clock = performance.now.bind(performance);
      let later = 0;
      vi.spyOn(performance, 'now').mockImplementation(() => clock() + later);
      let seen = 0;
      const results = await scan(f, {
        dims: 2,
        method,
        relTol: 5e-2,
        params: many(5000),
        maxTime: 100_000,
        zmc: { blocks: 3, depth: 1 },
        onResult() {
          if (++seen === 20) later = 100_001;
        },
      });
      expect(results.filter(r => r.converged).length).toBeGreaterThanOrEqual(20);
      expect(results.filter(r => r.evaluations > 0).length).toBeLessThanOrEqual(28);
      for (const r of results.slice(28)) expect([r.status, r.evaluations]).toEqual(['time', 0]);
    },
  );
  test('an hour left over does nothing', async () => {
    const results = await scan(f, { dims: 2, params: many(20), maxTime: 3_600_000 });
    expect(results.every(r => r.converged)).toBe(true);
  });
});

describe.concurrent('a script ends by itself', () => {
  const begin = `
    import { scan } from 'quadrille';
    const f = ([x, y], p) => Math.exp(-p.a * x * y);
    const params = Array.from({ length: 50 }, (_, i) => ({ a: i }));
  `;
  test.each([
    ['after a scan', 'console.log((await scan(f, { dims: 2, params })).length);', '50\n'],
    [
      'after a scan on three workers of its own that all have work',
      "const r = await scan(f, { dims: 2, params, device: 'cpu:3', method: 'vegas+', relTol: 2e-4 }); console.log(r.every(x => x.converged));",
      'true\n',
    ],
    [
      'after a scan that onResult ended',
      "await scan(f, { dims: 2, params, method: 'vegas+', relTol: 1e-3, onResult() { throw new Error('enough'); } }).catch(e => console.log(e.message));",
      'enough\n',
    ],
    [
      'after a scan that was aborted with workers at work',
      `const stop = new AbortController();
       setTimeout(() => stop.abort(), 200);
       const r = await scan(f, { dims: 2, params, method: 'vegas+', relTol: 0, maxEvaluations: 1e10, signal: stop.signal });
       console.log(new Set(r.map(x => x.status)));`,
      "Set(1) { 'aborted' }\n",
    ],
  ])('%s', async (_, text, out) => {
    expect(await runScript(begin + text)).toEqual({ code: 0, out, err: '' });
  });
});
