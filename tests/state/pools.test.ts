/** Runs of `pagani` with regions in a card's memory that go on where another one ended, on the emulated card. */
import { afterAll, describe, expect, test } from 'vitest';
import { openDevice } from '../../src/devices/registry.ts';
import { type IntegrateOptions, integrate, OptionError, type Result, type State } from '../../src/index.ts';
import type { PoolRecord } from '../../src/methods/cubature/region-record.ts';
import type { RegionPool } from '../../src/tasks/pool/pool.ts';
import { decode, encode } from '../../src/tasks/wire.ts';
import { absent } from '../cuda/emulated.ts';
import { wrapped } from '../devices/wrapped.ts';

const peak = ([x, y, z]: number[], p: { a: number }) =>
  1 / (1 / p.a + (x - 0.3) ** 2 + (y - 0.6) ** 2 + (z - x * y) ** 2);
/** 9 more on a strip that no point of the first regions hits: witnesses contradict, and regions are blamed. */
const hidden = ([x, y]: number[]) => x * y + (x > 0.31 && x < 0.34 ? 9 : 0);

const bits = ({ elapsed: _, ...r }: Result) => ({ ...r });
const stored = (state: State | undefined): State => structuredClone(JSON.parse(JSON.stringify(state)));
const entriesOf = (state: State | undefined) => decode<PoolRecord>(state!.record).entries;

