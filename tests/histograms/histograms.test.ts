/** Histograms filled while integrating: against known integrals over bins, with errors and covariances from many seeds. */
import { describe, expect, test } from 'vitest';
import {
  type Histogram,
  type IntegrateOptions,
  integrate,
  OptionError,
  Result,
  scan,
} from '../../src/index.ts';
import { absent } from '../cuda/emulated.ts';

/** ∫ (x + y) over the part of the unit square with x + y < s. */
const below = (s: number) => (s <= 1 ? s ** 3 / 3 : s * s - s ** 3 / 3 - 1 / 3);
const f = ([x, y]: number[]) => x + y;
const sum = { of: ([x, y]: number[]) => x + y, bins: 10, range: [0.2, 1.8] } as const;
const truths = Array.from({ length: 10 }, (_, b) => below(0.36 + 0.16 * b) - below(0.2 + 0.16 * b));
const total = ({ values, under, over }: Histogram) =>
  values.reduce((a, b) => a + b, 0) + under.value + over.value;
const METHODS = ['vegas+', 'mcubes', 'plain'] as const;

describe.each(METHODS)('%s', method => {
  test('pulls of bins, and of the sum of the first five, over 200 seeds: mean 0 within 0.3, deviation 1 within 0.2', async () => {
    const pulls = truths.map((): number[] => []);
    const half: number[] = [];
    for (let seed = 1; seed <= 200; seed++) {
      const vegas = { evaluations: 1000, iterations: 4, adapt: method === 'plain' ? 0 : 2 };
      const r = await integrate(f, { dims: 2, method, seed, absTol: 1e-9, vegas, histograms: { sum } });
      const { values, errors, covariance } = r.histograms!.sum;
      for (const [b, truth] of truths.entries()) pulls[b].push((values[b] - truth) / errors[b]);
      const rows = covariance.slice(0, 5);
      const variance = rows.reduce((s, row) => s + row.slice(0, 5).reduce((a, c) => a + c, 0), 0);
      half.push(
        (values.slice(0, 5).reduce((a, v) => a + v, 0) - below(1) + below(0.2)) / Math.sqrt(variance),
      );
    }
    for (const list of [...pulls, half]) {
      const mean = list.reduce((a, b) => a + b, 0) / 200;
      const deviation = Math.sqrt(list.reduce((s, p) => s + (p - mean) ** 2, 0) / 199);
      expect(Math.abs(mean)).toBeLessThan(0.3);
      expect(Math.abs(deviation - 1)).toBeLessThan(0.2);
    }
  });
  test('the bins, with what is under and over, add up to the value; all else is as without them', async () => {
    const options = { dims: 2, method, relTol: 3e-3 } as const;
    const with2 = { sum, first: { of: ([x]: number[]) => x, bins: 7, range: [0, 1] } } as const;
    const r = await integrate(f, { ...options, histograms: with2 });
    const { elapsed: _, histograms, ...rest } = r;
    const { elapsed: __, ...alone } = await integrate(f, options);
    expect({ ...rest }).toEqual({ ...alone });
    for (const h of Object.values(histograms!)) expect(total(h) / r.value).toBeCloseTo(1, 12);
    expect(histograms!.sum.under.value / below(0.2)).toBeCloseTo(1, 0);
    expect(histograms!.first.over.value).toBe(0);
    expect(histograms!.first.edges).toEqual([0, 1 / 7, 2 / 7, 3 / 7, 4 / 7, 5 / 7, 6 / 7, 1]);
  });
});

test('over infinite ranges, backwards, with params: bins of a normal distribution', async () => {
  const normal = ([x, y]: number[], p: { s: number }) => Math.exp((-x * x) / (2 * p.s * p.s) - y);
  const r = await integrate(normal, {
    domain: [
      [Infinity, -Infinity],
      [0, Infinity],
    ],
    params: { s: 2 },
    relTol: 2e-3,
    histograms: { x: { of: ([x]: number[], p: { s: number }) => x / p.s, bins: 4, range: [-2, 2] } },
  });
  expect(r.method).toBe('vegas+');
  const whole = -2 * Math.sqrt(2 * Math.PI);
  const parts = [0.1359051219832778, 0.3413447460685429, 0.3413447460685429, 0.1359051219832778]; // Φ(2) − Φ(1), Φ(1) − Φ(0)
  const { values, errors, under, over } = r.histograms!.x;
  for (const [b, part] of parts.entries())
    expect(Math.abs(values[b] - whole * part)).toBeLessThan(4 * errors[b]);
  for (const beyond of [under, over])
    expect(Math.abs(beyond.value - whole * 0.0227501319481792)).toBeLessThan(4 * beyond.error);
});

