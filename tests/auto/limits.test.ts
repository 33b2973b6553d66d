/** How a run of `auto` ends: budgets, time, abort, nothing seen, values that are not finite, errors of the function. */
import { describe, expect, test } from 'vitest';
import { type Integrand, integrate, type Progress } from '../../src/index.ts';
import { runScript } from '../devices/script.ts';
import { catalogue } from '../integrands/catalogue.ts';

const pick = (name: string) => catalogue.find(e => e.name === name)!;
/** Neither method gets to 1e-9 in time. */
const endless: Integrand = ([x, y, z, t]) => Math.sqrt(Math.abs(x + y * z - 0.7 * t));

describe('maxEvaluations', () => {
  test.each(['f1_8', 'f2_6', 'f4_5', 'f4_8', 'f5_8', 'f6_6', 'roos_arnold_10', 'fA_6', 'path_integral_7'])(
    '%s at 1e-6: is never exceeded, and mostly used, from 1000 to 1e6',
    async name => {
      const { f, domain, params = {} } = pick(name);
      for (const maxEvaluations of [1000, 3000, 1e4, 5e4, 1e5, 3e5, 1e6]) {
        const r = await integrate(f as never, { domain, params, relTol: 1e-6, maxEvaluations } as never);
        expect(r.evaluations, `${maxEvaluations}: ${r}`).toBeLessThanOrEqual(maxEvaluations);
        expect(r.evaluations, `${maxEvaluations}: ${r}`).toBeGreaterThan(0.5 * maxEvaluations);
        expect(r.status).toBe('budget');
        expect(r.error).toBeLessThan(Infinity);
      }
    },
  );
  test.each([9, 10, 11, 12, 13, 14])('f6 in %i dimensions at 1e-6: a result for every budget', async dims => {
    const f6: Integrand = (x: number[]) =>
      x.every((v, i) => v < (4 + i) / 14) ? Math.exp(x.reduce((s, v, i) => s + (i + 5) * v, 0)) : 0;
    for (const maxEvaluations of [1000, 2e4, 1e5, 1e6]) {
      const r = await integrate(f6, { dims, relTol: 1e-6, maxEvaluations });
      expect(r.evaluations).toBeLessThanOrEqual(maxEvaluations);
      expect(r.status).toBe('budget');
    }
  });
});

test.each([1, 2, 3, 10])('maxIterations: %i iterations of the result at most', async maxIterations => {
  for (const name of ['f6_6', 'f5_5', 'linear_10', 'f3_3']) {
    const { f, dims } = pick(name);
    const r = await integrate(f as never, { dims, relTol: 1e-9, maxIterations, maxEvaluations: 1e6 });
    expect(r.iterations.length).toBeLessThanOrEqual(maxIterations);
    expect(r.converged).toBe(false);
  }
});

describe('aborted', () => {
  test('before the run: nothing was evaluated', async () => {
    for (const dims of [2, 6, 10, 20]) {
      const r = await integrate((x: number[]) => x[0], { dims, signal: AbortSignal.abort() });
      expect([r.status, r.evaluations, r.error, r.iterations]).toEqual(['aborted', 0, Infinity, []]);
    }
  });
  test.each([1, 3, 8, 20, 30])(
    'after %i iterations: the estimate until then, no further iteration',
    async n => {
      for (const name of ['f6_6', 'f5_8', 'f3_8']) {
        const { f, dims, truth } = pick(name);
        const stop = new AbortController();
        let seen = 0;
        const r = await integrate(f as never, {
          dims,
          relTol: 1e-9,
          maxEvaluations: 1e9,
          signal: stop.signal,
          onProgress: () => ++seen === n && stop.abort(),
        });
        expect([r.status, seen]).toEqual(['aborted', n]);
        if (r.warnings.length === 0) expect(Math.abs(r.value - truth!)).toBeLessThanOrEqual(4.5 * r.error);
      }
    },
  );
  test('by a timer, in the middle', async () => {
    const stop = new AbortController();
    let near = false;
    const r = await integrate(endless, {
      dims: 4,
      relTol: 0,
      maxEvaluations: 1e12,
      signal: stop.signal,
      onProgress(p) {
        if (!near && p.error < 0.01) setTimeout(() => stop.abort(), 50);
        near ||= p.error < 0.01;
      },
    });
    expect(r.status).toBe('aborted');
    expect(r.error).toBeLessThan(0.01);
  });
});

