/** Points drawn from integrands: weights against known integrals, unweighted points against known densities. */
import { describe, expect, test } from 'vitest';
import {
  integrate,
  OptionError,
  type SampleOptions,
  type Samples,
  type State,
  sample,
} from '../../src/index.ts';
import { referenceFor } from '../../src/sample.ts';
import { absent } from '../cuda/emulated.ts';

const gauss = ([x, y]: number[], p: { a: number }) => Math.exp(-p.a * ((x - 0.5) ** 2 + (y - 0.5) ** 2));
const base = { dims: 2, params: { a: 200 }, relTol: 5e-3 } as const;
const truth = Math.PI / 200; // the tails beyond the square are less than 1e-20 of it

const stateOf = async (): Promise<State> =>
  JSON.parse(JSON.stringify((await integrate(gauss, { ...base, method: 'vegas+' })).state));
const coordinate = ({ points }: Samples, dims: number, d: number) => points.filter((_, i) => i % dims === d);
const mean = (list: Float64Array) => list.reduce((a, b) => a + b, 0) / list.length;

describe('weighted', () => {
  type Case = [string, (x: number[]) => number, Omit<SampleOptions, 'count'>, number];
  const cases: Case[] = [
    ['a product', ([x, y]) => x * y, { dims: 2 }, 1 / 4],
    ['of both signs', ([x, y, z]) => x - 2 * y + z * z, { dims: 3 }, 1 / 2 - 1 + 1 / 3],
    [
      'on infinite ranges',
      ([x, y]) => Math.exp(-x * x - y),
      {
        domain: [
          [-Infinity, Infinity],
          [0, Infinity],
        ],
      },
      Math.sqrt(Math.PI),
    ],
    ['backwards', ([x]) => x * x, { domain: [[2, 0]] }, -8 / 3],
    ['with values of 1e200', ([x]) => 1e200 * x, { domain: [[0, 2]] }, 2e200],
    ['plain', ([x, y]) => Math.cos(x + y), { dims: 2, method: 'plain' }, 2 * Math.cos(1) - Math.cos(2) - 1],
    [
      'in five dimensions',
      x => Math.exp(-x[0] - x[1] - x[2] - x[3] - x[4]),
      { dims: 5 },
      (1 - Math.exp(-1)) ** 5,
    ],
  ];
  test.each(cases)(
    '%s: the mean of 20,000 weights is within 4 errors of the integral',
    async (_, f, options, exact) => {
      const r = await sample(f, { ...options, relTol: 1e-2, count: 20_000 } as SampleOptions);
      expect(mean(r.weights) / exact).toBeCloseTo(r.value / exact, 10);
      expect(Math.abs(r.value - exact)).toBeLessThan(4 * r.error);
      expect(r.error).toBeLessThan(0.05 * Math.abs(exact));
      expect([r.weights.length, r.values.length, r.drawn]).toEqual([20_000, 20_000, 20_000]);
      const dims = r.points.length / 20_000;
      for (const i of [0, 7, 19_999]) {
        const x = [...r.points.subarray(i * dims, (i + 1) * dims)];
        expect(r.values[i] / f(x)).toBeCloseTo(1, 9);
      }
    },
  );
  test('(mean − integral)/error of 200 seeds has mean 0 and deviation 1, within 0.25 and 0.2', async () => {
    const state = await stateOf();
    const pulls: number[] = [];
    for (let seed = 1; seed <= 200; seed++) {
      const r = await sample(gauss, { ...base, state, seed, count: 500 });
      pulls.push((r.value - truth) / r.error);
    }
    const m = pulls.reduce((a, b) => a + b, 0) / 200;
    expect(Math.abs(m)).toBeLessThan(0.25);
    expect(Math.abs(Math.sqrt(pulls.reduce((s, p) => s + (p - m) ** 2, 0) / 199) - 1)).toBeLessThan(0.2);
  });
  test('the first of 3000 points are those of 100, and none is one of another seed', async () => {
    const state = await stateOf();
    const [few, many, other] = await Promise.all([
      sample(gauss, { ...base, state, count: 100 }),
      sample(gauss, { ...base, state, count: 3000 }),
      sample(gauss, { ...base, state, count: 100, seed: 2 }),
    ]);
    expect(many.points.slice(0, 200)).toEqual(few.points);
    expect(many.weights.slice(0, 100)).toEqual(few.weights);
    expect([...other.points].filter(x => few.points.includes(x))).toEqual([]);
  });
  test('a learned map makes weights more even: the efficiency is five times that of none', async () => {
    const learned = await sample(gauss, { ...base, count: 4000 });
    const none = await sample(gauss, { ...base, method: 'plain', relTol: 0.05, count: 4000 });
    expect(learned.efficiency).toBeGreaterThan(5 * none.efficiency);
    expect(learned.efficiency).toBeLessThanOrEqual(1);
  });
});

