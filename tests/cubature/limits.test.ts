/** How a run ends: budgets, abort, time; what it tells on the way; values that are not finite; functions as they are. */
import { describe, expect, test } from 'vitest';
import { type Integrand, integrate, type Progress } from '../../src/index.ts';
import type { CommonOptions, IntegrateOptions } from '../../src/problem.ts';
import { ruleFor } from '../../src/tasks/every-rule.ts';
import { suite } from '../integrands/suite.ts';

const methods = ['cuhre', 'two-phase', 'pagani'] as const;
const f5 = suite.find(e => e.name === 'f5_5')!;
const run = (options: CommonOptions) => integrate(f5.f as never, { dims: 5, relTol: 1e-9, ...options });

/** √|x + yz − 0.7|, which takes longer than any of these tests. */
const endless: Integrand = ([x, y, z]) => Math.sqrt(Math.abs(x + y * z - 0.7));
const endlessTruth = 0.509_123; // to 1e-5

describe('maxEvaluations', () => {
  test.each(methods)('%s: is never exceeded, and mostly used; true within two errors', async method => {
    for (const maxEvaluations of [1000, 1092, 5000, 12_345, 1e5, 123_456]) {
      const r = await run({ method, maxEvaluations });
      expect(r.status).toBe('budget');
      expect(r.evaluations).toBeLessThanOrEqual(maxEvaluations);
      // a pair of halves, or all of phase I's
      expect(r.evaluations).toBeGreaterThan(maxEvaluations / (method === 'two-phase' ? 3 : 2));
      expect(Math.abs(r.value - f5.truth!)).toBeLessThanOrEqual(2 * r.error);
    }
  });
  test.each(['pagani', 'two-phase'] as const)('%s: nor by a split that takes more', async method => {
    const r = await run({ method, maxEvaluations: 1e5, cubature: { split: 4 } }).catch((e: Error) => e);
    if (r instanceof Error) expect(r.message).toMatch(/split/);
    else expect(r.evaluations).toBeLessThanOrEqual(1e5);
  });
  test.each(['pagani', 'two-phase'] as const)(
    '%s: a split of 16 in 8 dimensions names the split',
    async method => {
      const r = await integrate(() => 1, { dims: 8, method, cubature: { split: 16 } }).catch((e: Error) => e);
      if (r instanceof Error) expect(r.message).toMatch(/split/);
      else expect(r.evaluations).toBeLessThanOrEqual(1e9);
    },
  );
  test.each(methods)('%s: less than a region and its halves take is refused, with how many', async method => {
    const least = 3 * ruleFor(8).points;
    const tried = integrate(() => 1, { dims: 8, method, maxEvaluations: least - 1 });
    await expect(tried).rejects.toThrow(
      new RegExp(`\`maxEvaluations\` is ${least - 1}.*${least} in 8 dimensions`),
    );
    const r = await integrate(() => 1, { dims: 8, method, maxEvaluations: least });
    expect(r.evaluations).toBe(least);
  });
  test.each(['pagani', 'two-phase'] as const)(
    '%s: a start of 1016 evaluations is the estimate when its halves are not affordable, or the split is refused',
    async method => {
      const f: Integrand = ([x, y, z]) => 1 + x * y * z;
      const options = { dims: 3, method, maxEvaluations: 1100, cubature: { split: 2 } };
      const r = await integrate(f, options).catch((e: Error) => e);
      if (r instanceof Error) return expect(r.message).toMatch(/split/);
      expect(r.converged).toBe(false);
      expect(Math.abs(r.value - 1.125)).toBeLessThan(1e-12);
    },
  );
});

describe('maxIterations', () => {
  test.each(methods)('%s: is never exceeded; with 1 there is an estimate', async method => {
    for (const maxIterations of [1, 2, 3, 5, 8, 9, 10, 11]) {
      const r = await run({ method, maxIterations, maxEvaluations: 1e6 });
      expect(r.status).toBe('budget');
      expect(r.iterations.length).toBeLessThanOrEqual(maxIterations);
      expect(Math.abs(r.value - f5.truth!)).toBeLessThanOrEqual(r.error);
    }
  });
});

