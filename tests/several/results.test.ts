/** Integrands with several results: shapes, goals, what is learned from, functions of results, copies, messages, types. */
import { describe, expect, expectTypeOf, test } from 'vitest';
import { type IntegrateOptions, integrate, Result, scan } from '../../src/index.ts';

const moments = ([x, y]: number[]) => {
  const g = Math.exp(-3 * x * y);
  return { norm: g, z: { re: x * g, im: y * y * g }, list: [x, y] };
};
const two: IntegrateOptions = { dims: 2, method: 'vegas+', device: 'cpu:1' };

describe('shapes', () => {
  test('the result has the shape of what the integrand returns, typed by inference', async () => {
    const r = await integrate(moments, two);
    expectTypeOf(r.value).toEqualTypeOf<{ norm: number; z: { re: number; im: number }; list: number[] }>();
    expectTypeOf(r.error.z.re).toEqualTypeOf<number>();
    expect(r.converged).toBe(true);
    expect(r.shape).toEqual({
      norm: 'number',
      z: { re: 'number', im: 'number' },
      list: ['number', 'number'],
    });
    expect(r.value.list[0]).toBeCloseTo(0.5, 2);
    expect(r.value.z.re).toBeCloseTo((1 - (1 - Math.exp(-3)) / 3) / 3, 3); // ∫ x e^(−3xy) dy dx
    for (const name of ['norm', 'z.re', 'z.im', 'list[0]', 'list[1]'])
      expect(`${r}`).toMatch(new RegExp(`^${name.replace(/[[\]]/g, '\\$&')} = \\d.*Q \\d`, 'm'));
    expect(r.summary().match(/^itn/gm)).toHaveLength(5);
  });
  test('a scalar integrand has a scalar result, as before', async () => {
    const r = await integrate(([x]: number[]) => x * x, { dims: 1, method: 'vegas+' });
    expectTypeOf(r.value).toEqualTypeOf<number>();
    expect(r.shape).toBeUndefined();
    expect(r.covariance()).toBe(r.error ** 2);
    expect(r.of(v => 2 * v).error).toBe(2 * r.error);
  });
  test('an array of one number is an array', async () => {
    const r = await integrate(([x]: number[]) => [x], { ...two, dims: 1 });
    expect(r.value).toEqual([expect.closeTo(0.5, 2)]);
    expect(r.correlation()).toEqual([[1]]);
  });
  test('an empty domain gives zeros of the shape, a reversed range the other sign', async () => {
    const empty = await integrate(moments, {
      ...two,
      dims: undefined as never,
      domain: [
        [0, 0],
        [0, 1],
      ],
    });
    expect(empty.value).toEqual({ norm: 0, z: { re: 0, im: 0 }, list: [0, 0] });
    const f = ([x]: number[]) => ({ a: x, b: x * x });
    const [there, back] = await Promise.all(
      [[0, 1] as const, [1, 0] as const].map(range => integrate(f, { domain: [range], method: 'vegas+' })),
    );
    expect(back.value).toEqual({ a: -there.value.a, b: -there.value.b });
    expect(back.covariance('a', 'b')).toBe(there.covariance('a', 'b'));
  });
  test('infinite ranges: what lies beyond is part of the error of the result that it is of', async () => {
    const f = ([x]: number[]) => ({ fast: Math.exp(-x), slow: x ** -1.01 });
    const r = await integrate(f, { domain: [[1, Infinity]], method: 'vegas+', maxEvaluations: 2e5 });
    expect(r.converged).toBe(false);
    expect(r.warnings.join()).toMatch(/slow: the map of domain\[0\] ends/);
    expect(r.error.slow).toBeGreaterThan(1);
    expect(r.error.fast).toBeLessThan(1e-2);
    const fast = await integrate(f, { domain: [[1, Infinity]], method: 'vegas+', goals: 'fast' });
    expect(fast.converged).toBe(true);
  });
});

