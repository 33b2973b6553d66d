/** One integral that fails does not stop the others, and says why; what is wrong with the call is told at once. */
import { describe, expect, test } from 'vitest';
import { type Integrand, type Params, type ScanOptions, scan } from '../../src/index.ts';
import { methods } from './problems.ts';

/** NaN below p.a: everywhere from 1 on, nowhere up to 0. */
const root: Integrand = ([x, y], p) => Math.sqrt(x - p.a) + y;
const sets = [{ a: 0 }, { a: 0.5 }, { a: -1 }, { a: 0.9 }, { a: -2 }];

describe.each(methods)('%s', method => {
  test.each(['cpu', 'cpu:3', 'js'])(
    'on %s: NaN in 2 of 5 sets: those fail and name the point, the others converge',
    async device => {
      const results = await scan(root, {
        dims: 2,
        method,
        relTol: 1e-2,
        maxEvaluations: 2e5,
        params: sets,
        device,
      });
      expect(results.map(r => r.status)).toEqual(['converged', 'failed', 'converged', 'failed', 'converged']);
      for (const i of [1, 3]) {
        const r = results[i];
        expect([r.value, r.error, r.converged]).toEqual([Number.NaN, Infinity, false]);
        expect(r.warnings.join()).toMatch(
          /the integrand is NaN at \[[0-9.]+, [0-9.]+\].*onNonFinite: 'zero'/,
        );
        expect(`${r}`).toMatch(/not converged \(failed\).*\nwarning: .*NaN at/);
        expect(r.device).toBe(results[0].device);
      }
      expect(Math.abs(results[0].value - (2 / 3 + 0.5))).toBeLessThan(0.05);
    },
  );
});

test("onNonFinite: 'zero': all converge, and those with NaN say how many", async () => {
  const results = await scan(root, { dims: 2, relTol: 1e-2, params: sets, onNonFinite: 'zero' });
  expect(results.every(r => r.converged)).toBe(true);
  expect(results.map(r => r.nonFinite > 0)).toEqual([false, true, false, true, false]);
});

test('what a function throws for one set, at once or later, fails that set alone', async () => {
  const at = ([x]: number[], p: Record<string, number>) => {
    if (p.a === 2) throw new Error('no twos');
    return x * p.a;
  };
  const params = [{ a: 1 }, { a: 2 }, { a: 3 }];
  for (const f of [at, async (x: number[], p: Record<string, number>) => at(x, p)]) {
    for (const method of ['vegas+', 'pagani', 'auto', 'zmc'] as const) {
      const results = await scan(f as never, { dims: 1, method, params, device: 'js' });
      expect(results.map(r => r.status)).toEqual(['converged', 'failed', 'converged']);
      expect(results[1].warnings.join()).toContain('no twos');
    }
  }
});

test('a shape that the function cannot be compiled for fails alone, with the code frame', async () => {
  const f: Integrand = ([x], p) => p.c[3] * x;
  const [four, one] = [Float64Array.of(1, 2, 3, 4), Float64Array.of(1)];
  const results = await scan(f, { dims: 1, params: [{ c: four }, { c: one }, { c: four }, { c: one }] });
  expect(results.map(r => r.status)).toEqual(['converged', 'failed', 'converged', 'failed']);
  expect(results[1].warnings.join()).toMatch(/Index 3 is outside params.c of length 1[\s\S]*\^/);
});

describe('refused at once', () => {
  const scanOf = (params: unknown, more: object = {}) =>
    scan(([x], p) => p.a * x, { dims: 1, params, ...more } as unknown as ScanOptions<
      number,
      { a: number }
    >).then(
      r => expect.fail(`${r}`),
      (e: Error) => e,
    );
  test.each([undefined, null, 3, 'ab', { a: 1 }, new Float64Array(3)])(
    'params: %o is no list',
    async params => {
      const e = await scanOf(params);
      expect(e).toBeInstanceOf(TypeError);
      expect(e.message).toMatch(/^scan: `params` is no list; pass a set of params an integral/);
    },
  );
  test.each([null, undefined, 3, 'a', [1]])('a set that is %o, the second of three', async set => {
    const e = await scanOf([{ a: 1 }, set, { a: 1 }]);
    expect(e.message).toMatch(/^scan: set 1: params is .*; pass an object of named values/);
  });
  test('a hole in the list', async () => {
    // biome-ignore lint/suspicious/noSparseArray: that is what is tried
    expect((await scanOf([{ a: 1 }, , { a: 1 }])).message).toMatch(/^scan: set 1: /);
  });
  test.each([
    [null, 'null'],
    ['x', 'a string'],
    [[1, 2], 'a plain array; pass a typed array'],
    [new Float64Array(0), 'an empty array'],
    [{ b: 'x' }, 'scan: set 3: params.a.b is a string'],
  ])('a value that is %o, in set 3', async (value, said) => {
    const e = await scanOf([{ a: 1 }, { a: 1 }, { a: 1 }, { a: value }]);
    expect(e.message).toContain('scan: set 3: params.a');
    expect(e.message).toContain(said);
  });
  test('onResult that is no function', async () => {
    expect((await scanOf([], { onResult: 3 })).message).toMatch(/^scan: `onResult` is no function/);
  });
  test.each([
    [{ relTol: -1 }, /`relTol` is -1/],
    [{ dims: 0 }, /`dims` is 0/],
    [{ method: 'magic' }, /`method` is 'magic'/],
    [{ device: 'cpu:0' }, /`device` is 'cpu:0'/],
    [{ foo: 1 }, /unknown option `foo`/],
  ])('%o, for an empty list as well', async (more, said) => {
    for (const params of [[], [{ a: 1 }]]) expect((await scanOf(params, more)).message).toMatch(said);
  });
  test('no options at all', async () => {
    await expect((scan as (f: unknown) => Promise<unknown>)(([x]: number[]) => x)).rejects.toThrow(/^scan: /);
  });
  test('a function that cannot be compiled for any set', async () => {
    await expect(scan(() => Date.now(), { dims: 1, params: [{ a: 1 }, { a: 2 }] })).rejects.toThrow(
      /`Date` is not defined/,
    );
  });
});

test('an empty list: no results, and nothing is called', async () => {
  let called = 0;
  const results = await scan(([x]) => x, { dims: 1, params: [] as Params[], onResult: () => called++ });
  expect([results, called]).toEqual([[], 0]);
});

test('an empty range: 0 for every set, nothing evaluated', async () => {
  const results = await scan(([x], p) => p.a * x, { domain: [[2, 2]], params: [{ a: 1 }, { a: 2 }] });
  for (const r of results) expect([r.value, r.status, r.evaluations]).toEqual([0, 'converged', 0]);
});