describe('onProgress', () => {
  test.each(methods)(
    '%s: once an iteration, with growing evaluations; the last is the result',
    async method => {
      for (const [f, dims, relTol] of [
        [f5.f, 5, 1e-3],
        [([x]: number[]) => Math.sqrt(x), 1, 1e-10],
        [(x: number[]) => Math.cos(x[0] + 2 * x[1] + 3 * x[2]), 3, 1e-6],
        [() => 0, 1, 1e-3],
      ] as const) {
        const seen: Progress[] = [];
        const r = await integrate(f as never, { dims, method, relTol, onProgress: p => seen.push(p) });
        expect(seen.map(p => p.iteration)).toEqual(r.iterations.map((_, i) => i + 1));
        expect(seen.map(p => [p.value, p.error, p.evaluations])).toEqual(
          r.iterations.map(i => [i.value, i.error, i.evaluations]),
        );
        for (let i = 1; i < seen.length; i++)
          expect(seen[i].evaluations).toBeGreaterThan(seen[i - 1].evaluations);
        expect(seen.at(-1)!.evaluations).toBe(r.evaluations);
        if (r.converged) expect([seen.at(-1)!.value, seen.at(-1)!.error]).toEqual([r.value, r.error]);
      }
    },
  );
  test.each(methods)('%s: what it throws ends the run', async method => {
    const boom = new Error('boom');
    const tried = run({
      method,
      onProgress: () => {
        throw boom;
      },
    });
    await expect(tried).rejects.toBe(boom);
  });
});

describe('aborted', () => {
  test.each(methods)('%s: before the run: nothing was evaluated', async method => {
    const r = await run({ method, signal: AbortSignal.abort() });
    expect([r.status, r.evaluations, r.error, r.iterations]).toEqual(['aborted', 0, Infinity, []]);
  });
  test.each(methods)('%s: after 3 iterations: the estimate until then', async method => {
    const stop = new AbortController();
    const r = await run({
      method,
      signal: stop.signal,
      onProgress: p => p.iteration === 3 && stop.abort(new Error('enough')),
    });
    expect([r.status, r.iterations.length]).toEqual(['aborted', 3]);
    expect(r.iterations.map(i => i.error)).toContain(r.error);
    expect(Math.abs(r.value - f5.truth!)).toBeLessThanOrEqual(r.error);
  });
  test.each(methods)('%s: by a timer, in the middle', async method => {
    const stop = new AbortController();
    let near = false;
    const r = await integrate(endless, {
      dims: 3,
      method,
      relTol: 0,
      maxEvaluations: 1e12,
      maxTime: 1e5,
      signal: stop.signal,
      onProgress(p) {
        if (!near && p.error < 0.01) setTimeout(() => stop.abort(), 50);
        near ||= p.error < 0.01;
      },
    });
    expect(r.status).toBe('aborted');
    expect(Math.abs(r.value - endlessTruth)).toBeLessThanOrEqual(r.error + 1e-5);
    expect(r.error).toBeLessThan(0.01);
  });
  test.each(methods)('%s: a function as it is, on this thread, in the middle', async method => {
    const stop = new AbortController();
    let calls = 0;
    const f = ([x, y, z]: number[]) => {
      if (++calls === 5000) setTimeout(() => stop.abort(), 0);
      return Math.sqrt(Math.abs(x + y * z - 0.7));
    };
    const options = { dims: 3, method, relTol: 0, maxEvaluations: 1e12, device: 'js', signal: stop.signal };
    const r = await integrate(f, options);
    expect(r.status).toBe('aborted');
    expect(r.error).toBeLessThan(0.1);
    expect(r.evaluations).toBeLessThanOrEqual(calls);
  });
});