describe('more than 16 results', () => {
  test('40 results, in three passes over the same points', async () => {
    const f = ([x, y]: number[]) => {
      const list = Array(40).fill(0);
      for (let i = 0; i < 40; i++) list[i] = (1 + i) * x + y ** i;
      return list;
    };
    const r = await integrate(f, { ...two, relTol: 1e-2 });
    expect(r.converged).toBe(true);
    r.value.forEach((v, i) => {
      expect(Math.abs(v - ((1 + i) / 2 + 1 / (1 + i))) / r.error[i], `${i}`).toBeLessThan(5);
    });
    expect(r.covariance(3, 5)).toBeGreaterThan(0);
    expect(r.covariance(3, 20)).toBeNaN();
    expect(r.correlation()[39][32]).toBeGreaterThan(0);
    // between passes errors are added: the most that they can come to
    expect(r.of(v => v[0] + v[20]).error).toBeCloseTo(r.error[0] + r.error[20], 12);
    expect(r.of(v => v[0] + v[1]).error ** 2).toBeCloseTo(
      r.error[0] ** 2 + r.error[1] ** 2 + 2 * r.covariance(0, 1),
      12,
    );
  });
  test('1,000 results', async () => {
    const f = ([x]: number[]) => {
      const list = Array(1000).fill(0);
      for (let i = 0; i < 1000; i++) list[i] = x + i + 1; // a map that learns from x alone has weights of 1/x for the others
      return list;
    };
    const vegas = { evaluations: 2000, iterations: 4 };
    const r = await integrate(f, { ...two, dims: 1, goals: [0, '[999]'], learnFrom: 0, relTol: 1e-2, vegas });
    expect(r.converged).toBe(true);
    expect(r.value).toHaveLength(1000);
    r.value.forEach((v, i) => {
      expect(Math.abs(v - i - 1.5)).toBeLessThan(0.05);
    });
  });
});

describe('goals and learnFrom', () => {
  const f = ([x]: number[]) => ({ easy: 1 + x, hard: Math.exp(-1e4 * (x - 0.3) ** 2) });
  const one: IntegrateOptions = { dims: 1, method: 'vegas+', device: 'cpu:1', relTol: 1e-3 };
  test('the tolerance is met by all results, or by those that are named', async () => {
    const all = await integrate(f, one);
    expect(all.error.easy / all.value.easy).toBeLessThanOrEqual(1e-3);
    expect(all.error.hard / all.value.hard).toBeLessThanOrEqual(1e-3);
    const easy = await integrate(f, { ...one, goals: 'easy', relTol: 1e-6, maxEvaluations: 1e6 });
    expect(easy.converged).toBe(true);
    expect(easy.error.hard / easy.value.hard).toBeGreaterThan(1e-4);
  });
  test('the map follows what it learns from', async () => {
    const vegas = { evaluations: 20_000, iterations: 12 };
    const [hard, easy] = await Promise.all(
      ['hard', 'easy'].map(learnFrom => integrate(f, { ...one, learnFrom, vegas, relTol: 0 })),
    );
    expect(hard.error.hard).toBeLessThan(easy.error.hard / 3);
    expect(easy.error.easy).toBeLessThan(hard.error.easy / 3);
  });
  test('results of 1e-150 and 1e150 are learned from alike', async () => {
    const both = ([x]: number[]) => [1e-150 * (1 + x), 1e150 * Math.exp(-1e4 * (x - 0.3) ** 2)];
    const r = await integrate(both, one);
    expect(r.converged).toBe(true);
    expect(r.value[0] / 1.5e-150).toBeCloseTo(1, 2);
    expect(Math.abs(r.correlation()[0][1])).toBeLessThan(1);
    expect(r.of(v => v[0] * v[1]).error).toBeGreaterThan(0);
  });
  test('a result that is 0 everywhere hinders nobody; one that cancels is named', async () => {
    const zero = await integrate(([x]: number[]) => ({ re: Math.cos(x), im: 0 * x }), one);
    expect(zero.converged).toBe(true);
    const odd = ([x]: number[]) => ({ re: Math.cos(x), im: Math.sin(20 * (x - 0.5)) });
    const r = await integrate(odd, { ...one, maxEvaluations: 1e5 });
    expect(r.converged).toBe(false);
    expect(r.warnings.join()).toMatch(/im: 0 within the error.*absTol.*goals/);
    expect((await integrate(odd, { ...one, absTol: 1e-2 })).converged).toBe(true);
  });
  test('a constant beside a result that is not keeps its tiny error', async () => {
    const r = await integrate(([x]: number[]) => ({ one: 1, nearly: 1 + 1e-9 * x, other: x }), one);
    expect(r.value.one).toBeCloseTo(1, 12);
    expect(r.error.one).toBeLessThan(1e-10);
    expect(r.error.nearly).toBeLessThan(1e-10);
  });
  test('a name of a group stands for all results in it', async () => {
    const r = await integrate(moments, { ...two, goals: ['z', 0], learnFrom: 'list' });
    expect(r.converged).toBe(true);
  });
  test.each([
    [{ goals: 'haard' }, /`goals` names no result: 'haard'; did you mean 'hard'\?/],
    [{ goals: ['easy', 7] }, /`goals` names no result: 7; the integrand returns \{ easy, hard \}/],
    [{ learnFrom: [] }, /`learnFrom` is \[\]; pass the name of a result/],
    [{ goals: {} }, /`goals` is an object; pass the name of a result/],
  ])('%o is refused', async (options, message) => {
    await expect(integrate(f, { ...one, ...(options as object) })).rejects.toThrow(message);
  });
  test('names are refused for an integrand that returns a number', async () => {
    await expect(integrate(([x]: number[]) => x, { ...one, goals: 'a' })).rejects.toThrow(
      /`goals` is given, and the integrand returns a single number/,
    );
  });
});

