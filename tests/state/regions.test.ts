/** Runs of the deterministic methods that go on where another one ended, against runs that were not interrupted. */
import { describe, expect, test } from 'vitest';
import { CpuDevice } from '../../src/devices/cpu/cpu.ts';
import {
  type IntegrateOptions,
  integrate,
  OptionError,
  type Result,
  type ResultShape,
  type State,
} from '../../src/index.ts';
import { KnownRegions } from '../../src/methods/cubature/known-regions.ts';
import { RememberedRegions } from '../../src/methods/cubature/remembered-regions.ts';
import { uniformSplit } from '../../src/tasks/pool/regions.ts';
import { allRegions } from '../../src/tasks/region.ts';
import { decode, encode } from '../../src/tasks/wire.ts';
import { absent } from '../cuda/emulated.ts';
import { wrapped } from '../devices/wrapped.ts';

const peak = ([x, y, z]: number[], p: { a: number }) =>
  1 / (1 / p.a + (x - 0.3) ** 2 + (y - 0.6) ** 2 + (z - x * y) ** 2);
const base = { dims: 3, params: { a: 500 } } satisfies IntegrateOptions;
/** The same with two more results, one of them a step: each has an error and an axis of its own in a region. */
const three = ([x, y, z]: number[], p: { a: number }) => {
  const g = 1 / (1 / p.a + (x - 0.3) ** 2 + (y - 0.6) ** 2 + (z - x * y) ** 2);
  return { norm: g, part: [x > 0.4 ? g : 0, z * g] };
};
/** 9 more on a strip that no point of `degree7` hits in the first regions: witnesses contradict. */
const hidden = ([x, y]: number[]) => x * y + (x > 0.31 && x < 0.34 ? 9 : 0);

const bits = <S>({ elapsed: _, ...r }: Result<S>) => ({ ...r });
const stored = (state: State | undefined): State => structuredClone(JSON.parse(JSON.stringify(state)));

/** A run, and the regions that its device has evaluated, as text. */
async function watched<S extends ResultShape>(
  f: (x: number[], p: { a: number }) => S,
  options: IntegrateOptions<{ a: number }>,
): Promise<[Result<S>, Set<string>]> {
  const cpu = new CpuDevice(1);
  const regions = new Set<string>();
  const device = wrapped(cpu, session => ({
    regions: (task, part, signal) => {
      const { count, centres, levels, ranges } = task;
      for (let i = part.first; i < part.first + part.count; i++)
        regions.add(ranges.map((_, d) => `${centres[d * count + i]}/${levels[d * count + i]}`).join(' '));
      return session.regions(task, part, signal);
    },
  }));
  const result = await integrate(f, { ...options, device });
  await cpu.close();
  return [result as Result<S>, regions];
}

const without = (a: Set<string>, b: Set<string>) => new Set([...a].filter(region => !b.has(region)));

