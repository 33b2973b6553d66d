/** Runs that go on where another one ended, against runs that were not interrupted. */
import { describe, expect, test } from 'vitest';
import { CpuDevice } from '../../src/devices/cpu/cpu.ts';
import type { Device } from '../../src/devices/device.ts';
import { type IntegrateOptions, integrate, OptionError, type Result, type State } from '../../src/index.ts';
import { decode, encode } from '../../src/tasks/wire.ts';
import { wrapped } from '../devices/wrapped.ts';

const peak = ([x, y, z]: number[], p: { a: number }) =>
  Math.exp(-p.a * ((x - 0.3) ** 2 + (y - 0.6) ** 2)) * (1 + z);
const base = { dims: 3, params: { a: 40 } } satisfies IntegrateOptions;

/** Everything that does not depend on the clock. */
const bits = ({ elapsed: _, ...r }: Result) => ({ ...r });
const stored = (state: State | undefined): State => structuredClone(JSON.parse(JSON.stringify(state)));

const METHODS = ['vegas+', 'mcubes', 'mcubes1d', 'plain'] as const;

describe.each(METHODS)('%s', method => {
  test('to a tolerance, then to a third of it: the bits of one run to that', async () => {
    const options = { ...base, method };
    const relTol = method === 'plain' ? 5e-3 : 1e-3;
    const rough = await integrate(peak, { ...options, relTol });
    const whole = await integrate(peak, { ...options, relTol: relTol / 3 });
    const resumed = await integrate(peak, { ...options, relTol: relTol / 3, resume: stored(rough.state) });
    expect(bits(resumed)).toEqual(bits(whole));
    expect(whole.evaluations).toBeGreaterThan(rough.evaluations);
    expect(resumed.state).toEqual(whole.state);
  });
  test('a budget that ended the run, then ten times as much', async () => {
    const options = { ...base, method, relTol: 1e-6 };
    const short = await integrate(peak, { ...options, maxEvaluations: 3e4 });
    const whole = await integrate(peak, { ...options, maxEvaluations: 3e5 });
    const resumed = await integrate(peak, { ...options, maxEvaluations: 3e5, resume: stored(short.state) });
    expect(short.status).toBe('budget');
    expect(bits(resumed)).toEqual(bits(whole));
  });
  test('a protocol of 6 iterations, then of 12', async () => {
    const options = { ...base, method, relTol: 0, absTol: 1e-12 };
    const protocol = (iterations: number) => ({ evaluations: 2000, iterations, adapt: 4 });
    const short = await integrate(peak, { ...options, vegas: protocol(6) });
    const whole = await integrate(peak, { ...options, vegas: protocol(12) });
    const resumed = await integrate(peak, { ...options, vegas: protocol(12), resume: stored(short.state) });
    expect(bits(resumed)).toEqual(bits(whole));
  });
  test('stopped by its signal after each of its iterations, and resumed from there', async () => {
    const options = { ...base, method, relTol: 3e-3 };
    const whole = await integrate(peak, options);
    for (let last = 1; last < whole.iterations.length; last += 2) {
      const stop = new AbortController();
      const onProgress = ({ iteration }: { iteration: number }) => iteration === last && stop.abort();
      const stopped = await integrate(peak, { ...options, signal: stop.signal, onProgress });
      expect(stopped.status).toBe('aborted');
      const resumed = await integrate(peak, { ...options, resume: stored(stopped.state) });
      expect(bits(resumed), `${last}`).toEqual(bits(whole));
    }
  });
});

/** A device, and the samples that it has drawn. */
async function counted<T>(work: (device: Device) => Promise<T>): Promise<[T, number]> {
  const cpu = new CpuDevice(1);
  let drawn = 0;
  const device = wrapped(cpu, session => ({
    sample: async (task, part, signal) => {
      const sums = await session.sample(task, part, signal);
      drawn += sums.evaluations;
      return sums;
    },
  }));
  const result = await work(device);
  await cpu.close();
  return [result, drawn];
}

describe('what is not done again', () => {
  const options = { ...base, method: 'vegas+' } as const;
  test('learning: to a smaller tolerance only the difference and a measurement are sampled', async () => {
    const rough = await integrate(peak, { ...options, relTol: 1e-3 });
    const learning = rough.iterations.filter(i => i.adapting).reduce((n, i) => n + i.evaluations, 0);
    const [resumed, drawn] = await counted(device =>
      integrate(peak, { ...options, device, relTol: 3e-4, resume: rough.state! }),
    );
    expect(drawn).toBeLessThanOrEqual(resumed.evaluations - learning);
  });
  test('anything, when the tolerance is met already: nothing is sampled', async () => {
    const first = await integrate(peak, { ...options, relTol: 1e-3 });
    const [again, drawn] = await counted(device =>
      integrate(peak, { ...options, device, resume: first.state! }),
    );
    expect(drawn).toBe(0);
    expect([again.value, again.error, again.status]).toEqual([first.value, first.error, 'converged']);
    expect(again.state).toEqual(first.state);
  });
  test('a resumed run can be resumed', async () => {
    const whole = await integrate(peak, { ...options, relTol: 2e-4 });
    let state: State | undefined;
    for (const relTol of [3e-3, 1e-3, 4e-4, 2e-4]) {
      const r = await integrate(peak, { ...options, relTol, ...(state && { resume: state }) });
      state = stored(r.state);
      if (relTol === 2e-4) expect(bits(r)).toEqual(bits(whole));
    }
  });
  test('values that are not finite are counted again, and are errors again', async () => {
    const f = ([x, y]: number[]) => (x < 0.01 ? Number.NaN : x + y);
    const some = { dims: 2, method: 'vegas+', onNonFinite: 'zero' } as const;
    const whole = await integrate(f, { ...some, relTol: 5e-4 });
    const rough = await integrate(f, { ...some, relTol: 2e-3 });
    expect(rough.nonFinite).toBeGreaterThan(0);
    const resumed = await integrate(f, { ...some, relTol: 5e-4, resume: rough.state! });
    expect(bits(resumed)).toEqual(bits(whole));
    const strict = { dims: 2, method: 'vegas+', resume: rough.state! } as const;
    await expect(integrate(f, strict)).rejects.toThrow(/NaN at/);
  });
});