describe.skipIf(absent)('pagani on a card', () => {
  const base = { dims: 3, params: { a: 20 }, method: 'pagani', cubature: { witnesses: 2000 } } as const;
  const options = { ...base, device: 'cuda' } satisfies IntegrateOptions;
  const opened = absent ? null : openDevice('cuda', {} as never);
  afterAll(async () => (await opened)?.release());

  /** A run, and what the pool in the card was asked. */
  async function asked(f: typeof peak, given: IntegrateOptions): Promise<[Result, string[]]> {
    const calls: string[] = [];
    const spied = (pool: RegionPool): RegionPool =>
      new Proxy(pool, {
        get: (own, name: keyof RegionPool) => {
          const member = own[name];
          if (typeof member !== 'function') return member;
          return (...args: never[]) => {
            calls.push(name);
            return (member as (...args: never[]) => unknown).apply(own, args);
          };
        },
      });
    const device = wrapped((await opened!).device, session => ({
      pool: async (task, signal) => spied(await session.pool!(task, signal)),
    }));
    // a hint makes a card begin earlier, not do more
    const work = (name: string) => name !== 'close' && name !== 'expectHalvings';
    return [await integrate(f, { ...given, device }), calls.filter(work)];
  }

  test('to a tolerance, then to a tenth of it: the bits and the evaluations of one run', async () => {
    const [rough] = await asked(peak, { ...options, relTol: 1e-2 });
    const [whole, all] = await asked(peak, { ...options, relTol: 1e-3 });
    const [resumed, after] = await asked(peak, { ...options, relTol: 1e-3, resume: stored(rough.state) });
    expect(whole.evaluations).toBeGreaterThan(rough.evaluations);
    expect(bits(resumed)).toEqual(bits(whole));
    expect(after).toEqual(all); // regions are evaluated again, none twice
  });
  test('asked the same again, a run is answered by its state: the card does nothing', async () => {
    const given = { ...options, relTol: 1e-3 };
    const [whole] = await asked(peak, given);
    const [resumed, calls] = await asked(peak, { ...given, resume: stored(whole.state) });
    expect(bits(resumed)).toEqual(bits(whole));
    expect(calls).toEqual([]);
    expect(resumed.state).toEqual(whole.state);
  });
  test('a state has fewer than 300 bytes per call of the pool, and less than 16 KB, however many regions there are', async () => {
    for (const relTol of [1e-2, 1e-3]) {
      const { state, iterations } = await integrate(peak, { ...options, relTol });
      const entries = entriesOf(state);
      expect(entries.length).toBeGreaterThan(2 * iterations.length);
      expect(state!.record.length).toBeLessThan(Math.min(300 * entries.length, 2 ** 14));
    }
  });
  test('a budget that ended the run, then ten times as much', async () => {
    const given = { ...options, relTol: 1e-9, cubature: { witnesses: 0 } };
    const short = await integrate(peak, { ...given, maxEvaluations: 1e4 });
    const whole = await integrate(peak, { ...given, maxEvaluations: 1e5 });
    const resumed = await integrate(peak, { ...given, maxEvaluations: 1e5, resume: stored(short.state) });
    expect(short.status).toBe('budget');
    expect(bits(resumed)).toEqual(bits(whole));
  });
  test('after contradictions by random points, to a smaller tolerance and to a larger one', async () => {
    const given = {
      ...options,
      dims: 2,
      params: {},
      cubature: { witnesses: 2000, rule: 'degree7' },
    } as const;
    const fine = await integrate(hidden, { ...given, relTol: 1e-2 });
    const rough = await integrate(hidden, { ...given, relTol: 5e-2 });
    for (const { state } of [fine, rough]) expect(entriesOf(state).map(e => e.what)).toContain('surprised');
    const [down, up] = await Promise.all([
      integrate(hidden, { ...given, relTol: 1e-2, resume: stored(rough.state) }),
      integrate(hidden, { ...given, relTol: 5e-2, resume: stored(fine.state) }),
    ]);
    expect(bits(down)).toEqual(bits(fine));
    expect(bits(up)).toEqual(bits(rough));
  });
  test('witnesses that nobody was blamed for are not drawn again when the calls before are', async () => {
    const given = { ...options, relTol: 1e-2 };
    const [whole] = await asked(peak, given);
    // as if the run had gone on after its claim, with a halving that the next run does not make
    const entries = entriesOf(whole.state);
    const claim = entries.findIndex(e => e.what === 'witness');
    const changed = entries.map((e, i) => (i < claim ? e : { ...e, args: [...e.args.slice(0, 2), 0.5] }));
    const record = encode({ ...decode<PoolRecord>(whole.state!.record), entries: changed });
    const [resumed, calls] = await asked(peak, { ...given, resume: { ...whole.state!, record } });
    expect(bits(resumed)).toEqual(bits(whole));
    expect(calls.filter(name => name === 'witness')).toHaveLength(1);
  });
  test('stopped by its signal after its second iteration, and resumed from there', async () => {
    const given = { ...options, relTol: 1e-3 };
    const whole = await integrate(peak, given);
    const stop = new AbortController();
    const onProgress = ({ iteration }: { iteration: number }) => iteration === 2 && stop.abort();
    const stopped = await integrate(peak, { ...given, signal: stop.signal, onProgress });
    expect(stopped.status).toBe('aborted');
    expect(bits(await integrate(peak, { ...given, resume: stored(stopped.state) }))).toEqual(bits(whole));
  });
  test('more regions than memory holds: finished ones are finished again', async () => {
    const waves = ([x]: number[]) => 1 + Math.sin(3e6 * x * x);
    const cubature = { maxMemory: 2 ** 20, witnesses: 2000 };
    const given = { ...options, dims: 1, params: {}, relTol: 1e-9, cubature };
    const whole = await integrate(waves, given);
    expect(whole.status).toBe('memory');
    expect(whole.state!.record.length).toBeLessThan(2 ** 14);
    const finished = entriesOf(whole.state).findIndex(e => e.what === 'finish');
    const maxState = 600 * (finished + 2); // the record ends behind the first regions that were finished
    const short = await integrate(waves, { ...given, cubature: { ...cubature, maxState } });
    expect(entriesOf(short.state)).toHaveLength(finished + 2);
    expect(bits(await integrate(waves, { ...given, resume: stored(short.state) }))).toEqual(bits(whole));
  });
  test('values that were not finite are counted once, and are errors again', async () => {
    const f = ([x, y]: number[]) => (x === 0.5 ? Number.NaN : Math.abs(x - 0.3) + y);
    const given = { ...options, dims: 2, params: {}, onNonFinite: 'zero' } as const;
    const rough = await integrate(f, { ...given, relTol: 1e-2 });
    expect(rough.nonFinite).toBeGreaterThan(0);
    const whole = await integrate(f, { ...given, relTol: 1e-3 });
    expect(bits(await integrate(f, { ...given, relTol: 1e-3, resume: stored(rough.state) }))).toEqual(
      bits(whole),
    );
    await expect(integrate(f, { ...given, onNonFinite: 'error', resume: rough.state! })).rejects.toThrow(
      /NaN at/,
    );
  });
  test('a record that maxState has cut short, or of another rule, leads to the same bits', async () => {
    const cubature = { ...options.cubature, maxState: 600 * 5 };
    const rough = await integrate(peak, { ...options, cubature, relTol: 1e-2 });
    expect(entriesOf(rough.state)).toHaveLength(5);
    for (const rule of ['degree11', 'degree7'] as const) {
      const given = { ...options, relTol: 1e-3, cubature: { ...options.cubature, rule } };
      const whole = await integrate(peak, given);
      expect(bits(await integrate(peak, { ...given, resume: stored(rough.state) }))).toEqual(bits(whole));
    }
  });
  test('auto has the state of pagani if that was chosen, and pagani goes on with it', async () => {
    const smooth = ([x, y]: number[]) => Math.exp(-3 * (x * x + y));
    const r = await integrate(smooth, { dims: 2, relTol: 1e-4, device: 'cuda' });
    expect([r.method, r.state?.method]).toEqual(['pagani', 'pagani']);
    const given = { dims: 2, relTol: 1e-7, device: 'cuda' } as const;
    const whole = await integrate(smooth, { ...given, method: 'pagani' });
    expect(bits(await integrate(smooth, { ...given, resume: stored(r.state) }))).toEqual(bits(whole));
  });

  describe('refused', () => {
    const altered = (change: (record: PoolRecord) => object) => (s: State) => ({
      ...s,
      record: encode(change(decode<PoolRecord>(s.record))),
    });
    const entry = (change: object) =>
      altered(r => ({ ...r, entries: r.entries.map((e, i) => (i === 2 ? { ...e, ...change } : e)) }));
    const cases: [string, IntegrateOptions, RegExp, (s: State) => State][] = [
      ['other params', { ...options, params: { a: 21 } }, /of another integrand or other params/, s => s],
      ['another version', options, /is a state of version 1/, s => ({ ...s, version: 1 })],
      [
        'the CPU',
        { ...base, device: 'cpu' },
        /regions in the memory of cuda, not in lists of the host; use device 'cuda'/,
        s => s,
      ],
      [
        'another kind of device',
        options,
        /regions in the memory of webgpu, not in the memory of cuda; use device 'webgpu'/,
        altered(r => ({ ...r, pool: 'webgpu' })),
      ],
      [
        'sums of another card',
        { ...options, relTol: 1e-3 },
        /whose sums this device does not come to; use the device and the driver/,
        altered(r => ({ ...r, entries: r.entries.map(e => ({ ...e, sums: { ...e.sums, error: 1e9 } })) })),
      ],
      ['a call that is none', options, /whose record cannot be read/, entry({ what: 'toString' })],
      ['a call without its numbers', options, /whose record cannot be read/, entry({ args: [] })],
      ['an answer that is none', options, /whose record cannot be read/, entry({ said: 'much' })],
      ['sums that are none', options, /whose record cannot be read/, entry({ sums: { value: 1 } })],
    ];
    test.each(cases)('%s', async (_, given, message, changed) => {
      const { state } = await integrate(peak, { ...options, relTol: 1e-2 });
      const run = integrate(peak, { ...given, resume: changed(state!) });
      await expect(run).rejects.toThrow(OptionError);
      await expect(run).rejects.toThrow(message);
    });
    test('that of the CPU, whose regions were in lists of the host', async () => {
      const { state } = await integrate(peak, { ...base, device: 'cpu' });
      await expect(integrate(peak, { ...options, resume: stored(state) })).rejects.toThrow(
        /regions in lists of the host, not in the memory of cuda; use device 'cpu'/,
      );
    });
  });
});