describe.each(['pagani', 'cuhre', 'two-phase'] as const)('%s', method => {
  const options = { ...base, method };
  test('to a tolerance, then to a tenth of it: the bits of one run, and no region is evaluated twice', async () => {
    const relTol = 1e-4;
    const [rough, before] = await watched(peak, { ...options, relTol });
    const [whole, all] = await watched(peak, { ...options, relTol: relTol / 10 });
    const resume = stored(rough.state);
    const [resumed, after] = await watched(peak, { ...options, relTol: relTol / 10, resume });
    expect(whole.evaluations).toBeGreaterThan(rough.evaluations);
    expect(bits(resumed)).toEqual(bits(whole));
    expect(after).toEqual(without(all, before));
    expect(after.size).toBeLessThan(0.7 * all.size);
  });
  test('three results to a tolerance, then to a tenth of it: the bits of one run, and no region is evaluated twice', async () => {
    const relTol = 1e-2;
    const [rough, before] = await watched(three, { ...options, relTol });
    const [whole, all] = await watched(three, { ...options, relTol: relTol / 10 });
    const resume = stored(rough.state);
    const [resumed, after] = await watched(three, { ...options, relTol: relTol / 10, resume });
    expect(whole.evaluations).toBeGreaterThan(rough.evaluations);
    expect(bits(resumed)).toEqual(bits(whole));
    expect(after).toEqual(without(all, before));
  });
  test('a budget that ended the run, then ten times as much', async () => {
    const given = { ...options, relTol: 1e-9, cubature: { witnesses: 0 } };
    const short = await integrate(peak, { ...given, maxEvaluations: 3e4 });
    const whole = await integrate(peak, { ...given, maxEvaluations: 3e5 });
    const resumed = await integrate(peak, { ...given, maxEvaluations: 3e5, resume: stored(short.state) });
    expect(short.status).toBe('budget');
    expect(bits(resumed)).toEqual(bits(whole));
  });
  test('after contradictions by random points, and to a larger tolerance', async () => {
    const given = { dims: 2, method, device: 'cpu:1', cubature: { rule: 'degree7' } } as const;
    const cpu = new CpuDevice(1);
    let draws = 0;
    const device = wrapped(cpu, session => ({
      witness: (...task) => {
        draws++;
        return session.witness(...task);
      },
    }));
    const whole = await integrate(hidden, { ...given, relTol: 1e-2, device });
    await cpu.close();
    expect(draws).toBeGreaterThan(1);
    const other = await integrate(hidden, { ...given, relTol: 5e-2 });
    const [fine, rough] = [whole.state, other.state].map(stored);
    expect(bits(await integrate(hidden, { ...given, relTol: 1e-2, resume: rough }))).toEqual(bits(whole));
    expect(bits(await integrate(hidden, { ...given, relTol: 5e-2, resume: fine }))).toEqual(bits(other));
  });
  test('stopped by its signal after its second iteration, and resumed from there', async () => {
    const given = { ...options, relTol: 1e-4 };
    const whole = await integrate(peak, given);
    const stop = new AbortController();
    const onProgress = ({ iteration }: { iteration: number }) => iteration === 2 && stop.abort();
    const stopped = await integrate(peak, { ...given, signal: stop.signal, onProgress });
    expect(stopped.status).toBe('aborted');
    const resumed = await integrate(peak, { ...given, resume: stored(stopped.state) });
    expect(bits(resumed)).toEqual(bits(whole));
  });
});

describe('a record', () => {
  const options = { ...base, method: 'pagani' } as const;
  test('that maxState has cut short saves what it has: the bits are the same', async () => {
    const cubature = { maxState: 44 * 50 }; // 9·3 + 17 bytes for each of 50 regions
    const rough = await integrate(peak, { ...options, relTol: 1e-4, cubature });
    expect(decode<{ values: Float64Array }>(rough.state!.record).values.length).toBe(50);
    const [whole, all] = await watched(peak, { ...options, relTol: 1e-5 });
    const [resumed, after] = await watched(peak, { ...options, relTol: 1e-5, resume: stored(rough.state) });
    expect(bits(resumed)).toEqual(bits(whole));
    expect(all.size - after.size).toBe(50);
  });
  test('of another rule is not used, nor is it wrong', async () => {
    const rough = await integrate(peak, { ...options, relTol: 1e-3 });
    const given = { ...options, relTol: 1e-4, cubature: { rule: 'degree9' } } as const;
    const whole = await integrate(peak, given);
    expect(bits(await integrate(peak, { ...given, resume: stored(rough.state) }))).toEqual(bits(whole));
  });
  test('has no region whose values were not finite: they are counted, and are errors, again', async () => {
    const f = ([x, y]: number[]) => (x === 0.5 ? Number.NaN : Math.abs(x - 0.3) + y);
    const given = { dims: 2, method: 'pagani', onNonFinite: 'zero' } as const;
    const rough = await integrate(f, { ...given, relTol: 1e-3 });
    expect(rough.nonFinite).toBeGreaterThan(0);
    const whole = await integrate(f, { ...given, relTol: 1e-5 });
    const resumed = await integrate(f, { ...given, relTol: 1e-5, resume: stored(rough.state) });
    expect(bits(resumed)).toEqual(bits(whole));
    await expect(integrate(f, { dims: 2, method: 'pagani', resume: rough.state! })).rejects.toThrow(/NaN at/);
  });
  test('finds each of 4096 regions, and none that it does not have', async () => {
    const ranges = [
      [0, 1],
      [-3, 7],
    ] as const;
    let asked = 0;
    const session = {
      description: 'counts',
      regions: async (task: { count: number; centres: Float64Array }, part: object) => {
        asked += task.count;
        const values = task.centres.slice(0, task.count);
        const errors = values.map(v => v / 7);
        return { part, values, errors, axes: new Uint8Array(task.count), nonFinite: null };
      },
    } as never;
    const list = (level: number) => ({ ...uniformSplit(ranges, level), rule: 'degree7' as const, ranges });
    const evaluated = { dims: 2, results: 1, rule: 'degree7' } as const;
    const first = new RememberedRegions(session, evaluated, Infinity);
    const direct = await first.session.regions(list(6), allRegions(list(6)));
    const again = new RememberedRegions(session, evaluated, Infinity, new KnownRegions(first.record, 2));
    asked = 0;
    expect(await again.session.regions(list(6), allRegions(list(6)))).toEqual(direct);
    expect(asked).toBe(0);
    await again.session.regions(list(5), allRegions(list(5)));
    expect(asked).toBe(1024);
  });
});