describe('unweighted', () => {
  test('χ² of 20 bins against the density over 40 seeds: mean 19 within 3, none beyond 50', async () => {
    // density 2x on [0, 1]: P(x < t) = t², so t² is uniform
    const f = ([x, y]: number[]) => x * (1 + y);
    const { state } = await integrate(f, { dims: 2, method: 'vegas+', relTol: 1e-2 });
    const found: number[] = [];
    for (let seed = 1; seed <= 40; seed++) {
      const r = await sample(f, {
        dims: 2,
        state: state!,
        seed,
        count: 2000,
        unweighted: true,
        maxOverweight: 0,
      });
      const bins = new Float64Array(20);
      for (const x of coordinate(r, 2, 0)) bins[Math.floor(20 * x * x)]++;
      found.push(bins.reduce((s, n) => s + (n - 100) ** 2 / 100, 0));
    }
    expect(Math.abs(found.reduce((a, b) => a + b, 0) / 40 - 19)).toBeLessThan(3);
    expect(Math.max(...found)).toBeLessThan(50);
  });
  test('moments of a Gaussian: mean 0.5 and variance 1/400, within 4 of their errors', async () => {
    const r = await sample(gauss, { ...base, state: await stateOf(), count: 20_000, unweighted: true });
    for (const d of [0, 1]) {
      const x = coordinate(r, 2, d);
      const variance = mean(x.map(v => (v - 0.5) ** 2));
      expect(Math.abs(mean(x) - 0.5)).toBeLessThan(4 * Math.sqrt(1 / 400 / 20_000));
      expect(Math.abs(variance * 400 - 1)).toBeLessThan(4 * Math.sqrt(2 / 20_000) + 2 * r.overweight.weight);
    }
    expect(Math.abs(r.value - truth)).toBeLessThan(4 * r.error);
  });
  test('what is overweight is told, in number and weight, and is about what was allowed', async () => {
    const state = await stateOf();
    for (const maxOverweight of [0.05, 0.01, 1e-3]) {
      const r = await sample(gauss, { ...base, state, count: 20_000, unweighted: true, maxOverweight });
      const over = r.weights.filter(w => w > 1);
      const total = r.weights.reduce((a, b) => a + b, 0);
      expect(r.overweight.points).toBe(over.length / 20_000);
      expect(r.overweight.weight).toBeCloseTo(over.reduce((s, w) => s + w - 1, 0) / total, 12);
      expect(r.overweight.weight / maxOverweight).toBeGreaterThan(0.5);
      expect(r.overweight.weight / maxOverweight).toBeLessThan(2);
      expect(r.weights.every(w => w >= 1)).toBe(true);
    }
  });
  test('negative values have the weight −1, and Σ weights/count is ∫f/∫|f|', async () => {
    const r = await sample(([x]) => x - 0.25, { dims: 1, relTol: 1e-2, count: 20_000, unweighted: true });
    const [positive, negative] = [0.75 ** 2 / 2, 0.25 ** 2 / 2];
    const expected = (positive - negative) / (positive + negative);
    expect(mean(r.weights)).toBeGreaterThan(expected - 4 / Math.sqrt(20_000));
    expect(mean(r.weights)).toBeLessThan(expected + 4 / Math.sqrt(20_000));
    for (const [i, x] of r.points.entries()) expect(Math.sign(r.weights[i])).toBe(Math.sign(x - 0.25));
  });
  test('a constant has nothing to reject: the efficiency is 1, and nothing is overweight', async () => {
    const r = await sample(() => 3, { dims: 2, relTol: 1e-2, count: 1000, unweighted: true });
    expect(r.efficiency).toBe(1);
    expect(r.overweight).toEqual({ points: 0, weight: 0 });
  });
});