test('stopped while it repeats learning: its state is resumed with the bits of one run', async () => {
  const options = { ...base, method: 'vegas+' } as const;
  const whole = await integrate(peak, { ...options, relTol: 4e-4 });
  const rough = await integrate(peak, { ...options, relTol: 1e-3 });
  const record = { ...decode<object>(rough.state!.record), learned: null }; // as of a card: learning has to be repeated
  const state = { ...rough.state!, record: encode(record) };
  const stop = new AbortController();
  const cpu = new CpuDevice(1);
  let calls = 0;
  const device = wrapped(cpu, session => ({
    sample: (task, part, signal) => {
      if (++calls === 3) stop.abort();
      return session.sample(task, part, signal);
    },
  }));
  const again = { ...options, device, relTol: 4e-4, signal: stop.signal };
  const stopped = await integrate(peak, { ...again, resume: state });
  await cpu.close();
  expect(stopped.status).toBe('aborted');
  const resumed = await integrate(peak, { ...options, relTol: 4e-4, resume: stored(stopped.state) });
  expect(bits(resumed)).toEqual(bits(whole));
});

describe('which results have a state', () => {
  test('auto has that of the method that it chose, if that is vegas+', async () => {
    const step = ([x, y, z, w]: number[]) => (x * x + y * y + z * z + w * w < 1 ? 1 : 0);
    const r = await integrate(step, { dims: 4, relTol: 5e-3 });
    expect([r.method, r.state?.method]).toEqual(['vegas+', 'vegas+']);
    const resumed = await integrate(step, { dims: 4, relTol: 2e-3, resume: stored(r.state) });
    const whole = await integrate(step, { dims: 4, relTol: 2e-3, method: 'vegas+' });
    expect(bits(resumed)).toEqual(bits(whole));
  });
  test('functions that use what is outside of them have none', async () => {
    const outside = { a: 2 };
    const f = ([x]: number[]) => x * outside.a;
    const r = await integrate(f, { dims: 1, device: 'js', method: 'vegas+' });
    expect([r.status, r.state]).toEqual(['converged', undefined]);
  });
  test('copies of a result and its JSON are without it', async () => {
    const r = await integrate(peak, { ...base, method: 'vegas+' });
    expect(r.state!.version).toBe(3);
    for (const copy of [{ ...r }, structuredClone(r), JSON.parse(JSON.stringify(r))])
      expect(Object.keys(copy)).not.toContain('state');
  });
});

describe('refused', () => {
  const options = { ...base, method: 'vegas+' } as const;
  const cases: [string, IntegrateOptions, RegExp, (s: State) => unknown][] = [
    [
      'another method',
      { ...options, method: 'mcubes' },
      /is a state of vegas\+, not mcubes; use method 'vegas\+'/,
      s => s,
    ],
    ['other dims', { ...options, dims: 4 }, /of 3 dimensions, not 4/, s => s],
    [
      'another domain',
      {
        params: base.params,
        method: 'vegas+',
        domain: [
          [0, 1],
          [0, 1],
          [0, 2],
        ],
      },
      /of another domain/,
      s => s,
    ],
    ['another seed', { ...options, seed: 2 }, /of seed 1, not 2/, s => s],
    [
      'other params',
      { ...options, params: { a: 41 } },
      /of another integrand or other params; .*`map`/,
      s => s,
    ],
    ['other knobs', { ...options, vegas: { beta: 0.5 } }, /of a run with other `vegas` options/, s => s],
    [
      'another version',
      options,
      /of version 4; this version reads states of version 3/,
      s => ({ ...s, version: 4 }),
    ],
    ['what is no state', options, /`resume` is an object; pass the `state` of a result/, () => ({})],
    [
      'a record cut short',
      options,
      /whose record cannot be read/,
      s => ({ ...s, record: s.record.slice(0, -9) }),
    ],
  ];
  test.each(cases)('%s', async (_, given, message, changed) => {
    const { state } = await integrate(peak, options);
    const run = integrate(peak, { ...given, resume: changed(state!) as State });
    await expect(run).rejects.toThrow(OptionError);
    await expect(run).rejects.toThrow(message);
  });
  test('leaves no timer of maxTime behind, which would keep Node alive', async () => {
    const { state } = await integrate(peak, options);
    const timers = () => process.getActiveResourcesInfo().filter(r => r === 'Timeout').length;
    const before = timers();
    const run = integrate(peak, { ...options, params: { a: 41 }, maxTime: 60_000, resume: state! });
    await expect(run).rejects.toThrow(/of another integrand/);
    expect(timers()).toBeLessThanOrEqual(before);
  });
  test('both resume and map', async () => {
    const { state } = await integrate(peak, options);
    const run = integrate(peak, { ...options, resume: state!, map: state! });
    await expect(run).rejects.toThrow(/`map` is an object; give `resume` or `map`, not both/);
  });
  test('another function, with the same params', async () => {
    const { state } = await integrate(peak, options);
    const other = ([x, y, z]: number[], p: { a: number }) => x * y * z * p.a;
    await expect(integrate(other, { ...options, resume: state! })).rejects.toThrow(/of another integrand/);
  });
});