describe('functions of results', () => {
  test('a ratio of correlated results is far better than one of two runs', async () => {
    const f = ([x, y]: number[]) => {
      const g = Math.exp(-8 * (x + y) ** 2);
      return { norm: g, mean: (1 + 0.01 * x) * g };
    };
    const r = await integrate(f, two);
    const ratio = r.of(v => v.mean / v.norm);
    const apart =
      Math.abs(ratio.value) * Math.hypot(r.error.mean / r.value.mean, r.error.norm / r.value.norm);
    expect(ratio.exact).toBe(true);
    expect(ratio.error).toBeLessThan(apart / 30);
    expect(`${ratio}`).toMatch(/^1\.00\d+\(\d+\)$/);
    const both = r.of(v => ({ sum: v.mean + v.norm, difference: v.mean - v.norm }));
    expectTypeOf(both.value).toEqualTypeOf<{ sum: number; difference: number }>();
    expect(both.error.difference).toBeLessThan(both.error.sum / 30);
    expect(`${both}`).toMatch(/^sum = .*\ndifference = /);
  });
  test('names that there are not are refused', async () => {
    const r = await integrate(([x]: number[]) => ({ a: x, b: x * x }), { ...two, dims: 1 });
    expect(() => r.covariance('a', 'c')).toThrow(/there is no result 'c'; the results are a, b/);
    const misspelt = (v: { a: number; b: number }) => (v as unknown as { c: number }).c / v.b;
    expect(() => r.of(misspelt)).toThrow(/there is no result 'c'; the results are a, b/);
    // alone it is nothing, which the compiler refuses as a missing `return`
    expect(() => r.of(v => (v as never as { c: number }).c)).toThrow(
      /there is no result 'c'; the results are a, b/,
    );
    expect(`${r.of(v => Math.sqrt(-v.a))}`).toBe('NaN ± NaN');
    expect(() => r.of(undefined as never)).toThrow(/`of` takes a function of the results/);
  });
});

describe('copies', () => {
  test('spread, structuredClone and JSON keep everything, and JSON is a result again', async () => {
    const r = await integrate(moments, two);
    expect({ ...structuredClone(r) }).toEqual({ ...r });
    const again = new Result<ReturnType<typeof moments>>(JSON.parse(JSON.stringify(r)));
    expect(again).toEqual(r);
    expect(`${again}\n${again.summary()}`).toBe(`${r}\n${r.summary()}`);
    expect(again.covariance('z.re', 'z.im')).toBe(r.covariance('z.re', 'z.im'));
    expect(again.of(v => v.z.re / v.norm).error).toBe(r.of(v => v.z.re / v.norm).error);
  });
  test('null is NaN or Infinity again, in every place', () => {
    const stopped = { value: { a: null, b: 1 }, error: { a: null, b: null }, chi2: { a: 0, b: null } };
    const r = new Result<{ a: number; b: number }>({
      ...stopped,
      shape: { a: 'number', b: 'number' },
      status: 'aborted',
      warnings: [],
      iterations: [],
    } as never);
    expect(r.value).toEqual({ a: Number.NaN, b: 1 });
    expect([r.error.a, r.error.b, r.chi2.b]).toEqual([Infinity, Infinity, Infinity]);
  });
});

