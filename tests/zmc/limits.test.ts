/** How a run ends: budgets, abort, time; what it tells on the way; values that are not finite; functions as they are. */
import { describe, expect, test } from 'vitest';
import { type Integrand, integrate, type Progress } from '../../src/index.ts';
import type { CommonOptions } from '../../src/problem.ts';

const f: Integrand = ([x, y]) => Math.exp(-50 * (x * x + y));
const truth = 0.5 * Math.sqrt(Math.PI / 50) * ((1 - Math.exp(-50)) / 50);
const run = (options: CommonOptions) => integrate(f, { dims: 2, method: 'zmc', relTol: 1e-9, ...options });

describe('maxEvaluations', () => {
  test.each([1000, 1234, 5000, 20_000, 1e5, 1e6, 3e6])(
    '%d is never exceeded, and mostly used; true within 4.5 errors',
    async maxEvaluations => {
      const r = await run({ maxEvaluations });
      expect(r.status).toBe('budget');
      expect(r.evaluations).toBeLessThanOrEqual(maxEvaluations);
      expect(r.evaluations).toBeGreaterThan(0.6 * maxEvaluations);
      expect(Math.abs(r.value - truth)).toBeLessThanOrEqual(4.5 * r.error);
    },
  );
  const knobs = [
    { blocks: 40, samples: 100, trials: 5, depth: 4 },
    { blocks: 40, samples: 100, trials: 5, depth: 30 },
    { blocks: 2, samples: 2, trials: 2, sigma: 0, depth: 12 },
    { blocks: 7, samples: 50, trials: 3, sigma: 0, depth: 3 },
    { blocks: 5, samples: 1000, trials: 50 },
    { blocks: 31, samples: 3, trials: 100 },
    { blocks: 1 },
    { depth: 1 },
    { trials: 200 },
  ];
  test.each(knobs)('nor with %o', async zmc => {
    const singular: Integrand = ([x]) => (x * x + 1e-40) ** -0.49;
    for (const maxEvaluations of [1e4, 5e4, 1e5, 3e5]) {
      for (const [g, domain] of [
        [
          f,
          [
            [0, 1],
            [0, 1],
          ],
        ],
        [singular, [[-0.3, 1]]],
      ] as [Integrand, [number, number][]][]) {
        const r = await integrate(g, { domain, method: 'zmc', relTol: 1e-9, maxEvaluations, zmc });
        expect(r.evaluations).toBeLessThanOrEqual(maxEvaluations);
        expect(r.error, `${r}`).toBeLessThan(Infinity);
      }
    }
  });
  test.each([
    [{}, 1e5, 311],
    [{ blocks: 2, samples: 6, trials: 5, depth: 2 }, 1e6, 591],
    [{ blocks: 5, samples: 8, trials: 7, sigma: 3.4, depth: 3 }, 1e5, 384],
  ])('nor when a tail of 1e-300 is all that is seen at first: %o, %d', async (zmc, maxEvaluations, first) => {
    const g: Integrand = (x: number[]) =>
      Math.exp(-x.reduce((s, v, i) => s + ((v - 0.1 - i / 5) / 0.0037) ** 2, 0));
    for (let seed = first; seed < first + 20; seed++) {
      const r = await integrate(g, { dims: 4, method: 'zmc', relTol: 1e-3, maxEvaluations, seed, zmc });
      expect(r.evaluations, `seed ${seed}: ${r}`).toBeLessThanOrEqual(maxEvaluations);
      expect(r.error).not.toBeNaN();
    }
  });
  test('blocks that it cannot fill are refused, with their number and the remedy', async () => {
    await expect(run({ maxEvaluations: 1e5, zmc: { blocks: 1000 } })).rejects.toThrow(
      /`maxEvaluations` is 100000; 1000 blocks an axis are 1000000 in 2 dimensions.*(raise it|fewer `zmc.blocks`)/,
    );
    await expect(
      integrate((x: number[]) => x[0], { dims: 25, method: 'zmc', zmc: { blocks: 3 } }),
    ).rejects.toThrow(/3 blocks an axis are 847288609443 in 25 dimensions/);
  });
});

describe('maxIterations', () => {
  test.each([1, 2, 4, 7])('%i passes and no more', async maxIterations => {
    const r = await run({ maxIterations, maxEvaluations: 1e6 });
    expect(r.status).toBe('budget');
    expect(r.iterations.length).toBeLessThanOrEqual(maxIterations);
    expect(r.iterations.length).toBeGreaterThanOrEqual(Math.min(5, maxIterations));
    expect(Math.abs(r.value - truth)).toBeLessThanOrEqual(5 * r.error);
  });
});

describe('onProgress', () => {
  test('once a pass, with growing evaluations; the last is the result; nothing adapts', async () => {
    const seen: Progress[] = [];
    const r = await run({ relTol: 1e-2, maxEvaluations: 1e7, onProgress: p => seen.push(p) });
    expect(r.status).toBe('converged');
    expect(seen.map(p => p.iteration)).toEqual(r.iterations.map((_, i) => i + 1));
    for (let i = 1; i < seen.length; i++)
      expect(seen[i].evaluations).toBeGreaterThan(seen[i - 1].evaluations);
    expect(seen.at(-1)!.evaluations).toBe(r.evaluations);
    expect([seen.at(-1)!.value, seen.at(-1)!.error]).toEqual([r.value, r.error]);
    expect(r.iterations.filter(i => !i.adapting).length).toBeGreaterThanOrEqual(5);
    const counted = r.iterations.filter(i => !i.adapting);
    const n = counted.reduce((s, i) => s + i.evaluations, 0);
    expect(r.value).toBeCloseTo(
      counted.reduce((s, i) => s + (i.value * i.evaluations) / n, 0),
      12,
    );
  });
  test('what it throws ends the run', async () => {
    const boom = new Error('boom');
    const tried = run({
      onProgress: () => {
        throw boom;
      },
    });
    await expect(tried).rejects.toBe(boom);
  });
});