test('maxTime: when it is over, the better estimate until then', async () => {
  const r = await integrate(endless, { dims: 4, relTol: 0, maxEvaluations: 1e12, maxTime: 1500 });
  expect(r.status).toBe('time');
  expect(r.error).toBeLessThan(0.01);
  const long = await integrate(endless, { dims: 4, relTol: 1e-4, method: 'vegas+' });
  expect(Math.abs(r.value - long.value)).toBeLessThanOrEqual(4.5 * (r.error + long.error));
});

describe('nothing seen', () => {
  test.each([1, 2, 3, 6, 9, 12, 20])('0 in %i dimensions: 0, not converged, with a warning', async dims => {
    const r = await integrate(() => 0, { dims, maxEvaluations: 3e6 });
    expect([r.value, r.converged]).toEqual([0, false]);
    expect(r.warnings.join()).toMatch(/(values were|samples was) 0/);
    expect(r.evaluations).toBeLessThanOrEqual(3e6);
  });
  test.each([2, 4, 8, 12])(
    'a peak of width 1e-6 in %i dimensions: 0, not converged, with a warning',
    async dims => {
      const f: Integrand = (x: number[]) => Math.exp(-x.reduce((s, v) => s + ((v - 0.437) / 1e-6) ** 2, 0));
      const r = await integrate(f, { dims, maxEvaluations: 3e6 });
      expect([r.value, r.converged]).toEqual([0, false]);
      expect(r.warnings.join()).toMatch(/(values were|samples was) 0/);
    },
  );
  test('0 on the whole of the plane', async () => {
    const r = await integrate(() => 0, { domain: Array(2).fill([-Infinity, Infinity]), maxEvaluations: 3e6 });
    expect([r.value, r.converged]).toEqual([0, false]);
  });
});