describe('time', () => {
  test.each(methods)('%s: when maxTime is over, the estimate until then', async method => {
    const cubature = method === 'two-phase' ? { perProcessor: 2 ** 22 } : {}; // or its lists are full before
    const options = { dims: 3, method, relTol: 0, maxEvaluations: 1e12, maxTime: 1500, cubature };
    const r = await integrate(endless, options);
    expect(r.status).toBe('time');
    expect(Math.abs(r.value - endlessTruth)).toBeLessThanOrEqual(r.error + 1e-5);
    expect(r.error).toBeLessThan(0.01);
  });
  test.each(methods)('%s: 15 dimensions, where a region takes 37,789 evaluations', async method => {
    const f: Integrand = (x: number[]) => Math.abs(x.reduce((s, v) => s + v, -7.3));
    const r = await integrate(f, { dims: 15, method, relTol: 0, maxEvaluations: 1e12, maxTime: 1500 });
    expect(r.status).toBe('time');
    expect(r.value).toBeGreaterThan(0.5);
  });
  test.each(methods)('%s: an async function that waits', async method => {
    const f = async ([x]: number[]) => {
      await new Promise(resolve => setTimeout(resolve, 1));
      return Math.sqrt(x);
    };
    const r = await integrate(f as never, { dims: 1, method, relTol: 1e-14, maxTime: 300, device: 'js' });
    expect(r.status).toBe('time');
    expect(Math.abs(r.value - 2 / 3)).toBeLessThanOrEqual(r.error);
  });
});

describe('values that are not finite', () => {
  /** The point that the message shows. */
  async function pointOf(f: Integrand, options: IntegrateOptions, shown: string): Promise<number[]> {
    const e = await integrate(f, options).then(
      r => expect.fail(`${r}`),
      (e: Error) => e,
    );
    expect(e).toBeInstanceOf(RangeError);
    expect(e.message).toContain(`the integrand is ${shown} at [`);
    return JSON.parse(/\[.*?\]/.exec(e.message)![0]) as number[];
  }
  test.each(methods)('%s: the point and the value are named', async method => {
    const [x, y] = await pointOf(([x, y]) => (x > 0.9 ? Math.sqrt(-x) : y), { dims: 2, method }, 'NaN');
    expect(x > 0.9 && x <= 1 && y >= 0 && y <= 1).toBe(true);
    const centre: Integrand = ([x, y]) => 1 / ((x - 0.5) ** 2 + (y - 0.5) ** 2);
    expect(await pointOf(centre, { dims: 2, method }, 'Infinity')).toEqual([0.5, 0.5]);
    expect(await pointOf(([x]) => Math.log(x - x), { dims: 1, method }, '-Infinity')).toEqual([0.5]);
  });
  test.each(methods)('%s: under an infinite range, the point of the domain', async method => {
    const f: Integrand = ([x]) => (x > 5 ? Math.sqrt(-x) : Math.exp(-x));
    const [x] = await pointOf(f, { domain: [[2, Infinity]], method }, 'NaN');
    expect(x).toBeGreaterThan(5);
  });
  test.each(['two-phase', 'pagani'] as const)(
    '%s: met by workers, the same point for 1 and 3',
    async method => {
      // 4096 regions, 626,688 points at first
      const f: Integrand = x => (x[0] < 0.003 && x[2] > 0.99 ? Math.sqrt(-1 - x[0]) : 1 + x[1]);
      const at = (device: string) => pointOf(f, { dims: 4, method, device, cubature: { split: 8 } }, 'NaN');
      const point = await at('cpu:1');
      expect(point[0] < 0.003 && point[2] > 0.99).toBe(true);
      expect(await at('cpu:3')).toEqual(point);
    },
  );
  test.each(methods)("%s: 'zero' counts them and takes them as 0", async method => {
    const f: Integrand = ([x, y]) => (x > 0.75 ? Math.sqrt(-x) : y);
    const cubature = { witnesses: 0 };
    const r = await integrate(f, { dims: 2, method, onNonFinite: 'zero', cubature });
    expect([r.status, r.nonFinite]).toEqual(['converged', 239]);
    expect(r.warnings).toEqual(['239 values were not finite and counted as 0']);
    expect(Math.abs(r.value - 0.375)).toBeLessThan(1e-12);
    const centre = await integrate(([x]) => (x === 0.5 ? 1 / (x - x) : x), {
      dims: 1,
      method,
      onNonFinite: 'zero',
      cubature,
    });
    expect([centre.status, centre.nonFinite]).toEqual(['converged', 1]);
    expect(Math.abs(centre.value - 0.5)).toBeLessThan(1e-12);
  });
  test.each(methods)("%s: 'zero' with nothing else: 0, every value counted, not converged", async method => {
    const f: Integrand = ([x]) => Math.sqrt(-1 - x);
    const r = await integrate(f, { dims: 1, method, onNonFinite: 'zero', maxEvaluations: 1e4 });
    expect([r.value, r.converged, r.nonFinite]).toEqual([0, false, r.evaluations]);
  });
});