describe('everywhere', () => {
  test('the calling thread and three workers give the same bits', async () => {
    const [a, b] = await Promise.all(
      ['cpu:1', 'cpu:3'].map(device => integrate(moments, { ...two, relTol: 1e-4, device })),
    );
    expect(b.value).toEqual(a.value);
    expect(b.correlations).toEqual(a.correlations);
  });
  test('plain functions: the same to rounding, also asynchronous ones and those with names from outside', async () => {
    const r = await integrate(moments, { ...two, relTol: 1e-2 });
    const js = await integrate(moments, { ...two, relTol: 1e-2, device: 'js' });
    expect(js.value.z.im).toBeCloseTo(r.value.z.im, 10);
    expect(js.covariance('norm', 'z.re') / r.covariance('norm', 'z.re')).toBeCloseTo(1, 6);
    const offset = Math.random() * 0;
    const later = await integrate(async ([x]: number[]) => ({ a: x + offset }), {
      dims: 1,
      method: 'vegas+',
      device: 'js',
      relTol: 0.1,
      maxEvaluations: 5000,
    });
    expectTypeOf(later.value).toEqualTypeOf<{ a: number }>();
    expect(later.value.a).toBeCloseTo(0.5, 1);
  });
  test('a value that is not finite is told with its result', async () => {
    const f = ([x]: number[]) => ({ good: x, bad: 1 / (x > 0.5 ? 0 : 1) });
    await expect(integrate(f, { ...two, dims: 1 })).rejects.toThrow(
      /the result bad of the integrand is Infinity at/,
    );
    const r = await integrate(f, { ...two, dims: 1, onNonFinite: 'zero', maxEvaluations: 1e5 });
    expect(r.value.bad).toBeCloseTo(0.5, 1);
    expect(r.nonFinite).toBeGreaterThan(0);
  });
  test('a scan gives the bits of integrate', async () => {
    const f = ([x]: number[], p: { a: number }) => ({ re: Math.cos(p.a * x), im: Math.sin(p.a * x) });
    const options = { dims: 1, method: 'vegas+' } as const;
    const all = await scan(f, { ...options, params: [{ a: 1 }, { a: 2 }, { a: 3 }] });
    expectTypeOf(all[0].value).toEqualTypeOf<{ re: number; im: number }>();
    const own = await integrate(f, { ...options, params: { a: 2 } });
    expect(all[1].value).toEqual(own.value);
    expect(all[1].correlations).toEqual(own.correlations);
  });
  test('a resumed run has the bits of an uninterrupted one; other goals are refused', async () => {
    const options = { ...two, method: 'vegas+' } as const;
    const coarse = await integrate(moments, { ...options, relTol: 1e-2 });
    const fine = await integrate(moments, { ...options, relTol: 1e-3 });
    const state = JSON.parse(JSON.stringify(coarse.state));
    const resumed = await integrate(moments, { ...options, relTol: 1e-3, resume: state });
    expect(resumed.value).toEqual(fine.value);
    expect(resumed.correlations).toEqual(fine.correlations);
    await expect(integrate(moments, { ...options, resume: state, goals: 'norm' })).rejects.toThrow(
      /other `goals`, `learnFrom` or `covariance`/,
    );
    const mapped = await integrate(moments, { ...options, relTol: 1e-3, map: state });
    expect(mapped.converged).toBe(true);
  });
  test('auto takes several results', async () => {
    const r = await integrate(moments, { dims: 2 });
    expect(r.converged).toBe(true);
  });
  test('progress has all results', async () => {
    const seen: (readonly number[] | undefined)[] = [];
    await integrate(moments, { ...two, onProgress: p => seen.push(p.values) });
    expect(seen.every(v => v?.length === 5)).toBe(true);
  });
});