test('weights of 1e-200 of the largest are counted once', async () => {
  const g = ([x]: number[]) => (x < 0.5 ? 1e-250 : 1);
  const r = await integrate(g, {
    dims: 1,
    method: 'plain',
    relTol: 1e-2,
    histograms: { x: { of: ([x]: number[]) => x, bins: 2, range: [0, 1] } },
  });
  expect(r.histograms!.x.values[0] / 0.5e-250).toBeCloseTo(1, 1);
});

test('JSON, structuredClone and spread keep histograms; a scan has one per set of params', async () => {
  const g = ([x]: number[], p: { a: number }) => p.a * x;
  const histograms = { x: { of: ([x]: number[]) => x, bins: 2, range: [0, 1] } } as const;
  const results = await scan(g, { dims: 1, relTol: 1e-2, histograms, params: [{ a: 1 }, { a: 3 }] });
  const [one, three] = results.map(r => r.histograms!.x);
  expect(three.values[1] / one.values[1]).toBeCloseTo(3, 1);
  const [r] = results;
  for (const copy of [{ ...r }, structuredClone(r), new Result(JSON.parse(JSON.stringify(r)))])
    expect(copy.histograms).toEqual(r.histograms);
});

test("device 'js': functions as they are", async () => {
  const edge = 0.5;
  const r = await integrate(([x]: number[]) => x, {
    dims: 1,
    device: 'js',
    relTol: 1e-2,
    histograms: { x: { of: ([x]: number[]) => (x < edge ? 0 : 1), bins: 2, range: [0, 2] } },
  });
  const { values, errors } = r.histograms!.x;
  expect(Math.abs(values[0] - 1 / 8)).toBeLessThan(4 * errors[0]);
});

test.skipIf(absent)(
  'on a card: the bins are those of the CPU to rounding, and add up to the value',
  async () => {
    const options = { dims: 2, absTol: 1e-9, vegas: { evaluations: 3000, iterations: 4, adapt: 2 } } as const;
    const [cpu, cuda] = [
      await integrate(f, { ...options, device: 'cpu', histograms: { sum } }),
      await integrate(f, { ...options, device: 'cuda', histograms: { sum } }),
    ];
    expect(total(cuda.histograms!.sum) / cuda.value).toBeCloseTo(1, 12);
    cuda.histograms!.sum.values.forEach((v, b) => {
      expect(v / cpu.histograms!.sum.values[b]).toBeCloseTo(1, 6);
    });
  },
);

test('a run that measured nothing has none', async () => {
  const stop = AbortSignal.abort();
  const r = await integrate(f, { dims: 2, signal: stop, histograms: { sum } });
  expect([r.status, r.histograms]).toEqual(['aborted', undefined]);
});