describe('aborted', () => {
  test('before the run: nothing was evaluated, and it says so', async () => {
    const r = await run({ signal: AbortSignal.abort() });
    expect([r.status, r.evaluations, r.error, r.iterations]).toEqual(['aborted', 0, Infinity, []]);
    expect(r.warnings.join()).toMatch(/no estimate/);
  });
  test('after 3 passes: the estimate of those', async () => {
    const stop = new AbortController();
    const r = await run({ signal: stop.signal, onProgress: p => p.iteration === 3 && stop.abort() });
    expect([r.status, r.iterations.length]).toEqual(['aborted', 3]);
    expect(Math.abs(r.value - truth)).toBeLessThanOrEqual(4.5 * r.error);
  });
  test('in the first pass, by a timer: no estimate, and the next run is not disturbed', async () => {
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 30);
    const zmc = { blocks: 400, samples: 1e6 }; // of 1.6e11 evaluations: no machine is there before the timer
    // without maxTime: with it, what the probe of the rate found would be an estimate, if it ended before the timer
    const r = await run({ maxEvaluations: 1e12, signal: stop.signal, zmc });
    expect([r.status, r.iterations.length, r.error]).toEqual(['aborted', 0, Infinity]);
    expect((await run({ relTol: 1e-2 })).status).toBe('converged');
  });
});

describe('maxTime', () => {
  test('when it is over, the passes until then', async () => {
    const r = await run({ relTol: 0, maxEvaluations: 1e12, maxTime: 1500 });
    expect(r.status).toBe('time');
    expect(r.iterations.length).toBeGreaterThan(0);
    expect(Math.abs(r.value - truth)).toBeLessThanOrEqual(4.5 * r.error);
  });
});

describe('values that are not finite', () => {
  const g: Integrand = ([x, y]) => (x > 0.75 ? Math.sqrt(-x) : y);
  test('the point and the value are named', async () => {
    const e: Error = await integrate(g, { dims: 2, method: 'zmc' }).then(
      r => expect.fail(`${r}`),
      e => e,
    );
    expect(e).toBeInstanceOf(RangeError);
    expect(e.message).toMatch(/the integrand is NaN at \[0\.(7[5-9]|8|9)/);
  });
  test('the same point for 1 worker and 3', async () => {
    const at = (device: string) =>
      integrate(([x, y]) => (x > 0.99 && y > 0.99 ? 1 / (x - x) : x), {
        dims: 2,
        method: 'zmc',
        device,
        zmc: { blocks: 50, samples: 100 },
      }).then(
        r => expect.fail(`${r}`),
        (e: Error) => e.message,
      );
    expect(await at('cpu:3')).toBe(await at('cpu:1'));
  });
  test("'zero' counts them, takes them as 0 and says so", async () => {
    const r = await integrate(g, { dims: 2, method: 'zmc', onNonFinite: 'zero' });
    expect(r.status).toBe('converged');
    expect(Math.abs(r.value - 0.375)).toBeLessThanOrEqual(4.5 * r.error);
    expect(r.nonFinite / r.evaluations).toBeGreaterThan(0.2);
    expect(r.warnings).toEqual([`${r.nonFinite} values were not finite and counted as 0`]);
  });
  test("'zero' with nothing else: 0, every value counted, not converged", async () => {
    const r = await integrate(([x]) => Math.sqrt(-1 - x), {
      dims: 1,
      method: 'zmc',
      onNonFinite: 'zero',
      maxEvaluations: 1e5,
    });
    expect([r.value, r.converged, r.nonFinite]).toEqual([0, false, r.evaluations]);
  });
});

describe('functions as they are', () => {
  test('on workers, on this thread, async and compiled: the same evaluations, values to 1e-13', async () => {
    const options = { dims: 2, method: 'zmc', relTol: 3e-3, maxEvaluations: 1e6 } as const;
    const one = 1;
    const compiled = await integrate(([x, y]) => Math.exp(-x * y), options);
    const moved = await integrate(([x, y]) => Math.exp(-x * y), { ...options, device: 'js' });
    const here = await integrate(([x, y]) => one * Math.exp(-x * y), { ...options, device: 'js' });
    const later = await integrate((async ([x, y]: number[]) => Math.exp(-x * y)) as never, {
      ...options,
      device: 'js',
    });
    expect([moved.device, here.device]).toEqual(['js', 'js on this thread']);
    for (const r of [moved, here, later]) {
      expect([r.status, r.evaluations]).toEqual([compiled.status, compiled.evaluations]);
      expect(Math.abs(r.value / compiled.value - 1)).toBeLessThan(1e-13);
    }
    expect([here.value, later.value]).toEqual([moved.value, moved.value]);
  });
  test('what it throws rejects the run, at once or later, and the next run works', async () => {
    const boom = new Error('boom');
    const thrower = ([x]: number[]) => {
      if (x > 0.9) throw boom;
      return x;
    };
    const options = { dims: 1, method: 'zmc', device: 'js' } as const;
    await expect(integrate(thrower, options)).rejects.toBe(boom);
    await expect(integrate((async (x: number[]) => thrower(x)) as never, options)).rejects.toBe(boom);
    expect((await integrate(([x]) => x, options)).converged).toBe(true);
  });
});