describe('values that are not finite', () => {
  test('everywhere: rejected, with the point', async () => {
    for (const dims of [1, 4, 10, 16]) {
      const f: Integrand = (x: number[]) => Math.sqrt(-1 - x[0]);
      await expect(integrate(f, { dims })).rejects.toThrow(/the integrand is NaN at \[/);
    }
  });
  test('in a tenth of the domain: rejected, with a point that is there', async () => {
    for (const dims of [2, 6, 10]) {
      const f: Integrand = (x: number[]) => (x[0] > 0.9 ? Math.log(-x[0]) : x[0]);
      await expect(integrate(f, { dims })).rejects.toThrow(/the integrand is NaN at \[0\.9/);
    }
  });
  test.each([
    ['sin(x)/x', ([x]: number[]) => Math.sin(x) / x, 1.8921661407343662],
    ['1/√|x|', ([x]: number[]) => 1 / Math.sqrt(Math.abs(x)), 4],
  ])('at a point that rules look at: %s over [−1, 1]: vegas+ gets there', async (_, f, truth) => {
    const r = await integrate(f as Integrand, { domain: [[-1, 1]], relTol: 1e-2 });
    expect([r.method, r.status]).toEqual(['vegas+', 'converged']);
    expect(Math.abs(r.value - truth)).toBeLessThanOrEqual(4.5 * r.error);
  });
  test("'zero': counted, taken as 0, and said", async () => {
    const f: Integrand = ([x, y]) => (x > 0.75 ? Math.sqrt(-x) : y);
    const r = await integrate(f, { dims: 2, onNonFinite: 'zero' });
    expect(r.status).toBe('converged');
    expect(Math.abs(r.value - 0.375)).toBeLessThan(1e-3);
    expect(r.warnings).toEqual([`${r.nonFinite} values were not finite and counted as 0`]);
  });
});

describe('onProgress', () => {
  test('both methods are seen, evaluations never fall and end at those of the result', async () => {
    const { f, dims } = pick('f6_6');
    const seen: Progress[] = [];
    const r = await integrate(f as never, { dims, relTol: 1e-2, onProgress: p => seen.push(p) });
    expect(seen.length).toBeGreaterThan(r.iterations.length);
    expect(seen.map(p => p.iteration)).toEqual(seen.map((_, i) => i + 1));
    for (let i = 1; i < seen.length; i++)
      expect(seen[i].evaluations).toBeGreaterThanOrEqual(seen[i - 1].evaluations);
    expect(seen.at(-1)).toMatchObject({ value: r.value, error: r.error, evaluations: r.evaluations });
  });
  test('what it throws ends the run, in either method', async () => {
    const boom = new Error('boom');
    for (const at of [1, 5, 20, 40]) {
      const { f, dims } = pick('f6_6');
      let n = 0;
      const tried = integrate(f as never, {
        dims,
        relTol: 1e-9,
        onProgress() {
          if (++n === at) throw boom;
        },
      });
      await expect(tried).rejects.toBe(boom);
      expect(n).toBe(at);
    }
  });
});

describe('what the function throws', () => {
  test.each([1, 1000, 300_000, 700_000])('in its call %i: rejects the run, with that error', async at => {
    const boom = new Error('boom');
    let calls = 0;
    const f = (x: number[]) => {
      if (++calls === at) throw boom;
      return x.reduce((s, v) => s + v * v, 0) < 1.3 ? Math.exp(x[0] + x[1] * x[2]) : 0;
    };
    await expect(integrate(f, { dims: 6, relTol: 1e-7, device: 'js' })).rejects.toBe(boom);
    // the batch may be gone through
    expect(calls).toBeGreaterThanOrEqual(at);
    expect(calls).toBeLessThan(at + 256);
  });
  test('nothing stays behind: no unhandled rejection, and the process ends', async () => {
    const text = `
      import { integrate } from 'quadrille';
      process.on('unhandledRejection', () => console.log('unhandled'));
      for (const at of [10, 400_000, 900_000]) {
        let calls = 0;
        const f = x => {
          if (++calls >= at) throw new Error('boom ' + at);
          return x.reduce((s, v) => s + v * v, 0) < 1.3 ? Math.exp(x[0] + x[1] * x[2]) : 0;
        };
        await integrate(f, { dims: 6, relTol: 1e-7, device: 'js' }).catch(e => console.log(e.message));
        calls = 0;
        await integrate(async x => f(x), { dims: 6, relTol: 1e-7, device: 'js', maxEvaluations: 2e6 }).catch(e => console.log(e.message));
      }
      const stop = new AbortController();
      setTimeout(() => stop.abort(), 200);
      const r = await integrate(x => (x.reduce((s, v) => s + v * v, 0) < 1.3 ? x[1] : 0), { dims: 6, relTol: 1e-9, signal: stop.signal });
      console.log(r.status);
    `;
    expect(await runScript(text)).toEqual({
      code: 0,
      out: 'boom 10\nboom 10\nboom 400000\nboom 400000\nboom 900000\nboom 900000\naborted\n',
      err: '',
    });
  });
});

test('a value that cancels to 0: as exact as numbers are, and nobody goes on in vain', async () => {
  const f: Integrand = ([x, y]) => Math.sin(3 * x) * Math.exp(y);
  const domain = [
    [-1, 1],
    [0, 1],
  ] as const;
  const r = await integrate(f, { domain, relTol: 1e-6 });
  expect([r.status, r.method]).toEqual(['roundoff', 'pagani']);
  expect(r.evaluations).toBeLessThan(1e6);
  expect(Math.abs(r.value)).toBeLessThanOrEqual(r.error);
  expect(r.error).toBeLessThan(1e-13);
});