test('the reference leaves the allowed part beyond it', () => {
  const weights = Float64Array.of(1, 1, 1, 1, 6);
  expect(referenceFor(weights, 0)).toBe(6);
  expect(referenceFor(weights, 0.1)).toBe(5);
  expect(referenceFor(weights, 0.4)).toBe(2);
  expect(referenceFor(Float64Array.of(0, 0, 4), 0.5)).toBe(2);
  expect(referenceFor(new Float64Array(4), 0.5)).toBe(0);
});

describe.skipIf(absent)('devices', () => {
  test('the same points come from a state, whatever the device', async () => {
    const state = await stateOf();
    const [cpu, cuda] = [
      await sample(gauss, { ...base, state, device: 'cpu', count: 50 }),
      await sample(gauss, { ...base, state, device: 'cuda', count: 50 }),
    ];
    expect(cuda).toEqual(cpu);
  });
  test('a map that a card has learned', async () => {
    const r = await sample(gauss, { ...base, device: 'cuda', relTol: 2e-2, count: 5000 });
    expect(Math.abs(r.value - truth)).toBeLessThan(4 * r.error);
  });
});

test("device 'js': a function as it is, also an async one", async () => {
  const f = (async ([x]: number[]) => x) as unknown as (x: number[]) => number;
  const r = await sample(f, { dims: 1, device: 'js', relTol: 5e-2, count: 500 });
  expect(Math.abs(r.value - 0.5)).toBeLessThan(4 * r.error);
});