describe('refused', () => {
  const cases: [string, object, RegExp][] = [
    ['no object', { histograms: [] }, /`histograms` is \[\]; pass an object such as/],
    ['no histogram', { histograms: { a: 3 } }, /`histograms.a` is 3; pass an object/],
    [
      'no expression',
      { histograms: { a: { bins: 3, range: [0, 1] } } },
      /`histograms.a.of` is undefined; pass a function/,
    ],
    [
      'no bins',
      { histograms: { a: { ...sum, bins: 0 } } },
      /`histograms.a.bins` is 0; pass a whole number from 1 to 500/,
    ],
    [
      'an empty range',
      { histograms: { a: { ...sum, range: [1, 1] } } },
      /`histograms.a.range` is \[1, 1\]; pass two finite/,
    ],
    [
      'an unknown member',
      { histograms: { a: { ...sum, min: 1 } } },
      /`histograms.a.min` is 1; the members are/,
    ],
    [
      'pagani',
      { method: 'pagani', histograms: { sum } },
      /filled with samples, and pagani hands out none; use method 'vegas\+'/,
    ],
    ['zmc', { method: 'zmc', histograms: { sum } }, /zmc hands out none/],
    ['skip', { vegas: { iterations: 5, skip: 2 }, histograms: { sum } }, /leave `vegas.skip` out/],
  ];
  test.each(cases)('%s', async (_, change, message) => {
    const run = integrate(f, { dims: 2, ...change } as IntegrateOptions);
    await expect(run).rejects.toThrow(OptionError);
    await expect(run).rejects.toThrow(message);
  });
  test('an integrand with several results of which none is named', async () => {
    const several = ([x, y]: number[]) => [x, y];
    const run = (result?: number) =>
      integrate(several, { dims: 2, method: 'vegas+', histograms: { a: { ...sum, result } } });
    await expect(run()).rejects.toThrow(
      /the integrand returns an array of 2 numbers, and `histograms.a.result` names none of these results; name one with it, such as 0/,
    );
    await expect(run(2)).rejects.toThrow(/`histograms.a.result` names no result: 2/);
  });

  test('a resumed run', async () => {
    const { state } = await integrate(f, { dims: 2, method: 'vegas+' });
    const run = integrate(f, { dims: 2, resume: state!, histograms: { sum } });
    await expect(run).rejects.toThrow(
      /a resumed run does not repeat those that it had; pass the state as `map`/,
    );
    const again = await integrate(f, { dims: 2, map: state!, histograms: { sum } });
    expect(total(again.histograms!.sum) / again.value).toBeCloseTo(1, 12);
  });
  test('an expression that does not compile names the histogram; no timer of maxTime stays behind', async () => {
    const timers = () => process.getActiveResourcesInfo().filter(r => r === 'Timeout').length;
    const before = timers();
    const of = ([x]: number[]) => Number(String(x)); // strings do not compile
    const run = integrate(f, { dims: 2, maxTime: 60_000, histograms: { odd: { ...sum, of } } });
    await expect(run).rejects.toThrow(/This is `histograms.odd.of`/);
    expect(timers()).toBeLessThanOrEqual(before);
  });
  test('an expression that is NaN where the integrand is not 0', async () => {
    const histograms = { a: { ...sum, of: ([x]: number[]) => Math.sqrt(x - 0.5) } };
    const run = integrate(f, { dims: 2, histograms });
    await expect(run).rejects.toThrow(/`histograms.a.of` is NaN at/);
    const half = await integrate(([x]: number[]) => (x > 0.5 ? 1 : 0), { dims: 2, histograms });
    expect(half.histograms!.a.values.length).toBe(10);
  });
});

describe('several results', () => {
  const f = ([x, y]: number[]) => ({ norm: Math.exp(-x * y), tiny: 1e-180 * x, huge: 1e180 * y });
  test('each histogram is of the result that it names: bins add up to its value, and have the errors of its size', async () => {
    const by = (result: string | number) => ({
      of: ([x, y]: number[]) => x + y,
      bins: 5,
      range: [0, 2] as const,
      result,
    });
    const histograms = { a: by('norm'), b: by('tiny'), c: by(2) };
    const options = { dims: 2, method: 'vegas+', relTol: 1e-3 } as const;
    const r = await integrate(f, { ...options, histograms });
    const { norm, tiny, huge } = r.value;
    expect(r.value).toEqual((await integrate(f, options)).value);
    for (const [own, value, error] of [
      [r.histograms!.a, norm, r.error.norm],
      [r.histograms!.b, tiny, r.error.tiny],
      [r.histograms!.c, huge, r.error.huge],
    ] as const) {
      const total = own.values.reduce((a, b) => a + b, 0) + own.under.value + own.over.value;
      expect(total / value).toBeCloseTo(1, 10);
      // the variance of a sum of bins is at least that of the value, which is made of the same samples
      for (const e of own.errors) expect(e).toBeGreaterThan(0.05 * error);
    }
    // ∫ x over the triangle x + y < 0.4: 0.4³/6
    expect(
      Math.abs(r.histograms!.b.values[0] - (1e-180 * 0.4 ** 3) / 6) / r.histograms!.b.errors[0],
    ).toBeLessThan(5);
  });
  test('a name for an integrand that returns a number is refused', async () => {
    const one = { of: ([x]: number[]) => x, bins: 2, range: [0, 1] as const, result: 'norm' };
    await expect(integrate(([x]: number[]) => x, { dims: 1, histograms: { one } })).rejects.toThrow(
      /`histograms.one.result` is given, and the integrand returns a single number/,
    );
  });
});
