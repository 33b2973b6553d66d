/** Runs of zmc that go on where another one ended, against runs that were not interrupted. */
import { describe, expect, test } from 'vitest';
import { CpuDevice } from '../../src/devices/cpu/cpu.ts';
import { type IntegrateOptions, integrate, OptionError, type Result, type State } from '../../src/index.ts';
import { decode, encode } from '../../src/tasks/wire.ts';
import { wrapped } from '../devices/wrapped.ts';

/** A peak that is narrower than a block, so that the tree has several nodes. */
const peak = ([x, y]: number[]) => 1 / (1e-4 + (x - 0.31) ** 2 + (y - 0.62) ** 2);
const smooth = ([x, y]: number[]) => Math.exp(x * y);
const bits = ({ elapsed: _, ...r }: Result) => ({ ...r });
const stored = (state: State | undefined): State => structuredClone(JSON.parse(JSON.stringify(state)));
const base = { dims: 2, method: 'zmc', maxEvaluations: 4e6 } as const;

/** A run, and the samples that its device has drawn. */
async function counted(f: typeof peak, options: IntegrateOptions): Promise<[Result, number]> {
  const cpu = new CpuDevice(1);
  let drawn = 0;
  const device = wrapped(cpu, session => ({
    sample: async (task, part, signal) => {
      const sums = await session.sample(task, part, signal);
      drawn += sums.evaluations;
      return sums;
    },
  }));
  const result = await integrate(f, { ...options, device });
  await cpu.close();
  return [result, drawn];
}

test.each([
  ['a peak, with a tree', peak, 1.5e-3],
  ['a smooth one, without', smooth, 2e-5],
])(
  '%s: to a tolerance, then to a third of it: the bits of one run, without the search',
  async (_, f, relTol) => {
    const [rough, before] = await counted(f, { ...base, relTol });
    const [whole, all] = await counted(f, { ...base, relTol: relTol / 3 });
    expect(whole.evaluations).toBeGreaterThan(rough.evaluations);
    const [resumed, after] = await counted(f, { ...base, relTol: relTol / 3, resume: stored(rough.state) });
    expect(bits(resumed)).toEqual(bits(whole));
    expect(after).toBeLessThan(all);
    expect(resumed.state).toEqual(whole.state);
    const [again, none] = await counted(f, { ...base, relTol, resume: stored(rough.state) });
    expect(bits(again)).toEqual(bits(rough));
    expect([none, before > 0]).toEqual([0, true]);
  },
);

test('the tree of the peak has more than one node', async () => {
  const { state } = await integrate(peak, { ...base, relTol: 2e-2 });
  expect(decode<{ nodes: object[] }>(state!.record).nodes.length).toBeGreaterThan(1);
});

test('stopped by its signal after its third pass, and resumed from there', async () => {
  const whole = await integrate(peak, { ...base, relTol: 1e-2 });
  const stop = new AbortController();
  const onProgress = ({ iteration }: { iteration: number }) => iteration === 3 && stop.abort();
  const stopped = await integrate(peak, { ...base, relTol: 1e-2, signal: stop.signal, onProgress });
  expect(stopped.status).toBe('aborted');
  const resumed = await integrate(peak, { ...base, relTol: 1e-2, resume: stored(stopped.state) });
  expect(bits(resumed)).toEqual(bits(whole));
});

test('another budget or other options make another tree: the record is not used, and the bits are those of one run', async () => {
  const { state } = await integrate(peak, { ...base, relTol: 2e-2 });
  for (const change of [{ maxEvaluations: 1e6 }, { zmc: { trials: 4 } }]) {
    const options = { ...base, relTol: 2e-2, ...change };
    const whole = await integrate(peak, options);
    expect(bits(await integrate(peak, { ...options, resume: stored(state) }))).toEqual(bits(whole));
  }
});

test('values that are not finite are counted again', async () => {
  const f = ([x, y]: number[]) => (x < 0.01 ? Number.NaN : x + y);
  const options = { ...base, onNonFinite: 'zero' } as const;
  const rough = await integrate(f, { ...options, relTol: 3e-3 });
  expect(rough.nonFinite).toBeGreaterThan(0);
  const whole = await integrate(f, { ...options, relTol: 1e-3 });
  expect(bits(await integrate(f, { ...options, relTol: 1e-3, resume: rough.state! }))).toEqual(bits(whole));
});

describe('refused', () => {
  test('a record whose nodes have boxes of other dimensions, and one that is a map', async () => {
    const { state } = await integrate(peak, { ...base, relTol: 2e-2 });
    const record = decode<{ nodes: object[] }>(state!.record);
    const cut = { ...record, nodes: record.nodes.map(n => ({ ...n, box: [[0, 1]] })) };
    const run = integrate(peak, { ...base, resume: { ...state!, record: encode(cut) } });
    await expect(run).rejects.toThrow(OptionError);
    await expect(run).rejects.toThrow(/whose record cannot be read/);
    await expect(integrate(peak, { dims: 2, map: state! })).rejects.toThrow(
      /of zmc, which has learned no map/,
    );
  });
});