describe('refused', () => {
  test('several results of which none, none that there is, or a group is named; a name for a number', async () => {
    const f = ([x]: number[]) => ({ norm: x, z: { re: x, im: 2 * x } });
    const run = (result?: string | number) => sample(f, { dims: 1, count: 10, result });
    await expect(run()).rejects.toThrow(
      /^sample: the integrand returns \{ norm, z: .*, and `result` names none of these results; name one with it, such as 'norm'/,
    );
    await expect(run('nrm')).rejects.toThrow(/^sample: `result` names no result: 'nrm'; did you mean 'norm'/);
    await expect(run('z')).rejects.toThrow(/^sample: `result` names 2 results: 'z'; pass .* such as 'z.re'/);
    await expect(run({} as never)).rejects.toThrow(
      /^sample: `result` is an object; pass the name of a result/,
    );
    await expect(sample(([x]: number[]) => x, { dims: 1, count: 10, result: 'norm' })).rejects.toThrow(
      /^sample: `result` is given, and the integrand returns a single number/,
    );
  });

  const cases: [string, Record<string, unknown>, RegExp][] = [
    ['no count', { count: undefined }, /^sample: `count` is undefined; pass a whole number from 1/],
    ['count 0', { count: 0 }, /`count` is 0; pass a whole number from 1/],
    ['half a point', { count: 1.5 }, /`count` is 1.5/],
    [
      'params of another integral',
      { params: { a: 3 } },
      /^sample: `state` is a state of another integrand or other params; .*`map`/,
    ],
    [
      'another domain',
      {
        dims: undefined,
        domain: [
          [0, 1],
          [0, 2],
        ],
      },
      /of another domain/,
    ],
    ['what is no state', { state: 3 }, /^sample: `state` is 3; pass the `state` of a result/],
    ['resume', { resume: {} }, /unknown option `resume`; pass it as `state`/],
    ['histograms', { histograms: {} }, /unknown option `histograms`; pass it to `integrate`/],
    ['a map beside the state', { map: { version: 1 } }, /give `state` or `map`, not both/],
    ['unweighted by a number', { unweighted: 1 }, /`unweighted` is 1; pass true or false/],
    ['a part of 1', { maxOverweight: 1 }, /`maxOverweight` is 1; pass a number from 0 on, below 1/],
    ['an unknown option', { cuont: 3 }, /^sample: unknown option `cuont`/],
    [
      'neither a state nor a tolerance',
      { state: undefined, relTol: 0 },
      /with no tolerance at all, give a budget/,
    ],
    [
      'a method without a map',
      { state: undefined, method: 'cuhre' },
      /cuhre learns no map; use method 'vegas\+'/,
    ],
  ];
  test.each(cases)('%s', async (_, change, message) => {
    const options: Record<string, unknown> = { ...base, state: await stateOf(), count: 10, ...change };
    for (const [name, value] of Object.entries(options))
      if (value === undefined && name !== 'count') delete options[name];
    const run = sample(gauss as never, options as never);
    await expect(run).rejects.toThrow(OptionError);
    await expect(run).rejects.toThrow(message);
  });
  test('the state of regions', async () => {
    const { state } = await integrate(gauss, { ...base, method: 'pagani' });
    const run = sample(gauss, { ...base, state: state!, count: 10 });
    await expect(run).rejects.toThrow(/^sample: `state` is a state of pagani, which has learned no map/);
  });
  test('values that are not finite, unless they count as 0', async () => {
    const f = ([x]: number[]) => (x < 0.5 ? Number.NaN : 1);
    const options = { dims: 1, count: 1000, relTol: 0.05, onNonFinite: 'zero' } as const;
    const r = await sample(f, options);
    expect(Math.abs(r.value - 0.5)).toBeLessThan(4 * r.error);
    const { state } = await integrate(f, {
      dims: 1,
      relTol: 0.05,
      onNonFinite: 'zero',
      method: 'vegas+',
    });
    const run = sample(f, { dims: 1, count: 1000, state: state! });
    await expect(run).rejects.toThrow(/^sample: the integrand is NaN at/);
  });
  test('0 everywhere has no unweighted points; too small a budget says how many were kept', async () => {
    const none = sample(() => 0, { dims: 1, absTol: 1, count: 3, unweighted: true });
    await expect(none).rejects.toThrow(/^sample: the integrand was 0 at all of 65536 points/);
    const few = sample(gauss, {
      ...base,
      method: 'plain',
      relTol: 0.3,
      maxEvaluations: 20_000,
      count: 5000,
      unweighted: true,
    });
    await expect(few).rejects.toThrow(
      /^sample: \d+ of 5000 points were kept when `?maxEvaluations`?, 20000, was spent; raise it/,
    );
  });
  test('an aborted signal rejects with its reason', async () => {
    const stop = new AbortController();
    const run = sample(gauss, { ...base, count: 1e6, signal: stop.signal });
    stop.abort(new Error('enough'));
    await expect(run).rejects.toThrow('enough');
  });
});

describe('several results', () => {
  const f = ([x, y]: number[]) => {
    const g = Math.exp(-50 * ((x - 0.3) ** 2 + (y - 0.6) ** 2));
    return { norm: g, far: { tail: x * x, sum: x + y } };
  };
  test('points are those of an integrand that returns the result alone', async () => {
    const alone = ([x, y]: number[]) => Math.exp(-50 * ((x - 0.3) ** 2 + (y - 0.6) ** 2));
    const options = { dims: 2, count: 2000, vegas: { evaluations: 2000, iterations: 6 }, relTol: 0 };
    const r = await sample(f, { ...options, result: 'norm' });
    expect(r.efficiency).toBeGreaterThan(0.5); // the map has learned this result
    for (const i of [0, 1999])
      expect(r.values[i]).toBeCloseTo(alone([r.points[2 * i], r.points[2 * i + 1]]), 12);
    expect(Math.abs(r.value - Math.PI / 50) / r.error).toBeLessThan(5);
  });
  test('one state serves every result, weighted and not, compiled and as it is', async () => {
    const { state } = await integrate(f, { dims: 2, method: 'vegas+', relTol: 1e-2 });
    const truths = { norm: Math.PI / 50, 'far.tail': 1 / 3, 'far.sum': 1 };
    for (const [result, exact] of Object.entries(truths)) {
      const r = await sample(f, { dims: 2, state, result, count: 5000 });
      expect(Math.abs(r.value - exact) / r.error, result).toBeLessThan(5);
      const kept = await sample(f, { dims: 2, state, result, count: 500, unweighted: true });
      expect(Math.abs(kept.value - exact) / kept.error, result).toBeLessThan(5);
    }
    const plain = await sample(f, { dims: 2, result: 1, count: 500, device: 'js', relTol: 5e-2 });
    expect(Math.abs(plain.value - 1 / 3) / plain.error).toBeLessThan(5);
  });
  test('a value that is not finite is told with its result; those of other results do not matter', async () => {
    const bad = ([x]: number[]) => ({ good: x, bad: 1 / (x > 0.5 ? 0 : 1) });
    const { state } = await integrate(bad, { dims: 1, method: 'vegas+', onNonFinite: 'zero' });
    await expect(sample(bad, { dims: 1, state, count: 500, result: 'bad' })).rejects.toThrow(
      /^sample: the result bad of the integrand is Infinity at/,
    );
    const r = await sample(bad, { dims: 1, state, count: 500, result: 'good' });
    expect(Math.abs(r.value - 0.5) / r.error).toBeLessThan(5);
  });
});