describe('functions as they are', () => {
  test.each(methods)('%s: the evaluations of the compiled one, its value to 1e-14', async method => {
    const f: Integrand = ([x, y]) => 1 / (0.01 + x * x + y);
    const compiled = await integrate(f, { dims: 2, method, relTol: 1e-8 });
    const plain = await integrate(f, { dims: 2, method, relTol: 1e-8, device: 'js' });
    expect([plain.status, plain.evaluations, plain.iterations.length]).toEqual([
      compiled.status,
      compiled.evaluations,
      compiled.iterations.length,
    ]);
    expect(plain.device).toMatch(/^js/);
    expect(Math.abs(plain.value / compiled.value - 1)).toBeLessThan(1e-14);
    expect(Math.abs(plain.error / compiled.error - 1)).toBeLessThan(1e-6);
  });
  test.each(methods)(
    '%s: values of 1e-300 keep their digits, those of 1e-310 what they have',
    async method => {
      for (const size of [1e-300, 1e-310]) {
        const f = ([x]: number[]) => size * Math.exp(x);
        const r = await integrate(f, { dims: 1, method, relTol: 1e-10, device: 'js', maxEvaluations: 1e5 });
        expect(r.status).toBe('converged');
        expect(Math.abs(r.value / (size * (Math.E - 1)) - 1)).toBeLessThan(1e-10);
      }
    },
  );
  test.each(methods)('%s: on workers, on this thread and async, the same bits', async method => {
    const options = { dims: 5, method, relTol: 2e-3, device: 'js' } as const;
    const one = 1;
    const moved = await integrate(
      (x: number[]) => Math.exp(-10 * x.reduce((s, v) => s + Math.abs(v - 0.5), 0)),
      options,
    );
    const here = await integrate(
      (x: number[]) => one * Math.exp(-10 * x.reduce((s, v) => s + Math.abs(v - 0.5), 0)),
      options,
    );
    const later = await integrate(
      (async (x: number[]) => Math.exp(-10 * x.reduce((s, v) => s + Math.abs(v - 0.5), 0))) as never,
      options,
    );
    expect([moved.device, here.device]).toEqual(['js', 'js on this thread']);
    for (const r of [here, later]) {
      expect(r.value).toBe(moved.value);
      expect(r.error).toBe(moved.error);
      expect(r.evaluations).toBe(moved.evaluations);
    }
    expect(moved.evaluations).toBeGreaterThan(2e5);
  });
  test.each(methods)(
    '%s: what it throws rejects the run, at once or later, and the next run works',
    async method => {
      const boom = new Error('boom');
      const thrower = ([x]: number[]) => {
        if (x > 0.9) throw boom;
        return x;
      };
      await expect(integrate(thrower, { dims: 1, method, device: 'js' })).rejects.toBe(boom);
      const later = async ([x]: number[]) => thrower([x]);
      await expect(integrate(later as never, { dims: 1, method, device: 'js' })).rejects.toBe(boom);
      expect((await integrate(([x]) => x, { dims: 1, method, device: 'js' })).converged).toBe(true);
    },
  );
  test.each(methods)('%s: no number is a value that is not finite', async method => {
    const nothing = (() => undefined) as never;
    await expect(integrate(nothing, { dims: 2, method, device: 'js' })).rejects.toThrow(
      /the integrand returns nothing at \[0\.5, 0\.5\]; is a `return` missing\?/,
    );
  });
});