test('auto has the state of pagani if that was chosen, and goes on with pagani', async () => {
  const smooth = ([x, y]: number[]) => Math.exp(-3 * (x * x + y));
  const r = await integrate(smooth, { dims: 2, relTol: 1e-4 });
  expect([r.method, r.state?.method]).toEqual(['pagani', 'pagani']);
  const resumed = await integrate(smooth, { dims: 2, relTol: 1e-8, resume: stored(r.state) });
  expect(bits(resumed)).toEqual(bits(await integrate(smooth, { dims: 2, relTol: 1e-8, method: 'pagani' })));
});

describe.skipIf(absent)('on a card', () => {
  const options = { ...base, device: 'cuda', params: { a: 20 }, cubature: { witnesses: 2000 } } as const;
  test.each(['cuhre', 'two-phase'] as const)('%s: resumed with the bits of one run', async method => {
    const rough = await integrate(peak, { ...options, method, relTol: 1e-2 });
    const whole = await integrate(peak, { ...options, method, relTol: 3e-3 });
    const resumed = await integrate(peak, { ...options, method, relTol: 3e-3, resume: stored(rough.state) });
    expect(bits(resumed)).toEqual(bits(whole));
  });
});

describe('refused', () => {
  const options = { ...base, method: 'pagani' } as const;
  const cut = (s: State): State => {
    const record = decode<{ values: Float64Array }>(s.record);
    return { ...s, record: encode({ ...record, values: record.values.slice(1) }) };
  };
  const cases: [string, IntegrateOptions, RegExp, (s: State) => State][] = [
    ['another method', { ...options, method: 'cuhre' }, /is a state of pagani, not cuhre/, s => s],
    [
      'other params',
      { ...options, params: { a: 41 } },
      /of another integrand or other params; leave it/,
      s => s,
    ],
    ['a list cut short', options, /whose record cannot be read/, cut],
    ['what is no record', options, /whose record cannot be read/, s => ({ ...s, record: '{"rule":1}' })],
  ];
  test.each(cases)('%s', async (_, given, message, changed) => {
    const { state } = await integrate(peak, options);
    const run = integrate(peak, { ...given, resume: changed(state!) });
    await expect(run).rejects.toThrow(OptionError);
    await expect(run).rejects.toThrow(message);
  });
  test('as a map: regions are no map', async () => {
    const { state } = await integrate(peak, options);
    await expect(integrate(peak, { ...base, map: state! })).rejects.toThrow(
      /of pagani, which has learned no map/,
    );
  });
});
